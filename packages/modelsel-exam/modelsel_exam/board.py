"""Status, board, close and audit of an exam.

While an exam is open its board is made of what was released, and of nothing else: a paired comparison of two answers would be a
bit that one row can decide. At the close each answer is shown at its own index, with verdicts of pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import log
from typing import Any, Literal

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.stored import is_given
from modelsel.guard.face import NO_ANSWER, Handed, Look, Reveal, StandingLook
from modelsel.guard.face import audit as guard_audit
from modelsel.statistics.certificate import SpendingState, hoeffding, index_weight
from modelsel_exam.sit import ExamSession, HandedAnswer, is_answer, is_close, is_closed
from modelsel_exam.terms import AskerLimits

APART, TOGETHER = "fewer errors", "cannot be told apart"
Interval = tuple[float, float]


@dataclass(frozen=True)
class AskerUse:
    """The budget of one asker, used and left."""

    answers: int
    nats: float
    looks_left: int | None
    nats_left: float | None


@dataclass(frozen=True)
class NextInterval:
    """The largest half width that the interval of one more answer would have, at so many nats a side."""

    nats: float
    half: float


@dataclass(frozen=True)
class PublicState:
    """The state of an exam as everybody may know it."""

    exam: str
    name: str
    state: Literal["open", "closed"]
    release: str
    measure: str
    rows: Mapping[str, int]
    answers: int
    looks: int
    spent: float
    next: NextInterval | None
    per_asker: Mapping[str, float | None]


@dataclass(frozen=True)
class ExamStatus(PublicState):
    """The output of `modelsel exam status --json`: the state, and what each asker has used."""

    askers: Mapping[str, AskerUse]


@dataclass(frozen=True)
class AuditedExam(ExamStatus):
    """The status of an audited exam, what is wrong with its files and answers, and the looks that were no answers to it."""

    whole: bool
    faults: Sequence[str]
    others: int


@dataclass(frozen=True, kw_only=True)
class PublicLine:
    """An answer as everybody may know it: without its digest, by which who has a guess of the predictions could check it."""

    number: int
    asker: str
    at: str
    score: float | None
    interval: Interval | None
    said: str
    look: int | None
    beside: str | None = None
    errors: int | None = None


@dataclass(frozen=True, kw_only=True)
class BoardLine(PublicLine):
    """A line of `modelsel exam board --json`: an answer, named by the digest of its predictions."""

    answer: str


@dataclass(frozen=True)
class ClosedAnswer:
    """An answer of an exam at its close."""

    name: str
    score: float | None
    errors: int | None
    interval: Interval | None


@dataclass(frozen=True)
class PairedVerdict:
    """Two answers of an exam compared: `answer` against `beside`."""

    answer: str
    beside: str
    says: Literal["cannot be told apart", "fewer errors", "more errors"]


@dataclass(frozen=True)
class ExamClose:
    """The output of `modelsel exam close --json`."""

    answers: Sequence[ClosedAnswer]
    verdicts: Sequence[PairedVerdict]
    price: float
    board: Sequence[BoardLine]


def status(exam: ExamSession) -> ExamStatus:
    """The state of an exam: terms, answers and nats by asker, what all of them have spent, how wide a next interval is."""
    looks, handed, terms = exam.history(), exam.handed(), exam.terms
    closed = is_closed(looks, terms.id)
    spent = sum(look.price for look in looks)
    adaptive = sum(not look.facts.commit for look in looks)
    nats = SpendingState(1 + adaptive, spent).nats(terms.policy.intervals)
    return ExamStatus(
        exam=terms.id, name=terms.name, state="closed" if closed else "open", release=terms.release,
        measure=terms.measure["kind"], rows=terms.rows.written(), answers=len(handed), looks=len(looks), spent=spent,
        next=None if closed else NextInterval(nats, min(0.5, hoeffding(nats, len(exam.store.sealed)))),
        per_asker=terms.per_asker.written(), askers=_askers(handed, terms.per_asker),
    )  # fmt: skip


def _askers(handed: Sequence[HandedAnswer], limits: AskerLimits) -> dict[str, AskerUse]:
    """Answers and nats by asker, and what is left of their budget."""
    found = {}
    for asker in dict.fromkeys(answer.asker for answer in handed):
        charges = [answer.charge for answer in handed if answer.asker == asker]
        count, nats = len(charges), sum(charges, 0.0)
        found[asker] = AskerUse(
            count, nats, None if limits.looks is None else limits.looks - count,
            None if limits.nats is None else limits.nats - nats,
        )  # fmt: skip
    return found


def board(exam: ExamSession) -> list[BoardLine]:
    """A line per answer, best first: place, asker, score, interval, look; `beside` says how it stands to the line above.

    While the exam is open lines whose released intervals meet `cannot be told apart`. Under `better` and `closed` there is
    nothing to compare before the close.
    """
    final = next((look.answer for look in exam.history() if is_close(look, exam.terms.id) and look.end), None)
    lines = [*_released_answers(exam)] if final is None else _final(exam, final)
    better = -1.0 if exam.terms.make_measure().higher_is_better else 1.0
    lines.sort(key=lambda line: (line.score is None, better * (line.score or 0.0), line.number))
    verdicts = {} if final is None else {frozenset((one.answer, one.beside)): one.says for one in final.verdicts}
    return [*lines[:1], *(replace(line, beside=_stands_to(above, line, None if final is None else verdicts))
                          for above, line in pairwise(lines))]  # fmt: skip


def _released_answers(exam: ExamSession) -> Iterator[BoardLine]:
    """Yield a line for each handed-in answer that was released."""
    for number, handed in enumerate(exam.handed(), 1):
        look = handed.look
        answer = NO_ANSWER if look is None else look.answer
        stays = str(answer.symbol or "").endswith("stays")
        yield BoardLine(
            number=number, asker=handed.asker, at=handed.at, answer=handed.digest, score=None if stays else answer.score,
            interval=None if stays else limits(answer.interval), look=None if look is None else look.facts.look,
            said=str(answer.symbol) if answer.states("symbol") else "on record",
        )  # fmt: skip


def _final(exam: ExamSession, answer: Reveal) -> list[BoardLine]:
    """Fill the board's lines with the scores of the closing look."""
    shown = {one.name: one for one in answer.answers}
    return [
        replace(line, score=shown[line.answer].score, interval=limits(shown[line.answer].interval),
                errors=shown[line.answer].errors, said="closed")
        for line in _released_answers(exam) if line.answer in shown
    ]  # fmt: skip


def limits(interval: Sequence[float] | None) -> Interval | None:
    """The ends of an interval as two numbers."""
    return (interval[0], interval[1]) if interval else None


def _stands_to(above: BoardLine, line: BoardLine, verdicts: Mapping[frozenset[str], str] | None) -> str | None:
    """Say how a line stands to the one above: by the verdict of the close, before it by whether the intervals overlap."""
    if verdicts is not None:
        says = verdicts.get(frozenset((above.answer, line.answer)))
        return says and (TOGETHER if says == TOGETHER else APART)
    if not above.interval or not line.interval:
        return None
    (low, high), (first, last) = above.interval, line.interval
    return TOGETHER if first <= high and low <= last else APART


def close(exam: ExamSession) -> ExamClose:
    """End an exam: every answer's score at its own index, verdicts of pairs on their own share of δ; no answer is taken after.

    Closing again shows what was shown.
    """
    if exam.terms.loop is not None:
        fix = "close it as such (modelsel gate close)"
        raise ConfigurationError(Problem("MSEL-932", "this is a gate, and no exam", exam.terms.name, fix))
    handed = exam.handed()
    if not handed:
        fix = "leave it open, or remove its folder"
        raise ConfigurationError(Problem("MSEL-940", "no answer has been handed in", exam.terms.name, fix))
    answers = {answer.digest: _to_close(exam, answer) for answer in reversed(handed)}
    shown = exam.gate.close(exam.store.sealing(), [*reversed(answers.values())], exam.terms.policy.verdicts)
    return ExamClose(
        [ClosedAnswer(one.name, one.score, one.errors, limits(one.interval)) for one in shown.answers],
        [PairedVerdict(**one.written()) for one in shown.verdicts], shown.price, board(exam),
    )  # fmt: skip


def _to_close(exam: ExamSession, answer: HandedAnswer) -> Handed:
    """An answer as the gate closes it: its predictions, and where it was shown before, what was spent by then."""
    outputs = exam.store.answer(answer.digest)
    if answer.look is None:  # nothing was shown of it
        return Handed(answer.digest, outputs)
    facts = answer.look.facts
    return Handed(answer.digest, outputs, _base(facts), facts.certified and facts.n == len(exam.store.sealed))


def _base(look: Look) -> float:
    """−ln w_t + spent, as the look that was made says."""
    return -log(index_weight(look.look)) + float(look.spent)


def audit(exam: ExamSession) -> dict[str, Any]:
    """The guard's audit of the exam's rows, and whether files and answers are those that were put on record."""
    report = guard_audit(exam.gate, study=exam.terms.id)
    found, others = list(_faults(exam)), len(_other_looks(exam))
    whole = report.ledger.intact is not False and not found
    return {**report.written(), "exam": asdict(AuditedExam(**vars(status(exam)), whole=whole, faults=found, others=others))}


def _other_looks(exam: ExamSession) -> list[StandingLook]:
    """Looks at the exam's rows that were no answers to it: of runs, of other exams. They are charged, and no fault."""
    own = (look for look in exam.history() if look.metric != "class_counts")
    return [look for look in own if not is_answer(look, exam.terms.id) and not is_close(look, exam.terms.id)]


def _faults(exam: ExamSession) -> Iterator[str]:
    """Yield whatever is changed or missing among the exam's files, terms, answers and looks."""
    for side, file in exam.terms.files.items():
        if not is_given(exam.folder / file.name, file.sha256):
            yield f"{file.name} ({side}) is not the file that was given out"
    if [note.terms for note in exam.notes() if note.what == "created"] != [exam.terms.digest]:
        yield "the terms are not those that the ledger has"
    for answer in exam.handed():
        if not (exam.store.folder / "answers" / f"{answer.digest}.npz").is_file():
            yield f"the predictions of {answer.digest[:12]} are gone"
