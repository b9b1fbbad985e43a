"""A certificate: what a ledger says of the looks at one test set, with its chain, so that others can check it.

The format is specified in docs/guard/certificate.md; `verifier.py` was written from there.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from modelsel.config.build import reopen
from modelsel.core.errors import ConfigurationError, Problem, RefusedError, StoreError
from modelsel.core.facts import Facts
from modelsel.core.fingerprint import canonical
from modelsel.core.satellites import part
from modelsel.guard.access.apart import CLOSING
from modelsel.guard.facts import (
    ExamConfig,
    LaterPlace,
    Limits,
    Look,
    Note,
    PairVerdict,
    Reveal,
    Seal,
    StatedAnswer,
)
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import StandingLook, looks
from modelsel.ledger.entry import LedgerEntry, heads
from modelsel.record.agreement import disagreements
from modelsel.record.folder import RunFolder

FORMAT, WHAT = "modelsel certificate 1", "modelsel.certificate.v1 "
EXAM = "exam.json"  # the file that makes a folder one of an exam
THRESHOLDOUT = "thresholdout"
ALWAYS = ("migration", "vouch", "ruling", "merge", "recovered")
RELATED = ("seal", "selection", "commit", "intent", "replay", "policy_change")
OF_LOOK = ("look", "spent", "n", "delta", "release", "metric", "certified", "at", "cv_mean", "cv_rows")
OF_ANSWER = ("symbol", "score", "errors", "interval", "price")
APART = ("units", "withheld", "plan")  # where rows are not independent, or the loss is no count


@dataclass(frozen=True, eq=False)
class Certified:
    """The subject of a certificate: a gate, looks of one test set, and their names."""

    gate: Gate
    kind: str
    name: str
    looks: Sequence[StandingLook]
    about: Mapping[str, Any]
    exam: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Claim(Facts):
    """A certificate's statement about a look: its intent, its answer, and whose answer to an exam it is."""

    intent: str
    look: int
    delta: float
    metric: str
    score: float | None
    interval: Limits | None
    asker: str = ""
    predictions_sha256: str | None = None
    answers: tuple[StatedAnswer, ...] | None = None
    verdicts: tuple[PairVerdict, ...] = ()
    superseded: LaterPlace | None = None


@dataclass(frozen=True)
class CardLine:
    """A number that was shown, on a card: whose, by which measure, with its interval, at which look."""

    whose: str
    metric: str
    score: float
    interval: Limits | None
    delta: float
    look: int


def certify(place: str, output: Path, whole: bool = False, stamp: str | None = None, root: Path | None = None) -> Path:
    """Write the certificate of a run (its final test) or of an exam (all that was shown).

    `whole` shows the contents of every entry of the ledger; else those about other rows are withheld, and their number is seen.
    `stamp` is the address of a time-stamping authority (RFC 3161). Raises ConfigurationError where nothing was shown.
    """
    found: Certified = part("exam").certified(Path(place)) if os.path.lexists(Path(place) / EXAM) else _of_run(place, root)
    claims = [*_claims(found)]
    if not claims:
        fix = "open the test (`modelsel test`), or close the exam, first"
        ledger = found.gate.session.ledger.url.rpartition("@")[2]
        raise ConfigurationError(Problem("MSEL-950", "no answer was shown", f"{place}, by the ledger {ledger}", fix))
    members = _members(found, claims, whole)
    facts = _facts(found, claims, members)
    signer = found.gate.session.home.signer()
    statement = canonical(facts).encode()
    digest = hashlib.sha256(statement).hexdigest()
    signature = {"key": signer.public, "value": signer.sign(WHAT + digest)}
    files = {"certificate.json": statement, "signature.json": _json(signature), **members}
    if stamp is not None:
        files["stamp.tsr"] = request_stamp(statement, stamp)
    return _write_archive(output, files)


def _of_run(run: str, root: Path | None) -> Certified:
    """Gather the look of a run that a certificate covers."""
    folder = RunFolder.open(run, root)
    outcome, config = folder.outcome(), folder.config()
    fix = "take the file from a backup, or run the study again"
    RefusedError.raise_if(Problem("MSEL-954", one.message, str(folder.path), fix) for one in disagreements(folder))
    gate = Gate(reopen(config, "guard").guard, folder.project(config))
    audit = folder.details().audited
    sets = [one.id for one in (audit.test_sets if audit else ())]
    test = outcome.test
    score = None if test is None else (test.beside or {}).get("score", test.released)
    made = [
        look for testset in sets for look in looks(gate.session, testset)
        if test is not None and look.facts.look == test.look and look.status == "revealed"
        and (look.answer.score, look.answer.errors) == (score, test.errors)
    ]  # fmt: skip
    made.sort(key=lambda look: look.spec_id != outcome.spec_id)  # a merged ledger may hold two of one number
    declared = {"candidates": dict(outcome.candidates), "winner": outcome.winner.id, "measure": outcome.measure}
    about = {"study": outcome.study, "spec_id": outcome.spec_id, "task": dict(outcome.task), "declared": declared}
    return Certified(gate, "run", outcome.study, made[:1], about)


def _claims(found: Certified) -> Iterator[Claim]:
    """Yield a claim for each answered look."""
    for look in found.looks:
        if look.status != "revealed":
            continue
        config = ExamConfig.read(look.config)
        stated = {"intent": look.id, **look.facts.part(OF_LOOK), **look.answer.part(OF_ANSWER)}
        stated |= {name: value for name, value in look.facts.part(APART).items() if value}
        if look.metric == CLOSING:
            stated |= look.answer.part(("answers", "verdicts"))
        if look.superseded:
            stated["superseded"] = look.superseded.written()
        if found.exam and config.states("asker"):
            stated |= {"asker": config.asker, "predictions_sha256": config.handed}
        yield Claim.read(stated)


def _members(found: Certified, claims: Sequence[Claim], whole: bool) -> dict[str, bytes]:
    """The chains, their signatures, and the cards."""
    session = found.gate.session
    entries, signatures = session.ledger.entries(), session.ledger.signatures()
    sets = {testset for look in found.looks for testset in look.facts.paid_sets}
    intents = {look.id for look in (Look.of(entry) for entry in entries if entry.kind == "intent") if look.testset in sets}
    shown = [(whole and not _noisy(entry)) or _is_related(entry, sets, intents, found.exam) for entry in entries]
    _no_noise([entry for entry, one in zip(entries, shown) if one], _open(entries, found.kind == "exam"), found.name)
    lines = [_line(entry, one) for entry, one in zip(entries, shown)]
    ends = {
        replica: {"key": key, "value": value}
        for replica, entry in heads(entries).items() for key, value in signatures.get(entry.hash, ())
        if key == entries.signers.get(replica)
    }  # fmt: skip
    return {"chain.jsonl": "".join(f"{line}\n" for line in lines).encode(), "signatures.json": _json(ends),
            **cards(found.kind, found.name, claims)}  # fmt: skip


def _is_related(entry: LedgerEntry, sets: set[str], intents: set[str], exam: str) -> bool:
    """Say whether an entry of the ledger belongs to the certified test set, or is always shown."""
    if entry.kind in ALWAYS:
        return True
    if entry.kind in ("reveal", "abort"):
        return Reveal.of(entry).intent in intents
    if entry.kind in RELATED:
        return entry.brief.testset in sets
    return bool(exam) and Note.of(entry).exam == exam


def _noisy(entry: LedgerEntry) -> bool:
    """Say whether an entry is a seal with the seed of noise that further answers may be shown with."""
    return entry.kind == "seal" and Seal.of(entry).terms.release == THRESHOLDOUT


def _open(entries: Sequence[LedgerEntry], every: bool) -> set[str]:
    """Return the test sets of exams that are not closed; with `every` all sets that no exam's close has ended."""
    looks = (Look.of(entry) for entry in entries if entry.kind == "intent")
    closings = [look for look in looks if look.metric == CLOSING]
    ended = {look.spec_id for look in closings}
    notes = (Note.of(entry) for entry in entries if entry.kind == "note")
    still = {note.testset for note in notes if note.what == "created" and note.exam not in ended}
    sealed = {Seal.of(entry).testset for entry in entries if entry.kind == "seal"} if every else set()
    return still | (sealed - {look.testset for look in closings})


def _no_noise(shown: Sequence[LedgerEntry], still: set[str], name: str) -> None:
    """Refuse to give away the noise of an exam that is open: who knows it takes it off every further answer."""
    if any(_noisy(entry) and Seal.of(entry).testset in still for entry in shown):
        what = "the chain has the seed of the noise that further answers would be shown with"
        raise ConfigurationError(Problem("MSEL-950", what, name, "close every thresholdout exam of these rows first"))


def _line(entry: LedgerEntry, shown: bool) -> str:
    names = ("replica", "seq", "prev", "hash", *(("kind", "body") if shown else ()))
    return json.dumps({name: getattr(entry, name) for name in names}, ensure_ascii=True)


def _facts(found: Certified, claims: Sequence[Claim], members: Mapping[str, bytes]) -> dict[str, object]:
    """Gather the certificate's statements: claims, signer, ledger, digests of its members."""

    from modelsel import __version__

    session, testset = found.gate.session, found.looks[0].testset
    seen, _ = session.witnesses.ask([testset])
    return {
        "format": FORMAT, "kind": found.kind, "name": found.name, "testset": testset,
        "claims": [claim.written() for claim in claims], "about": found.about, "by": session.home.signer().public,
        "ledger": session.ledger.id, "software": __version__,
        "witnesses": [{"anchor": name, **facts} for name, facts in seen],
        "members": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }  # fmt: skip


def _json(value: object) -> bytes:
    return canonical(value).encode()


def _write_archive(output: Path, files: Mapping[str, bytes]) -> Path:
    """Write the archive, with the same dates each time."""
    try:
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    except OSError as error:
        what, fix = f"cannot be written ({error.strerror})", "choose another place"
        raise StoreError(Problem("MSEL-951", what, str(output), fix)) from error
    return output


# The claims of a certificate as cards that other systems read: CycloneDX 1.6 (model card) and Hugging Face (README.md).


def cards(kind: str, name: str, claims: Sequence[Claim]) -> dict[str, bytes]:
    """`card.cdx.json` and `README.md`, by name."""
    lines = [*_lines(claims)]
    return {
        "card.cdx.json": json.dumps(_cyclonedx(name, lines), indent=1, ensure_ascii=False).encode(),
        "README.md": _hugging_face(kind, name, lines).encode(),
    }


def _lines(claims: Sequence[Claim]) -> Iterator[CardLine]:
    """A line per number that was shown."""
    for claim in claims:
        if claim.answers is not None:
            for answer in claim.answers:
                if answer.score is not None:
                    yield CardLine(
                        answer.name[:12], "score at the close", answer.score, answer.interval, claim.delta, claim.look
                    )
        elif claim.score is not None:
            yield CardLine(claim.asker, claim.metric, claim.score, claim.interval, claim.delta, claim.look)


def _cyclonedx(name: str, lines: Sequence[CardLine]) -> dict[str, object]:
    """Write the claims as a CycloneDX model card."""
    metrics = []
    for line in lines:
        metric: dict[str, object] = {"type": line.metric, "value": f"{line.score:.6g}", "slice": _slice(line)}
        if line.interval:
            low, high = line.interval
            metric["confidenceInterval"] = {"lowerBound": f"{low:.6f}", "upperBound": f"{high:.6f}"}
        metrics.append(metric)
    card = {"quantitativeAnalysis": {"performanceMetrics": metrics}}
    component = {"type": "machine-learning-model", "name": name, "bom-ref": "model", "modelCard": card}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
            "version": 1, "components": [component]}  # fmt: skip


def _slice(line: CardLine) -> str:
    return f"sealed test rows, look {line.look}" + (f", {line.whose}" if line.whose else "")


def _hugging_face(kind: str, name: str, lines: Sequence[CardLine]) -> str:
    """Metadata (YAML that is JSON, which YAML allows) and a table."""
    metrics = [
        {"type": line.metric, "name": f"{line.metric} ({_slice(line)})", "value": line.score,
         **({"args": {"interval": list(line.interval), "level": 1 - line.delta}} if line.interval else {})}
        for line in lines
    ]  # fmt: skip
    result = {
        "task": {"type": "tabular-classification"},
        "dataset": {"name": name, "type": name, "split": "test"},
        "metrics": metrics,
    }
    metadata = {"tags": ["modelsel"], "model-index": [{"name": name, "results": [result]}]}
    rows = "".join(f"| {_cell(line.whose or name)} | {line.metric} | {line.score:.6g} | {_limits(line)} |\n" for line in lines)
    head = f"# {_cell(name)}\n\nScores of a sealed test set ({kind}), with intervals that hold after all looks on record.\n\n"
    table = f"| of | measure | score | interval |\n|---|---|---|---|\n{rows}"
    return f"---\n{json.dumps(metadata, indent=1)}\n---\n\n{head}{table}\nCheck them: `modelsel verify certificate.zip`.\n"


def _limits(line: CardLine) -> str:
    return f"[{line.interval[0]:.4f}, {line.interval[1]:.4f}] ({1 - line.delta:.0%})" if line.interval else "none"


def _cell(text: str) -> str:
    return "".join(" " if sign in "|\n\r<>`" else sign for sign in text)


# A time stamp of a third party (RFC 3161) on a certificate: it existed at that time, whatever the issuer's clock said.

SECONDS = 30.0


def request_stamp(statement: bytes, address: str) -> bytes:
    """The authority's signed reply to a SHA-512 of the statement. ConfigurationError where none is to be had."""
    try:
        from rfc3161_client import TimestampRequestBuilder
    except ImportError as error:
        fix = "pip install 'modelsel[exam]', or leave --stamp out"
        raise ConfigurationError(Problem("MSEL-952", "rfc3161-client is not installed", "--stamp", fix)) from error
    if not address.startswith(("http://", "https://")):
        raise ConfigurationError(
            Problem("MSEL-953", "not the address of an authority", address, "give one that begins with http")
        )
    asked = TimestampRequestBuilder().data(statement).nonce(nonce=True).cert_request(cert_request=True).build()
    headers = {"Content-Type": "application/timestamp-query"}
    try:
        with urlopen(Request(address, asked.as_bytes(), headers), timeout=SECONDS) as reply:  # noqa: S310  http alone
            data = bytes(reply.read(1 << 20))
        if not _is_granted(data):
            raise ValueError("the authority refused")
    except (URLError, OSError, ValueError) as error:
        fix = "try again, or another authority"
        raise ConfigurationError(Problem("MSEL-953", f"no time stamp ({error})", address, fix)) from error
    return data


def _is_granted(reply: bytes) -> bool:
    """Say whether the status of a DER-encoded reply is 0 or 1 (granted).

    The rest is not read here: authorities put certificates in an order that strict readers refuse; OpenSSL checks it.

    >>> _is_granted(bytes.fromhex("3005300302010002")), _is_granted(bytes.fromhex("30053003020102")), _is_granted(b"<html>")
    (True, False, False)
    """
    rest = reply
    for _ in range(2):
        if rest[:1] != b"\x30" or len(rest) < 2:
            return False
        rest = rest[2 + (rest[1] & 0x7F if rest[1] & 0x80 else 0) :]
    return rest[:3] in (b"\x02\x01\x00", b"\x02\x01\x01")
