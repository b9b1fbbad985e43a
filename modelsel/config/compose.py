"""From overrides to a `Config`: what was typed is checked, Hydra composes, what came out is checked and built.

    overrides --read--> Hydra --plain data--> parts, candidates --> Config

One ConfigurationError names every problem of every step.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from modelsel.config import keywords
from modelsel.config import overrides as typed
from modelsel.config.build import LEARNER, BuildContext, Builder
from modelsel.config.expand import DRAW, SPACE, SWEEP, AdaptiveEntry, Space, expand, name_of, read_entries
from modelsel.config.folders import ROOT, Folders, line_of, shipped_folder
from modelsel.config.keywords import Keywords
from modelsel.config.loader import load
from modelsel.config.merge import KIND, merge
from modelsel.config.overrides import OUTER, PARTS
from modelsel.config.references import hide_environment, plain_data, resolve
from modelsel.config.settings import (
    ALL,
    AUTO,
    BBC,
    CLASSIFICATION,
    REGRESSION,
    EnsembleSettings,
    ExplanationSettings,
    LimitSettings,
    OptimalSettings,
    PoolSettings,
    RaceSettings,
    RootSettings,
    SearchSettings,
    TrackingSettings,
    both_names,
    under_new_names,
)
from modelsel.config.suggest import near
from modelsel.core import satellites
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.fingerprint import digest
from modelsel.core.spec import spec_of
from modelsel.core.types import Candidate, TaskKind
from modelsel.dataset.base import DataSource
from modelsel.dataset.files import bare
from modelsel.guard.policy.base import Policy
from modelsel.kernels.compiler import is_wanted as kernels_wanted
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import bounding_measures
from modelsel.rule.base import BaseRule
from modelsel.scheme.base import BaseScheme
from modelsel.split.base import BaseSplit

TASK, MEASURE, DATASET, RUNS = "task", "measure", "dataset", "runs"
WHOLE = {"split": ("random", "group"), "scheme": ("stratified_kfold", "stratified_group_kfold")}  # of auto, and of groups
NUMBERS_MEASURE = {KIND: "mse"}  # what judges numbers where nobody says what does
INTERVAL, CORRECTED, BATES = "interval", "corrected", "bates"
INTERVALS = (CORRECTED, BATES)  # of nested cross-validation: the corrected resampled variance, or Bates, Hastie & Tibshirani
ABSENT = {"race": "off"}  # in configurations that were written before there was one
# where a data set lies, and how it is got, is no part of what is studied
LOOSE = (
    "content", "path", "test_path", "name", "dir", "absent", "openml", "cache", "seconds", "delimiter", "decimal", "encoding",
    "measured_in", "header", "skip_lines", "thousands", "signs", "without_target",
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """A study's settings and built parts. `resolved` is what config.yaml keeps: plain data, secrets left as references."""

    name: str
    runs: str | None  # where they go, where that was said
    seed: int
    task: str
    final_test: bool | str
    on_failure: str
    resume: str | None
    retry_failed: bool
    deadline: float | None
    exam: str | None
    plugins: tuple[str, ...]
    limit: LimitSettings
    show: tuple[str, ...]
    note: str | None
    compare: bool
    measures: str
    corrected: str
    slices: tuple[str, ...]
    curve: bool
    search: SearchSettings
    ensemble: EnsembleSettings
    optimal: OptimalSettings
    explanations: ExplanationSettings
    outer: BaseScheme | None
    interval: str  # of nested cross-validation
    dataset: DataSource
    split: BaseSplit
    candidates: tuple[Candidate, ...]
    adaptive: tuple[AdaptiveEntry, ...]  # entries whose candidates are asked for while the study runs
    declared: int
    scheme: BaseScheme
    measure: BaseMeasure
    rule: BaseRule
    race: RaceSettings
    guard: Policy
    pool: PoolSettings
    tracking: TrackingSettings
    resolved: Mapping[str, Any]  # plain data
    space: str = ""
    notes: tuple[str, ...] = ()
    published: str = ""  # the name of the published experiment that this is
    folders: Folders = field(default_factory=Folders.of)
    named: object = None  # the space as it was asked for: names, or entries
    unsaid: tuple[str, ...] = ()  # what nobody has said, and the kind of target decides
    sweeper: str = ""  # the sweeper that chose this job by the scores of earlier ones; empty elsewhere

    @property
    def chooses_by_default(self) -> bool:
        """Say whether the measure was left to its default, which is one of classes."""
        return MEASURE in self.unsaid and self.task != REGRESSION

    @cached_property
    def reads_scores(self) -> bool:
        """Say whether anything that every candidate is judged by reads class scores: else they are no part of what it is."""
        measures = (self.measure, *bounding_measures(self.measure, getattr(self.rule, "bounds", ())).values())
        everybody = self.measures == ALL or any(one.of_others for one in self.candidates)
        return everybody or any(measure.needs_scores for measure in measures)

    @property
    def to_ask(self) -> int:
        """The number of candidates that may be asked for, at most."""
        return sum(entry.trials for entry in self.adaptive)

    @cached_property
    def foreseen(self) -> tuple[Candidate, ...]:
        """The candidates, with a few in place of each that will be asked for: every value that is declared stands in one."""
        return (*self.candidates, *(corner for entry in self.adaptive for corner in entry.corners))

    @cached_property
    def searched(self) -> str:
        """Digest of what will be asked for but for the scores; empty where all candidates are listed."""
        return digest([entry.specification for entry in self.adaptive]) if self.adaptive else ""

    @cached_property
    def spec_id(self) -> str:
        """Digest of what decides the answer: no folders, workers, tracking, limits, names or guard settings."""
        parts = {name: spec_of(getattr(self, name)) for name in ("split", "scheme", "measure", "rule")}
        if not parts["rule"].get("subject_to", True):
            del parts["rule"]["subject_to"]
        dataset = {key: value for key, value in spec_of(self.dataset).items() if key not in LOOSE}
        sometimes = {"corrected": AUTO} if self.corrected == AUTO else {}
        interval = {} if self.interval == CORRECTED else {INTERVAL: self.interval}
        outer = self.outer and {**spec_of(self.outer), **interval, **sometimes}
        ids = [candidate.id for candidate in self.candidates]
        asked = {"searched": self.searched} if self.adaptive else {}
        return digest({**parts, "dataset": dataset, "outer": outer, "seed": self.seed, "candidates": ids, **asked})


def compose(
    overrides: Sequence[str] = (), config_dir: str | None = None, settings: Mapping[str, object] | None = None,
    config_name: str | None = None,
) -> Config:  # fmt: skip
    """The study that overrides, and settings by keyword (which win), describe; raises ConfigurationError with every problem."""
    folders = Folders.of(config_dir, config_name)
    given = keywords.sort_keywords(settings or {}, folders, [text.partition("=")[0].lstrip("+~") for text in overrides])
    wanted = typed.read_overrides([*overrides, *given.lines], folders)
    problems = (*wanted.problems, *given.problems)
    try:
        composed = load(folders, wanted.lines, wanted.hydra)
    except ConfigurationError as error:
        raise ConfigurationError(*problems, *error.problems) from error
    return assemble(composed, dict(composed.hydra.runtime.choices), folders, problems, given)


def recompose(recorded: Mapping[str, object], settings: Mapping[str, object], config_dir: str | None = None) -> Config:
    """The study of a recorded config.yaml again, with some settings changed."""
    folders = Folders.of(config_dir)
    given = keywords.sort_keywords(settings, folders)
    named = {key: {KIND: line.partition("=")[2].strip("'")} for line in given.lines for key in (line.partition("=")[0],)}
    recorded, _ = under_new_names(recorded)
    problems = (*given.problems, *both_names(given.values or {}, given.values or ()))
    changed = given.over({key: merge(value, named[key]) if key in named else value for key, value in recorded.items()})
    resolved, renamed = under_new_names(changed)
    if LEARNER in (given.values or {}):
        resolved.pop(SPACE, None)
    config = _check(resolved, "", folders, problems)
    return replace(config, notes=(*config.notes, *renamed))


def assemble(
    composed: DictConfig, choices: Mapping[str, object], folders: Folders, problems: Sequence[Problem] = (),
    given: Keywords | None = None,
) -> Config:  # fmt: skip
    """A composed configuration to a `Config`. `choices` are the files taken per group, `problems` those found before."""
    resolved = {
        key: _with_kind(value, choices.get(key) if key in PARTS else None) for key, value in plain_data(composed).items()
    }
    given = given or Keywords()
    asked = given.over(resolved)
    problems = (*problems, *both_names(asked, {*_typed_roots(composed), *(given.values or ())}))
    current, renamed = under_new_names(asked)
    wanted = sitting(current)  # an exam says what its target is
    unsaid = (MEASURE,) if choices.get(MEASURE) == AUTO and wanted.get(MEASURE) == resolved.get(MEASURE) else ()
    if unsaid and wanted.get(TASK) == REGRESSION:
        wanted = {**wanted, MEASURE: NUMBERS_MEASURE}
    whole = whole_groups(wanted, choices)
    config = _check({**wanted, **whole}, str(choices.get("dataset") or ""), folders, problems)
    same = wanted.get("dataset") == resolved.get("dataset")
    kept = ", ".join(f"{part}={settings[KIND]}" for part, settings in whole.items())
    grouped = (f"groups are declared, and rows of a group stay together: {kept}",) if kept else ()
    notes = (*renamed, *config.notes, *grouped, *measure_notes(choices.get(MEASURE)))
    return replace(config, published=published_name(choices, folders) if same else "", notes=notes, unsaid=unsaid)


def _typed_roots(composed: DictConfig) -> set[str]:
    """The root's keys under which overrides set something; a job of a sweep comes without Hydra's node, which stands apart."""
    hydra = composed.hydra if "hydra" in composed else HydraConfig.get()
    lines: Any = OmegaConf.to_container(hydra.overrides, resolve=False)
    return {line.lstrip("+~").partition("=")[0].partition(".")[0] for line in lines["task"]}


def whole_groups(settings: Mapping[str, Any], choices: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Split and scheme that keep declared groups whole, where nobody has said which split and scheme are wanted.

    >>> data, choices = {"groups": "patient"}, {"split": "auto", "scheme": "kfold"}
    >>> whole_groups({"dataset": data, "split": {"kind": "random", "test": 0.2}, "scheme": {"kind": "kfold"}}, choices)
    {'split': {'kind': 'group', 'test': 0.2}}
    """
    data = settings[DATASET]
    if not data.get("groups") or data.get("time"):  # which of several schemes is meant is for the person to say
        return {}
    kinds = {part: (settings[part] or {}).get(KIND) for part in WHOLE}
    return {
        part: {**settings[part], KIND: whole}
        for part, (usual, whole) in WHOLE.items() if choices.get(part) == AUTO and kinds[part] == usual
    }  # fmt: skip


def for_task(config: Config, kind: TaskKind) -> Config:
    """The study as it is once it is known what the target is, which is recorded; what nobody has said follows from it.

    Raises ConfigurationError where another kind of target was asked for.
    """
    task = REGRESSION if kind == "numbers" else CLASSIFICATION
    if config.task not in (AUTO, task):
        what = f"the target of this data set is {'a number' if kind == 'numbers' else 'a class'}"
        raise ConfigurationError(Problem("MSEL-235", what, f"task={config.task}", f"set task={task}, or leave it out"))
    if config.task == task:
        return config
    settled = {**config.resolved, TASK: task}
    if task == CLASSIFICATION:
        return replace(config, task=task, resolved=settled)
    settled |= {SPACE: config.named} if config.named is not None else {}
    settled |= {MEASURE: NUMBERS_MEASURE} if MEASURE in config.unsaid else {}
    made = _check(settled, "", config.folders, ())
    return replace(made, space=config.space, notes=config.notes, published=config.published)


def _check(resolved: Mapping[str, object], dataset: str, folders: Folders, problems: Sequence[Problem]) -> Config:
    """Settings whose references have not been followed to a `Config`; raises ConfigurationError with every problem."""
    kernels_wanted()
    resolved = sitting(resolved)
    folders = folders.for_numbers() if resolved.get(TASK) == REGRESSION else folders
    settings, found = resolve(resolved)
    builder = Builder(folders, problems=[*problems, *found, *unknown_knobs(resolved)])
    config = _build_parts(settings, resolved, dataset, builder)
    ConfigurationError.raise_if(hide_environment([_locate_problem(each, folders) for each in builder.problems], resolved))
    assert config is not None
    return config


def _locate_problem(problem: Problem, folders: Folders) -> Problem:
    """A problem with the line of a person's own root file in which its setting stands."""
    if folders.own is None or folders.name == ROOT:
        return problem
    path = folders.own / f"{folders.name}.yaml"
    line = line_of(path, problem.where)
    return problem if line is None else replace(problem, where=f"{problem.where} ({path.name}, line {line})")


def _build_parts(settings: Mapping[str, Any], resolved: Mapping[str, object], dataset: str, builder: Builder) -> Config | None:
    """Build all parts of a study; None where a problem was found."""
    root = _root(settings, builder)
    builder.plugins = root.plugins if root else ()
    parts = {group: builder.part(group, settings.get(group, ABSENT.get(group)), group) for group in PARTS}
    kind: TaskKind = "numbers" if settings.get(TASK) == REGRESSION else "classes"
    builder.context = BuildContext.of(parts["measure"], parts["scheme"], root.seed if root else 0, kind)
    outer, interval = _outer(settings.get(OUTER), builder)
    if parts["dataset"] is not None and "${" not in repr(settings[DATASET]):  # a reference that leads nowhere was said
        builder.problems.extend(parts["dataset"].problems())
    if parts["tracking"] is not None:
        builder.problems.extend(parts["tracking"].problems())
    if parts["pool"] is not None and root is not None:
        builder.problems.extend(parts["pool"].problems(root.limit))
    builder.problems.extend(_race_conflicts(root, parts))
    said, outer = outer, _around(outer, parts["scheme"], root, builder)
    if outer is not None and root is not None and root.deadline is not None:
        what = "a deadline would cut the selections inside the outer folds short, each elsewhere"
        builder.problems.append(Problem("MSEL-214", what, "deadline", "leave it out, or outer"))
    wanted, place = _wanted_space(settings)
    searched = root.search if root else SearchSettings()
    wanted, called = _with_ensemble(wanted, root, builder), name_of(wanted)
    space = replace(expand(wanted, builder, place, searched), name=called)
    builder.problems.extend(_search_conflicts(root, parts["race"], space, outer is not None))
    if root is None or builder.problems:
        return None
    name = root.name or f"{_dataset_name(parts['dataset'], dataset or settings['dataset']['kind'])}-{space.name}"
    merged = f"{space.merged} of {space.declared} candidates say the same as another one and were merged"
    notes = (*builder.notes, *((merged,) if space.merged else ()))
    own: dict[str, Any] = {**{key: value for key, value in vars(root).items() if key != "name"}, RUNS: root.place}
    elsewhere = {} if root.place is None else {RUNS: resolved.get(RUNS) or root.place}
    of_root = {**{key: value for key, value in resolved.items() if key != RUNS}, **elsewhere}
    kept = record_content({**of_root, "name": name, SPACE: read_entries(wanted, builder)}, {**parts, OUTER: said})
    if said is not None:
        kept[OUTER][INTERVAL] = interval
    return Config(
        name=name, **own, **parts, outer=outer, interval=interval, candidates=space.candidates, adaptive=space.adaptive,
        declared=space.declared, resolved=kept, space=space.name, notes=notes, folders=builder.folders,
        named=_space_as_given(settings),
    )  # fmt: skip


def _with_ensemble(wanted: object, root: RootSettings | None, builder: Builder) -> object:
    """The space with the ensemble that the study asks for, or without the one that it does not want."""
    if root is None or root.ensemble == EnsembleSettings():
        return wanted
    return root.ensemble.among(read_entries(wanted, builder))


def _race_conflicts(root: RootSettings | None, parts: Mapping[str, Any]) -> tuple[Problem, ...]:
    """List the settings that a race cannot be run with."""
    race, rule, measure = (parts[name] for name in ("race", "rule", "measure"))
    return race.problems(root, rule, measure) if None not in (root, race, rule, measure) else ()


def _search_conflicts(root: RootSettings | None, race: RaceSettings | None, space: Space, outer: bool) -> Iterator[Problem]:
    """Yield what settings say of candidates that are not there, or cannot be searched so."""
    foreseen = (*space.candidates, *(corner for entry in space.adaptive for corner in entry.corners))
    if root is not None and foreseen:
        raced = race is not None and race.on
        yield from root.explanations.strangers(foreseen)
        yield from root.search.problems(foreseen, outer, raced, adapts=bool(space.adaptive))
        if space.adaptive:
            yield from root.search.adapting(raced, root.deadline is not None)
        if (raced or space.adaptive) and any(one.of_others for one in foreseen):
            what, where = ("a race drops", "race") if raced else ("search=tpe has yet to ask for", "search.kind")
            fix = "leave it out, or ensemble.kind=off"
            yield Problem("MSEL-226", f"an ensemble is made of candidates, which {what}", where, fix)


def _outer(said: object, builder: Builder) -> tuple[BaseScheme | None, str]:
    """The outer scheme, and which interval its estimate gets: `interval` stands among the scheme's own settings."""
    settings = dict(said) if isinstance(said, Mapping) else said
    interval = str(settings.pop(INTERVAL, CORRECTED)) if isinstance(settings, dict) else CORRECTED
    if interval not in INTERVALS:
        what = f"unknown interval {interval!r} of nested cross-validation"
        builder.problems.append(Problem("MSEL-201", what, f"{OUTER}.{INTERVAL}", near(interval, INTERVALS)))
    return (None if settings is None else builder.part("scheme", settings, OUTER)), interval


def _around(
    outer: BaseScheme | None, scheme: BaseScheme | None, root: RootSettings | None, builder: Builder
) -> BaseScheme | None:
    """The scheme around the whole selection: `outer`, or the study's own where `corrected` asks for one and none is said."""
    if outer is not None or root is None or scheme is None or root.corrected == BBC:
        return outer
    if getattr(scheme, "folds", 1) > 1:
        return scheme
    what = f"corrected={root.corrected} selects anew in each of several folds, and the scheme has no number of them"
    builder.problems.append(Problem("MSEL-218", what, "corrected", "say around which: outer=stratified_kfold"))
    return None


def _dataset_name(dataset: object, choice: str) -> str:
    """Return the name that people give a data set: a file's own name, or that of the option."""
    path = getattr(dataset, "path", None)
    return bare(path).stem if path else str(getattr(dataset, "which", "")) if choice == "named" else choice


def record_content(settings: Mapping[str, object], parts: Mapping[str, object]) -> dict[str, Any]:
    """Return the content of config.yaml: every part with all its settings, references where references were."""
    kept = {key: value for key, value in settings.items() if key != LEARNER}
    for name, part in parts.items():
        if part is not None:
            kept[name] = _referring(spec_of(part), settings.get(name))
    return kept


def _referring(spec: dict[str, object], said: object) -> dict[str, object]:
    """A part's settings, with what was said as a reference left one."""
    references = (
        {key: value for key, value in said.items() if isinstance(value, str) and "${" in value}
        if isinstance(said, Mapping)
        else {}
    )
    return {**spec, **references}


def _root(settings: Mapping[str, object], builder: Builder) -> RootSettings | None:
    """Build the root's own settings and limits; None where they have problems."""
    known = (*PARTS, *typed.root_keys())
    for key in settings.keys() - {typed.EXPERIMENT}:
        if key not in known:
            builder.problems.append(Problem("MSEL-203", f"unknown setting {key!r}", key, typed.near_setting(key, ("data",))))
    limit = builder.record(LimitSettings, settings.get("limit") or {}, "limit")
    builder.problems.extend(
        Problem("MSEL-205", reason, "limit.memory", "write it like 500MB or 2GiB")
        for reason in (limit.problems() if limit else ())
    )
    own = {name: settings[name] for name in RootSettings.__dataclass_fields__ if name in settings and name != "limit"}
    for name in ("search", "ensemble", "optimal"):
        if isinstance(own.get(name), str):
            own[name] = {KIND: own[name]}
    root = builder.record(RootSettings, own, "")
    builder.problems.extend(root.problems() if root else ())
    return replace(root, limit=limit) if root and limit else None


def _with_kind(value: object, choice: object) -> object:
    """A group's mapping with the kind that its file name gives."""
    if isinstance(value, Mapping) and "kind" not in value and isinstance(choice, str):
        return {"kind": choice, **value}
    return value


def _space_as_given(settings: Mapping[str, object]) -> object:
    """Return the space as it was said, names as names; None where a learner was said instead."""
    return None if settings.get(LEARNER) is not None else settings.get(SPACE)


def _wanted_space(settings: Mapping[str, object]) -> tuple[object, str]:
    """The space, and the setting that says it: a learner given alone is a space of that one entry."""
    learner = settings.get(LEARNER)
    if learner is None:
        return settings.get(SPACE), SPACE
    if not isinstance(learner, Mapping):
        return {str(learner): {LEARNER: learner}}, LEARNER
    entry = {key: learner[key] for key in (SWEEP, DRAW) if key in learner}
    entry[LEARNER] = {key: value for key, value in learner.items() if key not in entry}
    return {str(learner.get("kind")): entry}, LEARNER


# scikit-learn's names of measures: each is a file of `conf/measure` that leads to modelsel's, and something is said of it.

SAID = {
    "accuracy": "error is its complement, 1 − accuracy: lower is better",
    "balanced_accuracy": "balanced_error is its complement, 1 − balanced accuracy: lower is better",
    "top_k_accuracy": "top_k_error is its complement, 1 − top-k accuracy: lower is better",
    "neg_log_loss": "log_loss is it with the other sign: lower is better",
    "neg_brier_score": "brier has the other sign, and with two classes twice the size: lower is better",
    "roc_auc": "it is auc here",
    "roc_auc_ovr_weighted": "it is auc here",
    "matthews_corrcoef": "it is mcc here",
    **{f"{kind}_{average}": f"it is {kind} with measure.average={average} here"
       for kind in ("f1", "precision", "recall") for average in ("macro", "weighted")},
}  # fmt: skip


def measure_notes(choice: object) -> tuple[str, ...]:
    """Explain a measure that was given by scikit-learn's name; nothing for other names.

    >>> measure_notes("accuracy")
    ('measure=accuracy: error is its complement, 1 − accuracy: lower is better',)
    >>> measure_notes("error")
    ()
    """
    said = SAID.get(str(choice))
    return (f"measure={choice}: {said}",) if said else ()


# `exam=DIR`: a study on the development rows of an exam, which takes the place of a sealed test set.


def sitting(settings: Mapping[str, object]) -> Mapping[str, object]:
    """The settings with those that an exam brings: data set and split. ConfigurationError where no exam is there.

    >>> sitting({"exam": None, "seed": 1})
    {'exam': None, 'seed': 1}
    """
    folder = settings.get("exam")
    if folder is None:
        return settings
    brought: Mapping[str, object] = satellites.part("exam").settings(Path(str(folder)), settings.get("task"))
    return {**settings, **brought}


# Experiments: the knobs of one, and whether it is a published one.
#
# Knobs are `experiment.NAME`, values that its file names once and its settings refer to (`${experiment.NAME}`). They are data
# without a schema: the settings that refer to them check the value. What no setting refers to is unknown.
#
# A published experiment is one of the package's own, on the data that its file names, without sealed rows. It shows what is in
# the literature and seals nothing; its choice is not written into the ledger. Another data set or split beside it makes it a
# study like any other.


EXPERIMENT, OWN = "experiment", ("dataset", "split")
_KNOB = re.compile(r"\$\{\s*experiment\.(\w+)\s*\}")


def unknown_knobs(settings: Mapping[str, object]) -> Iterator[Problem]:
    """Knobs that nothing refers to, in settings whose references have not been followed.

    >>> settings = {"experiment": {"scale": 1, "size": 2}, "dataset": {"scale": "${experiment.scale}"}}
    >>> [problem.what for problem in unknown_knobs(settings)]
    ["unknown setting 'size'"]
    """
    knobs = settings.get(EXPERIMENT)
    used = set(_KNOB.findall(repr({key: value for key, value in settings.items() if key != EXPERIMENT})))
    for name in knobs if isinstance(knobs, Mapping) else ():
        if name not in used:
            yield Problem("MSEL-203", f"unknown setting {name!r}", f"{EXPERIMENT}.{name}", near(str(name), used))


def published_name(choices: Mapping[str, object], folders: Folders) -> str:
    """The name of the published experiment that this is; empty where it is none."""
    name = choices.get(EXPERIMENT)
    path = folders.find(EXPERIMENT, str(name)) if name else None
    if path is None or path.parent != shipped_folder() / EXPERIMENT or choices.get("split") != "none":
        return ""
    content: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    said = {key: value for line in content.get("defaults", ()) if isinstance(line, Mapping) for key, value in line.items()}
    return str(name) if all(said.get(f"override /{group}") == choices.get(group) for group in OWN) else ""
