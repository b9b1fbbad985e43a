"""A transformer of scikit-learn (or of another allowed package) as a step: fitted on analysis rows, applied to any.

`columns` says which features it reads: those of a kind, all, or names and patterns with commas between them, but for what
`apart` names. What it makes of them is named after that (`numeric/age`), so that the next step for these columns reads what
this one made and leaves the others alone. Numbers come out as numbers, texts as names with the levels of the analysis rows. No
features of that kind: the table stays as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelsel.core.column_kind.base import kind_names
from modelsel.core.spec import FieldLimits, plain
from modelsel.core.types import AnyTable, Description, Feature, Floats, Integers, Table, Task
from modelsel.foreign.allowed import home_of
from modelsel.foreign.branches import block, is_named, strangers
from modelsel.foreign.libraries import takes_weights
from modelsel.foreign.parameters import Params, make_transformer, transformer_of, transformer_problems
from modelsel.foreign.stored import INSTALL, NotStoredError, has_skops, load_skops, skops
from modelsel.preparer.base import BasePreparer, FittedPreparer

ALL = "all"


@dataclass(frozen=True)
class Transform(BasePreparer):
    """Every parameter is a growing parameter. Weights of rows go to transformers that take them."""

    transformer: str = plain("StandardScaler", help="a transformer of scikit-learn by its name, or a dotted name")
    columns: str = plain("numeric", help="the features that it reads: numeric, ordered, nominal, all, or names and patterns")
    params: Mapping[str, Any] = plain(Params({}), help="keyword arguments of the transformer: plain values")
    apart: tuple[str, ...] | None = field(
        default=None,
        metadata={"optional": True, "limits": FieldLimits(help="names and patterns of features that are not its own")},
    )
    plugins: tuple[str, ...] = field(
        default=(), metadata={"identity": False, "limits": FieldLimits(help="packages allowed beside the list")}
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", Params(self.params))
        object.__setattr__(self, "apart", tuple(self.apart) if self.apart else None)
        object.__setattr__(self, "plugins", tuple(sorted({self.transformer.partition(".")[0]} & set(self.plugins))))

    @property
    def source(self) -> str:
        """The owner of the code, with its version."""
        home = home_of(transformer_of(self.transformer, self.plugins).__module__.partition(".")[0], self.plugins)
        return f"{home.distribution} {home.version}"

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if not has_skops():
            yield f"a fitted {self.transformer} is stored by skops, which is not installed: {INSTALL}"
        yield from transformer_problems(self.transformer, self.params, self.plugins)
        if task is not None and self.columns not in (*kind_names(), ALL):
            yield from strangers(self.columns, [feature.name for feature in task.features], (*kind_names(), ALL))
        own = () if task is None else [task.features[place] for place in read(task.features, self.columns, self.apart or ())]
        if texts := [feature.name for feature in own if feature.text]:
            yield f"steps for {self.columns} would read {texts[0]!r} as levels, and it is a text: leave it out (ignore)"
        if len({not feature.has_order for feature in own}) > 1 and self.columns not in (*kind_names(), ALL):
            yield f"steps for {self.columns} read numbers or names and not both: part them"

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Transform._Fit":
        return Transform._Fit(self.fit(task, rows, rng))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Transformed":
        """Fit the transformer on its columns of the analysis rows, and describe the features that it makes."""
        apart = self.apart or ()
        places = read(task.features, self.columns, apart)
        if not places:
            return Transformed(self.columns, None, (), self.plugins, apart)
        made = make_transformer(self.transformer, self.params, int(rng.integers(2**31 - 1)), self.plugins)
        given = hand_columns(task.features, places, task.values[rows])
        weights = {} if task.weights is None or not takes_weights(made) else {"sample_weight": task.weights[rows]}
        out = _dense(made.fit(given, task.target[rows], **weights).transform(given))
        names = _names(made, [task.features[place].name for place in places], out.shape[1], self.columns)
        features = tuple(_feature(name, column) for name, column in zip(names, out.T, strict=True))
        return Transformed(self.columns, made, features, self.plugins, apart)

    @staticmethod
    def restore(description: Description) -> "Transformed":
        """Rebuild the step; the transformer is read only if all its types are allowed."""
        facts = description.facts
        plugins, apart = tuple(map(str, facts["plugins"])), tuple(map(str, facts.get("apart", ())))
        features = tuple(Feature(f["name"], f["kind"], tuple(f["levels"])) for f in facts["features"])
        if not features:
            return Transformed(str(facts["columns"]), None, (), plugins, apart)
        made = load_skops(np.asarray(description.arrays["transformer"], np.uint8).tobytes(), plugins)
        if not hasattr(made, "transform"):
            raise ValueError("transform: what is stored is not a transformer")
        return Transformed(str(facts["columns"]), made, features, plugins, apart)

    @dataclass(frozen=True, eq=False)
    class _Fit:
        """A fitted transform, which answers for itself alone."""

        fitted: "Transformed"

        def prepared(self, preparer: object) -> "Transformed":
            return self.fitted


@dataclass(frozen=True, eq=False)
class Transformed(FittedPreparer):
    """A fitted transformer, and the features that it makes."""

    reads: str
    transformer: Any
    features: tuple[Feature, ...]
    plugins: tuple[str, ...]
    apart: tuple[str, ...] = ()

    def apply(self, table: AnyTable) -> AnyTable:
        """Replace the columns that it reads by those that it makes, which stand last."""
        places = read(table.features, self.reads, self.apart)
        if self.transformer is None or not places:
            return table
        kept = [place for place in range(len(table.features)) if place not in places]
        given = hand_columns(table.features, places, table.values)
        out = _dense(self.transformer.transform(given)) if len(given) else np.empty((0, len(self.features)))
        made = [_codes(feature, column) for feature, column in zip(self.features, out.T, strict=True)]
        values = np.column_stack([*table.values[:, kept].T, *made]) if kept or made else np.empty((len(table), 0))
        return table.with_features((*(table.features[place] for place in kept), *self.features), values)

    def describe(self) -> Description:
        """Describe the step; a transformer that cannot be stored is an error."""
        features = [{"name": f.name, "kind": f.kind, "levels": list(f.levels)} for f in self.features]
        facts: dict[str, object] = {"columns": self.reads, "features": features, "plugins": list(self.plugins)}
        facts |= {"apart": list(self.apart)} if self.apart else {}
        if self.transformer is None:
            return Description("transform", facts)
        try:
            data = skops(self.transformer, self.plugins)
        except NotStoredError as error:
            raise ValueError(f"transform: {error}") from error
        return Description("transform", facts, {"transformer": np.frombuffer(data, np.uint8)})


def read(features: Sequence[Feature], columns: str, apart: Sequence[str] = ()) -> list[int]:
    """List the features that a step reads: those an earlier step made for these columns, else those of the kind or name.

    >>> rows = [Feature("age", "numeric"), Feature("amount_1", "numeric"), Feature("amount_2", "numeric")]
    >>> read(rows, "numeric"), read(rows, "amount_*", ["amount_2"]), read(rows, "numeric", ["amount_2", "amount_*"])
    ([0, 1, 2], [1], [0])
    """
    if columns == ALL:
        return list(range(len(features)))
    made = [place for place, feature in enumerate(features) if feature.name.startswith(f"{columns}/")]
    others = tuple(f"{other}/" for other in (*kind_names(), *apart))
    free = [p for p, one in enumerate(features) if not one.name.startswith(others) and not is_named(one.name, apart)]
    if columns in kind_names():
        return made or [place for place in free if features[place].kind == columns]
    return made or [place for place in free if is_named(features[place].name, [columns])]


def hand_columns(features: Sequence[Feature], places: Sequence[int], values: Floats) -> Any:
    """The columns as the transformer wants them: numbers, or names as texts with NaN where missing."""
    if len({not features[place].has_order for place in places}) > 1:
        raise ValueError("a step reads numbers or names, and not both: give the nominal features a step of their own before it")
    return block(features, places, values)


def _dense(out: object) -> Any:
    array = np.asarray(out.toarray() if hasattr(out, "toarray") else out)
    return array if array.ndim == 2 else array.reshape(len(array), -1)


def _names(made: Any, given: Sequence[str], count: int, columns: str) -> list[str]:
    """Names of what comes out, each once."""
    try:
        names = [str(name) for name in made.get_feature_names_out([one.removeprefix(f"{columns}/") for one in given])]
    except (AttributeError, ValueError, TypeError):
        names = [str(number) for number in range(count)]
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        names[place] = f"{columns}/{name}" + (f"_{seen[name]}" if seen[name] > 1 else "")
    return names


def _feature(name: str, column: Any) -> Feature:
    """Describe a made column: numeric, or nominal with its sorted values."""
    if column.dtype.kind in "biuf":
        return Feature.of_numbers(name)
    known = sorted({str(value) for value in column if not _is_missing(value)})
    return Feature.of_levels(name, tuple(known))


def _codes(feature: Feature, column: Any) -> Floats:
    """Turn a made column into numbers or level codes."""
    if feature.is_number:
        return np.asarray(column, np.float64)
    position = {level: float(index) for index, level in enumerate(feature.levels)}
    unseen = float(len(feature.levels))
    return np.array([np.nan if _is_missing(value) else position.get(str(value), unseen) for value in column])


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
