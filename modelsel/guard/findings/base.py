"""Kinds of findings of a look or an audit: a stable code, a severity, and the next step.

The kinds stand by subject in `certificate_findings`, `ledger_findings`, `look_findings` and `row_findings`: each is a
constant with its code, severity and advice, and functions that say its texts. Its page is a section of `docs/findings.md`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args

from modelsel.core import satellites
from modelsel.core.types import Finding
from modelsel.guard import findings

Severity = Literal["info", "low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

LARGE = 0.05  # share of the test rows from which an overlap is grave

# Advice that several kinds give.
QUOTE = "quote the interval shown: it holds in spite of the earlier looks"
FRESH = "collect fresh test rows, or go back to the split that was sealed first (split.seed)"
RESTORE = "restore the ledger from a backup; until then treat the test set as used"


@dataclass(frozen=True)
class FindingKind:
    """A code with its name, usual severity and usual advice.

    Parameters
    ----------
    code : str
        `G` and three digits; it never changes its meaning.
    name : str
        The name of the constant.
    severity : str
        One of `SEVERITIES`.
    advice : str
        What to do next; empty where there is nothing to do.
    loss : bool
        Whether it says that something of the record was changed, cut off or is gone.
    """

    code: str
    name: str
    severity: Severity
    advice: str
    loss: bool = False

    def finding(self, message: str, severity: Severity | None = None, do: str | None = None) -> Finding:
        """Return a finding of this kind; `severity` where it depends on the share, `do` where on the cause.

        >>> FindingKind("G999", "EXAMPLE", "low", "nothing").finding("an example").severity
        'low'
        """
        return Finding(self.code, severity or self.severity, message, do or self.advice)


def of_test_rows(rows: int, n: int) -> str:
    """Return how many of the test rows, in words.

    >>> of_test_rows(50, 2000)
    '50 of 2,000 test rows (2.5%)'
    """
    return f"{rows:,} of {n:,} test rows ({rows / n:.1%})"


def at_least(findings: Iterable[Finding], level: Severity) -> list[Finding]:
    """Return those as grave as `level` or graver."""
    return [f for f in findings if SEVERITIES.index(f.severity) >= SEVERITIES.index(level)]


# All kinds of findings, found in the files beside this one, and those of packages beside the core.


@cache
def catalogue() -> Mapping[str, FindingKind]:
    """Return each kind by its code.

    >>> catalogue()["G071"].name
    'LEDGER_ROLLED_BACK'
    """
    files = [import_module(f"{findings.__name__}.{found.name}") for found in iter_modules(findings.__path__)]
    files += satellites.every(satellites.FINDINGS)
    kinds = {value.code: value for file in files for value in vars(file).values() if isinstance(value, FindingKind)}
    return {code: kinds[code] for code in sorted(kinds)}


def losses() -> tuple[str, ...]:
    """Return the codes that say that something of the record was changed, cut off or is gone.

    >>> losses()
    ('G070', 'G071', 'G072', 'G079')
    """
    return tuple(code for code, kind in catalogue().items() if kind.loss)
