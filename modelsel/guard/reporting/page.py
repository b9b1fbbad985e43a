"""The audit as a story for people: titled sections of sentences and tables, written down as Markdown and as HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Any

from modelsel.core.types import Finding
from modelsel.guard.findings.base import SEVERITIES, losses
from modelsel.guard.reporting.report import AuditReport, ContactLine, LookLine, LooksLeft, StudyLine, TestSetReport
from modelsel.statistics.certificate import NO_INFORMATION

NOT_SHOWN = (
    "Scores computed by other code: whoever owns the data can evaluate elsewhere. This is evidence, not prevention.",
    "Test features used while choosing (transductive use); only labels are sealed.",
    "Looks in a ledger that is neither here nor known to an anchor, or made with another key.",
    "The certificate holds for exchangeable rows; it says nothing of data that come from elsewhere or later.",
)  # fmt: skip
MODES = {
    "full": "the exact score", "grid": "rounded to .01", "predicted": "rounded, as cross-validation foresaw",
    "passfail": "pass or fail", "committed": "any, committed to beforehand",
}  # fmt: skip


@dataclass(frozen=True)
class TextTable:
    """A table: head and rows of words."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """`level` 2 stands for itself, 3 belongs to the section before."""

    title: str
    parts: tuple[str | TextTable, ...]
    level: int = 2


def story(audit: Mapping[str, object]) -> list[Section]:
    """The sections, in the order in which a reviewer asks."""
    report = AuditReport.read(audit)
    sections = [Section("In short", (summary(report),))]
    for one in report.test_sets:
        sections += [Section(f"Test set {one.id[:8]}", tuple(_test_set(one))), *_details(one, report)]
    if report.contacts:
        told = tuple(_contact(one) for one in report.contacts)
        said = "Information: nothing was chosen by these, no label was read, and they make no row unclean."
        sections.append(
            Section("Opened and predicted", (said, TextTable(("what", "time", "who", "rows", "run", "known as"), told)))
        )
    sections.append(Section("Findings", _findings(report.findings)))
    sections.append(Section("The ledger", _ledger(report)))
    sections.append(Section("What this does not show", NOT_SHOWN))
    return sections


def summary(report: AuditReport) -> str:
    """Sum up the audit: test sets, looks, grave findings, the state of the ledger."""
    looks = sum(not look.replay for one in report.test_sets for look in one.looks)
    seen = f"{plural(len(report.test_sets), 'test set')}, {plural(looks, 'look')}."
    graves = [flag for flag in report.flags if SEVERITIES.index(flag.severity) >= SEVERITIES.index("high")]
    worst = sorted(graves, key=lambda flag: -SEVERITIES.index(flag.severity))
    codes = ", ".join(dict.fromkeys(f"{flag.code} ({flag.severity})" for flag in worst))
    found = f"{plural(len(graves), 'grave finding')}: {codes}." if graves else "No grave finding."
    return f"{seen} {found} {_whole(report)}"


def _whole(report: AuditReport) -> str:
    """Say whether the ledger is whole; chains that hold now tell nothing of what was lost before."""
    intact = report.ledger.intact
    lost = sorted({flag.code for flag in report.flags} & set(losses()))
    if intact and lost:
        return f"The chains hold, but the record is not whole ({', '.join(lost)})."
    return {
        True: "The ledger is whole.",
        False: "The ledger is NOT WHOLE: trust no number here.",
        None: "Nothing was kept (guard.remember=false, or a ledger that could not be written under guard=off).",
    }[intact]


def _test_set(one: TestSetReport) -> Iterator[str | TextTable]:
    """Yield the paragraphs of one test set."""
    sealed, looks = one.sealed, one.made
    sealed_by = f"sealed {day(sealed.at)} by {sealed.user or 'unknown'} in study {sealed.study or 'unknown'}"
    yield f"{one.rows} rows, {sealed_by}{_terms(one)}; {plural(len(looks), 'look')}, {one.spent:.2f} nats spent."
    yield from _choice_sentence(one)
    outside = [look for look in looks if look.outside]
    if outside:
        yield (
            f"At least {plural(len(outside), 'outside look')}: other code computed scores on these rows. What they told has no "
            "price, and nothing at these rows is certified any more."
        )
    answered = [look for look in looks if not look.outside]
    if answered:
        said = look_to_quote(answered)
        yield f"To quote: {sentence(said, one.rows, one.level)}"
        yield from _counted_with(one, said)


def _terms(one: TestSetReport) -> str:
    """The policy at the seal and every later one."""
    said = [f"guard={terms.policy}, release {terms.release}, level {1 - terms.delta:g}" for terms in one.policies]
    return f" under {', then '.join(dict.fromkeys(said))}" if said else ""


def _choice_sentence(one: TestSetReport) -> Iterator[str]:
    """Yield the sentence that says how many candidates were compared on the development rows."""
    facts = one.choices
    if facts is None:
        return
    carried = facts.carried
    chose = f"{plural(one.studies, 'study', 'studies')} chose among {plural(facts.candidates, 'candidate')}"
    luck = (
        ""
        if not facts.luck
        else f" The error rate of the best of so many equal ones is expected to look {facts.luck:.3f} better than it is."
    )
    yield (
        f"{chose} on its {facts.rows} development rows; all of these error rates are within ±{facts.bound:.3f} of the "
        f"truth at once (95 %), within ±0.05 if {f'at most {carried:,}' if carried else 'not even one'} had been compared "
        f"(approximate for folds).{luck}"
    )


def _counted_with(one: TestSetReport, look: LookLine) -> Iterator[str]:
    """Yield the sentences that say which other test sets and which dropped rows count."""
    others = [testset[:8] for testset in look.charged or () if testset != one.id]
    if others:
        yield f"Looks at test set {', '.join(others)} are counted too: it shares rows with this one."
    dropped = one.rows - (look.n or one.rows)
    if dropped > 0:
        yield f"The answer is computed on {look.n} rows; {dropped} others were seen before and are left out."


def _details(one: TestSetReport, report: AuditReport) -> Iterator[Section]:
    """Yield the sections of one test set: timeline, looks left, studies, checklist."""
    remarks = tuple(_remarks(one))
    if one.looks:
        head = ("look", "time", "who", "study", "CV", "released", "price", "nats so far", "interval", "flags")
        spent = accumulate(look.price for look in one.looks)
        yield Section("Timeline", (TextTable(head, tuple(map(_row, one.looks, spent))), *remarks), 3)
    elif remarks:
        yield Section("Timeline", remarks, 3)
    if one.budget:
        yield Section("Looks left", tuple(_looks_left(one.budget)), 3)
    if one.siblings:
        studies = TextTable(("study", "run", "candidates", "winner", "CV"), tuple(_sibling(each) for each in one.siblings))
        yield Section("Studies over the same rows", (studies,), 3)
    if one.looks:
        answers = tuple((question, _answer(answer)) for question, answer in items(one, report).items())
        yield Section("Checklist (REFORMS)", (TextTable(("item", "answer"), answers),), 3)


def _answer(answer: object) -> str:
    """Write an answer of the checklist."""
    if isinstance(answer, list):
        return limits_of(answer)
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return "–" if answer is None else str(answer)


def _looks_left(budget: LooksLeft) -> Iterator[str | TextTable]:
    """Yield how many more looks keep the interval narrow, and what fresh rows would give."""
    counts = budget.left
    if any(count for widths in counts.values() for count in widths.values()):
        rows = tuple((MODES[mode], *(str(count) for count in widths.values())) for mode, widths in counts.items())
        yield TextTable(("if each shows", "within ±0.05", "within ±0.10"), rows)
    else:
        yield "Whatever is shown, the interval of a further look would be wider than ±0.10."
    fresh = ", ".join(f"{int(n):,} rows ±{width:.3f}" for n, width in budget.fresh.items())
    yield f"At an error of {budget.at:.3f}. Fresh test rows would give, as a first look: {fresh}."


def _sibling(facts: StudyLine) -> tuple[str, ...]:
    """Write a row of the table of studies."""
    return (
        *(str(fact)[:60] for fact in (facts.study, facts.folder, facts.tried)),
        str(facts.winner)[:8],
        number(facts.cv_mean),
    )


def _row(look: LookLine, so_far: float) -> tuple[str, ...]:
    """Write a row of the timeline, with the nats that this answer and those above it cost."""
    name = f"{look.look}{' (replay)' if look.replay else ''}"
    released = look.status if look.status in ("open", "failed", "recovered") else number(look.score)
    released = f"step {look.step:.3f}" if look.step is not None else released
    released = "outside" if look.outside else released
    limits = limits_of(look.interval) if look.interval else "none"
    who = f"{look.user}@{look.host}"
    return (name, day(look.at), who, str(look.study), number(look.cv_mean), released,
            f"{look.price:.2f}", f"{so_far:.2f}", limits, " ".join(look.flags))  # fmt: skip


def _contact(one: ContactLine) -> tuple[str, ...]:
    known = f"test set {one.testset[:8]}" if one.testset else ""
    who = f"{one.user}@{one.host}"
    return (str(one.contact), day(one.at), who, str(one.n), str(one.folder or ""), known)


def _remarks(one: TestSetReport) -> Iterator[str]:
    """Yield the sentences below the timeline: changes, justifications, merges, refusals."""
    for look in one.looks:
        later, why = look.superseded, look.justification
        if look.changes:
            yield f"Before look {look.look}, these were changed: {', '.join(look.changes)}."
        if why and why.text:
            yield f"Look {look.look} was justified by {look.user}@{look.host} ({why.category}): {why.text}"
        if later:
            yield (f"Look {look.look} is superseded after a merge: it counts as look {later.look}, "
                   f"interval {limits_of(later.interval) if later.interval else 'none'}.")  # fmt: skip
    for refusal in one.refusals:
        yield f"Refused {day(refusal.at)} in study {refusal.study}: {refusal.reason}"


def _findings(flags: Sequence[Finding]) -> tuple[str | TextTable, ...]:
    ordered = sorted(flags, key=lambda flag: -SEVERITIES.index(flag.severity))
    rows = tuple((one.code, one.severity, one.message, one.do) for one in ordered)
    return (TextTable(("code", "severity", "what", "what to do"), rows),) if rows else ("None.",)


def _ledger(report: AuditReport) -> tuple[str, ...]:
    """Describe the ledger in a line."""
    ledger = report.ledger
    anchors = ", ".join(ledger.anchors) or "none (level 0: a rewritten or deleted ledger would not be noticed)"
    head = str(ledger.head or "none").rpartition(":")
    count = plural(ledger.entries, "entry", "entries")
    return (f"{ledger.url}: {count}. {_whole(report)} Anchors: {anchors}. Head: {head[0]}{head[1]}{head[2][:16]}.",)


# The items of the REFORMS checklist (Kapoor et al. 2024) that a ledger can answer.


def items(one: TestSetReport, report: AuditReport) -> dict[str, object]:
    """Item to answer, for one test set of an audit."""
    looks = one.made
    codes = {code for look in looks for code in look.flags}
    last = look_to_quote(looks).now if looks else None
    return {
        "sample size (test)": one.rows,
        "train-test separation maintained": not codes & {"G020", "G021", "G022"},
        "duplicates between train and test": "G030" in codes or "G031" in codes,
        "groups kept together": "G032" not in codes,
        "model selection: candidates tried": one.candidates,
        "number of evaluations on the test set": len(looks),
        "performance metric": last and last.metric,
        "uncertainty estimate": last and last.interval,
        "uncertainty method": "exact binomial, corrected for all earlier answers" if last and last.interval else None,
        "record intact": report.ledger.intact,
    }


# The words of an audit: the sentence that can be quoted, intervals, numbers, days.

WITHOUT_A_MODEL = {"closing": "every answer to an exam at its close", "class_counts": "how many rows each class has"}


MEANING = {"within": "share of rows off by more than the tolerance"}


def look_to_quote(looks: Sequence[LookLine]) -> LookLine:
    """The look to quote: the last that answered about a model; where there is none, the last of all.

    >>> look_to_quote([LookLine.read({"look": 1, "metric": "error"}), LookLine.read({"look": 2, "metric": "closing"})]).look
    1
    """
    return next((look for look in reversed(looks) if look.metric not in WITHOUT_A_MODEL), looks[-1])


def sentence(told: Mapping[str, object] | LookLine, rows: int, level: float = 0.95, prices: bool = True) -> str:
    """A look in words that can be quoted; without `prices`, what earlier answers cost is not told.

    >>> sentence({"status": "revealed", "score": 0.1, "errors": 200, "n": 2000, "look": 1, "spent": 0.0, "price": 4.0,
    ...           "metric": "error", "interval": [0.0866, 0.1147], "as_first": None, "changes": [], "replay": False}, 2000)
    'Test error 0.100 (200/2000), look 1 of this test set. 95% interval valid whatever is done with the answer: [0.087, 0.115].'
    """
    look = LookLine.read(told).now
    if look.status not in ("revealed", "replay"):
        return f"Look {look.look} has no answer ({look.status}); it is charged {look.price:.2f} nats."
    n = look.n or rows
    if look.outside:
        return f"Look {look.look} was outside: {look.metric} of {look.study}, on {n} rows; its answer has no price."
    if look.metric in WITHOUT_A_MODEL:
        return f"Look {look.look} told {WITHOUT_A_MODEL[look.metric]}, for {look.price:.2f} nats."
    metric = MEANING.get(kind := str(look.metric).partition(":")[0], kind)
    head = f"Test {metric} {_describe_score(look, n)}, look {look.look} of this test set"
    spent = f"; earlier answers cost {look.spent:.2f} nats" if look.spent and prices else ""
    first = f" As a first look it would have been {limits_of(look.as_first)}." if look.spent and look.as_first else ""
    return f"{head}{spent}. {_interval_sentence(look, level)}{first}{_list_changes(look.changes)}"


def _describe_score(look: LookLine, n: int) -> str:
    """The score, what it is where it is not exact, and its count; a step that is no point of its interval is named as one."""
    errors = f"{look.errors}/{n}" if look.errors is not None else ""
    if look.step is not None:
        return f"is not shown as a point ({look.read_as}: {look.step:.3f})"
    if look.score is None:
        return f"pass or fail{f' ({errors})' if errors else ''}"
    about = "; ".join(filter(None, (look.read_as, errors)))
    return f"{look.score:.3f}{f' ({about})' if about else ''}"


def _interval_sentence(look: LookLine, level: float) -> str:
    """Say which interval holds for the last look, or why there is none."""
    limits = look.interval
    if limits is None:
        return "No interval is certified."
    if limits[1] - limits[0] >= 2 * NO_INFORMATION:
        return "No information is left in this test set."
    whatever = "was done with those answers" if look.spent else "is done with the answer"
    return f"{level:.0%} interval valid whatever {whatever}: {limits_of(limits)}."


def _list_changes(keys: Sequence[str], most: int = 3) -> str:
    more = f" and {len(keys) - most} more" if len(keys) > most else ""
    return f" Since the look before, {', '.join(keys[:most])}{more} changed (G012)." if keys else ""


def limits_of(limits: Sequence[float]) -> str:
    """Write an interval to three decimals."""
    return f"[{limits[0]:.3f}, {limits[1]:.3f}]"


def number(value: float | None) -> str:
    """Write a number to four decimals; a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


def day(at: str | None) -> str:
    """Write a recorded time to the minute."""
    return (at or "unknown")[:16].replace("T", " ")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


# The story written down: Markdown for a pull request, a self-contained HTML page for people, items for a checklist.

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "body{color:CanvasText;background:Canvas}table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}"
    "td,th{border-bottom:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}:root{color-scheme:light dark}"
    "h2{margin-top:2.5rem;border-bottom:2px solid #8886}h3{margin:1.5rem 0 .3rem;font-size:1rem}p{margin:.5rem 0}"
    "td:not(:last-child){white-space:nowrap}.wide td{white-space:normal}"
)
LONG = 60  # characters from which a table's cells are broken into lines


def markdown(report: Mapping[str, object]) -> str:
    """The story as Markdown."""
    return "\n\n".join(["# Audit", *(_markdown(section) for section in story(report))]) + "\n"


def html(report: Mapping[str, object]) -> str:
    """The story as one page without scripts or outside references."""
    body = "".join(_html(section) for section in story(report))
    head = (
        f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>Audit</title><style>{STYLE}</style>"
    )
    return f"<!doctype html><html lang='en'><head>{head}</head><body><h1>Audit</h1>{body}</body></html>\n"


def reforms(report: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Per test set, the items of the REFORMS checklist (Kapoor et al. 2024) that a ledger can answer."""
    read = AuditReport.read(report)  # once: a ledger may know thousands of test sets
    return {one.id: items(one, read) for one in read.test_sets}


def _markdown(section: Section) -> str:
    """Write a section as Markdown."""
    return "\n\n".join(
        [
            f"{'#' * section.level} {section.title}",
            *(_table(part) if isinstance(part, TextTable) else part for part in section.parts),
        ]
    )


def _table(grid: TextTable) -> str:
    lines = [grid.head, tuple("---" for _ in grid.head), *grid.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _html(section: Section) -> str:
    parts = (_html_table(part) if isinstance(part, TextTable) else f"<p>{escape(part)}</p>" for part in section.parts)
    return f"<section><h{section.level}>{escape(section.title)}</h{section.level}>{''.join(parts)}</section>"


def _html_table(grid: TextTable) -> str:
    """Write a table as HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in grid.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows)
    wide = " class='wide'" if any(len(cell) > LONG for row in grid.rows for cell in row) else ""
    return f"<table{wide}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
