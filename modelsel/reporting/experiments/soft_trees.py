"""Softened trees: the published tables beside what came out, the findings judged, an honest choice beside the paper's.

Of the study `experiment=soft_trees` and what is made like it: training sets side by side (scheme=predefined), trees of
`deviance_sequence` (CART) or `error_based` (C4.5), each hard and softened, measure=auc. Dvořák 2019, *Softening splits in
classification trees*.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.reporting.context import SectionContext
from modelsel.reporting.experiments.softening import page
from modelsel.reporting.experiments.softening.findings import PUBLISHED, judge_findings
from modelsel.reporting.experiments.softening.grid import METHODS, SofteningGrid, choices, grids

TITLE = "Softened trees beside the published ones"


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Judge the published findings on this study's cells."""
    if studied.measure != "auc":
        return {"reason": f"areas need measure=auc, not {studied.measure}"}
    found = {name: grid for name, grid in grids(studied.results).items() if grid.asked("hard")}
    if not found:
        return {"reason": "no trees that are both hard and softened: ask for experiment=soft_trees"}
    data = studied.task.name
    folds = studied.results.book.work.resampling.folds
    return {
        "data": data,
        "published": PUBLISHED[data].name if data in PUBLISHED else None,
        "sets": len(folds),
        "rows": len(folds[0].analysis),
        "assessed": len(folds[0].assessment),
        "scores": sum(int(np.isfinite(grid.area[..., 0]).sum()) for grid in found.values()),
        "kinds": {name: _kind(grid) for name, grid in found.items()},
        "findings": list(judge_findings(found, data)),
        "choices": choices(studied.results, found["cart"]) if "cart" in found else [],
    }


def text(one: page.SofteningFacts) -> str:
    """Write the section for the terminal."""
    return "\n\n".join(_blocks(one)) + "\n"


def html(one: page.SofteningFacts) -> str:
    """Write the section for the page."""
    return page.html(one)


def _kind(grid: SofteningGrid) -> page.KindFacts:
    """Sizes and areas of one kind of tree, per training set and over all trees."""
    every, hard, searched = np.arange(grid.sets), grid.best("hard"), "auc" if grid.asked("auc") else "DR(1)"
    soft = grid.best_area(searched) if grid.asked(searched) else np.full(grid.sets, np.nan)
    small = grid.smallest_not_worse(searched) if grid.asked(searched) else np.full(grid.sets, -1)
    return {
        "trees": int(grid.distinct.sum()),
        "splits": _three(grid.splits[grid.distinct]),
        "area": _three(grid.pooled("hard")),
        "softened_by": searched,
        "best": [
            {"hard": float(h), "splits": int(s), "soft": _number(a), "smallest": int(n)}
            for h, s, a, n in zip(grid.best_area("hard"), grid.splits[hard, every], soft, small, strict=True)
        ],
        "methods": {method: _method(grid, method) for method in METHODS if grid.asked(method)},
        "each": _trees(grid),
    }


def _method(grid: SofteningGrid, method: str) -> page.MethodFacts:
    """Sum up one softening: mean area over the best trees and over all, and on how many trees it is better than hard."""
    gain = grid.pooled(method) - grid.pooled("hard")
    laplace = grid.pooled(method, "laplace") - grid.pooled(method)
    return {
        "best": float(grid.best_area(method).mean()),
        "mean": float(grid.pooled(method).mean()),
        "gain": float(gain.mean()),
        "better": float((gain > 0).mean()),
        "laplace": _number(float(laplace.mean())),
    }


def _trees(grid: SofteningGrid) -> list[dict[str, float | None]]:
    names = ("hard", "DR(1)", "auc")
    columns = [grid.splits[grid.distinct], *(grid.pooled(name) for name in names)]
    return [{"splits": int(row[0]), **dict(zip(names, map(_number, row[1:])))} for row in zip(*columns, strict=True)]


def _three(values: Floats | Integers) -> list[float]:
    return [float(values.min()), float(np.median(values)), float(values.max())]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


WIDTH = 108


def _blocks(one: page.SofteningFacts) -> Iterator[str]:
    """Yield its blocks: tables, then findings."""
    yield fill(" ".join(page.notes(one)), WIDTH)
    yield columns(page.overview(one))
    for kind in one["kinds"]:
        yield f"{page.NAMES[kind]}\n{columns(page.per_set(one, kind))}"
        yield columns(page.methods(one, kind))
    if one["choices"]:
        yield f"{columns(page.choices(one))}\n{fill(page.price_of_peeking(one), WIDTH)}"
    yield "\n".join(_finding(*row) for row in page.findings(one)[1:])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Words under one another, the first column to the left, the others to the right.

    >>> print(columns([["a", "bb"], ["ccc", "d"]]))
    a    bb
    ccc   d
    """
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = ("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _finding(number: str, sentence: str, verdict: str, figures: str) -> str:
    return fill(f"{number} {sentence}: {verdict.upper()}; {figures}", WIDTH, subsequent_indent="     ")
