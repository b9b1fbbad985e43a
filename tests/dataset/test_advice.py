"""What is proposed is executed: a setting that an error or a finding names is read as a shell reads it, and is heeded.

The cases are all errors and findings of the product that propose settings; the sources themselves demand one for each.
"""

import ast
import csv
import io
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelsel.config.compose import compose
from modelsel.core.errors import ModelselError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.types import Finding
from modelsel.runner.study_data import prepare

ROOT = Path(__file__).parents[2]
LIGHT = ("space=cart", "scheme.folds=3")
NAMES = ['is it\'s "Rate"? (y.n) [1] \\n']  # all signs that mean something in some grammar; each by itself: test_declarations
ROWS = 60
RNG = np.random.default_rng(7)
X = RNG.permutation(ROWS) / 4
Y = ["pq"[int(bit)] for bit in RNG.integers(0, 2, ROWS)]
Cells = dict[str, list[object]]


def plain(name: str, cells: list[object]) -> Cells:
    """A table with a column under test between a plain one and the target."""
    return {"other": [f"{value:.2f}" for value in RNG.normal(size=ROWS)], name: cells, "y": [*Y]}


def with_target(name: str, target: list[object]) -> Cells:
    return {"other": [f"{value:.2f}" for value in RNG.normal(size=ROWS)], name: target}


@dataclass(frozen=True)
class Case:
    """A table in which something is proposed: its columns by the name of the one under test, its settings, its target."""

    code: str
    cells: Callable[[str], Cells]
    words: tuple[str, ...] = ()
    sign: str = ","
    is_target: bool = False
    above: str = ""  # lines above the names
    names: tuple[str, ...] = tuple(NAMES)
    target: str = "y"


def days(form: str, last: int = 28) -> list[object]:
    return [form.format(d=row % last + 1, m=row % 12 + 1, y=2000 + row % 20) for row in range(ROWS)]


def among(cells: list[object], other: object, every: int) -> list[object]:
    return [other if row % every == 2 else cell for row, cell in enumerate(cells)]


SENTENCES = ["low", "mid", "high", "none at all"]
CASES = {
    "a code": Case("SENTINEL_CODES", lambda name: plain(name, among([*X], -200, 9))),
    "two codes": Case("SENTINEL_CODES", lambda name: plain(name, among(among([*X], 998, 9), 999, 7))),
    "days as numbers": Case("NUMBERS_LIKE_DATES", lambda name: plain(name, days("{y}{m:02d}{d:02d}"))),
    "dates": Case("DATES_AS_NUMBERS", lambda name: plain(name, days("{y}-{m:02d}-{d:02d}"))),
    "words of programs": Case("WORDS_FOR_MISSING", lambda name: plain(name, among([*X], "n/a", 9))),
    "half words": Case(
        "NUMBERS_AS_LEVELS", lambda name: plain(name, [SENTENCES[r % 4] if r % 3 else r for r in range(ROWS)][:ROWS])
    ),
    "half ranges": Case(
        "NUMBERS_AS_LEVELS", lambda name: plain(name, [f"{r}-{r + 1}" if r % 3 == 0 else r for r in range(ROWS)])
    ),
    "per cent": Case("NUMBERS_AS_LEVELS", lambda name: plain(name, [f"{x}%" for x in X])),
    "two units": Case(
        "NUMBERS_AS_LEVELS", lambda name: plain(name, [f"{x} {'g' if r == 3 else 'kg'}" for r, x in enumerate(X)])
    ),
    "many levels": Case(
        "MANY_LEVELS", lambda name: plain(name, ["abcdef"[r % 6] for r in range(ROWS)]), ("dataset.max_levels=4",)
    ),
    "levels of a row or two": Case(
        "MANY_LEVELS", lambda name: plain(name, [f"k{r * 7919 % 100003 % 31}" for r in range(ROWS)])
    ),
    "large integers": Case("BIG_INTEGERS", lambda name: plain(name, [2**60 + r for r in range(ROWS)])),
    "no value": Case("ALL_MISSING_COLUMN", lambda name: plain(name, [""] * ROWS)),
    "a saved index": Case("INDEX_COLUMN", lambda name: plain(name, [*range(ROWS)]), names=("Unnamed: 3",)),
    "one value": Case("CONSTANT_COLUMN", lambda name: plain(name, ["a"] * ROWS)),
    "ids": Case("ID_LIKE_COLUMN", lambda name: plain(name, [f"k{r * 7919 % 100003}" for r in range(ROWS)])),
    "the target again": Case("EQUALS_TARGET", lambda name: plain(name, [f"is {one}" for one in Y])),
    "determines": Case("DETERMINES_TARGET", lambda name: plain(name, [one + "12"[r % 2] for r, one in enumerate(Y)])),
    "twins": Case(
        "EQUAL_COLUMNS",
        lambda name: {
            "twin": ["uvwx"[r * r % 7 % 4] for r in range(ROWS)],
            **plain(name, ["abcd"[r * r % 7 % 4] for r in range(ROWS)]),
        },
    ),
    "repeated ids": Case(
        "REPEATED_IDS", lambda name: plain(name, [f"p{r % 20}" for r in range(ROWS)]), names=("patient id", "host.id")
    ),
    "decimal commas": Case("DECIMAL_COMMA", lambda name: plain(name, [f"{x:.2f}".replace(".", ",") for x in X]), sign=";"),
    "amounts as classes": Case(
        "NUMBERS_AS_CLASSES", lambda name: with_target(name, [r % 12 for r in range(ROWS)]), is_target=True
    ),
    "a number": Case("TARGET_IS_A_NUMBER", lambda name: with_target(name, [x * 1.37 for x in X]), is_target=True),
    "a number, as classes": Case(
        "MSEL-323", lambda name: with_target(name, [x * 1.37 for x in X]), ("task=classification",), is_target=True
    ),
    "a row of names": Case(
        "HEADER_LIKE_DATA", lambda name: {"0.13": [*X], "0.84": [*X[::-1]], "p": [*Y]}, names=("",), target="p"
    ),
    "a typing error": Case("MSEL-341", lambda name: plain(name, among([*X], "unknown", 60))),
    "ranges among numbers": Case("MSEL-341", lambda name: plain(name, among([*X], "30-40", 60))),
    "commas": Case("MSEL-342", lambda name: plain(name, [f"{int(x * 4) + 1},250" for x in X])),
    "decimal commas between commas": Case("MSEL-342", lambda name: plain(name, [f"{int(x * 4)},5" for x in X])),
    "apostrophes": Case("MSEL-342", lambda name: plain(name, [f"{int(x * 4) + 1}'250" for x in X])),
    "points beside commas": Case(
        "MSEL-342",
        lambda name: {
            "z": [f"{x:.1f}".replace(".", ",") for x in X],
            **plain(name, [f"{int(x * 4)}.250" for x in X]),
            "other": [1, 2] * 30,
        },
        sign=";",
    ),
    "groups beside signs": Case(
        "MSEL-342", lambda name: plain(name, [f"${int(x * 4) + 1},250.5" for x in X]), ("dataset.signs=strip",)
    ),
    "day first": Case("MSEL-343", lambda name: plain(name, days("{d:02d}/{m:02d}/{y}"))),
    "day or month first": Case("MSEL-343", lambda name: plain(name, days("{d:02d}-{m:02d}-{y}", 12))),
    "a word among dates": Case("MSEL-343", lambda name: plain(name, among(days("{d:02d}.{m:02d}.{y}"), "later", 60))),
    "dates of two forms": Case("MSEL-343", lambda name: plain(name, among(days("{d:02d}.{m:02d}.{y}"), "2/28/2000", 9))),
    "declared a number": Case("MSEL-346", lambda name: plain(name, among([*X], "tall", 9)), ("numeric",)),
    "another form": Case("MSEL-346", lambda name: plain(name, days("{d:02d}.{m:02d}.{y}")), ("dates",)),
    "an order": Case(
        "MSEL-347",
        lambda name: plain(name, ["lmh"[r % 3] for r in range(ROWS)]),
        ("dataset.features.size=ordered",),
        names=("size",),
    ),
    "units below": Case("MSEL-348", lambda name: {"other": ["m", *X[1:]], name: ["kg", *X[1:]], "y": [*Y]}),
    "no name": Case("MSEL-319", lambda name: plain("", [r % 5 for r in range(ROWS)]), names=("",)),
    "no target": Case("MSEL-320", lambda name: with_target(name, among([*Y], "", 9)), is_target=True),
    "a class of one row": Case("MSEL-326", lambda name: with_target(name, among([*Y], "r", 60)), is_target=True),
    "a target with words": Case(
        "MSEL-327", lambda name: with_target(name, among([x * 1.37 for x in X], "none at all", 30)), is_target=True
    ),
    "a target with signs": Case(
        "MSEL-327", lambda name: with_target(name, [f"$1,{int(250 + x * 4)}.{int(x * 4):02d}" for x in X]), is_target=True
    ),
    "a title": Case("MSEL-303", lambda name: plain(name, [*X]), above="# a title, and more\n#\n"),
    "times": Case("MSEL-353", lambda name: plain(name, days("{d:02d}/{m:02d}/{y}")), ("time",)),
    "times that are numbers": Case("DATES_AS_NUMBERS", lambda name: plain(name, days("{d} Jan {y}"))),
    "a lone date": Case(
        "TIME_COLUMN", lambda name: plain(name, days("{y}-{m:02d}-{d:02d}")), ("split=time", "scheme=time_split")
    ),
    "large weights": Case(
        "WEIGHTS_AS_REPEATS", lambda name: plain(name, [100 * (r % 3 + 1) for r in range(ROWS)]), ("weights",)
    ),
    "unknown classes": Case("CLASS_OR_NO_ANSWER", lambda name: with_target(name, among([*Y], "unknown", 15)), is_target=True),
}


def said_first(case: Case, name: str) -> list[str]:
    """The settings under which the table is read at first; a word alone is a setting of the column."""
    of_column = {
        "numeric": Proposal("dataset.numeric", (name,)), "dates": Proposal("dataset.dates", (f"{name}=%Y/%m/%d",)),
        "time": Proposal("dataset.time", name), "weights": Proposal("dataset.weights", name),
    }  # fmt: skip
    return [of_column[word].override if word in of_column else word for word in case.words]


def write(path: Path, case: Case, name: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=case.sign, lineterminator="\n")
    columns = case.cells(name)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_text(case.above + out.getvalue(), encoding="utf-8")


def observe(words: list[str], settings: dict[str, object] | None = None) -> list[Finding | Problem]:
    """All that is said of a table under these overrides."""
    try:
        return list(prepare(compose([*LIGHT, *words], settings=settings)).findings)
    except ModelselError as error:
        return list(error.problems)


def text_of(said: Finding | Problem) -> str:
    return said.do if isinstance(said, Finding) else said.fix


def alternatives(said: Finding | Problem) -> Iterator[tuple[Proposal, ...]]:
    """What is proposed: each setting by itself, those that stand beside each other in the text together."""
    text, group = text_of(said), []
    for one in said.proposes:
        assert str(one) in text, (str(one), text)
        if group and f"{group[-1]} {one}" not in text:
            yield tuple(group)
            group = []
        group.append(one)
    yield tuple(group)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("case", CASES)
def test_what_is_proposed_is_typed_or_handed_over_and_what_it_was_for_is_gone(case: str, tmp_path: Path) -> None:
    own = CASES[case]
    for name in own.names:
        path = tmp_path / "t.csv"
        write(path, own, name)
        target = Proposal("dataset.target", name if own.is_target else own.target).override
        first = ["dataset=csv", f"dataset.path={path}", target, *said_first(own, name)]
        found = [one for one in observe(first) if one.code == own.code]
        assert found, (name, observe(first))
        assert found[0].proposes, "nothing is proposed"
        for proposed in alternatives(found[0]):
            typed = shlex.split(" ".join(map(str, proposed)))  # as a POSIX shell reads what is pasted
            assert typed == [one.override for one in proposed]
            left = observe([*first, *typed])
            assert own.code not in {one.code for one in left}, (typed, left)
            lists = [word for word in first if not any(word.startswith(f"{one.setting}=") for one in proposed)]
            in_python = {one.setting: [*one.value] if isinstance(one.value, tuple) else one.value for one in proposed}
            if "${" not in repr(in_python) and not any(one.setting.startswith("dataset.features") for one in proposed):
                assert own.code not in {one.code for one in observe(lists, in_python)}, in_python


def test_a_type_that_cannot_be_read_is_ignored_as_proposed(tmp_path: Path) -> None:
    for name in NAMES:
        table = pa.table({"x": X, name: [[1, 2]] * ROWS, "y": Y})
        pq.write_table(table, tmp_path / "t.parquet")
        first = ["dataset=parquet", f"dataset.path={tmp_path / 't.parquet'}", "dataset.target=y"]
        (said,) = [one for one in observe(first) if one.code == "MSEL-365"]
        left = observe([*first, *shlex.split(str(said.proposes[0]))])
        assert "MSEL-365" not in {one.code for one in left}


APART = {
    "MSEL-350",  # weights that are more rows than can be counted
    "MSEL-318", "MSEL-360",  # a row of names, and a table that is no ARFF file: proposed as HEADER_LIKE_DATA is
    "MSEL-365", "GROUP_SPANS_SPLIT",
}  # fmt: skip


def proposing() -> set[str]:
    """The codes of all errors and findings that the sources make with a setting."""
    found = set()
    for path in (ROOT / "modelsel").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ("Finding", "Problem"):
                continue
            if len(node.args) > 4 or any(word.arg == "proposes" for word in node.keywords):
                found |= {node.args[0].value} if node.args and isinstance(node.args[0], ast.Constant) else set()
    return found


def test_every_code_that_proposes_a_setting_has_a_case() -> None:
    assert proposing() - {case.code for case in CASES.values()} - APART == set()
