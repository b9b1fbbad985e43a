"""What people call, as they call it: commands cold and warm, `classifier(...).fit`, `predict`, `predict_proba`.

Seconds are processor time of the process (or of the command), since these calls compute in one thread; so others on the machine
disturb the ratios less. Peers are scikit-learn's in the same run.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import Row, processor, side_by_side
from modelsel import classifier
from modelsel.comparison.fold_predictions import FoldPredictions, bbc_of_folds
from modelsel.core.types import Outputs, Scoreboard
from modelsel.dataset.waveform import Waveform
from modelsel.kernels.compiler import load
from modelsel.measure.auc import Auc
from modelsel.rule.best import Best

MANY, TURNS = 500_000, 5
BOUNDS = {  # where the time of rows that miss their goal goes, by one profile on a busy machine; work against peer begins so
    "classifier": "Of a fit's 35 ms under the profiler, on a machine of load 40, growing takes 15 and ranking 10, settings 3, "
    "looking through the input 2: growing and ranking alone leave no ratio above 21 where all of it makes 15.",
    "predict of one tree of 31": "Of 16 ms one pass over 84 MB takes 8 (np.sum takes as long), eight rows side by side down "
    "four tests 4, labels 2: no ratio above 6 without a smaller table.",
    "predict_proba of one tree of 31": "As predict, and 2 ms for writing 12 MB of scores; theirs has no labels to look up.",
    "predict of one tree of 4": "Of 35 ms one pass over the table takes 8, the walk down most of the rest.",
    "predict_proba of one tree of 4": "Of 36 ms one pass over the table takes 8, the walk down most of the rest.",
    "naive Bayes fit": "Of 67 ms turning rows into columns takes 23 and two passes over the numbers 30, where a sum per "
    "class waits for the one before it.",
    "k-NN predict, 2,000 × 20 among 10,000 against KNeighborsClassifier(brute)": "Of 22 ms the matrix product takes 12, "
    "looking for what may be near 6, centring and votes the rest. 440 million multiplications with an addition at 16 a cycle "
    "are 10 ms at 2.8 GHz: no ratio above 5.6 by single precision; 3 is 19 ms.",
}
QUICK, BUDGET = "modelsel run, the quick start, warm, from the shell to the end", 3.0  # seconds
TINY = "outlook,wind,play\n" + "sunny,weak,no\nrain,weak,yes\novercast,strong,yes\nrain,strong,no\n" * 4


def rows() -> Iterable[Row]:
    yield from fits()
    yield from predictions()
    yield from bayes()
    yield from neighbours()
    yield from corrections()
    yield from commands()


def fits() -> Iterable[Row]:
    task = Waveform(rows=12_000).read()
    X, y = np.ascontiguousarray(task.values), task.target
    for learner in ("cart", "tree"):
        ours, theirs = classifier(learner, pruner="unpruned", criterion="gini"), DecisionTreeClassifier(random_state=0)
        yield by_turns(
            f'classifier("{learner}", pruner="unpruned").fit, waveform 12,000 × 21', "DecisionTreeClassifier.fit",
            lambda ours=ours: ours.fit(X, y), lambda theirs=theirs: theirs.fit(X, y), 15,
            "both are right on every training row",
        )  # fmt: skip
        assert ours.score(X, y) == theirs.score(X, y) == 1.0


def predictions() -> Iterable[Row]:
    task = Waveform(rows=20_000).read()
    X, y = np.ascontiguousarray(task.values), task.target
    new = X[np.random.default_rng(0).integers(0, len(X), MANY)]
    ours = classifier("tree", criterion="gini", max_depth=4).fit(X, y)
    peer = DecisionTreeClassifier(random_state=0, max_depth=4).fit(X, y)
    assert (ours.predict(new) == peer.predict(new)).all()
    assert np.allclose(ours.predict_proba(new), peer.predict_proba(new), atol=1e-12)
    for depth in (4, None):
        ours = classifier("tree", criterion="gini", max_depth=depth).fit(X, y)
        peer = DecisionTreeClassifier(random_state=0, max_depth=depth).fit(X, y)
        size = f"{ours.n_nodes_} nodes"
        for name, goal in (("predict", 2), ("predict_proba", 2)):
            yield by_turns(
                f"{name} of one tree of {size}, {MANY:,} × 21", f"DecisionTreeClassifier.{name}",
                lambda ours=ours, name=name: getattr(ours, name)(new), lambda peer=peer, name=name: getattr(peer, name)(new),
                goal, "labels and class shares where trees are unique (depth 4)",
            )  # fmt: skip
    yield in_threads()


def in_threads() -> Row:
    """A call in each of two threads against the two one after the other, by the clock on the wall."""
    task = Waveform(rows=20_000).read()
    model = classifier("tree", criterion="gini").fit(np.ascontiguousarray(task.values), task.target)
    halves = np.array_split(task.values[np.random.default_rng(0).integers(0, len(task), MANY)], 2)
    both = [np.ascontiguousarray(half) for half in halves]
    with ThreadPoolExecutor(2) as threads:
        row = side_by_side(
            f"predict of one tree, {MANY:,} × 21, two halves in two threads", "one after the other",
            lambda: list(threads.map(model.predict, both)), lambda: [model.predict(half) for half in both],
            equal="the same labels", goal=1.8, turns=TURNS,
        )  # fmt: skip
    return replace(row, note=f"Wall clock; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.")


def bayes() -> Iterable[Row]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(MANY, 20)), rng.integers(0, 3, MANY)
    X[:, 0] += y
    ours, theirs = classifier("naive_bayes").fit(X, y), GaussianNB().fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.999  # theirs widens every variance by 1e-9 of the largest
    calls: dict[str, tuple[Callable[[Any], Any], float]] = {
        "fit": (lambda model: model.fit(X, y), 2), "predict": (lambda model: model.predict(X), 1.5),
        "predict_proba": (lambda model: model.predict_proba(X), 1.5),
    }  # fmt: skip
    for name, (call, goal) in calls.items():
        yield by_turns(
            f"naive Bayes {name}, {MANY:,} × 20", f"GaussianNB.{name}", lambda call=call: call(ours),
            lambda call=call: call(theirs), goal, "labels of 99.9% of rows (their variances are widened)",
        )  # fmt: skip


def neighbours() -> Iterable[Row]:
    rng = np.random.default_rng(0)
    X, y, new = rng.normal(size=(10_000, 20)), rng.integers(0, 2, 10_000), rng.normal(size=(2_000, 20))
    ours = classifier("knn", k=5, normalise="none", distance="euclidean").fit(X, y)
    for engine in ("brute", "kd_tree"):
        with threadpool_limits(1):  # two threads that wait for each other spend processor time on it
            theirs = KNeighborsClassifier(5, algorithm=engine).fit(X, y)
            assert np.mean(ours.predict(new) == theirs.predict(new)) == 1.0
            yield by_turns(
                "k-NN predict, 2,000 × 20 among 10,000", f"KNeighborsClassifier({engine}).predict", lambda: ours.predict(new),
                lambda theirs=theirs: theirs.predict(new), 3, "labels",
            )  # fmt: skip


def corrections() -> Iterable[Row]:
    """AUC's correction for the choice, as a study of 326 trees on three classes asks for it; against the same in NumPy."""
    rng, candidates = np.random.default_rng(0), 326
    truth, places = rng.integers(0, 3, 1_473).astype(np.int32), np.array_split(rng.permutation(1_473), 10)
    folds = [_said(rng, rows, truth[rows], candidates) for rows in places]
    names, mean = tuple(map(str, range(candidates))), rng.random(candidates)
    board = Scoreboard(ids=names, folds=np.zeros((10, candidates)), mean=mean, se=mean / 100, complexity=np.ones(candidates),
                       unit=("leaves",) * candidates, eligible=np.ones(candidates, np.bool_),
                       higher_is_better=True)  # fmt: skip

    def corrected() -> Any:
        drawn = np.random.default_rng(1)
        return bbc_of_folds(folds, np.arange(candidates), board, Best(), Auc(), 3, winner=0, rng=drawn)

    def in_numpy() -> Any:
        with unittest.mock.patch.dict(os.environ, MODELSEL_KERNELS="python"):
            load.cache_clear()
            found = corrected()
        load.cache_clear()
        return found

    assert corrected().to_dict() == in_numpy().to_dict()
    yield by_turns(
        "correction of AUC, 326 candidates, 10 folds of 1,473 rows", "the same in NumPy", corrected, in_numpy, 5, "all numbers"
    )


def _said(rng: np.random.Generator, rows: Any, truth: Any, candidates: int) -> FoldPredictions:
    """Class scores in tenths, as those of small trees tie."""
    scores = rng.dirichlet(np.ones(3), (candidates, len(rows))).round(1)
    return FoldPredictions(rows, truth, Outputs(scores.argmax(-1).astype(np.int32), scores), 0)


def commands() -> Iterable[Row]:
    """`modelsel run` of a wheel, unpacked in `MODELSEL_INSTALLED`: with nothing kept on the machine, and again."""
    if "MODELSEL_INSTALLED" not in os.environ:
        print("calls: commands skipped, MODELSEL_INSTALLED names no folder of an unpacked wheel", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/tiny.csv", "w") as file:
            file.write(TINY)
        tiny = ["dataset=csv", "dataset.path=tiny.csv", "dataset.target=play", "final_test=false", "split=none"]
        imported = statistics.median(spent(place, ["-c", "import modelsel.study.perform"])[0] for _ in range(3))
        for name, words in (("the quick start", []), ("a study of 16 rows", tiny)):
            cold, cold_wall, _ = spent(place, ["-m", "modelsel", "run", *words], MODELSEL_CACHE=tempfile.mkdtemp(dir=place))
            warm, warm_wall, memory = spent(place, ["-m", "modelsel", "run", *words])
            if not words:
                yield of_wall(place)
            yield Row(
                f"modelsel run, {name}, warm", "the same with nothing kept on the machine", (cold / warm,), warm, cold, "",
                note=f"{warm_wall:.1f} s wall warm, {cold_wall:.1f} s cold, on whatever else the machine did; importing alone "
                f"{imported:.1f} s of processor time; largest memory so far {memory:.0f} MB.",
            )  # fmt: skip


def of_wall(place: str) -> Row:
    """The quick start by the clock on the wall, warm, each time with cells to compute and a run to record."""
    seconds = [spent(place, ["-m", "modelsel", "run", f"seed={seed}"])[1] for seed in range(1, TURNS + 1)]
    return Row(
        QUICK, "a budget of 3 s", tuple(each / BUDGET for each in seconds), statistics.median(seconds), BUDGET, "", most=1.0,
        note="Wall clock, for a quiet machine. Imports take .8 s, composing .2, loading kernels .3, cells .6, "
        "the guard .3, report and record .4, waiting for MLflow .2; MLflow is imported on the other core meanwhile, 1.6 s.",
    )  # fmt: skip


def spent(place: str, words: list[str], **settings: str) -> tuple[float, float, float]:
    """Processor and wall seconds of a command, and the largest memory of any so far in MB."""
    environment = {**os.environ, "MODELSEL_HOME": f"{place}/home", **settings}
    environment["PYTHONPATH"] = os.environ["MODELSEL_INSTALLED"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=place, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - start, after.ru_maxrss / 1024


def by_turns(work: str, against: str, ours: Callable[[], object], theirs: Callable[[], object], goal: float, equal: str) -> Row:
    """Processor seconds of either side in turns, after both were called once."""
    ours(), theirs()
    note = next((text for begin, text in BOUNDS.items() if f"{work} against {against}".startswith(begin)), "")
    pairs = [(processor(ours), processor(theirs)) for _ in range(TURNS)]
    return Row(
        work, against, tuple(them / us for us, them in pairs), statistics.median(us for us, _ in pairs),
        statistics.median(them for _, them in pairs), equal, goal, note=note,
    )  # fmt: skip
