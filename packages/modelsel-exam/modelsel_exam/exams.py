"""`modelsel.exam` and `modelsel.create_exam`: an exam from Python, where the examiner's key is or over a server."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd

from modelsel.core.column_kind.base import kind_named
from modelsel.core.errors import BAD_DATA, REFUSED, ConfigurationError, DataError, ModelselError, Problem, RefusedError
from modelsel.dataset.in_memory import is_frame

if TYPE_CHECKING:  # asking over a server needs none of them
    from modelsel.core.types import Finding
    from modelsel_exam.options import Wanted
    from modelsel_exam.sit import ExamSession
    from modelsel_exam.store import Store


def exam(place: object, token: str | None = None) -> "Exam":
    """Open an exam, to read its rows and hand in answers.

    A folder needs the examiner's key; over a server a token does.

    Parameters
    ----------
    place : str or Path
        An exam's folder, or the address of its server.
    token : str, optional
        The asker's token, for a server.

    Returns
    -------
    Exam
        With `terms`, `development`, `questions`, `answer`, `board` and `status`.

    Examples
    --------
    >>> import modelsel
    >>> modelsel.exam("https://exams.example.org/loans", token="...").address
    'https://exams.example.org/loans'
    """
    text = str(place)
    return RemoteExam(text.rstrip("/"), token) if text.startswith(("http://", "https://")) else LocalExam(Path(text))


def create_exam(
    table: object, folder: str | Path, target: str, *settings: str, name: str = "", release: str = "predicted",
    resolution: float | str = "count", delta: float = 0.05, target_rate: float | None = None, budget: int = 10,
    looks: int | None = 20, nats: float | None = None, class_counts: bool = False, all: bool = False, parquet: bool = False,
    accept_overlap: bool = False, ledger: str = "user", tolerance: float | None = None,
) -> "Exam":  # fmt: skip
    """Make an exam from a table (a file, or a data frame), as `modelsel exam create` does.

    Labels of the questions go to the examiner's store alone, encrypted.

    Parameters
    ----------
    table : str or Path
        A file with features and classes, or numbers to be predicted.
    folder : str or Path
        Where development rows, questions and terms are written.
    target : str
        The column of classes or numbers.
    *settings : str
        Settings of split, dataset and measure, as on the command line (`"split.test=0.3"`).
    name : str
        What the exam is called; the table's name without it.
    release : str
        What an answer shows: `full`, `grid`, `predicted`, `ladder`, `better`, `passfail`, `closed` or `thresholdout`.
    resolution : float or str
        The step of scores that `grid`, `ladder` and `better` show; `count` is one row.
    delta : float
        The error probability of the certified intervals, in (0, 1).
    target_rate : float, optional
        The error rate that `passfail` asks for, in [0, 1].
    budget : int
        Wrong forecasts that `thresholdout` and `predicted` allow.
    looks : int, optional
        Answers in all.
    nats : float, optional
        What all answers may cost together, in nats.
    class_counts : bool
        Show how many questions each class has; that has a price.
    all : bool
        Make the whole table the exam, without development rows.
    parquet : bool
        Write Parquet beside CSV.
    accept_overlap : bool
        Go on where rows were tested or chosen on before.
    ledger : str
        The examiner's ledger; `user` is the one of the home.
    tolerance : float, optional
        Where the target is a number: a row is off when its error exceeds it, and rows that are off are counted. Without it half
        of the median distance of the development targets from their median.

    Returns
    -------
    Exam
        The exam, opened.

    Raises
    ------
    RefusedError
        Where rows were tested or chosen on before, and `accept_overlap` does not say that this is known.

    Examples
    --------
    >>> from modelsel import create_exam
    >>> made = create_exam("play_tennis.csv", "tennis_exam", "PlayTennis")
    >>> made.questions.columns.tolist()[1:]
    ['Outlook', 'Temperature', 'Humidity', 'Wind']
    """
    from modelsel_exam.options import Wanted

    wanted = Wanted(
        name, release, resolution, delta, target_rate, budget, looks, nats, class_counts, all, parquet, accept_overlap, ledger,
        tolerance,
    )  # fmt: skip
    make_exam(table, target, Path(folder), wanted, settings)
    return LocalExam(Path(folder))


def make_exam(
    table: object, target: str, folder: Path, wanted: "Wanted", settings: Sequence[str] = ()
) -> "tuple[Store, tuple[Finding, ...]]":
    """Make an exam from a table; return its store, and what is known of its rows."""
    from modelsel.api.commands.table_words import as_overrides
    from modelsel.config.compose import compose
    from modelsel.dataset.in_memory import take_table
    from modelsel.dataset.memory import NAME
    from modelsel.dataset.untyped import hold
    from modelsel_exam.create import create

    if isinstance(table, str | Path):
        return create(compose(as_overrides([str(table), target, *settings])), folder, wanted)
    taken = take_table(table, target=target)
    held = hold(taken.table)  # as long as the exam is being made
    dataset = {"kind": NAME, "content": held.content, **taken.roles}
    return create(compose(list(settings), None, {"dataset": dataset}), folder, wanted)


# Exams as an asker has them: the rows as data frames, an answer in one call.


class SealedTable:
    """The table that the owner of an exam or a gate has given out: its terms, rows to learn from, and questions.

    Examples
    --------
    >>> modelsel.exam("tennis").questions.columns.tolist()[1:]
    ['Outlook', 'Temperature', 'Humidity', 'Wind']
    """

    @property
    def terms(self) -> Mapping[str, Any]:
        """The terms of the exam: columns, classes, measure, how answers are shown, budgets (exam.json).

        Examples
        --------
        >>> modelsel.exam("tennis").terms["classes"]
        ['No', 'Yes']
        """
        raise NotImplementedError

    @property
    def development(self) -> pd.DataFrame:
        """The rows with their classes, to fit on.

        Examples
        --------
        >>> len(modelsel.exam("tennis").development)
        10
        """
        return self._side("development")

    @property
    def questions(self) -> pd.DataFrame:
        """The rows without classes, each with its token.

        Examples
        --------
        >>> len(modelsel.exam("tennis").questions)
        4
        """
        return self._side("questions")

    def _side(self, side: str) -> pd.DataFrame:
        raise NotImplementedError

    def _table(self, predictions: object) -> Any:
        """Predictions with the tokens of their rows."""
        token = self.terms["columns"]["token"]
        if isinstance(predictions, str | Path) or is_frame(predictions):
            return predictions
        values = np.asarray(predictions)
        asked = self.questions[token]
        if values.ndim == 0 or len(values) != len(asked):
            what = f"{values.size:,} predictions for {len(asked):,} questions"
            raise DataError(Problem("MSEL-820", what, "predictions", "predict every row of `questions`, in their order"))
        columns = {"prediction": values} if values.ndim == 1 else dict(zip(self.terms["classes"], values.T))
        return pd.DataFrame({token: asked, **columns})


class Exam(SealedTable):
    """An exam, opened to read its rows and to hand in answers; `modelsel.exam` and `modelsel.create_exam` make one.

    A score is shown as the terms say, and each answer has a price: docs/guard/exam.md.

    Examples
    --------
    >>> modelsel.exam("tennis")
    <Exam play_tennis: 4 questions, shown as predicted>
    """

    def answer(self, predictions: object, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        """Hand in predictions under a name, and return what is shown.

        Parameters
        ----------
        predictions : table, array, str or Path
            A table or file with the token column, or one class (or number) per question in their order, or class scores,
            questions × classes in the order of `terms["classes"]`.
        name : str
            The asker's name.
        forecast : tuple of float and int, optional
            The error rate that is foreseen, in [0, 1], and the number of rows that it comes from.

        Returns
        -------
        dict
            The look's number, and the score with its interval as far as the terms show them.

        Raises
        ------
        DataError
            Rows or cells that do not fit.
        RefusedError
            The budget is used up, or the exam is closed.

        Examples
        --------
        >>> made = modelsel.exam("tennis")
        >>> made.answer(["Yes"] * 4, "always yes")["look"]
        1
        """
        raise NotImplementedError

    def board(self) -> pd.DataFrame:
        """List the answers as they were shown; after the close with verdicts of pairs.

        Returns
        -------
        DataFrame
            A row per answer.

        Examples
        --------
        >>> len(modelsel.exam("tennis").board())
        0
        """
        raise NotImplementedError

    def status(self) -> dict[str, Any]:
        """Return how much each asker has handed in, and what is left.

        Returns
        -------
        dict
            The exam's state and budgets, and what each asker has used.

        Examples
        --------
        >>> modelsel.exam("tennis").status()["answers"]
        0
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        terms = self.terms
        return f"<Exam {terms['name']}: {terms['rows']['questions']} questions, shown as {terms['policy']['release']}>"


def frame_of(data: bytes, terms: Mapping[str, Any]) -> pd.DataFrame:
    """A file's rows; tokens and levels are texts, and nothing but an empty cell is missing."""
    if data.startswith(b"PAR1"):
        return pd.read_parquet(io.BytesIO(data))
    columns: Sequence[str] = [one["name"] for one in terms["features"] if kind_named(one["kind"]).has_levels]
    target = [terms["columns"]["target"]] if terms["classes"] else []  # else it is a number
    names = dict.fromkeys((*columns, terms["columns"]["token"], *target), str)
    return pd.read_csv(io.BytesIO(data), dtype=names, keep_default_na=False, na_values=[""])


# An exam where the examiner's key is.


class LocalTable(SealedTable):
    """A table that was given out, read from its folder."""

    def __init__(self, folder: Path) -> None:
        """Read the terms in the folder."""
        from modelsel_exam.terms import read_terms

        self.folder = folder
        self._terms = read_terms(folder)

    @property
    def terms(self) -> Mapping[str, Any]:
        return self._terms.written()

    def _side(self, side: str) -> pd.DataFrame:
        return frame_of((self.folder / self.terms["files"][side]["name"]).read_bytes(), self.terms)


class LocalExam(LocalTable, Exam):
    """An exam opened by its examiner, from the folder with the key."""

    def answer(self, predictions: object, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        return asdict(self._session().answer(self._table(predictions), name, forecast))

    def board(self) -> pd.DataFrame:
        from modelsel_exam.board import board

        return pd.DataFrame([asdict(line) for line in board(self._session())])

    def status(self) -> dict[str, Any]:
        from modelsel_exam.board import status

        return asdict(status(self._session()))

    def close(self) -> dict[str, Any]:
        """End the exam: every score at its own index, and verdicts of pairs."""
        from modelsel_exam.board import close

        return asdict(close(self._session()))

    def audit(self) -> dict[str, Any]:
        """Report what touched the rows, what it cost, and whether all is as it was put on record."""
        from modelsel_exam.board import audit

        return audit(self._session())

    def _session(self) -> "ExamSession":
        from modelsel_exam.sit import ExamSession

        return ExamSession(self.folder)


# An exam on a server.

SECONDS = 60.0


class RemoteExam(Exam):
    """An exam opened over HTTP, with the token that its examiner gave out."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address
        self._token = token
        self._terms: Mapping[str, object] | None = None

    @property
    def terms(self) -> Mapping[str, Any]:
        if self._terms is None:
            self._terms = dict(json.loads(self._request("/terms")))
        return self._terms

    def answer(self, predictions: object, name: str, forecast: tuple[float, int] | None = None) -> dict[str, Any]:
        table = self._table(predictions)
        body = Path(table).read_bytes() if isinstance(table, str | Path) else _csv(table)
        from modelsel_exam.options import parts_of

        query = {"name": name, **dict(zip(parts_of("forecast"), forecast or (), strict=False))}
        return dict(json.loads(self._request(f"/answers?{urlencode(query)}", body)))

    def board(self) -> pd.DataFrame:
        return pd.DataFrame(json.loads(self._request("/board")))

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self._request("/budget")))

    def _side(self, side: str) -> pd.DataFrame:
        return frame_of(self._request(f"/{side}"), self.terms)

    def _request(self, path: str, body: bytes | None = None) -> bytes:
        """Send a request to the server and return the body of its reply; a body is posted as Parquet or CSV."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        kind = "application/vnd.apache.parquet" if body and body.startswith(b"PAR1") else "text/csv"
        request = Request(self.address + path, body, {**headers, **({"Content-Type": kind} if body else {})})  # noqa: S310  http alone
        try:
            with urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
                return bytes(reply.read())
        except HTTPError as error:
            raise _local_error(error, urlsplit(self.address).netloc) from error
        except (OSError, HTTPException) as error:
            fix = "check the address, and that `modelsel exam serve` runs there; asking again costs nothing twice"
            why = getattr(error, "reason", None) or error or type(error).__name__
            raise ConfigurationError(Problem("MSEL-821", f"no answer ({why})", self.address, fix)) from error


def _local_error(error: HTTPError, where: str) -> ModelselError:
    """Turn the server's error message into the error that it would be here."""
    try:
        said = json.loads(error.read())
        kinds = {BAD_DATA: DataError, REFUSED: RefusedError}
        kind = kinds.get(int(said["exit_code"]), ConfigurationError)
        return kind(Problem("MSEL-822", str(said["error"]), where, "the terms say what is allowed"))
    except (ValueError, KeyError, TypeError):
        return ConfigurationError(
            Problem("MSEL-821", f"the server says {error.code}", where, "check the address and the token")
        )


def _csv(table: Any) -> bytes:
    """Write a data frame of any library as CSV."""

    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    written: str = frame.write_csv()
    return written.encode()
