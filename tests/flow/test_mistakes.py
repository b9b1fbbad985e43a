"""What people mistype is named, with the nearest right name and the fix, before any fit."""

from pathlib import Path
from typing import Any

import pytest

CSV = "a,b,y\n" + "".join(f"{i},{i % 3},{'no' if i % 2 else 'yes'}\n" for i in range(30))


@pytest.mark.parametrize(
    ("words", "code", "named", "fix"),
    [
        (["measur=error"], 2, "measur", "measure"),
        (["scheme.fold=5"], 2, "fold", "folds"),
        (["path=table.csv"], 2, "'path' is not a setting", "write dataset.path="),
        (["dataset=irsi"], 2, "irsi", "iris"),
        (["space=[carrt]"], 2, "carrt", "cart"),
        (["scheme.folds=many"], 2, "many", "folds"),
        (["dataset=csv", "dataset.path=loans.csv", "dataset.target=y"], 2, "loans.csv", ""),
        (["dataset=csv", "dataset.path=table.csv", "dataset.target=yy"], 2, "yy", "y"),
        (["dataset=csv", "dataset.path=one.csv", "dataset.target=y"], 3, "maybe", ""),
        (["dataset=csv", "dataset.path=table.csv", "dataset.target=y", "scheme.folds=40"], 2, "40", ""),
        (
            ["space=[cart,knn]", "rule=one_standard_error", "rule.across=bits"],
            2,
            "in bits, and cart counts leaves, knn counts neighbourhoods",
            "use rule.across=unit",
        ),
    ],
    ids=[
        "key",
        "setting",
        "setting without its group",
        "option",
        "learner",
        "value",
        "missing file",
        "target",
        "class of one row",
        "folds above rows",
        "code lengths",
    ],
)
def test_a_mistake_is_named_with_its_fix_before_any_fit(
    modelsel: Any, words: list[str], code: int, named: str, fix: str
) -> None:
    Path("table.csv").write_text(CSV)
    Path("one.csv").write_text(CSV + "31,1,maybe\n")
    done = modelsel("run", *words)
    assert done.code == code, done.err
    assert "MSEL-" in done.err
    assert named in done.err
    assert fix in done.err
    assert "Traceback" not in done.err
    assert not list(Path().glob("runs/*/*/study.json"))


def test_all_mistakes_come_in_one_message(modelsel: Any) -> None:
    done = modelsel("run", "measur=error", "scheme.fold=5", "dataset=irsi")
    assert all(word in done.err for word in ("measur", "fold", "irsi"))
