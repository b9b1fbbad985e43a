"""`modelsel lint [PATHS]`: hold `modelsel.lock` against the ledger, and against git."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.cli.arguments import LEVELS, Arguments
from modelsel.core.errors import OK, REFUSED, UNTRUSTED_LEDGER
from modelsel.core.system.disk import writing

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.guard.reporting.lint import LintReport

SUMMARY = "GITHUB_STEP_SUMMARY"


def main(words: Sequence[str]) -> int:
    """Run `modelsel lint`: print findings at lines of lock files; the exit code follows `--fail-on`."""
    parser = Arguments("lint")
    parser.add_argument("paths", metavar="PATHS", nargs="*", help="lock files, or folders with one; default: this folder")
    parser.add_argument("--ledger", default="user", help="user, project or an SQLAlchemy URL")
    parser.add_argument("--against", metavar="REVISION", help="of git (origin/main): say which looks are new since")
    parser.add_argument("--fail-on", metavar="LEVEL", choices=(*LEVELS, "never"), default="high",
                        help=f"exit 4 from this severity on: {', '.join(LEVELS)}, or never; default: high")  # fmt: skip
    parser.add_argument("--sarif", metavar="FILE", help="write SARIF 2.1.0, anchored to lines of the lock file")
    parser.add_argument("--github", action="store_true", help=f"annotations of a workflow, and a summary in ${SUMMARY}")
    parser.add_argument("--json", action="store_true", help="as data")
    args = parser.parse_args(words)
    import modelsel
    from modelsel.reporting import lint as written

    report = modelsel.lint(*args.paths, ledger=args.ledger, against=args.against)
    if args.sarif:
        _write(Path(args.sarif), written.sarif(report, modelsel.__version__))
    if args.github:
        print(*written.annotations(report), sep="\n")
        if os.environ.get(SUMMARY):
            _write(Path(os.environ[SUMMARY]), written.summary(report), "a")
    elif args.json:
        print(json.dumps(asdict(report), indent=1, ensure_ascii=False))
    else:
        print(written.text(report))
    return _code(report, args.fail_on)


def _code(report: "LintReport", fail_on: str) -> int:
    """5 where the ledger is not whole, 4 where a finding is as grave as `fail_on`, else 0."""
    if not report.intact:
        return UNTRUSTED_LEDGER
    worst = max((LEVELS.index(one.finding.severity) for one in report.found), default=-1)
    return REFUSED if fail_on != "never" and worst >= LEVELS.index(fail_on) else OK


def _write(path: Path, text: str, mode: str = "w") -> None:
    """Write a file, or add to it."""
    with writing(path), path.open(mode, encoding="utf-8") as file:
        file.write(text)
