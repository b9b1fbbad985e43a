"""`modelsel.open_sweep`: a finished sweep in Python, its table, its best job, its outcomes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.api.outcome import Outcome
from modelsel.api.run import open_run
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.sweep import SweepFolder
from modelsel.reporting.picture import Picture
from modelsel.reporting.sweep import best_job, draw_intervals, read_jobs, table_rows, text_table, write_sweep

if TYPE_CHECKING:  # the command starts without it
    import pandas as pd


class SweepPlots:
    """Pictures of a sweep, which a notebook shows and which `save` as SVG or PNG.

    Parameters
    ----------
    folder : SweepFolder
        The sweep's folder.

    Examples
    --------
    >>> sweep.plot.intervals()
    <picture: scores of the jobs with their intervals>
    """

    def __init__(self, folder: SweepFolder) -> None:
        self._folder = folder

    def intervals(self) -> Picture:
        """Draw each job's score with its interval, on one axis.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where no job has finished.

        Examples
        --------
        >>> sweep.plot.intervals().title
        'scores of the jobs with their intervals'
        """
        drawn = draw_intervals(read_jobs(self._folder))
        if drawn is None:
            raise ConfigurationError(Problem("MSEL-262", "no job has finished", str(self._folder.path), "run the sweep again"))
        return Picture(drawn.title, drawn.svg())


class Sweep:
    """A sweep on record: a sequence of the outcomes of its finished jobs, in the order of their numbers.

    Parameters
    ----------
    folder : SweepFolder
        The sweep's folder.

    Examples
    --------
    >>> len(sweep), sweep[0].study
    (2, 'play_tennis-majority')
    """

    def __init__(self, folder: SweepFolder) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder of the sweep.

        Examples
        --------
        >>> sweep.folder.parent.name
        'sweeps'
        """
        return self._folder.path

    @property
    def table(self) -> "pd.DataFrame":
        """A row per job: what was swept, scores and their intervals, the test where it was opened, seconds, run.

        Examples
        --------
        >>> list(sweep.table["label"])
        ['learner=majority', 'learner=naive_bayes']
        """
        import pandas as pd

        return pd.DataFrame(table_rows(read_jobs(self._folder)))

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of the finished jobs.

        Examples
        --------
        >>> [outcome.measure for outcome in sweep.outcomes]
        ['error', 'error']
        """
        return [open_run(job.result.folder) for job in read_jobs(self._folder) if job.outcome is not None]

    @property
    def best(self) -> Outcome:
        """The outcome of best cross-validated score; to choose it is a choice, which `report.html` corrects for.

        Raises
        ------
        ConfigurationError
            Where no job has finished.

        Examples
        --------
        >>> sweep.best.measure
        'error'
        """
        jobs = [job for job in read_jobs(self._folder) if job.outcome is not None]
        if not jobs:
            raise ConfigurationError(Problem("MSEL-262", "no job has finished", str(self.folder), "run the sweep again"))
        return open_run(best_job(jobs).result.folder)

    @property
    def plot(self) -> SweepPlots:
        """Pictures of the sweep.

        Examples
        --------
        >>> sweep.plot.intervals()
        <picture: scores of the jobs with their intervals>
        """
        return SweepPlots(self._folder)

    def report(self) -> Path:
        """Write table and page again from what the jobs wrote.

        Returns
        -------
        Path
            The page.

        Examples
        --------
        >>> sweep.report().name
        'report.html'
        """
        write_sweep(self._folder)
        return self._folder.report

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, index: int) -> Outcome:
        return self.outcomes[index]

    def __str__(self) -> str:
        return text_table(read_jobs(self._folder))

    def __repr__(self) -> str:
        return f"<Sweep: {len(self._folder.jobs())} jobs, {self.folder}>"


def open_sweep(sweep: str | Path = "latest") -> Sweep:
    """Open a sweep on disk.

    Parameters
    ----------
    sweep : str or Path
        Its folder, its name below `runs/sweeps`, or `latest`, the newest.

    Returns
    -------
    Sweep
        Its table, its best job, its outcomes.

    Raises
    ------
    ConfigurationError
        Where there is no such sweep.

    Examples
    --------
    After `modelsel run -m dataset=play_tennis learner=majority,naive_bayes`:

    >>> modelsel.open_sweep("latest").best.measure
    'error'
    """
    return Sweep(SweepFolder.open(sweep))
