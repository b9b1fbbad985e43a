"""What decides the answer is in the identity of a study; how its test set is guarded is not."""

import pytest

from modelsel.config.compose import compose

JUSTIFIED = ("guard=strict", "guard.justify.category=bug", "guard.justify.text=the label column was shifted")


@pytest.mark.parametrize(
    "settings", [JUSTIFIED, ("guard.delta=0.1",), ("guard.release=grid", "guard.resolution=0.05"), ("guard=off",)]
)
def test_settings_of_the_guard_do_not_change_it(settings: tuple[str, ...]) -> None:
    study = ("dataset=iris", "space=[naive_bayes]")
    assert compose([*study, *settings]).spec_id == compose(study).spec_id


def test_seed_and_space_do() -> None:
    study = compose(["dataset=iris", "space=[naive_bayes]"]).spec_id
    assert compose(["dataset=iris", "space=[naive_bayes]", "seed=1"]).spec_id != study
    assert compose(["dataset=iris", "space=[majority]"]).spec_id != study
