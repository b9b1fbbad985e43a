"""An exam from a table: two public files of rows under random tokens, public terms, and a store that the examiner keeps.

What askers get holds no label of a question, no row number and no trace of the table's order: tokens are random, rows stand in
their order.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from modelsel.config.compose import MEASURE, Config, for_task
from modelsel.config.settings import REGRESSION
from modelsel.core.errors import ConfigurationError, Problem, RefusedError, StoreError
from modelsel.core.spec import kind_of, spec_of, with_fields
from modelsel.core.system.disk import demand_portable
from modelsel.core.types import CLASS_TASKS, Booleans, Finding, Integers, NumberTask, Strings, Task, positions
from modelsel.dataset.targets import read_as
from modelsel.dataset.weights import AUTO, decide, weigh
from modelsel.guard.face import Gate, Home, Note, SelectionSummary
from modelsel.measure.within import Within
from modelsel.runner.number_look import usual_tolerance
from modelsel.runner.study_data import judges, load_table
from modelsel_exam.options import Wanted, WantedLoop
from modelsel_exam.store import SIDES, Store, commit, create_store, join, judged_digest, public_of, reorder
from modelsel_exam.terms import (
    FILE,
    FORMAT,
    PUBLIC,
    VERDICTS,
    ColumnNames,
    Commitments,
    GivenFile,
    LoopTerms,
    Terms,
    problems,
    write_terms,
)

KNOWN = ("G020", "G021", "G022", "G061", "G076")  # rows that were tested, chosen on, or opened before


def create(config: Config, folder: Path, wanted: Wanted, home: Home | None = None) -> tuple[Store, tuple[Finding, ...]]:
    """Write an exam into a new folder; its store, and what is known of its rows.

    Raises RefusedError (4) where rows were looked at or chosen on before, unless `accept_overlap` says that this is known.
    """
    home = home or Home.find()
    demand_portable(folder)
    ConfigurationError.raise_if(problems(wanted, folder, config))
    with read_as(config.task):
        loaded, config = load_table(config)
    task, declared = loaded.task, MEASURE not in config.unsaid
    config = for_task(config, task.kind)
    sides = _sides(task, config, wanted.all)
    task = weigh(task, decide(task.weights, getattr(config.dataset, "weights_are", AUTO), sides["development"]))
    tokens = {side: np.array(sorted(f"r{secrets.token_hex(8)}" for _ in range(len(rows)))) for side, rows in sides.items()}
    mixed = {side: reorder(task, rows[np.argsort(np.array([secrets.randbits(62) for _ in rows], np.int64))])
             for side, rows in sides.items()}  # fmt: skip
    judges = None if wanted.loop is None else _judges(mixed["development"], config, wanted.loop)
    known = mixed["development"] if judges is None else mixed["development"].take(np.flatnonzero(~judges))
    config = _with_measure(config, wanted, known, declared)
    terms = _facts(config, wanted, mixed, home, task, judges)
    salt = secrets.token_hex(32)
    there = folder.exists()
    try:
        store = create_store(home, folder, terms.id, mixed, tokens, judges)
        committed = Commitments(labels=commit(store, mixed["questions"].target, tokens["questions"]))
        folder.mkdir(parents=True, exist_ok=True)
        if wanted.loop is not None and judges is not None:
            terms, committed = (
                _as_gate(terms, wanted.loop, config, folder),
                committed.but(judged=judged_digest(mixed["development"], judges, salt)),
            )
            mixed, tokens = _rows_given_out(mixed, tokens, judges)
        files = {side: _write(folder, side, mixed[side], tokens[side], terms.columns, wanted.parquet) for side in SIDES}
        store.write_private(wanted.ledger, salt)
        return store, _seal(store, terms.but(commitments=committed, files=files), wanted, folder)
    except BaseException:  # half an exam is none: neither its files stay nor its labels
        shutil.rmtree(home.folder / "exams" / terms.id, ignore_errors=True)
        for path in [*folder.iterdir()] if folder.is_dir() else ():
            path.unlink()
        if folder.is_dir() and not there:
            folder.rmdir()
        raise


def _sides(task: Task, config: Config, everything: bool) -> dict[str, Integers]:
    """Divide the rows into development rows and questions."""
    if everything:
        return {"development": positions(task)[:0], "questions": positions(task)}
    ConfigurationError.raise_if(Problem("MSEL-910", reason, "split", "choose another split") for reason in
                                config.split.problems(task))  # fmt: skip
    partition = config.split.partition(task)
    if not len(partition.test):
        raise ConfigurationError(Problem("MSEL-910", "no row is asked", "split", "use --all, or a split that seals rows"))
    return {"development": partition.development, "questions": partition.test}


# Of numbers what is counted are rows off by more than a tolerance: declared, or chosen from the rows that are given out with
# their numbers, so that no sealed one takes part.


def _with_measure(config: Config, wanted: Wanted, given: Task, declared: bool) -> Config:
    """The settings with the measure that answers are scored by. ConfigurationError where it does not read the target."""
    if not isinstance(given, NumberTask):
        ConfigurationError.raise_if(_of_classes(config, wanted))
        return config
    ConfigurationError.raise_if(_of_numbers(wanted, given, kind_of(config.measure) if declared else None))
    if declared:
        return config
    tolerance = usual_tolerance(given.target, given.row_weights) if wanted.tolerance is None else wanted.tolerance
    return replace(config, measure=Within(tolerance))


def _of_classes(config: Config, wanted: Wanted) -> Iterator[Problem]:
    """Yield what is about numbers alone."""
    if "classes" not in getattr(config.measure, "reads", CLASS_TASKS):
        what = f"{kind_of(config.measure)} does not judge it: the target is a class"
        yield Problem("MSEL-914", what, "measure", f"{judges('classes')}; or say task=regression")
    if wanted.tolerance is not None:
        yield Problem("MSEL-914", "the target is a class", "--tolerance", "leave it out, or say task=regression")


def _of_numbers(wanted: Wanted, given: Task, declared: str | None) -> Iterator[Problem]:
    """Yield what does not go with a target that is a number; `declared` names the measure that was asked for."""
    if declared not in (None, COUNTS_OFF):
        what = f"answers about numbers are scored by the rows that are off by more than a tolerance, and not by {declared}"
        yield Problem("MSEL-914", what, "measure", "leave it out, and say --tolerance where the usual one will not do")
    if declared is not None and wanted.tolerance is not None:
        yield Problem("MSEL-914", "the tolerance is said by the measure, too", "--tolerance", "leave one of them out")
    if declared is None and wanted.tolerance is None and not len(given):
        what = "the target is a number, and without development rows nothing says which error is large"
        yield Problem("MSEL-914", what, "--all", "say it: --tolerance 12.5, in the unit of the target")
    if wanted.class_counts:
        yield Problem("MSEL-914", "the target is a number: there are no classes to count", "--class-counts", "leave it out")


COUNTS_OFF = "within"


# A gate: some development rows judge. They are given out among the questions, and nobody can tell which they are.


def _judges(development: Task, config: Config, loop: WantedLoop) -> Booleans:
    """The development rows that judge proposals, taken as the split takes the sealed ones: by class, group or time."""
    split = with_fields(config.split, test=loop.judged) if hasattr(config.split, "test") else config.split
    reasons = [*split.problems(development)]
    fix = "choose another split, or a larger table"
    ConfigurationError.raise_if(Problem("MSEL-910", f"of the development rows: {one}", "split", fix) for one in reasons)
    judges = np.zeros(len(development), bool)
    judges[split.partition(development).test] = True
    if not judges.any() or judges.all():
        what = "no development row is left to judge, or to learn from"
        raise ConfigurationError(Problem("MSEL-910", what, "--judged", fix))
    return judges


def _as_gate(terms: Terms, loop: WantedLoop, config: Config, folder: Path) -> Terms:
    """The terms with those of a gate: what keeps a proposal, and what must not change."""
    pinned = tuple(
        GivenFile(name=os.path.relpath(path, folder), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
        for path in loop.pinned
    )
    return terms.but(loop=LoopTerms(errors=loop.errors, vetoes=loop.vetoes, seed=int(getattr(config.split, "seed", 0)),
                                    scorer=scorer_digest(config.measure), pinned=pinned))  # fmt: skip


def scorer_digest(measure: object) -> str:
    """The digest of the code that judges: this package's rule, and the measure's file."""
    state = hashlib.sha256()
    for module in ("modelsel.statistics.paired", type(measure).__module__):
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        state.update(Path(spec.origin).read_bytes())
    return state.hexdigest()


def _rows_given_out(
    sides: Mapping[str, Task], tokens: Mapping[str, Strings], judges: Booleans
) -> tuple[dict[str, Task], dict[str, Any]]:
    """The rows as they are given out: those to learn from, and the questions with those that judge among them."""
    learn, judge = np.flatnonzero(~judges), np.flatnonzero(judges)
    asked = join(sides["questions"], sides["development"].take(judge))
    named = np.concatenate([tokens["questions"], tokens["development"][judge]])
    order = np.argsort(named)
    return (
        {"development": sides["development"].take(learn), "questions": reorder(asked, order)},
        {"development": tokens["development"][learn], "questions": named[order]},
    )


def _seal(store: Store, terms: Terms, wanted: Wanted, folder: Path) -> tuple[Finding, ...]:
    """Seal the rows in the examiner's ledger, say what is known of them, and write the terms."""
    write_terms(terms.but(testset=""), store.folder, store.home)  # what the gate needs to know; complete below
    gate = Gate(store.terms.guard_policy(wanted.ledger), folder, home=store.home)
    sealing = store.sealing()
    found = gate.earlier_uses(sealing)
    grave = [finding for finding in found if finding.code in KNOWN]
    if grave and not wanted.accept_overlap:
        fix = "ask about fresh rows, or say --accept-overlap: what was spent on these rows is then charged"
        raise RefusedError(*(Problem("MSEL-911", f"{one.code}: {one.message}", str(folder), fix) for one in grave))
    gate.seal(sealing)
    if len(store.development):
        gate.select(sealing, SelectionSummary("development", 0.5, 0))
    if wanted.class_counts:
        names, counts, price = gate.class_counts(sealing)
        terms = terms.but(class_counts={"counts": dict(zip(names, counts)), "price": price})
    overlap = [f"{finding.code}: {finding.message}" for finding in grave]
    terms = write_terms(terms.but(testset=gate.subject(sealing).digest, overlap=overlap), store.folder, store.home)
    (folder / FILE).write_bytes((store.folder / FILE).read_bytes())
    store.__dict__.pop("terms", None)
    gate.say(Note(exam=terms.id, what="created", terms=terms.digest, testset=terms.testset))
    return found


def _facts(config: Config, wanted: Wanted, sides: Mapping[str, Task], home: Home, task: Task, judges: Booleans | None) -> Terms:
    """Gather the exam's public terms, but for what follows from its files and rows."""
    columns = {"token": "token", "target": getattr(config.dataset, "target", None) or "target", "weight": None, "group": None}
    features = [feature.name for feature in task.features]
    for role, given, usual in (("token", True, "token"), ("weight", task.weights is not None, "weight"),
                               ("group", task.groups is not None, "group")):  # fmt: skip
        taken_names = {*features, columns["target"]}
        columns[role] = next(name for name in (usual, f"row_{usual}", f"exam_{usual}", secrets.token_hex(4))
                             if name not in taken_names) if given else None  # fmt: skip
    delta, judging = wanted.delta, {} if judges is None else {"judged": int(judges.sum())}
    return Terms.read({
        "format": FORMAT, "id": secrets.token_hex(8), "name": wanted.name or task.name or "exam",
        "examiner": home.signer().public, "key": public_of(home.secret("exam.key")),
        "columns": columns, "classes": list(task.class_names),
        "features": [{"name": f.name, "kind": f.kind, "levels": list(f.levels)} for f in task.features],
        "rows": {side: len(rows) for side, rows in sides.items()} | judging, "measure": spec_of(config.measure),
        "policy": {"release": wanted.release, "resolution": wanted.resolution, "delta": delta,
                   "intervals": delta * (1 - VERDICTS), "verdicts": delta * VERDICTS, "target": wanted.target_rate,
                   "budget": wanted.budget},
        "per_asker": {"looks": wanted.looks, "nats": wanted.nats}, "class_counts": None,
        "notes": [PUBLIC],
        **({"task": REGRESSION, "measured_in": task.measured_in} if isinstance(task, NumberTask) else {}),
        **({"unit": task.unit} if task.unit else {}),
        **({"split": "time"} if len(sides["development"]) and kind_of(config.split) == "time" else {}),
    })  # fmt: skip


def _write(folder: Path, side: str, task: Task, tokens: object, names: ColumnNames, parquet: bool) -> GivenFile:
    """The file of one side: tokens and features; of the development rows the target and groups too."""
    columns: dict[str, Any] = {names.token: tokens}
    for index, feature in enumerate(task.features):
        columns[feature.name] = _cells(task.values[:, index], feature.levels if feature.has_levels else None)
    if task.weights is not None:
        columns[str(names.weight)] = task.weights
    if side == "development":
        if task.groups is not None:
            columns[str(names.group)] = task.groups
        columns[names.target] = (
            _cells(task.target, None) if isinstance(task, NumberTask) else np.array(task.class_names, object)[task.target]
        )
    frame = pd.DataFrame(columns)
    path = folder / f"{side}.{'parquet' if parquet else 'csv'}"
    try:
        if parquet:
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False, lineterminator="\n")
    except OSError as error:
        raise StoreError(
            Problem("MSEL-912", f"cannot be written ({error.strerror})", str(path), "choose another folder")
        ) from error
    return GivenFile(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def _cells(values: Any, levels: tuple[str, ...] | None) -> object:
    """The cells of a column: levels by name, whole numbers without a point, nothing where a value is missing."""
    if levels is not None:
        return pd.Series([None if np.isnan(code) else levels[int(code)] for code in values.tolist()], dtype=object)
    finite = values[~np.isnan(values)]
    whole = bool(len(finite)) and bool((finite == np.floor(finite)).all()) and bool((np.abs(finite) < 2**53).all())
    return pd.Series(values).astype("Int64") if whole else pd.Series(values)
