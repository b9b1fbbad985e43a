"""`modelsel watch install|status|uninstall`: watch every process of a virtual environment."""

from collections import Counter
from collections.abc import Iterator, Sequence

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK

HELP = "see what other code does with sealed rows: install, status, uninstall"


def main(words: Sequence[str]) -> int:
    """Run `modelsel watch`: put the hook of this environment in place, take it away, or say whether it is there."""
    parser = Arguments("watch")
    parser.add_argument("action", choices=("install", "status", "uninstall"), metavar="install|status|uninstall")
    parser.add_argument("--strict", action="store_true", help="install: raise before a score on sealed rows is returned")
    args = parser.parse_args(words)
    from modelsel_watch import watching as watch

    if args.action == "install":
        print(f"{watch.install(args.strict)}: processes of this environment are watched from their start")
    elif args.action == "uninstall":
        place = watch.uninstall()
        print(f"{place}: removed" if place else "nothing is installed in this environment")
    else:
        place = watch.installed_hook()
        print(f"{place}: processes of this environment are watched" if place else "this environment is not watched")
        for line in _list_failures():
            print(line)
    return OK


def _list_failures() -> Iterator[str]:
    """What failed in hooks, and stopped no program, by program and error."""
    from modelsel.guard.face import Home
    from modelsel.reporting.words import plural
    from modelsel_watch.failures import failures

    counted = Counter((one["program"], one["error"], one["place"]) for one in failures(Home.find()))
    for (program, error, place), times in counted.items():
        yield f"{program}: {plural(times, 'hook')} failed ({error} at {place}): what was seen there is not on record"
