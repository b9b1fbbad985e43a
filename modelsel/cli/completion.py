"""`modelsel completion SHELL`: what a shell has to read for completion."""

from collections.abc import Sequence

from modelsel.api.commands.words import SCRIPTS, completion
from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel completion`: print the script for a shell."""
    parser = Arguments(
        "completion", 'bash: eval "$(modelsel completion bash)"; zsh the same; fish: modelsel completion fish | source'
    )
    parser.add_argument("shell", metavar="SHELL", choices=sorted(SCRIPTS), help="bash, zsh or fish")
    print(completion(parser.parse_args(words).shell), end="")
    return OK
