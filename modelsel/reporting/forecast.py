"""The forecast of a study: its plan and cost, with all findings about its data, before a look is spent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from modelsel.config.compose import BATES, Config
from modelsel.config.settings import ALL, AUTO
from modelsel.core.types import Finding
from modelsel.dataset.identifiers import suggested_scheme
from modelsel.explanation.explain import forecast_lines
from modelsel.explanation.explain import lines as explaining
from modelsel.guard.copied_units import declared_units
from modelsel.guard.entries import is_ordered_in_time
from modelsel.measure.beside import bounding_measures, other_measures
from modelsel.planning import exports
from modelsel.planning.make import Plan, distinct_candidates, make, say_identical
from modelsel.planning.show import Estimate, Nesting, lines, simpler, warnings
from modelsel.record.folder import folder_name, runs_folder
from modelsel.record.repeated import repeated_otherwise
from modelsel.reporting.screen import Part, screen
from modelsel.runner.costs import after_cells, estimate, slowness
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import choose_pool
from modelsel.runner.study_data import StudyData, prepare

DEFAULT_MEASURE = (
    "measure      error (the default) judges predicted classes only; for probabilities measure=log_loss, to rank rows "
    "measure=auc, for rare classes measure=balanced_error"
)
GRAVITY = ("critical", "high", "medium", "low", "info")


@dataclass(frozen=True, eq=False)
class Forecast:
    """A plan: its counts, all findings of the data (the gravest first), and as text what `modelsel plan` prints.

    Parameters
    ----------
    text : str
        The whole plan: what `modelsel plan -v` prints.
    screen : str
        Its first screen: what `modelsel plan` prints.
    rows, test_rows : int
        Development rows, and rows that are sealed.
    candidates, cells, fits, naive_fits : int
        Candidates, batches on folds, fits needed, and fits without sharing.
    seconds, memory : float
        The estimated time in seconds, and memory in bytes.
    findings : tuple of Finding
        Findings of the data and of the plan.

    Examples
    --------
    >>> from modelsel import plan
    >>> plan("dataset=play_tennis", learner="table", split="none").fits
    11
    """

    text: str
    screen: str
    rows: int
    test_rows: int
    candidates: int
    cells: int
    fits: int
    naive_fits: int
    seconds: float
    memory: float
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        return self.screen

    def __repr__(self) -> str:
        return f"<Plan: {self.candidates:,} candidates, {self.fits:,} fits instead of {self.naive_fits:,}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.text)}</pre>"


def forecast(config: Config) -> Forecast:
    """Plan a study. Fits few of the development rows, to see what fits cost; opens nothing and writes nothing."""
    material = prepare(config)
    config = material.config
    candidates = distinct_candidates(config.candidates, material.development.features, config.reads_scores)
    said_once = say_identical(len(config.candidates), len(candidates))
    candidates = (*candidates, *(one for entry in config.adaptive for one in entry.stand_ins))
    plan = make(candidates, material.development, material.resampling)
    cost = _cost(config, material, plan)
    outer = (
        None
        if config.outer is None
        else Nesting.of(
            config.outer.instantiate(material.development, config.seed),
            plan.rows,
            pairs=config.interval == BATES,
            sometimes=config.corrected == AUTO,
        )
    )
    sealed = len(material.sealed)
    study = runs_folder(config.runs) / folder_name(config.name)
    changed = repeated_otherwise(study, candidates, material.development, material.sealed) if len(material.sealed) else []
    found = sorted((*material.findings, *changed), key=_gravity)
    warned = warnings(plan, material.development, measure=config.measure)
    counted = lines(
        plan, material.development, sealed, cost, outer=outer, quota=config.guard.quota,
        ordered=material.sealed.units is None and is_ordered_in_time(config.resolved), units=declared_units(material.sealed),
    )  # fmt: skip
    said = (
        *counted,
        *_searches(config),
        *((DEFAULT_MEASURE,) if config.chooses_by_default else ()),
        *simpler(config.rule, material.development, config.measure),
        *explaining(config.explanations, config.curve, plan.folds, candidates, plan.needed),
        *forecast_lines(config.optimal, plan.folds, candidates),
        exports.line(candidates, numbers=material.development.kind == "numbers"),
        *([f"identical    {said_once}"] if said_once else []),
        *filter(None, [_scheme(material, config)]),
    )
    graver = sorted((*found, *warned), key=_gravity)
    whole = (*said, *map(finding_line, graver), *read_up(graver))
    return Forecast(
        text="\n".join(whole), screen=first_screen(said, graver), rows=plan.rows, test_rows=sealed,
        candidates=len(plan.candidates), cells=len(plan.cells),
        fits=plan.needed, naive_fits=plan.naive, seconds=cost.seconds, memory=cost.memory,
        findings=(*found, *warned),
    )  # fmt: skip


def _cost(config: Config, material: StudyData, plan: Plan) -> Estimate:
    """What the fits cost, and the look and the record behind them."""
    pool = choose_pool(config.pool, CellLimits(config.limit.seconds, config.limit.bytes), plan.candidates)
    task, folds = material.development, material.resampling
    beside = bounding_measures(config.measure, getattr(config.rule, "bounds", ()))
    if config.measures == ALL:
        beside = {**beside, **other_measures(config.measure, task, folds, scores=True)}
    found = estimate(RunContext(task, folds, plan, config.measure, config.seed, beside=beside), pool)
    return replace(found, seconds=found.seconds * slowness() + after_cells(task))


NOT_FIRST = ("sizes", "batches", "cells", "inner fits", "quota", "simpler", "export")  # of a plan, for who asks for more
LABEL = 13


def first_screen(said: Sequence[str], found: Sequence[Finding]) -> str:
    """Lay out the first screen of a plan: what it takes and would tell, and findings. In `said`, words stand behind labels."""
    parts: list[Part] = []
    for line in said:
        label, text = line[:LABEL].strip(), line[LABEL:]
        if label or not parts:
            parts.append(Part(label, (text,), extra=label == "measure"))
        else:
            parts[-1] = Part(parts[-1].label, (*parts[-1].sentences, text))
    shown = [one for one in parts if one.label not in NOT_FIRST]
    explain = f"; `modelsel explain {found[0].code}` tells of the gravest finding" if found else ""
    return screen(shown, found, (), f"-v prints the whole plan{explain}", LABEL)


def _searches(config: Config) -> tuple[str, ...]:
    """Say of entries that are searched by their scores what is fixed beforehand, and what is asked for later."""
    if not config.adaptive:
        return ()
    names, batch = ", ".join(f"{entry.name} ({entry.trials:,})" for entry in config.adaptive), config.search.batch
    fixed = f"fixed: the space, {config.to_ask:,} trials at most, {batch} of an entry at a time, folds, seeds"
    later = "asked for later, by scores of what came before: the values; the counts above are of random ones in their place"
    return (f"search       tpe in {names}; {fixed}", f"             {later}", *_warn_uncorrected(config))


def _warn_uncorrected(config: Config) -> tuple[str, ...]:
    """Say that the winner's score will not be corrected where nothing repeats the search."""
    if config.outer is not None:
        return ()
    return ("             the winner's score is not corrected for having been chosen: corrected=nested repeats the search",)


def read_up(found: Sequence[Finding]) -> tuple[str, ...]:
    """Name the command that prints the page of the gravest finding; nothing where there is none.

    >>> read_up([Finding("CONSTANT_COLUMN", "low", "column 'x' has one value", "ignore it")])
    ('what a code means: `modelsel explain CONSTANT_COLUMN`',)
    """
    gravest = sorted(found, key=_gravity)[:1]
    return tuple(f"what a code means: `modelsel explain {finding.code}`" for finding in gravest)


def _gravity(finding: Finding) -> int:
    return GRAVITY.index(finding.severity)


def finding_line(finding: Finding) -> str:
    """Write a finding as a line: code, severity, message, advice.

    >>> finding_line(Finding("CONSTANT_COLUMN", "low", "column 'x' has one value", "ignore it"))
    "CONSTANT_COLUMN (low): column 'x' has one value; ignore it"
    """
    return f"{finding.code} ({finding.severity}): {finding.message}{'; ' if finding.do else ''}{finding.do}"


def _scheme(material: StudyData, config: Config) -> str:
    """Name the scheme that the columns suggest; a splitter of somebody's own is taken for an answer."""
    if not getattr(config.scheme, "portable", True):
        return ""
    return suggested_scheme(material.development, material.sealed, getattr(config.scheme, "reads_times", False))
