"""Check a certificate: `python verifier.py certificate.zip [--key PUBLIC]`. Python and `cryptography`, nothing of modelsel.

Written from docs/guard/certificate.md. It recomputes digests, chains, signatures, prices and intervals, and says what it cannot
know. Exit 0 where all holds, 5 where something does not.
"""

import hashlib
import json
import os
import sys
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, inf, isfinite, lgamma, log, log1p, sqrt
from typing import ClassVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT = "modelsel certificate 1"
MEMBERS = ("certificate.json", "chain.jsonl", "signatures.json", "signature.json")
BESIDE = ("card.cdx.json", "README.md", "stamp.tsr")
LARGEST, NEAR, MOST_ROWS, MOST_STEPS = 256 << 20, 1e-6, 10**9, 5 * 10**7
ENTRY, CERTIFICATE = b"modelsel.entry.v1\0", "modelsel.certificate.v1 "
FAILED, PRIOR, FLOATS = 1e-6, 0.1, 650.0
STATED = ("look", "spent", "n", "delta", "release", "metric", "certified", "at", "cv_mean", "cv_rows")  # of a claim: its look's
SHOWN = ("symbol", "score", "errors", "interval", "price")  # and what was answered
APART = ("units", "withheld", "plan")  # of a look whose rows are not independent, or whose loss is no count
LOOSE = (*APART, "asker", "predictions_sha256", "answers", "verdicts", "superseded")  # what some claims have besides
BOUND = ("count", "cell", "pass", "fail")
SHARES = ("error", "within", "error_quantiles")  # measures that are a share of rows
UNKNOWN = (
    "who looked: keys sign, and names are what their owners say",
    "whether scores follow from the labels: nobody here has seen labels or predictions",
    "whether the same rows were looked at elsewhere: in another home, ledger or program",
    "whether the rows are exchangeable with those that the score is to speak of",
    "what other anchors saw: `witnesses`, ledger and software are as the issuer states them",
)


# What is stated, by kinds. What a statement lacks has the default here; without one it is an error to ask for it.


class _Stated:
    """Statements, equal where they state the same. `PARTS` are those that state several things themselves."""

    PARTS: ClassVar[dict[str, type]] = {}

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def _read(kind, stated):
    """Read statements of a kind from JSON."""
    one = object.__new__(kind)
    one.__dict__.update(stated)
    for name, part in kind.PARTS.items():
        value = stated.get(name)
        if isinstance(value, list):
            one.__dict__[name] = [_read(part, each) if isinstance(each, dict) else each for each in value]
        elif isinstance(value, dict):
            one.__dict__[name] = _read(part, value)
    return one


@dataclass(eq=False, kw_only=True)
class _Units(_Stated):
    """The units of rows that an interval counts."""

    count: int
    largest: int
    effective: float
    method: str


@dataclass(eq=False, kw_only=True)
class _Plan(_Stated):
    """How a bounded loss is shown: by which method, in how many steps, and what was foreseen."""

    method: str
    nats: float
    units: float
    steps: int
    expected: float
    spread: float
    origin: float
    width: float
    bets: list[float] | None
    reach: list[float]
    cap: float | None = None


@dataclass(eq=False, kw_only=True)
class _Config(_Stated):
    """Of the settings of a look, who handed an answer to an exam in, and which."""

    asker: str | None = None
    handed: str | None = None


@dataclass(eq=False, kw_only=True)
class _ExamAnswer(_Stated):
    """An answer to an exam, at its close."""

    name: str
    base: float
    certified: bool
    score: float | None
    errors: int | None
    interval: list[float] | None


@dataclass(eq=False, kw_only=True)
class _Released(_Stated):
    """What was released: counts that are left possible, or a half width, or a cell of a plan."""

    low: int | None = None
    high: int | None = None
    half: float | None
    rounding: float
    bounds: list[float]
    stays: bool = False
    held: list[float] | None
    set_by: int
    cell: int | None = None
    k: int | None = None
    places: list[list[int]] | None = None


@dataclass(eq=False, kw_only=True)
class _Above(_Stated):
    """The rows that lost more than a cap."""

    rows: int
    interval: list[float] | None


@dataclass(eq=False, kw_only=True)
class _Mirror(_Stated):
    """The entry of another ledger that one is a copy of."""

    hash: str | None = None


@dataclass(eq=False, kw_only=True)
class _Entry(_Stated):
    """An entry of the chain; `what`, `exam` and `terms` of a note about an exam."""

    kind: str
    hash: str
    id: str
    testset: str
    mirror: _Mirror | None = None
    what: str | None = None
    exam: str | None = None
    terms: object = None  # their digest; of a seal what they state

    PARTS = {"mirror": _Mirror}


@dataclass(eq=False, kw_only=True)
class _Look(_Entry):
    """An intent."""

    look: int
    spent: float
    n: int
    metric: str
    worst: float
    nats: float
    delta: float
    release: str
    cv_mean: float | None
    cv_rows: int
    cv_error: float | None = None
    numbers: int = 1
    space: int | None = None
    member: bool = False
    commit: str | None = None
    charged: tuple[str, ...] | list[str] = ()
    seen: dict[str, int] | None = None
    config: _Config | None = None
    units: _Units | None = None
    withheld: str | None = None
    plan: _Plan | None = None
    quantiles: list[object] | dict[str, object] | None = None
    answers: list[_ExamAnswer] | None = None
    counted: bool
    certified: bool | None = None
    at: str | None = None

    PARTS = {"mirror": _Mirror, "units": _Units, "plan": _Plan, "config": _Config, "answers": _ExamAnswer}


@dataclass(eq=False, kw_only=True)
class _Answer(_Entry):
    """The reveal of a look, or its failure."""

    intent: str
    symbol: str
    score: float | None
    errors: int | None = None
    interval: list[float] | None = None
    price: float
    released: _Released | None = None
    answers: list[_ExamAnswer] | None = None
    verdicts: list[dict[str, str]] | None = None
    above: _Above | None = None
    quantiles: list[object] | dict[str, object] | None = None

    PARTS = {"mirror": _Mirror, "released": _Released, "answers": _ExamAnswer, "above": _Above}


@dataclass(eq=False, kw_only=True)
class _Terms(_Stated):
    """The terms of a seal."""

    delta: float
    steps: int | None = None


@dataclass(eq=False, kw_only=True)
class _Seal(_Entry):
    """A seal of rows."""

    n: int = 0
    space: int | None = None
    independent: str | None = None

    PARTS = {"mirror": _Mirror, "terms": _Terms}


@dataclass(eq=False, kw_only=True)
class _Commitment(_Entry):
    """A model that was fixed before any answer."""

    look: int
    spent: float


@dataclass(eq=False, kw_only=True)
class _Superseded(_Stated):
    """What stands in place of a look after a merge."""

    look: int
    spent: float
    interval: list[float] | None


@dataclass(eq=False, kw_only=True)
class _Claim(_Stated):
    """What a certificate says of a look."""

    intent: str
    metric: str
    score: float | None
    interval: list[float] | None = None
    answers: list[_ExamAnswer] | None = None
    asker: str | None = None
    predictions_sha256: str | None = None
    superseded: "_Superseded | None" = None

    PARTS = {"answers": _ExamAnswer, "superseded": _Superseded, "units": _Units, "plan": _Plan, "above": _Above}


@dataclass(eq=False, kw_only=True)
class _Certificate(_Stated):
    """The statement that is signed."""

    kind: str
    by: str
    testset: str
    claims: list[_Claim]
    members: dict[str, str]
    about: dict[str, object]
    format: str | None = None

    PARTS = {"claims": _Claim}


KINDS = {"intent": _Look, "reveal": _Answer, "abort": _Answer, "seal": _Seal, "commit": _Commitment}


class CheckedCertificate:
    """The result of checking a certificate: statements that hold, that do not, and that cannot be known."""

    def __init__(self):
        self.held, self.faults, self.unknown = [], [], list(UNKNOWN)
        self.steps = 0  # of work, so that nobody has it run for ever

    def check(self, holds, what):
        (self.held if holds else self.faults).append(what)
        return holds

    @property
    def code(self):
        return 5 if self.faults else 0

    def text(self) -> str:
        """Each statement with what became of it, and the verdict."""
        lines = [f"holds    {one}" for one in self.held] + [f"FAULT    {one}" for one in self.faults]
        said = (
            f"{len(self.faults)} of {len(lines)} statements do not hold" if self.faults else f"all {len(lines)} statements hold"
        )
        return "\n".join(
            [*lines, *(f"unknown  {one}" for one in self.unknown), f"verdict  {'FAULT: ' * bool(self.faults)}{said}"]
        )


def verify(path: object, key: str | None = None) -> CheckedCertificate:
    """Check a certificate; `key` is the public key that ought to have signed it, where that is known."""
    verdict = CheckedCertificate()
    try:
        members = _members(path)
        facts = _read(_Certificate, _json(members["certificate.json"]))
        _signed(verdict, members, facts, key)
        entries = _chains(verdict, members)
        _claims(verdict, facts, entries)
        _about(verdict, facts, entries)
        _cards(verdict, members, facts)
    except Exception as error:  # whatever a hostile file brings about: it is no certificate
        verdict.check(False, f"it cannot be read as a certificate: {os.path.basename(str(path))} ({_reason(error)})")
    return verdict


def _reason(error):
    """What is wrong with a file that is no certificate, in words."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    misshapen = isinstance(error, (AttributeError, TypeError, KeyError, IndexError, RecursionError))
    return "its contents have another shape" if misshapen else str(error)[:120]


def _members(path):
    """The members by name, in memory: nothing is unpacked, other names and oversized members are refused."""
    if os.path.getsize(path) > LARGEST:
        raise ValueError("too large")
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]
        if len(set(names)) < len(names) or set(names) - {*MEMBERS, *BESIDE} or set(MEMBERS) - set(names):
            raise ValueError(f"members {names[:8]}")
        if sum(info.file_size for info in infos) > LARGEST:
            raise ValueError("members too large")
        return {name: archive.read(name) for name in names}


def _json(data):
    """Parse JSON; NaN, infinities and repeated names are refused, as readers differ on them."""

    def once(pairs):
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a name stands twice")
        return dict(pairs)

    def never(text):
        raise ValueError(text)

    return json.loads(data, object_pairs_hook=once, parse_constant=never)


def _canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _signed(verdict, members, facts, key):
    """Check format, members and signature, and list what a signature cannot prove."""
    signature = _json(members["signature.json"])
    digest = hashlib.sha256(members["certificate.json"]).hexdigest()
    verdict.check(facts.format == FORMAT, f"it is of the format {FORMAT!r}")
    stated = facts.members
    present = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    covered = {name: present[name] for name in present if name not in ("certificate.json", "signature.json", "stamp.tsr")}
    verdict.check(stated == covered, "its members are those that it states")
    good = _verified(signature["key"], (CERTIFICATE + digest).encode(), signature["value"])
    verdict.check(good and signature["key"] == facts.by, f"it is signed by {facts.by}")
    if key is not None:
        verdict.check(facts.by == key, "that is the key which was expected")
    else:
        verdict.unknown.append("whose key that is: compare it with what `modelsel doctor` says on the issuer's machine")
    if "stamp.tsr" in members:
        verdict.unknown.append(
            "whether the time stamp is good: openssl ts -verify -in stamp.tsr -data certificate.json -CAfile ..."
        )
    else:
        verdict.unknown.append("when: the times are those of the issuer's clock, and there is no time stamp")


def _verified(public, message, signature):
    """Say whether an Ed25519 signature is good."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), ENTRY + message)
    except (ValueError, InvalidSignature):
        return False
    return True


def _chains(verdict, members):
    """Entries whose contents are shown, by (replica, seq): every link is recomputed, every chain's end is signed."""
    lines = [_json(line) for line in members["chain.jsonl"].decode().splitlines()]
    signatures, chains, shown = _json(members["signatures.json"]), {}, {}
    for line in lines:
        chains.setdefault(line["replica"], []).append(line)
    for replica, chain in chains.items():
        prev, whole = hashlib.sha256(b"modelsel.genesis.v1\0" + replica.encode()).hexdigest(), True
        for number, line in enumerate(chain, 1):
            whole &= line["seq"] == number and line["prev"] == prev
            if "body" in line:
                whole &= line["hash"] == _hash(line)
                shown[replica, line["seq"]] = _read(
                    KINDS.get(line["kind"], _Entry), {**_json(line["body"]), "kind": line["kind"], "hash": line["hash"]}
                )
            prev = line["hash"]
        verdict.check(whole, f"chain {replica[:12]} holds, entry by entry ({len(chain)})")
        signed = signatures.get(replica) or {"key": "", "value": ""}
        good = _verified(signed["key"], prev.encode(), signed["value"]) and _belongs(replica, signed["key"])
        verdict.check(good, f"its end is signed by the one key that may write it, {signed['key'][:16]}")
    withheld = sum("body" not in line for line in lines)
    if withheld:
        verdict.unknown.append(f"what {withheld} entries say whose contents are withheld: looks at other rows, the issuer says")
    return shown


def _hash(line):
    """Hash a ledger entry with its place in the chain."""
    state = hashlib.sha256(b"modelsel.ledger.v1\0")
    for value in (line["prev"], line["replica"], str(line["seq"]), line["kind"], line["body"]):
        raw = value.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big") + raw)
    return state.hexdigest()


def _belongs(replica, public):
    salt = replica[:8]
    return replica[8:] == hashlib.sha256(b"modelsel.replica.v2\0" + public.encode() + salt.encode()).hexdigest()[:24]


def _claims(verdict, facts, entries):
    """Recompute the prices of all looks, then compare each claim with the answer on record."""
    record = _Record(entries)
    verdict.check(facts.kind in ("run", "exam"), "it is about a run or an exam")
    faults = [*record.faults()]
    verdict.check(not faults, "; ".join(faults[:3]) or f"{len(record.looks)} looks state what looks can state")
    if faults:
        raise ValueError("what looks state makes no sense")
    prices = sum(_priced(verdict, record, look) for _, look in record.looks.values())
    verdict.check(bool(facts.claims), f"{len(facts.claims)} claims, {prices} prices recomputed")
    verdict.check(len({one.intent for one in facts.claims}) == len(facts.claims), "no look is claimed twice")
    for claim in facts.claims:
        place, look = record.looks[claim.intent]
        answer = record.ends[claim.intent][1]
        _placed(verdict, place, look, record)
        verdict.check(look.testset == facts.testset, f"{_name(look)}: it is at the rows that the certificate is about")
        if vars(claim).keys() & {"asker", "predictions_sha256"}:
            said, handed = (claim.asker, claim.predictions_sha256), look.config or _Config()
            stated = said == (handed.asker, handed.handed)
            verdict.check(stated, f"{_name(look)}: asker and predictions are those on record")
        same = _alike(claim, look, STATED) and _alike(claim, answer, SHOWN)
        same &= _alike(claim, look, APART)
        same &= vars(claim).keys() <= {"intent", *STATED, *SHOWN, *LOOSE}
        same &= _alike(claim, answer, ("answers", "verdicts"))
        verdict.check(same, f"{_name(look)}: the claim is the answer on record")
        _alone(verdict, place, look, record, claim)
        if look.metric == "closing":
            _closed(verdict, look, answer, record)
        else:
            _interval(verdict, look, answer, record)


def _alike(claim, stated, names):
    return all(vars(claim).get(name) == vars(stated).get(name) for name in names)


class _Record:
    """The looks that are shown with their answers, the seals and the commitments, each with its place in the chains."""

    def __init__(self, entries):
        """Sort the entries of all chains by kind."""
        kinds = {kind: [(place, one) for place, one in sorted(entries.items()) if one.kind == kind]
                 for kind in ("intent", "seal", "commit", "reveal", "abort")}  # fmt: skip
        self.intents, self.commits = kinds["intent"], kinds["commit"]
        self.looks = {one.id: (place, one) for place, one in self.intents}
        self.seals, self.ends = {}, {}
        for place, one in kinds["seal"]:
            self.seals.setdefault(one.testset, []).append((place, one))
        for place, one in sorted(kinds["reveal"] + kinds["abort"], key=lambda end: end[0]):
            self.ends.setdefault(one.intent, (place, one))

    def faults(self):
        """Name what no look can state: numbers that are none, or that make an interval narrower than any look has."""
        if len(self.looks) < len(self.intents):
            yield "two looks have one name"
        for _, one in self.intents:
            if not 0 < one.n <= MOST_ROWS:
                raise ValueError("a look at no rows, or at too many")
            whole = [one.n, one.look, one.numbers, 1 if one.space is None else one.space]
            if not all(type(number) is int and number >= 1 for number in whole):
                yield f"{_name(one)}: rows, index, numbers and space are counts"
            if type(one.member) is not bool:
                yield f"{_name(one)}: its model was declared, or it was not"
            if "delta" in vars(one) and not (type(one.delta) is float and 0 < one.delta <= 0.5):
                yield f"{_name(one)}: δ is a probability, ½ at most"
            if not all(map(_nonnegative, (one.spent, one.worst))):
                yield f"{_name(one)}: nats are not below 0"
        for name, (_, one) in self.ends.items():
            if one.kind == "reveal" and not _nonnegative(one.price):
                yield f"the price of {name[:8]} is below 0"
        for _, one in self.commits:
            if type(one.look) is not int or one.look < 1 or not _nonnegative(one.spent):
                yield "a commitment has an index, and nats that are not below 0"

    def sealed(self, place, look, charged=False):
        """The seals of a look's rows (or of all sets that it pays for) that were on record when it began."""
        sets = _charged(look) if charged else [look.testset]
        return [seal for name in sets for there, seal in self.seals.get(name, ()) if _known(place, look, there)]

    def before(self, place, look, there):
        """The looks on record when an entry was written, copies apart, at the sets that a look pays for."""
        found = [(one_place, one) for one_place, one in self.intents
                 if one_place != place and one.testset in _charged(look) and _known(there, look, one_place)]  # fmt: skip
        hashes = {one.hash for _, one in found}
        return [(at, one) for at, one in found if (one.mirror or _Mirror()).hash not in hashes]

    def committed(self, look, there):
        """The commitments on record when an entry was written, at the sets that a look pays for."""
        found = [one for place, one in self.commits if one.testset in _charged(look) and _known(there, look, place)]
        hashes = {one.hash for one in found}
        return [one for one in found if (one.mirror or _Mirror()).hash not in hashes]

    def apart(self, place, look):
        """The looks that did not know of a look, nor it of them, at the sets that it pays for."""
        return [one for there, one in self.intents if there != place and one.testset in _charged(look)
                and not _known(place, look, there) and not _known(there, one, place)]  # fmt: skip

    def nats(self, found, look, there):
        """Sum what these looks had cost by then: of one without an answer the worst; one at work told nobody anything."""
        total = 0.0
        for _, one in found:
            end = self.ends.get(one.id)
            if end is None or end[1].kind != "reveal":
                total += one.worst
            elif _known(there, look, end[0]):
                total += end[1].price
        return total


def _nonnegative(value):
    return type(value) in (int, float) and isfinite(value) and value >= 0


def _wider(limits, own):
    return bool(own) and limits[0] <= own[0] + NEAR and limits[1] >= own[1] - NEAR


def _charged(look):
    return {look.testset, *look.charged}


def _alone(verdict, place, look, record, claim):
    """Check that the claimed interval allows for looks that were merged in and did not know of it."""
    apart = record.apart(place, look)
    said = claim.superseded
    if apart or said:
        verdict.check(bool(said), f"{_name(look)}: {len(apart)} looks that did not know of it supersede its interval")
    if said:
        least, spent = look.look + len(apart), look.spent + record.nats([(None, one) for one in apart], look, None)
        good = said.look >= least and said.spent >= spent - NEAR
        verdict.check(good, f"{_name(look)}: beside them it counts as look {said.look}, not below {least}")
        limits, own = said.interval, claim.interval
        verdict.check(not limits or _wider(limits, own), f"{_name(look)}: beside them its interval is no narrower")
        said = f"[{limits[0]:.6f}, {limits[1]:.6f}]" if limits else "none"
        verdict.unknown.append(f"whether the interval of {_name(look)} beside looks of another machine is {said}: as stated")


def _known(place, look, there):
    """Say whether an entry was on record when an entry of a look was written; None: now, when everything is."""
    if place is None:
        return True
    return place[1] > there[1] if place[0] == there[0] else (look.seen or {}).get(there[0], 0) >= there[1]


def _name(look):
    return f"look {look.look} at {look.testset[:8]}"


def _placed(verdict, place, look, record):
    """Check that index and spending are no less than the entries on record when the model was fixed."""
    if look.commit:
        named = [(at, one) for at, one in record.commits if one.id == look.commit]
        there, stated = named[0] if len(named) == 1 else (None, {})
        own = there is not None and there[0] == place[0] and there[1] < place[1] and stated.testset == look.testset
        own &= (stated.look, stated.spent) == (look.look, look.spent)
        own &= sum(one.commit == look.commit for _, one in record.intents) == 1
        verdict.check(own, f"{_name(look)}: its index is that of its commitment")
    else:
        there = place
    before = record.before(place, look, there)
    index = 1 + sum(not one.commit for _, one in before) + len(record.committed(look, there))
    least = record.nats(before, look, there)
    verdict.check(look.look >= index, f"{_name(look)}: its index is not below {index}, what was before it")
    verdict.check(look.spent >= least - NEAR, f"{_name(look)}: {look.spent:.4f} nats were spent, not below {least:.4f}")
    seals = record.sealed(place, look)
    good = bool(seals) and vars(look).get("delta", 1) <= max(seal.terms.delta for seal in seals) + NEAR
    verdict.check(good, f"{_name(look)}: δ is that of the seal")
    rows = bool(seals) and look.n <= max(seal.n for seal in seals)
    verdict.check(rows, f"{_name(look)}: {look.n} rows, no more than were sealed")
    declared = all(seal.space is not None for seal in seals)
    verdict.check(not declared or look.space is not None, f"{_name(look)}: it pays for what was declared")
    spaces = [seal.space for seal in seals or record.sealed(place, look, charged=True) if seal.space is not None]
    said = look.space
    if look.member:
        verdict.unknown.append(f"whether the model of {_name(look)} is one of the {said} that were declared: as stated")
    verdict.check(said is None or said in spaces, f"{_name(look)}: the space of {said} is that of a seal")


def _nats(look):
    """Compute −log of the error probability that one side of an interval has."""
    tree = -log(_weight(look.look)) + look.spent
    base = log(2 * look.numbers / look.delta)
    if look.space is None:
        return base + tree
    return base + log(2) + min(tree, log(look.space) if look.member else inf)


def _weight(look):
    return 0.8 if look == 1 else 1 / (5 * look * (look - 1))


def _interval(verdict, look, answer, record):
    """Recompute an answer's interval and compare it with the one on record."""
    if answer.interval is None:
        return
    released, nats = answer.released, _nats(look)
    verdict.check(abs(nats - look.nats) < NEAR, f"{_name(look)}: the level is e^-{nats:.4f} a side")
    said = {seal.independent for seal in record.sealed(record.looks[look.id][0], look)} - {None}
    if said:
        good = said == {"units"} and bool(look.units)
        verdict.check(good, f"{_name(look)}: rows that were sealed in units, or in time, are not counted as rows")
    if released.stays:
        found = released.held
        set_by = [(there, one, record.ends[name][1]) for name, (there, one) in record.looks.items()
                  if name in record.ends and one.testset in _charged(look)]  # fmt: skip
        set_by = [(there, one, shown) for there, one, shown in set_by if one.look == released.set_by
                  and not bool(shown.released and shown.released.stays) and (shown.interval == found
                  or (record.apart(there, one) and _wider(found, shown.interval)))]  # fmt: skip
        verdict.check(bool(set_by), f"{_name(look)}: it was set in look {released.set_by}")
        for there, one, shown in set_by[:1]:
            _placed(verdict, there, one, record)
            _interval(verdict, one, shown, record)
    elif look.plan and released.cell is not None:
        found = _planned(verdict, look, answer, nats)
    elif look.units:
        found = _of_units(verdict, look, released, nats)
        verdict.check(_counted(look, answer), f"{_name(look)}: the interval is that of the count shown")
    elif released.low is not None:
        found = [lower(released.low, look.n, nats), upper(released.high, look.n, nats)]
        verdict.check(_counted(look, answer), f"{_name(look)}: the interval is that of the count shown")
    else:
        low, high = released.bounds
        good = released.half >= (high - low) ** 2 / (2 * look.n) * (1 - NEAR) and released.rounding >= 0
        verdict.check(good, f"{_name(look)}: the width is no less than that of a mean of {look.n} values")
        width = sqrt(released.half * nats) + released.rounding
        found = [max(low, answer.score - width), min(high, answer.score + width)]
    good = all(abs(one - other) < 1e-5 for one, other in zip(found, answer.interval, strict=True))
    verdict.check(good, f"{_name(look)}: the interval is [{found[0]:.6f}, {found[1]:.6f}]")
    if look.quantiles and released.places:
        _quantiles(verdict, look, answer, nats)
    if look.member:
        verdict.unknown.append(f"{_name(look)}: whether the model was one of those declared; its record says so")


def _quantiles(verdict, look, answer, nats):
    """Check that places in the grid are decided by the counts that this level has, and that the ends shown are theirs."""
    grid, n = look.quantiles["grid"], look.n
    ends = [0, *grid, None]
    good = all(low < high for low, high in pairwise(grid)) and look.numbers > len(answer.released.places)
    for asked, places, shown in zip(look.quantiles["asked"], answer.released.places, answer.quantiles, strict=True):
        q, (low, middle, high) = asked["q"], places
        if not look.units:  # else the score of units decides, whose sizes nobody here has seen
            good &= upper(asked["low"], n, nats) >= q - NEAR and (
                not asked["low"] or upper(asked["low"] - 1, n, nats) <= q + NEAR
            )
            good &= asked["high"] > n or lower(asked["high"], n, nats) >= q - NEAR
        good &= asked["middle"] == ceil(q * n - 1e-9) and 0 <= low <= middle <= high <= len(grid)
        good &= (shown["q"], shown["value"], shown["interval"]) == (q, ends[middle + 1], [ends[low], ends[high + 1]])
    verdict.check(good, f"{_name(look)}: quantiles of errors are those of the places shown, at this level")
    verdict.unknown.append(f"{_name(look)}: whether these places are those of the errors, which no certificate may hold")


def _planned(verdict, look, answer, nats):
    """Compute the limits of a bounded loss from the plan in the intent and the symbols shown."""
    plan, cell, k = look.plan, answer.released.cell, answer.released.k
    steps, wealth = plan.steps, plan.bets is not None
    whole = type(cell) is int and 1 <= steps <= MOST_STEPS and 0 <= cell <= steps and (type(k) is int) == wealth
    shown = abs(answer.score - (plan.origin + plan.width * cell / steps)) < NEAR
    verdict.check(whole and shown and (k is None or k >= -40), f"{_name(look)}: its score is a cell of the plan's")
    score, name = cell / steps, _name(look)
    below, above = max(0.0, (cell - 0.5) / steps), min(1.0, (cell + 0.5) / steps)
    if wealth:
        verdict.check(abs(plan.nats - nats) < NEAR, f"{name}: its plan is for this level")
        verdict.unknown.append(f"{name}: whether its limits hold the losses of units, which no certificate may show")
        found = [max(0.0, score - plan.reach[0] * 1.1**k), min(1.0, score + plan.reach[1] * 1.1**k)]
    else:
        verdict.check(0 < plan.units <= look.n * (1 + NEAR), f"{name}: no more units than rows")
        found = _by_score(plan, below, above, nats)
    _capped(verdict, look, answer, nats)
    return sorted(plan.origin + plan.width * end for end in found)


def _capped(verdict, look, answer, nats):
    """Recompute the interval of the share of rows that lost more than the cap."""
    said, n = answer.above, look.n
    if said is None:
        return
    rows = _read(_Released, {"low": said.rows, "high": said.rows})
    found = _of_units(verdict, look, rows, nats) if look.units else [lower(rows.low, n, nats), upper(rows.high, n, nats)]
    good = type(said.rows) is int and all(abs(one - other) < 1e-5 for one, other in zip(found, said.interval, strict=True))
    verdict.check(good, f"{_name(look)}: {said.rows} rows lost more than the cap, [{found[0]:.6f}, {found[1]:.6f}]")


def _by_score(plan, below, above, nats):
    """Limits of every score that is rounded to a cell, by the method that the plan names."""
    if plan.method == "binomial":
        n = int(plan.units)
        return [lower(max(0, ceil(below * n - 1e-9)), n, nats), upper(min(n, int(above * n + 1e-9)), n, nats)]
    divergence = nats / plan.units
    if plan.method == "hoeffding":
        half = sqrt(divergence / 2)
        return [max(0.0, below - half), min(1.0, above + half)]
    return [_chernoff(below, 0.0, divergence) if below else 0.0, _chernoff(above, 1.0, divergence) if above < 1 else 1.0]


def _between_edges(plan, below, above):
    """The probability of a cell: .1 spread evenly, .9 by a beta distribution with the plan's mean and spread."""
    mean = min(max(plan.expected, 1e-6), 1 - 1e-6)
    strength = max(mean * (1 - mean) / plan.spread**2 - 1, 1.0)
    a, b = strength * mean, strength * (1 - mean)

    def up_to(p):
        if p in (0.0, 1.0):
            return p
        return exp(_tail(p, a, b)) if p < mean else 1 - exp(_tail(1 - p, b, a))

    return 0.1 / (plan.steps + 1) + 0.9 * max(0.0, up_to(above) - up_to(below))


def _of_units(verdict, look, released, nats):
    """Compute the limits that the score alone gives units of rows; of their sizes only the bounds can be checked."""
    units, n = look.units, look.n
    good = 1 <= units.largest <= n and 0 < units.effective <= units.count * (1 + NEAR) <= n * (1 + 2 * NEAR)
    verdict.check(good, f"{_name(look)}: {units.count} units, no more than rows, and no fewer than the interval counts")
    verdict.unknown.append(f"{_name(look)}: which rows belong to one unit, and that units are independent; its record says so")
    low, high, effective = released.low / n, released.high / n, units.effective
    if units.method == "hoeffding":
        half = sqrt(nats / (2 * effective))
        return [max(0.0, low - half), min(1.0, high + half)]
    verdict.check(abs(effective - n / units.largest) < NEAR * n, f"{_name(look)}: its units are counted by the largest")
    return [_chernoff(low, 0.0, nats / effective) if low else 0.0, _chernoff(high, 1.0, nats / effective) if high < 1 else 1.0]


def _counted(look, answer):
    """Say whether score and count shown are those that the interval, or the price, is made from."""
    low, high, n = answer.released.low, answer.released.high, look.n
    score, errors = answer.score, vars(answer)["errors"]
    if not (type(low) is int and type(high) is int and 0 <= low <= high <= n):
        return False
    if answer.symbol in ("pass", "fail"):
        return score is None and errors is None and (low == 0 if answer.symbol == "pass" else high == n)
    if answer.symbol == "count":
        return low == high == errors and abs(score - errors / n) < NEAR
    return errors is None and (low - 1) / n <= score <= (high + 1) / n


def _closed(verdict, look, answer, record):
    """Check that every answer of a close has its own index, and recompute the intervals of counts."""
    handed = {(one.config or _Config()).handed: one for _, one in record.looks.values()}
    alone = -log(_weight(look.look)) + look.spent + log(max(1, len(answer.answers)))
    for stated, shown in zip(look.answers, answer.answers, strict=True):
        first = handed.get(stated.name)
        base = alone if first is None else -log(_weight(first.look)) + first.spent
        good = stated.name == shown.name and stated.base >= base - NEAR
        if shown.interval is not None and look.counted:
            nats = log(2 / look.delta) + (0 if look.space is None else log(2)) + base
            counts = _read(_Released, {"low": shown.errors, "high": shown.errors})
            found = [lower(counts.low, look.n, nats), upper(counts.high, look.n, nats)]
            found = _of_units(verdict, look, counts, nats) if look.units else found
            good &= shown.interval[0] <= found[0] + 1e-5 and shown.interval[1] >= found[1] - 1e-5
            good &= abs(shown.score - shown.errors / look.n) < NEAR
        verdict.check(good, f"answer {stated.name[:12]}: its interval is that of its own index")
    if not look.counted:
        verdict.unknown.append("whether intervals of measures other than counts follow: they are taken as stated")


def _priced(verdict, record, look):
    """Check that a price is no less than what was shown costs; 1 where it was recomputed, else 0."""
    place, (_, answer) = record.looks[look.id][0], record.ends.get(look.id, (None, _read(_Entry, {"kind": ""})))
    if answer.kind != "reveal":
        return 0
    least = _least(verdict, look, answer, record.sealed(place, look, charged=True))
    if least is None:
        return 0
    holds = answer.price >= least - NEAR
    if not holds:
        verdict.check(False, f"{_name(look)}: its price is {answer.price:.4f}, and its answer costs {least:.4f}")
    return 1


def _least(verdict, look, answer, seals):
    """Compute the least price of an answer in nats; None where it cannot be told from the record."""
    symbol, n, errors = str(answer.symbol), look.n, answer.errors
    if look.metric == "closing":
        return sum(log(n + 1) for _ in answer.answers) if look.counted else None
    if look.plan and answer.released and answer.released.cell is not None:
        return _least_of_plan(look, answer)
    if look.metric.partition(":")[0] not in SHARES or not seals or (symbol not in BOUND and errors is None):
        return None
    shown = symbol not in BOUND or _counted(look, answer)  # beside another value a count is shown and paid for, too
    verdict.check(shown, f"{_name(look)}: its score, count and counts left possible are of one answer")
    if symbol in ("pass", "fail"):
        return log(2) - log1p(-FAILED)
    low, high = (errors, errors) if symbol not in BOUND else (answer.released.low, answer.released.high)
    steps = min((seal.terms.steps for seal in seals if seal.terms.steps), default=None)
    steps = steps if symbol == "cell" else n
    verdict.check(steps is not None, f"{_name(look)}: no seal says that answers are rounded")
    if symbol == "cell":
        cell = round(answer.score * steps)
        rounds = [-(-n * (2 * cell + side) // (2 * steps)) for side in (-1, 1)]
        good = (low, high) == (max(0, rounds[0]), min(n, rounds[1] - 1))
        verdict.check(good, f"{_name(look)}: it leaves the counts possible that round to 1/{steps}")
    if look.release != "predicted":
        return log(steps + 1) - log1p(-FAILED)
    if not 0 <= low <= high <= n:
        raise ValueError("counts out of range")
    verdict.steps += high - low
    if verdict.steps > MOST_STEPS:
        raise ValueError("too much to compute")
    rate = look.cv_error if look.cv_error is not None else look.cv_mean
    mass = _mass(low, high, n, *((rate, look.cv_rows) if _foretells(rate, look) else (0.5, 1)))
    return -log(PRIOR / (steps + 1) + (1 - PRIOR) * mass) - log1p(-FAILED)


def _foretells(rate, look):
    """Say whether a rate of errors, and the rows that it was found on, foretell a count."""
    return rate is not None and isfinite(rate) and 0 <= rate <= 1 and look.cv_rows > 0


def _least_of_plan(look, answer):
    """What the symbols of a bounded loss and the counts beside it cost; rows above a cap by the forecast that fits best."""
    plan, cell, k, n = look.plan, answer.released.cell, answer.released.k, look.n
    least = 0.0 if k is None else log(4) - abs(k - 1) * log(0.6)
    edges = max(0.0, (cell - 0.5) / plan.steps), min(1.0, (cell + 0.5) / plan.steps)
    least -= log((1 - 1 / 128) * _between_edges(plan, *edges)) + log1p(-FAILED)
    rows, errors = answer.above and answer.above.rows, answer.errors
    if not all(count is None or (type(count) is int and 0 <= count <= n) for count in (rows, errors)):
        raise ValueError("counts out of range")
    if errors is not None:
        told = look.release == "predicted" and _foretells(look.cv_error, look)
        mass = _mass(errors, errors, n, look.cv_error, look.cv_rows) if told else 0.0
        least += -log(PRIOR / (n + 1) + (1 - PRIOR) * mass) if told else log(n + 1)
    if rows is not None:
        ways = lgamma(n + 1) - lgamma(rows + 1) - lgamma(n - rows + 1)
        best = exp(ways + sum(count * log(count / n) for count in (rows, n - rows) if count))
        least -= log(PRIOR / (n + 1) + (1 - PRIOR) * best)
    return least


def _mass(low, high, n, rate, rows):
    """Beta-binomial probability of low … high."""
    a, b = max(0.5, rows * rate), max(0.5, rows * (1 - rate))
    total = 0.0
    for e in range(low, high + 1):
        ways = lgamma(n + 1) - lgamma(e + 1) - lgamma(n - e + 1)
        total += exp(ways + _rise(a, e) + _rise(b, n - e) - _rise(a + b, n))
    return total


def _rise(x, k):
    """ln Γ(x + k) / Γ(x); for large x by Stirling's formula, since the difference of two large numbers tells nothing."""
    if x < 1e6:
        return lgamma(x + k) - lgamma(x)
    return k * log(x) + (x + k - 0.5) * log1p(k / x) - k + 1 / (12 * (x + k)) - 1 / (12 * x)


def _beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _about(verdict, facts, entries):
    """Check that the terms of an exam are those in its chain, for these rows."""
    if facts.kind != "exam":
        verdict.unknown.append("whether what the study says it declared is what it declared")
        return
    terms, made = facts.about["terms"], [one for one in entries.values() if one.what == "created"]
    digest = hashlib.sha256(_canonical(terms)).hexdigest()
    noted = any((one.exam, one.terms, one.testset) == (terms["id"], digest, facts.testset) for one in made)
    verdict.check(noted and facts.about["terms_sha256"] == digest, "the terms are those that the chain has for these rows")
    if terms.get("task") == "regression":
        measure = f"{terms['measure']['kind']}:{hashlib.sha256(_canonical(terms['measure'])).hexdigest()[:16]}"
        answers = {one.metric for one in facts.claims} - {"closing"}
        verdict.check(answers <= {measure}, f"each answer counts rows off by more than {terms['measure']['tolerance']}")


def _cards(verdict, members, facts):
    """Check that the numbers of both cards are those of the claims."""
    lines = []
    for claim in facts.claims:
        if claim.answers is not None:
            lines += [("score at the close", one.score, one.interval) for one in claim.answers]
        else:
            lines.append((claim.metric, claim.score, vars(claim)["interval"]))
    lines = [line for line in lines if line[1] is not None]
    if "card.cdx.json" in members:
        (component,) = _json(members["card.cdx.json"])["components"]
        metrics = component["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
        found = [(one["type"], one["value"], one.get("confidenceInterval")) for one in metrics]
        limits = [i and {"lowerBound": f"{i[0]:.6f}", "upperBound": f"{i[1]:.6f}"} for _, _, i in lines]
        good = found == [(kind, f"{score:.6g}", one) for (kind, score, _), one in zip(lines, limits)]
        verdict.check(good, "the CycloneDX card has the numbers of the claims")
    if "README.md" in members:
        _, head, text = members["README.md"].decode().split("---\n", 2)
        ((result,),) = [one["results"] for one in _json(head)["model-index"]]
        found = [(one["type"], one["value"], one.get("args", {}).get("interval")) for one in result["metrics"]]
        rows = [line.split(" | ")[2:4] for line in text.splitlines() if line.startswith("| ")][1:]
        limits = [f"[{i[0]:.4f}, {i[1]:.4f}]" if i else "none" for _, _, i in lines]
        good = (
            found == lines
            and len(rows) == len(lines)
            and all(
                (row[0], row[1].split(" (")[0].removesuffix(" |")) == (f"{score:.6g}", one)
                for row, (_, score, _), one in zip(rows, lines, limits)
            )
        )
        verdict.check(good, "the Hugging Face card has the numbers of the claims")
        verdict.unknown.append("what the cards say besides: names are the issuer's")


def lower(errors, n, nats):
    """The smallest rate for which `errors` or more have probability e^-nats."""
    if errors == 0:
        return 0.0
    if nats > FLOATS:
        return _chernoff(errors / n, 0.0, nats / n)
    return _solved(lambda p: _tail(p, errors, n - errors + 1), nats, errors / n)


def upper(errors, n, nats):
    """The largest rate for which `errors` or fewer have probability e^-nats."""
    if errors == n:
        return 1.0
    if nats > FLOATS:
        return _chernoff(errors / n, 1.0, nats / n)
    return 1 - _solved(lambda p: _tail(p, n - errors, errors + 1), nats, (n - errors) / n)


def _solved(tail, nats, most):
    """Bisect for the probability at which a log tail reaches −nats."""
    low, high = 0.0, most
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if tail(middle) < -nats else (low, middle)
    return (low + high) / 2


def _tail(p, a, b):
    """ln I_p(a, b), the incomplete beta function, by its continued fraction (Lentz), for p below a / (a + b)."""
    if p <= 0:
        return -inf
    front = a * log(p) + b * log1p(-p) - log(a) - _beta(a, b)
    tiny, c = 1e-300, 1.0
    d = 1 / (1 - (a + b) * p / (a + 1))
    value = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return front + log(value)


def _chernoff(rate, end, divergence):
    """Bisect for the rate at which the binary divergence reaches a bound, from `rate` towards `end`."""

    def away(p):
        q = rate
        return (q * log(q / p) if q else 0.0) + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0)

    outer = end + (1e-12 if end == 0 else -1e-12)
    if away(outer) <= divergence:
        return end
    inner = rate
    for _ in range(200):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if away(middle) < divergence else (inner, middle)
    return (inner + outer) / 2


def main(words):
    """The command line of this file."""
    key = words[words.index("--key") + 1] if "--key" in words[:-1] else None
    files = [word for word in words if word != "--key" and word != key]
    if len(files) != 1:
        print(__doc__)
        return 2
    verdict = verify(files[0], key)
    print(verdict.text())
    return verdict.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
