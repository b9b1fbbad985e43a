"""A certificate: what a ledger says of the looks at one test set, with its chain, so that others can check it.

The format is specified in docs/guard/certificate.md; `verifier.py` was written from there.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelsel.config.reopen import reopen
from modelsel.core.errors import ConfigurationError, Problem, StoreError
from modelsel.core.fingerprint import canonical
from modelsel.examination.asking.sit import CLOSING, ExamSession, closes, sat
from modelsel.examination.certification.cards import cards
from modelsel.examination.certification.stamp import stamped
from modelsel.examination.creation.terms import FILE
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.answers import looks
from modelsel.ledger.entry import LedgerEntry, heads
from modelsel.record.folder import ROOT, RunFolder

FORMAT, WHAT = "modelsel certificate 1", "modelsel.certificate.v1 "
THRESHOLDOUT = "thresholdout"
ALWAYS = ("migration", "vouch", "ruling", "merge", "recovered")
RELATED = ("seal", "selection", "commit", "intent", "replay", "policy_change")
SAID = ("look", "spent", "n", "delta", "release", "metric", "certified", "at", "cv_mean", "cv_rows")


@dataclass(frozen=True, eq=False)
class Certified:
    """The subject of a certificate: a gate, looks of one test set, and their names."""

    gate: Gate
    kind: str
    name: str
    looks: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]
    exam: str = ""


def certify(place: str, output: Path, whole: bool = False, stamp: str | None = None, root: Path = ROOT) -> Path:
    """Write the certificate of a run (its final test) or of an exam (all that was shown).

    `whole` shows the contents of every entry of the ledger; else those about other rows are withheld, and their number is seen.
    `stamp` is the address of a time-stamping authority (RFC 3161). Raises ConfigurationError where nothing was shown.
    """
    found = _of_exam(Path(place)) if (Path(place) / FILE).is_file() else _of_run(place, root)
    claims = [*_claims(found)]
    if not claims:
        fix = "open the test (`modelsel test`), or close the exam, first"
        raise ConfigurationError(Problem("MSEL-950", "no answer was shown", place, fix))
    members = _members(found, claims, whole)
    facts = _facts(found, claims, members)
    signer = found.gate.session.home.signer()
    statement = canonical(facts).encode()
    digest = hashlib.sha256(statement).hexdigest()
    signature = {"key": signer.public, "value": signer.sign(WHAT + digest)}
    files = {"certificate.json": statement, "signature.json": _json(signature), **members}
    if stamp is not None:
        files["stamp.tsr"] = stamped(statement, stamp)
    return _written(output, files)


def _of_exam(folder: Path) -> Certified:
    """Gather the looks of an exam that a certificate covers."""
    exam = ExamSession(folder)
    made = [look for look in exam.history() if sat(look, exam.terms.id) or closes(look, exam.terms.id)]
    about = {"terms": dict(exam.terms.facts), "terms_sha256": exam.terms.digest}
    return Certified(exam.gate, "exam", exam.terms.name, made, about, exam.terms.id)


def _of_run(run: str, root: Path) -> Certified:
    """Gather the look of a run that a certificate covers."""
    folder = RunFolder.open(run, root)
    outcome, config = folder.outcome(), folder.config()
    gate = Gate(reopen(config, "guard").guard, folder.root)
    sets = [one["id"] for one in folder.details().get("audit", {}).get("test_sets", ())]
    test = outcome.test
    made = [
        look for testset in sets for look in looks(gate.session, testset)
        if test is not None and look["look"] == test.look and look["status"] == "revealed"
        and (look["answer"]["score"], look["answer"]["errors"]) == (test.score, test.errors)
    ]  # fmt: skip
    made.sort(key=lambda look: look["spec_id"] != outcome.spec_id)  # a merged ledger may hold two of one number
    declared = {"candidates": dict(outcome.candidates), "winner": outcome.winner["id"], "measure": outcome.measure}
    about = {"study": outcome.study, "spec_id": outcome.spec_id, "task": dict(outcome.task), "declared": declared}
    return Certified(gate, "run", outcome.study, made[:1], about)


def _claims(found: Certified) -> Iterator[dict[str, Any]]:
    """Yield a claim for each answered look."""
    for look in found.looks:
        if look["status"] != "revealed":
            continue
        answer, config = look["answer"], look.get("config") or {}
        shown = {name: answer.get(name) for name in ("symbol", "score", "errors", "interval", "price")}
        claim = {"intent": look["id"], **{name: look.get(name) for name in SAID}, **shown}
        if look["metric"] == CLOSING:
            claim |= {"answers": answer["answers"], "verdicts": answer["verdicts"]}
        if look["superseded"]:
            claim["superseded"] = look["superseded"]
        if found.exam and "asker" in config:
            claim |= {"asker": config["asker"], "predictions_sha256": config["handed"]}
        yield claim


def _members(found: Certified, claims: Sequence[Mapping[str, Any]], whole: bool) -> dict[str, bytes]:
    """The chains, their signatures, and the cards."""
    session = found.gate.session
    entries, signatures = session.ledger.entries(), session.ledger.signatures()
    sets = {testset for look in found.looks for testset in look.get("charged", (look["testset"],))}
    intents = {e.facts["id"] for e in entries if e.kind == "intent" and e.facts["testset"] in sets}
    shown = [(whole and not _noisy(entry)) or _related(entry, sets, intents, found.exam) for entry in entries]
    _no_noise([entry for entry, one in zip(entries, shown) if one], _open(entries, found.kind == "exam"), found.name)
    lines = [_line(entry, one) for entry, one in zip(entries, shown)]
    ends = {
        replica: {"key": key, "value": value}
        for replica, entry in heads(entries).items() for key, value in signatures.get(entry.hash, ())
        if key == entries.signers.get(replica)
    }  # fmt: skip
    return {"chain.jsonl": "".join(f"{line}\n" for line in lines).encode(), "signatures.json": _json(ends),
            **cards(found.kind, found.name, claims)}  # fmt: skip


def _related(entry: LedgerEntry, sets: set[str], intents: set[str], exam: str) -> bool:
    """Say whether an entry of the ledger belongs to the certified test set, or is always shown."""
    facts = entry.facts
    if entry.kind in ALWAYS:
        return True
    if entry.kind in ("reveal", "abort"):
        return facts["intent"] in intents
    return (entry.kind in RELATED and facts.get("testset") in sets) or bool(exam and facts.get("exam") == exam)


def _noisy(entry: LedgerEntry) -> bool:
    """Say whether an entry is a seal with the seed of noise that further answers may be shown with."""
    return entry.kind == "seal" and entry.facts.get("terms", {}).get("release") == THRESHOLDOUT


def _open(entries: Sequence[LedgerEntry], every: bool) -> set[str]:
    """Return the test sets of exams that are not closed; with `every` all sets that no exam's close has ended."""
    closings = [entry.facts for entry in entries if entry.kind == "intent" and entry.facts["metric"] == CLOSING]
    ended = {facts["spec_id"] for facts in closings}
    made = [entry.facts for entry in entries if entry.kind == "note" and entry.facts.get("what") == "created"]
    still = {facts["testset"] for facts in made if facts["exam"] not in ended}
    sealed = {entry.facts["testset"] for entry in entries if entry.kind == "seal"} if every else set()
    return still | (sealed - {facts["testset"] for facts in closings})


def _no_noise(shown: Sequence[LedgerEntry], still: set[str], name: str) -> None:
    """Refuse to give away the noise of an exam that is open: who knows it takes it off every further answer."""
    if any(_noisy(entry) and entry.facts["testset"] in still for entry in shown):
        what = "the chain has the seed of the noise that further answers would be shown with"
        raise ConfigurationError(Problem("MSEL-950", what, name, "close every thresholdout exam of these rows first"))


def _line(entry: LedgerEntry, shown: bool) -> str:
    names = ("replica", "seq", "prev", "hash", *(("kind", "body") if shown else ()))
    return json.dumps({name: getattr(entry, name) for name in names}, ensure_ascii=True)


def _facts(found: Certified, claims: Sequence[Mapping[str, Any]], members: Mapping[str, bytes]) -> dict[str, Any]:
    """Gather the certificate's statements: claims, signer, ledger, digests of its members."""

    from modelsel import __version__

    session, testset = found.gate.session, str(found.looks[0]["testset"])
    seen, _ = session.witnesses.asked(testset)
    return {
        "format": FORMAT, "kind": found.kind, "name": found.name, "testset": testset, "claims": list(claims),
        "about": found.about, "by": session.home.signer().public, "ledger": session.ledger.id, "software": __version__,
        "witnesses": [{"anchor": name, **facts} for name, facts in seen],
        "members": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }  # fmt: skip


def _json(value: Any) -> bytes:
    return canonical(value).encode()


def _written(output: Path, files: Mapping[str, bytes]) -> Path:
    """Write the archive, with the same dates each time."""
    try:
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    except OSError as error:
        what, fix = f"cannot be written ({error.strerror})", "choose another place"
        raise StoreError(Problem("MSEL-951", what, str(output), fix)) from error
    return output
