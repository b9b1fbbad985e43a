"""The document of a comparison of runs: over data sets with ranks and their diagram, or on the folds of one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from modelsel.comparison.learners import (
    FoldPair,
    OverSets,
    answer_over_folds,
    answer_over_sets,
    name_learners,
    over_folds,
    over_sets,
    sentences_over_folds,
    sentences_over_sets,
)
from modelsel.comparison.runs import ComparedRun, merge_by_data, pairing
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.files import write as write_file
from modelsel.reporting import charts
from modelsel.reporting.charts import Document, DocumentTable, Plot, Scale, document_markdown, table_lines
from modelsel.reporting.page import environment, resource
from modelsel.reporting.screen import LINES, columns, wrap_sentence
from modelsel.reporting.words import number, p_value, plural, score, with_sign
from modelsel.statistics.bayesian import Posterior

FORMS = (".html", ".md", ".svg")


def of_runs(runs: Sequence[ComparedRun], rope: float = 0.01) -> Document:
    """Compare what can be compared; ConfigurationError that says why it cannot."""
    runs = merge_by_data(runs)
    return _on_folds(runs, rope) if pairing(runs) == "folds" else _on_sets(runs, rope)


def check(path: Path) -> None:
    """ConfigurationError for a file of no known form, before anything is computed."""
    if path.suffix not in FORMS:
        fix = f"end it with one of {', '.join(FORMS)}"
        raise ConfigurationError(Problem("MSEL-287", f"'{path.name}' is not a form of a comparison", "-o", fix))


def write(of: Document, path: Path) -> tuple[Path, ...]:
    """Write the page, the picture, or Markdown with the picture beside it, by the ending of `path`; the files written."""
    check(path)
    picture = path.with_suffix(".svg")
    drawn = (write_file(picture, of.picture.svg(of.style)),) if of.picture and path.suffix != ".html" else ()
    if path.suffix == ".svg":
        return drawn
    return write_file(path, page(of) if path.suffix == ".html" else document_markdown(of, picture.name)), *drawn


def first_screen(of: Document) -> str:
    """Lay out what a terminal shows: who is best, the first rows of a table, and as many sentences as there is room for."""
    width = columns()
    more = [
        f"more  -v prints {plural(len(of.tables), 'table')} and all sentences, `-o comparison.html` (.md, .svg) writes them"
    ]
    best = [line for said in of.answer for line in wrap_sentence(said, width)]
    shown, room = [of.title, *best, ""], LINES - len(best) - 5
    table, left = _fit_table(of.tables[0], room, width)
    if table:
        shown += [*table, *([f"… and {plural(left, 'row')} more"] if left else []), ""]
    for said in of.sentences:
        lines = wrap_sentence(said, width)
        if len(shown) + len(lines) + len(more) > LINES:
            break
        shown += lines
    return "\n".join([*shown, *more])


def _fit_table(table: DocumentTable, room: int, width: int) -> tuple[list[str], int]:
    """Cut a table to its first rows where it has too many, and count the others; nothing where it is too wide."""
    title, head, *rows = table_lines(table)
    if max(map(len, (head, *rows))) > width:
        return [], 0
    name, kept = wrap_sentence(title, width), rows if len(rows) <= room - 2 else rows[: max(room - 4, 1)]
    return [*name, head, *kept], len(rows) - len(kept)


def page(of: Document, command: str = "modelsel compare") -> str:
    """A self-contained HTML file; `command` is what makes it."""
    return environment().get_template("comparison.html").render(of=of, command=command, style=resource("style.css"))


def _on_sets(runs: Sequence[ComparedRun], rope: float) -> Document:
    """Compare runs over data sets, with the tables and the diagram."""
    found = over_sets(runs, rope)
    tables = [_scores(found, runs[0].higher_is_better), _duels(found), _pairs(found, rope), _hierarchical(found, rope)]
    if found.unit:
        tables.insert(1, _sizes(found))
    plot = charts.diagram(found.learners, found.friedman.ranks, found.difference, found.bars, len(found.data))
    return Document(
        title=f"{plural(len(found.learners), 'learner')} over {plural(len(found.data), 'data set')}",
        lead=f"By {found.measure}, paired on the folds of each data set.", sentences=sentences_over_sets(found, rope),
        answer=answer_over_sets(found), tables=tuple(tables), picture=plot, style=charts.FILE, css=charts.CSS,
    )  # fmt: skip


def _scores(of: OverSets, higher_is_better: bool) -> DocumentTable:
    """Write the table of scores by data set, the best of each row marked."""
    rounded = np.round(of.table, 12)
    best = rounded.max(axis=1) if higher_is_better else rounded.min(axis=1)
    marked = frozenset((int(i), int(j) + 1) for i, j in np.argwhere(rounded == best[:, None]))
    rows = [(data, *map(score, row)) for data, row in zip(of.data, of.table)]
    ranks = ("mean rank", *(f"{rank:.2f}" for rank in of.friedman.ranks))
    direction = "highest" if higher_is_better else "lowest"
    return DocumentTable(
        of.measure.replace("_", " ").capitalize(), ("", *of.learners), (*rows, ranks), f"the {direction} is marked", marked
    )


def _sizes(of: OverSets) -> DocumentTable:
    """Write the table of sizes by data set."""
    rows = [(data, *map(number, row)) for data, row in zip(of.data, of.sizes)]
    middle = ("median", *map(number, np.median(of.sizes, axis=0)))
    note = "of the candidate of best mean, averaged over folds"
    return DocumentTable(of.unit.capitalize(), ("", *of.learners), (*rows, middle), note)


def _duels(of: OverSets) -> DocumentTable:
    """Write on how many data sets each learner beats each other."""
    rows = [(name, *("" if i == j else str(of.won[i, j]) for j in range(len(row)))) for i, (name, row) in
            enumerate(zip(of.learners, of.won))]  # fmt: skip
    note = f"of {len(of.data)} data sets: where the row is better than the column by the corrected t-test, Holm within each"
    return DocumentTable("Told apart on the folds of one data set", ("", *of.learners), tuple(rows), note)


def _pairs(of: OverSets, rope: float) -> DocumentTable:
    """Write the tests of every pair over the data sets."""
    rows = [
        (f"{pair.first} and {pair.second}", with_sign(pair.median), p_value(pair.p), p_value(pair.adjusted),
         p_value(pair.nemenyi), *(f"{one:.2f}" for one in (pair.posterior.below, pair.posterior.within, pair.posterior.above)))
        for pair in of.pairs
    ]  # fmt: skip
    head = ("", "median difference", "Wilcoxon p", "Holm", "Nemenyi", "second lower", f"within {rope:g}", "second higher")
    note = (
        "differences are the second less the first; Wilcoxon's test drops data sets without a difference; Nemenyi's p is of "
        "their mean ranks and allows for all pairs; the last three are probabilities of the Bayesian signed-rank test"
    )
    return DocumentTable("Pairs over data sets", head, tuple(rows), note)


def _hierarchical(of: OverSets, rope: float) -> DocumentTable:
    """Write the Bayesian tests of every pair."""
    rows = [
        (f"{pair.first} and {pair.second}", str(pair.equal), *_shares(pair.hierarchical), *_shares(pair.posterior))
        for pair in of.pairs
    ]
    regions = ("second lower", f"within {rope:g}", "second higher")
    note = "probabilities: first three of the hierarchical test over folds and data sets, then of the signed-rank test"
    head = ("", "equal data sets", *(f"{one} (folds)" for one in regions), *(f"{one} (means)" for one in regions))
    return DocumentTable("Bayesian tests over folds and data sets", head, tuple(rows), note)


def _shares(of: Posterior | None) -> tuple[str, ...]:
    return ("–",) * 3 if of is None else tuple(f"{share:.2f}" for share in (of.below, of.within, of.above))


def _on_folds(runs: Sequence[ComparedRun], rope: float) -> Document:
    """Compare runs on the same folds, with the tables and the intervals."""
    pairs = over_folds(runs, rope)
    learners = {best.learner for run in runs for best in run.best}
    return Document(
        title=f"{plural(len(learners), 'learner')} on {runs[0].data}",
        lead=f"By {runs[0].measure}, paired on the same folds (corrected resampled t, Holm over all pairs).",
        sentences=sentences_over_folds(pairs, runs, rope), answer=answer_over_folds(pairs, runs),
        tables=(_means(runs), _fold_pairs(pairs, rope)),
        picture=_intervals(pairs, runs[0].measure), style=f"{charts.FILE}{INTERVAL}", css=INTERVAL,
    )  # fmt: skip


INTERVAL = "svg .span{stroke:var(--ink);stroke-width:2}svg .zero{stroke:var(--soft);stroke-dasharray:3 3}"


def _means(runs: Sequence[ComparedRun]) -> DocumentTable:
    """Learners best first; names as in the pairs."""
    named = name_learners(runs)
    sign = -1 if runs[0].higher_is_better else 1
    order = sorted(named, key=lambda name: sign * named[name].mean)
    rows = tuple((name, score(named[name].mean), str(named[name].tried), number(named[name].complexity)) for name in order)
    return DocumentTable(f"Mean {runs[0].measure} over folds", ("", "mean", "candidates", "complexity"), rows, "best first")


def _fold_pairs(pairs: Sequence[FoldPair], rope: float) -> DocumentTable:
    """Write the tests of every pair on the folds."""
    rows = tuple(
        (f"{p.first} and {p.second}", *(with_sign(v) for v in (p.difference, p.low, p.high)), p_value(p.p),
         p_value(p.adjusted), f"{p.posterior.within:.2f}")
        for p in pairs
    )  # fmt: skip
    return DocumentTable(
        "Pairs", ("", "difference", "low", "high", "p", "Holm", f"within {rope:g}"), rows, "the second less the first"
    )


def _intervals(pairs: Sequence[FoldPair], measure: str) -> Plot:
    """A row per pair: the difference and its interval around zero."""
    row, left, width = 26, 380, 940
    scale = Scale.of([0.0, *(end for pair in pairs for end in (pair.low, pair.high))], left, width - 20, log=False)
    bottom = 12 + row * len(pairs)
    plot = Plot(width, bottom + 40, f"differences in {measure} with their intervals")
    plot.axis_below(scale, 6, bottom, f"difference in {measure}, the second less the first", 8)
    plot.line(scale(0), 4, scale(0), bottom, "zero")
    for i, pair in enumerate(pairs):
        y = 12 + row * i + row / 2
        words = f"{pair.first} and {pair.second}"
        plot.text(left - 12, y + 4, words if len(words) <= 56 else f"{words[:55]}…", "name", "end")
        plot.line(scale(pair.low), y, scale(pair.high), y, "span")
        plot.line(scale(pair.difference), y - 6, scale(pair.difference), y + 6, "span")
    return plot
