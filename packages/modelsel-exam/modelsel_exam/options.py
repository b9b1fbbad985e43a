"""The options of exams and gates, declared once: fields of `Wanted` and `WantedLoop`; of an answer, fields of `AnswerOptions`.

A field has the option's name, type and default. The commands make their arguments from them, the functions in Python have
parameters of the same names and defaults, and `modelsel_exam.terms` says what goes together. Who asks by HTTP or by the Model
Context Protocol makes no exam; the words of an answer are those of `parts_of`. Standard library only: help is answered at once.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any


def option(
    default: Any, help: str, metavar: str | tuple[str, ...] | None = None, read: Callable[[str], object] | None = None
) -> Any:
    """A field with its line of help; `read` makes its value of a word where the type of the default does not.

    An option of several words has a metavar for each.
    """
    facts = {"help": help, "metavar": metavar, "read": read}
    return field(default=default, metadata=facts)


def resolution_of(word: str) -> float | str:
    """A number where it is one; else count, auto, or what is said to be neither."""
    try:
        return float(word)
    except ValueError:
        return word


def limit_of(word: str) -> int | None:
    """A number of answers; 0 is no limit."""
    return int(word) or None


@dataclass(frozen=True)
class WantedLoop:
    """The terms of a gate that its owner chooses beside those of `SHARED`."""

    judged: float = option(0.3, "of the development rows, those that judge", "SHARE")
    errors: float = option(1.0, "standard errors that a gain has to exceed", "X")
    vetoes: int = option(0, "how often sealed rows may say no: a bit each", "N")
    pinned: tuple[Path, ...] = option((), "a file of the evaluation that must not change; may be given again", "FILE")


@dataclass(frozen=True)
class Wanted:
    """The terms that an examiner chooses. `looks` and `nats` are budgets of each asker (None: no limit)."""

    name: str = option("", "what it is called; default: the table's name")
    release: str = option("predicted", "full, grid, predicted, ladder, better, passfail, closed or thresholdout", "HOW")
    resolution: float | str = option("count", "count, auto or a step such as 0.01", "STEP", resolution_of)
    delta: float = option(0.05, "the chance that anything shown is wrong")
    target_rate: float | None = option(None, "passfail: the error rate to be met (--pass: its earlier name)", "RATE", float)
    budget: int = option(10, "thresholdout: answers that may differ from development")
    looks: int | None = option(20, "answers that each asker may hand in; 0: no limit", "N", limit_of)
    nats: float | None = option(None, "nats that each asker may spend", "X", float)
    class_counts: bool = option(False, "tell how many questions each class has; it is priced")
    all: bool = option(False, "the whole table is the exam; no development rows")
    parquet: bool = option(False, "write Parquet files")
    accept_overlap: bool = option(False, "although rows were looked at or chosen on before")
    ledger: str = option("user", "a team's ledger, for example in PostgreSQL; labels stay in the examiner's store", "URL")
    tolerance: float | None = option(None, "of numbers: a row is off when its error exceeds T", "T", float)
    loop: WantedLoop | None = None  # a gate


@dataclass(frozen=True)
class AnswerOptions:
    """What an asker may say beside the predictions: of an answer to an exam a forecast, of a proposal to a gate a veto."""

    forecast: tuple[float, float] | None = option(
        None, "the error rate that is foreseen, and from how many rows: it makes the answer cheap", ("RATE", "ROWS"), float
    )
    veto: bool = option(False, "ask the sealed rows whether it is clearly worse; uses one up")


SHARED = ("name", "delta", "parquet", "accept_overlap", "ledger", "tolerance")  # of exams and gates
EARLIER = {"target_rate": ("--pass",), "pinned": ("--pin",)}  # other words for an option


def of_exams() -> Iterator["Field[Any]"]:
    """The options of an exam."""
    return (one for one in fields(Wanted) if "help" in one.metadata)


def of_gates() -> Iterator["Field[Any]"]:
    """The options of a gate."""
    yield from fields(WantedLoop)
    yield from (one for one in of_exams() if one.name in SHARED)


def of_answers(name: str) -> Iterator["Field[Any]"]:
    """The option of an answer, by its name."""
    return (one for one in fields(AnswerOptions) if one.name == name)


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of an answer's option, as an address names them; tools put the option's name before each.

    >>> parts_of("forecast")
    ('rate', 'rows')
    """
    (one,) = of_answers(name)
    return tuple(word.lower() for word in one.metadata["metavar"])


def words_of(one: "Field[Any]") -> tuple[str, ...]:
    """The words of a command line for an option."""
    return f"--{one.name.replace('_', '-')}", *EARLIER.get(one.name, ())


def add_options(parser: ArgumentParser, declared: Iterator["Field[Any]"]) -> tuple[str, ...]:
    """Add an argument for each option, and return their names."""
    names = []
    for one in declared:
        known: dict[str, Any] = {"dest": one.name, "help": one.metadata["help"], "default": one.default}
        assert one.default is not MISSING
        if isinstance(one.default, bool):
            known["action"] = "store_true"
        elif isinstance(one.default, tuple):
            known |= {"action": "append", "metavar": one.metadata["metavar"], "type": Path, "default": []}
        elif isinstance(one.metadata["metavar"], tuple):
            known |= {"metavar": one.metadata["metavar"], "type": one.metadata["read"], "nargs": len(one.metadata["metavar"])}
        else:
            known |= {"metavar": one.metadata["metavar"], "type": one.metadata["read"] or type(one.default)}
        parser.add_argument(*words_of(one), **known)
        names.append(one.name)
    return tuple(names)
