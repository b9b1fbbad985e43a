"""`modelsel explain`: codes, findings, settings, groups, kinds; what nobody knows is exit 2 with the nearest word."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import modelsel as package

Command = Callable[..., object]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("MSEL-222", "two entries of a space have one name"),
        ("msel-205", "a value does not fit its setting"),
        ("G021", "Test rows in an earlier selection (critical"),
        ("constant_column", "one value in all rows"),
        ("learner.k", "takes a whole number of at least 1; default 5"),
        ("folds", "scheme.folds (kfold, repeated_kfold)"),
        ("learner.pruner.alpha", "pruner.alpha (cost_complexity)"),
        ("seed", "of the study"),
        ("limit.seconds", "per cell"),
        ("scheme", "  leave_one_out "),
        ("scheme=kfold", "k folds without regard to classes"),
        ("cart", "criterion: gini"),
        ("space=trees", "learner: rep_tree"),
    ],
)
def test_a_word_is_explained(modelsel: Command, word: str, said: str) -> None:
    ran = modelsel("explain", word)
    assert (ran.code, ran.err) == (0, "")
    assert said in ran.out
    assert package.explain(word) == ran.out.rstrip("\n")


@pytest.mark.parametrize(
    ("word", "near"),
    [("MSEL-2222", "MSEL-222"), ("G0221", "G02"), ("learner.kk", "learner.k"), ("stratified_kfolds", "stratified_kfold")],
)
def test_an_unknown_word_is_a_configuration_error_with_the_nearest(modelsel: Command, word: str, near: str) -> None:
    ran = modelsel("explain", word)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"MSEL-258: '{word}' is in no page, modelsel explain; did you mean '{near}")


def test_a_run_is_explained_by_an_option_that_the_error_names(modelsel: Command) -> None:
    ran = modelsel("explain", "latest")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("MSEL-258: 'latest' is a run, and in no page, modelsel explain; what is told of a run: ")
    assert "modelsel explain latest --alternatives" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("latest", "--within", "0.1"), "--within belongs to --alternatives"),
        (("latest", "--min-leaf", "3", "--limit", "5"), "--min-leaf, --limit belong to --alternatives"),
        (("latest", "--alternatives", "--schema", "scheme"), "--schema stands alone"),
    ],
)
def test_options_that_would_do_nothing_are_refused(modelsel: Command, words: tuple[str, ...], said: str) -> None:
    ran = modelsel("explain", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"MSEL-251: {said}")


@pytest.mark.parametrize("words", [(), ("--schema", "schme"), ("a", "b")])
def test_wrong_arguments_are_configuration_errors(modelsel: Command, words: tuple[str, ...]) -> None:
    ran = modelsel("explain", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("MSEL-251: ")


def test_a_schema_is_printed(modelsel: Command) -> None:
    ran = modelsel("explain", "--schema", "scheme")
    assert "kfold" in json.loads(ran.out)["properties"]["kind"]["enum"]


def test_the_starter_tells_editors_its_schemas(modelsel: Command, folder: Path) -> None:
    assert modelsel("init").code == 0
    for name in ("dataset/mine.yaml", "space/mine.yaml", "experiment/first.yaml"):
        (hint,) = [line for line in (folder / "conf" / name).read_text().splitlines() if "$schema=" in line]
        place = hint.partition("$schema=")[2]
        assert json.loads((folder / "conf" / name).parent.joinpath(place).read_text())["type"] == "object"
