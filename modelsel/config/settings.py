"""The settings of a study that are no parts: the root's own keys, where work runs, where results are tracked.

Declared like parts (`core.spec`), so that the same checks and the same "did you mean" serve them.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import ClassVar, Literal

from modelsel.config.merge import merge
from modelsel.config.suggest import near
from modelsel.core.errors import Problem
from modelsel.core.spec import FieldLimits, kind_of, number, one_of, plain, whole
from modelsel.core.system.machine import no_memory_limit
from modelsel.core.types import Candidate

# Settings of explanations of the choice: `explanations:`. Parts that need fits are off unless they are asked for.

WINNER = "winner"
NESTED = "nested"  # sets by the choice made anew on the analysis rows of each fold


@dataclass(frozen=True)
class ExplanationSettings:
    """Reasons for the winner's answers, and where it fails; development rows only."""

    nested: ClassVar[bool] = True
    importance: bool = plain(False, help="permutation importance on out-of-fold rows: fits each candidate anew on every fold")
    candidates: tuple[str, ...] = plain((WINNER,), help="whose importance: winner, entries of the space, ids")
    repeats: int = whole(5, least=1, help="permutations of a column per fold")
    noise: bool = plain(True, help="one more fit per fold, with a column of noise as the yardstick of importance")
    together: float = number(0.7, above=0, most=1, help="columns of higher rank correlation are permuted together too")
    dependence: bool = plain(False, help="partial dependence and ICE of the six most important columns (else the first six)")

    weak_slices: bool = plain(True, help="slices with more errors: half of the rows find them, the other half tests them")
    sets: bool | Literal["nested"] = plain(
        False, help="keep a model of each fold, of the choice repeated: predict --sets 0.9, --interval 0.9; nested: made anew"
    )

    def strangers(self, candidates: Sequence[Candidate]) -> Iterator[Problem]:
        """Names that are no entry and no beginning of an id; members of a family get theirs when it is resolved."""
        entries = list(dict.fromkeys(candidate.entry for candidate in candidates))
        family = any(candidate.family for candidate in candidates)
        for name in self.candidates:
            if name in (WINNER, *entries) or any(one.id.startswith(name) for one in candidates) or (family and _is_id(name)):
                continue
            yield Problem("MSEL-201", f"unknown candidate {name!r}", "explanations.candidates", near(name, (WINNER, *entries)))


def _is_id(name: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,}", name) is not None


GRID, RANDOM, TPE = "grid", "random", "tpe"


@dataclass(frozen=True)
class SearchSettings:
    """How candidates are taken from the space. Entries are drawn from one by one: another entry changes nobody's trials."""

    nested: ClassVar[bool] = True
    kind: str = one_of(
        "auto", GRID, RANDOM, TPE,
        help="auto: all combinations, but for entries with a distribution, which are drawn; tpe: asked for by what came before",
    )  # fmt: skip
    trials: int = whole(60, least=1, help="of each entry that is drawn from; fewer where it has fewer combinations")
    seed: int | None = whole(None, least=0, help="of the draws; null: the study's")
    batch: int = whole(8, least=1, help="of tpe: trials of an entry that are asked for before any of them is told")
    seconds: float | None = number(
        None, above=0, help="after which no further trial is begun; those that were are finished, and the others skipped"
    )

    def missing(self) -> Iterator[Problem]:
        """Yield a problem where the package that searches is not here."""
        if self.kind == TPE and find_spec("optuna") is None:
            what = "search=tpe needs a package that is not installed"
            yield Problem("MSEL-215", what, "search.kind", "pip install 'modelsel[optuna]', or set search.kind=random")

    def by_the_clock(self) -> Iterator[Problem]:
        """Yield a problem where the search is not a study and should end after some seconds."""
        if self.seconds is not None:
            what = "a search that is not a study is not ended by the clock"
            yield Problem("MSEL-208", what, "search.seconds", "give search.trials, or record=True")

    def by_scores(self, adapts: bool) -> Iterator[Problem]:
        """Yield a problem where a search lists its candidates before the first fit, and cannot ask for them by their scores."""
        yield from self.missing()
        if adapts:
            what = "SelectionCV lists its candidates before the first fit, and search=tpe asks for them by their scores"
            yield Problem("MSEL-208", what, "search.kind", "call modelsel.run(frame, target=..., space=..., search='tpe')")

    def adapting(self, raced: bool, deadline: bool) -> Iterator[Problem]:
        """Yield what a search that goes by the scores cannot stand beside."""
        if raced:
            what = "a race drops candidates, and the search would be told of them by part of their folds"
            yield Problem("MSEL-226", what, "search.kind", "leave the race out, or set search.kind=random")
        if deadline:
            what = "a deadline would cut trials short that the search goes on from"
            yield Problem("MSEL-214", what, "deadline", "set search.seconds in its place")

    def problems(self, candidates: Sequence[Candidate], outer: bool, raced: bool, adapts: bool = False) -> Iterator[Problem]:
        """Yield reasons why a search cannot end after some seconds."""
        where = "search.seconds"
        if self.seconds is None:
            return
        if not adapts and not any(candidate.trial for candidate in candidates):
            yield Problem(
                "MSEL-224", "no entry is drawn from, and a grid is not begun in part", where, "set search.kind=random"
            )
        if any(candidate.family for candidate in candidates):
            yield Problem("MSEL-224", "alpha: path stands for candidates that a fit names", where, "name the strengths")
        if outer:
            what = "selections inside the outer folds would end elsewhere, each after other trials"
            yield Problem("MSEL-214", what, where, "set search.trials in its place, or leave outer and corrected=nested out")
        if raced:
            yield Problem(
                "MSEL-226", "a race would drop candidates with which later trials are compared", where, "leave it out, or race"
            )


OFF, GREEDY = "off", "greedy"


@dataclass(frozen=True)
class EnsembleSettings:
    """One more candidate, made of the others: short for an entry `ensemble: {learner: greedy_ensemble}` of the space."""

    nested: ClassVar[bool] = True
    kind: str = one_of(
        "auto", OFF, GREEDY, help="auto: where the space has one; greedy: picked by the others' out-of-fold answers, no fits"
    )
    size: int = whole(10, least=1, most=1000, help="picks, with replacement; of greedy")

    def among(self, entries: Mapping[str, object]) -> dict[str, object]:
        """The entries of a space with the ensemble that was asked for, in the place of one that is there; or without one."""
        others = {name: text for name, text in entries.items() if not _is_ensemble(text)}
        if self.kind == OFF:
            return others
        if self.kind != GREEDY:
            return dict(entries)
        name = next((name for name in entries if name not in others), "ensemble")
        return {**others, name if name not in others else "greedy_ensemble": {"learner": "greedy_ensemble", "size": self.size}}


def _is_ensemble(entry: object) -> bool:
    learner = entry.get("learner") if isinstance(entry, Mapping) else entry
    return (learner.get("kind") if isinstance(learner, Mapping) else learner) == "greedy_ensemble"


BOUNDS = "bounds"


@dataclass(frozen=True)
class OptimalSettings:
    """Each tree that was chosen beside the best trees of its size: training errors, proven bound, errors out of fold."""

    nested: ClassVar[bool] = True
    kind: str = one_of(OFF, BOUNDS, help="bounds: search the best trees of the size of the winner and of each entry's best")
    depth: int = whole(3, least=1, most=4, help="levels of tests searched; a deeper tree is also grown anew, held to them")
    budget: int = whole(
        100_000, least=2, help="millions of steps for all searches (.5 s a thousand, about); then what is proven"
    )


PLACE = "MODELSEL_RUNS"  # of the environment: where runs go
AUTO = "auto"  # of final_test: open it where nothing grave is known of the data; of task: what the target looks like
CLASSIFICATION, REGRESSION = "classification", "regression"  # what a target may be taken for
ALL = "all"  # of measures: those of class scores too, for every candidate
BBC, NESTED = "bbc", "nested"  # what corrects the winner's score for having been chosen; auto: nested near the floor
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class LimitSettings:
    """Limits of one cell's time and memory; with `pool=auto` one selects processes, since a thread cannot be stopped."""

    nested: ClassVar[bool] = True
    seconds: float | None = number(None, above=0, help="per cell")
    memory: int | str | None = plain(None, help="per cell and above the start: bytes, or 500MB, 2GiB")

    @property
    def any(self) -> bool:
        return self.seconds is not None or self.memory is not None

    def problems(self) -> tuple[str, ...]:
        """List the reasons why the memory limit cannot be kept."""
        try:
            return () if self.bytes is None else self._unheld(self.bytes)
        except ValueError as error:
            return (str(error),)

    def _unheld(self, memory: int) -> tuple[str, ...]:
        cannot = no_memory_limit()
        return ("no memory at all",) if memory <= 0 else (f"{cannot}: leave limit.memory out",) if cannot else ()

    @property
    def bytes(self) -> int | None:
        """`memory` in bytes; ValueError when it is not a size."""
        return None if self.memory is None else size(self.memory)


# Keys of the root that were called otherwise: the old name is read as the new one, and a note says so.
RENAMED = {"explain": "explanations"}


def under_new_names(settings: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Put what stands under an old name over what stands under the new one; and a note for each.

    >>> under_new_names({"explain": {"sets": True}, "explanations": {"sets": False, "noise": True}})
    ({'explanations': {'sets': True, 'noise': True}}, ('explain is called explanations now: write that',))
    """
    current = {key: value for key, value in settings.items() if key not in RENAMED}
    old = [key for key in settings if key in RENAMED]
    current |= {RENAMED[key]: merge(current.get(RENAMED[key]), settings[key]) for key in old}
    return current, tuple(f"{key} is called {RENAMED[key]} now: write that" for key in old)


def both_names(settings: Mapping[str, object], said: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for a setting that is said under its new name while its old one stands there, in a file or beside it."""
    for old, new in RENAMED.items():
        if old in settings and new in said:
            what = f"both {old} and {new} are given, which are one setting"
            yield Problem("MSEL-244", what, old, f"write {new} in its place")


SHOWS = {  # what `show` accepts, and the module that makes it; a program that has others adds them
    "overfitting": "modelsel.reporting.overfitting",
    "pruning_path": "modelsel.reporting.pruning_path",
}
EXPERIMENTS = "python -m benchmarks.experiments"  # in the sources: shows of published experiments
MOVED_SHOWS = dict.fromkeys(
    ("concept", "gains", "soft_trees", "tree"), f"it belongs to the published experiments: {EXPERIMENTS}, in the sources"
)


@dataclass(frozen=True)
class RootSettings:
    """The root's own keys."""

    seed: int = whole(0, least=0, help="of the study; the test rows follow split.seed alone")
    task: str = one_of(
        AUTO, CLASSIFICATION, REGRESSION, help="what the target is: classes, a number, or what it looks like (auto)"
    )
    name: str | None = plain(None, help="default: data set and space joined by a dash")
    runs: str | None = plain(None, help="where runs, sweeps and mlflow.db go; null: MODELSEL_RUNS, else runs")
    final_test: bool | str = plain("auto", help="auto: one look unless the data have findings of high severity; or true, false")
    on_failure: str = one_of("record", "error", help="error: exit 7 when any candidate failed")
    resume: str | None = plain(None, help="a run whose finished cells are used, beside those found by themselves")
    retry_failed: bool = plain(False, help="compute failed cells again")
    deadline: float | None = number(None, above=0, help="seconds for the study; what would not end by then is skipped by name")
    exam: str | None = plain(None, help="an exam's folder: its development rows are the data; the winner hands in one answer")
    plugins: tuple[str, ...] = plain((), help="names of installed entry points that may be used as kinds")
    show: tuple[str, ...] = plain((), help="what is shown beside the scores: pruning_path, overfitting")
    note: str | None = plain(None, help="a remark that stands above what is shown")
    compare: bool = plain(False, help="after a sweep over data sets: compare the entries of the space over them")
    measures: str = one_of(
        AUTO, ALL, help="beside the one that chooses: auto: of class scores for the best; all: for everybody"
    )
    corrected: str = one_of(BBC, NESTED, AUTO, help="the winner's score; auto: nested where bbc lies near the floor")
    slices: tuple[str, ...] = plain((), help="columns whose levels are always shown with their error rates")
    curve: bool = plain(False, help="learning curve of the winner and up to three runners-up: fits on shares of the rows")
    search: SearchSettings = field(default_factory=SearchSettings)
    ensemble: EnsembleSettings = field(default_factory=EnsembleSettings)
    optimal: OptimalSettings = field(default_factory=OptimalSettings)
    explanations: ExplanationSettings = field(default_factory=ExplanationSettings)
    limit: LimitSettings = field(default_factory=LimitSettings)

    @property
    def place(self) -> str | None:
        """Where runs go, where that was said, by the setting or by the environment."""
        return self.runs or os.environ.get(PLACE) or None

    def problems(self) -> tuple[Problem, ...]:
        """List what is unknown among the shown sections and the answers to `final_test`."""
        unknown = {name: MOVED_SHOWS.get(name) or near(name, SHOWS) for name in self.show if name not in SHOWS}
        strange = () if isinstance(self.final_test, bool) else {self.final_test} - {AUTO}
        return (
            *(Problem("MSEL-201", f"unknown show {name!r}", "show", fix) for name, fix in unknown.items()),
            *(Problem("MSEL-205", f"{word!r} is not an answer", "final_test", "give auto, true or false") for word in strange),
            *self.search.missing(),
        )


@dataclass(frozen=True)
class RaceSettings:
    """Settings of the race, which drops candidates that can no longer win. The winner is that of the full study."""

    kind: str
    corrected: bool = plain(False, help="exact: finish all that a resample of BBC could pick, and correct the winner's score")

    @property
    def on(self) -> bool:
        return self.kind == "exact"

    def problems(self, root: RootSettings, rule: object, measure: object) -> tuple[Problem, ...]:
        """List the settings that a race cannot be run with."""
        if not self.on:
            return ()
        of_rows = getattr(measure, "over_rows", False) and getattr(rule, "limit_grows", False) and not hasattr(rule, "margin")
        cannot = (
            (root.on_failure == "error", "a dropped candidate might have failed later, and nobody would know", "on_failure"),
            (root.deadline is not None, "under a deadline the winner is not that of the full study", "deadline"),
            (not hasattr(rule, "limit"), f"of rule {kind_of(rule)} it is not known which candidates can still win", "rule"),
            (bool(getattr(rule, "bounds", ())), "which ones keep the bounds is known only at the end", "rule.subject_to"),
            (not _is_ours(measure), f"the best value of measure {kind_of(measure)} is not known", "measure"),
            (self.corrected and not of_rows, "race.corrected=true needs rule=best and a measure that is a mean over rows",
             "race.corrected"),
        )  # fmt: skip
        return tuple(Problem("MSEL-226", what, where, "leave it out, or race=exact") for wrong, what, where in cannot if wrong)


def _is_ours(part: object) -> bool:
    return type(part).__module__.startswith("modelsel.")


@dataclass(frozen=True)
class PoolSettings:
    """Settings of the workers that compute cells. The answer does not depend on them."""

    kind: str
    n_jobs: int | None = whole(None, least=-1, help="workers; null or -1: as many as there are cores")
    scheduler: str | None = plain(None, help="tcp://host:port (dask), host:port (ray), spark://host:port; null: here")
    wait: float = number(60.0, least=0.0, help="seconds to wait for the workers of a scheduler")

    def problems(self, limit: LimitSettings) -> tuple[Problem, ...]:
        """Problems of a pool: a package that is not installed, or a limit without `processes`, which alone can stop workers."""
        return (*self._missing(), *(self._unheld() if limit.any and self.kind not in HOLD_LIMITS else ()))

    def _missing(self) -> tuple[Problem, ...]:
        """Report the package that this pool needs, where it is not installed."""
        package, fix = PACKAGES.get(self.kind, ("", ""))
        if not package or find_spec(package) is not None:
            return ()
        return (Problem("MSEL-215", f"pool={self.kind} needs a package that is not installed", "pool", fix),)

    def _unheld(self) -> tuple[Problem, ...]:
        why = "a thread cannot be stopped" if self.kind in IN_THIS_PROCESS else "its workers are not ours to stop"
        what = f"pool={self.kind} cannot hold a limit: {why}"
        return (Problem("MSEL-208", what, "limit", "use pool=processes, or leave the pool out"),)


@dataclass(frozen=True)
class TrackingSettings:
    """Settings of MLflow's copy of the record. The record itself is the run's folder."""

    kind: str
    uri: str | None = field(
        default=None, repr=False, metadata={"limits": FieldLimits(help="null: runs/mlflow.db, or MLFLOW_TRACKING_URI")}
    )
    uri_env: str | None = plain(None, help="the environment variable that holds the address, so that no file does")
    parent: str | None = plain(None, help="the id of a run of this store under which the study is put")
    experiment: str | None = plain(None, help="its name; null: MLFLOW_EXPERIMENT_NAME, _ID, else the study's name")
    experiment_id: str | None = plain(None, help="of this store, in the place of a name")
    tags: Mapping[str, str] = plain({}, help="tags of one's own of the study's run: {team: risk}")
    description: str | None = plain(None, help="a text of one's own that stands above the run's note")
    on_error: str = one_of("warn", "fail", help="fail: exit 6 when tracking failed; waits for as long as candidates arrive")
    wait: float = number(1.0, least=0, help="seconds that a study on record waits for MLflow, which then goes on by itself")
    allow_skops: bool = plain(False, help="learner=sklearn: store the fitted estimator too, as model/data/estimator.skops")
    allow_pickle: bool = plain(False, help="store an estimator that no safe format takes, as model/data/estimator.pickle")
    writer: str = one_of("auto", "bulk", "client", help="auto: bulk where the store's revision is known, else client")

    def problems(self) -> Iterator[Problem]:
        """Yield what cannot be stored, and tags that are others'."""
        if self.allow_skops and find_spec("skops") is None:
            what = "storing a fitted estimator needs a package that is not installed"
            yield Problem("MSEL-205", what, "tracking.allow_skops", "pip install 'modelsel[skops]', or leave it false")
        for name in self.tags:
            if str(name).startswith(("mlflow.", "modelsel.")):
                what = f"the tag {name!r} has a name that MLflow or modelsel keeps for itself"
                yield Problem("MSEL-205", what, "tracking.tags", "choose another name")


IN_THIS_PROCESS = ("threads", "sequential")
HOLD_LIMITS = ("auto", "processes")
PACKAGES = {  # what a pool needs and how to get it
    "dask": ("distributed", "pip install 'modelsel[dask]'"),
    "ray": ("ray", "install ray"),
    "spark": ("joblibspark", "install joblibspark and pyspark"),
}
CLASSES: dict[str, type[object]] = {"race": RaceSettings, "pool": PoolSettings, "tracking": TrackingSettings}
KINDS = {
    "race": ("off", "exact"),
    "pool": ("auto", "threads", "processes", "sequential", "dask", "ray", "spark"),
    "tracking": ("sqlite", "server", "off"),
}


def size(text: int | str) -> int:
    """Bytes of `500MB` or `2GiB`.

    >>> size("2GiB"), size(1024)
    (2147483648, 1024)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    if found is None or found[2].upper() not in UNITS:
        raise ValueError(f"{text!r} is not a size")
    return int(float(found[1]) * UNITS[found[2].upper()])
