"""`modelsel audit [RUN]`: what touched the test rows, what it cost, is the ledger whole, does the rule give the winner."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.cli.arguments import LEVELS, RUN_HELP, Arguments
from modelsel.core.system.disk import writing

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.guard.reporting.report import AuditReport


def main(words: Sequence[str]) -> int:
    """Run `modelsel audit`: print the first screen of the audit; the exit code follows `--fail-on`."""
    parser = Arguments("audit")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP}; default: the whole ledger")
    parser.add_argument("--json", action="store_true", help="the story as data")
    parser.add_argument("-o", "--html", metavar="FILE", help="write it whole: Markdown (.md), or a page with any other ending")
    parser.add_argument("-v", "--verbose", action="store_true", help="print it whole, as Markdown")
    parser.add_argument("--fail-on", metavar="LEVEL", choices=LEVELS, help=f"exit 4 from this severity on: {', '.join(LEVELS)}")
    parser.add_argument("--ledger", default="user", help="user, project or an SQLAlchemy URL (without RUN)")
    parser.add_argument(
        "--merge", metavar="FILE|URL", help="first take over the entries of another ledger (a machine's offline)"
    )
    parser.add_argument("--vouch", metavar="KEY", help="first say that another public key (see doctor) is yours too")
    parser.add_argument(
        "--void", metavar="ENTRY", nargs="+", help="first rule, as the ledger's owner, that bad entries are void"
    )
    args = parser.parse_args(words)
    from modelsel.api.results.audit import audit_report, code_of

    report = audit_report(args.run, args.ledger, args.merge, args.vouch, args.void or ())
    _show(report, args.json, args.verbose)
    if args.html is not None:
        _write(report, Path(args.html))
    return code_of(report, args.fail_on)


def _show(report: "AuditReport", as_json: bool, whole: bool) -> None:
    """Print the first screen, the whole as Markdown, or all of it as data."""
    if as_json:
        from modelsel.guard.reporting.page import reforms

        print(json.dumps(report.but(reforms=reforms(report)).written(), indent=1, ensure_ascii=False))
    elif whole:
        from modelsel.guard.reporting.page import markdown

        print(markdown(report))
    else:
        from modelsel.reporting.audit import audit_screen

        print(audit_screen(report))


def _write(report: "AuditReport", page: Path) -> None:
    """Write the whole audit, as Markdown or as a page by the ending of the file."""
    from modelsel.guard.reporting.page import html, markdown

    with writing(page):
        page.write_text(markdown(report) if page.suffix == ".md" else html(report), "utf-8")
