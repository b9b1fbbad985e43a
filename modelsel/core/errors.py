"""Errors of modelsel, each with a remedy: `MSEL-xxx: what, where; how to fix`.

Every error of modelsel is a list of problems, found in one pass, and carries the exit code of the command that met it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from modelsel.core.proposal import Proposal

OK, INTERNAL, BAD_CONFIGURATION, BAD_DATA, REFUSED, UNTRUSTED_LEDGER, UNWRITABLE, NO_CANDIDATE = range(8)
INTERRUPTED = 130
PRECEDENCE = (INTERNAL, BAD_CONFIGURATION, BAD_DATA, UNWRITABLE, UNTRUSTED_LEDGER, REFUSED, NO_CANDIDATE)


@dataclass(frozen=True)
class Problem:
    """A single problem: its code, what is wrong, where, and how to fix it; `proposes`: the settings that would, the best first.

    >>> str(Problem("MSEL-201", "unknown criterion 'ginni'", "space.cart.criterion", "did you mean 'gini'?"))
    "MSEL-201: unknown criterion 'ginni', space.cart.criterion; did you mean 'gini'?"
    """

    code: str
    what: str
    where: str = ""
    fix: str = ""
    proposes: tuple[Proposal, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        place = f", {self.where}" if self.where else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.code}: {self.what}{place}{fix}"


def original_error(error: BaseException) -> BaseException:
    """Return the exception that was raised first: one that interrupts compiled code comes out as the cause of a SystemError.

    >>> original_error(ValueError("x"))
    ValueError('x')
    """
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return error


class ModelselError(Exception):
    """An error that a person can act on: `problems`, their first `code`, and the command's `exit_code`.

    Parameters
    ----------
    *problems : Problem
        All that is wrong, found in one pass: code, what, where, and how to mend it.

    Examples
    --------
    >>> ConfigurationError(Problem("MSEL-205", "no learner is called 'tre'", "learner", "write learner=tree")).exit_code
    2
    """

    exit_code = INTERNAL

    def __init__(self, *problems: Problem) -> None:
        self.problems: tuple[Problem, ...] = problems
        super().__init__("\n".join(str(problem) for problem in problems))

    def __reduce__(self) -> tuple[type, tuple[Problem, ...]]:
        return type(self), self.problems

    @property
    def code(self) -> str:
        return self.problems[0].code if self.problems else "MSEL-000"

    @classmethod
    def raise_if(cls, problems: Iterable[Problem]) -> None:
        """Raise one error that names all problems, or return when there is none."""
        found = tuple(problems)
        if found:
            raise cls(*found)


class ConfigurationError(ModelselError):
    """Unknown name, missing file, target not in the file, more folds than rows."""

    exit_code = BAD_CONFIGURATION


class DataError(ModelselError):
    """The contents of the data are not usable."""

    exit_code = BAD_DATA


class RefusedError(ModelselError):
    """The guard does not allow this."""

    exit_code = REFUSED


class LedgerError(ModelselError):
    """The ledger was changed, rolled back or is missing entries that its anchors know."""

    exit_code = UNTRUSTED_LEDGER


class StoreError(ModelselError):
    """A store (run folder, ledger, tracking) cannot be written."""

    exit_code = UNWRITABLE


class NoCandidateError(ModelselError):
    """No candidate finished all folds with a finite score."""

    exit_code = NO_CANDIDATE


def worst(codes: Sequence[int]) -> int:
    """The exit code of several jobs: the first that applies of 1, 2, 3, 6, 5, 4, 7, else 0.

    >>> worst([0, 4, 3, 0])
    3
    """
    return next((code for code in (INTERRUPTED, *PRECEDENCE) if code in codes), OK)
