"""`modelsel audit [RUN]`: what touched the test rows, what it cost, is the ledger whole, does the rule give the winner."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK, REFUSED, UNTRUSTED_LEDGER, ConfigurationError, Problem, StoreError
from modelsel.core.protocols.surroundings import Anchor
from modelsel.guard.gate import Gate
from modelsel.record.folder import RunFolder

LEVELS = ("info", "low", "medium", "high", "critical")


def main(words: Sequence[str]) -> int:
    """Run `modelsel audit`: print the story of the looks; the exit code follows `--fail-on`."""
    parser = Arguments("audit")
    parser.add_argument("run", metavar="RUN", nargs="?", help=f"{RUN_HELP}; default: the whole ledger")
    parser.add_argument("--json", action="store_true", help="the story as data")
    parser.add_argument("--html", metavar="FILE", help="write it as a page")
    parser.add_argument("--fail-on", metavar="LEVEL", choices=LEVELS, help=f"exit 4 from this severity on: {', '.join(LEVELS)}")
    parser.add_argument("--ledger", default="user", help="user, project or an SQLAlchemy URL (without RUN)")
    parser.add_argument(
        "--merge", metavar="FILE|URL", help="first take over the entries of another ledger (a machine's offline)"
    )
    parser.add_argument("--vouch", metavar="KEY", help="first say that another public key (see doctor) is yours too")
    parser.add_argument(
        "--void", metavar="ENTRY", nargs="+", help="first rule, as the ledger's owner, that bad entries are void"
    )
    args = parser.parse_args(words)
    report = audited(args.run, args.ledger, args.merge, statement(args.vouch, args.void))
    _show(report, args.json, args.html)
    return code_of(report, args.fail_on)


def statement(key: str | None, places: Sequence[str] | None) -> Callable[[Gate], None]:
    """Return the step that writes a statement into the ledger before it is audited."""

    def state(gate: Gate) -> None:
        if key is not None:
            gate.vouch(key)
        if places:
            gate.rule(places, "ruled void by `modelsel audit --void`")

    return state


def audited(
    run: str | None, ledger: str = "user", other: str | None = None, state: Callable[[Gate], None] | None = None
) -> dict[str, Any]:
    """The report of a run's test set, or of everything in a ledger; `other` is merged into it, and stated `state`, before."""
    from modelsel.cli.replay import replayed
    from modelsel.config.reopen import reopen
    from modelsel.core.spec import make
    from modelsel.guard.reporting.audit import audit
    from modelsel.record.folder import ROOT

    if run is None:
        gate = Gate(make("guard", "warn", ledger=ledger), ROOT)
        _merge(gate, other)
        if state is not None:
            state(gate)
        return audit(gate)
    folder = RunFolder.open(run)
    policy = reopen(folder.config(), "guard").guard
    with _witnesses(folder) as (anchors, unasked):
        gate = Gate(policy, folder.root, anchors)
        _merge(gate, other)
        if state is not None:
            state(gate)
        recorded = [one["id"] for one in folder.details().get("audit", {}).get("test_sets", ())]
        report = audit(gate, study=folder.outcome().folder, known=recorded)
    return {**report, "flags": [*report["flags"], *unasked, *replayed(folder)]}


@contextmanager
def _witnesses(folder: RunFolder) -> Iterator[tuple[tuple[Anchor, ...], list[dict[str, str]]]]:
    """The tracking server of a study as an anchor, or the finding that it cannot be asked (its address is gone)."""
    from modelsel.config.reopen import reopen
    from modelsel.guard.findings import ledger_findings
    from modelsel.record.mlflow.track import Tracker

    try:
        tracker = Tracker(reopen(folder.config(), "tracking").tracking, folder)
    except ConfigurationError as error:
        yield (), [asdict(ledger_findings.anchor_unreached_not_asked("mlflow", error.problems[0].what))]
        return
    try:
        yield tracker.anchors, []
    finally:
        if tracker.outbox is not None:
            tracker.outbox.close()


def _merge(gate: Gate, other: str | None) -> None:
    if other is not None:
        count = gate.merge(other)
        print(f"{count:,} {'entry' if count == 1 else 'entries'} taken over into {gate.place}", file=sys.stderr)


def code_of(report: Mapping[str, Any], fail_on: str | None) -> int:
    """5 where the ledger is not whole, 4 where a flag is as grave as `fail_on`, else 0.

    >>> code_of({"ledger": {"intact": True}, "flags": [{"severity": "medium"}]}, "high")
    0
    """
    if report["ledger"]["intact"] is False:
        return UNTRUSTED_LEDGER
    reached = fail_on is not None and any(LEVELS.index(flag["severity"]) >= LEVELS.index(fail_on) for flag in report["flags"])
    return REFUSED if reached else OK


def _show(report: Mapping[str, Any], as_json: bool, page: str | None) -> None:
    """Print the audit as Markdown or JSON, and write the page where one is wanted."""

    from modelsel.guard.reporting.page import html, markdown, reforms

    data = {**report, "reforms": reforms(report)}
    print(json.dumps(data, indent=1, ensure_ascii=False) if as_json else markdown(report))
    if page is not None:
        try:
            Path(page).write_text(html(report), "utf-8")
        except OSError as error:
            raise StoreError(
                Problem("MSEL-605", f"cannot be written ({error.strerror})", page, "choose another place")
            ) from error
