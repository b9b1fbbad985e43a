"""The first screen of an audit: in short, the findings, what may be quoted of each test set, and what an audit cannot show."""

from collections.abc import Iterator, Mapping, Sequence

from modelsel.core.types import Finding
from modelsel.guard.findings.base import SEVERITIES
from modelsel.guard.reporting.page import day, limits_of, look_to_quote, plural, sentence, summary
from modelsel.guard.reporting.report import AuditReport, LookLine, TestSetReport
from modelsel.reporting.screen import Part, screen

GRAVE = ("high", "critical")
TOLD = 3  # test sets of which the first screen tells
NOT_SHOWN = "Scores that other code computed on these rows are not seen here: this is evidence, not prevention."


def audit_screen(report: AuditReport) -> str:
    """Lay out the first screen of an audit."""
    grave = {one.code: SEVERITIES.index(one.severity) for one in report.flags if one.severity in GRAVE}
    before = [Part("In short", (summary(report),))]
    after = [
        Part("To quote", tuple(_quotes(report, grave))),
        Part("Next look", tuple(_further(report))),
        Part("Ledger", (f"{report.ledger.url}: {plural(report.ledger.entries, 'entry', 'entries')}",), extra=True),
        Part("Not shown", (NOT_SHOWN,), extra=True),
    ]
    flags = sorted(report.findings, key=lambda one: -SEVERITIES.index(one.severity))
    more = f"-v prints all of it, `-o audit.html` (or .md) writes it{_explain(flags)}"
    return screen(before, flags, [one for one in after if one.sentences], more, 11, "Audit")


def _explain(flags: list[Finding]) -> str:
    """Name the command that tells of the gravest finding, where one deserves attention."""
    worst = [one for one in flags if one.severity != "info"][:1]
    return "".join(f"; `modelsel explain {one.code}` tells of a finding" for one in worst)


def _quotes(report: AuditReport, grave: Mapping[str, int]) -> Iterator[str]:
    """Yield what may be quoted of each test set: those with grave findings first, then the newest."""

    def weight(one: TestSetReport) -> tuple[int, str]:
        worst = max((grave.get(code, -1) for look in one.made for code in look.flags), default=-1)
        return worst, max((look.at or "" for look in one.looks), default=one.sealed.at or "")

    ordered = sorted(report.test_sets, key=weight, reverse=True)
    for one in ordered[:TOLD]:
        yield _quote(one, grave)
    if len(ordered) > TOLD:
        yield f"{plural(len(ordered) - TOLD, 'test set')} more, which -v lists."


def _quote(one: TestSetReport, grave: Mapping[str, int]) -> str:
    """Say of a test set when it was looked at last and by whom, and what may be quoted of that."""
    answered = [look for look in one.made if not look.outside]
    outside = len(one.made) - len(answered)
    beside = f" Other code looked at these rows {plural(outside, 'time')} at least." if outside else ""
    if not answered:
        return (
            f"{one.sealed.study or 'unknown study'}: {one.rows} rows, sealed {day(one.sealed.at)} and not tested here.{beside}"
        )
    look = look_to_quote(answered)
    codes = ", ".join(dict.fromkeys(code for code in look.flags if code in grave))
    against = f"Not as a test on unseen rows ({codes}). " if codes else ""
    return f"{_whose(look)}: {against}{sentence(look, one.rows, one.level, prices=False)}{_places(answered)}{beside}"


def _places(looks: Sequence[LookLine]) -> str:
    """Say which looks count as later ones since two ledgers were merged."""
    moved = [f"look {one.look} as look {one.superseded.look}" for one in looks if one.superseded]
    return f" After a merge some are superseded: {', '.join(moved)}." if moved else ""


def _whose(look: LookLine) -> str:
    """Say in which study, when and by whom a look was made."""
    return f"{look.study}, {day(look.at)}, {look.user}@{look.host}"


def _further(report: AuditReport) -> Iterator[str]:
    """Yield what a further look at the one test set would show."""
    upcoming = report.next
    if not upcoming:
        return
    if upcoming.release == "closed":
        yield "It would show nothing: all that these rows can tell has been told."
    elif upcoming.release == "ladder":
        yield "It would show no score any more, but whether a model is clearly better than the best so far."
    elif ends := upcoming.interval:
        yield f"The same score would then have the interval {limits_of(ends)}."
