"""`modelsel audit [RUN]`: what touched the test rows, what it cost, is the ledger whole, does the rule give the winner."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from modelsel.cli.arguments import LEVELS, RUN_HELP, Arguments
from modelsel.core.errors import Problem, StoreError


def main(words: Sequence[str]) -> int:
    """Run `modelsel audit`: print the story of the looks; the exit code follows `--fail-on`."""
    parser = Arguments("audit")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP}; default: the whole ledger")
    parser.add_argument("--json", action="store_true", help="the story as data")
    parser.add_argument("--html", metavar="FILE", help="write it as a page")
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
    _show(report, args.json, args.html)
    return code_of(report, args.fail_on)


def _show(report: Mapping[str, object], as_json: bool, page: str | None) -> None:
    """Print the audit as Markdown or JSON, and write the page where one is wanted."""

    from modelsel.guard.reporting.page import html, markdown, reforms

    if as_json:
        print(json.dumps({**report, "reforms": reforms(report)}, indent=1, ensure_ascii=False))
    else:
        print(markdown(report))
    if page is not None:
        try:
            Path(page).write_text(html(report), "utf-8")
        except OSError as error:
            raise StoreError(
                Problem("MSEL-605", f"cannot be written ({error.strerror})", page, "choose another place")
            ) from error
