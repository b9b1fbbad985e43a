"""The rows of a run's tables, read from its folder: columns of plain values, None where there is none."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from modelsel.record.folder import RunFolder
from modelsel.record.recorded_run import RecordedRun
from modelsel.record.tables.columns import TABLES

Columns = dict[str, list[Any]]  # by name, in the order in which they are declared
Line = Mapping[str, Any]


def tables(folder: RunFolder) -> dict[str, Columns]:
    """Every table of a finished run, by name.

    Raises ConfigurationError where the run was not finished, KeyError where its record is not whole.
    """
    run = RecordedRun(folder)
    return {name: _columns(name, _READERS[name](run)) for name in TABLES}


def _columns(name: str, lines: Iterator[Line]) -> Columns:
    kept = list(lines)
    return {column: [_known(line.get(column)) for line in kept] for column in TABLES[name].columns}


def _known(value: Any) -> Any:
    """None for NaN and for an empty text."""
    return None if value == "" or (isinstance(value, float) and not math.isfinite(value)) else value


def _candidates(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per candidate, with its difference from the winner."""
    won, near = run.outcome.winner["id"], set(run.outcome.winner.get("indistinguishable", ()))
    times = run.details.get("predict_1000_rows") or {}
    best = next(row.mean for row in run.candidates if row.id == won)
    for row in run.candidates:
        told = None if row.id == won or not row.rank else row.id not in near
        same = {name: getattr(row, name) for name in TABLES["candidates"].columns if hasattr(row, name)}
        yield {
            **same, "entry": row.label, "rank": row.rank or None, "winner": row.id == won, "told_apart": told,
            "difference": row.mean - best, "predict_1000_rows": times.get(row.id),
        }  # fmt: skip


def _parameters(run: RecordedRun) -> Iterator[Line]:
    for row in run.candidates:
        yield from ({"id": row.id, "parameter": name, "value": value} for name, value in row.parameters.items())


def _folds(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per candidate and fold."""
    facts = run.details["folds"]
    for row in run.candidates:
        for fold, score in enumerate(row.folds):
            shape = {name: facts[name][fold] for name in ("repeat", "analysis", "assessment")}
            yield {"id": row.id, "fold": fold, **shape, "score": score}


def _measures(run: RecordedRun) -> Iterator[Line]:
    for row in run.candidates:
        yield {"id": row.id, "measure": run.outcome.measure, "chose": True, "mean": row.mean}
        yield from ({"id": row.id, "measure": name, "chose": False, "mean": mean} for name, mean in row.measures.items())


def _predictions(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per kept prediction."""
    assessed, rows, fold = run.folder.assessed(), run.folder.losses().row.tolist(), run.folder.fold()[:, 0].tolist()
    for at, name in enumerate(assessed.ids):
        for row, own, truth, said in zip(rows, fold, assessed.truth.tolist(), assessed.predicted[at].tolist(), strict=True):
            if said >= 0:
                classes = {"truth": run.classes[truth], "predicted": run.classes[said]}
                yield {"id": name, "row": row, "fold": own, **classes}


def _scores(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per kept score of a class."""
    assessed, rows = run.folder.assessed(), run.folder.losses().row.tolist()
    for name, own in zip(assessed.ids, () if assessed.scores is None else assessed.scores):
        for row, scores in zip(rows, own.tolist(), strict=True):
            if not math.isnan(scores[0]):
                yield from ({"id": name, "row": row, "class": one, "score": said} for one, said in zip(run.classes, scores))


def _floor(run: RecordedRun) -> Iterator[Line]:
    for line in run.outcome.extra.get("floor", ()):
        yield {**line, **(line["cv"] or {})}


def _outer_folds(run: RecordedRun) -> Iterator[Line]:
    nested = run.outcome.extra.get("nested") or {"scores": (), "winners": ()}
    for fold, (score, winner) in enumerate(zip(nested["scores"], nested["winners"], strict=True)):
        yield {"fold": fold, "score": score, "winner": winner}


def _slices(run: RecordedRun) -> Iterator[Line]:
    for kind, name in (("found", "weak_slices"), ("declared", "declared_slices")):
        yield from ({"kind": kind, **line} for line in run.explanation.get(name, {}).get("slices", ()))


def _importance(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per column, group of columns and noise of each importance."""
    for one in run.explanation.get("importance", ()):
        who = {"id": one["candidate"]}
        yield from ({**line, **who, "columns": line["column"], "kind": "column"} for line in one.get("columns", ()))
        groups = one.get("together", ())
        yield from ({**line, **who, "columns": " + ".join(line["columns"]), "kind": "together"} for line in groups)
        if one.get("noise"):
            yield {**one["noise"], **who, "kind": "noise"}


def _importance_folds(run: RecordedRun) -> Iterator[Line]:
    for line in _importance(run):
        yield from ({**line, "fold": fold, "importance": cost} for fold, cost in enumerate(line["folds"]))


def _values(one: Mapping[str, Any]) -> list[Line]:
    levels = one["levels"] or [None] * len(one["grid"])
    return [{"column": one["column"], "value": at, "level": level} for at, level in zip(one["grid"], levels, strict=True)]


def _dependence(run: RecordedRun) -> Iterator[Line]:
    for one in run.explanation.get("dependence", ()):
        for value, means in zip(_values(one), one["mean"], strict=True):
            yield from ({**value, "class": name, "mean": mean} for name, mean in zip(run.classes, means, strict=True))


def _dependence_rows(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per point of each row's course."""
    for one in run.explanation.get("dependence", ()):
        for line, scores in enumerate(one["lines"]["scores"]):
            drawn = {"line": line, "class": one["lines"]["class"]}
            yield from ({**value, **drawn, "score": score} for value, score in zip(_values(one), scores, strict=True))


def _curve(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per point of the learning curve."""
    curve = run.explanation.get("curve") or {"candidates": ()}
    for one in curve["candidates"]:
        for share, rows, point in zip(curve["shares"], curve["rows"], one["points"], strict=True):
            yield {"id": one["candidate"], "entry": one["entry"], "share": share, "rows": rows, **point}


def _doubling(run: RecordedRun) -> Iterator[Line]:
    for one in (run.explanation.get("curve") or {"candidates": ()})["candidates"]:
        yield {"id": one["candidate"], "entry": one["entry"], **one["doubling"]}


def _looks(run: RecordedRun) -> Iterator[Line]:
    """Yield a line per look."""
    for of in run.details.get("audit", {}).get("test_sets", ()):
        for look in of.get("looks", ()):
            low, high = look.get("interval") or (None, None)
            yield {**look, "test_set": of["id"], "low": low, "high": high}


_READERS: Mapping[str, Callable[[RecordedRun], Iterator[Line]]] = {
    "candidates": _candidates, "parameters": _parameters, "folds": _folds, "measures": _measures, "predictions": _predictions,
    "scores": _scores, "comparisons": lambda run: iter(run.details.get("pairs", ())), "floor": _floor,
    "outer_folds": _outer_folds, "slices": _slices, "importance": _importance, "importance_folds": _importance_folds,
    "dependence": _dependence, "dependence_rows": _dependence_rows, "curve": _curve, "doubling": _doubling,
    "findings": lambda run: iter(run.outcome.findings), "looks": _looks,
}  # fmt: skip
