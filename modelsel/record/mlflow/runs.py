"""The record as MLflow runs: one parent, one child per candidate; a pure function of the folder, so that a replay is equal.

Validation scores are `cv/...`; the only `test/...` metric is the released answer. Guard facts are params, since MLflow lets
tags be overwritten and params not.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelsel.core.fingerprint import short
from modelsel.core.outcome import FloorFacts, ScoreFacts, StudySummary, TestResult
from modelsel.guard.reporting.report import AuditReport
from modelsel.record.candidates import Row, word
from modelsel.record.documents import DetailsFacts
from modelsel.record.folder import CANDIDATES, CONFIG, OUTCOME, RunFolder

SAME = "modelsel.same"  # equal for studies that found the same, whichever folder they lie in
KEY, STATE = "modelsel.key", "modelsel.state"  # which run, and of which state of the record it tells
CHANGED = "modelsel.changed"  # params of which the record now says something else
LONGEST_NAME, LONGEST_PARAM, LONGEST_TAG = 250, 6000, 8000
IN_NOTE = 20  # candidates of the leaderboard in the parent's note
_NOT_IN_TITLE = re.compile(r"[/:.%\"']")  # of MLflow's models
_NOT_ALLOWED = re.compile(r"[^\w\-. /]")


@dataclass(frozen=True)
class LoggedMetric:
    """A metric of MLflow: name, value and step."""

    name: str
    value: float | None
    step: int = 0


@dataclass(frozen=True)
class TrackedRun:
    """An MLflow run as plain data. `key` makes writing it twice the same as once; times are milliseconds."""

    key: str
    name: str
    status: str
    start: int
    end: int
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: tuple[LoggedMetric, ...]


@dataclass(frozen=True)
class DataSet:
    """Rows as an input of a run. MLflow's own digest reads only some rows (measured), so ours stands in its place."""

    name: str
    digest: str
    source: str
    context: str


@dataclass(frozen=True)
class TrackedStudy:
    """All of a study: `test` stands apart, since it is linked to model and data set."""

    experiment: str
    experiment_id: str | None  # in its place
    below: str | None  # the run of somebody else's under which all of this hangs, in its experiment
    parent: TrackedRun
    children: tuple[TrackedRun, ...]
    data: tuple[DataSet, ...]
    test: LoggedMetric | None
    artifacts: tuple[Path, ...]
    model: Path | None
    title: str  # of the model


def project(folder: RunFolder) -> TrackedStudy:
    """Build the MLflow runs of a recorded study."""
    outcome, details, table = folder.outcome(), folder.details(), folder.candidates()
    tracking = folder.config().get("tracking") or {}
    redact = folder.redactor.data
    end = int(details.ended)
    times = (end - int(1000 * outcome.seconds.get("total", 0)), end)
    key = f"{folder.path.parent.name}/{folder.path.name}"
    common = redact(_common(outcome, details))
    state = short(outcome.to_dict() | {"folder": "", "seconds": {}})
    tags = {
        **common,
        KEY: key,
        STATE: state,
        SAME: _study_digest(outcome, table),
        "modelsel.folder": str(folder.path),
        "mlflow.note.content": "\n\n".join(filter(None, (tracking.get("description"), note(outcome, table)))),
        **{str(name): str(value) for name, value in (tracking.get("tags") or {}).items()},
    }
    params = {
        **_parent_params(outcome, folder.config()),
        **_guard(outcome.test, details.audited),
        **_note_not_kept(folder.config()),
    }
    measured = [*_parent_metrics(outcome), *_seconds(details, outcome)]
    parent = _run(key, _parent_name(outcome, folder), "FINISHED", times, redact(params), redact(tags), measured)
    children = tuple(_child(key, row, outcome, times, common) for row in table)
    names = (folder.path / OUTCOME, folder.path / CONFIG, folder.path / CANDIDATES, folder.report)
    return TrackedStudy(
        experiment=tracking.get("experiment") or outcome.study,
        experiment_id=tracking.get("experiment_id"),
        below=tracking.get("parent"),
        parent=parent,
        children=children,
        data=_data(outcome, redact(folder.config()), details.audited),
        test=_test(outcome),
        artifacts=tuple(path for path in names if path.exists()),
        model=folder.model if (folder.model / "MLmodel").exists() else None,
        title=_NOT_IN_TITLE.sub("_", f"{outcome.study} {_entry(outcome)}")[:LONGEST_NAME],
    )


def _study_digest(outcome: StudySummary, table: Iterable[Row]) -> str:
    """Hash everything that makes a study the same one."""
    test = outcome.test
    answer = None if test is None else [test.look, test.released, test.refused]
    rows = [[row.id, row.status, str(list(row.folds))] for row in table]  # as text: a failed fold has no number
    return short([outcome.study, outcome.spec_id, outcome.modelsel, outcome.task.fingerprint, outcome.winner.id, rows, answer])


def _entry(outcome: StudySummary) -> str:
    return str(outcome.winner.name)


def _parent_name(outcome: StudySummary, folder: RunFolder) -> str:
    """Name the parent run: the winner, its score, then the folder's name."""
    return f"{_entry(outcome)}, {outcome.measure} {outcome.winner.cv.mean:.4g} ({folder.path.name})"


def note(outcome: StudySummary, table: Iterable[Row]) -> str:
    """The leaderboard's head in Markdown, for the run's page."""
    won, test = outcome.winner, outcome.test
    best = sorted((row for row in table if row.rank), key=lambda row: row.rank)[:IN_NOTE]
    cv = f"cross-validated {outcome.measure} {won.cv.mean:.4f} ± {_digits(won.cv.se)}"
    lines = [
        f"**{won.name}** `{won.id}`: {cv}",
        "",
        _note_test(test),
        "",
        f"| rank | entry | id | {outcome.measure} | se | se of the difference | complexity |",
        "|--:|---|---|--:|--:|--:|--:|",
        *map(_note_row, best),
        *(f"| floor | {one.learner} | | {cv.mean:.4f} | | | |" for one, cv in _floor(outcome) if not one.candidate),
    ]
    return "\n".join(lines)


def _note_row(row: Row) -> str:
    errors = f"{_digits(row.se)} | {_digits(row.difference_se)}"
    return f"| {row.rank} | {row.label} | `{row.id}` | {row.mean:.4f} | {errors} | {row.complexity:.4g} {row.unit} |"


def _floor(outcome: StudySummary) -> list[tuple[FloorFacts, ScoreFacts]]:
    """The lines of the floor that have a score: the parent's, as they are no candidates (unless the space lists them)."""
    return [(line, line.cv) for line in outcome.floor if line.cv]


def _digits(error: float | None) -> str:
    """A standard error; a dash where one fold alone gives none."""
    return "–" if error is None or math.isnan(error) else f"{error:.4f}"


def _note_test(test: TestResult | None) -> str:
    """Describe the final test in a sentence."""
    if test is None:
        return "The test rows were not opened."
    if test.refused:
        return f"The look at the test rows was refused: {test.refused}"
    ends = f", interval [{test.interval[0]:.4f}, {test.interval[1]:.4f}]" if test.interval else ""
    score = "released without a number" if test.released is None else f"{test.released:.4f}"
    score += f" ({test.read_as}{', no point of its interval' if test.step is not None else ''})" if test.read_as else ""
    return f"Test: {score}{ends}, look {test.look} at these rows{', a replay' if test.repeated else ''}."


def _common(outcome: StudySummary, details: DetailsFacts) -> dict[str, str]:
    """Gather the tags that all runs of a study share."""
    return {
        "mlflow.user": str(details.user),
        "mlflow.source.name": " ".join(details.command) or "modelsel",
        "mlflow.source.type": "LOCAL",
        **({"mlflow.source.git.commit": details.commit.rstrip("+")} if details.commit else {}),
        "modelsel.spec_id": outcome.spec_id,
        "modelsel.version": outcome.modelsel,
    }


def _note_not_kept(config: Mapping[str, Any]) -> dict[str, str]:
    """Write the note that nothing of the study was kept (`guard.remember=false`)."""
    kept = (config.get("guard") or {}).get("remember", True)
    return {} if kept else {"modelsel.guard.remember": "false"}


def _parent_params(outcome: StudySummary, config: Mapping[str, Any]) -> dict[str, str]:
    """Gather the parameters of the parent run."""
    best = {f"best_{name}": word(value) for name, value in outcome.winner.parameters.items()}
    return {
        "measure": outcome.measure,
        "rule": outcome.rule,
        "scheme": word(outcome.scheme.name),
        "folds": word(outcome.scheme.folds),
        "seed": word(outcome.seed),
        "split": word((config.get("split") or {}).get("kind")),
        "candidates": word(outcome.candidates.distinct),
        "best_learner": word(outcome.winner.learner),
        "best_candidate": word(outcome.winner.id),
        **best,
    }


def _guard(test: TestResult | None, audit: AuditReport | None) -> dict[str, str]:
    """Gather the parameters of the final look."""
    if test is None:
        return {}  # a look may follow, and params cannot be changed
    facts = {name: getattr(test, name) for name in ("look", "replay", "price", "spent", "policy", "release", "n", "level")}
    facts |= {"interval": list(test.interval) if test.interval else None, "flags": list(test.flags), "refused": test.refused}
    facts["head"] = audit.ledger.head if audit else None
    return {f"modelsel.guard.{name}": word(value) for name, value in facts.items()}


def _parent_metrics(outcome: StudySummary) -> list[LoggedMetric]:
    """Gather the metrics of the parent run."""
    cv, corrected = outcome.winner.cv, outcome.winner.corrected
    ends = {} if corrected is None else {"": corrected.mean, "_low": corrected.low, "_high": corrected.high}
    name = f"cv/{outcome.measure}"
    return [
        LoggedMetric("best_cv_score", cv.mean),
        LoggedMetric(name, cv.mean),
        LoggedMetric(f"{name}_se", cv.se),
        *(LoggedMetric(f"{name}_corrected{end}", value) for end, value in ends.items()),
        *(LoggedMetric(f"{name}_fold", score, step) for step, score in enumerate(cv.folds) if score is not None),
        LoggedMetric("complexity", outcome.winner.complexity.value),
        *(LoggedMetric(f"cv/{other}", mean) for other, mean in (outcome.winner.measures or {}).items()),
        *(LoggedMetric(f"floor/{one.learner}/{name}", cv.mean) for one, cv in _floor(outcome)),
        *(LoggedMetric(f"floor/{one.learner}/{name}_se", cv.se) for one, cv in _floor(outcome)),
        *(LoggedMetric(f"seconds/{part}", seconds) for part, seconds in outcome.seconds.items()),
        *(LoggedMetric(f"candidates/{part}", count) for part, count in outcome.candidates.items()),
        *(LoggedMetric(f"fits/{part}", count) for part, count in outcome.fits.items()),
    ]


def _seconds(details: DetailsFacts, outcome: StudySummary) -> list[LoggedMetric]:
    """Return the metric of the winner's time to predict 1,000 rows."""
    found = details.predict_1000_rows.get(outcome.winner.id)
    return [] if found is None else [LoggedMetric("seconds/predict_1000_rows", found)]


def _child(parent: str, row: Row, outcome: StudySummary, times: tuple[int, int], common: Mapping[str, str]) -> TrackedRun:
    """Describe a candidate as a run of MLflow."""
    name = f"cv/{outcome.measure}"
    metrics = [
        LoggedMetric(name, row.mean),
        LoggedMetric(f"{name}_se", row.se),
        LoggedMetric("cv/training_error", row.training_error),
        LoggedMetric("complexity", row.complexity),
        *(LoggedMetric(f"cv/{other}", mean) for other, mean in row.measures.items()),
        *(LoggedMetric(f"{name}_fold", score, step) for step, score in enumerate(row.folds)),
    ]
    tags = {
        **common,
        KEY: f"{parent}/{row.id}",
        "modelsel.status": row.status,
        "modelsel.rank": str(row.rank),
        **({"modelsel.reason": row.reason} if row.reason else {}),
    }
    params = {"entry": row.entry, "learner": row.learner, **row.parameters}
    status = "FINISHED" if row.status in ("ok", "skipped", "dropped") else "FAILED"
    return _run(f"{parent}/{row.id}", f"{row.label} {row.id[:8]}", status, times, params, tags, metrics)


def _test(outcome: StudySummary) -> LoggedMetric | None:
    """Return the metric of the final test; None where it shows no number."""
    test = outcome.test
    if test is None or test.score is None or test.refused:
        return None
    return LoggedMetric(_name(f"test/{outcome.measure}"), test.score)


def _data(outcome: StudySummary, config: Mapping[str, Any], audit: AuditReport | None) -> tuple[DataSet, ...]:
    """The development rows; the test rows too where they were looked at, by the id that the ledger gave them."""
    name, declared = str(outcome.task.name), config.get("dataset") or {}
    source = str(declared.get("path") or declared.get("kind") or name)
    development = DataSet(name, str(outcome.task.fingerprint)[:36], source, "development")
    if _test(outcome) is None:
        return (development,)
    known = [one.id for one in (audit.test_sets if audit else ())] or [development.digest]
    return (development, DataSet(f"{name} (test rows)", known[-1][:36], source, "test"))


def _run(
    key: str,
    name: str,
    status: str,
    times: tuple[int, int],
    params: Mapping[str, str],
    tags: Mapping[str, str],
    metrics: Iterable[LoggedMetric],
) -> TrackedRun:
    """A run within MLflow's limits: names it accepts, texts it does not cut, numbers it does not alter."""
    return TrackedRun(
        key=key,
        name=_text(name, LONGEST_NAME),
        status=status,
        start=times[0],
        end=times[1],
        params={_name(k): _text(v, LONGEST_PARAM) for k, v in params.items()},
        tags={_name(k): _text(v, LONGEST_TAG) for k, v in tags.items()},
        metrics=tuple(
            LoggedMetric(_name(m.name), float(m.value), m.step)
            for m in metrics
            if m.value is not None and math.isfinite(m.value)
        ),
    )


def _name(name: str) -> str:
    """Replace characters that MLflow does not allow in a name, and cut it to the longest allowed.

    >>> _name("leaf.score=laplace")
    'leaf.score_laplace'
    """
    return _NOT_ALLOWED.sub("_", name)[:LONGEST_NAME]


def _text(value: str, longest: int) -> str:
    """Text that fits, or its head and the digest of the whole."""
    value = value.replace("\0", "")
    if len(value) <= longest:
        return value
    mark = f" … (sha256 {hashlib.sha256(value.encode()).hexdigest()[:16]}; whole text in candidates.csv)"
    return value[: longest - len(mark)] + mark
