"""The result of `modelsel.compare`: sentences, tables, a picture."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.record.folder import RunFolder
from modelsel.record.sweep import JobResult, SweepFolder, labels_of
from modelsel.reporting.charts import Document, document_text
from modelsel.reporting.picture import Picture

if TYPE_CHECKING:  # the command starts without it
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of runs: `sentences` to quote, `tables` as data frames, `picture`; `save` writes .html, .md or .svg.

    Parameters
    ----------
    document : Document
        The comparison as text and drawing.

    Examples
    --------
    >>> modelsel.compare([outcome]).picture
    <picture: differences in error with their intervals>
    """

    document: Document

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in sentences that can be quoted.

        Examples
        --------
        >>> modelsel.compare([outcome]).sentences[0][:46]
        'cart has a lower error than majority, by 0.100'
        """
        return self.document.sentences

    @property
    def tables(self) -> "dict[str, pd.DataFrame]":
        """Tables by title; cells are the texts of the page.

        Examples
        --------
        >>> list(modelsel.compare([outcome]).tables)
        ['Mean error over folds', 'Pairs']
        """
        import pandas as pd

        return {
            one.title: pd.DataFrame(list(one.rows), columns=list(one.head)).set_index(one.head[0])
            for one in self.document.tables
        }

    @property
    def picture(self) -> Picture | None:
        """The critical-difference diagram or the intervals of pairs; None where there is none.

        Examples
        --------
        >>> modelsel.compare([outcome]).picture
        <picture: differences in error with their intervals>
        """
        plot = self.document.picture
        return Picture(plot.title, plot.svg()) if plot else None

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Write the page, Markdown or the picture, by the ending.

        Parameters
        ----------
        path : str or Path
            A file that ends with .html, .md or .svg.

        Returns
        -------
        tuple of Path
            The files written.

        Examples
        --------
        >>> [path.name for path in modelsel.compare([outcome]).save("compared.md")]
        ['compared.md', 'compared.svg']
        """
        from modelsel.reporting import comparison

        return comparison.write(self.document, Path(path))

    def __str__(self) -> str:
        return document_text(self.document)

    def __repr__(self) -> str:
        return f"<Comparison: {self.document.title}>"

    def _repr_html_(self) -> str:
        """Show the sentences and the picture in a notebook."""

        from html import escape

        drawn = self.picture.svg if self.picture else ""
        return f"<pre>{escape(str(self))}</pre>{drawn}"


def compare_runs(runs: Iterable[object], rope: float) -> Comparison:
    """Compare the studies of some folders; a sweep's folder stands for its jobs."""
    from modelsel.comparison.runs import of_folder
    from modelsel.reporting import comparison

    found = [one for run in runs for one in runs_of(str(run))]
    return Comparison(comparison.of_runs([replace(of_folder(folder), label=label) for folder, label in found], rope))


def runs_of(run: str) -> Iterator[tuple[RunFolder, str]]:
    """A run, or the finished jobs of a sweep, each with what tells it from others on its rows and folds."""
    if (sweep := SweepFolder.find(run)) is None:
        yield RunFolder.open(run), ""
        return
    jobs = [(job, outcome) for job in sweep.jobs() if (outcome := job.outcome()) is not None]
    groups: dict[object, list[JobResult]] = {}
    for job, outcome in jobs:
        groups.setdefault((outcome.task.fingerprint, outcome.scheme.fingerprint), []).append(job)
    for own in groups.values():
        for job, label in zip(own, labels_of([each.overrides for each in own])):
            yield RunFolder.open(job.folder), label if len(own) > 1 else ""
