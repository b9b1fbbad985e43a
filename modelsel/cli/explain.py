"""`modelsel explain CODE|SETTING`: what the documentation says of it; `modelsel explain RUN --alternatives`: good trees."""

import json
from collections.abc import Sequence

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK

MORE = "examples: modelsel explain MSEL-250, modelsel explain learner.k, modelsel explain latest --alternatives"


def main(words: Sequence[str]) -> int:
    """Run `modelsel explain`: print a page of the manual, a JSON schema, or what the good trees of a run's rows share."""
    parser = Arguments("explain", MORE)
    parser.add_argument(
        "word", metavar="CODE|SETTING|RUN", nargs="?", help="a code, a setting, a group, a name of its files; a run"
    )
    parser.add_argument(
        "--schema", metavar="GROUP", help="a JSON schema: of a group, space, experiment, or of what is written (study, audit)"
    )
    parser.add_argument("--alternatives", action="store_true", help="of a RUN: what all good trees of two levels share")
    parser.add_argument(
        "--within", metavar="SHARE", type=float, default=0.01, help="errors above the best of a good tree (0.01)"
    )
    parser.add_argument("--min-leaf", metavar="ROWS", type=float, default=5, help="rows of every leaf of a good tree (5)")
    parser.add_argument(
        "--limit", metavar="MILLIONS", type=int, default=20_000, help="steps of the search, in millions (20000)"
    )
    args = parser.parse_args(words)
    from modelsel.api.commands.setup import explain, schema

    if args.alternatives:
        from modelsel.api.run import open_run

        print(open_run(args.word or "latest").alternatives(args.within, args.min_leaf, args.limit))
    elif args.schema:
        print(json.dumps(schema(args.schema), indent=1))
    elif args.word:
        print(explain(args.word))
    else:
        parser.error("name a code or a setting")
    return OK
