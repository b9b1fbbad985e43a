"""What `plan --write` puts down of a bad table, and that a study by that file reads the clean one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import modelsel
from modelsel.api.commands.table_words import as_overrides
from modelsel.cli import plan
from modelsel.config.dataset_file import lines_of
from modelsel.core.errors import ConfigurationError
from modelsel.core.proposal import Proposal

RNG = np.random.default_rng(0)
ROWS = [
    f"{100000 - 7 * i},{x:.2f},{'yes' if x > 0 else 'no'},de,{RNG.normal():.2f}" for i, x in enumerate(RNG.normal(size=120))
]
BAD = "\n".join(["member id,is it x?,y,const 1,h.i", *ROWS]) + "\n"
LIGHT = ("space=naive_bayes", "scheme.folds=3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(BAD)
    return tmp_path


def test_what_is_sure_is_written_with_its_reason_and_taken_by_a_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan.main(["bad.csv", "y", *LIGHT, "--write", "t.yaml"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "written      t.yaml: 2 settings added; `modelsel run t.yaml` takes it"
    written = (here / "t.yaml").read_text()
    assert yaml.safe_load(written) == {
        "kind": "csv", "path": "bad.csv", "target": "y", "id": "member id", "ignore": ["const 1"],
    }  # fmt: skip
    assert "# CONSTANT_COLUMN: column 'const 1' has one value in all rows" in written
    outcome = modelsel.run("t.yaml", *LIGHT, split="none", tracking="off", final_test=False)
    clean = modelsel.read_table("bad.csv", target="y", id="member id", ignore=["const 1"])
    assert outcome.task["fingerprint"] == clean.fingerprint
    assert len(clean) == 120


def test_the_same_in_python_where_nothing_is_left_to_say_twice(here: Path) -> None:
    found = modelsel.plan("bad.csv", "y", *LIGHT, write="t.yaml")
    assert {"ID_LIKE_COLUMN", "CONSTANT_COLUMN"}.isdisjoint(one.code for one in found.findings)
    again = modelsel.plan("t.yaml", *LIGHT, write="u.yaml")
    assert [one.code for one in again.findings] == [one.code for one in found.findings]
    first, second = (yaml.safe_load((here / name).read_text()) for name in ("t.yaml", "u.yaml"))
    assert second == {**first, "id": ["member id"]}


def test_what_is_left_to_decide_can_be_uncommented(here: Path) -> None:
    (here / "bad.csv").write_text(
        "\n".join(f"{line},{'host_id' if not i else i % 50}" for i, line in enumerate(BAD.splitlines()))
    )
    modelsel.plan("bad.csv", "y", *LIGHT, write="t.yaml")
    text = (here / "t.yaml").read_text()
    assert "# unit: host_id\n" in text
    (here / "t.yaml").write_text(text.replace("# unit:", "unit:"))
    found = modelsel.plan("t.yaml", *LIGHT)
    assert "REPEATED_IDS" not in {one.code for one in found.findings}


def test_a_table_that_cannot_be_read_yet_leaves_its_problems_in_the_file(here: Path) -> None:
    (here / "bad.csv").write_text(BAD.replace("de,", "de,oops", 1))
    with pytest.raises(modelsel.ModelselError):
        modelsel.plan("bad.csv", "y", *LIGHT, write="t.yaml")
    text = (here / "t.yaml").read_text()
    assert "# Left to decide" in text
    assert "MSEL-341" in text
    assert yaml.safe_load(text)["target"] == "y"


NAMES = ["a b", "it's", 'a "b"', "x,y", "[1]", "${x}", "a=b", "ä\\n", "#", "true", "1", "C:\\", "a: b", "-"]


def test_any_name_stays_what_it_is_from_the_file_to_the_study(here: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(dict.fromkeys(NAMES, 1.0), index=range(40)).assign(x=rng.normal(size=40), y=["p", "q"] * 20)
    frame.to_csv("odd.csv", index=False)
    modelsel.plan("odd.csv", "y", *LIGHT, write="t.yaml")
    assert yaml.safe_load((here / "t.yaml").read_text())["ignore"] == NAMES
    found = modelsel.plan("t.yaml", *LIGHT)
    assert [one.code for one in found.findings if one.code == "CONSTANT_COLUMN"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("target: y\n", "kind: csv"), ("[1]\n", "kind: csv"), ("kind: csv\ntarget: y\ntarget: z\n", "target"),
     ("a: [\n", "cannot be read")],
)  # fmt: skip
def test_a_file_that_is_none_of_a_data_set_is_refused(text: str, said: str, here: Path) -> None:
    (here / "t.yaml").write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        as_overrides(["t.yaml"])


def test_lists_that_stand_twice_are_one_and_settings_are_typed_as_they_are_said(here: Path) -> None:
    (here / "t.yaml").write_text("kind: csv\nignore: [a]\nignore: ['b c', 3]\nheader: 0\nid: null\n")
    assert lines_of("t.yaml") == [
        "dataset=csv", 'dataset.ignore=["a"]', 'dataset.ignore=["b c",3]', "dataset.header=0", "dataset.id=null"
    ]  # fmt: skip
    assert Proposal("dataset.ignore", ("a",)).override == 'dataset.ignore=["a"]'


def test_a_line_of_names_below_a_title_is_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.csv").write_text("Members of 2021\n" + BAD)
    assert plan.main(["bad.csv", "y", *LIGHT, "--write=t.yaml"]) == 0
    assert yaml.safe_load((here / "t.yaml").read_text())["header"] == 2
    assert "3 settings added" in capsys.readouterr().out
    assert modelsel.plan("bad.csv", "y", *LIGHT, write="u.yaml").rows == modelsel.plan("t.yaml", *LIGHT).rows


@pytest.mark.parametrize("words", [["--write"], ["--write", "nowhere/t.yaml"]])
def test_a_place_that_cannot_be_written_is_said(words: list[str], here: Path) -> None:
    with pytest.raises(modelsel.ModelselError):
        plan.main(["bad.csv", "y", *LIGHT, *words])


def test_a_table_in_memory_has_no_file_to_write_settings_for(here: Path) -> None:
    with pytest.raises(ConfigurationError, match="MSEL-809"):
        modelsel.plan(pd.read_csv("bad.csv"), *LIGHT, target="y", write="t.yaml")
