"""Selections as people ask for them: spaces on real tables, AUC beside error, a table of 300,000 rows, a million rows.

Seconds are processor time. A budget on two cores is compared with half of it, which is what two free cores would take at
best; the note tells how much of it was in compiled kernels, in one thread.
"""

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numba.core.dispatcher import Dispatcher

from benchmarks.common.places import DATA
from benchmarks.common.timing import Row, processor
from modelsel.comparison.selection import choose
from modelsel.config.compose import Config, compose
from modelsel.kernels import compiler
from modelsel.planning.make import make
from modelsel.runner.execution.executors import Pool
from modelsel.runner.families import resolve
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.runner.run import run
from modelsel.runner.study_data import StudyData, prepare

TURNS, CORES = 3, 2
MAGIC = ("dataset=magic", f"dataset.dir={DATA}", "split=none")
PARTS = {  # by one profile on a machine of load 40, where all takes about a third longer
    "trees": "Of 8.4 s growing 452 trees takes 3.9, raising .8, walking .2; the rest is a cell's 7 ms in the interpreter.",
    "knn": "Of 3.5 s sums of differences take 1.5, products .4 and what is near by them .6, votes .4.",
}
SPACES = {"trees": 4.0, "knn": 2.0, "naive_bayes": 0.5}
MANY, COLUMNS, MILLION = 300_000, 20, 1_000_000


def rows() -> Iterable[Row]:
    if (DATA / "magic04.csv").is_file():
        for space, budget in SPACES.items():
            yield of_budget(space, budget)
        yield auc_beside_error()
    else:
        print("studies: magic and cmc skipped, their files are not here", file=sys.stderr)
    yield from large_tables()


def of_budget(space: str, budget: float) -> Row:
    """A space on magic: cells with journal, scores and standard errors, data in memory."""
    config = compose([*MAGIC, f"space={space}"])
    data = prepare(config, _unheard)
    results = selected(config, data)
    spent = statistics.median(processor(lambda: selected(config, data)) for _ in range(TURNS))
    return Row(
        f"space={space} on magic 19,020 × 10, {len(results.candidates)} candidates, 10 folds, on two cores",
        f"a budget of {budget:g} s",
        (spent / CORES / budget,), spent / CORES, budget, "", most=1.0,
        note=f"{shares(lambda: selected(config, data))} {PARTS.get(space, '')}".strip(),
    )  # fmt: skip


def auc_beside_error() -> Row:
    """Selection and the correction for it by AUC, against the same by error."""
    words = [
        "dataset=csv",
        f"dataset.path={DATA / 'cmc.csv'}",
        f"dataset.target={_last_column(DATA / 'cmc.csv')}",
        "space=trees",
    ]
    calls = []
    for measure in ("auc", "error"):
        config = compose([*words, f"measure={measure}"])
        data = prepare(config, _unheard)
        calls.append(lambda config=config, data=data: chosen(config, data))
        calls[-1]()
    pairs = [(processor(calls[0]), processor(calls[1])) for _ in range(TURNS)]
    return Row(
        "selection and correction by AUC, space=trees on cmc", "the same by error: times as long",
        tuple(auc / error for auc, error in pairs), statistics.median(auc for auc, _ in pairs),
        statistics.median(error for _, error in pairs), "", most=2.0, note=shares(calls[0]),
    )  # fmt: skip


def large_tables() -> Iterable[Row]:
    """From CSV to the first cell against reading by Arrow alone; a million rows from the file to the scores of one tree."""
    with tempfile.TemporaryDirectory() as place:
        path = written(Path(place) / "many.csv", MANY)
        config = compose(["dataset=csv", f"dataset.path={path}", "dataset.target=y", "learner=tree", "split=none"])
        theirs = [processor(lambda: pa.csv.read_csv(path)) for _ in range(TURNS)]
        ours = [processor(lambda: prepare(config, _unheard)) for _ in range(TURNS)]
        yield Row(
            f"CSV of {MANY:,} × {COLUMNS} to the first cell", "pyarrow.csv.read_csv: times as long",
            tuple(us / them for us, them in zip(ours, theirs, strict=True)), statistics.median(ours), statistics.median(theirs),
            "", most=1.5, note="By a profile on a busy machine (Arrow alone: .44 s): of .88 s Arrow takes .45 in one "
            "thread, so that 1.5 leaves .21 for the rest: quotes .11, the matrix of the columns .1, folds .05, SHA-256 "
            ".04, columns .03, the head .03. Arrow alone checks nothing.",
        )  # fmt: skip
        path.unlink()
        path = written(Path(place) / "million.csv", MILLION)
        words = ["dataset=csv", f"dataset.path={path}", "dataset.target=y", "learner=tree", "scheme=holdout", "split=none"]
        before, parts = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
        parts.append(processor(lambda: parts.append(prepare(config := compose(words), _unheard)) or parts.append(config)))
        data, config, reading = parts
        selecting = processor(lambda: selected(config, data))
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / MILLION
        yield Row(
            f"{MILLION:,} × {COLUMNS} from CSV to the scores of a tree on a holdout",
            "its float64 matrix: times as many bytes per row at the largest", (memory / 8 / COLUMNS,),
            reading + selecting, 0.0, "", note=f"{reading:.1f} s reading and checking, {selecting:.1f} s ranking, growing, "
            f"scoring; at its largest {memory:.0f} bytes per row more than before, of which the numbers are {8 * COLUMNS}.",
        )  # fmt: skip


def selected(config: Config, data: StudyData) -> Results:
    """All cells in this thread, the journal on disk."""
    return _with_journal(config, data, lambda results: results)


def chosen(config: Config, data: StudyData) -> Any:
    """The same, and what is chosen by it, the correction for the choice included."""
    return _with_journal(config, data, lambda results: choose(results, config.rule, data.resampling, config.seed))


def _with_journal(config: Config, data: StudyData, asked: Callable[[Results], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        plan = make(resolve(config.candidates, data.development, 0, journal), data.development, data.resampling)
        return asked(run(plan, data.development, data.resampling, config.measure, Pool("sequential"), journal))


def shares(work: Callable[[], object]) -> str:
    """How much of the processor time is spent in compiled kernels; the rest is the interpreter's, NumPy's and the record's."""
    inside, depth, plain = 0.0, 0, Dispatcher.__call__

    def timed(dispatcher: Any, *arguments: Any) -> Any:
        nonlocal inside, depth
        start, depth = time.thread_time(), depth + 1
        try:
            return plain(dispatcher, *arguments)
        finally:
            depth -= 1
            inside += time.thread_time() - start if depth == 0 else 0.0

    assert compiler.is_wanted()
    with patch.object(Dispatcher, "__call__", timed):
        spent = processor(work)
    load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    return f"One thread: {spent:.2f} s, {inside / spent:.0%} of it in kernels; {load}."


def written(path: Path, many: int) -> Path:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(COLUMNS, many)).round(4)
    label = np.where(values[0] + values[1] + rng.normal(size=many) > 0, "yes", "no")
    pyarrow.csv.write_csv(pa.table({**{f"x{i}": column for i, column in enumerate(values)}, "y": label}), path)
    return path


def _last_column(path: Path) -> str:
    return path.read_text("utf-8").split("\n", 1)[0].strip().rsplit(",", 1)[-1]


def _unheard(_said: str) -> None: ...
