"""The twins of the commands: `modelsel test RUN` is `modelsel.test(run)`, and so on. What a command prints, its twin returns.

`run` is a folder, `latest`, a study's name, an MLflow run id, or an `Outcome`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from modelsel.api.outcome import Outcome
from modelsel.api.results.comparison import Comparison, compared
from modelsel.api.results.exporting import exported_model
from modelsel.api.run import open_run
from modelsel.core.errors import ConfigurationError, Problem, RefusedError
from modelsel.record.folder import OUTCOME, ROOT, RunFolder

LEVELS = ("info", "low", "medium", "high", "critical")


def test(run: Any, category: str = "", text: str = "") -> Outcome:  # noqa: PT028  a command's twin, no test
    """Open the sealed test set of a study that left it closed; `category` and `text` justify a further look.

    A refused look is no error: `outcome.test.refused` says why.
    """
    return _outcome(run).open_test(category, text)


test.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name


@dataclass(frozen=True, eq=False)
class Audit(Mapping[str, Any]):
    """The shape of `modelsel audit --json`, with its tables beside it; printed, it is what the command prints."""

    report: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def __iter__(self) -> Any:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    @property
    def findings(self) -> pd.DataFrame:
        """code, severity, message, do."""
        return pd.DataFrame(list(self["flags"]), columns=["code", "severity", "message", "do"])

    @property
    def looks(self) -> pd.DataFrame:
        """A row per look, with the test set it was at."""
        return pd.DataFrame([{"test_set": one["id"], **look} for one in self["test_sets"] for look in one["looks"]])

    def __str__(self) -> str:
        from modelsel.guard.reporting.page import markdown

        return markdown(self.report)

    def __repr__(self) -> str:
        return f"<Audit: {len(self['test_sets'])} test sets, {len(self['flags'])} findings>"

    def _repr_html_(self) -> str:
        from modelsel.guard.reporting.page import html

        return html(self.report)


def audit(
    run: Any = None, ledger: str = "user", merge: str | None = None, vouch: str | None = None, void: Sequence[str] = ()
) -> Audit:
    """What touched the test rows of a run (all that a ledger knows, without one), what it cost, whether the ledger is whole.

    Before it looks, the entries of another ledger are taken over (`merge`), another public key is said to be one's own
    (`vouch`), or bad entries are ruled void by the ledger's owner (`void`), as the options of the command do.
    """
    from modelsel.cli.audit import audited, statement

    return Audit(audited(None if run is None else _place(run), ledger, merge, statement(vouch, void)))


def check(run: Any, fail_on: str = "high") -> Audit:
    """`audit`, for a test suite or a pipeline: raises what `modelsel audit --fail-on LEVEL` exits with.

    RefusedError (4) names the findings from that severity on, LedgerError (5) says that the ledger is not whole.
    """
    from modelsel.core.errors import LedgerError

    if fail_on not in LEVELS:
        raise ConfigurationError(
            Problem("MSEL-810", f"{fail_on!r} is no severity", "fail_on", f"use one of {', '.join(LEVELS)}")
        )
    found = audit(run)
    grave = [flag for flag in found["flags"] if LEVELS.index(flag["severity"]) >= LEVELS.index(fail_on)]
    problems = [Problem("MSEL-811", f"{one['code']} ({one['severity']}): {one['message']}", "", one["do"]) for one in grave]
    if found["ledger"]["intact"] is False:
        fix = "`modelsel audit` says where"
        raise LedgerError(Problem("MSEL-812", "the ledger is not whole", str(found["ledger"]["url"]), fix), *problems)
    RefusedError.raise_if(problems)
    return found


def report(run: Any = "latest") -> Path:
    """Write report.html again from the record, and return where it lies."""
    return _outcome(run).report()


def compare(runs: Iterable[Any], rope: float = 0.01) -> Comparison:
    """Learners compared on the same folds, or over data sets; differences up to `rope` are practically none."""
    return compared([_place(run) for run in runs], rope)


def predict(run: Any, data: Any) -> pd.DataFrame:
    """Predictions of a study's final model on new rows (a table, or the path of a file): `prediction` and a score per class."""
    outcome = _outcome(run)
    if isinstance(data, str | Path):
        return _predicted_file(outcome, Path(data))
    model = outcome.model
    scores = pd.DataFrame(model.predict_proba(data), columns=[f"score_{label}" for label in model.classes_.tolist()])
    scores.insert(0, "prediction", model.predict(data))
    return scores


def export(run: Any, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """The final model for other systems (onnx, sql, rules, json, dot): written to `path`, or returned without one."""
    return exported_model(_place(run), to, path, table)


def sync(run: Any = None, uri: str | None = None, writer: str = "auto") -> list[Any]:
    """Write what MLflow is missing of a run, or of every run here: what was written and found there, per run."""
    from modelsel.record.mlflow.sync import store_of
    from modelsel.record.mlflow.sync import sync as synced

    runs = [_place(run)] if run is not None else sorted(path.parent for path in ROOT.glob(f"*/*/{OUTCOME}"))
    folders = [RunFolder.open(one) for one in runs]
    return [synced(folder, store_of(folder, uri), writer) for folder in folders]


def ui(port: int = 5000, host: str = "127.0.0.1") -> int:
    """Serve MLflow's pages over the embedded store until interrupted."""
    from modelsel.cli.setup.ui import main

    return main(["--port", str(port), "--host", host])


def doctor(warm: bool = False) -> pd.DataFrame:
    """Versions, stores, stale runs, ledger and anchors: what, how it is, and whether it is well."""
    from modelsel.cli.setup.doctor import lines

    return pd.DataFrame([(what, found, code == 0) for what, found, code in lines(warm)], columns=["what", "found", "well"])


def init(directory: str | Path = "conf") -> Path:
    """Write a starter `conf/` for a project of one's own."""
    from modelsel.cli.setup.init import started

    started(Path(directory))
    return Path(directory)


def explain(word: str) -> str:
    """Say what a code (`MSEL-809`, `G021`), a setting (`learner.k`), a group or a name of its files means.

    Raises
    ------
    ConfigurationError
        For an unknown word, with the nearest known one.

    Examples
    --------
    >>> print(explain("softener=hard"))
    softener=hard
      No softening: a row goes whole to one side of a threshold.
      kind: hard
    """
    from modelsel.cli.setup.explain import explained

    return explained(word)


def completion(shell: str) -> str:
    """What a shell has to read for completion: bash, zsh or fish."""
    from modelsel.cli.setup.completion import script

    return script(shell)


def _place(run: Any) -> str:
    return str(run.folder if isinstance(run, Outcome) else run)


def _outcome(run: Any) -> Outcome:
    return run if isinstance(run, Outcome) else open_run(run)


def _predicted_file(outcome: Outcome, path: Path) -> pd.DataFrame:
    from modelsel.cli.predict import predicted

    found = predicted(RunFolder.open(outcome.folder), path)
    labels: Sequence[Any] = outcome.classes.tolist()
    frame = pd.DataFrame(found.scores, columns=[f"score_{label}" for label in labels])
    place = dict(zip(outcome.task["classes"], labels, strict=True))
    frame.insert(0, "prediction", [place[name] for name in found.labels])
    return frame
