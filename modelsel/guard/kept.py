"""Keep the answer of a look when a later step fails: it is shown with the error, and asking again costs nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from modelsel.core.outcome import TestResult


@dataclass
class ReleasedAnswer:
    """The answer that a look has given, once there is one."""

    test: TestResult | None = None


@contextmanager
def keep_answer(test: TestResult | None = None) -> Iterator[ReleasedAnswer]:
    """Keep the answer of a look within the block; an error that leaves it carries the released answer as a note."""
    released = ReleasedAnswer(test)
    try:
        yield released
    except Exception as error:
        if released.test is not None and released.test.refused is None:
            error.add_note(sentence(released.test))
        raise


def sentence(test: TestResult) -> str:
    """The released answer and where it is.

    >>> shown = TestResult(.1, 12, 120, 1, False, 4.0, 0.0, (.05, .2), .95, "warn", "predicted")
    >>> sentence(shown)
    'the test set was opened before that: look 1, score 0.1, 95% interval [0.05, 0.2]; the same command shows it again, unpaid'
    """
    limits = f", {test.level:.0%} interval [{test.interval[0]:.4g}, {test.interval[1]:.4g}]" if test.interval else ""
    score = f", score {test.score:.6g}" if test.score is not None else ""
    again = "the same command shows it again, unpaid" if test.policy != "off" else "no ledger has it"
    return f"the test set was opened before that: look {test.look}{score}{limits}; {again}"
