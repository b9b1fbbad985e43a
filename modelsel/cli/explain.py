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
    if args.schema:
        print(json.dumps(schema(args.schema), indent=1))
    elif args.word:
        print(explained(args.word))
    else:
        parser.error("name a code or a setting")
    return OK


def explained(word: str) -> str:
    """The page of a word; ConfigurationError for an unknown one."""
    from modelsel.config.suggest import near
    from modelsel.core.errors import ConfigurationError, Problem
    from modelsel.manual.explain import page, words

    if found := page(word):
        return found
    raise ConfigurationError(Problem("MSEL-258", f"{word!r} is in no page", "modelsel explain", near(word, words())))


def schema(group: str) -> dict[str, object]:
    """The JSON schema of a group's files, or of an output; ConfigurationError for an unknown name."""
    from modelsel.config.suggest import near
    from modelsel.core.errors import ConfigurationError, Problem
    from modelsel.manual import editor, json_schema

    known = {**editor.schemas(), **json_schema.schemas()}
    if group not in known:
        what, where = f"{group!r} is no group and no output", "`modelsel explain --schema`"
        raise ConfigurationError(Problem("MSEL-251", what, where, near(group, known)))
    return known[group]
