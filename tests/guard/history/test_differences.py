"""What is said to have changed between two looks is what decides answers, as the study's identity has it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelsel.config.compose import LOOSE, compose
from modelsel.config.settings import RENAMED
from modelsel.guard.history import IMMATERIAL, differences
from modelsel.guard.reporting.audit import audit
from tests.guard.studies import Rule, Study, numbers

STUDY = ("dataset=iris", "space=[naive_bayes]")
IDENTITY = {
    "dataset",
    "split",
    "scheme",
    "measure",
    "rule",
    "outer",
    "corrected",
    "exam",
    "ensemble",
    "search",
    "seed",
    "space",
}
CHANGES = (
    ["name=other"], ["note=again"], ["show=[overfitting]"], ["compare=true"], ["final_test=false"], ["on_failure=error"],
    ["retry_failed=true"], ["deadline=60"], ["limit.seconds=3"], ["pool=threads"], ["pool.n_jobs=2"], ["tracking=off"],
    ["guard=strict"], ["guard.delta=0.1"], ["guard.justify.category=bug", "guard.justify.text='the labels were read wrong'"],
)  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("change", CHANGES, ids=" ".join)
def test_settings_that_leave_the_identity_alone_are_no_difference(change: list[str]) -> None:
    before, after = compose(STUDY), compose([*STUDY, *change])
    assert before.resolved != after.resolved
    assert before.spec_id == after.spec_id
    assert differences(before.resolved, after.resolved) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("seed=1", "seed"),
        ("split.test=0.4", "split.test"),
        ("scheme.folds=5", "scheme.folds"),
        ("rule=one_standard_error", "rule.kind"),
    ],
)
def test_settings_of_the_identity_are_named(change: str, named: str) -> None:
    before, after = compose(STUDY), compose([*STUDY, change])
    assert before.spec_id != after.spec_id
    assert named in differences(before.resolved, after.resolved)


def test_every_key_of_a_study_is_of_one_kind_or_the_other() -> None:
    roots = {key for key in IMMATERIAL if "." not in key}
    assert (roots - set(RENAMED)) | IDENTITY == set(compose(STUDY).resolved)
    assert roots & IDENTITY == set()
    assert {key.partition(".")[2] for key in IMMATERIAL if key.startswith("dataset.")} == set(LOOSE)


def test_a_renamed_study_is_not_what_changed_between_two_looks(home: Path) -> None:
    def look(rule: Rule, **config: Any) -> Any:
        study = Study(numbers(), home, rule=rule)
        gate, sealing = study.gate(), study.sealing()
        sealing = replace(sealing, config={**sealing.config, **config})
        gate.look(study.request(sealing))
        return gate

    look(Rule(0), name="first", show=[], pool={"n_jobs": 1})
    gate = look(Rule(1), name="second", show=["overfitting"], pool={"n_jobs": 2})
    (said,) = [finding.message for finding in gate.findings if finding.code == "G012"]
    assert said.endswith(": rule.column, spec")
    assert audit(gate)["test_sets"][0]["looks"][1]["changes"] == ["rule.column", "spec"]
