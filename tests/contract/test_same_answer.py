"""One digest of scores, ranking and predictions, whatever the pool, the number of workers, the hash seed, the number of
OpenMP threads and the order of execution; on data full of ties."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

HERE = str(Path(__file__).parents[2])
STUDY = """
import sys
from pathlib import Path
import numpy as np
from modelsel.core.types import Candidate
from modelsel.learner.knn import Knn
from modelsel.learner.naive_bayes import NaiveBayes
from modelsel.learner.table import Table
from modelsel.learner.tree import Tree
from modelsel.measure.error import Error
from modelsel.measure.log_loss import LogLoss
from modelsel.rule.best import Best
from modelsel.runner.execution.executors import Pool
from tests import doubles
from tests.runner.studies import answer, study

if __name__ == "__main__":
    folder, *ways = sys.argv[1:]
    learners = [Tree(max_depth=depth, min_leaf=leaf) for depth in (1, 2, 3, None) for leaf in (1, 5)]
    learners += [Knn(k=k, vote=vote) for k in (1, 2, 4, 7) for vote in ("uniform", "inverse")]
    learners += [NaiveBayes(smoothing=smoothing) for smoothing in (0.0, 1.0)] + [Table()]
    some = (*map(Candidate, learners), *doubles.spread(5, noise=True))
    orders = {"planned": tuple, "backwards": lambda jobs: jobs[::-1],
              "shuffled": lambda jobs: [jobs[i] for i in np.random.default_rng(len(jobs)).permutation(len(jobs))]}
    for way in ways:
        kind, workers, order = way.split(":")
        found = []
        for seed, measure in ((0, Error()), (1, LogLoss())):
            task = doubles.task(150, classes=3, seed=seed, whole_numbers=True)
            pool = Pool(kind, int(workers))
            results = study(Path(folder), some, measure, pool, task, name=f"{way}-{seed}", repeats=2, order=orders[order])
            assert all(status == "ok" for status in results.status), results.reasons
            found += [answer(results), Best().choose(results.board)]
        print(*found)
"""


def said(folder, ways, hash_seed, threads):
    """What studies print in a process of its own, one line for each way of computing them (`pool:workers:order`)."""
    folder.mkdir()
    script = folder / "study.py"
    script.write_text(STUDY)
    settings = {"PYTHONPATH": HERE, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, str(script), str(folder), *ways], env={**os.environ, **settings}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(ways, done.stdout.splitlines(), strict=True))


def check(folder, *settings):
    """`settings` are (ways, hash seed, OpenMP threads), each a process."""
    answers = {
        (way, *rest): answer
        for number, (ways, *rest) in enumerate(settings)
        for way, answer in said(folder / str(number), ways, *rest).items()
    }
    assert len(set(answers.values())) == 1, answers


@pytest.mark.slow
def test_the_answer_does_not_depend_on_how_it_was_computed(tmp_path):
    check(
        tmp_path,
        (["sequential:1:planned", "threads:4:backwards"], "0", "1"),
        (["threads:2:shuffled", "processes:2:shuffled"], "random", "2"),
    )


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_answer(tmp_path):
    check(tmp_path, (["sequential:1:planned", "dask:2:shuffled"], "1", "2"))


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_the_whole_grid_gives_one_answer(tmp_path):
    pools = ["sequential:1", *(f"{kind}:{workers}" for kind, workers in product(("threads", "processes", "dask"), (1, 2, 4)))]
    ways = [f"{pool}:shuffled" for pool in pools]
    check(tmp_path, *((ways, *rest) for rest in product(("0", "1", "random"), ("1", "2"))))
