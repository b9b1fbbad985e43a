"""The data of a study: the rows that choose and how they are resampled, the rows that are sealed.

Everything that can be known before a fit is checked here, and said in one message.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.config.compose import BATES, Config, for_task
from modelsel.config.expand import asks_for, readers
from modelsel.config.settings import BOUNDS, NESTED
from modelsel.config.suggest import near
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.spec import class_of, kind_of, kinds_of, with_fields
from modelsel.core.system.memory import give_back
from modelsel.core.types import (
    BOTH_TASKS,
    CLASS_TASKS,
    Candidate,
    Finding,
    Loaded,
    NumberTask,
    Resampling,
    Sealed,
    Task,
    TaskKind,
    seal,
)
from modelsel.dataset.base import TableSettings
from modelsel.dataset.files import listener, tell_progress
from modelsel.dataset.identifiers import asked_units
from modelsel.dataset.profile import profile
from modelsel.dataset.targets import read_as
from modelsel.dataset.weights import AUTO, decide, questionable, weigh
from modelsel.guard.checks.independence import FEWEST_UNITS
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.learner.tree import Tree
from modelsel.measure.beside import bound_problems, bounding_measures, unanswerable
from modelsel.planning.make import NO_CANDIDATE
from modelsel.preparer.dates import in_parts
from modelsel.runner.final_fit import IS, unread
from modelsel.runner.number_look import nothing_beside, with_tolerance
from modelsel.scheme.partition import fewer_rows_than_folds
from modelsel.split.base import dropped_classes

EXPECTED = "INFERRED_KINDS"  # no surprise


@dataclass(frozen=True, eq=False)
class StudyData:
    """The data of a study: development rows and their resampling, sealed rows, what was found in reading."""

    development: Task
    sealed: Sealed
    resampling: Resampling
    reading: tuple[Finding, ...]
    config: Config  # as it is now that the target is known: measure and space follow from it where nobody said them

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the data; what it looks like is found out when somebody asks, after the first cell."""
        task = self.development
        return (*self.reading, *profile(task), *self._units(), *fewer_rows_than_folds(task, self.resampling))

    def _units(self) -> Iterator[Finding]:
        """Findings on what is independent: asked where ids repeat, and what declared units are not good for."""
        task, sealed = self.development, self.sealed
        yield from asked_units(task, sealed)
        if task.units is None or sealed.units is None:
            return
        many, rows = len(np.unique(np.append(task.units, sealed.units))), len(task) + len(sealed)
        if many == rows:
            what = f"dataset.unit={task.unit}: every row is a unit of its own, as if nothing were declared"
            yield Finding("UNITS_ARE_ROWS", "low", what, "name the column whose values rows share, or leave it out")
        few = len(np.unique(sealed.units))
        if len(sealed) and few < FEWEST_UNITS:
            what = f"{few} of {many} units are sealed, fewer than {FEWEST_UNITS}: the final test will have no interval"
            yield Finding("FEW_UNITS", "medium", what, "seal more units (split.test), or gather more of them")

    @property
    def grave(self) -> tuple[Finding, ...]:
        """Findings of the data that are to be mended, or taken for what they are, before a look is spent."""
        return tuple(finding for finding in self.findings if finding.severity in ("high", "critical"))


def prepare(config: Config, say: Callable[[str], None] | None = None) -> StudyData:
    """Read, check against the data, split and seal, draw the folds. Raises errors that name all problems.

    `say` is told how far a long reading is, and a line per column in which something was recognised or left out.
    """
    with tell_progress(say or listener()), read_as(config.task):
        loaded, config = load_table(config)
    config = for_task(config, loaded.task.kind)
    for finding in loaded.findings:
        if say and finding.code != EXPECTED:
            say(f"{finding.message}; {finding.do}")
    task, findings = with_source(loaded.task, config.foreseen, config.scheme), loaded.findings
    _refuse(("split", config.split.problems(task)), *_misread(config, task))
    partition = config.split.partition(task)
    findings = (*findings, *dropped_classes(task, partition), *not_portable(config.foreseen, config.scheme))
    are = getattr(config.dataset, "weights_are", AUTO)
    weighing = decide(task.weights, are, partition.development)
    findings = (*findings, *(questionable(task.weights, weighing) if are == AUTO else ()))
    development, test = (weigh(task.take(rows), weighing) for rows in (partition.development, partition.test))
    config, left_out = for_rows(config, len(development))
    findings = (*findings, *left_out)
    del task, loaded  # of a large table one copy is enough
    give_back()
    outer = () if config.outer is None else config.outer.problems(development)
    _refuse(("scheme", _scheme(config, development)), ("outer", outer), *_invalid(config.foreseen, development))
    resampling = config.scheme.instantiate(development, config.seed)
    _refuse(
        ("outer.interval", _no_bates(config, development)),
        ("measure", config.measure.problems(development, resampling)),
        ("rule", config.rule.problems(resampling, config.measure.over_rows)),
        ("rule", _other_units(config)),
        ("slices", _no_columns(config, development)),
        ("guard.beside", nothing_beside(config, development)),
        ("optimal", _no_bounds(config, development) if config.optimal.kind == BOUNDS else ()),
        ("explanations.sets", _no_sets(config, development, resampling) if config.explanations.sets else ()),
    )
    bounds = getattr(config.rule, "bounds", ())
    _refuse(("rule", bound_problems(config.measure, bounds, development, resampling)))
    judges = (config.measure, *bounding_measures(config.measure, bounds).values())
    _refuse(*((f"space.{entry}", [reason]) for entry, reason in unanswerable(judges, config.foreseen)))
    return StudyData(development, seal(test), resampling, findings, with_tolerance(config, development))


def for_rows(config: Config, rows: int) -> tuple[Config, tuple[Finding, ...]]:
    """The configuration without entries whose rule does not hold of so many development rows, and a finding on each of them."""
    kept = tuple(each for each in config.candidates if asks_for(each.rows, rows))
    searched = tuple(each for each in config.adaptive if asks_for(each.rows, rows))
    out = {each.entry: each.rows for each in config.candidates if not asks_for(each.rows, rows)}
    out |= {each.name: each.rows for each in config.adaptive if each not in searched}
    if not (kept or searched) and out:
        what = f"no entry of the space asks for {rows:,} development rows"
        raise ConfigurationError(replace(NO_CANDIDATE, what=what, fix=f"set rows=null for one of {', '.join(out)}"))
    said = tuple(
        Finding("ENTRY_NOT_FOR_ROWS", "low", f"{entry} is left out: its space says rows: {rule}, and there are {rows:,}",
                f"to have it all the same: space.{entry}.rows=null")
        for entry, rule in out.items()
    )  # fmt: skip
    return (replace(config, candidates=kept, adaptive=searched) if out else config), said


def with_source(task: Task, candidates: Iterable[Candidate], scheme: object = None) -> Task:
    """The task with what objects of Python read: its columns in their own types, and labels as the target's column held them.

    Where nobody reads those, nothing of the source is kept.
    """
    if not any(getattr(part, "reads_source", False) for part in (scheme, *(each.learner for each in candidates))):
        return replace(task, source=None)
    from modelsel.dataset.in_memory import read_as_given  # imports pandas, which few studies need

    return read_as_given(task)


def not_portable(candidates: Iterable[Candidate], scheme: Any = None) -> Iterator[Finding]:
    """Say which entries are objects of this process, and what the record of the study can therefore not do."""
    if not getattr(scheme, "portable", True):
        what = (
            f"scheme {scheme.splitter}: made in Python and not portable: the record names it by a digest, and no other process "
            "makes its folds again"
        )
        yield Finding("NOT_PORTABLE", "info", what, "run the same program again to go on; name a scheme to have all of this")
    entries = {candidate.entry: None for candidate in candidates if not getattr(candidate.learner, "portable", True)}
    if entries:
        what = (
            f"{', '.join(entries)}: made in Python and not portable: the record names them by a digest, and holds how they "
            "were fitted, not what they are; no other process goes on with this study, exports its model or fits it again"
        )
        fix = "run the same program again to go on; name an estimator of an installed package in a file to have all of this"
        yield Finding("NOT_PORTABLE", "info", what, fix)


def _scheme(config: Config, task: Task) -> Iterator[str]:
    """Yield reasons why a scheme cannot be used on these rows, or for these candidates."""
    yield from config.scheme.problems(task)
    if (misfits := getattr(config.scheme, "misfits", None)) is not None:
        yield from misfits(config.foreseen)


ABOUT_CLASSES = "this target is a number"  # in the reasons of learners some of whose settings are about classes


def _misread(config: Config, task: Task) -> Iterator[tuple[str, list[str]]]:
    """Yield, by name, what does not read the kind of target that there is."""
    if task.kind not in getattr(config.measure, "reads", CLASS_TASKS):
        yield "measure", [f"{kind_of(config.measure)} does not judge it: {IS[task.kind]}; {judges(task.kind)}"]
    yield from _unread(config.foreseen, task)


def _unread(candidates: Iterable[Candidate], task: Task) -> Iterator[tuple[str, list[str]]]:
    """Yield, by the name of their entry, the learners and steps that do not read the kind of target that there is."""
    said: set[tuple[str, str]] = set()
    proposed = False  # once, where a learner is named: finding those that read it takes a while
    for candidate in candidates:
        for group, part, reason in unread(candidate, task):
            if (candidate.entry, kind_of(part)) not in said:
                said.add((candidate.entry, kind_of(part)))
                fix = f"; what reads it: {readers(task.kind)}" if group == "learner" and not proposed else ""
                proposed = proposed or group == "learner"
                yield f"space.{candidate.entry}", [f"{reason}{fix}"]


def judges(kind: TaskKind) -> str:
    """Name the measures of a kind of target."""
    return f"use one of {', '.join(name for name in kinds_of('measure') if kind in _reads('measure', name))}"


def _reads(group: str, name: str) -> tuple[TaskKind, ...]:
    """Return what a kind reads; one of which that depends on its settings may read both."""
    said = getattr(class_of(group, name), "reads", CLASS_TASKS)
    return said if isinstance(said, tuple) else BOTH_TASKS


def _no_bates(config: Config, task: Task) -> Iterator[str]:
    """Yield reasons why the interval of Bates, Hastie & Tibshirani is not available.

    It leaves out pairs of folds and reads losses of rows.
    """
    if config.outer is None or config.interval != BATES:
        return
    if task.groups is not None:
        yield f"{BATES} takes rows for independent, and these stand in groups: leave outer.interval out"
    if not config.measure.over_rows:
        yield f"{BATES} reads losses of rows, and measure={kind_of(config.measure)} is not a mean over rows"
    folds = config.outer.instantiate(task, config.seed).folds
    repeats = 1 + max(fold.repeat for fold in folds)
    times = np.bincount(np.concatenate([fold.assessment for fold in folds]), minlength=len(task))
    whole = all(len(fold.analysis) + len(fold.assessment) == len(task) for fold in folds)
    if len(folds) < 3 * repeats or (times != repeats).any() or not whole:
        yield f"{BATES} leaves out pairs of folds: the outer scheme has to be a k-fold one of at least three folds"


def _refuse(*reasons: tuple[str, Iterable[str]]) -> None:
    ConfigurationError.raise_if(Problem("MSEL-240", reason, where) for where, each in reasons for reason in each)


def refuse(candidates: Sequence[Candidate], task: Task, readers: Sequence[Candidate] = ()) -> None:
    """Raise ConfigurationError with every reason where candidates cannot be fitted on these features.

    Of `readers` only those are named that do not read the kind of target that there is.
    """
    _refuse(*_unread(readers, task), *_invalid(candidates, task))


DRAWN_BLINDLY = ("kfold", "group_kfold", "leave_one_out")


def _no_sets(config: Config, task: Task, resampling: Resampling) -> Iterator[str]:
    """Yield reasons against prediction sets and intervals, which ask the models of the folds."""
    yield from refusal(task, resampling)
    if config.explanations.sets == NESTED and kind_of(config.scheme) not in DRAWN_BLINDLY:
        what = "the theorem that nested choices have is of folds which no target has a part in"
        yield f"{what}: use one of {', '.join(DRAWN_BLINDLY)}, or explanations.sets=true"
    if any(one.of_others for one in config.candidates):
        what = "an ensemble's members were picked by the rows that its models would be judged on"
        yield f"{what}: set ensemble.kind=off, or leave explanations.sets out"


def _no_bounds(config: Config, task: Task) -> Iterator[str]:
    """Yield reasons why trees cannot be set beside the best of their size, before a fit."""
    if isinstance(task, NumberTask):
        yield f"the best trees are searched by errors of classes, and {IS[task.kind]}: leave it out"
        return
    if not any(isinstance(one.learner, Tree | OptimalTree) for one in config.foreseen):
        yield "it sets trees beside the best of their size, and the space has none: add cart, or leave it out"
    yield from OptimalTree(max_depth=config.optimal.depth).problems(task)


def _no_columns(config: Config, task: Task) -> Iterator[str]:
    """Yield a problem for each declared slice that the table has no column for."""
    names = [feature.name for feature in task.features]
    for name in config.slices:
        if name not in names:
            yield f"there is no column {name!r}: {near(name, names)}"


def _other_units(config: Config) -> Iterator[str]:
    """Candidates whose complexity is not in the unit that the rule compares, known before a fit."""
    wanted = getattr(config.rule, "needs_unit", None)
    others = {candidate.entry: str(candidate.learner.unit) for candidate in config.foreseen if candidate.learner.unit != wanted}
    if wanted and others:
        said = ", ".join(f"{entry} counts {unit}" for entry, unit in others.items())
        yield f"the rule compares complexities in {wanted}, and {said}: use rule.across=unit, or learners that give {wanted}"


def _invalid(candidates: Sequence[Candidate], task: Task) -> Iterator[tuple[str, list[str]]]:
    """Reasons against candidates on these features, each said once, under the name of its space entry."""
    said: set[str] = set()
    texts = [feature.name for feature in task.features if feature.text]
    for candidate in candidates:
        if texts and not _reads_texts(candidate):
            reason = f"{kind_of(candidate.learner)} reads no texts ({', '.join(texts)})"
            ignored = Proposal("dataset.ignore", tuple(texts))
            fix = f"steps of an estimator read them, {{text: [TfidfVectorizer]}}; or set {ignored}"
            reasons = [f"{reason}: {fix}"]
        else:
            reasons = [reason for part in (*candidate.preparers, candidate.learner) for reason in part.problems(task)]
        fresh = [reason for reason in dict.fromkeys(reasons) if reason not in said]
        said.update(fresh)
        yield f"space.{candidate.entry}", fresh
    if any(ABOUT_CLASSES in reason for reason in said):
        yield "space", [f"what reads numbers: {readers('numbers')}"]


def _reads_texts(candidate: Candidate) -> bool:
    """Say whether a candidate reads columns of texts, or none: then nothing before its learner may take them for levels."""
    learner = candidate.learner
    while hasattr(learner, "base"):
        learner = learner.base
    if getattr(learner, "reads_source", False) or getattr(learner, "looks_at_nothing", False):
        return True
    return not candidate.steps and getattr(learner, "steps", None) is not None


# Check the conditions of prediction sets by CV+: rows (or units) drawn alike, each assessed by just one fold.


def refusal(task: Task, resampling: Resampling) -> Iterator[str]:
    """Yield reasons against prediction sets: rows that are not exchangeable, or folds that do not assess each row once."""
    for what, values in (("times", task.times), ("weights", task.weights)):
        if values is not None:
            yield f"prediction sets take rows for drawn alike, and these have {what}"
    units = task.groups if task.units is None else task.units
    if units is not None and any(np.isin(units[fold.assessment], units[fold.analysis]).any() for fold in resampling.folds):
        yield "prediction sets of rows in units need folds that divide none of them: group_kfold or stratified_group_kfold"
    times = np.zeros(len(task), np.int64)
    for fold in resampling.folds:
        times[fold.assessment] += 1
    if len(resampling.folds) < 2 or (times != 1).any():
        yield "prediction sets need folds that assess every row once: kfold, stratified_kfold or leave_one_out"


# The table, and what its columns of dates are for.
#
# Where rows are divided by time and one column holds dates, that column is their time, as `dataset.time` would say. Where every
# candidate takes dates in parts (`preparer=dates`), nobody has to be told that they are moments.


AS_MOMENTS = "DATES_AS_NUMBERS"


def load_table(config: Config) -> tuple[Loaded, Config]:
    """Read the table of a study; the study says which column is the time of its rows where that follows.

    Raises ConfigurationError or DataError with all problems.
    """
    loaded = config.dataset.load()
    if config.foreseen and all(map(in_parts, config.foreseen)):
        left = tuple(finding for finding in loaded.findings if finding.code != AS_MOMENTS)
        return replace(loaded, findings=left), config
    column = _lone_date(config, loaded.task)
    if column is None:
        return loaded, config
    del loaded  # of a large table one copy is enough
    resolved = {**config.resolved, "dataset": {**config.resolved["dataset"], "time": column}}
    config = replace(config, dataset=with_fields(config.dataset, time=column), resolved=resolved)
    loaded = config.dataset.load()
    what = f"rows are divided by time, and '{column}' is the one column of dates: it is their time, and no feature"
    timed, numeric = Proposal("dataset.time", column, sure=True), Proposal("dataset.numeric", (column,))
    do = f"set {timed} to say so, or {numeric} if it is a feature"
    return replace(loaded, findings=(Finding("TIME_COLUMN", "info", what, do, (timed, numeric)), *loaded.findings)), config


def _declared_features(dataset: TableSettings, task: Task) -> set[str]:
    """The names of the features whose kind is declared."""
    read = () if task.reading is None else task.reading.columns
    return {*dataset.settle([column.name for column in read]).features, *(column.name for column in read if column.declared)}


def _lone_date(config: Config, task: Task) -> str | None:
    """The only column of dates, where rows are divided by time and the settings do not name it."""
    divided = any(getattr(part, "reads_times", False) for part in (config.split, config.scheme, config.outer))
    if not divided or task.times is not None or not isinstance(config.dataset, TableSettings):
        return None
    found = [feature.name for feature in task.features if feature.dates]
    if len(found) != 1 or found[0] in _declared_features(config.dataset, task) or any(map(in_parts, config.foreseen)):
        return None
    return found[0]
