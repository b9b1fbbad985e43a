"""Handing in an answer: checked, kept, within its asker's budget, then one look of the gate. The terms say what is shown."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.core.outcome import TestResult
from modelsel.core.system.disk import lock_file
from modelsel.core.types import Finding, Outputs, Strings
from modelsel.guard.face import (
    CLOSING,
    ExamConfig,
    Gate,
    Home,
    LookRequest,
    Note,
    OutOfFold,
    RecordedLook,
    SelectionSummary,
    Sitting,
    StandingLook,
    declared_units,
    looks,
    notes,
    wrong,
)
from modelsel.record.mlflow.own_runs import tag_open_run
from modelsel_exam.predictions import Answer, check_answer, read_answer
from modelsel_exam.store import Store
from modelsel_exam.terms import Terms

NAME = re.compile(r"\w([\w .@+-]{0,62}[\w.@+-])?")  # no space at its end: two names would look like one
CLOSED = "closed"
MOST_ROWS = 10**9  # that a forecast may come from
OVER = "the exam is closed: no further answer is taken"


@dataclass(frozen=True)
class Shown:
    """The reply that an asker is shown. `said` is a sentence; numbers are None where the terms do not show them."""

    exam: str
    asker: str
    answer: str  # digest of the predictions
    said: str
    look: int | None = None
    replay: bool = False
    score: float | None = None
    errors: int | None = None
    n: int = 0
    interval: tuple[float, float] | None = None
    level: float = 0.0
    price: float = 0.0
    spent: float = 0.0
    release: str = ""


@dataclass(frozen=True)
class HandedAnswer:
    """An answer on record: whose it is, which predictions (by their digest), the nats that it cost, when, and its look."""

    asker: str
    digest: str
    charge: float = 0.0
    at: str = ""
    look: StandingLook | None = None

    @classmethod
    def of_look(cls, look: RecordedLook) -> "HandedAnswer":
        config = ExamConfig.read(look.config)
        return cls(config.asker, config.handed, look.price)


Allow = Callable[[Sequence[HandedAnswer], float], str]  # the answers of an asker so far, and the price of one more at most


class SealedSession:
    """An exam or a gate (`modelsel_exam.proposals`) where its owner's key is: what is on record, one answer at a time."""

    def __init__(self, folder: Path, home: Home | None = None) -> None:
        self.store = Store.open(Path(folder), home)
        self.terms = self.store.terms
        self.gate = Gate(self.terms.guard_policy(self.store.ledger), Path(folder), home=self.store.home)

    @property
    def folder(self) -> Path:
        return self.store.public

    def history(self) -> list[StandingLook]:
        """All looks at the exam's rows, whoever made them."""
        return looks(self.gate.session, self.terms.testset)

    def notes(self) -> list[Note]:
        """List the notes that are on record about the exam."""
        return notes(self.gate.session, self.terms.id)

    @property
    def closed(self) -> bool:
        return is_closed(self.history(), self.terms.id)

    @property
    def noticed(self) -> tuple[Finding, ...]:
        """The findings of the last answer or proposal."""
        return tuple(self.gate.findings)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Take one answer at a time; findings begin anew."""
        with lock_file(self.store.folder / "answers.lock"):
            self.gate.findings.clear()
            yield

    def read(self, predictions: object, development: Strings) -> Answer:
        """Read predictions for all questions, and for development rows with these tokens; DataError (3) for others."""
        answer = read_answer(predictions, largest_answer(self.terms))
        return check_answer(answer, self.terms, self.store.tokens(), development)

    def look_made(self, result: TestResult) -> list[StandingLook]:
        """The looks on record with the number of a result, newest first."""
        return [look for look in reversed(self.history()) if look.facts.look == result.look]

    def tag_run(self, look: object, metric: object) -> None:
        """Tell the open run of MLflow, if there is one, that these rows were looked at."""
        about = {"testset": self.terms.testset, "look": str(look), "metric": str(metric)}
        tag_open_run({f"modelsel.{name}": value for name, value in about.items()})

    def refusal(self, reason: str, fix: str = "`modelsel exam status` says what is left") -> RefusedError:
        """Make the error that an answer is not taken."""
        return RefusedError(Problem("MSEL-930", reason, self.terms.name, fix))


class ExamSession(SealedSession):
    """An exam where its examiner's key is."""

    def handed(self) -> list[HandedAnswer]:
        """List the distinct answers in their order."""
        if self.terms.release == CLOSED:
            said = (note for note in self.notes() if note.what == "handed in")
            return [HandedAnswer(note.asker, note.handed, at=str(note.at)) for note in said]
        answers = (look for look in self.history() if is_answer(look, self.terms.id))
        return [replace(HandedAnswer.of_look(look), at=str(look.facts.at), look=look) for look in answers]

    def answer(self, predictions: object, asker: str, forecast: tuple[float, float] | None = None,
               allow: Allow | None = None) -> Shown:  # fmt: skip
        """Hand in predictions (a file, or a table in memory) under a name.

        `forecast`, an error rate and the rows that it comes from, is what an answer is priced by under release=predicted; where
        development rows are predicted, too (out of fold, if it shall be of use), it is read from these, and so is the plan of a
        bounded loss.
        `allow` may object besides the terms' own budget (the server's, for a token). Raises DataError (3) for rows that do not
        fit, RefusedError (4) where the budget is used up or the exam closed; StoreError (6), LedgerError (5) as looks do.
        """
        ConfigurationError.raise_if(answer_problems(asker, forecast))
        if self.terms.loop is not None:
            raise self.refusal("a gate shows no score before it is closed", "propose it (modelsel gate propose)")
        answer = self.read(predictions, self.store.tokens("development"))
        with self.turn():
            fresh = self.store.keep(answer.name, answer.outputs, {"asker": asker})
            try:
                if self.terms.release == CLOSED:
                    return self._handed_in(answer, asker, allow)
                return self._look(answer, asker, forecast, allow)
            except RefusedError:
                if fresh:  # nobody fills the disk with what is refused
                    self.store.forget(answer.name)
                raise

    def _look(self, answer: Answer, asker: str, forecast: tuple[float, float] | None, allow: Allow | None) -> Shown:
        """Take one look at the gate for an answer, within the budget of its asker."""

        def objection(past: Sequence[RecordedLook], worst: float) -> str:
            answers = [HandedAnswer.of_look(look) for look in past if is_answer(look, self.terms.id)]
            return next(self._objections(answers, past, asker, worst, allow), "")

        sealing = self.store.sealing(asker=asker, handed=answer.name)
        request = LookRequest(sealing, self._summarise_forecast(answer, asker, forecast), lambda _table: answer.outputs,
                              sitting=Sitting(objection, self.store.answer), seen=self._out_of_fold(answer))  # fmt: skip
        result = self.gate.look(request)
        if result.refused is not None:
            raise self.refusal(result.refused)
        return self._answer_on_record(result, answer, asker)

    def _handed_in(self, answer: Answer, asker: str, allow: Allow | None) -> Shown:
        """Record an answer whose score is computed only when the exam closes, and say so."""
        if self.closed:
            raise self.refusal(OVER, "`modelsel exam board` shows what came out")
        before = self.handed()
        place = next((number for number, one in enumerate(before, 1) if one.digest == answer.name), None)
        if place is None:
            objection = next(self._objections(before, self.history(), asker, 0.0, allow), "")
            if objection:
                raise self.refusal(objection)
            self.gate.say(Note(exam=self.terms.id, what="handed in", asker=asker, handed=answer.name))
        said = f"answer {place or len(before) + 1} is on record; nothing is shown before the exam is closed"
        return Shown(self.terms.id, asker, answer.name, said, None, place is not None, n=len(self.store.sealed), release=CLOSED)

    def _objections(
        self, answers: Sequence[HandedAnswer], past: Sequence[RecordedLook], asker: str, worst: float, allow: Allow | None
    ) -> Iterator[str]:
        """Yield reasons why this asker may not look now; decided before labels are opened."""
        if is_closed(past, self.terms.id):
            yield OVER
        own = [answer for answer in answers if answer.asker == asker]
        limits = self.terms.per_asker
        if limits.looks is not None and len(own) >= limits.looks:
            yield f"{asker} has handed in {len(own)} answers, and the terms allow {limits.looks}"
        spent = sum(answer.charge for answer in own)
        if limits.nats is not None and spent + worst > limits.nats:
            yield f"{asker} has spent {spent:.2f} nats; this may cost {worst:.2f}, and the terms allow {limits.nats:g}"
        if allow is not None and (reason := allow(own, worst)):
            yield reason

    def _summarise_forecast(self, answer: Answer, asker: str, forecast: tuple[float, float] | None) -> SelectionSummary:
        """Return the forecast of the answer: one that came with it, or its errors on the development rows."""
        thresholdout = self.terms.release == "thresholdout"
        if answer.development is not None and (thresholdout or forecast is None):
            task = self.store.development
            off = float(wrong(self.terms.make_measure(), answer.development, task.target, task.class_count).mean())
            mean = off if thresholdout else self._mean(answer.development)
            return SelectionSummary(asker, mean, len(task), off)
        return (
            SelectionSummary(asker, forecast[0], int(forecast[1]), forecast[0]) if forecast else SelectionSummary(asker, 0.5, 0)
        )

    def _mean(self, known: Outputs) -> float:
        """The exam's measure on the development rows."""
        task = self.store.development
        return float(self.terms.make_measure().score(task.target, known, task.weights, task.class_count)[0])

    def _out_of_fold(self, answer: Answer) -> OutOfFold | None:
        """What a bounded loss is planned from: predictions for development rows that came along."""
        task, known = self.store.development, answer.development
        if known is None or self.terms.release == "thresholdout":
            return None
        return OutOfFold(known, task.target, declared_units(task), task.weights)

    def _answer_on_record(self, result: TestResult, answer: Answer, asker: str) -> Shown:
        """Gather the answer of a look from the ledger, as its asker may see it. Another exam may have made it."""
        made = self.look_made(result)
        if not result.replay:
            self.tag_run(result.look, self.terms.measure["kind"])
        look = next((look for look in made if is_answer(look, self.terms.id)), made[0])
        symbol = str(look.answer.symbol)
        return Shown(
            self.terms.id, asker, answer.name, sentence(result, symbol, self.terms), result.look, result.replay, result.score,
            result.errors, result.n, result.interval, result.level, result.price, result.spent, result.release,
        )  # fmt: skip


def largest_answer(terms: Terms) -> int:
    """Largest number of rows accepted in an answer file: twice the exam's rows, and a thousand."""
    return 1000 + 2 * (terms.rows.development + terms.rows.questions)


def is_closed(looks: Sequence[RecordedLook], exam: str) -> bool:
    """Say whether the closing of this exam is among the looks."""
    return any(is_close(look, exam) for look in looks)


def is_close(look: RecordedLook, exam: str) -> bool:
    """Say whether a look is the close of this exam; another exam of the same rows has a close of its own."""
    return look.metric == CLOSING and look.spec_id == exam


def is_answer(look: RecordedLook, exam: str) -> bool:
    """Say whether a look is an answer to this exam."""
    config = ExamConfig.read(look.config)
    return config.exam == exam and config.states("asker")


def sentence(result: TestResult, symbol: str, terms: Terms) -> str:
    """Put the answer that was shown into words."""
    limits = (
        f", {100 * result.level:g} % interval [{result.interval[0]:.4f}, {result.interval[1]:.4f}]" if result.interval else ""
    )
    if symbol in ("the first", "better", "no better"):
        said = "the first answer: the best so far" if symbol == "the first" else f"{symbol} than the best so far"
    elif symbol in ("pass", "fail"):
        said = symbol
    else:
        stays = ", the board stays" if symbol.endswith("stays") else ""
        of = f": the share of rows {terms.wrong}" if terms.of_numbers else ""
        read_as = f" ({result.read_as})" if result.read_as else ""
        said = f"score {result.score:.6g}{read_as}{of}{stays}" if result.score is not None else _without_a_point(result, symbol)
    again = " (shown before, at no price)" if result.replay else ""
    return f"{said}{limits}{again}"


def _without_a_point(result: TestResult, symbol: str) -> str:
    """What was said in the place of a score."""
    if result.step is None:
        return symbol
    stays = ", the board stays" if symbol.endswith("stays") else ""
    return f"{result.read_as}, {result.step:.6g}, which its interval does not hold{stays}"


def answer_problems(asker: str, forecast: tuple[float, float] | None = None) -> Iterator[Problem]:
    """Yield a problem for a name or a forecast that is not well formed."""
    if not NAME.fullmatch(asker):
        yield Problem("MSEL-931", f"not a name: {asker[:40]!r}", "--as", "use letters, digits, and . @ + - _, up to 64")
    if forecast is not None and not (0 <= forecast[0] <= 1 and 1 <= forecast[1] <= MOST_ROWS):
        fix = f"give an error rate from 0 to 1, and from how many rows it comes, 1 to {MOST_ROWS:,}"
        yield Problem("MSEL-931", f"not a forecast: {forecast[0]!s:.20} from {forecast[1]!s:.20} rows", "--forecast", fix)
