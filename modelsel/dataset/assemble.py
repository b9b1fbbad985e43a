"""From the columns of a source to a task: roles taken out, kinds settled, all problems of the contents in one pass."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.column_kind.base import kind_names
from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.reading import ColumnReading, TableReading
from modelsel.core.types import Booleans, ClassTask, Codes, Feature, Finding, Floats, Integers, Loaded, NumberTask, Task
from modelsel.dataset import kinds
from modelsel.dataset.base import TableSettings, as_names
from modelsel.dataset.column import NAMED, RawColumn, examples, numbers, seconds
from modelsel.dataset.dates import date_form_of, forms_of, seconds_by
from modelsel.dataset.declarations import some
from modelsel.dataset.gathering import gather
from modelsel.dataset.reading import find_parted_thousands
from modelsel.dataset.targets import Target, number_of_each, settle_target
from modelsel.dataset.targets import make as classes_of
from modelsel.dataset.weights import counting

_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__")  # as pandas names one that has no name


def assemble(
    given: Sequence[RawColumn], settings: TableSettings, name: str, decimal: str = ".", weights: Floats | None = None
) -> Loaded:
    """Build the task. `weights` are those of the source itself (ARFF), overruled by a weights column.

    A list of columns is emptied: each is let go once it has become a feature. Raises DataError with every problem of the
    contents.
    """
    problems: list[Problem] = []
    waiting = given if isinstance(given, list) else list(given)
    rows, cleaned = len(waiting[0]) if waiting else 0, {}
    while waiting:
        column = waiting.pop(0)
        cleaned[column.name] = column.without(settings.missing_of(column.name))
    if not rows:
        raise DataError(Problem("MSEL-311", "a header and no rows", name, "the source needs data rows"))
    assert settings.target is not None, "problems() was not asked"
    label, dropped = _label(cleaned[settings.target], settings, decimal)
    cleaned[settings.target] = label
    places = np.arange(rows)
    if settings.without_target == "drop" and label.absent.any() and not label.absent.all():
        places = np.flatnonzero(~label.absent)
        dropped.append(_left_without(settings.target, rows - len(places), rows))
        cleaned = {own: column.take(places) for own, column in cleaned.items()}
        label, rows, weights = cleaned[settings.target], len(places), None if weights is None else weights[places]
    target = settle_target(label, classes_of(label, settings), settings, decimal)
    problems += target.problems
    extra = _extra(cleaned, settings, problems)
    columns, values, findings, uncapped = _features(cleaned, rows, settings, decimal, problems)
    DataError.raise_if(problems)
    if weights is not None and settings.weights is None:
        extra["weights"] = weights
    # of numbers not whether they are whole: sealed rows would tell too
    classed = target.numbers is None
    answer = Feature.of_levels(settings.target, target.classes) if classed else Feature.of_numbers(settings.target)
    own = ColumnReading(answer, settings.missing_of(settings.target), decimal,
                        held=label.held, type=label.read_as if target.numbers is None else "float")  # fmt: skip
    reading = TableReading(columns, own)
    extra |= {"name": name, "features": reading.features, "values": values, "rows": places, "reading": reading,
              "uncapped": uncapped}  # fmt: skip
    task = _task(target, settings, extra)
    task = task if target.kept.all() else task.take(np.flatnonzero(target.kept))
    task, uncounted = counting(task)
    return Loaded(task, (*dropped, *findings, *target.findings, *uncounted))


def _label(column: RawColumn, settings: TableSettings, decimal: str) -> tuple[RawColumn, list[Finding]]:
    """The target's column; where it is coerced, what says no number is missing, which is counted."""
    if column.name not in settings.coerce_names or column.numbers is not None:
        return column, []
    _, strange = number_of_each(column, settings, decimal)
    return column.without({text.strip() for text in strange}), [*kinds.count_coerced(column, strange)]


def _left_without(target: str, gone: int, rows: int) -> Finding:
    message = f"{gone:,} of {rows:,} rows have no target '{target}', and were left out"
    return Finding("ROWS_WITHOUT_TARGET", "low", message, "dataset.without_target=drop says so")


def _task(target: Target, settings: TableSettings, given: dict[str, Any]) -> Task:
    """A task of classes, or of numbers."""
    if target.numbers is not None:
        return NumberTask(**given, target=target.numbers, measured_in=settings.measured_in or "")
    return ClassTask(**given, classes=target.classes, target=target.codes, drop_rare=settings.rare == "drop")


def _features(
    columns: dict[str, RawColumn], rows: int, settings: TableSettings, decimal: str, problems: list[Problem]
) -> tuple[tuple[ColumnReading, ...], Floats, list[Finding], dict[str, Codes]]:
    """How the features are read, with their values; what is left out (an empty column, a saved row index) is said.

    And the codes of the columns whose rarest levels were made one, as they were.
    """
    findings: list[tuple[str, Finding]] = []
    wrong: list[tuple[str, Problem]] = []
    made: list[tuple[ColumnReading, kinds.ParsedFeature]] = []
    pointed: dict[str, Sequence[str]] = {}
    uncapped: dict[str, Codes] = {}
    names = _candidates(columns, settings)
    matrix = np.empty((rows, len(names)), order="F")
    for name in names:
        column = columns.pop(name)
        if finding := _left_out(column, settings):
            findings.append((name, finding))
            continue
        one = kinds.make(column, settings, decimal)
        wrong += [(name, problem) for problem in one.problems]
        findings += [(name, finding) for finding in one.findings]
        if one.reading is not None and one.values is not None:
            matrix[:, len(made)] = one.values
            feature = replace(one.reading.feature, cost=float(settings.costs.get(name, 1.0)))
            made.append((replace(one.reading, feature=feature), replace(one, values=None, uncapped=None)))
            if one.uncapped is not None:
                uncapped[name] = one.uncapped
            if one.points:
                pointed[name] = column.texts
    commas = [reading.name for reading, _ in made if reading.comma]
    wrong += [(name, find_parted_thousands(name, texts, commas[0])) for name, texts in pointed.items() if commas]
    problems += gather(wrong)
    if not made and not any(problem.code.startswith("MSEL-34") for problem in problems):
        problems.append(
            Problem("MSEL-345", "no features are left", "dataset.features", "the source needs a column besides the target")
        )
    kept = matrix if len(made) == matrix.shape[1] else np.asfortranarray(matrix[:, : len(made)])
    inferred = _inference([reading.feature for reading, one in made if one.inferred])
    return tuple(reading for reading, _ in made), kept, [*inferred, *_commas(commas), *gather(findings)], uncapped


def _commas(names: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding that names columns with decimal commas."""
    if names:
        message = f"decimal commas were recognised in {', '.join(names[:NAMED])}{', ...' if len(names) > NAMED else ''}"
        comma, point = Proposal("dataset.decimal", ",", sure=True), Proposal("dataset.decimal", ".")
        yield Finding("DECIMAL_COMMA", "info", message, f"set {comma} to say so, or {point} if they are none", (comma, point))


def _left_out(column: RawColumn, settings: TableSettings) -> Finding | None:
    """Return the finding that a column is no feature: it is empty, or the row index that a program has written along."""
    name = column.name
    if column.absent.all():
        message = f"column '{name}' has no value in any row and was left out"
        ignored = Proposal("dataset.ignore", (name,), sure=True)
        return Finding("ALL_MISSING_COLUMN", "medium", message, f"set {ignored}", (ignored,))
    if _INDEX.fullmatch(name) and name not in settings.features and _counts(column):
        message = f"column '{name}' is a saved row index (whole numbers, all different) and was left out"
        identity = Proposal("dataset.id", name)
        return Finding("INDEX_COLUMN", "low", message, f"save without it, or set {identity}", (identity,))
    return None


def _counts(column: RawColumn) -> bool:
    """List each whole number once."""
    if column.absent.any():
        return False
    found = column.numbers if column.numbers is not None else numbers(column.texts)
    return bool(len(np.unique(found)) == len(column) and np.all(np.isfinite(found)) and np.all(found == np.round(found)))


def _candidates(columns: dict[str, RawColumn], settings: TableSettings) -> list[str]:
    """Columns that may become features: no role, not ignored."""
    roles = settings.roles()
    ignored = {name for name, said in settings.features.items() if said == "ignore"}
    if settings.others == "ignore":
        ignored |= set(columns) - set(settings.features)
    return [name for name in columns if name not in roles and name not in ignored]


def _inference(features: Sequence[Feature]) -> list[Finding]:
    """Report which kind was inferred for each feature."""
    if not features:
        return []
    named = [(f.kind, f"{f.name} ({len(f.levels)} levels)" if f.levels else f.name) for f in features]
    parts = [f"{kind}: {some(said)}" for kind in kind_names() if (said := [name for own, name in named if own == kind])]
    return [Finding("INFERRED_KINDS", "info", f"kinds inferred; {'; '.join(parts)}", "declare dataset.features to fix them")]


def _extra(columns: dict[str, RawColumn], settings: TableSettings, problems: list[Problem]) -> dict[str, object]:
    """Read the columns of weights, groups, ids, times, folds and held-out rows."""
    complain = problems.append
    made: dict[str, Any] = {}
    if settings.weights:
        made["weights"] = weights(columns[settings.weights], complain)
    if settings.groups:
        made["groups"] = groups(columns[settings.groups], complain)
    if settings.unit:
        made |= _units(columns, as_names(settings.unit), made.get("groups"), complain)
    if settings.id:
        made["ids"] = ids([columns[name] for name in as_names(settings.id)], complain)
    if settings.time:
        made["times"] = times(columns[settings.time], complain, settings.date_form(settings.time))
    if settings.fold:
        made["folds"] = folds(columns[settings.fold], complain)
    if settings.held_out:
        made["held_out"] = held_out(columns[settings.held_out], complain)
    return made


# The columns that are no features: weights, groups, ids, times, folds, held-out marks, each checked and made an array.

TRUE = {"true", "t", "1", "yes", "y", "test", "sealed", "held_out"}
FALSE = {"false", "f", "0", "no", "n", "train", "training", "development", "dev"}
Complain = Callable[[Problem], None]


def weights(column: RawColumn, complain: Complain) -> Floats:
    """Row weights: finite, and none below 0."""
    values = _numbers(column)
    for wrong, what in (
        (np.isnan(values), "weight missing or no number"),
        (np.isinf(values), "infinite weight"),
        (values < 0, "negative weight"),
        (values == 0 if (values == 0).all() else np.zeros(0), "weight of zero"),
    ):
        _complain(complain, "MSEL-350", what, column, wrong, "weights are numbers, above 0 in rows that should count")
    return values


def groups(column: RawColumn, complain: Complain) -> Integers:
    """A number per group."""
    _complain(complain, "MSEL-351", "group missing", column, column.absent, "every row needs its group")
    return _ranks(column)


def _ranks(column: RawColumn) -> Integers:
    """The rank of each cell's text; -1 where it is missing."""
    text = column.as_text()
    assert text.codes is not None
    rank = np.argsort(np.argsort(np.array(text.texts, object), kind="stable"))
    return np.append(rank, -1)[text.codes].astype(np.int64)


def _units(
    columns: dict[str, RawColumn], names: Sequence[str], apart: Integers | None, complain: Complain
) -> dict[str, object]:
    """Units, what they are called, and groups where none are declared; both hold the same rows together."""
    found = units([columns[name] for name in names], complain)
    where = f"dataset.unit={','.join(names)}"
    if len(found) > 1 and len(np.unique(found)) == 1:
        what, fix = "all rows are one unit", "nothing can be learnt of other units from it: gather more, or name another column"
        complain(Problem("MSEL-356", what, where, fix))
    elif apart is not None:
        both, own, others = (len(np.unique(each, axis=0)) for each in (np.column_stack([found, apart]), found, apart))
        if both > min(own, others) or own != others:
            what = (
                f"{own} units and {others} groups are not the same rows together: either rows of a group are independent or not"
            )
            complain(Problem("MSEL-357", what, f"{where} and dataset.groups", "leave one of them out"))
    return {"units": found, "unit": ", ".join(names), "groups": found if apart is None else apart}


def units(columns: Sequence[RawColumn], complain: Complain) -> Integers:
    """A number per unit: rows that are equal in all of these columns."""
    for column in columns:
        _complain(complain, "MSEL-351", "unit missing", column, column.absent, "every row needs its unit")
    ranks = np.column_stack([_ranks(column) for column in columns])
    return np.unique(ranks, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def ids(columns: Sequence[RawColumn], complain: Complain) -> Integers:
    """A 63-bit digest of the id cells of each row."""
    for column in columns:
        _complain(complain, "MSEL-352", "id missing", column, column.absent, "every row needs its id")
    texts = [column.as_text() for column in columns]
    cells = [np.array([*column.texts, ""], object)[column.codes] for column in texts]
    return np.array([_digest("\0".join(row)) for row in zip(*cells)], np.int64)


def times(column: RawColumn, complain: Complain, said: str = "") -> Floats:
    """Numbers as they are, dates as seconds since 1970; `said` is the form of dates, or which of day and month comes first."""
    values = _numbers(column)
    forms: list[str] = []
    if "%" in said:
        column = column.as_text()
        values = np.append(seconds_by(said, column.texts), np.nan)[column.codes]
    elif column.numbers is None and np.isnan(values).any():
        forms = forms_of(column.texts)
        form = date_form_of(forms, said)
        values = np.append(seconds_by(form, column.texts) if form else seconds(column.texts), np.nan)[column.codes]
    proposed = tuple(Proposal("dataset.dates", (f"{column.name}={form}",), sure=len(forms) == 1) for form in forms)
    fix = "times are numbers or ISO 8601 (2026-01-31, 2026-01-31T12:00:00Z)"
    fix = f"set {' or '.join(map(str, proposed))}; {fix}" if proposed else fix
    _complain(complain, "MSEL-353", "no time", column, ~np.isfinite(values), fix, proposed)
    return values


def folds(column: RawColumn, complain: Complain) -> Integers:
    """Whole numbers from −1 (never assessed)."""
    values = _numbers(column)
    wrong = ~(np.isfinite(values) & (values == np.round(values)) & (values >= -1))
    _complain(complain, "MSEL-354", "no fold number", column, wrong, "fold numbers are 0, 1, 2, ..., and -1 for never assessed")
    return np.where(wrong, -1, values).astype(np.int64)


def held_out(column: RawColumn, complain: Complain) -> Booleans:
    """True for test rows."""
    text = column.as_text()
    known = np.array([*(_truth(word) for word in text.texts), -1])[text.codes]
    strange = [word for word in text.texts if _truth(word) < 0]
    what = f"neither test nor development: {examples(strange)}" if strange else "held-out mark missing"
    _complain(complain, "MSEL-355", what, column, known < 0, "use true and false, or test and train")
    return np.asarray(known == 1)


def _truth(word: str) -> int:
    plain = word.strip().casefold()
    return 1 if plain in TRUE else 0 if plain in FALSE else -1


def _numbers(column: RawColumn) -> Floats:
    if column.numbers is not None:
        return column.numbers
    return np.asarray(np.append(numbers(column.texts), np.nan)[column.codes])


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def _complain(
    complain: Complain, code: str, what: str, column: RawColumn, wrong: NDArray[np.generic], fix: str,
    proposes: tuple[Proposal, ...] = (),
) -> None:  # fmt: skip
    """Pass on a problem with the rows that are marked as wrong, if there are any."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        where = f"column '{column.name}'"
        complain(
            Problem(
                code, f"{what} in {len(rows)} row{'s' if len(rows) > 1 else ''} ({column.named(rows)})", where, fix, proposes
            )
        )
