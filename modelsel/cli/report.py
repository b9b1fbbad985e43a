"""`modelsel report RUN|SWEEP`: report.html once more, from the record alone."""

import sys
from collections.abc import Sequence

from modelsel.cli.arguments import RUN_HELP, Arguments, warn_of_changes
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel report`: write the page again and print its path."""
    parser = Arguments("report")
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=f"{RUN_HELP}, or a sweep's folder")
    args = parser.parse_args(words)
    from modelsel.record.folder import RunFolder
    from modelsel.record.sweep import SweepFolder
    from modelsel.reporting import sweep
    from modelsel.reporting.terminal import Lines
    from modelsel.study.rebuild import report

    if (found := SweepFolder.find(args.run)) is not None:
        sweep.write_sweep(found)
        print(found.report)
    else:
        folder = RunFolder.open(args.run)
        print(report(folder, Lines(sys.stderr)))
        warn_of_changes(folder)
    return OK
