"""Check a certificate: `python verifier.py certificate.zip [--key PUBLIC]`. Python and `cryptography`, nothing of modelsel.

Written from docs/guard/certificate.md. It recomputes digests, chains, signatures, prices and intervals, and says what it cannot
know. Exit 0 where all holds, 5 where something does not.
"""

import hashlib
import json
import os
import sys
import zipfile
from math import exp, inf, isfinite, lgamma, log, log1p, sqrt
from typing import Any

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
BOUND = ("count", "cell", "pass", "fail")
UNKNOWN = (
    "who looked: keys sign, and names are what their owners say",
    "whether scores follow from the labels: nobody here has seen labels or predictions",
    "whether the same rows were looked at elsewhere: in another home, ledger or program",
    "whether the rows are exchangeable with those that the score is to speak of",
)


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

    def text(self):
        lines = [f"holds    {one}" for one in self.held] + [f"FAULT    {one}" for one in self.faults]
        return "\n".join([*lines, *(f"unknown  {one}" for one in self.unknown)])


def verify(path: Any, key: str | None = None) -> Any:
    """Check a certificate; `key` is the public key that ought to have signed it, where that is known."""
    verdict = CheckedCertificate()
    try:
        members = _members(path)
        facts = _json(members["certificate.json"])
        _signed(verdict, members, facts, key)
        entries = _chains(verdict, members)
        _claims(verdict, facts, entries)
        _about(verdict, facts, entries)
        _cards(verdict, members, facts)
    except Exception as error:  # whatever a hostile file brings about: it is no certificate
        verdict.check(False, f"it cannot be read as a certificate ({type(error).__name__}: {str(error)[:120]})")
    return verdict


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
    verdict.check(facts.get("format") == FORMAT, f"it is of the format {FORMAT!r}")
    stated = facts["members"]
    present = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    covered = {name: present[name] for name in present if name not in ("certificate.json", "signature.json", "stamp.tsr")}
    verdict.check(stated == covered, "its members are those that it states")
    good = _verified(signature["key"], (CERTIFICATE + digest).encode(), signature["value"])
    verdict.check(good and signature["key"] == facts["by"], f"it is signed by {facts['by']}")
    if key is not None:
        verdict.check(facts["by"] == key, "that is the key which was expected")
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
                shown[replica, line["seq"]] = {**_json(line["body"]), "kind": line["kind"]}
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
    looks = {one["id"]: (place, one) for place, one in entries.items() if one["kind"] == "intent"}
    if any(not 0 < one["n"] <= MOST_ROWS for _, one in looks.values()):
        raise ValueError("a look at no rows, or at too many")
    ends, seals = {}, {}
    for place, one in sorted(entries.items()):
        if one["kind"] in ("reveal", "abort"):
            ends.setdefault(one["intent"], (place, one))
        if one["kind"] == "seal":
            seals.setdefault(one["testset"], one)
    prices = 0
    for name, (_, look) in looks.items():
        if name in ends and ends[name][1]["kind"] == "reveal":
            prices += _priced(verdict, look, ends[name][1], seals.get(look["testset"]))
    verdict.check(bool(facts["claims"]), f"{len(facts['claims'])} claims, {prices} prices recomputed")
    for claim in facts["claims"]:
        place, look = looks[claim["intent"]]
        answer = ends[claim["intent"]][1]
        _placed(verdict, place, look, looks, ends, entries, seals)
        verdict.check(look["testset"] == facts["testset"], f"{_name(look)}: it is at the rows that the certificate is about")
        if facts["kind"] == "exam" and "asker" in claim:
            stated = (claim["asker"], claim["predictions_sha256"]) == (look["config"]["asker"], look["config"]["handed"])
            verdict.check(stated, f"{_name(look)}: asker and predictions are those on record")
        same = all(claim.get(name) == look.get(name) for name in STATED) and all(
            claim.get(name) == answer.get(name) for name in SHOWN
        )
        verdict.check(same, f"{_name(look)}: the claim is the answer on record")
        _alone(verdict, place, look, looks, claim)
        if look["metric"] == "closing":
            _closed(verdict, claim, look, answer, looks)
        else:
            _interval(verdict, look, answer, looks, ends)


def _alone(verdict, place, look, looks, claim):
    """Check that the claimed interval allows for looks that were merged in and did not know of it."""
    sets = look.get("charged", [look["testset"]])
    apart = [one for there, one in looks.values() if there != place and one["testset"] in sets
             and not _known(place, look, there) and not _known(there, one, place)]  # fmt: skip
    said = claim.get("superseded")
    if apart or said:
        verdict.check(bool(said), f"{_name(look)}: {len(apart)} looks that did not know of it supersede its interval")
    if said:
        least = look["look"] + len(apart)
        verdict.check(said["look"] >= least, f"{_name(look)}: beside them it counts as look {said['look']}")
        limits = said["interval"]
        said = f"[{limits[0]:.6f}, {limits[1]:.6f}]" if limits else "none"
        verdict.unknown.append(f"whether the interval of {_name(look)} beside looks of another machine is {said}: as stated")


def _known(place, look, there):
    """Say whether an entry was on record when a look began."""
    return place[1] > there[1] if place[0] == there[0] else (look.get("seen") or {}).get(there[0], 0) >= there[1]


def _name(look):
    return f"look {look['look']} at {look['testset'][:8]}"


def _placed(verdict, place, look, looks, ends, entries, seals):
    """Check that index and spending are no less than the entries on record when the look was written."""
    seen = look.get("seen") or {}
    seen = {**seen, place[0]: place[1] - 1}
    before = [
        (there, one)
        for there, one in looks.values()
        if there != place and there[1] <= seen.get(there[0], 0) and one["testset"] in look.get("charged", [look["testset"]])
    ]
    least = 0.0
    for _, one in before:
        end = ends.get(one["id"])
        known = end is not None and end[0][1] <= seen.get(end[0][0], 0) and end[1]["kind"] == "reveal"
        least += float(end[1]["price"] if known else one["worst"])
    index = 1 + sum(not one.get("commit") for _, one in before)
    commits = {one["id"]: one for one in entries.values() if one["kind"] == "commit"}
    stated = commits.get(look.get("commit"))
    if look.get("commit"):
        good = stated is not None and (stated["look"], stated["spent"]) == (look["look"], look["spent"])
        verdict.check(good, f"{_name(look)}: its index is that of its commitment")
        return
    verdict.check(look["look"] >= index, f"{_name(look)}: its index is not below {index}, the looks before it")
    verdict.check(look["spent"] >= least - NEAR, f"{_name(look)}: {look['spent']:.4f} nats were spent, not below {least:.4f}")
    seal = seals.get(look["testset"])
    verdict.check(
        seal is not None and look.get("delta", 1) <= seal["terms"]["delta"] + NEAR, f"{_name(look)}: δ is that of the seal"
    )


def _nats(look):
    """Compute −log of the error probability that one side of an interval has."""
    tree = -log(_weight(look["look"])) + look["spent"]
    base = log(2 * look.get("numbers", 1) / look["delta"])
    if look.get("space") is None:
        return base + tree
    return base + log(2) + min(tree, log(look["space"]) if look.get("member") else inf)


def _weight(look):
    return 0.8 if look == 1 else 1 / (5 * look * (look - 1))


def _interval(verdict, look, answer, looks, ends):
    """Recompute an answer's interval and compare it with the one on record."""
    if answer.get("interval") is None:
        return
    released, nats = answer["released"], _nats(look)
    verdict.check(abs(nats - look["nats"]) < NEAR, f"{_name(look)}: the level is e^-{nats:.4f} a side")
    if released.get("stays"):
        found = released["held"]
        set_by = [ends[name][1] for name, (_, one) in looks.items() if one["look"] == released["set_by"] and name in ends]
        verdict.check(
            any(one.get("interval") == found for one in set_by), f"{_name(look)}: it was set in look {released['set_by']}"
        )
    elif released.get("low") is not None:
        found = [lower(released["low"], look["n"], nats), upper(released["high"], look["n"], nats)]
        inside = answer["errors"] is None or released["low"] == released["high"] == answer["errors"]
        verdict.check(inside, f"{_name(look)}: the interval is that of the count shown")
    else:
        width = sqrt(released["half"] * nats) + released["rounding"]
        low, high = released["bounds"]
        found = [max(low, answer["score"] - width), min(high, answer["score"] + width)]
    good = all(abs(one - other) < 1e-5 for one, other in zip(found, answer["interval"], strict=True))
    verdict.check(good, f"{_name(look)}: the interval is [{found[0]:.6f}, {found[1]:.6f}]")
    if look.get("member"):
        verdict.unknown.append(f"{_name(look)}: whether the model was one of those declared; its record says so")


def _closed(verdict, claim, look, answer, looks):
    """Check that every answer of a close has its own index, and recompute the intervals of counts."""
    verdict.check(claim["answers"] == answer["answers"], f"{_name(look)}: the claim is the answer on record")
    handed = {(one.get("config") or {}).get("handed"): one for _, one in looks.values()}
    alone = -log(_weight(look["look"])) + look["spent"] + log(max(1, len(answer["answers"])))
    for stated, shown in zip(look["answers"], answer["answers"], strict=True):
        first = handed.get(stated["name"])
        base = alone if first is None else -log(_weight(first["look"])) + first["spent"]
        good = stated["name"] == shown["name"] and stated["base"] >= base - NEAR
        if shown["interval"] is not None and look["counted"]:
            nats = log(2 / look["delta"]) + base
            found = [lower(shown["errors"], look["n"], nats), upper(shown["errors"], look["n"], nats)]
            good &= shown["interval"][0] <= found[0] + 1e-5 and shown["interval"][1] >= found[1] - 1e-5
        verdict.check(good, f"answer {stated['name'][:12]}: its interval is that of its own index")
    if not look["counted"]:
        verdict.unknown.append("whether intervals of measures other than counts follow: they are taken as stated")


def _priced(verdict, look, answer, seal):
    """Check that a price is no less than what was shown costs; 1 where it was recomputed, else 0."""
    least = _least(verdict, look, answer, seal)
    if least is None:
        return 0
    holds = answer["price"] >= least - NEAR
    if not holds:
        verdict.check(False, f"{_name(look)}: its price is {answer['price']:.4f}, and its answer costs {least:.4f}")
    return 1


def _least(verdict, look, answer, seal):
    """Compute the least price of an answer in nats; None where it cannot be told from the record."""
    symbol, n = str(answer["symbol"]), look["n"]
    if look["metric"] == "closing":
        return sum(log(n + 1) for _ in answer["answers"]) if look["counted"] else None
    if look["metric"] != "error" or seal is None or symbol not in BOUND:
        return None
    released, steps = answer["released"], seal["terms"].get("steps")
    if symbol in ("pass", "fail"):
        return log(2) - log1p(-FAILED)
    if look["release"] == "predicted":
        rate = look["cv_error"] if look.get("cv_error") is not None else look["cv_mean"]
        usable = isfinite(rate) and 0 <= rate <= 1 and look["cv_rows"] > 0
        if not 0 <= released["low"] <= released["high"] <= n:
            raise ValueError("counts out of range")
        verdict.steps += released["high"] - released["low"]
        if verdict.steps > MOST_STEPS:
            raise ValueError("too much to compute")
        mass = _mass(released["low"], released["high"], n, *((rate, look["cv_rows"]) if usable else (0.5, 1)))
        return -log(PRIOR / ((steps or n) + 1) + (1 - PRIOR) * mass) - log1p(-FAILED)
    return log((steps if symbol == "cell" else n) + 1) - log1p(-FAILED)


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
    if facts["kind"] != "exam":
        verdict.unknown.append("whether what the study says it declared is what it declared")
        return
    terms, made = facts["about"]["terms"], [one for one in entries.values() if one.get("what") == "created"]
    digest = hashlib.sha256(_canonical(terms)).hexdigest()
    noted = any((one["exam"], one["terms"], one["testset"]) == (terms["id"], digest, facts["testset"]) for one in made)
    verdict.check(noted and facts["about"]["terms_sha256"] == digest, "the terms are those that the chain has for these rows")


def _cards(verdict, members, facts):
    """Check that the numbers of both cards are those of the claims."""
    lines = []
    for claim in facts["claims"]:
        if claim.get("answers") is not None:
            lines += [("score at the close", one["score"], one["interval"]) for one in claim["answers"]]
        else:
            lines.append((claim["metric"], claim["score"], claim["interval"]))
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
