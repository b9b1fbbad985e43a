"""Profile the development rows before anything is chosen on them: the profile reports, it never repairs.

It reads labels, so that it is never asked of sealed rows.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.fingerprint import array_digest
from modelsel.core.proposal import Proposal
from modelsel.core.runs import is_fresh
from modelsel.core.types import ClassTask, Codes, Feature, Finding, Floats, Integers, NumberTask, Severity, Task
from modelsel.dataset.gathering import gather
from modelsel.dataset.identifiers import FEWEST, as_read, id_like
from modelsel.statistics.sampling import equal_rows

UNLESS = ", unless it is known before the target is"
FEW = 10  # rows of a class below which it is called rare
NAMED = 5
HEAD = 64  # rows whose codes are compared before those of all


def profile(task: Task) -> tuple[Finding, ...]:
    """Duplicates; constant, id-like, equal columns and those that determine the target; near-duplicate labels, rare classes."""
    columns = [SortedColumn.of(as_read(task, j)) for j in range(len(task.features))]
    found = [(feature.name, each) for feature, column in zip(task.features, columns) for each in _column(task, feature, column)]
    of_columns = gather([*found, *_equal_columns(task, columns)])
    return (*_duplicate_rows(task), *of_columns, *_labels(task), *_ids(task))


@dataclass(frozen=True, eq=False)
class SortedColumn:
    """A column's distinct values, smallest first (missing last, as one), and what tells it from most others.

    Sorting values alone is a fraction of sorting rows by them, and few columns need a code per row.
    """

    values: Floats
    levels: Floats
    mark: tuple[str, bytes]  # equal for columns that part the rows alike

    @classmethod
    def of(cls, values: Floats) -> "SortedColumn":
        """Sort a column."""
        ordered = np.sort(values)
        known = int(np.searchsorted(ordered, np.nan))
        first = np.flatnonzero(is_fresh(ordered[:known]))
        starts = first if known == len(ordered) else np.append(first, known)
        levels = ordered[starts]
        return cls(values, levels, (array_digest(starts), _places(levels, values[:HEAD]).tobytes()))

    def codes(self) -> Codes:
        """The place of each row's value among the levels."""
        return _places(self.levels, self.values)


def _places(levels: Floats, values: Floats) -> Codes:
    """The place of each value among levels in order."""
    return np.searchsorted(levels, values).astype(np.int32)


def _alike(columns: Sequence[SortedColumn]) -> Iterator[str]:
    """A text per column, equal where columns part the rows in the same way; empty for a constant one."""
    marks = Counter(column.mark for column in columns)
    for column in columns:
        if len(column.levels) < 2:
            yield ""
        else:
            yield array_digest(column.codes()) if marks[column.mark] > 1 else str(column.mark)


def _duplicate_rows(task: Task) -> Iterator[Finding]:
    """Yield a finding on rows that repeat an earlier one, and on equal rows with different labels."""
    same = _equal_as_read(task)
    repeated = len(task) - int(same.max(initial=-1)) - 1
    if not repeated:
        return
    labels = np.unique(task.target, return_inverse=True)[1]
    mixed = np.unique(np.column_stack([same, labels]), axis=0)
    torn = int((np.bincount(mixed[:, 0]) > 1).sum())
    carried = "labels" if task.kind == "classes" else "numbers"
    clash = f"; {torn} groups of equal rows carry different {carried}" if torn else ""
    share = repeated / len(task)
    message = f"{repeated} of {len(task)} rows ({share:.1%}) repeat an earlier row's features{clash}"
    severity = "medium" if share >= 0.01 else "low"
    do = "set scheme.keep_duplicates_together=true, so that no row is assessed by its twin"
    yield Finding("DUPLICATE_ROWS", severity, message, do)  # type: ignore[arg-type]


def _equal_as_read(task: Task) -> Integers:
    """A number per row, equal where all cells were before the rarest levels of a column were made one."""
    same = equal_rows(task.values)
    if not task.uncapped:
        return same
    return equal_rows(np.column_stack([same, *(codes[task.rows] for codes in task.uncapped.values())]).astype(np.float64))


def _column(task: Task, feature: Feature, column: SortedColumn) -> Iterator[Finding]:
    """Yield the findings of one column: constant, like an id, telling the class, levels alike but for case."""
    levels = column.levels
    known = levels[~np.isnan(levels)]
    name, n = feature.name, len(task)
    if len(levels) == 1:
        yield _left_out("CONSTANT_COLUMN", "low", f"column '{name}' has one value in all rows", name)
        return
    if severity := id_like(feature, column.values, known):
        message = f"column '{name}' has {len(known)} different values in {n} rows: it looks like an id"
        identified, ignored = Proposal("dataset.id", name, severity == "high"), _propose_ignoring(name, sure=False)
        do = f"set {identified}, or {ignored} where none of the rows is to be known again by it"
        yield Finding("ID_LIKE_COLUMN", severity, message, do, (identified, ignored))
    elif name not in task.uncapped and _few_rows_each(feature, column.values, len(known)):
        message = f"column '{name}' has {len(known)} levels in {n} rows: what stands in a row or two can be learnt by heart"
        ignored = _propose_ignoring(name, sure=False)
        yield Finding("MANY_LEVELS", "low", message, f"set {ignored} where new rows will hold other levels", (ignored,))
    yield from _determines(task, feature, column)
    near = "" if feature.text else _near_duplicates(feature.levels)
    if near:
        yield Finding(
            "NEAR_DUPLICATE_LEVELS",
            "medium",
            f"column '{name}' has levels that differ in case or spaces: {near}",
            "write each level in one way",
        )


def _few_rows_each(feature: Feature, values: Floats, levels: int) -> bool:
    """Say whether the levels of a column that nobody called texts have less than two rows each."""
    there = int(np.count_nonzero(~np.isnan(values)))
    return feature.has_levels and not feature.has_order and not feature.text and there >= FEWEST and 2 * levels > there


def _determines(task: Task, feature: Feature, column: SortedColumn) -> Iterator[Finding]:
    """Each value goes with one class, in far more rows than values: the target under another name, or its cause."""
    distinct = len(column.levels)
    if isinstance(task, NumberTask) and feature.is_number:
        yield from _rises(task, feature, column)
    if not isinstance(task, ClassTask) or distinct > max(len(task) // 10, 2):
        return
    table = np.zeros((distinct, len(task.classes)), np.bool_)
    table[column.codes(), task.target] = True
    if np.any(table.sum(axis=1) != 1):
        return
    if np.all(table.sum(axis=0) <= 1):
        message = f"column '{feature.name}' equals the target under other names"
        yield _left_out("EQUALS_TARGET", "high", message, feature.name)
    else:
        message = f"column '{feature.name}' determines the target: each of its {distinct} values goes with one class only"
        yield _left_out("DETERMINES_TARGET", "high", message, feature.name, UNLESS, sure=False)


def _rises(task: NumberTask, feature: Feature, column: SortedColumn) -> Iterator[Finding]:
    """A column that rises or falls with the target in every row is the target in another unit."""
    numbers = SortedColumn.of(task.target)
    many = len(numbers.levels)
    if many <= FEW or len(column.levels) != many or np.isnan(column.levels[-1]):
        return
    own, codes = numbers.codes(), column.codes()
    if np.array_equal(own, codes) or np.array_equal(own, many - 1 - codes):
        message = f"column '{feature.name}' orders all rows as the target does: it is the target in another unit"
        yield _left_out("EQUALS_TARGET", "high", message, feature.name)


def _equal_columns(task: Task, columns: Sequence[SortedColumn]) -> Iterator[tuple[str, Finding]]:
    """Columns that part the rows in the same way and in the same order of values."""
    seen: dict[str, str] = {}
    for feature, codes in zip(task.features, _alike(columns)):
        if codes:
            twin = seen.setdefault(codes, feature.name)
            if twin != feature.name:
                message = f"columns '{twin}' and '{feature.name}' tell the rows apart in the same way"
                yield feature.name, _left_out("EQUAL_COLUMNS", "low", message, feature.name, sure=False)


def _labels(task: Task) -> Iterator[Finding]:
    """Yield findings on labels: alike but for case, rare, without rows."""
    if not isinstance(task, ClassTask):
        return
    near = _near_duplicates(task.classes)
    if near:
        yield Finding(
            "NEAR_DUPLICATE_LABELS", "high", f"classes differ only in case or spaces: {near}", "write each class in one way"
        )
    counts = np.bincount(task.target, minlength=len(task.classes))
    few = [f"{name} ({n})" for name, n in zip(task.classes, counts.tolist()) if 0 < n < FEW]
    if few:
        yield Finding("RARE_CLASS", "low", f"classes with fewer than {FEW} rows: {_some(few)}", "see dataset.rare")
    empty = [name for name, n in zip(task.classes, counts.tolist()) if n == 0]
    if empty:
        yield Finding("EMPTY_CLASS", "info", f"declared classes without rows: {_some(empty)}")


def _ids(task: Task) -> Iterator[Finding]:
    """Yield a finding where ids repeat."""
    if task.ids is not None:
        repeated = len(task) - len(np.unique(task.ids))
        if repeated:
            do = "if the rows of one id belong together, set dataset.groups to that column"
            yield Finding("REPEATED_IDS", "medium", f"{repeated} rows repeat an earlier row's id", do)


def _near_duplicates(names: Sequence[str]) -> str:
    """Pairs that are equal but for case, spaces and Unicode form."""
    seen: dict[str, str] = {}
    pairs = []
    for name in names:
        twin = seen.setdefault(" ".join(unicodedata.normalize("NFKC", name).casefold().split()), name)
        if twin != name:
            pairs.append(f"{twin!r} and {name!r}")
    return _some(pairs)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f", +{len(names) - NAMED} more" if len(names) > NAMED else "")


def _left_out(code: str, severity: Severity, message: str, name: str, unless: str = "", sure: bool = True) -> Finding:
    """A finding that proposes to leave a column out. Tables of one's own have the setting, of a bundled set a step chooses."""
    ignored = _propose_ignoring(name, sure)
    do = f"set {ignored}, or name the others in a select_named step{unless}"
    return Finding(code, severity, message, do, (ignored,))


def _propose_ignoring(name: str, sure: bool) -> Proposal:
    return Proposal("dataset.ignore", (name,), sure)
