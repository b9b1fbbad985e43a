"""A watched program behaves as it does unwatched: what is given and returned, what can be seen of functions, what is raised."""

import inspect
import json
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context, metrics
from sklearn.base import BaseEstimator, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modelsel
from modelsel.cli import dispatch
from modelsel.core.errors import RefusedError
from modelsel_watch import session
from modelsel_watch.session import SealedRowsWarning, Watch
from tests.extras import needs

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Forecast(BaseEstimator):
    """A series has no table to predict from."""

    def fit(self, y: np.ndarray) -> "Forecast":
        self.mean_ = y.mean()
        return self

    def predict(self, n_periods: int = 10) -> np.ndarray:
        return np.full(n_periods, self.mean_)


class Odd(BaseEstimator):
    """Predicts by methods that are no plain ones, and warns at its caller's line."""

    def fit(self, X: object, y: object = None) -> "Odd":
        return self

    @staticmethod
    def decision_function(X: Any) -> Any:
        return X[:, 0]

    @classmethod
    def predict_proba(cls, X: Any) -> Any:
        return X

    @property
    def predict_log_proba(self) -> Callable[[Any], Any]:
        return np.log

    def predict(self, *tables: Any, sign: int = 1, **more: Any) -> Any:
        warnings.warn("odd", UserWarning, stacklevel=2)
        return sign * np.concatenate(tables)[:, 0], more


X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def isotonic() -> np.ndarray:
    return np.asarray(IsotonicRegression().fit(X[:, 0], Y).predict(T=X[:, 0]))


def searched() -> np.ndarray:
    model = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}, cv=2)
    return np.asarray(model.fit(X, Y).predict_proba(X=X))


def routed() -> np.ndarray:
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
        weights = np.arange(len(X), dtype=float)
        judged = metrics.make_scorer(metrics.accuracy_score).set_score_request(sample_weight=True)
        scored = cross_validate(model, X, Y, params={"sample_weight": weights}, scoring=judged, cv=2)
        return np.asarray(scored["test_score"])


def boosted(library: str, kind: str, name: str, **settings: Any) -> Callable[[], np.ndarray]:
    def act() -> np.ndarray:
        model = getattr(pytest.importorskip(library), kind)(**settings).fit(X, Y)
        return np.asarray(model.predict(**{name: X}))

    return act


ACTS: dict[str, Callable[[], Any]] = {
    "isotonic": isotonic,
    "forecast": lambda: Forecast().fit(Y).predict(n_periods=3),
    "forecast without a word": lambda: Forecast().fit(Y).predict(),
    "searched": searched,
    "routed": routed,
    "tables": lambda: Odd().fit(X).predict(X, X, sign=-1)[0],
    "static": lambda: Odd().decision_function(X),
    "of the class": lambda: Odd.predict_proba(X),
    "property": lambda: Odd().predict_log_proba(np.abs(X)),
    "frame": lambda: LogisticRegression().fit(pd.DataFrame(X), Y).predict(X=pd.DataFrame(X)),
    "xgboost": boosted("xgboost", "XGBClassifier", "X", n_estimators=2, n_jobs=1),
    "lightgbm": boosted("lightgbm", "LGBMClassifier", "X", n_estimators=2, n_jobs=1, verbose=-1),
    "catboost": boosted("catboost", "CatBoostClassifier", "data", iterations=2, verbose=0, allow_writing_files=False),
}  # fmt: skip
LIBRARIES = ("xgboost", "lightgbm", "catboost")


@pytest.mark.filterwarnings("ignore:odd")
@pytest.mark.parametrize("name", ACTS)
def test_what_is_returned_is_what_is_returned_unwatched(name: str) -> None:
    if name in LIBRARIES:
        needs(name)
    unwatched = ACTS[name]()
    with modelsel.watching() as seen:
        np.testing.assert_array_equal(ACTS[name](), unwatched)
    assert seen.failures == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: LogisticRegression().fit(X, Y).predict(), "required positional argument: 'X'"),
        (lambda: LogisticRegression().fit(X, Y).predict(X, X), "takes 2 positional arguments"),
        (lambda: LogisticRegression().fit(X, Y).predict(data=X), "unexpected keyword argument 'data'"),
        (lambda: metrics.accuracy_score(Y), "y_pred"),
        (lambda: metrics.accuracy_score(Y, "text"), "y_pred"),
    ],
)
def test_errors_are_the_same_errors(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as unwatched:
        wrong()
    with modelsel.watching(), pytest.raises(unwatched.type) as watched:
        wrong()
    assert str(watched.value) == str(unwatched.value)


def facts(kind: type, name: str) -> tuple[object, ...]:
    method = inspect.getattr_static(kind, name)
    there = getattr(kind, name)
    return (
        type(method), inspect.signature(there), there.__doc__, there.__qualname__, there.__module__, inspect.isfunction(there),
        inspect.getsource(there), sorted(set(vars(there)) - {"__wrapped__"}),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [LogisticRegression, GridSearchCV, IsotonicRegression, Forecast, Odd])
def test_methods_look_as_they_do_unwatched(kind: type) -> None:
    unwatched = facts(kind, "predict")
    with modelsel.watching():
        assert facts(kind, "predict") == unwatched


def test_models_and_methods_are_cloned_and_pickled_by_name() -> None:
    model = LogisticRegression().fit(X, Y)
    with modelsel.watching():
        for one in (pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(model.predict)).__self__):
            assert np.array_equal(one.predict(X), model.predict(X))
        assert pickle.loads(pickle.dumps(LogisticRegression.predict)) is LogisticRegression.predict
        assert clone(model).get_params() == model.get_params()
        kept = pickle.dumps(model)
    assert np.array_equal(pickle.loads(kept).predict(X), model.predict(X))


@pytest.mark.slow
def test_a_class_of_a_script_is_pickled_by_value_and_read_where_modelsel_is_not(tmp_path: Path) -> None:
    """As joblib hands it to a worker, or MLflow writes it into a model."""
    made: dict[str, Any] = {"__name__": "__main__", "BaseEstimator": BaseEstimator}
    source = """class Own(BaseEstimator):
    def fit(self, X, y=None):
        return self
    def predict(self, X):
        return [row[0] for row in X]
"""
    exec(source, made)
    with modelsel.watching():
        assert inspect.unwrap(made["Own"].predict) is not made["Own"].predict
        (tmp_path / "model").write_bytes(cloudpickle.dumps(made["Own"]()))
    code = """import pickle, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "modelsel":
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
print(pickle.load(open(sys.argv[1], "rb")).predict(X=[[3, 4]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model")], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.stdout, done.returncode) == ("[3]\n", 0), done.stderr


def test_warnings_point_to_the_line_that_they_point_to_unwatched() -> None:
    with modelsel.watching(), pytest.warns(UserWarning, match="odd") as told:
        Odd().fit(X).predict(X)
    assert told[0].filename == __file__


def test_random_numbers_and_warnings_of_a_program_are_left_as_they_are(parts: Parts) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    np.random.seed(0)  # noqa: NPY002  the generator that scikit-learn itself uses
    state = pickle.dumps(np.random.get_state())  # noqa: NPY002
    filters = [*warnings.filters]
    with modelsel.watching(), pytest.warns(SealedRowsWarning):
        LogisticRegression().fit(parts[0], parts[2]).score(parts[1], parts[3])
    assert pickle.dumps(np.random.get_state()) == state  # noqa: NPY002
    assert warnings.filters == filters


class Computed:
    """What stands in for a table, and would be computed by whoever reads it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError(f"{name} was asked for")

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise AssertionError("computed")


class Lazy(BaseEstimator):
    def fit(self, X: object, y: object = None) -> "Lazy":
        return self

    def predict(self, X: object) -> object:
        return Computed()


def test_what_is_not_computed_yet_is_not_computed() -> None:
    modelsel.watch(X + 1, Y)
    with modelsel.watching() as seen:
        assert isinstance(Lazy().fit(X).predict(X), Computed)
        assert isinstance(Lazy().fit(Computed()).predict(Computed()), Computed)
    assert seen.failures == 0


def broken(*_: Any, **__: Any) -> Any:
    raise KeyError("of the data")


@pytest.mark.parametrize("method", ["seen", "fitted", "predicted", "scored", "transformed"])
def test_what_fails_in_a_hook_is_swallowed_and_counted(
    method: str, parts: Parts, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Watch, method, broken)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    unwatched = model.fit(parts[0], parts[2]).score(parts[1], parts[3])
    with modelsel.watching() as seen:
        assert model.fit(parts[0], parts[2]).score(parts[1], parts[3]) == unwatched
    assert seen.failures > 0
    assert dispatch.main(["watch", "status"]) == 0
    assert "failed (KeyError at test_passing.py:" in capsys.readouterr().out
    lines = (home / "watch_failures.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == seen.failures
    assert "of the data" not in "".join(lines)
    assert json.loads(lines[0])["error"] == "KeyError"


def test_a_ledger_that_fails_stops_no_program_and_no_refusal(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    monkeypatch.setattr(session, "outside_look", broken)
    model = LogisticRegression().fit(parts[0], parts[2])
    with modelsel.watching() as seen:
        assert model.score(parts[1], parts[3]) > 0
    assert (seen.looks, seen.failures) == (0, 1)
    with modelsel.watching(strict=True), pytest.raises(RefusedError, match="MSEL-840"):
        model.score(parts[1], parts[3])


def test_a_program_that_turns_warnings_into_errors_goes_on(parts: Parts, capsys: pytest.CaptureFixture[str]) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    model = LogisticRegression().fit(parts[0], parts[2])
    with warnings.catch_warnings(action="error"), modelsel.watching() as seen:
        assert model.score(parts[1], parts[3]) > 0
    assert seen.looks == 1
    assert "SealedRowsWarning: G017" in capsys.readouterr().err


def test_what_somebody_kept_of_a_watched_function_goes_on_and_tells_nothing(parts: Parts) -> None:
    with modelsel.watching() as seen:
        kept = LogisticRegression.predict
    modelsel.watch(parts[1], parts[3], name="loans")
    model = LogisticRegression().fit(parts[0], parts[2])
    assert metrics.accuracy_score(parts[3], kept(model, parts[1])) > 0
    assert seen.looks == 0


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="processes are not forked here")
def test_a_process_that_was_forked_while_a_hook_was_at_work_goes_on(parts: Parts) -> None:
    import os

    modelsel.watch(parts[1], parts[3], name="loans")
    model = LogisticRegression().fit(parts[0], parts[2])
    held, ended = threading.Event(), threading.Event()
    with modelsel.watching() as seen:

        def hold() -> None:
            with seen._lock:
                held.set()
                ended.wait(20)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(20)
        with warnings.catch_warnings(action="ignore"):
            child = os.fork()
        if child == 0:
            os._exit(0 if len(model.predict(parts[1])) == len(parts[1]) else 1)
        waiting = threading.Timer(15, os.kill, (child, 9))
        waiting.start()
        _, status = os.waitpid(child, 0)
        waiting.cancel()
        ended.set()
        thread.join()
    assert status == 0
