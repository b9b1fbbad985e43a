"""Certificates that hold, made with nothing of modelsel: as docs/guard/certificate.md says, with limits and prices of SciPy.

Keys and times are fixed. A draft can be changed before it is hashed and signed, and what follows from the change can follow.
"""

import copy
import hashlib
import json
from collections.abc import Callable
from math import log, log1p, sqrt
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from scipy.optimize import brentq
from scipy.special import betaincinv, rel_entr
from scipy.stats import beta, betabinom

Facts = dict[str, Any]
Files = dict[str, bytes]
AT = "2026-01-01T00:00:00.000000+00:00"
ROWS, OTHER_ROWS, DELTA, N, STEPS = "a1" * 16, "b2" * 16, 0.05, 200, 20
OF_LOOK = ("look", "spent", "n", "delta", "release", "metric", "certified", "at", "cv_mean", "cv_rows")
OF_ANSWER = ("symbol", "score", "errors", "interval", "price")
APART = ("units", "withheld", "plan", "answers", "verdicts")
PAID = -log1p(-1e-6)


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Signer:
    """A key that follows from a number, and the name of its chain."""

    def __init__(self, number: int) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        self.public = self.private.public_key().public_bytes_raw().hex()
        salt = f"{number:08x}"
        self.replica = salt + sha256(f"modelsel.replica.v2\0{self.public}{salt}".encode())[:24]

    def sign(self, message: str) -> Facts:
        return {"key": self.public, "value": self.private.sign(f"modelsel.entry.v1\0{message}".encode()).hex()}


ISSUER, COLLEAGUE, STRANGER = Signer(1), Signer(2), Signer(3)


def limits(low: int, high: int, n: int, nats: float) -> list[float]:
    """The exact binomial limits of Clopper and Pearson at e^-nats a side."""
    level = 10 ** (-nats / log(10))
    below = 0.0 if low == 0 else float(betaincinv(low, n - low + 1, level))
    above = 1.0 if high == n else 1 - float(betaincinv(n - high, high + 1, level))
    return [round(below, 12), round(above, 12)]


def index_nats(look: int) -> float:
    return -log(0.8 if look == 1 else 1 / (5 * look * (look - 1)))


class Draft:
    """A statement and the entries that it stands on, each with its signer, kind and facts, or with a hash alone."""

    def __init__(self, kind: str) -> None:
        self.kind, self.entries, self.claimed, self.extra = kind, list[tuple[Signer, str, Facts]](), list[Facts](), Facts()
        self.about: Facts = {"study": "vectors"}

    def add(self, kind: str, signer: Signer = ISSUER, **facts: Any) -> Facts:
        self.entries.append((signer, kind, facts))
        return facts

    def seal(self, testset: str = ROWS, **facts: Any) -> Facts:
        terms = {"delta": DELTA, "steps": STEPS, "release": "full"}
        return self.add("seal", id=f"s-{testset[:4]}", testset=testset, n=N, space=None, terms=terms, at=AT, **facts)

    def look(self, name: str, look: int, spent: float, metric: str = "error", signer: Signer = ISSUER, **facts: Any) -> Facts:
        stated = {"id": name, "testset": ROWS, "charged": [ROWS], "seen": {}, "look": look, "spent": spent, "n": N,
                  "worst": 5.5, "delta": DELTA, "numbers": 1, "space": None, "member": False, "commit": None, "release": "full",
                  "metric": metric, "counted": metric in ("error", "closing"), "certified": True, "at": AT,
                  "cv_mean": 0.2, "cv_error": 0.2, "cv_rows": 400, **facts}  # fmt: skip
        return self.add("intent", signer, **stated)

    def answer(self, look: Facts, symbol: str, low: int, high: int, price: float, **facts: Any) -> float:
        """Answer a look, return what it cost."""
        shown: Facts = {"score": low / N, "errors": low} if symbol == "count" else {"score": None, "errors": None}
        released = {
            "low": low,
            "high": high,
            "half": None,
            "rounding": 0,
            "bounds": [0, 1],
            "stays": False,
            "held": None,
            "set_by": None,
        }
        price = round(price, 12)
        signer = next(one for one, _, stated in self.entries if stated is look)
        self.add("reveal", signer, **{"id": f"r-{look['id']}", "intent": look["id"], "symbol": symbol, **shown,
                 "interval": [], "price": price, "released": released, "at": AT, **facts})  # fmt: skip
        return price

    def claim(self, name: str, **beside: Any) -> None:
        self.claimed.append({"intent": name, **beside})

    def of(self, name: str) -> Facts:
        """The look of a name."""
        return next(facts for _, kind, facts in self.entries if kind == "intent" and facts["id"] == name)

    def end(self, name: str) -> Facts:
        return next(facts for _, _, facts in self.entries if facts.get("intent") == name)

    def place(self, facts: Facts) -> int:
        return next(number for number, entry in enumerate(self.entries) if entry[2] is facts)

    def settle(self) -> "Draft":
        """Let levels, intervals and claims be those that follow from what looks and answers state."""
        for _, kind, facts in self.entries:
            if kind == "reveal" and facts["symbol"] != "closed":
                look = self.of(facts["intent"])
                look["nats"] = round(_level(look), 12)
                if "plan" in look:
                    look["plan"]["nats"] = look["nats"]
                facts["interval"] = _interval(look, facts)
        for claim in self.claimed:
            look, end = self.of(claim["intent"]), self.end(claim["intent"])
            claim |= {name: look.get(name) for name in OF_LOOK} | {name: end.get(name) for name in OF_ANSWER}
            claim |= {name: {**look, **end}[name] for name in APART if name in {**look, **end}}
        return self

    def files(self) -> Files:
        """The members, hashed and signed."""
        lines, heads = [], dict[str, tuple[Signer, int, str]]()
        for signer, kind, facts in self.entries:
            genesis = sha256(f"modelsel.genesis.v1\0{signer.replica}".encode())
            _, number, prev = heads.get(signer.replica, (signer, 0, genesis))
            body = canonical(facts)
            state = b"modelsel.ledger.v1\0"
            for value in (prev, signer.replica, str(number + 1), kind, body):
                state += len(value.encode()).to_bytes(8, "big") + value.encode()
            line = {"replica": signer.replica, "seq": number + 1, "prev": prev, "hash": sha256(state)}
            lines.append(line if facts.get("testset") == OTHER_ROWS else {**line, "kind": kind, "body": body})
            heads[signer.replica] = (signer, number + 1, line["hash"])  # type: ignore[assignment]
        ends = {replica: signer.sign(end) for replica, (signer, _, end) in heads.items()}
        members = {"chain.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines).encode(),
                   "signatures.json": canonical(ends).encode(), **_cards(self.claimed)}  # fmt: skip
        return signed(members, {
            "format": "modelsel certificate 1", "kind": self.kind, "name": "vectors", "testset": ROWS, "claims": self.claimed,
            "about": self.about, "by": ISSUER.public, "ledger": "00" * 16, "software": "1", "witnesses": [], **self.extra,
        })  # fmt: skip


def signed(members: Files, statement: Facts | None = None) -> Files:
    """The members with a statement that has their digests, signed by the issuer."""
    facts = statement or json.loads(members["certificate.json"])
    stated = {name: sha256(data) for name, data in members.items() if name not in ("certificate.json", "signature.json")}
    text = canonical({**facts, "members": stated}).encode()
    signature = ISSUER.sign(f"modelsel.certificate.v1 {sha256(text)}")
    return {**members, "certificate.json": text, "signature.json": canonical(signature).encode()}


def _level(look: Facts) -> float:
    tree = index_nats(look["look"]) + look["spent"]
    base = log(2 * look["numbers"] / look["delta"])
    if look["space"] is None:
        return base + tree
    return base + log(2) + (min(tree, log(look["space"])) if look["member"] else tree)


def _interval(look: Facts, answer: Facts) -> list[float]:
    released, nats = answer["released"], look["nats"]
    if released["stays"]:
        return list(released["held"])
    if look.get("plan"):
        return planned(look["plan"], released, nats)
    if look.get("units"):
        half = sqrt(nats / (2 * look["units"]["effective"]))
        return [max(0.0, released["low"] / N - half), min(1.0, released["high"] / N + half)]
    if released["low"] is not None:
        return limits(released["low"], released["high"], look["n"], nats)
    width = sqrt(released["half"] * nats) + released["rounding"]
    return [round(max(0.0, answer["score"] - width), 12), round(min(1.0, answer["score"] + width), 12)]


def planned(plan: Facts, released: Facts, nats: float) -> list[float]:
    """The limits of a bounded loss: of every score that is rounded to the cell, or as wide as is said."""
    score, half, units = released["cell"] / plan["steps"], 0.5 / plan["steps"], plan["units"]
    below, above = max(0.0, score - half), min(1.0, score + half)
    if plan["bets"] is not None:
        ends = [
            max(0.0, score - plan["reach"][0] * 1.1 ** released["k"]),
            min(1.0, score + plan["reach"][1] * 1.1 ** released["k"]),
        ]
    elif plan["method"] == "binomial":
        ends = limits(-int(-below * units // 1), int(above * units), units, nats)
    elif plan["method"] == "hoeffding":
        ends = [max(0.0, below - sqrt(nats / 2 / units)), min(1.0, above + sqrt(nats / 2 / units))]
    else:
        ends = [_reached(below, 0.0, nats / units), _reached(above, 1.0, nats / units)]
    return [round(one, 12) for one in sorted(plan["origin"] + plan["width"] * end for end in ends)]


def _reached(rate: float, end: float, divergence: float) -> float:
    """Where the divergence of Kullback and Leibler from a rate reaches this."""

    def beyond(p: float) -> float:
        return float(rel_entr(rate, p) + rel_entr(1 - rate, 1 - p)) - divergence

    return end if rate == end else float(brentq(beyond, rate, end + (1e-15 if end == 0 else -1e-15), xtol=1e-14))


def planned_price(plan: Facts, cell: int, k: int | None = None) -> float:
    """What a cell costs, and how much wider the interval is than was foreseen."""
    mean = plan["expected"]
    strength = mean * (1 - mean) / plan["spread"] ** 2 - 1
    edges = [min(1.0, max(0.0, (cell + side / 2) / plan["steps"])) for side in (-1, 1)]
    mass = float(
        beta.cdf(edges[1], strength * mean, strength * (1 - mean)) - beta.cdf(edges[0], strength * mean, strength * (1 - mean))
    )
    wider = 0.0 if k is None else log(4) - abs(k - 1) * log(0.6)
    return wider - log((1 - 1 / 128) * (0.1 / (plan["steps"] + 1) + 0.9 * mass)) + PAID


def counted_price(rows: int, times: float, others: float) -> float:
    """What a count of rows costs beside a loss, where it was so many times among so many others before."""
    return -log(0.1 / (N + 1) + 0.9 * float(betabinom.pmf(rows, N, times, others)))


def _cards(claims: list[Facts]) -> Files:
    """The numbers of the claims in both cards."""
    lines = [("score at the close", one) for claim in claims for one in claim.get("answers") or ()]
    lines = [(claim["metric"], claim) for claim in claims if not claim.get("answers")] + lines
    metrics, rows, cyclone = [], "", []
    for kind, one in lines:
        if one["score"] is None:
            continue
        low, high = one["interval"]
        metrics.append({"type": kind, "name": kind, "value": one["score"], "args": {"interval": [low, high], "level": 0.95}})
        cyclone.append({"type": kind, "value": f"{one['score']:.6g}",
                        "confidenceInterval": {"lowerBound": f"{low:.6f}", "upperBound": f"{high:.6f}"}})  # fmt: skip
        rows += f"| vectors | {kind} | {one['score']:.6g} | [{low:.4f}, {high:.4f}] (95%) |\n"
    head = json.dumps({"tags": ["modelsel"], "model-index": [{"name": "vectors", "results": [{"metrics": metrics}]}]})
    card = {"quantitativeAnalysis": {"performanceMetrics": cyclone}}
    component = {"type": "machine-learning-model", "name": "vectors", "bom-ref": "model", "modelCard": card}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": [component]}
    table = f"| of | measure | score | interval |\n|---|---|---|---|\n{rows}"
    return {"card.cdx.json": json.dumps(bom).encode(), "README.md": f"---\n{head}\n---\n\n# vectors\n\n{table}".encode()}


# The certificates that hold.


def of_looks() -> Draft:
    """Looks of every kind in one chain: a count, a cell, a pass, a foreseen count, a failure, a mean, a board."""
    draft = Draft("run")
    draft.seal()
    draft.seal(OTHER_ROWS)
    spent = draft.answer(draft.look("full", 1, 0.0), "count", 37, 37, log(N + 1) + PAID)
    spent += draft.answer(draft.look("cell", 2, spent), "cell", 35, 44, log(STEPS + 1) + PAID, score=0.2)
    draft.add("commit", id="c", testset=ROWS, look=3, spent=spent, at=AT)
    spent += draft.answer(draft.look("pass", 3, spent, commit="c"), "pass", 0, 50, log(2) + PAID)
    price = counted_price(41, 80, 320) + PAID
    spent += draft.answer(draft.look("foreseen", 4, spent, release="predicted"), "count", 41, 41, price)
    draft.look("failed", 5, spent)
    draft.add("abort", id="r-failed", intent="failed", at=AT)
    mean = {"low": None, "high": None, "half": 1 / (2 * N), "rounding": 0.0005, "bounds": [0, 1], "stays": False, "held": None}
    value = {"score": 0.1, "released": mean}
    spent += draft.answer(draft.look("mean", 6, spent + 5.5, metric="brier"), "value", 0, 0, log(1001) + PAID, **value)
    draft.settle()
    board = {**mean, "half": None, "stays": True, "held": draft.end("full")["interval"], "set_by": 1}
    draft.answer(draft.look("board", 7, spent + 5.5), "board 1 stays", 0, 0, log(2), score=0.185, released=board)
    draft.add("note", what="said", text="a remark", at=AT)
    for name in ("full", "cell", "pass", "foreseen", "mean", "board"):
        draft.claim(name)
    return draft.settle()


def of_space() -> Draft:
    """A declared model: its interval is that of the space."""
    draft = Draft("run")
    draft.seal()["space"] = 12
    spent = draft.answer(draft.look("first", 1, 0.0, space=12), "count", 37, 37, log(N + 1) + PAID)
    draft.answer(draft.look("declared", 2, spent, space=12, member=True), "count", 30, 30, log(N + 1) + PAID)
    draft.claim("declared")
    return draft.settle()


def of_units() -> Draft:
    """Rows that are not independent: the interval is over units."""
    draft = Draft("run")
    draft.seal(independent="units")
    units = {"count": 50, "largest": 6, "effective": 45.0, "method": "hoeffding"}
    draft.answer(draft.look("units", 1, 0.0, units=units), "count", 37, 37, log(N + 1) + PAID)
    draft.claim("units")
    return draft.settle()


def of_quantiles() -> Draft:
    """The share of rows within a tolerance, with the median of the errors of numbers."""
    draft = Draft("run")
    draft.seal()
    stated = {"numbers": 2, "metric": "within:3f", "counted": True}
    nats = log(2 * 2 / DELTA) + index_nats(1)
    ends = {count: limits(count, count, N, nats) for count in range(N + 1)}
    asked = {"q": 0.5, "low": min(count for count in ends if ends[count][1] >= 0.5), "middle": N // 2,
             "high": min(count for count in ends if ends[count][0] >= 0.5)}  # fmt: skip
    look = draft.look("quantiles", 1, 0.0, quantiles={"grid": [0.5, 1, 1.5, 2, 3], "asked": [asked]}, **stated)
    draft.answer(look, "count", 37, 37, log(N + 1) + PAID, quantiles=[{"q": 0.5, "value": 1.5, "interval": [0.5, 2]}])
    draft.end("quantiles")["released"]["places"] = [[1, 2, 3]]
    draft.claim("quantiles")
    return draft.settle()


def of_merged() -> Draft:
    """Two machines that did not know of each other's look; each is superseded."""
    draft = Draft("run")
    draft.seal()
    seal = copy.deepcopy(draft.entries[0][2])
    price = draft.answer(draft.look("here", 1, 0.0), "count", 37, 37, log(N + 1) + PAID)
    draft.add("seal", COLLEAGUE, **seal)
    draft.answer(draft.look("there", 1, 0.0, signer=COLLEAGUE), "count", 50, 50, log(N + 1) + PAID)
    nats = log(2 / DELTA) + index_nats(2) + price
    draft.claim("here", superseded={"look": 2, "spent": price, "interval": limits(37, 37, N, nats)})
    return draft.settle()


def of_exam() -> Draft:
    """An exam: an answer by an asker, then the close with that answer and one that was never shown."""
    draft = Draft("exam")
    draft.seal()
    terms = {"id": "e1", "task": "classification", "rows": {"questions": N}, "delta": DELTA}
    digest = sha256(canonical(terms).encode())
    draft.about = {"terms": terms, "terms_sha256": digest}
    draft.add("note", what="created", exam="e1", terms=digest, testset=ROWS, at=AT)
    look = draft.look("ann", 1, 0.0, config={"asker": "ann", "handed": "d1" * 32})
    spent = draft.answer(look, "count", 37, 37, log(N + 1) + PAID)
    shown, new = index_nats(1), index_nats(2) + spent + log(2)
    stated = [{"name": "d1" * 32, "base": shown}, {"name": "d2" * 32, "base": new}]
    draft.look("closing", 2, spent, metric="closing", answers=stated, nats=0.0)
    answers = [{"name": one["name"], "score": errors / N, "errors": errors, "certified": True,
                "interval": limits(errors, errors, N, log(2 / DELTA) + float(str(one["base"])))}
               for one, errors in zip(stated, (37, 60), strict=True)]  # fmt: skip
    draft.add("reveal", id="r-closing", intent="closing", symbol="closed", score=None, errors=None, interval=None,
              price=round(2 * log(N + 1) + PAID, 12), released=None, answers=answers, verdicts=[], at=AT)  # fmt: skip
    draft.claim("ann", asker="ann", predictions_sha256="d1" * 32)
    draft.claim("closing")
    return draft.settle()


def of_plans() -> Draft:
    """Bounded losses in cells by each method that a plan can name; one has a count of errors, one the rows above a cap."""
    draft, spent = Draft("run"), 0.0
    draft.seal()
    usual = {"steps": 100, "expected": 0.2, "spread": 0.03, "origin": 0, "width": 1, "bets": None, "reach": None, "cap": None}
    plans: dict[str, Facts] = {
        "chernoff": {"units": 120.5},
        "hoeffding": {"units": 150, "width": 2},
        "binomial": {"units": 80, "origin": 1, "width": -1},
        "costs": {"method": "chernoff", "units": 120.5},
        "wealth": {"units": 200, "bets": [0.4, 0.5], "reach": [0.06, 0.08], "cap": 3.0, "width": 3},
    }
    for number, (method, own) in enumerate(plans.items(), start=1):
        plan, k = {**usual, "method": method, **own}, 2 if method == "wealth" else None
        numbers = 1 + (method in ("costs", "wealth"))
        look = draft.look(method, number, spent, metric="loss", plan=plan, numbers=numbers, release="predicted")
        released = {"low": None, "high": None, "half": None, "rounding": 0, "bounds": [0, 1], "stays": False, "held": None,
                    "set_by": None, "cell": 23, "k": k}  # fmt: skip
        above = {"above": {"rows": 4, "interval": limits(4, 4, N, _level(look))}} if plan["cap"] is not None else {}
        beside: Facts = {"score": round(plan["origin"] + plan["width"] * 0.23, 12), "released": released, **above}
        price = planned_price(plan, 23, k)
        if method == "costs":  # of 400 development rows 80 were wrong
            price, beside["errors"] = price + counted_price(41, 80, 320), 41
        if above:  # 12 were above the cap
            price += counted_price(4, 12, 388)
        spent += draft.answer(look, "loss 23/100", 0, 0, price, **beside)
        draft.claim(method)
    return draft.settle()


GOOD: dict[str, tuple[Callable[[], Draft], str]] = {
    "valid": (of_looks, "looks of every kind in one chain, one entry withheld"),
    "valid-space": (of_space, "a declared model in a declared space"),
    "valid-units": (of_units, "rows counted by units"),
    "valid-quantiles": (of_quantiles, "a quantile of errors of numbers, at a level for two numbers"),
    "valid-merged": (of_merged, "two machines, merged: the interval is superseded"),
    "valid-plans": (of_plans, "bounded losses in cells, by each method that a plan can name"),
    "valid-exam": (of_exam, "an exam with an answer and its close"),
}
