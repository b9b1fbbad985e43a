"""`modelsel.exam` and `modelsel.create_exam`: an exam from Python, where the examiner's key is or over a server."""

from pathlib import Path
from typing import Any

from modelsel.api.exams.base import Exam
from modelsel.api.exams.local import LocalExam
from modelsel.api.exams.remote import RemoteExam


def exam(place: Any, token: str | None = None) -> "Exam":
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
    table: str | Path, folder: str | Path, target: str, *settings: str, name: str = "", release: str = "predicted",
    resolution: float | str = "count", delta: float = 0.05, target_rate: float | None = None, budget: int = 10,
    looks: int | None = 20, nats: float | None = None, class_counts: bool = False, all: bool = False, parquet: bool = False,
    accept_overlap: bool = False, ledger: str = "user",
) -> "Exam":  # fmt: skip
    """Make an exam from a table, as `modelsel exam create` does.

    Labels of the questions go to the examiner's store alone, encrypted.

    Parameters
    ----------
    table : str or Path
        A file with features and classes.
    folder : str or Path
        Where development rows, questions and terms are written.
    target : str
        The column of classes.
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
    from modelsel.cli.exams.exam import created
    from modelsel.examination.creation.wanted import Wanted

    wanted = Wanted(
        name, release, resolution, delta, target_rate, budget, looks, nats, class_counts, all, parquet, accept_overlap, ledger
    )
    created(str(table), target, Path(folder), wanted, settings)
    return LocalExam(Path(folder))
