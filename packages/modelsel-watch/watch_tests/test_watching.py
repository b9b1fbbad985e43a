"""What is seen within `modelsel.watching()`, what stands in the ledger of it, and that nothing is left behind."""

import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _param_validation, _set_output, validation

import modelsel
from modelsel.core.errors import ConfigurationError, RefusedError
from modelsel.ledger.home import Home
from modelsel_watch.session import SealedRowsWarning
from tests.guard.studies import Rule, Study, numbers

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def quietly(*_: Any) -> warnings.catch_warnings:  # type: ignore[type-arg]
    return warnings.catch_warnings(action="ignore", category=SealedRowsWarning)


def fitted(parts: Parts, **settings: Any) -> LogisticRegression:
    return LogisticRegression(**settings).fit(parts[0], parts[2])


def places() -> list[Any]:
    """What stands at every place that is hooked."""
    classes = (LogisticRegression, Pipeline, GridSearchCV, LogisticRegression.__mro__[1], LogisticRegression.__mro__[2])
    methods = [vars(one).get(name) for one in classes for name in ("predict", "predict_proba", "decision_function")]
    return [
        *methods,
        validation._check_feature_names,
        _set_output._wrap_data_with_container,
        _param_validation.validate_parameter_constraints,
    ]


def test_an_outside_look_is_on_record_before_its_number_and_nothing_is_left_in_place(parts: Parts) -> None:
    before = places()
    rows, labels = modelsel.watch(parts[1], parts[3], name="loans")
    assert rows is parts[1]
    assert labels is parts[3]
    with modelsel.watching() as seen:
        assert places() != before
        model = fitted(parts)
        with pytest.warns(SealedRowsWarning, match=r"G017: accuracy_score .*80 sealed rows \(loans") as told:
            metrics.accuracy_score(labels, model.predict(rows))
        assert Path(told[0].filename).name == Path(__file__).name  # the person's own line
        metrics.f1_score(labels, model.predict(rows))
        metrics.roc_auc_score(labels, model.predict_proba(rows)[:, 1])
        assert seen.looks == 1
    assert places() == before
    assert metrics.accuracy_score(labels, model.predict(rows)) > 0
    (one,) = modelsel.audit()["test_sets"]
    (look,) = one["looks"]
    assert (look["outside"], look["metric"], look["score"], look["interval"]) == (True, "accuracy_score", None, None)
    assert "At least 1 outside look" in str(modelsel.audit())
    assert "To quote" not in str(modelsel.audit())


def test_a_strict_look_raises_before_the_number_and_every_time(parts: Parts) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    with modelsel.watching(strict=True) as seen:
        model, numbers = fitted(parts), []
        for _ in range(2):
            with pytest.raises(RefusedError, match="MSEL-840"):
                numbers.append(model.score(parts[1], parts[3]))
        with pytest.raises(RefusedError, match="MSEL-841"):
            fitted((parts[1], parts[1], parts[3], parts[3]))
        assert numbers == []
        assert seen.looks == 1


def test_rows_that_were_sealed_strictly_are_refused_wherever_they_are_watched(parts: Parts) -> None:
    modelsel.watch(parts[1], name="loans", strict=True)
    with modelsel.watching(), pytest.raises(RefusedError, match="MSEL-840"):
        fitted(parts).score(parts[1], parts[3])


def test_nothing_is_certified_at_rows_after_an_outside_look(home: Path) -> None:
    study = Study(numbers(), home)
    development, test = study.parts()
    assert study.look().interval is not None
    with modelsel.watching() as seen, quietly():
        model = LogisticRegression().fit(development.values, development.target)
        model.score(test.values, test.target)
    assert seen.looks == 1
    result = study.but(rule=Rule(1)).look()
    assert result.interval is None
    assert "G017" in result.flags
    (one,) = modelsel.audit()["test_sets"]
    assert [look["outside"] for look in one["looks"]] == [False, True, False]
    assert one["next"] is None


def test_rows_that_were_fitted_on_helped_to_choose(home: Path) -> None:
    study = Study(numbers(), home)
    study.gate().seal(study.sealing())
    with modelsel.watching(), quietly():
        LogisticRegression().fit(study.task.values, study.task.target)
    result = study.look()
    assert result.interval is None
    assert "G021" in result.flags


def test_no_label_is_stored(parts: Parts, home: Path) -> None:
    labels = np.where(parts[3] == 1, "approved-unmistakably", "denied-unmistakably")
    modelsel.watch(parts[1], labels, name="loans")
    with modelsel.watching(), quietly():
        model = LogisticRegression().fit(parts[0], np.where(parts[2] == 1, "approved-unmistakably", "denied-unmistakably"))
        metrics.accuracy_score(labels, model.predict(parts[1]))
    for path in home.rglob("*"):
        assert not path.is_file() or b"unmistakably" not in path.read_bytes(), path


def test_a_prediction_alone_and_other_metrics_are_information(parts: Parts) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    with modelsel.watching() as seen:
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(parts[0], parts[2])
        one, other = model.predict(parts[1]), fitted(parts, C=0.01).predict(parts[1])
        metrics.cohen_kappa_score(one, other)  # of two predictions: no label is involved
        metrics.silhouette_score(parts[0], parts[2])
    assert (seen.looks, seen.findings) == (0, [])


def test_contexts_within_contexts_are_one_and_the_last_takes_the_hooks_away(parts: Parts) -> None:
    before = places()
    modelsel.watch(parts[1], parts[3], name="loans")
    with modelsel.watching() as outer:
        with modelsel.watching() as inner, quietly():
            fitted(parts).score(parts[1], parts[3])
        assert inner is outer
        assert places() != before
    assert places() == before
    with pytest.raises(ZeroDivisionError), modelsel.watching():
        raise ZeroDivisionError
    assert places() == before


def test_rows_that_are_sealed_within_a_context_are_seen_from_then_on(parts: Parts) -> None:
    with modelsel.watching() as seen, quietly():
        model = fitted(parts)
        model.score(parts[1], parts[3])
        assert seen.looks == 0
        modelsel.watch(parts[1], parts[3], name="loans")
        fitted(parts, C=0.1).score(parts[1], parts[3])
    assert seen.looks == 1


@pytest.mark.slow
def test_threads_count_each_prediction_once(parts: Parts) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    settings = [10.0**power for power in range(-4, 4)]
    different = {tuple(fitted(parts, C=C).predict(parts[1])) for C in settings}

    def work(C: float) -> None:
        model = fitted(parts, C=C)
        for _ in range(3):
            model.score(parts[1], parts[3])

    with modelsel.watching() as seen, quietly():
        threads = [threading.Thread(target=work, args=(C,)) for C in settings * 2]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert seen.looks == len(different)
    assert len(modelsel.audit()["test_sets"][0]["looks"]) == len(different)


def test_a_table_that_was_changed_in_place_is_tried_again(parts: Parts) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    rows = parts[1].copy()
    with modelsel.watching() as seen:
        model = fitted(parts)
        model.predict(rows)
        rows[:] = rows[::-1] + 1.0
        metrics.accuracy_score(parts[3], model.predict(rows))
        assert seen.looks == 0


def test_files_frames_of_polars_and_wrong_words(parts: Parts, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(parts[1], columns=list("abcdef"))
    frame.assign(y=parts[3]).to_csv(tmp_path / "test.csv", index=False)
    assert modelsel.watch(tmp_path / "test.csv", "y") == (tmp_path / "test.csv", "y")
    with modelsel.watching() as seen, quietly():
        model = LogisticRegression().fit(pd.DataFrame(parts[0], columns=list("abcdef")), parts[2])
        model.score(polars.DataFrame(frame), parts[3])
    assert seen.looks == 1
    with pytest.raises(ConfigurationError, match="MSEL-842"):
        modelsel.watch(tmp_path / "test.csv")
    with pytest.raises(ConfigurationError, match="79 labels, and 80 rows"):
        modelsel.watch(parts[1], parts[3][1:])


@pytest.mark.slow
def test_an_open_run_of_mlflow_gets_tags_at_the_look(parts: Parts, tmp_path: Path) -> None:
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    modelsel.watch(parts[1], parts[3], name="loans")
    with modelsel.watching(), quietly(), mlflow.start_run() as run:
        fitted(parts).score(parts[1], parts[3])
    tags = mlflow.get_run(run.info.run_id).data.tags
    (one,) = modelsel.audit()["test_sets"]
    said = [tags[f"modelsel.{name}"] for name in ("testset", "look", "metric")]
    assert said == [one["id"], "outside", "accuracy_score"]


def test_a_screen_that_was_changed_is_not_believed(parts: Parts, home: Path) -> None:
    modelsel.watch(parts[1], parts[3], name="loans")
    (path,) = (home / "screens").glob("*.screen")
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    with modelsel.watching() as seen:
        fitted(parts).score(parts[1], parts[3])
    assert seen.looks == 0
    assert not path.exists()
    assert Home(home).ledger.exists()
