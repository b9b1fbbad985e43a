"""Status, board, close and audit of an exam.

While an exam is open its board is made of what was released, and of nothing else: a paired comparison of two answers would be a
bit that one row can decide. At the close each answer is shown at its own index, with verdicts of pairs.
"""

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from math import log
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.examination.sit import CLOSED, ExamSession, closes, is_closed, sat
from modelsel.guard.reporting.audit import audit as guard_audit
from modelsel.guard.requests import Handed
from modelsel.statistics.certificate import SpendingState, hoeffding, index_weight

APART, TOGETHER = "fewer errors", "cannot be told apart"


def status(exam: ExamSession) -> dict[str, Any]:
    """The state of an exam: terms, answers and nats by asker, what all of them have spent, how wide a next interval is."""
    looks, handed, terms = exam.history(), exam.handed(), exam.terms
    closed = is_closed(looks, terms.id)
    spent = sum(look["charge"] for look in looks)
    adaptive = len([look for look in looks if not look.get("commit")])
    nats = SpendingState(1 + adaptive, spent).nats(terms.facts["policy"]["intervals"])
    return {
        "exam": terms.id, "name": terms.name, "state": "closed" if closed else "open", "release": terms.release,
        "measure": terms.facts["measure"]["kind"], "rows": terms.facts["rows"], "answers": len(handed),
        "looks": len(looks), "spent": spent, "next": None if closed else _next(exam, nats),
        "per_asker": terms.facts["per_asker"], "askers": _askers(handed, terms.facts["per_asker"]),
    }  # fmt: skip


def _next(exam: ExamSession, nats: float) -> dict[str, Any]:
    """Compute how wide, at most, the interval of one more answer would be (half of it)."""
    return {"nats": nats, "half": min(0.5, hoeffding(nats, len(exam.store.sealed)))}


def _askers(handed: list[dict[str, Any]], limits: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Answers and nats by asker, and what is left of their budget."""
    found: dict[str, dict[str, Any]] = {}
    for one in handed:
        mine = found.setdefault(one["asker"], {"answers": 0, "nats": 0.0})
        mine["answers"] += 1
        mine["nats"] += one["look"]["charge"] if "look" in one else 0.0
    for mine in found.values():
        mine["looks_left"] = None if limits["looks"] is None else limits["looks"] - mine["answers"]
        mine["nats_left"] = None if limits["nats"] is None else limits["nats"] - mine["nats"]
    return found


def board(exam: ExamSession) -> list[dict[str, Any]]:
    """A line per answer, best first: place, asker, score, interval, look; `beside` says how it stands to the line above.

    While the exam is open lines whose released intervals meet `cannot be told apart`. Under `better` and `closed` there is
    nothing to compare before the close.
    """
    final = next((look for look in exam.history() if closes(look, exam.terms.id) and look["answer"]), None)
    lines = _final(exam, final["answer"]) if final else list(_released(exam))
    better = -1.0 if exam.terms.measure.higher_is_better else 1.0
    lines.sort(key=lambda line: (line["score"] is None, better * (line["score"] or 0.0), line["number"]))
    verdicts = {frozenset((v["answer"], v["beside"])): v for v in final["answer"]["verdicts"]} if final else {}
    for above, line in pairwise(lines):
        verdict = verdicts.get(frozenset((above["answer"], line["answer"])))
        line["beside"] = _apart(above, line) if not final else verdict and (TOGETHER if verdict["says"] == TOGETHER else APART)
    return lines


def _released(exam: ExamSession) -> Iterator[dict[str, Any]]:
    """Yield a line for each handed-in answer that was released."""
    for number, one in enumerate(exam.handed(), 1):
        answer = one["look"]["answer"] if "look" in one else {}
        stays = str(answer.get("symbol", "")).endswith("stays")
        yield {
            "number": number, "asker": one["asker"], "at": one["at"], "answer": one["handed"],
            "score": None if stays else answer.get("score"), "interval": None if stays else answer.get("interval"),
            "said": str(answer.get("symbol", "on record")), "look": one["look"]["look"] if "look" in one else None,
            "beside": None,
        }  # fmt: skip


def _final(exam: ExamSession, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Fill the board's lines with the scores of the closing look."""
    shown = {one["name"]: one for one in answer["answers"]}
    return [
        {**line, "score": shown[line["answer"]]["score"], "interval": shown[line["answer"]]["interval"],
         "errors": shown[line["answer"]]["errors"], "said": "closed"}
        for line in _released(exam) if line["answer"] in shown
    ]  # fmt: skip


def _apart(above: dict[str, Any], line: dict[str, Any]) -> str | None:
    """Say whether two intervals overlap; None where one of them is missing."""
    if not above["interval"] or not line["interval"]:
        return None
    (low, high), (first, last) = above["interval"], line["interval"]
    return TOGETHER if first <= high and low <= last else APART


def close(exam: ExamSession) -> dict[str, Any]:
    """End an exam: every answer's score at its own index, verdicts of pairs on their own share of δ; no answer is taken after.

    Closing again shows what was shown.
    """
    handed = exam.handed()
    if not handed:
        fix = "leave it open, or remove its folder"
        raise ConfigurationError(Problem("MSEL-940", "nobody has handed in an answer", exam.terms.name, fix))
    together = exam.terms.release == CLOSED
    whole = len(exam.store.sealed)
    answers = {
        one["handed"]: Handed(one["handed"], exam.store.answer(one["handed"]), None if together else _base(one["look"]),
                              together or (one["look"]["certified"] and one["look"]["n"] == whole))
        for one in reversed(handed)
    }  # fmt: skip
    shown = exam.gate.close(exam.store.sealing(), [*reversed(answers.values())], exam.terms.facts["policy"]["verdicts"])
    said = shown.written()
    return {**{name: said[name] for name in ("answers", "verdicts", "price")}, "board": board(exam)}


def _base(look: dict[str, Any]) -> float:
    """−ln w_t + spent, as the look that was made says."""
    return -log(index_weight(look["look"])) + float(look["spent"])


def audit(exam: ExamSession) -> dict[str, Any]:
    """The guard's audit of the exam's rows, and whether files and answers are those that were put on record."""
    report = guard_audit(exam.gate, study=exam.terms.id)
    found, others = list(_faults(exam)), len(_others(exam))
    whole = report["ledger"]["intact"] is not False and not found
    return {**report, "exam": {**status(exam), "whole": whole, "faults": found, "others": others}}


def _others(exam: ExamSession) -> list[dict[str, Any]]:
    """Looks at the exam's rows that were no answers to it: of runs, of other exams. They are charged, and no fault."""
    own = (look for look in exam.history() if look["metric"] != "class_counts")
    return [look for look in own if not sat(look, exam.terms.id) and not closes(look, exam.terms.id)]


def _faults(exam: ExamSession) -> Iterator[str]:
    """Yield whatever is changed or missing among the exam's files, terms, answers and looks."""
    for side, file in exam.terms.facts["files"].items():
        path = exam.folder / file["name"]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
            yield f"{file['name']} ({side}) is not the file that was given out"
    made = [note for note in exam.notes() if note.get("what") == "created"]
    if [note["terms"] for note in made] != [exam.terms.digest]:
        yield "the terms are not those that the ledger has"
    for one in exam.handed():
        if not (exam.store.folder / "answers" / f"{one['handed']}.npz").is_file():
            yield f"the predictions of {one['handed'][:12]} are gone"
