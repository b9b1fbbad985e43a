"""A gate for loops: keep or discard for each proposal, judged on development rows; of sealed rows one final number.

A gate is an exam whose questions are of two sorts that nobody can tell apart: sealed rows, and development rows whose labels
the gate keeps. A proposal predicts all of them. On those that judge it is compared with the best so far, row by row
(`statistics.paired`); it becomes the best where it is better by more than so many standard errors. What the sealed rows
say of it stays unknown, but for a veto (one bit each, a few at most), until the gate is closed: then the best has one look.

Every proposal and verdict is a note in the ledger, and the best so far is what these notes say, so that a file that is put
back changes nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb, sqrt
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.stats import fisher_exact

from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.core.types import Finding, Floats, Outputs
from modelsel.guard.face import (
    WORSE,
    Handed,
    Home,
    LookRequest,
    Note,
    Recogniser,
    SelectionSummary,
    Sitting,
    declared_units,
    look_findings,
    recogniser,
    row_findings,
    wrong,
)
from modelsel.statistics.paired import improvement, kept_by_luck
from modelsel_exam.board import limits
from modelsel_exam.create import scorer_digest
from modelsel_exam.predictions import Answer
from modelsel_exam.sit import OVER, SealedSession, answer_problems
from modelsel_exam.terms import FILE, LoopTerms

PROPOSED = "proposed"
SURE = 0.001  # chance below which the rows that judged are said to say more than verdicts can have taught a loop
MARGIN = 1.0  # standard errors, at most, by which a proposal may be worse on sealed rows before it is vetoed
Judged = Literal["keep", "discard", "veto"]


@dataclass(frozen=True)
class GateProposal:
    """The reply to a proposal."""

    gate: str
    by: str
    proposal: str  # digest of the predictions
    number: int
    verdict: Judged
    said: str
    replay: bool
    vetoes_left: int


@dataclass(frozen=True)
class GateStatus:
    """The output of `modelsel gate status --json`.

    `by_luck`: how many of the proposals so far the rule would keep, on average, if none were any better.
    """

    gate: str
    name: str
    state: Literal["open", "closed"]
    rows: Mapping[str, int]
    measure: str
    errors: float
    proposals: int
    kept: int
    best: int | None
    by_luck: float
    vetoes_left: int
    findings: Sequence[Finding]


@dataclass(frozen=True)
class GateClose:
    """The output of `modelsel gate close --json`: the score of the best proposal on the sealed rows, once.

    `judged` is its score on the rows that judged, which is better than the truth where a loop has tried much.
    """

    gate: str
    name: str
    best: str
    number: int
    score: float | None
    errors: int | None
    n: int
    interval: tuple[float, float] | None
    level: float
    judged: float
    proposals: int
    kept: int
    price: float
    findings: Sequence[Finding]


class LoopSession(SealedSession):
    """A gate where its owner's key is."""

    def __init__(self, folder: Path, home: Home | None = None) -> None:
        """Open the gate of a folder; ConfigurationError where it is an exam."""
        super().__init__(folder, home)
        if self.terms.loop is None:
            fix = "hand in answers (modelsel exam answer), or make a gate (modelsel gate create)"
            raise ConfigurationError(Problem("MSEL-932", "this is an exam", str(Path(folder) / FILE), fix))
        self.loop: LoopTerms = self.terms.loop

    def proposals(self) -> list[Note]:
        """The proposals on record, in their order."""
        return [note for note in self.notes() if note.what == PROPOSED]

    def propose(self, predictions: object, by: str, inputs: Sequence[str | Path] = (), veto: bool = False) -> GateProposal:
        """Judge predictions for all questions.

        `inputs` are files that the proposal was fitted on: sealed rows among them are a finding. With `veto` the sealed rows
        are asked, where the proposal would be kept, whether it is clearly worse there; that uses one of the vetoes up.
        Raises DataError (3) for rows that do not fit, RefusedError (4) where the gate is closed, no veto is left or files of
        the evaluation were changed; StoreError (6), LedgerError (5) as looks do.
        """
        ConfigurationError.raise_if(answer_problems(by))
        answer = self.read(predictions, self.store.tokens("development")[self.store.judges])
        with self.turn():
            self._check_evaluation(inputs)
            before = self.proposals()
            if self.closed:
                raise self.refusal(OVER, "`modelsel gate status` shows how it ended")
            known = next(((number, one) for number, one in enumerate(before, 1) if one.handed == answer.name), None)
            if known is not None and not (veto and known[1].verdict == "keep"):
                return self._reply(known[1], known[0], before, replay=True)
            if known is not None:
                raise self.refusal("this proposal was judged without a veto", "ask for the veto when you propose it")
            return self._judge(answer, by, before, veto)

    def _judge(self, answer: Answer, by: str, before: Sequence[Note], veto: bool) -> GateProposal:
        """Compare a new proposal with the best so far, and put the verdict on record before it is told."""
        assert answer.development is not None
        store, best = self.store, best_of(before)
        if veto and self._vetoes(before) <= 0:
            what = f"the terms allow {self.loop.vetoes} vetoes, and they are used up"
            raise self.refusal(what, "propose without --veto")
        store.keep(answer.name, answer.outputs, {"asker": by})
        store.keep(_judging(answer.name), answer.development, {"asker": by})
        verdict: Judged = "keep"
        found = beside = None
        if best is not None:
            found = improvement(
                self._losses(store.answer(_judging(best.handed))), self._losses(answer.development),
                declared_units(store.judged), store.judged.weights,
            )  # fmt: skip
            verdict = "keep" if found.exceeds(self.loop.errors) else "discard"
            if verdict == "keep" and veto and self._worse(answer, by, best):
                verdict = "veto"
            beside = best.handed
        note = Note(
            exam=self.terms.id, what=PROPOSED, asker=by, handed=answer.name, verdict=verdict, beside=beside,
            asked=veto and best is not None and verdict != "discard",
            gain=None if found is None else found.gain, se=None if found is None else found.se,
        )  # fmt: skip
        self.gate.say(note)
        after = self.proposals()
        return self._reply(after[-1], len(after), after, replay=False)

    def _losses(self, outputs: Outputs) -> Floats:
        """The loss of each row that judges."""
        task = self.store.judged
        return np.asarray(self.terms.make_measure().losses(task.target, outputs, task.class_count)[0])

    def _worse(self, answer: Answer, by: str, best: Note) -> bool:
        """Ask the sealed rows for one bit: more errors than the best by more than chance gives equals.

        Of D rows on which the two differ, equals differ in errors by √D at one standard error.
        """
        store = self.store
        apart = int((store.answer(best.handed).predicted[0] != answer.outputs.predicted[0]).sum())
        sealing = store.sealing(asker=by, handed=answer.name, against=best.handed, margin=ceil(MARGIN * sqrt(apart)))

        sitting = Sitting(lambda _past, _worst: "", store.answer)  # how many there may be was asked before
        request = LookRequest(sealing, SelectionSummary(by, 0.5, 0), lambda _table: answer.outputs, sitting=sitting)
        result = self.gate.look(request)
        if result.refused is not None:
            raise self.refusal(result.refused, "propose without --veto")
        self.tag_run(result.look, "veto")
        return str(self.look_made(result)[0].answer.symbol) == WORSE

    def _vetoes(self, before: Sequence[Note]) -> int:
        """How many vetoes are left."""
        return self.loop.vetoes - sum(note.asked for note in before)

    def _reply(self, note: Note, number: int, all_: Sequence[Note], replay: bool) -> GateProposal:
        """Write the answer to a proposal."""
        verdict: Judged = note.verdict  # type: ignore[assignment]  # one of three, as it was written
        return GateProposal(
            self.terms.id, note.asker, note.handed, number, verdict, _sentence(note, number, self.loop.errors, replay), replay,
            self._vetoes(all_),
        )  # fmt: skip

    # What must not change.

    def _check_evaluation(self, inputs: Sequence[str | Path]) -> None:
        """Put on record what was changed, and sealed rows among inputs; RefusedError where the evaluation is another one."""
        changed = [*self._changed_parts()]
        for finding in (*changed, *self._sealed_in(inputs)):
            self._note(finding)
        store = self.store
        _ = store.judged  # LedgerError where the rows that judge are not those that were committed to
        if changed and any(one.severity == "high" for one in changed):
            fix = "put the files back as they were (git), or make a new gate on fresh rows"
            raise RefusedError(*(Problem("MSEL-933", one.message, self.terms.name, fix) for one in changed))

    def _changed_parts(self) -> Iterator[Finding]:
        """Yield a finding for each part of the evaluation that is not as the terms say."""
        for file in (*self.loop.pinned, *self.terms.files.values()):
            path = self.folder / file.name
            if not path.is_file():
                yield look_findings.evaluation_changed(f"{file.name} is gone")
            elif hashlib.sha256(path.read_bytes()).hexdigest() != file.sha256:
                yield look_findings.evaluation_changed(f"{file.name} is not the file that the terms name")
        if scorer_digest(self.terms.make_measure()) != self.loop.scorer:
            yield look_findings.scorer_changed()

    def _sealed_in(self, inputs: Sequence[str | Path]) -> Iterator[Finding]:
        """Yield a finding for each file that holds sealed rows, and for the questions themselves."""
        asked = self.terms.files["questions"].sha256
        for path in map(Path, inputs):
            if not path.is_file():
                fix = "name the files that the proposal was fitted on"
                raise ConfigurationError(Problem("MSEL-934", f"there is no file {str(path)!r}", "--input", fix))
            if hashlib.sha256(path.read_bytes()).hexdigest() == asked:
                yield row_findings.sealed_rows_fitted(len(self.store.sealed), self.terms.name, path.name)
                continue
            frame = _table(path)
            rows = None if frame is None else self._recogniser.sealed_in(frame)
            if rows:
                yield row_findings.sealed_rows_in_development(rows.count, rows.n, self.terms.name, path.name)

    @property
    def _recogniser(self) -> Recogniser:
        return recogniser(self.store.home, self.terms.testset)

    def _note(self, finding: Finding) -> None:
        """Put a finding on record, once, and say it."""
        self.gate.findings.append(finding)
        if all((note.code, note.text) != (finding.code, finding.message) for note in self._notes_of_findings()):
            testset = self.terms.testset
            self.gate.say(Note(exam=self.terms.id, code=finding.code, text=finding.message, testset=testset))

    def _notes_of_findings(self) -> list[Note]:
        return [note for note in self.notes() if note.states("code")]

    # Its state, and its end.

    def status(self) -> GateStatus:
        """The state of the gate: proposals, how many were kept, what was found."""
        notes, rows = self.proposals(), self.terms.rows
        best = best_of(notes)
        return GateStatus(
            gate=self.terms.id, name=self.terms.name, state="closed" if self.closed else "open",
            rows={"learn": rows.development - rows.judged, "judge": rows.judged, "sealed": rows.questions},
            measure=self.terms.measure["kind"], errors=self.loop.errors, proposals=len(notes), kept=_count_kept(notes),
            best=None if best is None else notes.index(best) + 1,
            by_luck=max(0, len(notes) - 1) * kept_by_luck(self.loop.errors), vetoes_left=self._vetoes(notes),
            findings=[look_findings.finding_of_note(note.code, note.text) for note in self._notes_of_findings()],
        )  # fmt: skip

    def close(self) -> GateClose:
        """Show the score of the best proposal on the sealed rows, with its interval; no proposal is taken after.

        Closing again shows what was shown.
        """
        with self.turn():
            return self._close()

    def _close(self) -> GateClose:
        """Show the best to the sealed rows, and compare what both sides say."""
        notes, store = self.proposals(), self.store
        best = best_of(notes)
        if best is None:
            fix = "propose something first, or remove its folder"
            raise ConfigurationError(Problem("MSEL-940", "nothing was proposed", self.terms.name, fix))
        for finding in self._changed_parts():
            self._note(finding)
        handed = Handed(best.handed, store.answer(best.handed))
        shown = self.gate.close(store.sealing(), [handed], self.terms.policy.verdicts)
        (one,) = shown.answers
        self.tag_run("final", self.terms.measure["kind"])
        judged = store.answer(_judging(best.handed))
        self._compare(one.errors, judged)
        task = store.judged
        own = float(self.terms.make_measure().score(task.target, judged, task.weights, task.class_count)[0])
        return GateClose(
            gate=self.terms.id, name=self.terms.name, best=best.handed, number=notes.index(best) + 1, score=one.score,
            errors=one.errors, n=len(store.sealed), interval=limits(one.interval),
            level=1 - self.terms.policy.intervals, judged=own, proposals=len(notes), kept=_count_kept(notes), price=shown.price,
            findings=self.status().findings,
        )  # fmt: skip

    def _compare(self, errors: int | None, judged: Outputs) -> None:
        """Note where the rows that judged say much better than the sealed ones: they were learned, or their labels known."""
        if errors is None:
            return
        n, m = len(self.store.sealed), len(self.store.judged)
        task = self.store.judged
        own = int(wrong(self.terms.make_measure(), judged, task.target, task.class_count).sum())
        notes = self.proposals()
        if says_too_much(own, m, errors, n, len(notes), _count_kept(notes)):
            self._note(look_findings.judged_better_than_sealed(own, m, errors, n, len(notes)))


def says_too_much(own: int, m: int, errors: int, n: int, proposals: int, kept: int) -> bool:
    """Say whether `own` errors on m rows that judged are too few, beside the errors on n sealed rows, to come of verdicts.

    Of T proposals, k of them kept, the best is one of at most C(T, k) models that the rows did not know of, whatever the loop
    did with its verdicts; so Fisher's exact p has to be below so much less.

    >>> says_too_much(0, 84, 33, 120, 2, 2), says_too_much(14, 84, 33, 120, 100, 8)
    (True, False)
    """
    p = float(fisher_exact(np.array([[own, m - own], [errors, n - errors]]), "less")[1])
    return p * comb(proposals, kept) < SURE


def best_of(notes: Sequence[Note]) -> Note | None:
    """The last proposal that was kept."""
    return next((note for note in reversed(notes) if note.verdict == "keep"), None)


def _count_kept(notes: Sequence[Note]) -> int:
    return sum(note.verdict == "keep" for note in notes)


def _judging(name: str) -> str:
    """Under which name the predictions of a proposal for the rows that judge are kept."""
    return f"{name}.judging"


def _sentence(note: Note, number: int, errors: float, replay: bool) -> str:
    """Put a verdict into words."""
    again = " (judged before)" if replay else ""
    bar = f"{errors:g} standard error{'s' if errors != 1 else ''}"
    if note.verdict == "veto":
        return f"veto: proposal {number} is better on the rows that judge, and clearly worse on sealed rows{again}"
    if note.beside is None:
        return f"keep: proposal {number} is the first{again}"
    than = "the best so far" if not replay else "the best at that time"
    return (
        f"keep: proposal {number} is better than {than} by more than {bar}{again}"
        if note.verdict == "keep"
        else f"discard: proposal {number} is not better than {than} by more than {bar}{again}"
    )


def _table(path: Path) -> object | None:
    """A file as a data frame; None for what is not a table."""
    import pandas as pd

    try:
        return pd.read_parquet(path) if path.suffix in (".parquet", ".pq") else pd.read_csv(path)
    except Exception:
        return None
