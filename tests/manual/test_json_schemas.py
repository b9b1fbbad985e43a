"""What modelsel writes and prints as JSON is valid by the schemas that it ships; what is not described is found."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from modelsel.api.commands.setup import schema
from modelsel.cli.dispatch import main
from modelsel.core.errors import OK
from modelsel.manual.schemas import OUTPUTS, of, of_outputs
from tests.extras import needs

jsonschema = needs("jsonschema")
Typed = Callable[..., Any]
STUDY = ("dataset=iris", "tracking=off", "pool=sequential", "scheme.folds=3")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "run_files.md").read_text("utf-8")


def faults(name: str, found: Any) -> list[str]:
    """Where an output is not valid."""
    checked = jsonschema.Draft7Validator(of_outputs()[name])
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message}" for one in checked.iter_errors(found)]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Type a command in an empty folder; what it printed, as data where it can be."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def type_(*words: str) -> Any:
        capsys.readouterr()
        code = main(words)
        said, complained = capsys.readouterr()
        assert code == OK, complained
        return json.loads(said) if "--json" in words else said

    return type_


def study() -> Any:
    return written("study")


def written(name: str) -> Any:
    """A JSON file of the newest run."""
    return json.loads(Path(f"runs/latest/{name}.json").read_text("utf-8"))


def record_faults() -> list[str]:
    """Where a JSON file of the newest run is not valid."""
    there = [name for name in ("study", "details", "explanation") if Path(f"runs/latest/{name}.json").exists()]
    return [fault for name in there for fault in faults(name, written(name))]


@pytest.mark.slow
def test_studies_and_the_audit_of_their_looks_are_valid(typed: Typed) -> None:
    typed("run", *STUDY, "space=[cart,majority]", "corrected=nested", "name=first")
    assert record_faults() == []
    typed("run", *STUDY, "space=naive_bayes", "split.seed=1")
    assert record_faults() == []
    assert study()["test"]["flags"]
    typed("run", *STUDY[:-1], "space=naive_bayes", "final_test=false", "scheme=bootstrap", "scheme.repeats=5", "name=third")
    assert record_faults() == []
    whole, one = typed("audit", "--json"), typed("audit", "first", "--json")
    assert (faults("audit", whole), faults("audit", one)) == ([], [])
    assert [len(each["looks"]) for each in whole["test_sets"]] == [1, 1]


@pytest.mark.slow
def test_a_study_with_failures_and_a_closed_test_is_valid(typed: Typed, tmp_path: Path) -> None:
    rows = "".join(f"{i},{i * 7 % 23},{'yn'[i % 3 == 0]},{'yn'[i % 3 == 0]}\n" for i in range(60))
    (tmp_path / "leaks.csv").write_text("age,income,same,default\n" + rows)
    near = "{kind: estimator, estimator: sklearn.neighbors.KNeighborsClassifier}"
    space = f"space={{near: {{learner: {near}, sweep: {{params.n_neighbors: [3, 200]}}}}}}"
    typed("run", "leaks.csv", "default", *STUDY[1:], space)
    assert record_faults() == []
    assert study()["failures"]
    assert study()["closed"]
    assert faults("audit", typed("audit", "--json")) == []


@pytest.mark.slow
def test_whatever_may_be_explained_is_valid(typed: Typed) -> None:
    asked = ("explanations={importance: true, dependence: true, sets: true, repeats: 1}", "curve=true")
    typed("run", *STUDY, "space=[random_forest,naive_bayes]", *asked, 'slices=["petal length (cm)"]', "final_test=false")
    assert record_faults() == []
    assert {*written("explanation")} == {"importance", "dependence", "curve", "weak_slices", "declared_slices", "sets"}
    typed("run", *STUDY[1:], "dataset=play_tennis", "split=none", "space=cart", "explanations.dependence=true", "name=nominal")
    assert record_faults() == []


@pytest.mark.slow
def test_what_an_exam_says_is_valid(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text("age,default\n" + "".join(f"{i * 7 % 61},{'yn'[i % 3 == 0]}\n" for i in range(60)))
    typed("exam", "create", "loans.csv", "exam", "--target", "default")
    tokens = [line.partition(",")[0] for line in (tmp_path / "exam" / "questions.csv").read_text().splitlines()[1:]]
    for asker, said in (("ann", "y"), ("bob", "n")):
        (tmp_path / "said.csv").write_text("token,prediction\n" + "".join(f"{token},{said}\n" for token in tokens))
        assert faults("exam_answer", typed("exam", "answer", "exam", "said.csv", "--as", asker, "--json")) == []
    assert faults("exam_status", typed("exam", "status", "exam", "--json")) == []
    board = typed("exam", "board", "exam", "--json")
    assert (faults("exam_board", board), len(board)) == ([], 2)
    assert faults("exam_audit", typed("exam", "audit", "exam", "--json")) == []
    closed = typed("exam", "close", "exam", "--json")
    assert (faults("exam_close", closed), len(closed["verdicts"])) == ([], 1)
    assert faults("exam_audit", typed("exam", "audit", "exam", "--json")) == []
    assert faults("exam_status", typed("exam", "status", "exam", "--json")) == []
    assert faults("exam_board", typed("exam", "board", "exam", "--json")) == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_schema_is_one_is_printed_and_stands_in_the_page(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(of_outputs()[name])
    assert schema(name) == of_outputs()[name]
    assert re.search(rf"\| \{{download\}}`{name} <reference/schema/{name}\.json>` \| `{re.escape(OUTPUTS[name][0])}` \|", PAGE)


@dataclass
class Example:
    """Two fields."""

    size: int
    span: tuple[float, float] | None = None


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (asdict(Example(1, (0.0, 1.0))) | {"span": [0.0, 1.0]}, ""),
        ({"size": 1, "span": None}, ""),
        ({"size": 1}, "'span' is a required property"),
        ({"size": 1.5, "span": None}, "1.5 is not of type 'integer'"),
        ({"size": 1, "span": None, "new": 2}, "'new' was unexpected"),
        ({"size": 1, "span": [0.0]}, "is not valid under any of the given schemas"),
    ],
)
def test_what_is_missing_wrong_or_not_described_is_found(found: dict[str, object], fault: str) -> None:
    said = [one.message for one in jsonschema.Draft7Validator(of(Example)).iter_errors(found)]
    assert [fault in one for one in said] == ([True] if fault else [])


def test_a_type_without_values_in_json_has_no_schema() -> None:
    with pytest.raises(TypeError, match="no schema of"):
        of(complex)
