"""`final_test=auto`: no look is spent while the data have findings of high severity."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import RunFolder

QUICK: dict[str, Any] = {"space": "naive_bayes", "scheme": {"folds": 3}, "tracking": "off", "pool": "sequential"}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def table(**more: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.choice(["a", "b"], 90)})
    return frame.assign(**more)


SOUND = table()
GRAVE = {
    "ID_LIKE_COLUMN": table(row=lambda frame: np.arange(len(frame))),
    "EQUALS_TARGET": table(z=lambda frame: frame["y"].map({"a": "no", "b": "yes"})),
}


def looks() -> int:
    return sum(len(one["looks"]) for one in modelsel.audit()["test_sets"])


@pytest.mark.slow
@pytest.mark.parametrize("code", GRAVE)
def test_a_grave_finding_leaves_the_test_closed_with_reason_and_command(code: str) -> None:
    found = modelsel.run(GRAVE[code], target="y", **QUICK)
    assert found.test is None
    assert found.to_dict()["closed"] == {
        "reason": f"{code}: a finding of high severity in the data", "open": f"modelsel test {found.study}",
    }  # fmt: skip
    said = " ".join(str(found).split())
    assert f"left closed (final_test=auto): {code}" in said
    assert f"`modelsel test {found.study}` opens it" in said
    assert code in RunFolder.open(found.folder).report.read_text()
    assert looks() == 0
    assert found.open_test().test.look == 1


@pytest.mark.slow
def test_a_study_whose_test_is_opened_later_is_one_study_in_the_audit() -> None:
    found = modelsel.run(SOUND, target="y", final_test=False, **QUICK)
    found.open_test()
    modelsel.open_run(found.folder, data=SOUND, target="y").open_test()
    page = str(modelsel.audit())
    assert page.count(Path(found.folder).name) == 1
    assert "| 1 |" in page.split("### Timeline")[1]


def test_sound_data_are_tested_at_once() -> None:
    found = modelsel.run(SOUND, target="y", **QUICK)
    assert found.test.look == 1
    assert "closed" not in found.to_dict()


@pytest.mark.slow
def test_mending_the_data_costs_one_look_and_not_two() -> None:
    frame = GRAVE["ID_LIKE_COLUMN"]
    modelsel.run(frame, target="y", **QUICK)
    mended = modelsel.run(frame, target="y", id="row", **QUICK)
    assert mended.test.look == 1
    assert looks() == 1


@pytest.mark.slow
def test_true_opens_and_false_does_not() -> None:
    assert modelsel.run(GRAVE["EQUALS_TARGET"], target="y", final_test=True, **QUICK).test.look == 1
    assert modelsel.run(SOUND, target="y", final_test=False, **QUICK).test is None


def test_another_word_is_answered() -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-205: 'maybe' is not an answer, final_test; give auto, true or false"):
        modelsel.run(SOUND, target="y", final_test="maybe", **QUICK)


@pytest.mark.slow
def test_the_command_ends_with_0_and_a_sweep_leaves_it_closed_too(capfd: pytest.CaptureFixture[str]) -> None:
    from modelsel.cli.dispatch import main

    GRAVE["EQUALS_TARGET"].to_csv("t.csv", index=False)
    words = ["dataset=csv", "dataset.path=t.csv", "dataset.target=y", "space=naive_bayes", "tracking=off", "scheme.folds=3"]
    assert main(["run", *words]) == 0
    assert "left closed" in capfd.readouterr().out
    assert main(["run", "-m", *words, "seed=1,2"]) == 0
    assert looks() == 0
