"""Which estimators of others may be fitted in threads of this process."""

import pytest

from modelsel.config.build import build as learner
from modelsel.config.compose import compose
from modelsel.core.types import Candidate
from modelsel.runner.execution.executors import needs_process


@pytest.mark.parametrize(
    ("name", "settings", "process"),
    [
        ("logistic_regression", {"params.solver": "saga"}, True), ("logistic_regression", {}, False), ("mlp", {}, True),
        ("hist_gradient_boosting", {}, False), ("lightgbm", {}, True),
    ],
)  # fmt: skip
def test_only_what_threads_can_share_stays_in_this_process(name: str, settings: dict[str, str], process: bool) -> None:
    assert needs_process(Candidate(learner(name, settings)[0])) is process


@pytest.mark.parametrize("measure", ["error", "log_loss", "auc"])
def test_the_default_space_needs_no_process_of_its_own(measure: str) -> None:
    assert not any(needs_process(candidate) for candidate in compose([f"measure={measure}"]).candidates)
