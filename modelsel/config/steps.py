"""`steps:` of a learner, transformers by kind of column, as the preparation steps that they stand for.

    steps: {numeric: [SimpleImputer, {kind: PCA, n_components: 3}], nominal: [OneHotEncoder]}
    preparer: [{kind: transform, columns: numeric, transformer: SimpleImputer},
               {kind: transform, columns: numeric, transformer: PCA, params: {n_components: 3}},
               {kind: transform, columns: nominal, transformer: OneHotEncoder}]

In this order: names, patterns, numeric, ordered, nominal, all; so candidates that share the first steps share their fits. A
column that is named belongs to no pattern and no kind, and what nobody names stays as it is.

An estimator of another library takes them as its own branches where columns, patterns, texts or the rest are named:

    steps: {age: [StandardScaler], "amount_*": [SimpleImputer], text: [{kind: TfidfVectorizer, min_df: 2}], rest: drop}
    steps: [[age, [{transformer: StandardScaler, params: {}}]], ...]
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from modelsel.config.merge import KIND
from modelsel.config.options import Swept
from modelsel.core.column_kind.base import kind_names

STEPS, PREPARER, TRANSFORM = "steps", "preparer", "transform"
TEXT, REST, PASSTHROUGH = "text", "rest", "passthrough"
ALL = "all"
REPLACED = ("encoding", "missing", "scale")  # what a learner's file says of columns
NEUTRAL = ("auto", "none")  # of these: nothing is said


def by_kind() -> tuple[str, ...]:
    """The words that name columns by their kind, in the order in which their steps are taken."""
    return (*kind_names(), ALL)


class WrongStepsError(Exception):
    """Preparation steps that cannot be read: `what` is wrong, and how to `fix` it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


def write_steps(
    values: Mapping[str, object], over: Mapping[str, object], by_columns: bool = False
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """A learner's values and what is set or swept over them, with preparation steps in the place of `steps`.

    `by_columns`: the learner takes branches itself. Raises WrongStepsError.

    >>> write_steps({"steps": {"nominal": ["OneHotEncoder"]}}, {})[0]
    {'preparer': [{'kind': 'transform', 'columns': 'nominal', 'transformer': 'OneHotEncoder', 'params': {}}]}
    """
    if (STEPS not in values and STEPS not in over) or (by_columns and _is_read(values.get(STEPS))):
        return values, over
    if PREPARER in over:
        raise WrongStepsError("steps, and a sweep over preparer", "write all of them as preparers, or all as steps")
    rest = {key: value for key, value in values.items() if key != STEPS}
    others = {key: value for key, value in over.items() if key != STEPS}
    said = _choices(values.get(STEPS), over.get(STEPS))
    named = any(key not in by_kind() for one in said for key in one)
    if named and by_columns:
        return _in_branches(said, rest, others)
    before = _as_list(values.get(PREPARER))
    choices = [[*before, *(_by_name(one) if named else _expand(one))] for one in said]
    if len(choices) == 1:
        return {**rest, PREPARER: choices[0]}, others
    return rest, {**others, PREPARER: Swept(tuple(choices))}


def _is_read(said: object) -> bool:
    """Say whether steps are branches as a record writes them."""
    return isinstance(said, list | tuple) and all(isinstance(one, Mapping) and "columns" in one for one in said)


def _in_branches(
    said: Sequence[Mapping[str, object]], rest: Mapping[str, object], others: Mapping[str, object]
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Write steps by columns as branches, which some learners take."""
    strange = next(key for one in said for key in one if key not in by_kind())
    if mixed := [key for one in said for key in one if key == ALL]:
        raise WrongStepsError(f"{mixed[0]!r} beside {strange!r}", "a column belongs to one branch: name the others by `rest`")
    branches = [[_branch(str(columns), steps) for columns, steps in one.items()] for one in said]
    rest = {key: value for key, value in rest.items() if key not in REPLACED}
    if len(branches) == 1:
        return {**rest, STEPS: branches[0]}, others
    return rest, {**others, STEPS: Swept(tuple(branches))}


def _by_name(said: Mapping[str, object]) -> list[dict[str, object]]:
    """Steps before a learner of modelsel's own; each knows whose columns are not its own (`apart`)."""
    if TEXT in said:
        raise WrongStepsError("steps for text", "texts are read by estimators of other libraries alone")
    if ALL in said:
        raise WrongStepsError(f"{ALL!r} beside columns by name", "a column belongs to one of them: name its kind")
    if said.get(REST, PASSTHROUGH) not in (PASSTHROUGH, [PASSTHROUGH]):
        fix = "columns without a step stay as they are: say rest: passthrough, or leave columns out by preparer=select_named"
        raise WrongStepsError("steps for the rest before a learner of modelsel's own", fix)
    keys = sorted((str(key) for key in said if key != REST), key=_closeness)
    found = []
    for place, key in enumerate(keys):
        apart = [other for other in keys[:place] if _closeness(other) <= _closeness(key) and other not in by_kind()]
        found += [{**_step(key, step), **({"apart": apart} if apart else {})} for step in _as_list(said[key])]
    return found


def _closeness(columns: str) -> int:
    """Names, before patterns, before kinds in their order."""
    if columns in by_kind():
        return 2 + by_kind().index(columns)
    return int(any(letter in columns for letter in "*?["))


def _branch(columns: str, steps: object) -> list[object]:
    """Turn the steps of some columns into plain data."""
    each = [_step(columns, step) for step in _as_list(steps)] or [_step(columns, "passthrough")]
    return [columns, [{"transformer": step["transformer"], "params": step["params"]} for step in each]]


def _choices(base: object, over: object) -> list[Mapping[str, object]]:
    """Every combination of the lists that are swept over."""
    if isinstance(over, Swept):
        return [_mapping(one) for one in over.values]
    said = {**_mapping(base), **_mapping(over)}
    lists = [value.values if isinstance(value, Swept) else (value,) for value in said.values()]
    return [dict(zip(said, chosen, strict=True)) for chosen in product(*lists)]


def _mapping(said: object) -> Mapping[str, object]:
    """Check that steps are a mapping from kinds of columns."""
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise WrongStepsError("steps are not a mapping", "write steps: {numeric: [SimpleImputer, StandardScaler]}")
    return said


def _expand(said: Mapping[str, object]) -> list[dict[str, object]]:
    return [_step(columns, step) for columns in by_kind() for step in _as_list(said.get(columns))]


def _step(columns: str, step: object) -> dict[str, object]:
    """Turn one named step into the settings of a `transform` preparer."""
    if isinstance(step, str):
        step = {KIND: step}
    if not isinstance(step, Mapping) or not isinstance(step.get(KIND), str):
        raise WrongStepsError(
            f"a step for {columns} columns has no name", "write SimpleImputer, or {kind: PCA, n_components: 3}"
        )
    params = {key: value for key, value in step.items() if key != KIND}
    return {KIND: TRANSFORM, "columns": columns, "transformer": step[KIND], "params": params}


def _as_list(said: object) -> Sequence[object]:
    """One or several as a list."""
    if isinstance(said, Iterable) and not isinstance(said, str | Mapping):
        return list(said)
    return [] if said is None else [said]
