"""Wins on the folds of one data set, counted over data sets."""

import numpy as np

from modelsel.comparison.learners import duels
from modelsel.comparison.runs import ComparedRun, EntryResult
from modelsel.statistics.paired import corrected_t, holm


def run(name: str, folds: dict[str, list[float]], higher: bool = False) -> ComparedRun:
    best = tuple(EntryResult(learner, "id", float(np.mean(scores)), np.array(scores)) for learner, scores in folds.items())
    return ComparedRun(name, name, name, "r", "error", 1 / 9, best, higher)


GOOD, BAD, WILD = [0.1, 0.12, 0.11, 0.1, 0.13], [0.3, 0.31, 0.33, 0.3, 0.32], [0.0, 0.5, 0.1, 0.4, 0.2]


def test_who_is_told_apart_wins() -> None:
    usual, turned = {"x": GOOD, "y": BAD, "z": WILD}, {"x": BAD, "y": GOOD, "z": WILD}
    runs = [run("a", usual), run("b", turned), run("c", usual)]
    assert duels(runs, ("x", "y", "z")).tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]


def test_higher_scores_win_where_higher_is_better() -> None:
    assert duels([run("a", {"x": GOOD, "y": BAD}, higher=True)], ("x", "y")).tolist() == [[0, 0], [1, 0]]


def test_one_fold_tells_nobody_apart() -> None:
    assert not duels([run("a", {"x": [0.0], "y": [0.9]})], ("x", "y")).any()


def test_a_win_is_a_corrected_t_under_holm() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        folds = rng.normal([0.2, 0.24, 0.3], 0.05, (10, 3)).T
        won = duels([run("a", dict(zip("xyz", folds.tolist())))], tuple("xyz"))
        pairs = [(0, 1), (0, 2), (1, 2)]
        p = holm([float(corrected_t(folds[b] - folds[a], 1 / 9).p) for a, b in pairs])
        assert int(won.sum()) == int((p <= 0.05).sum())
