"""report.html: one self-contained page, made from the record alone, so that it can be made again at any time.

No script is needed to read it and nothing is fetched: style, script and drawings are inside.
"""

import os
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined

from modelsel.core.outcome import mean_size
from modelsel.kernels.compiler import base
from modelsel.record.files import write as write_file
from modelsel.record.folder import RunFolder
from modelsel.reporting import show, verdict, words
from modelsel.reporting.charts import SHAPES
from modelsel.reporting.sections import (
    bounds,
    curve,
    explanation,
    facts,
    final,
    leaderboard,
    predictions,
    scores,
    slices,
)  # fmt: skip
from modelsel.reporting.sections.view import View


def write(folder: RunFolder) -> Path:
    """Write the page into the run's folder. Raises StoreError, or ConfigurationError for a run that was not finished."""
    return write_file(folder.report, render(folder))


def render(folder: RunFolder) -> str:
    """The page as text, secrets left out."""
    view = View(folder)
    page = environment().get_template("page.html").render(context(view))
    return folder.redactor.text(page)


def environment() -> Environment:
    """Make the templates' environment: all is escaped but what our own drawing functions made (`safe` in the template)."""
    made = Environment(loader=PackageLoader("modelsel.reporting"), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, bytecode_cache=_compiled_templates())  # fmt: skip
    made.filters |= {"score": words.score, "interval": words.interval, "number": words.number, "percent": words.percent}
    made.globals |= {"ordinal": words.ordinal, "plural": words.plural, "sized": mean_size, "wrong": words.wrong}
    return made


def _compiled_templates() -> FileSystemBytecodeCache | None:
    """Templates compiled before, beside the compiled kernels; None where nothing can be kept. Jinja compares their sources."""
    place = base() / "templates"
    try:
        place.mkdir(parents=True, exist_ok=True)
        return FileSystemBytecodeCache(str(place)) if os.access(place, os.W_OK) else None
    except OSError:
        return None


def context(view: View) -> dict[str, object]:
    """Collect the template's values, section by section in the order of the page."""
    outcome = view.outcome
    drawn = (
        {"strips": scores.strips(view), "slices": slices.section(view), "pairs": leaderboard.paired_differences(view)}
        if view.ranked
        else {}
    )
    return {
        "o": outcome,
        "test": outcome.test,
        "beside": words.measure_beside(outcome.test, verdict.unit_of(outcome)) if outcome.test else "",
        "in_unit": words.in_unit(outcome),
        "nested": outcome.nested,
        "winner_settings": words.settings(view.varied.get(outcome.winner.id, {})),
        "simpler": verdict.simpler(view.recorded, view.folder.candidates(), view.higher),
        "ensembles": verdict.ensembles(outcome),
        "called": view.name_of,
        "fits": verdict.fits(outcome.fits),
        "look": verdict.look(outcome.test) if outcome.test and not outcome.test.refused else "",
        "width": words.extra_width(outcome.test) if outcome.test and not outcome.test.refused else "",
        "sampled": verdict.sampled(outcome),
        "flags": verdict.grave(outcome),
        "findings": (found := facts.findings(view)),
        "minor": sum(one.severity in ("low", "info") for one in found),
        "board": leaderboard.section(view),
        "scores": scores.section(view),
        "measured": leaderboard.measures(view) if view.ranked else {},
        "pareto": slices.pareto(view) if view.ranked else [],
        "final": final.section(view),
        "predicted": predictions.of_numbers(view) if outcome.task.of_numbers else predictions.section(view),
        "shows": show.sections(view.folder),
        "note": view.config.get("note"),
        "importance": explanation.importance(view),
        "curve": curve.section(view),
        "tree_size": final.best_of_size(view),
        "weak": (weak := explanation.weak_slices(view)),
        "worst_slice": explanation.worst(weak),
        "dependence": explanation.dependence(view),
        "data": facts.data(view),
        "looks": facts.looks(view),
        "again": facts.how_to_repeat(view),
        "bounds": bounds.section(view),
        "limits": facts.limits(view),
        "folds": view.details.folds,
        "style": resource("style.css"),
        "script": resource("script.js"),
        "shapes": SHAPES,
        **drawn,
    }


def resource(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("modelsel.reporting") / "templates" / name).read_text("utf-8")
