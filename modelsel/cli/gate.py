"""`modelsel gate create|propose|status|close`: keep or discard for the proposals of a loop, one final number at its end."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.cli.arguments import Arguments, complaint
from modelsel.core.errors import OK, ConfigurationError

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.core.types import Finding
    from modelsel.examination.proposals import GateClose, GateStatus

FOLDER = "the gate's folder, as `modelsel gate create` wrote it"


def main(words: Sequence[str]) -> int:
    """Run a command of `modelsel gate`."""
    if not words or words[0] in ("-h", "--help"):
        Arguments("gate", "\n".join(f"  {name:<8} {_said(one).rstrip('.')}" for name, one in COMMANDS.items())).print_help()
        return OK
    if words[0] not in COMMANDS:
        near = get_close_matches(words[0], COMMANDS, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigurationError(complaint(f"{words[0]!r} is none of {', '.join(COMMANDS)}{meant}", "modelsel gate"))
    return COMMANDS[words[0]](words[1:])


def create(words: Sequence[str]) -> int:
    """Make a gate from a table: development.csv, questions.csv, exam.json."""
    parser = _parser("create", create)
    parser.add_argument("table", metavar="TABLE", help="CSV, ARFF or Parquet")
    parser.add_argument("folder", metavar="DIR", help="a new folder, for the loop")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what is to be predicted")
    parser.add_argument("--name", default="", help="how the gate is called; default: the table's name")
    parser.add_argument("--judged", type=float, default=0.3, metavar="SHARE", help="of the development rows, those that judge")
    parser.add_argument("--errors", type=float, default=1.0, metavar="X", help="standard errors that a gain has to exceed")
    parser.add_argument("--vetoes", type=int, default=0, metavar="N", help="how often sealed rows may say no: a bit each")
    parser.add_argument("--pin", action="append", default=[], dest="pinned", metavar="FILE",
                        help="a file of the evaluation that must not change (code, settings); may be given again")  # fmt: skip
    parser.add_argument("--delta", type=float, default=0.05, help="the chance that the final interval is wrong")
    parser.add_argument("--tolerance", type=float, metavar="T", help="of numbers: a row is off when its error exceeds T")
    parser.add_argument("--parquet", action="store_true", help="write Parquet files")
    parser.add_argument("--accept-overlap", action="store_true", help="although rows were looked at or chosen on before")
    parser.add_argument("--ledger", default="user", metavar="URL", help="a team's ledger, for example in PostgreSQL")
    parser.add_argument("settings", nargs="*", metavar="SETTING=VALUE", help="of split, dataset and measure")
    args = parser.parse_intermixed_args(words)
    import modelsel

    given = {name: value for name, value in vars(args).items() if name not in ("table", "folder", "target", "settings")}
    made = modelsel.create_gate(args.table, args.folder, args.target, *args.settings, **given)
    rows = made.status().rows
    print(f"{made.folder}: {rows['learn']:,} rows to learn from; {rows['judge'] + rows['sealed']:,} questions, of which "
          f"{rows['judge']:,} judge and {rows['sealed']:,} are sealed; gate {made.terms['id']}")  # fmt: skip
    return OK


def propose(words: Sequence[str]) -> int:
    """Propose a model by its predictions: keep or discard."""
    parser = _parser("propose", propose)
    parser.add_argument("folder", metavar="DIR", help=FOLDER)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="CSV or Parquet: the token, and `prediction` or a column per class"
    )
    parser.add_argument("--as", default="loop", dest="name", metavar="NAME", help="who, or which idea")
    parser.add_argument("--input", action="append", default=[], dest="inputs", metavar="FILE",
                        help="a file that it was fitted on: sealed rows in it are a finding; may be given again")  # fmt: skip
    parser.add_argument("--veto", action="store_true", help="ask the sealed rows whether it is clearly worse; uses one up")
    parser.add_argument("--json", action="store_true", help="as data")
    args = parser.parse_args(words)
    from modelsel.examination.proposals import LoopSession

    session = LoopSession(Path(args.folder))
    try:
        made = session.propose(args.predictions, args.name, args.inputs, args.veto)
    finally:
        _notice(session.noticed)
    print(json.dumps(asdict(made), indent=1) if args.json else made.said)
    return OK


def status(words: Sequence[str]) -> int:
    """Show how many proposals there were, which is the best, and what was found."""
    parser = _parser("status", status)
    parser.add_argument("folder", metavar="DIR", help=FOLDER)
    parser.add_argument("--json", action="store_true", help="as data")
    args = parser.parse_args(words)
    from modelsel.examination.proposals import LoopSession

    state = LoopSession(Path(args.folder)).status()
    print(json.dumps(asdict(state), indent=1) if args.json else status_text(state))
    return OK


def close(words: Sequence[str]) -> int:
    """End the loop: the score of the best proposal on the sealed rows, once."""
    parser = _parser("close", close)
    parser.add_argument("folder", metavar="DIR", help=FOLDER)
    parser.add_argument("--json", action="store_true", help="as data")
    args = parser.parse_args(words)
    from modelsel.examination.proposals import LoopSession

    ended = LoopSession(Path(args.folder)).close()
    print(json.dumps(asdict(ended), indent=1) if args.json else close_text(ended))
    return OK


def status_text(state: "GateStatus") -> str:
    """The state of a gate as people read it."""
    best = "none" if state.best is None else f"proposal {state.best}"
    lines = [f"{state.name} ({state.gate}): {state.state}, {state.measure}, kept from {state.errors:g} standard errors on",
             f"{state.proposals} proposals, {state.kept} kept; the best so far: {best}",
             f"of so many equal ones {state.by_luck:.1f} would be kept by luck",
             f"{state.vetoes_left} vetoes left"]  # fmt: skip
    return "\n".join([*lines, *(f"{one.code} ({one.severity}): {one.message}; {one.do}" for one in state.findings)])


def close_text(ended: "GateClose") -> str:
    """The end of a gate as people read it."""
    score = "no score" if ended.score is None else f"{ended.score:.6g}"
    limits = "no certified interval" if ended.interval is None else (
        f"{100 * ended.level:g} % interval [{ended.interval[0]:.4f}, {ended.interval[1]:.4f}]")  # fmt: skip
    lines = [f"{ended.name}: proposal {ended.number} of {ended.proposals} ({ended.kept} kept)",
             f"sealed rows: {score} on {ended.n}, {limits}",
             f"rows that judged: {ended.judged:.6g}, which trying has made better than the truth: do not quote it"]  # fmt: skip
    return "\n".join([*lines, *(f"{one.code} ({one.severity}): {one.message}; {one.do}" for one in ended.findings)])


def _notice(found: "Sequence[Finding]") -> None:
    for one in found:
        if one.severity not in ("info", "low"):
            print(f"{one.code}: {one.message}; {one.do}", file=sys.stderr)


def _said(command: Callable[..., int]) -> str:
    return (command.__doc__ or "").strip()


def _parser(name: str, command: Callable[..., int]) -> argparse.ArgumentParser:
    parser = Arguments("gate")
    parser.prog, parser.description = f"modelsel gate {name}", _said(command)
    return parser


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "create": create, "propose": propose, "status": status, "close": close,
}  # fmt: skip
