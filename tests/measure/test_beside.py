"""The measures beside the one that chooses: scikit-learn's values fold by fold, and the same whoever computed the cells."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Outputs, Task
from modelsel.measure.beside import MANY, measures_by_default, omission_note, other_measures, score_beside
from modelsel.planning.make import make as planned
from modelsel.runner import run as run_module
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal
from modelsel.runner.run import run
from modelsel.scheme.leave_one_out import LeaveOneOut
from modelsel.scheme.stratified_kfold import StratifiedKfold

TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
LEARNERS = [*(make("learner", "tree", max_depth=depth) for depth in (1, 2, 4)), make("learner", "naive_bayes")]
CANDIDATES = [Candidate(learner, entry=f"e{place % 2}") for place, learner in enumerate(LEARNERS)]


def task_of(name: str) -> Task:
    table = TABLES[name]()
    features = tuple(Feature(f"x{column}", "numeric") for column in range(table.data.shape[1]))
    return Task(
        name=name, features=features, values=np.asfortranarray(table.data), rows=np.arange(len(table.target)),
        classes=tuple(map(str, range(len(table.target_names)))), target=table.target.astype(np.int32),
    )  # fmt: skip


def results_of(folder, task, beside, pool=Pool("sequential"), measure="error", older=()):  # noqa: B008
    folds = StratifiedKfold(folds=5).instantiate(task, 0)
    with Journal(folder, older) as journal:
        return run(planned(CANDIDATES, task, folds), task, folds, make("measure", measure), pool, journal, beside=beside)


def everything(task, measure="error"):
    folds = StratifiedKfold(folds=5).instantiate(task, 0)
    chooses = make("measure", measure)
    return {**other_measures(chooses, task, folds, scores=False), **other_measures(chooses, task, folds, scores=True)}


def theirs(truth, predicted, scores) -> dict[str, float]:
    two = scores.shape[1] == 2
    likely = scores[:, 1] if two else scores
    own = {
        "balanced_error": 1 - metrics.balanced_accuracy_score(truth, predicted),
        "f1": metrics.f1_score(truth, predicted, average="macro"),
        "f_beta": metrics.fbeta_score(truth, predicted, beta=2, average="macro"),
        "kappa": metrics.cohen_kappa_score(truth, predicted),
        "mcc": metrics.matthews_corrcoef(truth, predicted),
        "precision": metrics.precision_score(truth, predicted, average="macro", zero_division=0),
        "recall": metrics.recall_score(truth, predicted, average="macro"),
        "log_loss": metrics.log_loss(truth, np.maximum(scores, 1e-15), labels=range(scores.shape[1])),
        "auc": metrics.roc_auc_score(truth, likely, multi_class="ovr", average="weighted"),
    }
    return own if not two else {**own, "average_precision": metrics.average_precision_score(truth, likely)}


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_every_candidates_measures_are_scikit_learns_means_over_folds(table, tmp_path) -> None:
    task = task_of(table)
    beside = everything(task)
    results = results_of(tmp_path / "a", task, beside)
    expected: dict[tuple[str, int], list[float]] = {}
    for fold, members, result in results.book.records(range(len(CANDIDATES))):
        outputs = result.outputs(np.arange(len(members)))
        for place, member in enumerate(members.tolist()):
            found = theirs(task.target[fold.assessment], outputs.predicted[place], outputs.scores[place])
            for name, value in found.items():
                expected.setdefault((name, member), []).append(value)
    assert {name for name, _ in expected} >= {"recall", "auc", "log_loss"}
    for (name, member), values in expected.items():
        assert results.board.beside[name][member] == pytest.approx(np.mean(values), abs=1e-9), (name, member)


def test_counts_alone_ask_no_candidate_for_class_scores(tmp_path) -> None:
    task = task_of("iris")
    folds = StratifiedKfold(folds=5).instantiate(task, 0)
    counted = other_measures(make("measure", "error"), task, folds, scores=False)
    assert {"recall", "precision", "f1", "f_beta", "specificity", "balanced_error", "kappa", "mcc"} <= set(counted)
    assert not any(measure.needs_scores for measure in counted.values())
    results = results_of(tmp_path / "a", task, counted)
    assert all(result.scores is None for _, _, result in results.book.records(range(len(CANDIDATES))))
    assert np.isfinite(list(results.board.beside.values())).all()


@pytest.mark.slow
def test_they_are_the_same_for_threads_a_resumed_run_and_a_space_that_keeps_no_rows(tmp_path, monkeypatch) -> None:
    task = task_of("wine")
    beside = everything(task)
    first = results_of(tmp_path / "a", task, beside)
    threads = results_of(tmp_path / "b", task, beside, Pool("threads", 2))
    resumed = results_of(tmp_path / "c", task, beside, older=[tmp_path / "a"])
    monkeypatch.setattr(run_module, "ROWS_FOR_ALL", 1)
    large = results_of(tmp_path / "d", task, beside)
    again = results_of(tmp_path / "e", task, beside, older=[tmp_path / "d"])
    assert resumed.computed == 0
    assert again.computed == 0
    for other in (threads, resumed, large, again):
        assert {name: each.tolist() for name, each in other.beside.items()} == {
            name: each.tolist() for name, each in first.beside.items()
        }


@pytest.mark.slow
def test_scores_that_were_kept_for_fewer_measures_are_not_taken_for_more(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(run_module, "ROWS_FOR_ALL", 1)
    task = task_of("iris")
    folds = StratifiedKfold(folds=5).instantiate(task, 0)
    results_of(tmp_path / "a", task, other_measures(make("measure", "error"), task, folds, scores=False))
    more = results_of(tmp_path / "b", task, everything(task), older=[tmp_path / "a"])
    assert more.computed > 0
    assert np.isfinite(more.board.beside["auc"]).all()


def test_what_the_measure_is_about_the_others_are_about_too() -> None:
    task = task_of("breast_cancer")
    folds = StratifiedKfold(folds=5).instantiate(task, 0)
    beside = other_measures(make("measure", "recall", positive=0), task, folds, scores=False)
    assert "recall" not in beside
    assert beside["precision"].positive == 0
    costs = other_measures(make("measure", "cost_matrix", costs=((0, 1), (5, 0))), task, folds, scores=False)
    assert {"error", "recall"} <= set(costs)


def test_on_folds_of_one_row_only_means_over_rows_say_something() -> None:
    task = task_of("iris")
    folds = LeaveOneOut().instantiate(task, 0)
    assert other_measures(make("measure", "error"), task, folds, scores=False) == {}
    assert set(other_measures(make("measure", "error"), task, folds, scores=True)) == {"log_loss", "brier", "top_k_error"}


def test_measures_of_counts_are_those_alone_whatever_stands_beside_them() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(3, size=60).astype(np.int32), rng.integers(3, size=(7, 60)).astype(np.int32)
    measures = {name: make("measure", name) for name in ("error", "recall", "mcc", "specificity")}
    weights = rng.random(60)
    table = score_beside(measures, truth, Outputs(predicted), weights, 3)
    for place, measure in enumerate(measures.values()):
        np.testing.assert_array_equal(table[:, place], measure.score(truth, Outputs(predicted), weights, 3))


def test_of_many_classes_only_what_reads_rows_alone_stands_beside_unless_it_is_asked_for() -> None:
    few = task_of("iris")
    many = replace(few, classes=tuple(f"c{number}" for number in range(MANY + 1)))
    everything = {kind: make("measure", kind) for kind in ("recall", "mcc", "auc", "lift", "log_loss", "top_k_error")}
    assert set(measures_by_default(everything, few)) == set(everything)
    assert set(measures_by_default(everything, many)) == {"log_loss", "top_k_error"}
    assert omission_note(few.class_count) is None
    assert "measures=all" in str(omission_note(many.class_count))
