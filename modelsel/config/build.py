"""Kinds to objects: a name or a mapping of a group becomes the part it describes, all problems collected in one pass.

`conf/<group>/<name>.yaml` gives what a name stands for; its `kind` leads on to another file or to the class. Settings that are
`Swept` turn one part into a set of `Options`; without any there is exactly one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, TypeVar

from modelsel.calibrator.base import BaseCalibrator
from modelsel.config import steps
from modelsel.config.folders import Folders
from modelsel.config.merge import KIND, merge, nest
from modelsel.config.options import Combined, Drawn, Either, Interval, ListedValues, Options, Swept, is_settled, only
from modelsel.config.references import resolve
from modelsel.config.schema import Slot, WrongError, check_value, class_of, describe_accepted, kinds, plugin_kinds, slots
from modelsel.config.settings import CLASSES
from modelsel.config.suggest import near, near_option
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import FieldLimits, kind_of, with_fields
from modelsel.core.types import TaskKind
from modelsel.decision.base import BaseDecision
from modelsel.decision.threshold import Threshold
from modelsel.learner.base import BaseLearner
from modelsel.learner.calibrated import Calibrated
from modelsel.learner.decided import Decided
from modelsel.learner.transformed_target import NONE, TargetSettings, TransformedTarget
from modelsel.measure.base import BaseMeasure
from modelsel.preparer.base import BasePreparer
from modelsel.scheme.base import BaseScheme

LEARNER, PREPARER, CALIBRATOR, NO = "learner", "preparer", "calibrator", "none"
DECISION, THRESHOLD, PATH, OUTER_PATH = "decision", "threshold", "path", "outer_path"
STEPS = Slot(PREPARER, FieldLimits(group=PREPARER, many=True), (), False, False)
CALIBRATION = Slot(CALIBRATOR, FieldLimits(group=CALIBRATOR), (), True, False)
DECIDING = Slot(DECISION, FieldLimits(group=DECISION), (), True, False)
CUT = Slot(
    THRESHOLD, FieldLimits(least=0.0, most=1.0, words=(PATH, OUTER_PATH)), (float,), True, False, words=(PATH, OUTER_PATH)
)
ADJUSTED = {CALIBRATOR: CALIBRATION, DECISION: DECIDING, THRESHOLD: CUT}  # what any learner may have behind it
TARGET = "target"
OF_TARGET = {TARGET: slots(TransformedTarget)[TARGET]}  # what any learner may be fitted on
STEPS_SAID = steps.STEPS
PLAIN = (str, int, float, bool, type(None))  # values that are what they say, and cannot change
Made = TypeVar("Made")
Adjustment = TypeVar("Adjustment", BaseCalibrator, BaseDecision)
DEPTH = 12  # of files that lead on to each other


@dataclass(frozen=True)
class Found:
    """The kind that a name leads to, its class, and the settings gathered on the way."""

    kind: str
    cls: type
    values: Mapping[str, object]
    levels: tuple[Mapping[str, object], ...] = ()  # what each place says: the specification itself, then the files it leads to


@dataclass(frozen=True)
class BuildContext:
    """What candidates are built for. A learner that needs what is not there says so (`problems`); nothing stands in for it."""

    measure: BaseMeasure | None = None  # what chooses: thresholds serve it
    scheme: BaseScheme | None = None  # the outer folds that may teach calibrators and thresholds, or stop a fit early
    seed: int = 0  # what a scheme without a seed of its own draws from
    task: TaskKind = "classes"

    @classmethod
    def of(cls, measure: BaseMeasure | None, scheme: BaseScheme | None, seed: int, task: TaskKind) -> "BuildContext":
        """The context of a study: its scheme as it will draw, with the study's seed in it where it has none of its own."""
        seedless = scheme is not None and getattr(scheme, "seed", 0) is None
        return cls(measure, with_fields(scheme, seed=seed) if seedless else scheme, seed, task)

    @property
    def seed_beside_scheme(self) -> int | None:
        """The seed that goes with the scheme, where that can hold none and it is not 0."""
        return self.seed if self.seed and self.scheme is not None and not hasattr(self.scheme, "seed") else None

    @property
    def served(self) -> BaseMeasure | None:
        """The measure that thresholds serve; None where there is none, or one that only its scorer can compute."""
        measure: BaseMeasure | None = getattr(self.measure, "served", self.measure)
        return measure


ALONE, NUMBERS = BuildContext(), BuildContext(task="numbers")  # no study: a learner by itself, which refuses what needs one


@dataclass
class Builder:
    """Builds parts out of some folders; `problems` grows, so that one message can tell them all."""

    folders: Folders
    plugins: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is done otherwise than a file says, each once
    context: BuildContext = ALONE

    def part(self, group: str, value: object, where: str) -> Any:
        """The part that a name or mapping describes; None after a problem."""
        before = len(self.problems)
        options = self.options(group, value, {}, where)
        return next(options.all()) if len(self.problems) == before else None

    def record(self, cls: type[Made], values: object, where: str) -> Made | None:
        """An object of a class with no kind (the root, `limit`); None after a problem."""
        before = len(self.problems)
        options = self._record(cls, values, {}, where)
        return next(options.all()) if len(self.problems) == before else None

    def options(self, group: str, base: object, over: object, where: str) -> Options[Any]:
        """Return the options of a part: `base` with everything that `over` sets or sweeps."""
        chosen, settings = _part_alternatives(over)
        sets, used = [], set[str]()
        for name in chosen or (base,):
            spec = merge(base, {KIND: name} if isinstance(name, str) else name)
            found = self.kind(group, spec, where)
            if found is None:
                used.update(settings)
                continue
            fields = _slots_of(group, found.cls)
            found = self._allow_plugins(found, fields)
            found, own = self._with_steps(found, settings, where) if group == LEARNER else (found, settings)
            own = {key: value for key, value in own.items() if key in fields}
            used.update(own, {STEPS_SAID} & set(settings))
            made = _maker(group, found, self.context)
            sets.append(self._combine_options(made, fields, found.values, own, where))
        for key in sorted(set(settings) - used):
            self._add_unknown_setting(key, group, chosen or (base,), where)
        return sets[0] if len(sets) == 1 else Either(tuple(sets)) if sets else only(None)

    def kind(self, group: str, spec: object, where: str) -> "Found | None":
        """The class that a specification leads to through the files of `conf/`, and the settings gathered on the way."""
        if not isinstance(spec, Mapping) or not isinstance(spec.get(KIND), str):
            self._no_name(group, spec, where)
            return None
        kind, values = spec[KIND], {key: value for key, value in spec.items() if key != KIND}
        levels = [values]
        for _ in range(DEPTH):
            file = self.folders.read(group, kind)
            if file is None:
                break
            levels.append({key: value for key, value in file.items() if key != KIND})
            values = merge(levels[-1], values)
            inner = file.get(KIND, kind)
            if inner == kind:
                break
            kind = str(inner)
        try:
            return Found(kind, class_of(group, kind, self.plugins), values, tuple(levels))
        except (KeyError, AttributeError):
            self._no_kind(group, kind, where)
            return None

    def _allow_plugins(self, found: Found, fields: Mapping[str, Slot]) -> Found:
        """Tell a part that asks for them which plug-ins the study allows."""
        if "plugins" not in fields or not self.plugins:
            return found
        return replace(found, values={**found.values, "plugins": self.plugins})

    def _with_steps(self, found: Found, settings: Mapping[str, object], where: str) -> tuple[Found, Mapping[str, object]]:
        """A learner whose `steps:` have become preparation steps."""
        try:
            values, own = steps.write_steps(found.values, settings, STEPS_SAID in slots(found.cls))
        except steps.WrongStepsError as wrong:
            self._add("MSEL-219", wrong.what, f"{where}.{STEPS_SAID}", wrong.fix)
            return found, settings
        if STEPS_SAID in values or STEPS_SAID in own:
            self._refuse_replaced_columns([{**found.levels[0], **settings}, *found.levels[1:]], where)
        return replace(found, values=values), own

    def _refuse_replaced_columns(self, levels: Sequence[Mapping[str, object]], where: str) -> None:
        """Refuse what is said of columns where steps by columns are said, or nearer; tell what a file further down says."""
        by_columns = next((depth for depth, level in enumerate(levels) if STEPS_SAID in level), 0)
        for name in steps.REPLACED:
            depth = next((depth for depth, level in enumerate(levels) if name in level), None)
            if depth is None or levels[depth][name] in steps.NEUTRAL:
                continue
            value = levels[depth][name]
            said = f"{name}, swept over," if isinstance(value, Swept) else f"{name}={value}"
            note = f"{where}: steps by columns stand in the place of {said}, which a learner's file says"
            if depth <= by_columns:
                fix = "steps by columns say it all: leave it out, or write it as a step"
                self._add("MSEL-219", f"{said} beside steps by columns", f"{where}.{name}", fix)
            elif note not in self.notes:
                self.notes.append(note)

    def _combine_options(
        self, make: Callable[..., Made], fields: Mapping[str, Slot], values: Mapping[str, object],
        over: Mapping[str, object], where: str,
    ) -> Options[Made]:  # fmt: skip
        """Build the options of each field of a part; unknown and missing settings are added to the problems."""
        fixed: dict[str, object] = {}
        open_: dict[str, Options[object]] = {}
        for name in dict.fromkeys((*over, *values)):
            place = f"{where}.{name}" if where else name
            if name not in fields:
                self._add("MSEL-203", f"unknown setting {name!r}", place, near(name, fields))
                continue
            options = self._field(fields[name], values.get(name), over.get(name, {}), place)
            if is_settled(options):
                fixed[name] = next(options.all())
            else:
                open_[name] = options
        for name, slot in fields.items():
            if slot.required and name not in fixed and name not in open_:
                self._add(
                    "MSEL-204",
                    f"{name} is missing",
                    where,
                    f"give {where}.{name}: {slot.limits.help or describe_accepted(slot)}",
                )
        return Combined(make, fixed, open_)

    def _field(self, slot: Slot, base: object, over: object, where: str) -> Options[object]:
        """Build the options of one field by its kind: steps, part, record, sweep or plain value."""
        if slot.limits.many and slot.group:
            return self._steps(slot.group, base, over, where)
        if slot.group:
            return self._part(slot, base, over, where)
        if slot.record is not None:
            return self._record(slot.record, base, over, where)
        if isinstance(over, Swept):
            return self._swept(slot, over, where)
        if _sweeps(over):
            return self._mapping(slot, merge(base, over), where)
        return only(self._value(slot, merge(base, over) if over != {} else base, where))

    def _part(self, slot: Slot, base: object, over: object, where: str) -> Options[object]:
        """Build the options of a field that holds a part."""
        if base is None and slot.optional and over == {}:
            return only(None)
        if slot.group == DECISION and isinstance(base, Mapping) and KIND not in base:  # what it says, says which it is
            base = {KIND: "costs" if "costs" in base else THRESHOLD, **base}
        if base is None and slot.default is not None:
            base = {KIND: kind_of(slot.default())}
        return self.options(slot.group, {KIND: base} if isinstance(base, str) else base, over, where)

    def _record(self, cls: type[Made], base: object, over: object, where: str) -> Options[Made | None]:
        """Build the options of a field that holds a record of settings."""
        known = slots(cls)  # type: ignore[arg-type]  # a class can be hashed
        if not isinstance(base, Mapping | None) or not isinstance(over, Mapping):
            self._add("MSEL-205", "found a single value", where, f"it has settings of its own: {', '.join(known)}")
            return only(None)
        return self._combine_options(cls, known, base or {}, over, where)

    def _swept(self, slot: Slot, over: Swept, where: str) -> Options[object]:
        """Build the options of a swept field: listed values, or an interval."""
        if over.interval is None:
            return ListedValues(tuple(self._value(slot, value, where) for value in over.values))
        if isinstance(over.interval, Drawn):
            return over.interval
        whole = over.interval.whole or (int in slot.hints and float not in slot.hints)
        for end in (over.interval.low, over.interval.high):
            self._value(slot, int(end) if whole else end, where)
        return Interval(over.interval.low, over.interval.high, over.interval.logarithmic, whole)

    def _mapping(self, slot: Slot, values: Mapping[str, object], where: str) -> Options[object]:
        """A mapping, some of whose values are swept; no value's type is known, so an interval stands for real numbers."""
        fields = {str(name): _nested_options(value) for name, value in values.items()}
        for name, options in fields.items():
            for value in options.all() if options.finite else ():
                self._value(slot, {name: value}, f"{where}.{name}")
        return Combined(lambda **chosen: check_value(slot, chosen), {}, fields)

    def _steps(self, group: str, base: object, over: object, where: str) -> Options[tuple[object, ...]]:
        """One part or a list of parts; settings beneath go to the steps that have them."""
        chosen, settings = _part_alternatives(over)
        sets = []
        for alternative in chosen or (base,):
            steps = list(alternative) if isinstance(alternative, list | tuple) else [alternative] if alternative else []
            fields = {f"s{index}": self._step(group, step, settings, where) for index, step in enumerate(steps)}
            sets.append(Combined(_in_order, {}, fields))
        return sets[0] if len(sets) == 1 else Either(tuple(sets))

    def _step(self, group: str, step: object, settings: Mapping[str, object], where: str) -> Options[object]:
        """Build the options of one preparation step, with those settings that belong to it."""
        spec = {KIND: step} if isinstance(step, str) else step
        found = self.kind(group, spec, where)
        own = {key: value for key, value in settings.items() if found and key in slots(found.cls)}
        return self.options(group, spec, own, where) if found else only(None)

    def _value(self, slot: Slot, value: object, where: str) -> object:
        """Check a plain value; add a problem and return None where it does not fit."""
        try:
            return check_value(slot, value)
        except WrongError as wrong:
            swept = isinstance(value, list | tuple) and where.startswith("space.")
            more = f"; several values go under sweep: {{{where.split('.', 2)[-1]}: [...]}}" if swept else ""
            self._add("MSEL-205", wrong.what, where, f"{wrong.fix}{more}")
            return None

    def _no_name(self, group: str, spec: object, where: str) -> None:
        """Add the problem that a part is missing, or that something else than a name stands for it."""
        found = spec.get(KIND) if isinstance(spec, Mapping) else spec
        if isinstance(found, bool):
            fix = "YAML reads off, on, yes, no as truth values: put the name in quotes"
            self._add("MSEL-206", f"the truth value {str(found).lower()} is not a name of a {group}", where, fix)
        elif found is None:
            self._add("MSEL-204", f"a {group} is missing", where, near("", self._names(group)))
        else:
            self._add("MSEL-206", f"{found!r} is not a name of a {group}", where, "give a name, or a mapping with `kind`")

    def _no_kind(self, group: str, kind: str, where: str) -> None:
        """Add the problem that a kind is unknown, and say what comes nearest."""
        file = self.folders.find(group, kind)
        if kind in plugin_kinds(group):
            fix = f"allow it: plugins=[{kind}]"
        elif file is not None:
            fix = f"{file} says no kind of modelsel's: give it `kind`, {near(kind, kinds(group))}"
        else:
            fix = near_option(group, kind, self._names(group))
        self._add("MSEL-201", f"unknown {group} {kind!r}", where, fix)

    def _add_unknown_setting(self, key: str, group: str, chosen: Sequence[object], where: str) -> None:
        """A setting that none of the chosen kinds has."""
        known = set[str]()
        for name in chosen:
            found = self.kind(group, {KIND: name} if isinstance(name, str) else name, where)
            known.update(_slots_of(group, found.cls) if found else ())
        self._add("MSEL-203", f"unknown setting {key!r}", f"{where}.{key}" if where else key, near(key, known))

    def _names(self, group: str) -> tuple[str, ...]:
        return (*self.folders.options(group), *kinds(group))

    def _add(self, code: str, what: str, where: str, fix: str) -> None:
        problem = Problem(code, what, where, fix)
        if problem not in self.problems:
            self.problems.append(problem)


LearnerAndSteps = tuple[BaseLearner, tuple[BasePreparer, ...]]


def build(
    spec: str | Mapping[str, object], overrides: Mapping[str, object] | None = None, context: BuildContext = ALONE,
    plugins: Sequence[str] = (),
) -> LearnerAndSteps:  # fmt: skip
    """A learner of `conf/learner/` with some settings changed, and its preparation steps.

    `overrides` are dotted (`pruner.confidence`) or nested; `plugins` are parts of other packages that are allowed. Raises
    ConfigurationError that names every problem, among them what the context lacks.
    """
    settings = tuple((key, value, type(value)) for key, value in (overrides or {}).items())  # True is not 1
    if isinstance(spec, str) and all(kind in PLAIN for _, _, kind in settings):
        pair = _cached_learner(spec, context, settings, tuple(plugins))
    else:
        pair = _build_learner(spec, context, overrides or {}, tuple(plugins))
    ConfigurationError.raise_if(invalid(pair[0]))  # each time: a package that it needs may be gone
    return pair


@lru_cache(maxsize=256)
def _cached_learner(
    name: str, context: BuildContext, settings: tuple[tuple[str, object, type], ...], plugins: tuple[str, ...]
) -> LearnerAndSteps:
    """A learner that is asked for again: parts are frozen, and the package's files are as they were when it was loaded."""
    return _build_learner(name, context, {key: value for key, value, _ in settings}, plugins)


def _build_learner(
    spec: str | Mapping[str, object], context: BuildContext, overrides: Mapping[str, object], plugins: tuple[str, ...]
) -> LearnerAndSteps:
    """Build a learner and its preparation steps out of the package's files."""
    folders = Folders.of()
    builder = Builder(folders.for_numbers() if context.task == "numbers" else folders, plugins, context=context)
    built = builder.part(LEARNER, merge({KIND: spec} if isinstance(spec, str) else spec, nest(overrides)), LEARNER)
    ConfigurationError.raise_if(builder.problems)
    pair: LearnerAndSteps = built
    return pair


def invalid(learner: BaseLearner) -> Iterator[Problem]:
    """Reasons why a combination of settings is not valid by itself."""
    for reason in learner.problems():
        yield Problem("MSEL-207", reason, kind_of(learner), "change one of them")


def _part_alternatives(over: object) -> tuple[tuple[object, ...], Mapping[str, object]]:
    """The alternatives for a part's own name (none: it stays), and the settings beneath it."""
    if isinstance(over, Swept):
        return over.values, {}
    if not isinstance(over, Mapping):
        return (over,), {}
    settings = {key: value for key, value in over.items() if key != KIND}
    if KIND not in over:
        return (), settings
    return (over[KIND].values if isinstance(over[KIND], Swept) else (over[KIND],)), settings


def _sweeps(over: object) -> bool:
    return isinstance(over, Swept) or (isinstance(over, Mapping) and any(_sweeps(value) for value in over.values()))


def _nested_options(value: object) -> Options[object]:
    """The options of a value inside a mapping."""
    if isinstance(value, Swept):
        return value.interval or ListedValues(value.values)
    if isinstance(value, Mapping) and _sweeps(value):
        return Combined(dict, {}, {str(key): _nested_options(item) for key, item in value.items()})
    return only(value)


def _slots_of(group: str, cls: type) -> Mapping[str, Slot]:
    """The settings of a part; a learner's with what may stand around any learner."""
    if group != LEARNER:
        return slots(cls)
    around = issubclass(cls, Calibrated | Decided | TransformedTarget)
    return {PREPARER: STEPS, **({} if around else {**ADJUSTED, **OF_TARGET}), **slots(cls)}


def _maker(group: str, found: Found, context: BuildContext) -> Callable[..., object]:
    """Return what makes the part: its class, with what else it needs to know."""
    cls = found.cls
    if group in CLASSES:
        return partial(cls, kind=found.kind)
    if group != LEARNER:
        return cls
    if issubclass(cls, Calibrated | Decided | TransformedTarget):
        return lambda preparer=(), **settings: (cls(**settings), preparer)
    return partial(_move_steps_inside, found.cls, context)


def _move_steps_inside(
    cls: Callable[..., BaseLearner], context: BuildContext, preparer: tuple[BasePreparer, ...] = (),
    calibrator: BaseCalibrator | None = None, decision: BaseDecision | None = None, threshold: float | str | None = None,
    target: TargetSettings | None = None, **settings: object,
) -> LearnerAndSteps:  # fmt: skip
    """Learner and steps; behind a calibrator or a decision the learner fits its steps itself, inside the inner folds."""
    learner, steps = _stopping(cls(**settings), context), preparer
    if target is not None and target.transform != NONE:
        learner = TransformedTarget(learner, target)
    if calibrator is not None and kind_of(calibrator) != NO:
        learner, steps = Calibrated(learner, steps, _crossing(calibrator, context)), ()
    decision = _operating(decision, threshold, context)
    if decision is not None and kind_of(decision) != NO:
        learner, steps = Decided(learner, steps, _crossing(decision, context)), ()
    return learner, steps


def _stopping(learner: BaseLearner, context: BuildContext) -> BaseLearner:
    """Return a learner that stops early with the study's scheme put into it, unless it says another one."""
    if getattr(learner, "early_stopping", None) is None or getattr(learner, "validation", None) is not None:
        return learner
    return with_fields(learner, validation=context.scheme, validation_seed=context.seed_beside_scheme)


def _operating(decision: BaseDecision | None, threshold: float | str | None, context: BuildContext) -> BaseDecision | None:
    """Return the decision that `threshold` is short for; `path` takes the study's measure, where that reads classes."""
    if threshold is None or (decision is not None and kind_of(decision) == "costs" and threshold in (PATH, OUTER_PATH)):
        return decision
    if threshold not in (PATH, OUTER_PATH):
        return Threshold(at=float(threshold))
    taught = Threshold(fold_scores="outer" if threshold == OUTER_PATH else "inner")
    measure = context.served
    return taught if measure is not None and measure.needs_scores else replace(taught, measure=measure)


def _crossing(adjustment: Adjustment, context: BuildContext) -> Adjustment:
    """Return an adjustment that learns from outer folds, with the study's folds and their seed put into it."""
    if adjustment.fold_scores == "inner" or adjustment.scheme is not None:
        return adjustment
    return replace(adjustment, scheme=context.scheme, scheme_seed=context.seed_beside_scheme)


def _in_order(**steps: object) -> tuple[object, ...]:
    return tuple(steps.values())


# Parts of a recorded study, built again from its config.yaml: what a later look, replay or refit stands on.


def reopen(recorded: Mapping[str, object], *groups: str) -> SimpleNamespace:
    """The parts of some groups, by group name. Raises ConfigurationError with all problems (a data file that is gone)."""
    settings, problems = resolve(dict(recorded))
    builder = Builder(Folders.of(None), tuple(settings.get("plugins") or ()), list(problems))
    parts = {group: builder.part(group, settings.get(group), group) for group in groups}
    if parts.get("dataset") is not None:
        builder.problems.extend(parts["dataset"].problems())
    ConfigurationError.raise_if(builder.problems)
    return SimpleNamespace(**parts)
