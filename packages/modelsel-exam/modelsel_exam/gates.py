"""`modelsel.gate` and `modelsel.create_gate`: keep or discard for the proposals of a loop, one final number at its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel_exam.exams import LocalTable, make_exam

if TYPE_CHECKING:  # what a gate needs is loaded when it is opened
    from modelsel_exam.proposals import GateClose, GateProposal, GateStatus


def gate(place: str | Path) -> "LoopGate":
    """Open a gate, to read its rows and to propose.

    The owner's key is needed; others propose through the owner's server (`modelsel exam serve DIR`).

    Parameters
    ----------
    place : str or Path
        The gate's folder.

    Returns
    -------
    LoopGate
        With `development`, `questions`, `propose`, `status` and `close`.

    Raises
    ------
    ConfigurationError
        Where there is no gate, or its owner's key is elsewhere.

    Examples
    --------
    >>> made = modelsel.create_gate("play_tennis.csv", "tennis_gate", "PlayTennis")
    >>> modelsel.gate("tennis_gate").propose(["Yes"] * len(made.questions), "a first idea").verdict
    'keep'
    """
    return LoopGate(Path(place))


def create_gate(
    table: object, folder: str | Path, target: str, *settings: str, name: str = "", judged: float = 0.3, errors: float = 1.0,
    vetoes: int = 0, pinned: Sequence[str | Path] = (), delta: float = 0.05, parquet: bool = False,
    accept_overlap: bool = False, ledger: str = "user", tolerance: float | None = None,
) -> "LoopGate":  # fmt: skip
    """Make a gate from a table (a file, or a data frame), as `modelsel gate create` does.

    Rows are sealed as the split says; of the others a share judges proposals, and its labels are kept back, too.

    Parameters
    ----------
    table : str, Path or data frame
        Rows with features and classes, or numbers to be predicted.
    folder : str or Path
        Where development rows, questions and terms are written.
    target : str
        The column of classes or numbers.
    *settings : str
        Settings of split, dataset and measure, as on the command line (`"split.test=0.3"`).
    name : str
        What the gate is called; the table's name without it.
    judged : float
        The share of the development rows that judges.
    errors : float
        Standard errors by which a proposal has to be better than the best so far.
    vetoes : int
        How often sealed rows may be asked for a veto.
    pinned : sequence of str or Path
        Files of the evaluation (code, settings) that must not change.
    delta : float
        The error probability of the final interval, in (0, 1).
    parquet : bool
        Write Parquet beside CSV.
    accept_overlap : bool
        Go on where rows were tested or chosen on before.
    ledger : str
        The owner's ledger; `user` is the one of the home.
    tolerance : float, optional
        Where the target is a number: a row is off when its error exceeds it, and rows that are off are counted. Without it half
        of the median distance of the targets that are given out from their median.

    Returns
    -------
    LoopGate
        The gate, opened.

    Raises
    ------
    ConfigurationError
        Where terms do not go together, or the folder is not empty.
    RefusedError
        Where rows were tested or chosen on before, and `accept_overlap` does not say that this is known.

    Examples
    --------
    >>> made = modelsel.create_gate("play_tennis.csv", "tennis_gate", "PlayTennis")
    >>> made
    <Gate play_tennis: 7 questions, kept from 1 standard errors on>
    """
    from modelsel_exam.options import Wanted, WantedLoop

    loop = WantedLoop(judged, errors, vetoes, tuple(map(Path, pinned)))
    wanted = Wanted(
        name, "better" if vetoes else "closed", delta=delta, looks=None, parquet=parquet, accept_overlap=accept_overlap,
        ledger=ledger, loop=loop, tolerance=tolerance,
    )  # fmt: skip
    make_exam(table, target, Path(folder), wanted, settings)
    return LoopGate(Path(folder))


class LoopGate(LocalTable):
    """A gate, opened by its owner; `modelsel.gate` and `modelsel.create_gate` make one.

    Parameters
    ----------
    folder : Path
        Where it is.

    Examples
    --------
    >>> modelsel.gate("gate")
    <Gate play_tennis: 7 questions, kept from 1 standard errors on>
    """

    def __init__(self, folder: Path) -> None:
        """Open the gate of a folder."""
        from modelsel_exam.proposals import LoopSession

        super().__init__(folder)
        self._session = LoopSession(folder)

    def propose(
        self, predictions: object, name: str = "loop", inputs: Sequence[str | Path] = (), veto: bool = False
    ) -> "GateProposal":
        """Propose a model by its predictions: keep or discard.

        Parameters
        ----------
        predictions : table, array, str or Path
            A table or file with the token column, or one class per question in their order, or class scores.
        name : str
            Who, or which idea.
        inputs : sequence of str or Path
            Files that it was fitted on: sealed rows among them are a finding.
        veto : bool
            Ask the sealed rows, where it would be kept, whether it is clearly worse there. A gate allows few of these.

        Returns
        -------
        GateProposal
            `verdict` is `keep`, `discard` or `veto`.

        Raises
        ------
        DataError
            Rows or cells that do not fit.
        RefusedError
            The gate is closed, no veto is left, or the evaluation was changed.

        Examples
        --------
        >>> made = modelsel.gate("gate")
        >>> made.propose(["No"] * len(made.questions), "always no").verdict
        'keep'
        """
        return self._session.propose(self._table(predictions), name, inputs, veto)

    def status(self) -> "GateStatus":
        """Return how many proposals there were, which is the best, and what was found.

        Returns
        -------
        GateStatus
            Nothing of it depends on sealed rows, but vetoes.

        Examples
        --------
        >>> modelsel.gate("gate").status().state
        'open'
        """
        return self._session.status()

    def close(self) -> "GateClose":
        """End the loop: the score of the best proposal on the sealed rows, once, with its interval.

        Returns
        -------
        GateClose
            The final number.

        Raises
        ------
        ConfigurationError
            Where nothing was proposed.

        Examples
        --------
        >>> made = modelsel.gate("gate")
        >>> made.propose(["Yes"] * len(made.questions)).number, made.close().n
        (1, 4)
        """
        return self._session.close()

    def __repr__(self) -> str:
        asked = self.terms["rows"]["questions"] + self.terms["rows"]["judged"]
        return f"<Gate {self.terms['name']}: {asked} questions, kept from {self.terms['loop']['errors']:g} standard errors on>"
