"""Conformance vectors for verifiers of certificates: `python -m tests.certificates.vectors` writes docs/guard/vectors anew.

A vector is a certificate that holds, or one with one thing wrong of it: written so by its issuer, who hashes and signs
everything and lets follow what follows (`REWRITTEN`), or changed by somebody else (`TAMPERED`).
"""

import copy
import io
import json
import zipfile
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

from tests.certificates.drafts import (
    DELTA,
    GOOD,
    ISSUER,
    STRANGER,
    Draft,
    Facts,
    Files,
    N,
    Signer,
    canonical,
    limits,
    sha256,
    signed,
)  # fmt: skip

HERE = Path(__file__).parents[2] / "docs" / "guard" / "vectors"


# What an issuer may write who hashes and signs everything anew.


def _again(name: str, draft: Draft, answer: Facts | None = None, **look: Any) -> None:
    draft.of(name).update(look)
    draft.end(name).update(answer or {})
    draft.settle()


def _moved(draft: Draft) -> None:
    draft.entries.append(draft.entries.pop(0))


def _twice_committed(draft: Draft) -> None:
    _again("foreseen", draft, commit="c", look=3, spent=draft.of("pass")["spent"])


def _narrow(draft: Draft, name: str) -> None:
    draft.end(name)["interval"] = [0.18, 0.19]
    for claim in draft.claimed:
        claim["interval"] = draft.end(claim["intent"])["interval"]


def _celled(draft: Draft, name: str, **symbols: int) -> None:
    released = draft.end(name)["released"]
    released.update(symbols)
    draft.end(name)["score"] = round(
        draft.of(name)["plan"]["origin"] + draft.of(name)["plan"]["width"] * released["cell"] / 100, 12
    )
    draft.settle()


def _cheaper(draft: Draft, name: str, nats: float) -> None:
    draft.end(name)["price"] -= nats
    draft.settle()


def _claim(draft: Draft, number: int = 0, **facts: Any) -> None:
    draft.claimed[number].update(facts)


def _unsuperseded(draft: Draft) -> None:
    del draft.claimed[0]["superseded"]


def _closed(draft: Draft) -> None:
    answer = draft.end("closing")["answers"][1]
    answer["interval"] = limits(60, 60, N, log(2 / DELTA))
    draft.settle()


def _left(draft: Draft, **facts: Any) -> None:
    draft.end("full")["released"].update(facts)
    draft.settle()


def _one_name(draft: Draft) -> None:
    again = copy.deepcopy(draft.of("full"))
    draft.add("intent", **again)


def _same_rows(draft: Draft) -> None:
    draft.extra["testset"] = "c3" * 16


def _held(draft: Draft) -> None:
    draft.end("board")["released"]["held"] = [0.1, 0.11]
    draft.settle()


def _unanswered(draft: Draft) -> None:
    """Leave an answer away: its worst price is due then, and later looks have not paid it."""
    draft.entries.pop(draft.place(draft.end("pass")))
    draft.claimed = [claim for claim in draft.claimed if claim["intent"] != "pass"]


def _many(draft: Draft) -> None:
    draft.entries[0][2].update(n=10**9)
    draft.entries[0][2]["terms"]["steps"] = 10
    draft.of("cell").update(n=10**9, release="predicted")
    draft.end("cell")["released"].update(low=150_000_000, high=249_999_999)


Rewrite = tuple[str, int, str, str, Callable[[Draft], object]]  # base, statement, what is wrong, what verifier.py says, change
REWRITTEN: dict[str, Rewrite] = {
    "format": ("valid", 1, "another format", "of the format", lambda d: d.extra.update(format="modelsel certificate 9")),
    "look-low": ("valid", 4, "a look counts as one less than were before it", "index is not below",
        lambda d: _again("foreseen", d, look=3)),
    "spent-low": ("valid", 4, "a look paid for nothing before it", "nats were spent",
        lambda d: _again("foreseen", d, spent=0.0)),
    "unanswered": ("valid", 4, "an answer was left away whose worst price is due", "nats were spent", _unanswered),
    "delta-high": ("valid", 4, "δ above that of the seal", "δ is that of the seal", lambda d: _again("full", d, delta=0.2)),
    "rows-more": ("valid", 4, "more rows than were sealed", "no more than were sealed", lambda d: _again("mean", d, n=4 * N)),
    "seal-later": ("valid", 4, "the seal comes after the looks", "of the seal", _moved),
    "commit-twice": ("valid", 4, "one commitment serves two looks", "that of its commitment", _twice_committed),
    "space-undeclared": ("valid", 4, "a space that no seal has", "is that of a seal",
        lambda d: _again("foreseen", d, space=2, member=True)),
    "space-unpaid": ("valid-space", 4, "a space was declared, and the look has none", "pays for what",
        lambda d: _again("declared", d, space=None, member=False)),
    "numbers-half": ("valid", 4, "half a number shown", "are counts", lambda d: _again("full", d, numbers=0.5)),
    "one-name": ("valid", 4, "two looks of one name", "one name", _one_name),
    "price-negative": ("valid", 4, "a price below 0", "below 0", lambda d: _again("mean", d, {"price": -5.0})),
    "price-low": ("valid", 5, "a count at a thousandth of a nat", "its answer costs",
        lambda d: _again("foreseen", d, {"price": 0.001})),
    "price-pass": ("valid", 5, "a cell at the price of a pass", "its answer costs",
        lambda d: _again("cell", d, {"price": 0.7})),
    "score-other": ("valid", 5, "another score than that of the count", "of one answer",
        lambda d: _again("full", d, {"score": 0.01})),
    "cell-narrow": ("valid", 5, "a cell leaves fewer counts possible than round to it", "counts possible",
        lambda d: (d.end("cell")["released"].update(low=39, high=40), d.settle())),
    "pass-counts": ("valid", 5, "a pass leaves few counts possible", "of one answer",
        lambda d: (d.end("pass")["released"].update(low=40), d.settle())),
    "interval-narrow": ("valid", 6, "a narrower interval, on record and claimed", "the interval is",
        lambda d: _narrow(d, "full")),
    "level-other": ("valid", 6, "another level than follows", "the level is", lambda d: (d.of("full").update(nats=1.0))),
    "half-small": ("valid", 6, "a width below that of a mean of so many values", "no less than that of a mean",
        lambda d: (d.end("mean")["released"].update(half=1e-6), d.settle())),
    "board-other": ("valid", 6, "a board that stays has the interval of no look", "was set in look", _held),
    "units-ignored": ("valid-units", 6, "rows in units are counted as rows", "not counted as rows",
        lambda d: (d.of("units").pop("units"), _claim(d, units=None), d.settle())),
    "units-more": ("valid-units", 6, "more units than there are", "no fewer than the interval counts",
        lambda d: (d.of("units")["units"].update(effective=190.0), d.settle())),
    "quantile-places": ("valid-quantiles", 6, "a quantile's interval leaves a place away", "quantiles of errors",
        lambda d: d.end("quantiles")["quantiles"][0].update(interval=[1, 2])),
    "quantile-counts": ("valid-quantiles", 6, "counts that decide a quantile are those of another level", "quantiles of errors",
        lambda d: d.of("quantiles")["quantiles"]["asked"][0].update(low=95, high=106)),
    "plan-score": ("valid-plans", 5, "the score of another cell", "is a cell of the plan",
        lambda d: _again("chernoff", d, {"score": 0.1})),
    "plan-cell": ("valid-plans", 5, "a cell that the plan does not have", "is a cell of the plan",
        lambda d: _celled(d, "hoeffding", cell=101)),
    "plan-width": ("valid-plans", 5, "a width where the method has none", "is a cell of the plan",
        lambda d: _celled(d, "chernoff", k=1)),
    "plan-price": ("valid-plans", 5, "a cell that costs less than was foreseen", "its answer costs",
        lambda d: _again("hoeffding", d, {"price": 1.0})),
    "plan-widths-price": ("valid-plans", 5, "a wider interval is shown for nothing", "its answer costs",
        lambda d: _celled(d, "wealth", k=9)),
    "plan-count-price": ("valid-plans", 5, "a count of errors is shown beside a loss for nothing", "its answer costs",
        lambda d: _cheaper(d, "costs", 1.0)),
    "plan-above-price": ("valid-plans", 5, "the rows above the cap are shown for nothing", "its answer costs",
        lambda d: _cheaper(d, "wealth", 1.5)),
    "plan-narrow": ("valid-plans", 6, "narrower limits than the plan's", "the interval is", lambda d: _narrow(d, "binomial")),
    "plan-units": ("valid-plans", 6, "more units than rows", "no more units than rows",
        lambda d: (d.of("chernoff")["plan"].update(units=N + 1.5), d.settle())),
    "plan-level": ("valid-plans", 6, "wealth of another level", "plan is for this level",
        lambda d: d.of("wealth")["plan"].update(nats=1.0)),
    "plan-above": ("valid-plans", 6, "a narrower interval of the rows above the cap", "more than the cap",
        lambda d: d.end("wealth")["above"].update(interval=[0.01, 0.03])),
    "plan-other": ("valid-plans", 7, "a claim with another plan", "answer on record",
        lambda d: _claim(d, plan={**d.of("chernoff")["plan"], "units": 90})),
    "claim-other": ("valid", 7, "a claim has another score than the record", "answer on record",
        lambda d: _claim(d, score=0.1)),
    "claim-more": ("valid", 7, "a claim states something besides", "answer on record", lambda d: _claim(d, p_value=1e-9)),
    "claim-twice": ("valid", 7, "a look is claimed twice", "claimed twice", lambda d: d.claimed.append(d.claimed[0])),
    "claim-none": ("valid", 7, "no claims", "0 claims", lambda d: d.claimed.clear()),
    "rows-other": ("valid", 7, "the looks are at other rows than the statement's", "rows that the certificate is about",
        _same_rows),
    "kind-other": ("valid", 7, "neither a run nor an exam", "a run or an exam", lambda d: setattr(d, "kind", "trial")),
    "asker-other": ("valid-exam", 7, "an asker who is not on record", "asker and predictions",
        lambda d: _claim(d, asker="bob")),
    "superseded-missing": ("valid-merged", 7, "the look of another machine is not allowed for", "supersede its interval",
        _unsuperseded),
    "superseded-narrow": ("valid-merged", 7, "what stands instead is narrower", "no narrower",
        lambda d: d.claimed[0]["superseded"].update(interval=[0.18, 0.19])),
    "superseded-low": ("valid-merged", 7, "what stands instead has no larger index", "counts as look",
        lambda d: d.claimed[0]["superseded"].update(look=1)),
    "terms-other": ("valid-exam", 7, "terms that the chain does not have", "terms are those",
        lambda d: d.about["terms"].update(delta=0.5)),
    "close-narrow": ("valid-exam", 9, "an answer at the close pays for nothing", "its own index", _closed),
    "close-base": ("valid-exam", 9, "an answer that was never shown has the index of a first look", "its own index",
        lambda d: d.of("closing")["answers"][1].update(base=0.0)),
    "rows-too-many": ("valid", 4, "a look at more than 10⁹ rows", "too many", lambda d: _again("mean", d, n=10**12)),
    "counts-many": ("valid", 5, "more counts to add up than a reader should", "too much to compute", _many),
    "counts-outside": ("valid", 5, "a count above the number of rows", "one answer|out of range|cannot be read",
        lambda d: (d.end("foreseen").update(errors=N + 5), d.end("foreseen")["released"].update(low=N + 5, high=N + 5))),
}  # fmt: skip


# What somebody else may do to a certificate, and members that readers may take differently.


def _member(files: Files, name: str, old: str, new: str, again: bool = False) -> Files:
    text = files[name].decode()
    assert old in text
    changed = {**files, name: text.replace(old, new, 1).encode()}
    return signed(changed) if again else changed


def _line(files: Files, change: Callable[[list[str]], list[str]]) -> Files:
    """The chain with its lines changed, and a statement that has its digest."""
    lines = change(files["chain.jsonl"].decode().splitlines(keepends=True))
    return signed({**files, "chain.jsonl": "".join(lines).encode()})


def _ends(files: Files, signer: Signer) -> Files:
    last = json.loads(files["chain.jsonl"].decode().splitlines()[-1])["hash"]
    return signed({**files, "signatures.json": canonical({ISSUER.replica: signer.sign(last)}).encode()})


def _by_a_stranger(files: Files) -> Files:
    signature = STRANGER.sign(f"modelsel.certificate.v1 {sha256(files['certificate.json'])}")
    return {**files, "signature.json": canonical(signature).encode()}


def _as_text(files: Files, old: str, new: str) -> Files:
    """The statement with other bytes, signed."""
    text = files["certificate.json"].decode()
    assert old in text
    data = text.replace(old, new, 1).encode()
    return {**files, "certificate.json": data,
            "signature.json": canonical(ISSUER.sign(f"modelsel.certificate.v1 {sha256(data)}")).encode()}  # fmt: skip


Tamper = tuple[int, str, str, Callable[[Files], Files]]  # statement, what is wrong, what verifier.py says, change
TAMPERED: dict[str, Tamper] = {
    "member-changed": (1, "a member has another digest than is stated", "those that it states",
        lambda f: {**f, "README.md": f["README.md"] + b"\n"}),
    "member-missing": (1, "a member is missing that is stated", "those that it states",
        lambda f: {name: data for name, data in f.items() if name != "README.md"}),
    "member-unknown": (1, "a member of a name that is none", "cannot be read", lambda f: {**f, "../evil.txt": b"x"}),
    "name-twice": (1, "a name stands twice in an object", "stands twice",
        lambda f: _as_text(f, '"kind":"run"', '"kind":"run","kind":"run"')),
    "nan": (1, "NaN in the statement", "cannot be read", lambda f: _as_text(f, '"software":"1"', '"software":NaN')),
    "not-json": (1, "the statement is no JSON", "cannot be read", lambda f: {**f, "certificate.json": b"[" * 100}),
    "statement-changed": (2, "the statement was changed after it was signed", "it is signed by",
        lambda f: _member(f, "certificate.json", '"ledger":"00', '"ledger":"01')),
    "signed-by-other": (2, "signed by another key than it names", "it is signed by", _by_a_stranger),
    "body-changed": (3, "an entry was changed", "entry by entry", lambda f: _line(f,
        lambda lines: [line.replace("a remark", "another") for line in lines])),
    "entry-removed": (3, "an entry was taken out of the middle", "entry by entry", lambda f: _line(f,
        lambda lines: lines[:12] + lines[13:])),
    "end-cut": (3, "the last entries were cut off", "end is signed", lambda f: _line(f, lambda lines: lines[:-1])),
    "order-changed": (3, "two entries have changed places", "entry by entry", lambda f: _line(f,
        lambda lines: [lines[1], lines[0], *lines[2:]])),
    "end-by-other": (3, "the end of the chain is signed by another key than its name commits to", "end is signed",
        lambda f: _ends(f, STRANGER)),
    "end-unsigned": (3, "the end of the chain is not signed", "end is signed",
        lambda f: signed({**f, "signatures.json": b"{}"})),
    "card-number": (8, "a card has another number than the claim", "CycloneDX card",
        lambda f: _member(f, "card.cdx.json", '"value": "0.185"', '"value": "0.001"', True)),
    "card-limit": (8, "the metadata of README.md have another limit", "Hugging Face card",
        lambda f: _member(f, "README.md", '"interval": [0.', '"interval": [0.1', True)),
    "card-table": (8, "the table of README.md has another number", "Hugging Face card",
        lambda f: _member(f, "README.md", "| 0.185 |", "| 0.001 |", True)),
}  # fmt: skip


def build() -> tuple[dict[str, Files], Facts, dict[str, str]]:
    """Every vector's members by name, the index, and what verifier.py says where it finds a fault."""
    good = {name: make().files() for name, (make, _) in GOOD.items()}
    made, index, says = dict(good), [], dict[str, str]()
    for name, (_, what) in GOOD.items():
        index.append({"file": f"{name}.zip", "answer": "holds", "what": what})
    for name, (base, statement, what, said, change) in REWRITTEN.items():
        draft = GOOD[base][0]()
        change(draft)
        made[name], says[name] = draft.files(), said
        index.append({"file": f"{name}.zip", "answer": "fault", "statement": statement, "what": what})
    for name, (statement, what, said, tamper) in TAMPERED.items():
        made[name], says[name] = tamper(good["valid"]), said
        index.append({"file": f"{name}.zip", "answer": "fault", "statement": statement, "what": what})
    told = {
        "file": "valid.zip",
        "key": STRANGER.public,
        "answer": "fault",
        "statement": 2,
        "what": "another key than was expected",
    }
    return made, {"key": ISSUER.public, "vectors": [*index, told]}, says


def packed(files: Files) -> bytes:
    """An archive of the members, with the same dates each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def written(index: Facts) -> str:
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in index["vectors"])
    return f'{{"key": "{index["key"]}",\n"vectors": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for old in HERE.glob("*.zip"):
        old.unlink()
    vectors, table, _ = build()
    for name, files in vectors.items():
        (HERE / f"{name}.zip").write_bytes(packed(files))
    (HERE / "index.json").write_text(written(table), "utf-8")
