"""Whole studies where they used to be slow: wide, nominal, of many classes, large, short, and the first one of all.

Each is asked in a process of its own with a home of its own. Seconds are processor time, but where somebody waits: the first
study from a source tree and a fresh process beside GridSearchCV are by the clock on the wall.

    python -m benchmarks.everyday.whole_studies [NAME ...]

prints some of them; `ten_million` takes some GB and minutes.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import nan
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.places import ROOT
from benchmarks.common.timing import Row, processor, seconds

GB = 1 << 30
TIMES = 3
NONE = "none asked: their folds are others"


def rows() -> Iterator[Row]:
    for name in (*OF_PEERS, *OF_BUDGETS):
        yield from measured(name)


def measured(name: str) -> Iterator[Row]:
    """A row of one study, or two."""
    if name in OF_PEERS:
        work, against, most, times = OF_PEERS[name]
        pairs = [_elsewhere(name) for _ in range(times)]
        ratios = tuple(ours / theirs for ours, theirs, _ in pairs)
        ours, theirs, note = sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]
        yield Row(work, against, ratios, ours, theirs, NONE, most=most, note=_note(name, note))
        return
    work, unit, budgets = OF_BUDGETS[name]
    ours, memory, found = _elsewhere(name)
    yield Row(f"{work}: {unit}", f"a budget of {budgets[0]:g} s", (ours / budgets[0],), ours, budgets[0], "", most=1.0,
              note=_note(name, found))  # fmt: skip
    for budget in budgets[1:]:
        yield Row(f"{work}: memory", f"a budget of {budget:g} GiB", (memory / GB / budget,), nan, nan, "", most=1.0,
                  note=f"{memory / GB:.2f} GiB.")  # fmt: skip


def _note(name: str, found: str) -> str:
    return f"{found} {BOUNDS.get(name, '')}".strip()


# What is asked, in a process of its own: seconds of ours, of theirs (or bytes at the largest), and a remark.

Answer = tuple[float, float, str]


def beside_search_trees() -> Answer:
    """`modelsel.run` and `SelectionCV` of the same space, folds and rows."""
    return _beside_search({"cart": {"learner": "cart", "sweep": {"max_depth": list(range(1, 11))}}})


def beside_search_knn() -> Answer:
    return _beside_search({"knn": {"learner": "knn", "sweep": {"k": list(range(1, 40, 2))}}})


def _beside_search(space: dict[str, Any]) -> Answer:
    from sklearn.datasets import make_classification

    import modelsel

    X, y = make_classification(3_000, 20, n_informative=8, flip_y=0.02, random_state=0)
    search = modelsel.SelectionCV(space, cv=5)
    settings = {"space": space, "scheme": {"kind": "stratified_kfold", "folds": 5}, "split": "none", "tracking": "off"}
    seeds = iter(range(100))  # another seed each time: a study that is on record is not computed again

    def ours() -> None:
        modelsel.run((X, y), **settings, seed=next(seeds))

    def theirs() -> None:
        search.fit(X, y)

    ours(), theirs()
    return processor(ours), processor(theirs), ""


def fresh_process() -> Answer:
    """150 rows × 10 candidates from the start of Python to its end, with tracking, beside GridSearchCV."""
    ours = ["-m", "modelsel", "run", "dataset=iris", "space={cart: {learner: cart, sweep: {max_depth: 'range(1, 11)'}}}"]
    theirs = (
        "from sklearn.datasets import load_iris\nfrom sklearn.model_selection import GridSearchCV\n"
        "from sklearn.tree import DecisionTreeClassifier as Tree\n"
        "GridSearchCV(Tree(), {'max_depth': list(range(1, 11))}, cv=10).fit(*load_iris(return_X_y=True))\n"
    )
    with tempfile.TemporaryDirectory() as place:
        _run(ours, place)  # kernels are compiled, bytecode is written
        return seconds(lambda: _run([*ours, "seed=7"], place)), seconds(lambda: _run(["-c", theirs], place)), _load()


def first_study() -> Answer:
    """The quick start with nothing kept on the machine, on the wall."""
    with tempfile.TemporaryDirectory() as place:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = seconds(lambda: _run(["-m", "modelsel", "run", "tracking=off"], place, f"{place}/cache"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, _held(), f"{own:.0f} s of a processor. {_load()}"


def _run(words: list[str], place: str, cache: str | None = None) -> None:
    """Run Python in a folder, with a home there."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([sys.executable, *words], cwd=place, env=_environment(place, cache), check=True, **quiet)


def _load() -> str:
    return f"Load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores."


def wide() -> Answer:
    """1,000 × 5,000, four depths on five folds, test opened."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 5_000))
    return _study(X, X[:, 0] + rng.normal(size=1_000) > 0, {"learner": "cart", "sweep": {"max_depth": [1, 2, 4, 8]}}, 5)


def thousand_classes() -> Answer:
    return _classes(1_000)


def five_thousand_classes() -> Answer:
    return _classes(5_000)


def _classes(many: int) -> Answer:
    """20,000 × 8 with so many classes, three depths of a tree on three folds."""
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % many
    X = rng.normal(size=(many, 8))[y] + 0.3 * rng.normal(size=(20_000, 8))
    return _study(X, np.array([f"c{label}" for label in y]), {"learner": "cart", "sweep": {"max_depth": [4, 8, 16]}}, 3)


def million_correction() -> Answer:
    """10⁶ rows: what choosing takes, the correction of the winner's score (BBC) included, after all cells are computed."""
    from modelsel.comparison.selection import choose
    from modelsel.config.compose import compose
    from modelsel.planning.make import make
    from modelsel.runner.execution.executors import Pool
    from modelsel.runner.families import resolve
    from modelsel.runner.journal import Journal
    from modelsel.runner.run import run
    from modelsel.runner.study_data import prepare

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(1_000_000, 10)), columns=[f"x{i}" for i in range(10)])
    table["y"] = np.where(table["x0"] + rng.normal(size=len(table)) > 0, "yes", "no")
    table.to_parquet("table.parquet")
    space = "space={cart: {learner: cart, sweep: {max_depth: 'range(1, 9)'}}}"
    words = ["dataset=parquet", "dataset.path=table.parquet", "dataset.target=y", space, "scheme.folds=2", "split=none"]
    config = compose(words)
    data = prepare(config, lambda _said: None)
    with Journal(Path("journal")) as journal:
        plan = make(resolve(config.candidates, data.development, 0, journal), data.development, data.resampling)
        found: list[Any] = []
        cells = processor(
            lambda: found.append(run(plan, data.development, data.resampling, config.measure, Pool("sequential"), journal))
        )
        spent = processor(lambda: choose(found[0], config.rule, data.resampling, config.seed))
    return spent, _held(), f"Beside {cells:.1f} s for the cells."


def million_levels() -> Answer:
    """10⁶ rows with a column of as many names."""
    rng = np.random.default_rng(0)
    names = rng.integers(0, 1_000_000, 1_000_000)
    X = pd.DataFrame({"name": pd.Series(names).map("n{}".format), "x": rng.normal(size=1_000_000)})
    return _study(X, X["x"] > 0, {"learner": "naive_bayes"}, 2, wall=True)


def ten_million() -> Answer:
    """10⁷ × 10, naive Bayes on two folds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000_000, 10))
    return _study(X, X[:, 0] + rng.normal(size=len(X)) > 0, {"learner": "naive_bayes"}, 2, wall=True)


def _study(X: Any, y: Any, entry: dict[str, Any], folds: int, wall: bool = False) -> Answer:
    """One study after a small one, which imports what is needed and loads its kernels."""
    import modelsel

    def run(X: Any, y: Any) -> Any:
        scheme = {"kind": "stratified_kfold", "folds": folds}
        return modelsel.run((X, np.asarray(y)), space={"mine": entry}, scheme=scheme, tracking="off")

    some = np.random.default_rng(1).normal(size=(80, 4))
    run(some, some[:, 0] > 0)
    found: list[Any] = []
    before = process_time()
    spent = (seconds if wall else processor)(lambda: found.append(run(X, y)))
    own = f"{process_time() - before:.0f} s of a processor. {_load()} " if wall else ""
    report = next(Path(found[0].folder).glob("report.html"), None)
    return spent, _held(), own + (f"report {report.stat().st_size / 1e6:.1f} MB." if report else "")


OF_PEERS = {  # work, peer, goal, turns
    "beside_search_trees": ("modelsel.run without tracking, ten depths of trees × 5 folds, 3,000 × 20",
                            "SelectionCV, the same space: times as long", 2.0, TIMES),
    "beside_search_knn": ("modelsel.run without tracking, twenty k of k-NN × 5 folds, 3,000 × 20",
                          "SelectionCV, the same space: times as long", 2.0, TIMES),
    "fresh_process": ("modelsel run with tracking, 150 rows × 10 candidates, a fresh process, on the wall",
                      "GridSearchCV in a fresh process: times as long", 2.0, TIMES),
}  # fmt: skip
OF_BUDGETS = {  # work, unit, budgets of seconds and GiB
    "wide": ("1,000 × 5,000, four depths × 5 folds, test opened", "processor", (5.0,)),
    "thousand_classes": ("20,000 × 8 of 1,000 classes, three depths × 3 folds, test opened", "processor", (10.0,)),
    "five_thousand_classes": ("20,000 × 8 of 5,000 classes, three depths × 3 folds, test opened", "processor", (60.0,)),
    "million_correction": ("10⁶ rows, eight depths of a tree: the choice and its correction (BBC)", "processor", (3.0,)),
    "first_study": ("the quick start from a source tree, nothing compiled", "on the wall", (15.0,)),
    "million_levels": ("10⁶ rows with a column of 10⁶ names, naive Bayes × 2 folds, test opened", "on the wall", (600.0, 8.0)),
    "ten_million": ("10⁷ × 10, naive Bayes × 2 folds, test opened", "on the wall", (600.0, 8.0)),
}
BOUNDS = {  # what bounds a row that misses its goal, by profile
    "beside_search_trees": (
        "Of .37 s in one run the cells of candidates and floor take .11, which is nearly all that SelectionCV does; the choice "
        "with its two bootstraps .08 (drawing 6·10⁶ rows .03, threads of BLAS that wait .02), sealing and ledger .06 (hashing "
        "rows .006), the report .04, the files of the run .02, composing .015, final fit and times of prediction .02, "
        "returning memory .005. Composing costs .06 more where the groups are others than before."
    ),
    "beside_search_knn": ("As of trees: the floor of a study, and one fit of neighbours more for the final model."),
    "wide": (
        "No part is large any more. Of 20.9 s under the profiler fingerprints take 6.5 (ranks and sketches of 5,000 "
        "columns 2.4, hashes 1.8, nearly unique columns 1.2), leakage 2.6 (2.8·10⁹ differences 1.3), taking the frame"
        " in 1.5, composing 1.1, record 1.5, findings 1.3, cells .7: some ten calls of NumPy for each column."
    ),
    "five_thousand_classes": (
        "Of 89 s under the profiler 67 are the cells' threads: growing trees by counts of 5,000 classes, and a score for each "
        "class of each row. Of the rest the report takes 10 (reliability class by class 5), measures of scores 5, the record 3."
    ),
    "first_study": (
        "Compiling takes some 62 of 78 s of a processor at load 8: growing forests 34, growing trees 10, routing 3, raising 3, "
        "ranking 3. A second process compiles those of forests from the start; what is left is growing forests itself, 34 s in "
        "one process, two thirds of them Numba's front end, which is Python. A wheel brings all of it compiled."
    ),
    "ten_million": (
        "The study had a third of a core. Of the samples of a profile the look takes 32 of 100 (neighbours of 4,000 rows among "
        "7·10⁶ 16, digests of all values for near copies 9), sealing 22 (fingerprints), weak slices 9; the cells take seconds. "
        "What is left is sorting all rows, some ten times in different steps."
    ),
}


def _held() -> float:
    """Bytes of this process, or of the largest that it waited for, at the largest."""
    return 1024.0 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _environment(place: str, cache: str | None = None) -> dict[str, str]:
    """Variables with a home in a folder. Bytecode is kept, as by default: that of installed packages is there in any case."""
    own = {"MODELSEL_HOME": f"{place}/home", "PYTHONPATH": str(ROOT), **({"MODELSEL_CACHE": cache} if cache else {})}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own


def _elsewhere(name: str) -> Answer:
    """What a function of this module answers in a process of its own, in a folder of its own."""
    program = f"import json, {__spec__.name} as here; print(json.dumps(here.{name}()))"
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=place, env=_environment(place), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    ours, other, note = json.loads(done.stdout.splitlines()[-1])
    return ours, other, note


if __name__ == "__main__":
    for wanted in sys.argv[1:] or (*OF_PEERS, *OF_BUDGETS):
        for row in measured(wanted):
            print(f"{row.work}: {row.ours:.3g} beside {row.theirs:.3g} s ({row.ratio:.3g}) {row.note}", flush=True)
