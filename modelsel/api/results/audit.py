"""The audit of a run's test set, or of everything in a ledger: what touched the rows, what it cost, is the record whole.

Of a run it is also checked, from candidates.csv alone, that the declared rule chooses the recorded winner.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from modelsel.config.build import reopen
from modelsel.core.errors import OK, REFUSED, UNTRUSTED_LEDGER, ConfigurationError
from modelsel.core.outcome import FindingFacts, as_data
from modelsel.core.spec import make
from modelsel.core.surroundings import Anchor
from modelsel.core.types import Floats, Scoreboard, Severity
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.report import AuditReport
from modelsel.record.agreement import disagreements
from modelsel.record.candidates import Row
from modelsel.record.folder import CANDIDATES, DETAILS, PROJECT, RunFolder
from modelsel.reporting.terminal import Lines

if TYPE_CHECKING:  # the command starts without it
    import pandas as pd

LEVELS = get_args(Severity)


@dataclass(frozen=True, eq=False)
class Audit(Mapping[str, Any]):
    """The report of `modelsel.audit`: the shape of `modelsel audit --json` as a mapping, with its tables beside it.

    Parameters
    ----------
    report : Mapping
        The report as data.

    Examples
    --------
    >>> sorted(modelsel.audit(outcome))[:2]
    ['at', 'contacts']
    """

    report: Mapping[str, object]

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    @property
    def findings(self) -> "pd.DataFrame":
        """A row per finding: code, severity, message, and what to do.

        Examples
        --------
        >>> modelsel.audit(outcome).findings.columns.tolist()
        ['code', 'severity', 'message', 'do']
        """
        import pandas as pd

        return pd.DataFrame(list(self["flags"]), columns=["code", "severity", "message", "do"])

    @property
    def looks(self) -> "pd.DataFrame":
        """A row per look, with the test set it was at.

        Examples
        --------
        >>> len(modelsel.audit(outcome).looks)
        0
        """
        import pandas as pd

        return pd.DataFrame([{"test_set": one["id"], **look} for one in self["test_sets"] for look in one["looks"]])

    def __str__(self) -> str:
        from modelsel.guard.reporting.page import markdown

        return markdown(self.report)

    def __repr__(self) -> str:
        return f"<Audit: {len(self['test_sets'])} test sets, {len(self['flags'])} findings>"

    def _repr_html_(self) -> str:
        from modelsel.guard.reporting.page import html

        return html(self.report)


def integrity() -> AuditReport:
    """Report whether the person's ledger is whole; of no test set."""
    return audit(Gate(make("guard", "warn"), PROJECT), sets=False)


def audit_report(
    run: str | None, ledger: str = "user", merge: str | None = None, vouch: str | None = None, void: Sequence[str] = ()
) -> AuditReport:
    """Report on a run's test set, or on everything in a ledger.

    Before it looks, the ledger `merge` is taken over, the public key `vouch` is stated to be one's own, and the entries `void`
    are ruled void.
    """
    if run is None:
        gate = Gate(make("guard", "warn", ledger=ledger), PROJECT)
        _amend(gate, merge, vouch, void)
        return audit(gate)
    folder = RunFolder.open(run)
    policy = reopen(folder.config(), "guard").guard
    with _witnesses(folder) as (anchors, unasked):
        gate = Gate(policy, folder.project(folder.config()), anchors)
        _amend(gate, merge, vouch, void)
        known = None if DETAILS in folder.changed_files() else folder.details().audited
        report = audit(gate, study=folder.outcome().folder, known=known.known if known else ())
    again = [] if CANDIDATES in folder.changed_files() else replay(folder)
    return report.but(flags=[*report.flags, *unasked, *again, *disagreements(folder, report)])


def _amend(gate: Gate, merge: str | None, vouch: str | None, void: Sequence[str]) -> None:
    """Write into the ledger what is to be known before it is audited."""
    if merge is not None:
        count = gate.merge(merge)
        Lines(sys.stderr).say(f"{count:,} {'entry' if count == 1 else 'entries'} taken over into {gate.place}")
    if vouch is not None:
        gate.vouch(vouch)
    if void:
        gate.rule(void, "ruled void by `modelsel audit --void`")


@contextmanager
def _witnesses(folder: RunFolder) -> Iterator[tuple[tuple[Anchor, ...], list[FindingFacts]]]:
    """The tracking server of a study as an anchor, or the finding that it cannot be asked (its address is gone)."""
    from modelsel.guard.findings import ledger_findings
    from modelsel.record.mlflow.track import Tracker

    try:
        tracker = Tracker(reopen(folder.config(), "tracking").tracking, folder)
    except ConfigurationError as error:
        yield (), [as_data(ledger_findings.anchor_unreached_not_asked("mlflow", error.problems[0].what))]
        return
    try:
        yield tracker.anchors, []
    finally:
        if tracker.outbox is not None:
            tracker.outbox.close()


def code_of(report: AuditReport, fail_on: str | None) -> int:
    """5 where the ledger is not whole, 4 where a flag is as grave as `fail_on`, else 0.

    >>> code_of(AuditReport.read({"ledger": {"intact": True}, "flags": [{"severity": "medium"}]}), "high")
    0
    """
    if report.ledger.intact is False:
        return UNTRUSTED_LEDGER
    reached = fail_on is not None and any(LEVELS.index(flag.severity) >= LEVELS.index(fail_on) for flag in report.flags)
    return REFUSED if reached else OK


def replay(folder: RunFolder) -> list[FindingFacts]:
    """Make the finding of a replay: critical where the record and the rule disagree, info where they agree."""
    outcome, again = folder.outcome(), chosen_again(folder)
    if again == outcome.winner.id:
        message = f"the rule {outcome.rule} gives the recorded winner {again[:8]} again"
        return [FindingFacts(code="R001", severity="info", message=message, do="nothing")]
    message = f"the rule {outcome.rule} gives {again[:8]}, the record says {outcome.winner.id[:8]}"
    fix = "do not quote this study: its record was changed"
    return [FindingFacts(code="R002", severity="critical", message=message, do=fix)]


def _beside(rows: Sequence[Row]) -> dict[str, Floats]:
    """The other measures, to which the rule may set bounds."""
    names = dict.fromkeys(name for row in rows for name in row.measures)
    return {name: np.array([row.measures.get(name, np.nan) for row in rows]) for name in names}


def chosen_again(folder: RunFolder) -> str:
    """The id of the candidate that the recorded rule chooses from the recorded scores."""
    rows = folder.candidates()
    folds = np.array([row.folds for row in rows], np.float64)
    parts = reopen(folder.config(), "rule", "measure")
    board = Scoreboard(
        ids=tuple(row.id for row in rows), folds=folds, mean=folds.mean(axis=1), se=np.array([row.se for row in rows]),
        complexity=np.array([row.complexity for row in rows]), unit=tuple(row.unit for row in rows),
        eligible=np.array([row.status == "ok" for row in rows]), beside=_beside(rows),
        higher_is_better=bool(parts.measure.higher_is_better),
    )  # fmt: skip
    return rows[int(parts.rule.choose(board))].id
