"""Columns that tell rows, or what rows belong to, by name or number: found before their rarest levels were made one.

A column of which every row has a value of its own names rows: no feature, since a learner can learn rows by heart from it. One
that is called an id, and repeats, names what rows belong to: perhaps such rows are not independent.
"""

import re
from collections.abc import Iterator

import numpy as np

from modelsel.core.proposal import Proposal
from modelsel.core.types import Feature, Finding, Floats, Severity, Table, Task

FEWEST = 20  # rows in which anything looks like an id
NEARLY_ALL = 0.95  # different values per row from which a column tells rows apart
LONG = 8  # digits that all values have, as account numbers do and measurements hardly ever
MANY_ROWS = 0.02  # different values per row from which `code`, `no`, `key` are names of an id and not of a few kinds
SURE_WORDS = ("id", "ids", "identifier", "uuid", "guid", "ident")
ID_WORDS = (*SURE_WORDS, "key", "code", "nr", "no", "num", "number", "nummer", "ref", "reference", "index", "serial")
OBJECTS = (
    "patient", "subject", "person", "customer", "client", "user", "participant", "household", "device", "animal", "host",
    "account", "member", "employee", "student", "donor", "sensor", "machine", "vehicle",
)  # fmt: skip


def as_read(table: Table, index: int) -> Floats:
    """The values of a feature before its rarest levels were made one."""
    name = table.features[index].name
    if name not in table.uncapped:
        return table.values[:, index]
    codes = table.uncapped[name][table.rows].astype(np.float64)
    codes[codes < 0] = np.nan
    return codes


def id_like(feature: Feature, values: Floats, known: Floats) -> Severity | None:
    """How surely a column is an id; None where it looks like none. `known` are its different values, smallest first.

    Nominal: nearly every row has a level of its own. Numeric: whole numbers, all different, without large gaps or called an id;
    or, less surely, in the order of the rows, or all of one length of many digits.
    """
    there = int(np.count_nonzero(~np.isnan(values)))
    if there < max(FEWEST, len(values) / 2) or feature.is_ranked or feature.text or feature.dates:
        return None
    if len(known) < NEARLY_ALL * there:
        return None
    perfect = len(known) == there  # then trees and neighbours can learn rows by heart
    if not feature.has_order:
        return "high" if perfect else "medium"
    if np.any(known != np.round(known)):
        return None
    named = bool(object_of(feature.name))
    if not perfect:
        return "medium" if named else None
    if named or known[-1] - known[0] < 2 * len(values):
        return "high"
    return "medium" if _ascending(values) or _one_length(known) else None


def _ascending(values: Floats) -> bool:
    """Say whether the numbers rise, or fall, from row to row."""
    steps = np.diff(values[~np.isnan(values)])
    return bool((steps > 0).all() or (steps < 0).all())


def _one_length(known: Floats) -> bool:
    """Say whether all numbers have the same, large number of digits."""
    return bool(known[0] >= 10.0 ** (LONG - 1) and np.floor(np.log10(known[0])) == np.floor(np.log10(known[-1])))


def asked_units(task: Task, sealed: Table) -> Iterator[Finding]:
    """Ask of each column that is called an id, and repeats, whether it says what is independent; labels are not read."""
    for feature, of, distinct in _repeated_ids(task, sealed):
        asked = f"{feature.name} has {distinct} values in {len(task) + len(sealed)} rows: are rows of one {of} independent?"
        unit, ignored = Proposal("dataset.unit", feature.name), Proposal("dataset.ignore", (feature.name,))
        yield Finding("REPEATED_IDS", "medium", asked, f"if not, set {unit}; else {ignored}", (unit, ignored))


def _repeated_ids(task: Task, sealed: Table) -> Iterator[tuple[Feature, str, int]]:
    """Yield columns that are called an id and repeat, what they identify, and in how many values; none beside groups."""
    for index, feature in enumerate(task.features if task.groups is None else ()):
        of = object_of(feature.name)
        if not of or feature.dates or feature.text or feature.is_ranked:
            continue
        own = np.concatenate([as_read(task, index), as_read(sealed, index)])
        values = own[~np.isnan(own)]
        distinct = len(np.unique(values))
        fewest = 2 if _surely(feature.name) else max(FEWEST, MANY_ROWS * len(values))
        whole = feature.has_levels or (values == values.round()).all()
        if fewest <= distinct < NEARLY_ALL * len(values) and whole:
            yield feature, of, distinct


SUGGESTED = {(True, True): "group_time_split", (True, False): "group_kfold", (False, True): "time_split"}


def suggested_scheme(task: Task, sealed: Table, reads_times: bool) -> str:
    """The scheme that the columns suggest, with the settings that it needs, as `plan` prints it; empty where they suggest none.

    A repeated id asks for groups, a date for time, both for `group_time_split`. Nothing is said of what is declared and read.
    """
    ids, moments = (
        [feature.name for feature, *_ in _repeated_ids(task, sealed)],
        [one.name for one in task.features if one.dates],
    )
    dated = [] if task.times is not None else moments
    unread = task.times is not None and not reads_times
    if not (ids or dated or unread):
        return ""
    scheme = SUGGESTED[bool(ids) or task.groups is not None, bool(dated) or task.times is not None]
    why = [
        *(f"{name} repeats" for name in ids[:1]),
        *(f"{name} is a date" for name in dated[:1]),
        *["rows have times"] * unread,
    ]
    settings = [Proposal("dataset.groups", name) for name in ids[:1]] + [Proposal("dataset.time", name) for name in dated[:1]]
    said = " ".join(map(str, [*settings, f"scheme={scheme}"]))
    return f"suggested    {', '.join(why)}: {said}, if such rows are not independent"


def object_of(name: str) -> str:
    """What a column's name says that it identifies; empty where it says nothing.

    >>> [object_of(name) for name in ("patient_id", "CustomerID", "site no", "id", "humid", "subject")]
    ['patient', 'customer', 'site', 'id', '', 'subject']
    """
    told = _words(name)
    if told and told[-1] in ID_WORDS:
        return " ".join(told[:-1]) or told[-1]
    return told[0] if len(told) == 1 and told[0] in OBJECTS else ""


def _surely(name: str) -> bool:
    """Say whether a name is that of an id, whatever its values; `code` and `no` are of a few kinds too (`period code`).

    >>> _surely("site_id"), _surely("patient no"), _surely("period code")
    (True, True, False)
    """
    told = _words(name)
    return told[-1] in SURE_WORDS or told[0] in OBJECTS


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
