"""scikit-learn's names of measures: understood, explained, and with scikit-learn's figure up to sign and scale."""

import numpy as np
import pytest
import sklearn.metrics as sk
from sklearn.dummy import DummyClassifier

from modelsel.config.compose import SAID, compose
from modelsel.config.folders import Folders
from modelsel.config.suggest import MEASURES
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import kinds_of
from modelsel.core.types import Outputs

STUDY = ("dataset=play_tennis", "space=majority")
PLUS = {
    "accuracy": (-1, 1),
    "balanced_accuracy": (-1, 1),
    "top_k_accuracy": (-1, 1),
    "neg_log_loss": (-1, 0),
    "neg_brier_score": (-0.5, 0),
}


class Answered(DummyClassifier):
    """A classifier that says what it was told."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores, self.classes_ = scores, np.arange(2)
        self.n_outputs_ = 1

    def predict(self, X: object) -> np.ndarray:
        return self.scores.argmax(axis=1)

    def predict_proba(self, X: object) -> np.ndarray:
        return self.scores

    def __sklearn_is_fitted__(self) -> bool:
        return True


def test_every_name_that_is_no_kind_is_one_of_scikit_learns_and_is_explained() -> None:
    names = set(Folders.of().options("measure")) - set(kinds_of("measure")) - {"auto"}  # error or mse, as the target is
    assert names == set(SAID)
    assert names <= set(sk.get_scorer_names())


@pytest.mark.filterwarnings("ignore:'k' .2. greater than or equal")  # of scikit-learn: two classes, k = 2
@pytest.mark.parametrize("name", SAID)
def test_the_figure_is_scikit_learns_up_to_sign_and_scale(name: str) -> None:
    config = compose([*STUDY, f"measure={name}"])
    assert any(note.startswith(f"measure={name}: ") for note in config.notes)
    rng = np.random.default_rng(0)
    truth, p = rng.integers(2, size=80).astype(np.int32), rng.random(80)
    scores = np.stack([1 - p, p], axis=-1)
    found = config.measure.score(truth, Outputs(scores.argmax(axis=1).astype(np.int32)[None], scores[None]), None, 2)[0]
    factor, plus = PLUS.get(name, (1, 0))
    expected = sk.get_scorer(name)(Answered(scores), np.zeros((80, 1)), truth)
    assert factor * found + plus == pytest.approx(expected, abs=1e-12)


def test_accuracy_is_the_study_of_error() -> None:
    mine, theirs = compose([*STUDY, "measure=error"]), compose([*STUDY, "measure=accuracy"])
    assert mine.spec_id == theirs.spec_id
    assert mine.notes == ()
    assert theirs.notes == ("measure=accuracy: error is its complement, 1 − accuracy: lower is better",)
    assert compose(STUDY, settings={"measure": "accuracy"}).notes == theirs.notes
    assert compose(STUDY, settings={"measure": {"kind": "accuracy"}}).notes == theirs.notes


def test_a_name_that_nobody_knows_is_told_what_is_near() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown measure 'acuracy'.*did you mean 'accuracy'"):
        compose([*STUDY, "measure=acuracy"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [("acc", "error"), ("AUROC", "auc"), ("f1_micro", "error"), ("neg_root_mean_squared_error", "rmse"), ("r2_score", "r2"),
     ("neg_mean_squared_error", "mse"), ("neg_mean_absolute_error", "mae"), ("cohen_kappa_score", "kappa")],
)  # fmt: skip
def test_names_of_other_libraries_are_answered_with_the_measure_that_they_are(name: str, meant: str) -> None:
    for overrides, settings in (([f"measure={name}"], {}), ([], {"measure": name}), ([], {"measure": {"kind": name}})):
        with pytest.raises(ConfigurationError, match=rf"(write measure={meant}\b|did you mean '{meant}')"):
            compose([*STUDY, *overrides], settings=settings)


def test_every_answer_is_a_measure_that_there_is() -> None:
    told = {text.partition(":")[0].removeprefix("measure=") for text in MEASURES.values()}
    assert told <= set(Folders.of().options("measure"))
    assert not {name for name in MEASURES if name in Folders.of().options("measure")}
