"""`modelsel explain CODE|SETTING`: what the documentation says of an error, a finding, a kind or a setting."""

import json
from collections.abc import Sequence

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK

MORE = "examples: modelsel explain MSEL-250, modelsel explain G021, modelsel explain learner.k, modelsel explain scheme"


def main(words: Sequence[str]) -> int:
    """Run `modelsel explain`: print a page of the manual, or a JSON schema."""
    parser = Arguments("explain", MORE)
    parser.add_argument("word", metavar="CODE|SETTING", nargs="?", help="a code, a setting, a group or a name of its files")
    parser.add_argument(
        "--schema", metavar="GROUP", help="a JSON schema: of a group, space, experiment, or of what is written (study, audit)"
    )
    args = parser.parse_args(words)
    from modelsel.api.commands.setup import explain, schema

    if args.schema:
        print(json.dumps(schema(args.schema), indent=1))
    elif args.word:
        print(explain(args.word))
    else:
        parser.error("name a code or a setting")
    return OK
