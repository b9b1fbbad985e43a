"""`modelsel init [DIR]`: a small `conf/` for a project of one's own, searched before the package's by `--config-dir DIR`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel init`: write the starter files and print their paths."""
    parser = Arguments("init")
    parser.add_argument("folder", metavar="DIR", nargs="?", default="conf", help="default: conf")
    folder = Path(parser.parse_args(words).folder)
    from modelsel.api.commands.setup import write_starter

    for path in write_starter(folder):
        print(path)
    print(f"next: put your data into {folder}/dataset/mine.yaml, then", file=sys.stderr)
    print(f"  modelsel plan --config-dir {folder} experiment=first", file=sys.stderr)
    return OK
