"""`modelsel dossier RUN --as reforms|tripod-ai|model-card`: a checklist filled from the record."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK
from modelsel.core.system.disk import writing

KINDS, FORMATS = ("reforms", "tripod-ai", "model-card"), ("markdown", "html", "json")


def main(words: Sequence[str]) -> int:
    """Run `modelsel dossier`: print a filled checklist, or write it."""
    parser = Arguments("dossier")
    parser.add_argument("run", metavar="RUN", nargs="?", default="latest", help=RUN_HELP)
    parser.add_argument("--as", dest="checklist", default="reforms", metavar="CHECKLIST",
                        help=f"{', '.join(KINDS)}; default: reforms")  # fmt: skip
    parser.add_argument("--to", dest="form", choices=FORMATS, default="markdown", help="default: markdown")
    parser.add_argument("-o", dest="path", metavar="FILE", help="write it there")
    args = parser.parse_args(words)
    import modelsel

    made = modelsel.dossier(args.run, args.checklist)
    if args.form == "json":
        text = json.dumps(asdict(made), indent=1) + "\n"
    else:
        text = made.html() if args.form == "html" else made.markdown()
    if args.path is None:
        print(text, end="")
        return OK
    with writing(args.path):
        Path(args.path).write_text(text, "utf-8")
    return OK
