"""Compute the cells of a study and choose: results, selection, and the nested estimate where it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from modelsel.comparison.bbc import pickable
from modelsel.comparison.nested import (
    NestedResult,
    SelectionProcedure,
    choose_anew,
    score_selection,
    score_selection_by_bates,
)
from modelsel.comparison.selection import choose, near_floor, needs_nested, with_caution, with_nested, with_score_measures
from modelsel.config.compose import BATES, Config
from modelsel.config.settings import ALL
from modelsel.core import spec
from modelsel.core.errors import NoCandidateError
from modelsel.core.facts import UNSTATED
from modelsel.core.outcome import EnsembleFacts, FloorFacts, MemberFacts, MoreFacts, ScoreFacts, SearchFacts
from modelsel.core.selection import Selection
from modelsel.core.surroundings import Progress
from modelsel.core.types import Candidate, Resampling, Task, TaskKind
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import bounding_measures, measures_by_default, other_measures
from modelsel.measure.within import Within
from modelsel.planning.make import Plan, make
from modelsel.record.folder import RunFolder
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal
from modelsel.runner.racing import Race
from modelsel.runner.results import Results
from modelsel.runner.run import QUIET
from modelsel.runner.run import run as run_plan
from modelsel.runner.spare_scores import SpareScores
from modelsel.runner.study_data import StudyData
from modelsel.study.jobs import journal_of
from modelsel.study.search import AdaptiveSearch, Rounds
from modelsel.study.winner import ask_outer_winner


def select(
    config: Config,
    material: StudyData,
    candidates: Sequence[Candidate],
    plan: Plan,
    folder: RunFolder,
    progress: Progress,
    spent: float = 0.0,
) -> tuple[Results, Selection, MoreFacts]:
    """All cells of the plan and what is chosen by them; floor and, where it is asked for, the nested estimate beside.

    Where entries are searched by their scores, the plan grows from the listed `candidates` by those that are asked for.
    `spent` are the seconds that have gone of the study's deadline.
    """
    task, bounded = material.development, _bounding_measures(config)
    with journal_of(config, folder) as journal:
        compute, spare = _computing(config, journal, progress), SpareScores() if config.deadline is None else None
        race = Race(config.rule) if config.race.on else None
        left = None if config.deadline is None else max(config.deadline - spent, 1e-3)
        shown = {**_measures_beside(config, task, material.resampling), **bounded}
        searched: SearchFacts = UNSTATED
        if config.adaptive:
            plan, searched = _search_entries(
                config, material, candidates, partial(compute, beside=shown, spare=spare), progress
            )
            compute = partial(compute, tell=QUIET)
        results = compute(plan, task, material.resampling, deadline=left, beside=shown, race=race, spare=spare,
                          seconds=None if config.adaptive else config.search.seconds)  # fmt: skip
        if race and config.race.corrected and (able := pickable(results, material.resampling, config.seed)):
            results = compute(plan, task, material.resampling, beside=shown, race=Race(config.rule, able))
        adapted = bool(config.adaptive)
        selection = choose(results, config.rule, material.resampling, config.seed, config.race.corrected, adapted)
        guessed = floor(results)
        if config.deadline is None:
            again = partial(compute, task=task, resampling=material.resampling, tell=QUIET, spare=spare)
            selection = with_score_measures(selection, results, lambda plan, beside: again(plan, beside=beside))
        extra = MoreFacts(
            floor=[line.to_dict() for line in guessed], rounds=_rounds(results) or UNSTATED,
            ensembles=_ensembles(selection) or UNSTATED, search=searched,
        )  # fmt: skip
        near = near_floor(selection, [line.cv.mean for line in guessed if line.cv])
        if config.outer is None or not needs_nested(config.corrected, selection, near):
            return results, with_caution(selection, near), extra
        nested = _select_nested(config, task, compute, journal)
        return results, with_nested(selection, nested, config.corrected), extra.but(nested=nested.to_dict())


def _bounding_measures(config: Config) -> Mapping[str, BaseMeasure]:
    return bounding_measures(config.measure, getattr(config.rule, "bounds", ()))


def _computing(config: Config, journal: Journal, progress: Progress) -> Callable[..., Results]:
    """A function that computes the cells of a plan as the study's settings say."""
    limits, bounded = CellLimits(config.limit.seconds, config.limit.bytes), _bounding_measures(config)

    def compute(plan: Plan, task: Task, resampling: Resampling, **more: Any) -> Results:
        more.setdefault("beside", bounded)
        return run_plan(
            plan, task, resampling, config.measure, config.pool, journal, more.pop("tell", progress), seed=config.seed,
            limits=limits, retry_failed=config.retry_failed, **more,
        )  # fmt: skip

    return compute


def choices_anew(config: Config, material: StudyData, folder: RunFolder) -> list[Candidate]:
    """Choose anew, by the whole selection, on the analysis rows of each of the study's folds, as if there were no others.

    Raises NoCandidateError where nobody can be chosen.
    """
    task = material.development
    with journal_of(config, folder) as journal:
        selecting = _selecting(config, _computing(config, journal, QUIET), journal)
        return [
            choose_anew(selecting, task.take(fold.analysis), f"the analysis rows of fold {fold.index}")[0]
            for fold in material.resampling.folds
        ]


def _search_entries(
    config: Config, material: StudyData, listed: Sequence[Candidate], compute: Callable[..., Results], progress: Progress
) -> tuple[Plan, SearchFacts]:
    """Search the entries that are searched by their scores; return the plan of all candidates, and the trials as facts."""
    task, folds, higher = material.development, material.resampling, config.measure.higher_is_better
    many = len(listed) + config.to_ask
    rounds = Rounds(progress, len(folds.folds), many, higher)
    search = AdaptiveSearch(config.adaptive, config.search.seconds, progress)
    found = search.run(listed, task, folds, partial(compute, tell=rounds), higher)
    return make(found.candidates, task, folds), found.facts(config.adaptive)


def _rounds(results: Results) -> dict[str, list[int | None]]:
    """By candidate, the rounds at which boosting stopped early on each fold; empty without early stopping."""
    sizes = results.book.scores.columns["complexity"]
    stops = [at for at, one in enumerate(results.candidates) if getattr(one.learner, "early_stopping", None) is not None]
    return {results.candidates[at].id: [None if size != size else int(size) for size in sizes[at]] for at in stops}


def _measures_beside(config: Config, task: Task, resampling: Resampling) -> Mapping[str, BaseMeasure]:
    """The measures that every candidate gets beside the one that chooses."""
    counted = other_measures(config.measure, task, resampling, scores=False)
    if "within" in counted and config.guard.tolerance is not None:  # what a look at the sealed rows will count
        counted["within"] = Within(config.guard.tolerance)
    if config.measures != ALL and not any(one.of_others for one in config.candidates):
        return measures_by_default(counted, task)
    every = {**counted, **other_measures(config.measure, task, resampling, scores=True)}
    return every if config.measures == ALL else measures_by_default(every, task)


def _ensembles(selection: Selection) -> list[EnsembleFacts]:
    """The ensembles that were picked: their members, how often each was, and what the picking is worth."""
    return [
        EnsembleFacts(
            id=one.id, entry=one.entry, corrected=selection.alone.get(one.id),
            members=[MemberFacts(id=member.id, entry=member.entry, times=times) for member, times in one.learner.chosen],
        )
        for one in selection.candidates
        if getattr(one.learner, "chosen", ())
    ]  # fmt: skip


def _select_nested(config: Config, task: Task, compute: Callable[..., Results], journal: Journal) -> NestedResult:
    """The whole selection anew inside each outer fold."""
    assert config.outer is not None
    score = score_selection_by_bates if config.interval == BATES else score_selection
    return score(_selecting(config, compute, journal), task, config.outer.instantiate(task, config.seed))


def _selecting(config: Config, compute: Callable[..., Results], journal: Journal) -> SelectionProcedure:
    """The study's selection as a procedure that may be repeated on other rows."""
    answered = partial(ask_outer_winner, config)

    def search(listed: Sequence[Candidate], task: Task, resampling: Resampling) -> Sequence[Candidate]:
        quiet, higher = partial(compute, tell=QUIET), config.measure.higher_is_better
        return AdaptiveSearch(config.adaptive).run(listed, task, resampling, quiet, higher).candidates

    return SelectionProcedure(
        config.candidates,
        config.scheme,
        config.measure,
        config.rule,
        config.seed,
        compute,
        journal,
        config.reads_scores,
        answered,
        search if config.adaptive else None,
    )


# The floor: what guessing costs on the same folds, by the most common class or a draw of one; of numbers, by mean or median.
#
# Scored in every study, beside the candidates and never among them: a line of the floor cannot be chosen, is not counted, and
# changes nothing in what is chosen. Where the space lists the same learner, its own scores are the line.


FLOOR: dict[TaskKind, tuple[str, ...]] = {"classes": ("majority", "prior_draw"), "numbers": ("mean", "median")}


@dataclass(frozen=True, eq=False)
class BaselineScore:
    """A learner that looks at no feature; `cv` is None where it has no score, with the reason."""

    candidate: Candidate
    in_space: bool  # the space lists it: it is a candidate too
    cv: ScoreFacts | None
    reason: str = ""

    def to_dict(self) -> FloorFacts:
        """Return it as study.json has it."""
        learner = spec.kind_of(self.candidate.learner)
        return FloorFacts(id=self.candidate.id, learner=learner, candidate=self.in_space, cv=self.cv, reason=self.reason)


def floor(results: Results) -> tuple[BaselineScore, ...]:
    """Score the learners of the floor on the folds of these results, in this process; their cells go into the same journal."""
    declared = {candidate.id: position for position, candidate in enumerate(results.candidates)}
    lines = []
    for candidate in (Candidate(spec.make("learner", kind), entry=kind) for kind in FLOOR[results.book.work.task.kind]):
        at = declared.get(candidate.id)
        lines.append(_score_alone(candidate, results) if at is None else _line(candidate, results, at, in_space=True))
    return tuple(lines)


def _score_alone(candidate: Candidate, results: Results) -> BaselineScore:
    """Score a candidate as if it were a whole space."""
    work, journal = results.book.work, results.book.journal
    cells = make((candidate,), work.task, work.resampling)
    try:
        own = run_plan(
            cells, work.task, work.resampling, work.measure, Pool("sequential"), journal, seed=work.seed, se_of=results.se_of
        )
    except NoCandidateError as error:
        return BaselineScore(candidate, in_space=False, cv=None, reason=error.problems[0].what)
    return _line(candidate, own, 0, in_space=False)


def _line(candidate: Candidate, results: Results, at: int, *, in_space: bool) -> BaselineScore:
    """Describe one of the floor's candidates by its score, or by the reason why it has none."""
    board = results.board
    if not board.eligible[at]:
        return BaselineScore(candidate, in_space, None, results.reasons[at])
    cv = ScoreFacts(mean=float(board.mean[at]), se=float(board.se[at]), folds=board.folds[at].tolist())
    return BaselineScore(candidate, in_space, cv)
