"""The audit as a story for people: titled sections of sentences and tables, which Markdown and HTML then write down."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelsel.statistics.certificate import NO_INFORMATION

NOT_SHOWN = (
    "Scores computed by other code: whoever owns the data can evaluate elsewhere. This is evidence, not prevention.",
    "Test features used while choosing (transductive use); only labels are sealed.",
    "Looks in a ledger that is neither here nor known to an anchor, or made with another key.",
    "The certificate holds for exchangeable rows; it says nothing of data that come from elsewhere or later.",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """A table: head and rows of words."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    title: str
    parts: tuple[str | Grid, ...]


def story(report: Mapping[str, Any]) -> list[Section]:
    """The sections, in the order in which a reviewer asks."""
    sections = []
    for one in report["test_sets"]:
        sections += [Section(f"Test set {one['id'][:8]}", tuple(_test_set(one))), *_details(one)]
    sections.append(Section("Findings", _findings(report["flags"])))
    sections.append(Section("The ledger", _ledger(report["ledger"])))
    sections.append(Section("What this does not show", NOT_SHOWN))
    return sections


def sentence(look: Mapping[str, Any], rows: int, level: float = 0.95) -> str:
    """One look in words that can be quoted.

    >>> sentence({"status": "revealed", "score": 0.1, "errors": 200, "n": 2000, "look": 1, "spent": 0.0, "price": 4.0,
    ...           "metric": "error", "interval": [0.0866, 0.1147], "as_first": None, "changes": [], "replay": False}, 2000)
    'Test error 0.100 (200/2000), look 1 of this test set. 95% interval valid whatever is done with the answer: [0.087, 0.115].'
    """
    if look["status"] not in ("revealed", "replay"):
        return f"Look {look['look']} has no answer ({look['status']}); it is charged {look['price']:.2f} nats."
    n = look.get("n") or rows
    errors = f" ({look['errors']}/{n})" if look["errors"] is not None else ""
    shown = "pass or fail" if look["score"] is None else f"{look['score']:.3f}"
    head = f"Test {str(look.get('metric', 'score')).split(':')[0]} {shown}{errors}, look {look['look']} of this test set"
    spent = f"; earlier answers cost {look['spent']:.2f} nats" if look["spent"] else ""
    whatever = "was done with those answers" if look["spent"] else "is done with the answer"
    limits = look["interval"]
    if limits is None:
        certified = "No interval is certified."
    elif limits[1] - limits[0] >= 2 * NO_INFORMATION:
        certified = "No information is left in this test set."
    else:
        certified = f"{level:.0%} interval valid whatever {whatever}: {_limits(limits)}."
    first = (
        f" As a first look it would have been {_limits(look['as_first'])}." if look["spent"] and look.get("as_first") else ""
    )
    changed = f" Since the look before, {', '.join(look['changes'][:6])} changed (G012)." if look["changes"] else ""
    return f"{head}{spent}. {certified}{first}{changed}"


def _test_set(one: Mapping[str, Any]) -> Iterator[str | Grid]:
    sealed, looks = one["sealed"], [look for look in one["looks"] if not look["replay"]]
    sealed_by = f"sealed {_day(sealed['at'])} by {sealed['user'] or 'unknown'} in study {sealed['study'] or 'unknown'}"
    chose = f"{_plural(one['studies'], 'study', 'studies')} chose among {_plural(one['candidates'], 'candidate')}"
    yield (
        f"{one['rows']} rows, {sealed_by}; {_plural(len(looks), 'look')}, {one['spent']:.2f} nats spent; "
        f"{chose} on its development rows."
    )
    if looks:
        yield f"To quote: {sentence(looks[-1], one['rows'], 1 - _delta(one))}"


def _details(one: Mapping[str, Any]) -> Iterator[Section]:
    if one["looks"]:
        head = ("look", "time", "who", "study", "CV", "released", "price", "interval", "flags")
        yield Section("Timeline", (Grid(head, tuple(_row(look) for look in one["looks"])), *_remarks(one)))
    if one["budget"]:
        left = Grid(("released", "within ±0.05", "within ±0.10"), tuple(_left(one["budget"]["left"])))
        fresh = ", ".join(f"{int(n):,} rows ±{width:.3f}" for n, width in one["budget"]["fresh"].items())
        remark = f"At an error of {one['budget']['at']:.3f}. Fresh test rows would give, as a first look: {fresh}."
        yield Section("Looks left", (left, remark))
    if one["siblings"]:
        studies = Grid(("study", "run", "candidates", "winner", "CV"), tuple(_sibling(each) for each in one["siblings"]))
        yield Section("Studies over the same rows", (studies,))


def _left(budget: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, ...]]:
    for mode, widths in budget.items():
        yield (mode, *(str(count) for count in widths.values()))


def _sibling(facts: Mapping[str, Any]) -> tuple[str, ...]:
    named = (str(facts[name])[:40] for name in ("study", "folder", "tried", "winner"))
    return (*named, _number(facts["cv_mean"]))


def _row(look: Mapping[str, Any]) -> tuple[str, ...]:
    name = f"{look['look']}{' (replay)' if look['replay'] else ''}"
    released = look["status"] if look["status"] in ("open", "failed", "recovered") else _number(look["score"])
    limits = _limits(look["interval"]) if look["interval"] else "none"
    who = f"{look['user']}@{look['host']}"
    return (name, _day(look["at"]), who, str(look["study"]), _number(look.get("cv_mean")), released,
            f"{look['price']:.2f}", limits, " ".join(look["flags"]))  # fmt: skip


def _remarks(one: Mapping[str, Any]) -> Iterator[str]:
    for look in one["looks"]:
        later, why = look.get("superseded"), look.get("justification") or {}
        if why.get("text"):
            yield f"Look {look['look']} was justified ({why['category']}): {why['text']}"
        if later:
            yield (f"Look {look['look']} is superseded after a merge: it counts as look {later['look']}, "
                   f"interval {_limits(later['interval']) if later['interval'] else 'none'}.")  # fmt: skip
    for refusal in one["refusals"]:
        yield f"Refused {_day(refusal['at'])}: {refusal['reason']}"


def _findings(flags: Sequence[Mapping[str, str]]) -> tuple[str | Grid, ...]:
    rows = tuple((one["code"], one["severity"], one["message"], one["do"]) for one in flags)
    return (Grid(("code", "severity", "what", "what to do"), rows),) if rows else ("None.",)


def _ledger(ledger: Mapping[str, Any]) -> tuple[str, ...]:
    whole = {True: "whole", False: "NOT WHOLE", None: "not kept (guard=off)"}[ledger["intact"]]
    anchors = ", ".join(ledger.get("anchors", ())) or "none (level 0: a rewritten or deleted ledger would not be noticed)"
    count = _plural(ledger["entries"], "entry", "entries")
    return (f"{ledger['url']}: {count}, {whole}. Anchors: {anchors}. Head: {ledger['head']}.",)


def _delta(one: Mapping[str, Any]) -> float:
    return float(one["policies"][0]["delta"]) if one["policies"] else 0.05


def _limits(limits: Sequence[float]) -> str:
    return f"[{limits[0]:.3f}, {limits[1]:.3f}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _day(at: str | None) -> str:
    return (at or "unknown")[:16].replace("T", " ")


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
