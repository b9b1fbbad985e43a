"""`modelsel explain CODE|SETTING`: what the documentation says of it; `modelsel explain RUN --alternatives`: good trees."""

import argparse
import json
from collections.abc import Sequence

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem

MORE = "examples: modelsel explain MSEL-250, modelsel explain learner.k, modelsel explain latest --alternatives"
SEARCH = {"within": 0.01, "min_leaf": 5.0, "limit": 20_000, "depth": 2}  # what --alternatives takes unless it is told


def main(words: Sequence[str]) -> int:
    """Run `modelsel explain`: print a page of the manual, a JSON schema, or what the good trees of a run's rows share."""
    parser = Arguments("explain", MORE)
    parser.add_argument(
        "word", metavar="CODE|SETTING|RUN", nargs="?", help="a code, a setting, a group, a name of its files; a run"
    )
    parser.add_argument(
        "--schema", metavar="GROUP", help="a JSON schema: of a group, space, experiment, or of what is written (study, audit)"
    )
    parser.add_argument("--alternatives", action="store_true", help="of a RUN: what all good small trees share")
    parser.add_argument("--within", metavar="SHARE", type=float, help="errors above the best of a good tree (0.01)")
    parser.add_argument("--min-leaf", metavar="ROWS", type=float, help="rows of every leaf of a good tree (5)")
    parser.add_argument("--limit", metavar="MILLIONS", type=int, help="steps of the search, in millions (20000)")
    parser.add_argument("--depth", metavar="LEVELS", type=int, help="of the good trees: 2, or 3, which takes far longer (2)")
    args = parser.parse_args(words)
    _check(parser, args)
    if args.alternatives:
        from modelsel.api.run import open_run

        asked = {name: getattr(args, name) for name in SEARCH if getattr(args, name) is not None}
        print(open_run(args.word or "latest").alternatives(**{**SEARCH, **asked}))
    elif args.schema:
        from modelsel.api.commands.setup import schema

        print(json.dumps(schema(args.schema), indent=1))
    else:
        print(_page(args.word))
    return OK


def _check(parser: Arguments, args: argparse.Namespace) -> None:
    """Refuse what would say nothing: options of a search that is not asked for, two questions at once, none at all."""
    alone = [f"--{name.replace('_', '-')}" for name in SEARCH if getattr(args, name) is not None]
    if alone and not args.alternatives:
        parser.error(f"{', '.join(alone)} belong{'s' * (len(alone) == 1)} to --alternatives, which is not there")
    if args.schema and (args.alternatives or args.word):
        parser.error("--schema stands alone")
    if not (args.schema or args.word or args.alternatives):
        parser.error("name a code or a setting")


def _page(word: str) -> str:
    """A page of the manual; where the word is no page but a run, the error names the option that explains runs."""
    from modelsel.api.commands.setup import explain

    try:
        return explain(word)
    except ConfigurationError:
        if not _is_run(word):
            raise
    option = f"what is told of a run: modelsel explain {word} --alternatives, or modelsel report {word}"
    raise ConfigurationError(Problem("MSEL-258", f"{word!r} is a run, and in no page", "modelsel explain", option))


def _is_run(word: str) -> bool:
    """Say whether a word names a run: `latest` does even before there is one."""
    from modelsel.record.folder import RunFolder

    try:
        RunFolder.open(word)
    except ConfigurationError:
        return word == "latest"
    return True
