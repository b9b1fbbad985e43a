"""`modelsel exam create|answer|status|board|close|audit|serve`: a sealed test set for predictions from anywhere."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from modelsel.cli.arguments import LEVELS, Command, complaint, folder_parser, run_command, show, table_parser, warn_of
from modelsel.core.errors import OK, REFUSED, UNTRUSTED_LEDGER, ConfigurationError
from modelsel_exam.options import Wanted, add_options, of_answers, of_exams

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.core.types import Finding
    from modelsel_exam.board import BoardLine, ExamStatus
    from modelsel_exam.sit import ExamSession
    from modelsel_exam.store import Store

HELP = "a sealed test set for predictions from anywhere: create, answer, board, close, serve"
T = TypeVar("T")


def main(words: Sequence[str]) -> int:
    """Run a command of `modelsel exam`."""
    return run_command("exam", COMMANDS, words)


def create(words: Sequence[str]) -> int:
    """Make an exam from a table: development.csv, questions.csv, exam.json."""
    parser = table_parser("exam", create, "the askers")
    names = add_options(parser, of_exams())
    args = parser.parse_intermixed_args(words)
    from modelsel.api.commands.table_words import is_table
    from modelsel_exam.exams import make_exam

    if is_table(args.folder) and not is_table(args.table):
        said = f"the folder stands before its table; write {args.folder} {args.table}"
        raise ConfigurationError(complaint(said, "modelsel exam create"))
    wanted = Wanted(**{name: getattr(args, name) for name in names})
    _tell(*make_exam(args.table, args.target, Path(args.folder), wanted, args.settings))
    return OK


def answer(words: Sequence[str]) -> int:
    """Hand in predictions where the examiner's key is."""
    parser = folder_parser("exam", answer)
    parser.add_argument(
        "predictions", metavar="PREDICTIONS", help="CSV or Parquet: the token, and `prediction` or a column per class"
    )
    parser.add_argument("--as", required=True, dest="asker", metavar="NAME", help="who asks")
    add_options(parser, of_answers("forecast"))
    args = parser.parse_args(words)
    from modelsel_exam.sit import ExamSession

    exam = ExamSession(Path(args.folder))
    shown = exam.answer(args.predictions, args.asker, tuple(args.forecast) if args.forecast else None)
    warn_of(exam.noticed)
    if args.json:
        print(json.dumps(asdict(shown), indent=1))
    else:
        paid = f"; {shown.price:.2f} nats, {shown.spent:.2f} were spent before" if shown.look and not shown.replay else ""
        print(f"{shown.said}{f'; look {shown.look}' if shown.look else ''}{paid}")
    return OK


def status(words: Sequence[str]) -> int:
    """Show how much each asker has handed in, and what is left."""
    from modelsel_exam import board as boards

    return _show(status, words, boards.status, status_text)


def board(words: Sequence[str]) -> int:
    """List the answers as they were shown; paired verdicts once it is closed."""
    from modelsel_exam import board as boards

    return _show(board, words, boards.board, board_text)


def close(words: Sequence[str]) -> int:
    """End the exam: every score at its own index, and verdicts of pairs."""
    from modelsel_exam import board as boards

    return _show(close, words, boards.close, lambda shown: board_text(shown.board))


def audit(words: Sequence[str]) -> int:
    """Show what touched the rows, what it cost, and whether all is as it was put on record."""
    parser = folder_parser("exam", audit)
    parser.add_argument("--fail-on", metavar="LEVEL", choices=LEVELS, help=f"exit 4 from this severity on: {', '.join(LEVELS)}")
    args = parser.parse_args(words)
    from modelsel.guard.face import markdown
    from modelsel_exam import board as boards
    from modelsel_exam.sit import ExamSession

    report = boards.audit(ExamSession(Path(args.folder)))
    faults, others = "".join(f"- {fault}\n" for fault in report["exam"]["faults"]), report["exam"]["others"]
    beside = f"\n\nLooks at these rows that were no answers to the exam, and are charged: {others}" if others else ""
    print(
        json.dumps(report, indent=1, ensure_ascii=False)
        if args.json
        else f"{markdown(report)}\n## The exam\n\n{faults or 'whole'}{beside}"
    )
    if not report["exam"]["whole"]:
        return UNTRUSTED_LEDGER
    grave = args.fail_on and any(LEVELS.index(one["severity"]) >= LEVELS.index(args.fail_on) for one in report["flags"])
    return REFUSED if grave else OK


def serve(words: Sequence[str]) -> int:
    """Let others ask: HTTP, and the Model Context Protocol for agents."""
    parser = folder_parser("exam", serve, data=False)
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine alone")
    parser.add_argument("--port", type=int, default=8800)
    parser.add_argument("--proxy", metavar="ADDRESS", default="", help="of a proxy whose X-Forwarded-For is believed")
    parser.add_argument("--rate", type=int, default=20, metavar="N", help="answers a minute that a token may hand in")
    parser.add_argument("--stdio", action="store_true", help="speak to one agent on stdin and stdout (MODELSEL_EXAM_TOKEN)")
    parser.add_argument("--admit", metavar="NAME", help="give out a token for a name, and end")
    parser.add_argument("--looks", type=int, metavar="N", help="with --admit: answers that it may hand in")
    parser.add_argument("--nats", type=float, metavar="X", help="with --admit: nats that it may spend")
    args = parser.parse_args(words)
    from modelsel_exam.serve import serve as run
    from modelsel_exam.serve import serve_stdio
    from modelsel_exam.service import Askers
    from modelsel_exam.store import Store

    folder = Path(args.folder)
    if args.admit is not None:
        print(Askers(Store.open(folder).folder).admit(args.admit, args.looks, args.nats))
    elif args.stdio:
        serve_stdio(folder)
    else:
        print(f"http://{args.host}:{args.port}/", flush=True)
        run(folder, args.host, args.port, args.rate, args.proxy)
    return OK


def status_text(state: "ExamStatus") -> str:
    """The state of an exam as people read it."""
    lines = [f"{state.name} ({state.exam}): {state.state}, release={state.release}, "
             f"{state.answers} answers, {state.spent:.2f} nats spent by all"]  # fmt: skip
    if state.next:
        lines.append(f"the interval of one more answer is at most ±{state.next.half:.3f} wide")
    for name, used in state.askers.items():
        left = "" if used.looks_left is None else f", {used.looks_left} answers left"
        lines.append(f"  {name}: {used.answers} answers, {used.nats:.2f} nats{left}")
    return "\n".join(lines)


def board_text(lines: Sequence["BoardLine"]) -> str:
    """The board as people read it in a terminal."""
    if not lines:
        return "no answer has been handed in"
    return "\n".join(
        f"{place:>3}  {line.asker:<24} {_score(line):<38} {_beside(line.beside) if line.beside else ''}".rstrip()
        for place, line in enumerate(lines, 1)
    )


def _score(line: "BoardLine") -> str:
    """Write an answer as score and interval, or as the reason why there is none."""
    if line.score is None:
        return line.said
    low_high = f" [{line.interval[0]:.4f}, {line.interval[1]:.4f}]" if line.interval else ""
    return f"{line.score:.6g}{low_high}"


def _beside(said: str) -> str:
    return "cannot be told from the line above" if said == "cannot be told apart" else "the line above has fewer errors"


def _show(command: Command, words: Sequence[str], facts: "Callable[[ExamSession], T]", text: Callable[[T], str]) -> int:
    """Run a command that reads an exam."""
    from modelsel_exam.sit import ExamSession

    return show("exam", command, words, lambda folder: facts(ExamSession(folder)), text)


def _tell(store: "Store", found: "Sequence[Finding]") -> None:
    """Print the created exam, its notes and the findings that deserve attention."""
    rows = store.terms.rows
    print(f"{store.public}: {rows.questions:,} questions, {rows.development:,} development rows; exam {store.terms.id}")
    if store.terms.of_numbers:
        print(f"what is counted: rows {store.terms.wrong}")
    print(f"shown as {store.terms.release}; the labels are in {store.folder} alone, encrypted")
    for note in store.terms.notes:
        print(note, file=sys.stderr)
    warn_of(found)


COMMANDS: dict[str, Command] = {
    "create": create, "answer": answer, "status": status, "board": board, "close": close, "audit": audit,
    "serve": serve,
}  # fmt: skip
