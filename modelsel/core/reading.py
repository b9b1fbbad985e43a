"""How the cells of a table are read: decided once, kept with the model, and applied by whoever has rows.

A `ColumnReading` says of one column what its texts mean: which words say that a value is missing, how numbers, dates and truth
values are spelled, which levels there are. A `TableReading` is that of all features and of the target. `dataset.reading`
applies it; the record keeps it as JSON; exporters say it in their own language.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from modelsel.core.column_kind.base import ColumnKind, kind_named

# A moment as people read it: `2021-03-04`, and `2021-03-04T12:30` where it is no midnight.


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(seconds: float) -> str:
    """A moment by its seconds since 1970 (UTC), to the second; beyond the calendar's years the number itself.

    >>> moment(0.0), moment(45000.0), moment(-1.0), moment(1e18)
    ('1970-01-01', '1970-01-01T12:30', '1969-12-31T23:59:59', '1e+18')
    """
    try:
        when = EPOCH + timedelta(seconds=round(seconds))
    except (OverflowError, ValueError):
        return f"{seconds:.12g}"
    if not (when.hour or when.minute or when.second):
        return when.strftime("%Y-%m-%d")
    return when.strftime("%Y-%m-%dT%H:%M:%S" if when.second else "%Y-%m-%dT%H:%M")


DIGITS = 12  # of numbers that are shown


@dataclass(frozen=True)
class Feature:
    """A column that may be used for prediction. `kind` names a `ColumnKind`; its levels, if any, are in declared order."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    cost: float = 1.0
    dates: bool = field(default=False, compare=False)  # numbers that people read as moments: seconds since 1970
    text: bool = False  # nominal, and each level is a text to be read: those of one table, no list to choose from

    @classmethod
    def of_numbers(cls, name: str, dates: bool = False) -> Self:
        """A feature of numbers."""
        return cls(name, "numeric", dates=dates)

    @classmethod
    def of_levels(cls, name: str, levels: tuple[str, ...] = (), text: bool = False) -> Self:
        """A feature of levels without an order, or of texts."""
        return cls(name, "nominal", levels, text=text)

    @property
    def of(self) -> ColumnKind:
        """Its kind, which says what may be asked of its values."""
        return kind_named(self.kind)

    @property
    def is_number(self) -> bool:
        """Say whether values are numbers, which have sums and distances."""
        return not kind_named(self.kind).has_levels

    @property
    def has_levels(self) -> bool:
        """Say whether values are codes of levels."""
        return kind_named(self.kind).has_levels

    @property
    def has_order(self) -> bool:
        """Say whether values compare by <: numbers and ranks."""
        return kind_named(self.kind).has_order

    @property
    def is_ranked(self) -> bool:
        """Say whether values are levels with an order."""
        return kind_named(self.kind).is_ranked

    def number(self, value: float, digits: int = DIGITS) -> str:
        """A number as it is shown: so many digits, all of one that has more before its point; a date; or as its kind writes it.

        >>> Feature("age", "numeric").number(17.25, digits=3), Feature("since", "numeric", dates=True).number(86400.0)
        ('17.2', '1970-01-02')
        """
        if self.dates:
            return moment(value)
        if self.of.writes_its_own:
            return self.of.text(value)
        return repr(float(value)) if digits == DIGITS and abs(value) >= 10**DIGITS else f"{value:.{digits}g}"


MISSING = ("", "?")  # cells that count as missing unless a study says otherwise
POINT, COMMA, EITHER = ".", ",", "either"  # how fractions are written; either: with a point, else with a comma


@dataclass(frozen=True)
class ColumnReading:
    """What the cells of a column mean. `feature` has its name, kind, levels in order, and whether it holds dates or texts."""

    feature: Feature
    missing: tuple[str, ...] = MISSING  # trimmed texts that say that there is no value
    decimal: str = POINT  # sign before the fraction of a number
    comma: bool = False  # a decimal comma was recognised: nobody declared it
    declared: bool = False  # somebody said that it is a number: a point in it parts fractions, and never thousands
    thousands: str = ""  # sign between groups of digits, which is left out
    signs: str = ""  # of a currency, per cent or a unit beside a number, which is left out
    coerce: bool = False  # what is not a number is missing
    date_form: str = ""  # of dates, as strptime has it; without one ISO 8601
    type: str = ""  # that table readers give the cells: bool, int, float, str or date
    held: str = ""  # type of the source's own cells (Arrow's name); none where it holds texts alone

    @property
    def name(self) -> str:
        return self.feature.name

    @property
    def dressed(self) -> bool:
        """Say whether numbers may have signs about them, or within, that are left out."""
        return bool(self.signs or self.thousands)

    @property
    def is_read_as_text(self) -> bool:
        """Say whether the texts of the cells are needed: levels, and numbers that are not written as any are."""
        return self.feature.has_levels or self.dressed or self.feature.of.writes_its_own

    def describe(self) -> dict[str, object]:
        """What differs from a column of plain texts or numbers, as JSON has it; the feature stands beside."""
        said = {each.name: getattr(self, each.name) for each in OWN if getattr(self, each.name) != each.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}

    @classmethod
    def restore(cls, feature: Feature, facts: Mapping[str, Any]) -> Self:
        """The reading that `describe` told of. Raises ValueError for facts that no reading has."""
        known = {each.name: type(each.default) for each in OWN}
        made: dict[str, Any] = dict(facts)
        if "missing" in made:
            made["missing"] = tuple(map(str, made["missing"]))
        if wrong := [name for name, value in made.items() if name not in known or type(value) is not known[name]]:
            raise ValueError(f"a reading with {wrong[0]!r}")
        return cls(feature, **made)


OWN = tuple(each for each in fields(ColumnReading) if each.name != "feature")


@dataclass(frozen=True)
class TableReading:
    """How a table is read: a `ColumnReading` for each feature, in their order, and for the target where it is known."""

    columns: tuple[ColumnReading, ...]
    target: ColumnReading | None = None
    decided: bool = True  # False: nobody looked at cells; so it is of models that were made before there was a reading

    @classmethod
    def of(cls, features: Sequence[Feature], missing: Sequence[str] = MISSING, decimal: str = POINT) -> Self:
        """The plain reading of features that nobody has decided one for."""
        return cls(tuple(ColumnReading(feature, tuple(missing), decimal) for feature in features), decided=False)

    @property
    def features(self) -> tuple[Feature, ...]:
        return tuple(column.feature for column in self.columns)

    @property
    def comma(self) -> bool:
        """Say whether decimal commas were recognised somewhere in the table."""
        return any(column.comma for column in self.columns)

    def for_features(self, features: Sequence[Feature]) -> Self:
        """The reading of these features, which may be fewer; a feature that it does not know is read plainly."""
        known = {column.name: column for column in self.columns}
        made = [replace(known.get(each.name, ColumnReading(each)), feature=each) for each in features]
        return replace(self, columns=tuple(made))

    def describe(self) -> dict[str, object]:
        """The reading as JSON has it, beside the features."""
        target = {} if self.target is None else {"target": self.target.describe()}
        return {"columns": [column.describe() for column in self.columns], **target}

    @classmethod
    def restore(cls, features: Sequence[Feature], facts: Mapping[str, Any]) -> Self:
        """The reading that `describe` told of. Raises ValueError or KeyError for facts that no reading has."""
        columns = zip(features, facts["columns"], strict=True)
        target = ColumnReading.restore(Feature.of_levels("target"), facts["target"]) if "target" in facts else None
        return cls(tuple(ColumnReading.restore(feature, own) for feature, own in columns), target)
