"""`modelsel report RUN`: report.html once more, from the record alone."""

from collections.abc import Sequence

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel report`: write the page again and print its path."""
    parser = Arguments("report")
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    args = parser.parse_args(words)
    from modelsel.record.folder import RunFolder
    from modelsel.reporting import page

    print(page.write(RunFolder.open(args.run)))
    return OK
