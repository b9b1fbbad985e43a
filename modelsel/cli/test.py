"""`modelsel test RUN`: open the sealed test set of a study that ran with `final_test=false`."""

from collections.abc import Sequence

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, REFUSED


def main(words: Sequence[str]) -> int:
    """Run `modelsel test`: look at the sealed rows of a finished study."""
    parser = Arguments("test")
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--justify", nargs=2, metavar=("CATEGORY", "TEXT"), help="why a further look is needed (guard=strict)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all that is known, not the one screen")
    args = parser.parse_args(words)
    return open_test(args.run, *(args.justify or ()), verbose=args.verbose)


def open_test(run: str, category: str = "", text: str = "", *, verbose: bool = False) -> int:
    """Look once, print the verdict; 4 when the guard refused."""
    from modelsel.api import final_test
    from modelsel.record.folder import RunFolder
    from modelsel.reporting.terminal import progress
    from modelsel.reporting.verdict import brief, verdict

    outcome = final_test.open_test(run, category, text, progress=progress())
    print((verdict if verbose else brief)(RunFolder.open(outcome.folder)))
    return REFUSED if outcome.test is not None and outcome.test.refused else OK
