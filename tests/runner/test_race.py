"""race=exact: the winner of the full study with fewer folds, whatever the rule, the measure and the workers."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from modelsel.comparison.bbc import RESAMPLES, SLACK, bbc_generator, draws, pickable
from modelsel.config.settings import RaceSettings
from modelsel.core.spec import class_of, kinds_of, make
from modelsel.core.types import Outputs
from modelsel.runner.evaluation.context import RunContext
from modelsel.runner.execution.executors import Pool
from modelsel.runner.racing import Race, best_scores
from tests import doubles
from tests.doubles import Agreement, Double, Quadratic, candidates
from tests.runner.studies import WRONG, answer, study

RULES = {
    "best": {},
    "one_standard_error": {"errors": 0.25},
    "within_percent": {"percent": 2.0},
    "fewest_leaves_within": {"margin": 0.01},
}
MEASURES = (WRONG, Quadratic(), Agreement())


def some(seed: int, count: int = 16):
    """Candidates from good to hopeless, alone and in batches."""
    rng = np.random.default_rng(seed)
    cuts = np.round(rng.normal(0, 2.0, count), 2)
    return candidates(
        *(Double(group=int(rng.integers(12)), cut=float(cut), lean=int(rng.random() < 0.2)) for cut in dict.fromkeys(cuts))
    )


def raced(folder, rule, seed=0, measure=WRONG, pool=None, spared=(), older=(), name="raced", every=None, rows=90, **more):
    task = doubles.task(rows, seed=seed, weighted=bool(seed % 2))
    pool = pool or Pool("sequential")
    race = None if rule is None else Race(rule, frozenset(spared))
    return study(folder, every or some(seed), measure, pool, task, folds=6, name=name, race=race, older=older, **more)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.kind)
def test_the_winner_is_that_of_the_full_study(tmp_path, rule, measure):
    chosen, dropped = make("rule", rule, **RULES[rule]), 0
    for seed in range(8):
        whole = raced(tmp_path, None, seed, measure, name=f"whole{seed}")
        fast = raced(tmp_path, chosen, seed, measure, name=f"fast{seed}")
        winner = chosen.choose(whole.board)
        assert chosen.choose(fast.board) == winner
        out = np.array([status == "dropped" for status in fast.status])
        assert np.array_equal(fast.board.folds[~out], whole.board.folds[~out], equal_nan=True)
        assert np.isnan(fast.board.mean[out]).all()
        assert not fast.board.eligible[out].any()
        if fast.losses.matrix is not None:
            assert np.isnan(fast.losses.matrix[:, out]).all()
        dropped += int(out.sum())
    assert dropped > 0


def test_a_dropped_candidate_has_its_finished_folds_and_says_when_it_left(tmp_path):
    found = raced(tmp_path, make("rule", "best"), 3)
    left = found.status.index("dropped")
    done = int(np.isfinite(found.board.folds[left]).sum())
    assert 1 <= done < 6
    assert found.reasons[left] == f"could not win any more after {done} of 6 folds"
    assert found.counts["dropped"] == found.status.count("dropped")
    assert found.counts["failed"] == 0


@pytest.mark.slow
def test_who_was_dropped_really_was_worse(tmp_path):
    for seed in range(6):
        whole, fast = raced(tmp_path, None, seed, name=f"w{seed}"), raced(tmp_path, make("rule", "best"), seed, name=f"f{seed}")
        best = whole.board.cost.min()
        assert all(whole.board.cost[at] > best for at, status in enumerate(fast.status) if status == "dropped")


def test_a_candidate_that_ties_with_the_best_is_not_dropped(tmp_path):
    """Bound and bar are equal to the last digit: strictly worse is what counts."""
    same = candidates(*(Double(group=group, cut=0.1 + group / 1e9) for group in range(6)), Double(group=9, cut=50.0))
    found = raced(tmp_path, make("rule", "best"), 0, every=same)
    assert found.status == (*["ok"] * 6, "dropped")


@pytest.mark.parametrize(
    "pool", [Pool("threads", 3), Pool("threads", 1), Pool("processes", 2)], ids=lambda pool: f"{pool.kind}{pool.n_jobs}"
)
def test_drops_do_not_depend_on_workers(tmp_path, pool):
    rule = make("rule", "one_standard_error")
    assert answer(raced(tmp_path, rule, 1, pool=pool, name="other")) == answer(raced(tmp_path, rule, 1))


def test_drops_do_not_depend_on_what_a_journal_knows(tmp_path):
    """A full study's cells are there to be had; the race looks at them in its own order, and drops the same."""
    rule = make("rule", "best")
    alone = raced(tmp_path, rule, 3, name="alone")
    raced(tmp_path, None, 3, name="full")
    after = raced(tmp_path, rule, 3, older=(tmp_path / "full",), name="after")
    assert answer(after) == answer(alone)
    assert (after.computed, after.reused) == (0, alone.computed)


def test_a_batch_stops_when_all_of_it_are_out(tmp_path):
    log = tmp_path / "fits"
    every = candidates(
        Double(group=0, cut=0.1, log=str(log)), *(Double(group=1, cut=cut, log=str(log)) for cut in (40.0, 50.0))
    )
    assert raced(tmp_path, make("rule", "best"), 3, every=every).status == ("ok", "dropped", "dropped")
    fits = [line.split()[0] for line in log.read_text().splitlines()]
    assert fits.count("0") == 6
    assert fits.count("1") < 6


def test_a_leader_that_fails_later_hands_over(tmp_path):
    first = int(doubles.folds(doubles.task(90, seed=2), 6).folds[3].analysis[0])
    rows = tuple(int(fold.analysis[0]) for fold in doubles.folds(doubles.task(90, seed=2), 6).folds)
    assert first in rows
    every = candidates(
        Double(group=0, cut=0.1, deed="raise", first_rows=(first,)), Double(group=1, cut=0.2), Double(group=2, cut=50.0)
    )
    whole, fast = raced(tmp_path, None, 2, every=every, name="whole"), raced(tmp_path, make("rule", "best"), 2, every=every)
    assert fast.status[0] == whole.status[0]
    assert make("rule", "best").choose(whole.board) == make("rule", "best").choose(fast.board)


@pytest.mark.slow
def test_who_kills_a_worker_in_one_round_is_not_sent_again(tmp_path):
    every = candidates(Double(group=0, cut=0.1), Double(group=1, cut=0.3), Double(group=2, cut=0.2, deed="kill"))
    found = raced(tmp_path, make("rule", "best"), 0, every=every, pool=Pool("processes", 2))
    assert found.status[2] == "crashed"
    assert found.status[0] == "ok"


def test_spared_candidates_finish(tmp_path):
    rule = make("rule", "best")
    out = [at for at, status in enumerate(raced(tmp_path, rule, 3).status) if status == "dropped"]
    found = raced(tmp_path, rule, 3, spared=out[:1], name="spared")
    assert found.status[out[0]] == "ok"
    assert [found.status[at] for at in out[1:]] == ["dropped"] * (len(out) - 1)


COSTS = ((-2.0, 1.0, 3.0), (4.0, -1.0, 0.5), (1.0, 2.0, 0.25))  # the least cost of the last class is not on the diagonal's sign


@pytest.mark.parametrize("kind", [kind for kind in kinds_of("measure") if "classes" in class_of("measure", kind).reads])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_answer_scores_better_than_the_best_that_a_race_reckons_with(kind, weighted):
    measure = make("measure", kind, **({"costs": COSTS} if kind == "cost_matrix" else {}))
    task = doubles.task(45, classes=3 if kind == "cost_matrix" else 2, seed=1, weighted=weighted)
    resampling, rng = doubles.folds(task, 3), np.random.default_rng(0)
    limits = best_scores(RunContext(task, resampling, None, measure, 0))
    assert len(limits) == 3
    for fold, limit in zip(resampling.folds, limits, strict=True):
        truth, classes = task.target[fold.assessment], len(task.classes)
        weights = None if task.weights is None else task.weights[fold.assessment]
        scores = rng.dirichlet(np.full(classes, 0.3), (3000, len(truth)))
        scores[:500] = np.eye(classes)[truth]
        scores[1:500, 0] = rng.dirichlet(np.ones(classes), 499)
        got = measure.score(truth, Outputs(scores.argmax(axis=2).astype(np.int32), scores), weights, classes)
        got = got[np.isfinite(got)]
        assert (got <= limit + 1e-12).all() if measure.higher_is_better else (got >= limit - 1e-12).all()


def test_a_race_by_costs_that_may_be_negative_has_the_winner_of_the_full_study(tmp_path):
    measure, rule, dropped = make("measure", "cost_matrix", costs=((-1.0, 2.0), (3.0, -0.5))), make("rule", "best"), 0
    for seed in range(4):
        whole = raced(tmp_path, None, seed, measure, name=f"whole{seed}")
        fast = raced(tmp_path, rule, seed, measure, name=f"fast{seed}")
        assert rule.choose(fast.board) == rule.choose(whole.board)
        assert np.nanmin(whole.board.folds) < 0.5
        dropped += fast.status.count("dropped")
    assert dropped > 0


@dataclass(frozen=True)
class MiddleOne:
    """A rule of somebody's own, which nobody can foresee."""

    def choose(self, board):
        return int(np.argsort(board.mean)[len(board.mean) // 2])


@dataclass(frozen=True)
class OwnMeasure:
    """A measure of somebody's own: nobody knows its best value."""

    over_rows: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("rule", "measure", "place", "said"),
    [
        (MiddleOne(), make("measure", "error"), "rule", "of rule middle_one it is not known which candidates can still win"),
        (make("rule", "best"), OwnMeasure(), "measure", "the best value of measure own_measure is not known"),
    ],
)
def test_a_rule_or_a_measure_of_ones_own_is_refused(rule, measure, place, said):
    root = SimpleNamespace(on_failure="record", deadline=None)
    (found,) = RaceSettings("exact").problems(root, rule, measure)
    assert (found.code, found.where) == ("MSEL-226", place)
    assert found.what.startswith(said)
    assert not RaceSettings("off").problems(root, rule, measure)


def could_be_picked(whole, found, seed):
    """By the definition: without losses in folds left out by the race, no worse than the best finished one in some resample."""
    work, status = found.book.work, np.array(found.status)
    hoped = np.array(whole.losses.matrix, float)
    for at, fold in zip(*np.nonzero(np.isnan(found.board.folds))):
        hoped[work.resampling.folds[fold].assessment, at] = 0.0
    weights = work.task.weights if work.task.weights is not None else np.ones(len(hoped))
    able = np.zeros(len(status), bool)
    for counts in draws(len(hoped), RESAMPLES, bbc_generator(work.resampling, seed)):
        for drawn in counts * weights:
            mean = drawn @ hoped / drawn.sum()
            able |= mean <= mean[status == "ok"].min() + SLACK
    return set(np.flatnonzero(able & (status == "dropped")))


def test_only_dropped_candidates_may_have_to_finish_for_the_correction(tmp_path):
    rule = make("rule", "best")
    every = candidates(*(Double(group=at, cut=cut) for at, cut in enumerate((0.1, 0.3, 0.6, 1.0, 1.5, 50.0, -50.0))))
    whole = raced(tmp_path, None, 3, name="whole", every=every, rows=600)
    found = raced(tmp_path, rule, 3, every=every, rows=600)
    out = {at for at, status in enumerate(found.status) if status == "dropped"}
    able = pickable(found, found.book.work.resampling, 3)
    assert able == could_be_picked(whole, found, 3)
    assert set() < able < out
    assert pickable(whole, whole.book.work.resampling, 3) == frozenset()
