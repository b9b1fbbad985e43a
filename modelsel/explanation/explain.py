"""What a study was asked to say about its choice: reasons, weak spots, more rows. Plain data for the record.

Only development rows are read. A part whose fits fail says why in its place (`failed`), and costs the study nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from modelsel.comparison.ratio import assessed_per_analysed
from modelsel.comparison.winner.selection import ranked
from modelsel.config.fields.explaining import WINNER, ExplainSettings
from modelsel.core.protocols import Measure
from modelsel.core.selection import Selection
from modelsel.core.types import Resampling, Task
from modelsel.explanation.correlated import together
from modelsel.explanation.dependence import COLUMNS, dependence
from modelsel.explanation.importance import FoldImportance, ImportanceRequest, fold_importance, summary
from modelsel.runner.execution.single_job import Failure
from modelsel.runner.final_fit import Final

Apart = Callable[..., Any]  # a function and its arguments, called where cells are computed: its result, or the Failure


@dataclass(frozen=True, eq=False)
class StudyToExplain:
    """A finished selection, and how its fits are made. `final` is None where the winner could not be fitted."""

    task: Task
    resampling: Resampling
    selection: Selection
    measure: Measure
    seed: int
    final: Final | None
    apart: Apart


def explanation(of: StudyToExplain, settings: ExplainSettings) -> dict[str, Any]:
    """Everything that was asked for, by name."""
    found: dict[str, Any] = {}
    if settings.importance:
        found["importance"] = [_importance(of, settings, member) for member in members(of.selection, settings.candidates)]
    if settings.dependence and of.final is not None:
        found["dependence"] = dependence(of.final, of.task, _first(of.task, found.get("importance", ())), of.seed)
    return found


def members(selection: Selection, names: Sequence[str]) -> list[int]:
    """Positions of the candidates that are named: the winner, an entry's best, an id or the beginning of one.

    A name that fits nobody stands for nobody: entries are checked before anything is fitted, ids are known only afterwards.
    """
    order = ranked(selection.board)
    found: list[int] = []
    for name in names:
        own = [selection.winner] if name == WINNER else [i for i in order if selection.candidates[i].entry == name][:1]
        found += own or [i for i in order if selection.candidates[i].id.startswith(name)][:1]
    return list(dict.fromkeys(found))


def _importance(of: StudyToExplain, settings: ExplainSettings, member: int) -> dict[str, Any]:
    candidate = of.selection.candidates[member]
    asked = ImportanceRequest(of.measure, of.seed, settings.repeats, together(of.task, settings.together), settings.noise)
    who = {"candidate": candidate.id, "entry": candidate.entry}
    folds: list[FoldImportance] = []
    for fold in of.resampling.folds:
        done = of.apart(fold_importance, candidate, of.task, fold, asked)
        if isinstance(done, Failure):
            return {**who, "failed": f"{done.status}, {done.reason}"}
        folds.append(done)
    return {**who, **summary(folds, of.task, asked, assessed_per_analysed(of.resampling))}


def _first(task: Task, importance: Sequence[dict[str, Any]]) -> list[str]:
    """The most important columns of the first candidate asked for, else the first of the table."""
    lines = importance[0].get("columns", ()) if importance else ()
    names = [line["column"] for line in lines] or [feature.name for feature in task.features]
    return names[:COLUMNS]
