"""What packages beside the core may ask of the guard and the ledger; they import this module and nothing behind it.

| of | names |
|---|---|
| a home, with its keys and files | `Home`, `is_signed`, `write_whole` |
| a policy and its session with a ledger | `Policy`, `open_session`, `LedgerSession` |
| sealing rows | `TestSetDeclaration`, `declared_units` |
| a look at them, through the gate | `Gate`, `LookRequest`, `SelectionSummary`, `OutOfFold`, `Sitting`, `Handed`, `wrong` |
| how much an answer shows and may cost | `COUNTED`, `WORSE`, `worst_of` |
| history: what is on record | `looks`, `notes`, `RecordedLook`, `StandingLook`, `NO_ANSWER`, `CLOSING` |
| facts as entries state them | `Facts`, `facts`, `Look`, `Reveal`, `Note`, `ExamConfig` |
| an audit | `audit`, `markdown`, `AuditReport`, `findings_now` |
| findings | `look_findings`, `row_findings` (each kind and its texts) |
| rows recognised in a table | `Recogniser`, `SealedRows`, `recogniser`, `library_of`, `is_plain_list` |
| looks of other code | `OutsideScore`, `OutsideFit`, `outside_look`, `outside_fit`, `names_of_sets`, `refuses` |

What the ledger states stays readable without any satellite: kinds of entries, findings and prices stand in the core.
"""

from pathlib import Path

from modelsel.core.facts import Facts, facts
from modelsel.core.spec import make
from modelsel.guard.access.apart import CLOSING
from modelsel.guard.access.outside import OutsideFit, OutsideScore
from modelsel.guard.access.outside import fit as outside_fit
from modelsel.guard.access.outside import look as outside_look
from modelsel.guard.access.outside import names as names_of_sets
from modelsel.guard.access.outside import strict as refuses
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.copied_units import declared_units
from modelsel.guard.facts import ExamConfig, Look, Note, Reveal
from modelsel.guard.findings import look_findings, row_findings
from modelsel.guard.gate import Gate
from modelsel.guard.history import NO_ANSWER
from modelsel.guard.labels import wrong
from modelsel.guard.policy.base import Policy
from modelsel.guard.recognition import Recogniser, SealedRows, is_plain_list, library_of
from modelsel.guard.release import COUNTED, WORSE, worst_of
from modelsel.guard.reporting.audit import StandingLook, audit, looks, notes
from modelsel.guard.reporting.lint import findings_now
from modelsel.guard.reporting.page import markdown
from modelsel.guard.reporting.report import AuditReport
from modelsel.guard.requests import (
    Handed,
    LookRequest,
    OutOfFold,
    RecordedLook,
    SelectionSummary,
    Sitting,
    TestSetDeclaration,
)
from modelsel.ledger.home import Home, is_signed, write_whole
from modelsel.ledger.rows.screens import ScreenFolder

__all__ = [
    "CLOSING", "COUNTED", "NO_ANSWER", "WORSE", "AuditReport", "ExamConfig", "Facts", "Gate", "Handed", "Home",
    "LedgerSession", "Look", "LookRequest", "Note", "OutOfFold", "OutsideFit", "OutsideScore", "Policy", "Recogniser",
    "RecordedLook", "Reveal", "SealedRows", "SelectionSummary", "Sitting", "StandingLook", "TestSetDeclaration", "audit",
    "declared_units", "facts", "findings_now", "is_plain_list", "is_signed", "library_of", "look_findings", "looks",
    "markdown", "names_of_sets", "notes", "open_session", "outside_fit", "outside_look", "recogniser", "refuses",
    "row_findings", "worst_of", "write_whole", "wrong",
]  # fmt: skip


def open_session(runs: Path, home: Home | None = None) -> LedgerSession:
    """Open the ledger of a home, as a study with `guard=warn` in `runs` would; None: the home of the environment."""
    return LedgerSession(make("guard", "warn"), runs, (), home or Home.find())


def recogniser(home: Home | None = None, testset: str | None = None) -> Recogniser:
    """Recognise, in tables, rows that this home has sealed: all of them, or those of one test set."""
    screens = ScreenFolder.of(home or Home.find()).screens()
    return Recogniser([one for one in screens if testset in (None, one.testset)])
