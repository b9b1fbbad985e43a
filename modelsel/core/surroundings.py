"""Protocols of the surroundings of a study: who is told of its progress, and who remembers its looks outside the ledger."""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self


class Progress(Protocol):
    """A receiver of a study's progress: the terminal, a notebook, or one that ignores it.

    It is a context: entered before the first cell, left after the last.

    Examples
    --------
    >>> from modelsel.runner.run import NullProgress
    >>> with NullProgress() as progress:
    ...     progress.start(cells=10, candidates=3)
    ...     progress.advance(best=0.25)
    """

    def start(self, cells: int, candidates: int) -> None:
        """Begin a round of cells.

        Parameters
        ----------
        cells : int
            How many there are.
        candidates : int
            How many candidates they compute.
        """
        ...

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
        """Count finished cells.

        Parameters
        ----------
        cells : int
            How many finished.
        best : float, optional
            The best score so far; without it the last one stands.
        failures : int
            How many candidates failed in them that had not failed before.
        """
        ...

    def say(self, message: str) -> None:
        """Show a line.

        Parameters
        ----------
        message : str
            The line.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class Anchor(Protocol):
    """A memory outside the ledger of how far it had got, so that a deleted or rewritten ledger is noticed.

    Facts are strings: `ledger` (its id), `testset`, `look` (how many so far), `spent` (nats), `n`, `head`
    ("replica:seq:hash"), `policy`. What was witnessed cannot be withdrawn.

    Examples
    --------
    >>> class Remembered(list):
    ...     name = "a list"
    ...     def witness(self, facts):
    ...         self.append(dict(facts))
    ...     def recall(self, testset):
    ...         return [facts for facts in self if facts["testset"] == testset]
    >>> anchor = Remembered()
    >>> anchor.witness({"testset": "t1", "look": "1"})
    >>> anchor.recall("t1")
    [{'testset': 't1', 'look': '1'}]
    """

    @property
    def name(self) -> str:
        """The name of the place: state, mlflow, lockfile, ..."""
        ...

    def witness(self, facts: Mapping[str, str]) -> None:
        """Remember the facts of a look; called after each look was committed.

        Parameters
        ----------
        facts : mapping of str to str
            The facts, as above.

        Raises
        ------
        OSError
            Where it cannot remember.
        """
        ...

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        """Return all facts ever witnessed about a test set, in no order.

        Parameters
        ----------
        testset : str
            The id of the test set.

        Returns
        -------
        iterable of mappings
            Empty when there are none.
        """
        ...
