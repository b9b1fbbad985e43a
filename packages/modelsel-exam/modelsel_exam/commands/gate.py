"""`modelsel gate create|propose|status|close`: keep or discard for the proposals of a loop, one final number at its end."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.cli.arguments import Command, folder_parser, run_command, show, table_parser, warn_of
from modelsel.core.errors import OK
from modelsel_exam.options import add_options, of_answers, of_gates

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.core.types import Finding
    from modelsel_exam.proposals import GateClose, GateStatus

HELP = "keep or discard for the proposals of a loop: create, propose, status, close"


def main(words: Sequence[str]) -> int:
    """Run a command of `modelsel gate`."""
    return run_command("gate", COMMANDS, words)


def create(words: Sequence[str]) -> int:
    """Make a gate from a table: development.csv, questions.csv, exam.json."""
    parser = table_parser("gate", create, "the loop")
    names = add_options(parser, of_gates())
    args = parser.parse_intermixed_args(words)
    import modelsel

    given = {name: getattr(args, name) for name in names}
    made = modelsel.create_gate(args.table, args.folder, args.target, *args.settings, **given)
    rows = made.status().rows
    print(f"{made.folder}: {rows['learn']:,} rows to learn from; {rows['judge'] + rows['sealed']:,} questions, of which "
          f"{rows['judge']:,} judge and {rows['sealed']:,} are sealed; gate {made.terms['id']}")  # fmt: skip
    return OK


def propose(words: Sequence[str]) -> int:
    """Propose a model by its predictions: keep or discard."""
    parser = folder_parser("gate", propose)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="CSV or Parquet: the token, and `prediction` or a column per class"
    )
    parser.add_argument("--as", default="loop", dest="name", metavar="NAME", help="who, or which idea")
    parser.add_argument("--input", action="append", default=[], dest="inputs", metavar="FILE",
                        help="a file that it was fitted on: sealed rows in it are a finding; may be given again")  # fmt: skip
    add_options(parser, of_answers("veto"))
    args = parser.parse_args(words)
    from modelsel_exam.proposals import LoopSession

    session = LoopSession(Path(args.folder))
    try:
        made = session.propose(args.predictions, args.name, args.inputs, args.veto)
    finally:
        warn_of(session.noticed)
    print(json.dumps(asdict(made), indent=1) if args.json else made.said)
    return OK


def status(words: Sequence[str]) -> int:
    """Show how many proposals there were, which is the best, and what was found."""
    from modelsel_exam.proposals import LoopSession

    return show("gate", status, words, lambda folder: LoopSession(folder).status(), status_text)


def close(words: Sequence[str]) -> int:
    """End the loop: the score of the best proposal on the sealed rows, once."""
    from modelsel_exam.proposals import LoopSession

    return show("gate", close, words, lambda folder: LoopSession(folder).close(), close_text)


def status_text(state: "GateStatus") -> str:
    """The state of a gate as people read it."""
    best = "none" if state.best is None else f"proposal {state.best}"
    lines = [f"{state.name} ({state.gate}): {state.state}, {state.measure}, kept from {state.errors:g} standard errors on",
             f"{state.proposals} proposals, {state.kept} kept; the best so far: {best}",
             f"of so many equal ones {state.by_luck:.1f} would be kept by luck",
             f"{state.vetoes_left} vetoes left"]  # fmt: skip
    return "\n".join([*lines, *_lines(state.findings)])


def close_text(ended: "GateClose") -> str:
    """The end of a gate as people read it."""
    score = "no score" if ended.score is None else f"{ended.score:.6g}"
    limits = "no certified interval" if ended.interval is None else (
        f"{100 * ended.level:g} % interval [{ended.interval[0]:.4f}, {ended.interval[1]:.4f}]")  # fmt: skip
    lines = [f"{ended.name}: proposal {ended.number} of {ended.proposals} ({ended.kept} kept)",
             f"sealed rows: {score} on {ended.n}, {limits}",
             f"rows that judged: {ended.judged:.6g}, which trying has made better than the truth: do not quote it"]  # fmt: skip
    return "\n".join([*lines, *_lines(ended.findings)])


def _lines(findings: "Sequence[Finding]") -> list[str]:
    return [f"{finding.code} ({finding.severity}): {finding.message}; {finding.do}" for finding in findings]


COMMANDS: dict[str, Command] = {
    "create": create, "propose": propose, "status": status, "close": close,
}  # fmt: skip
