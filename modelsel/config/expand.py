"""A declared space to its candidates, on plain data: no Hydra composition and no merge per candidate.

    entry:
      learner: c45                      # a name of conf/learner, or a mapping with `kind`; default: the entry's own name
      min_leaf: 2                       # any setting of the learner, dotted or nested
      sweep: {pruner.confidence: "choice(0.1, 0.25)"}      # or a list of such mappings: their union
      draw: 200                         # that many at random instead of all combinations; else search.trials where it is drawn
      measure_reads: probabilities      # only where the measure reads them; or classes, ranks, scores; in a sweep, too
      rows: "<= 100000"                 # only where there are so many development rows (<, <=, >, >=); what is left out is said

A setting beneath a swept part applies to the alternatives that have it; one that none has is an error. Two candidates that
say the same are one, and that is said.
"""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from modelsel.config.build import LEARNER, BuildContext, Builder, LearnerAndSteps, build, invalid
from modelsel.config.folders import TWIN, Folders
from modelsel.config.grammar import SweepError, read_sweep
from modelsel.config.merge import KIND, merge, nest
from modelsel.config.options import Choosing, Either, Options
from modelsel.config.schema import kinds
from modelsel.config.settings import GRID, RANDOM, TPE, SearchSettings
from modelsel.config.suggest import near
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest, generator
from modelsel.core.types import CLASS_TASKS, Candidate, ClassTask, Feature, NumberTask, Task, TaskKind
from modelsel.learner.base import BaseLearner
from modelsel.learner.greedy_ensemble import ALONE
from modelsel.learner.transformed_target import TransformedTarget
from modelsel.measure.base import BaseMeasure

SPACE, SWEEP, DRAW, MEASURE_READS, ASKED = "space", "sweep", "draw", "measure_reads", "rows"
CLASSES, SCORES, RANKS, PROBABILITIES = "classes", "scores", "ranks", "probabilities"  # scores: ranks or probabilities
READS = (CLASSES, SCORES, RANKS, PROBABILITIES)
MOST = 2_000_000
ALL_COMBINATIONS = SearchSettings()


@dataclass(frozen=True, eq=False)
class AdaptiveEntry:
    """An entry whose candidates are not listed: each trial is asked for by what earlier ones scored, a batch at a time."""

    name: str
    options: Options[LearnerAndSteps]
    trials: int
    batch: int
    seed: int
    rows: str = ""  # the number of development rows that it asks for

    def candidate(self, ask: Choosing, trial: int) -> Candidate:
        """The candidate that an asker chooses, at a trial that is counted from 1."""
        learner, preparers = self.options.suggest(ask, "")
        return Candidate(learner, preparers, self.name, family(learner), trial)

    def seed_of(self, trial: int) -> int:
        """The seed of a trial."""
        return int(generator(self.seed, "search", digest(self.name), f"trial {trial}").integers(2**31 - 1))

    @cached_property
    def corners(self) -> tuple[Candidate, ...]:
        """A few candidates in which every value, and every end of an interval, stands: what can be said before any trial."""
        made = (Candidate(learner, preparers, self.name, family(learner)) for learner, preparers in self.options.corners())
        return tuple({each.id: each for each in made}.values())

    @cached_property
    def stand_ins(self) -> tuple[Candidate, ...]:
        """Draw as many candidates at random as there will be trials: a plan counts these in their place."""
        rng = generator(self.seed, "search", digest(self.name))
        drawn = (self.options.draw(rng) for _ in range(self.trials))
        made = (Candidate(learner, preparers, self.name, "", trial) for trial, (learner, preparers) in enumerate(drawn, 1))
        return tuple({each.id: each for each in made}.values())

    @cached_property
    def specification(self) -> dict[str, object]:
        """All that the trials depend on but the scores, as plain data."""
        ids = sorted(each.id for each in self.corners)
        own = {"entry": self.name, "trials": self.trials, "batch": self.batch, "seed": self.seed}
        return {**own, "choices": self.options.outline(), "corners": ids}


@dataclass(frozen=True)
class Space:
    """The candidates of a study in declared order, each once; `declared` counts them with their repeats.

    Those of `adaptive` entries are not among them: they are asked for while the study runs.
    """

    name: str
    candidates: tuple[Candidate, ...]
    declared: int
    adaptive: tuple[AdaptiveEntry, ...] = ()

    @property
    def merged(self) -> int:
        return self.declared - len(self.candidates)


def expand(wanted: object, builder: Builder, where: str = SPACE, search: SearchSettings = ALL_COMBINATIONS) -> Space:
    """The candidates of a space: names of files and learners, or entries. Problems are added to the builder's.

    The builder's context says what chooses, and the seed. `where` is the setting that the entries stand under, for messages. A
    candidate that was drawn knows at which trial.
    """
    seed = builder.context.seed
    entries = _read_entries(read_entries(wanted, builder), builder.context.measure, builder, where)
    found: dict[tuple[object, object], Candidate] = {}
    declared = 0
    adaptive: list[AdaptiveEntry] = []
    for entry, said in entries.items():
        text, rows = _apart_from_rows(entry, said, builder, where)
        if search.kind == TPE and (asked := _adaptive(entry, text, builder, (seed, search), where)) is not None:
            adaptive.append(replace(asked, rows=rows))
            continue
        for trial, (learner, preparers) in _pairs(entry, text, builder, (seed, search), where):
            declared += 1
            if (learner, preparers) not in found:
                found[learner, preparers] = Candidate(learner, preparers, entry, family(learner), trial, rows)
    candidates = tuple(found.values())
    builder.problems.extend(_invalid((*candidates, *(corner for each in adaptive for corner in each.corners))))
    return Space(name_of(wanted), candidates, declared, tuple(adaptive))


def read_entries(wanted: object, builder: Builder) -> dict[str, object]:
    """The entries of a space by name; a name that is no space file is the learner of that name."""
    if isinstance(wanted, Mapping):
        return dict(wanted)
    entries: dict[str, object] = {}
    for name in [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list | tuple) else [wanted]:
        for entry, text in (name if isinstance(name, Mapping) else _file(name, builder)).items():
            if entry in entries and entries[entry] != text:
                _say(builder, "MSEL-222", f"two entries are named {entry!r}", f"space={name}", "rename one of them")
            entries[entry] = text
    return entries


def name_of(wanted: object) -> str:
    """Return the name of a space, for use in a study's name."""
    if isinstance(wanted, Mapping):
        return "-".join(wanted)
    return "-".join(map(name_of, wanted)) if isinstance(wanted, list | tuple) else str(wanted or "")


def family(learner: object) -> str:
    """`pruner.alpha: path` where a part of the learner still stands for several strengths, else empty."""
    pruner = getattr(learner if not isinstance(learner, TransformedTarget) else learner.base, "pruner", None)
    return "pruner.alpha: path" if getattr(pruner, "is_family", False) else ""


def _read_entries(
    entries: Mapping[str, object], measure: BaseMeasure | None, builder: Builder, where: str
) -> dict[str, object]:
    """The entries, and the mappings of their sweeps, whose `measure_reads` the measure does read: all where none is known."""
    found: dict[str, object] = {}
    for name, text in entries.items():
        place, sweep = f"{where}.{name}" if where == SPACE else where, text.get(SWEEP) if isinstance(text, Mapping) else None
        stands, own = _stands(text, measure, builder, place)
        if isinstance(sweep, list | tuple):
            asked = [_stands(one, measure, builder, f"{place}.{SWEEP}[{index}]") for index, one in enumerate(sweep)]
            kept = [one for there, one in asked if there]
            own = {**own, SWEEP: kept} if isinstance(own, Mapping) else own
            stands = stands and (bool(kept) or not sweep)
        if stands:
            found[name] = own
    return found


def _stands(said: object, measure: BaseMeasure | None, builder: Builder, where: str) -> tuple[bool, object]:
    """Say whether the measure reads what is asked for; and what was said without that."""
    if not isinstance(said, Mapping) or MEASURE_READS not in said:
        return True, said
    asked = said[MEASURE_READS]
    words = {asked} if isinstance(asked, str) else set(asked) if isinstance(asked, list | tuple) else {str(asked)}
    if unknown := sorted(map(str, words - set(READS))):
        _say(builder, "MSEL-205", f"found {unknown[0]!r}", f"{where}.{MEASURE_READS}", f"choose among {', '.join(READS)}")
    reads = measure is None or bool(unknown) or bool(words & words_of_measure(measure))
    return reads, {key: value for key, value in said.items() if key != MEASURE_READS}


def _apart_from_rows(entry: str, said: object, builder: Builder, where: str) -> tuple[object, str]:
    """What an entry says without its rule on the number of rows, and the rule, empty where it has none.

    What does not begin as a comparison is a setting of the learner (a forest's rows).
    """
    rule = said.get(ASKED, "") if isinstance(said, Mapping) else ""
    if not isinstance(said, Mapping) or ASKED not in said or (rule is not None and str(rule)[:1] not in ("<", ">")):
        return said, ""
    rule = rule or ""
    if rule and not RULE.fullmatch(rule):
        _say(builder, "MSEL-205", f"found {rule!r}", f"{where}.{entry}.{ASKED}", 'write "<= 100000", or <, >, >= and a number')
        rule = ""
    return {key: value for key, value in said.items() if key != ASKED}, rule


RULE = re.compile(r"(<=|<|>=|>) ?(\d+)")
COMPARED = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


def asks_for(rule: str, rows: int) -> bool:
    """Say whether a rule of an entry holds of a number of development rows.

    >>> asks_for("<= 100000", 100_000), asks_for("> 100000", 100_000), asks_for("", 5)
    (True, False, True)
    """
    found = RULE.fullmatch(rule)
    return found is None or bool(COMPARED[found[1]](rows, int(found[2])))


def words_of_measure(measure: BaseMeasure) -> Set[str]:
    """Words of `measure_reads` that hold of a measure.

    >>> from modelsel.core.spec import make
    >>> [sorted(words_of_measure(make("measure", name))) for name in ("error", "auc", "log_loss")]
    [['classes'], ['ranks', 'scores'], ['probabilities', 'scores']]
    """
    if not measure.needs_scores:
        return {CLASSES}
    return {SCORES, PROBABILITIES if measure.needs_probabilities else RANKS}


def _file(name: object, builder: Builder) -> Mapping[str, object]:
    """Read a named space, or make one of a named learner."""
    folders = builder.folders
    if not isinstance(name, str):
        _say(builder, "MSEL-220", f"{name!r} is not a name of a space", SPACE, near("", folders.options(SPACE)))
        return {}
    if (file := folders.read(SPACE, name)) is not None:
        return file
    learners = {*folders.options(LEARNER), *kinds(LEARNER)}
    if name in learners:
        return {name: {LEARNER: name}}
    _say(builder, "MSEL-201", f"unknown space {name!r}", SPACE, near(name, {*folders.options(SPACE), *learners}))
    return {}


def _pairs(
    entry: str, text: object, builder: Builder, searched: tuple[int, SearchSettings], where: str
) -> Iterator[tuple[int, LearnerAndSteps]]:
    """Yield the candidates of an entry of a space with their trials: all of them (trial 0), or a draw."""
    seed, search = searched
    where = f"{where}.{entry}" if where == SPACE else where
    text = {} if text is None else {LEARNER: text} if isinstance(text, str) else text
    if not isinstance(text, Mapping):
        _say(builder, "MSEL-221", "an entry should be a mapping", where, "write learner: NAME and sweep: {...}")
        return
    sets = _options(entry, text, builder, where)
    draw = _draw(text.get(DRAW), builder, where)
    total = sum(draw or options.count() for options in sets)
    if total > MOST and (draw or search.kind != RANDOM):
        _say(
            builder,
            "MSEL-223",
            f"{total:,} candidates are declared",
            where,
            f"at most {MOST:,}: narrow the sweep, or draw some",
        )
    listed = all(options.finite for options in sets)
    if not draw and not listed and search.kind == GRID:
        _say(builder, "MSEL-224", "a distribution has no grid", where, f"leave search out, or say how many: {where}.draw: 100")
    if builder.problems:
        return
    if draw:
        for index, options in enumerate(sets):
            yield from enumerate(_draw_values(options, draw, seed, digest([entry, index])), 1)
    elif search.kind == RANDOM or not listed:
        yield from _trials(sets, search, generator(seed if search.seed is None else search.seed, "search", digest(entry)))
    else:
        yield from ((0, pair) for options in sets for pair in options.all())


def _adaptive(
    entry: str, text: object, builder: Builder, searched: tuple[int, SearchSettings], where: str
) -> AdaptiveEntry | None:
    """Return an entry whose trials are asked for; None where all combinations are listed, being no more than the trials."""
    (seed, search), place = searched, f"{where}.{entry}" if where == SPACE else where
    text = {} if text is None else {LEARNER: text} if isinstance(text, str) else text
    if not isinstance(text, Mapping) or text.get(DRAW) is not None:
        return None
    sets = _options(entry, text, builder, place)
    listed = all(options.finite for options in sets)
    if builder.problems or (listed and sum(options.count() for options in sets) <= search.trials):
        return None
    own = seed if search.seed is None else search.seed
    found = AdaptiveEntry(entry, sets[0] if len(sets) == 1 else Either(tuple(sets)), search.trials, search.batch, own)
    try:
        families = any(each.family for each in found.corners)
    except AttributeError:
        _say(builder, "MSEL-224", "a distribution without quantiles (ppf) can only be drawn from", place,
             "set search.kind=random, or name a distribution of SciPy")  # fmt: skip
        return None
    if families:
        _say(builder, "MSEL-224", "alpha: path stands for candidates that a fit names", place, "name the strengths")
        return None
    return found


def _trials(
    sets: Sequence[Options[LearnerAndSteps]], search: SearchSettings, rng: np.random.Generator
) -> Iterator[tuple[int, LearnerAndSteps]]:
    """Draw as many trials as are wanted; the first of them are the same however many follow.

    Combinations that can be listed are drawn without repeats; others from each alternative of the sweep equally often.
    """
    total = sum(options.count() for options in sets)
    if all(options.finite for options in sets):
        if total <= search.trials:
            yield from ((0, pair) for options in sets for pair in options.all())
            return
        if total > MOST:
            shares = np.array([options.count() for options in sets]) / total
            yield from ((trial, sets[int(rng.choice(len(sets), p=shares))].draw(rng)) for trial in range(1, search.trials + 1))
            return
        wanted = {place: trial for trial, place in enumerate(rng.permutation(total)[: search.trials].tolist(), 1)}
        drawn = ((wanted[place], pair) for place, pair in enumerate(_in_turn(sets)) if place in wanted)
        yield from sorted(drawn, key=lambda one: one[0])
        return
    for trial in range(1, search.trials + 1):
        yield trial, sets[int(rng.integers(len(sets)))].draw(rng)


def _in_turn(sets: Sequence[Options[LearnerAndSteps]]) -> Iterator[LearnerAndSteps]:
    return (pair for options in sets for pair in options.all())


def _options(entry: str, text: Mapping[str, object], builder: Builder, where: str) -> list[Options[LearnerAndSteps]]:
    """One set of options per alternative of the sweep."""
    base = text.get(LEARNER, entry)
    fixed = nest({key: value for key, value in text.items() if key not in (LEARNER, SWEEP, DRAW)})
    base = merge({KIND: base} if isinstance(base, str) else nest(base) if isinstance(base, Mapping) else base, fixed)
    if builder.kind(LEARNER, base, where) is None:
        return []
    sweep = text.get(SWEEP) or {}
    alternatives = sweep if isinstance(sweep, list | tuple) else [sweep]
    names = (
        f"{where}.{SWEEP}" if len(alternatives) == 1 else f"{where}.{SWEEP}[{index}]" for index in range(len(alternatives))
    )
    return [_alternative(base, one, builder, place if sweep else where) for one, place in zip(alternatives, names, strict=True)]


def _alternative(base: object, sweep: object, builder: Builder, where: str) -> Options[LearnerAndSteps]:
    """Build the options of one alternative of a sweep."""
    if not isinstance(sweep, Mapping):
        _say(builder, "MSEL-221", "a sweep should be a mapping", where, "write setting: choice(...)")
        sweep = {}
    over: dict[str, object] = {}
    for key, value in sweep.items():
        group = str(key).rpartition(".")[2]
        try:
            over[str(key)] = read_sweep(value, lambda group=group: builder.folders.options(group))  # type: ignore[misc]
        except SweepError as wrong:
            _say(builder, "MSEL-225", wrong.what, f"{where}.{key}", wrong.fix)
    return builder.options(LEARNER, base, nest(over), where)


def _draw_values(options: Options[LearnerAndSteps], draw: int, seed: int, *digests: str) -> Iterator[LearnerAndSteps]:
    rng = generator(seed, "space", *digests)
    return (options.draw(rng) for _ in range(draw))


def _draw(value: object, builder: Builder, where: str) -> int:
    """Read how many candidates are drawn; 0 for all."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        _say(builder, "MSEL-205", f"found {value!r}", f"{where}.{DRAW}", "give a whole number of at least 1")
        return 0
    return value


def _invalid(candidates: Sequence[Candidate]) -> Iterator[Problem]:
    """Yield each reason why candidates are invalid, with their number and the first entry concerned."""
    reasons: dict[tuple[str, str], int] = {}
    for candidate in candidates:
        for problem in invalid(candidate.learner):
            reasons[problem.what, candidate.entry] = reasons.get((problem.what, candidate.entry), 0) + 1
    for entry, reason in _ensembles(candidates):
        reasons[reason, entry] = 1
    for (reason, entry), count in reasons.items():
        plural = f" ({count} candidates)" if count > 1 else ""
        yield Problem("MSEL-207", f"{reason}{plural}", f"{SPACE}.{entry}", "take these combinations out of the sweep")


def _ensembles(candidates: Sequence[Candidate]) -> Iterator[tuple[str, str]]:
    """Yield the entries of ensembles that cannot be had, with the reason."""
    others = sum(not candidate.of_others for candidate in candidates)
    for candidate in candidates:
        if not candidate.of_others:
            continue
        if candidate.preparers:
            yield candidate.entry, "steps before an ensemble do nothing: its members have their own"
        if others < 2 and not any(one.family for one in candidates):
            yield candidate.entry, f"{ALONE}: {'one' if others else 'none'} is there"


def _say(builder: Builder, code: str, what: str, where: str, fix: str) -> None:
    problem = Problem(code, what, where, fix)
    if problem not in builder.problems:
        builder.problems.append(problem)


# The learners and spaces of `conf/` that take a kind of target, for whoever named one that does not.


AROUND = ("calibrated", "decided", "transformed_target", "object", "estimator", "greedy_ensemble")  # what is made of others
ROWS = 8


@dataclass(frozen=True)
class Readers:
    """Names of `conf/learner` and `conf/space`."""

    learners: tuple[str, ...]
    spaces: tuple[str, ...]

    def __str__(self) -> str:
        return f"learners: {', '.join(self.learners)}; spaces: {', '.join(self.spaces)}"


@cache
def readers(kind: TaskKind) -> Readers:
    """The learners that read a kind of target, and the spaces all of whose candidates do.

    Those of packages that are not installed are left out.

    >>> found = readers("numbers")
    >>> "cart" in found.learners, "naive_bayes" in found.learners, "trees" in found.spaces, "c45" in found.spaces
    (True, False, True, False)
    """
    folders, task = Folders.of(), _rows(kind)
    return Readers(
        tuple(name for name in _names(folders, LEARNER) if name not in AROUND and _reads(_learner(name, kind), task)),
        tuple(name for name in _names(folders, SPACE) if _all_read(name, folders, task)),
    )


def _names(folders: Folders, group: str) -> Iterator[str]:
    """Yield the names of a group that people write: a twin for numbers goes by the name of the other."""
    known = folders.options(group)
    return (name for name in known if not (name.endswith(TWIN) and name.removesuffix(TWIN) in known))


def _rows(kind: TaskKind) -> Task:
    """A handful of rows, to ask learners about."""
    row = np.arange(ROWS)
    given: dict[str, Any] = {
        "name": kind, "features": (Feature.of_numbers("x"),), "values": row[:, None].astype(np.float64), "rows": row,
    }  # fmt: skip
    if kind == "numbers":
        return NumberTask(**given, target=row.astype(np.float64) + 0.5)
    return ClassTask(**given, classes=("a", "b"), target=(row % 2).astype(np.int32))


def _learner(name: str, kind: TaskKind) -> BaseLearner | None:
    """A learner of a file; None where it cannot be made."""
    try:
        return build(name, context=BuildContext(task=kind))[0]
    except ConfigurationError:
        return None


def _reads(learner: BaseLearner | None, task: Task) -> bool:
    """Say whether a learner that could be made takes a task."""
    return learner is not None and task.kind in getattr(learner, "reads", CLASS_TASKS) and not any(learner.problems(task))


def _all_read(name: str, folders: Folders, task: Task) -> bool:
    """Say whether every candidate of a space takes a task."""
    builder = Builder(folders.for_numbers() if task.kind == "numbers" else folders)
    found = expand(name, builder).candidates
    return not builder.problems and bool(found) and all(_reads(one.learner, task) for one in found)
