"""A pipeline object with its grid is steps before an estimator; what is no row of plain steps is refused by name."""

import re
from typing import Any

import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from modelsel.config.build import Builder
from modelsel.config.expand import expand
from modelsel.config.folders import Folders
from modelsel.foreign.written import NotPlainError, space

SCALER, LOGISTIC = "sklearn.preprocessing.StandardScaler", "sklearn.linear_model.LogisticRegression"


def ids(entries: dict[str, Any]) -> list[str]:
    builder = Builder(Folders.of())
    found = expand(entries, builder).candidates
    assert builder.problems == []
    return sorted(one.id for one in found)


def test_it_is_the_same_candidates_as_its_recipe_in_a_file() -> None:
    pipeline = make_pipeline(StandardScaler(with_mean=False), PCA(), LogisticRegression(max_iter=500))
    grid = {"pca__n_components": [1, 2], "logisticregression__C": [0.1, 1.0, 10.0]}
    learner = {"kind": "estimator", "estimator": LOGISTIC, "params": {"max_iter": 500}}
    lists = [[{"kind": SCALER, "with_mean": False}, {"kind": "sklearn.decomposition.PCA", "n_components": n}] for n in (1, 2)]
    recipe = {"learner": learner, "sweep": {"steps.all": lists, "params.C": "choice(0.1, 1.0, 10.0)"}}
    assert space({"x": (pipeline, grid)})["x"]["sweep"]["steps.all"] == lists
    made = ids(space({"x": (pipeline, grid)}))
    assert len(made) == 6
    assert made == ids({"x": recipe})


def test_a_fixed_step_is_that_of_steps() -> None:
    learner = {"kind": "estimator", "estimator": LOGISTIC}
    written = {"learner": learner, "steps": {"all": [SCALER]}, "sweep": {"params.C": "choice(0.1, 1.0)"}}
    steps = [("scale", StandardScaler()), ("nothing", "passthrough"), ("last", LogisticRegression())]
    assert ids(space({"x": (Pipeline(steps), {"last__C": [0.1, 1.0]})})) == ids({"x": written})
    assert space({"x": Pipeline(steps[2:])}) == space({"x": LogisticRegression()})


def test_what_is_no_row_of_plain_steps_is_held_as_it_is() -> None:
    columns = make_pipeline(make_column_transformer((StandardScaler(), [0])), LogisticRegression())
    function = make_pipeline(FunctionTransformer(abs), LogisticRegression())
    assert {each["learner"]["kind"] for each in space({"a": columns, "b": function}).values()} == {"object"}


@pytest.mark.parametrize(
    ("pipeline", "grid", "said"),
    [
        (make_pipeline(StandardScaler(), LogisticRegression()), {"C": [1]}, "Pipeline has no parameter 'C'"),
        (make_pipeline(StandardScaler(), LogisticRegression()), {"scaler__C": [1]}, "Pipeline has no parameter 'scaler__C'"),
        (make_pipeline(StandardScaler(), "passthrough"), {}, "the last step of a pipeline, is not an estimator"),
    ],
)  # fmt: skip
def test_what_is_no_parameter_of_a_step_is_refused_by_name(pipeline: Any, grid: dict[str, Any], said: str) -> None:
    with pytest.raises(NotPlainError) as refused:
        space({"x": (pipeline, grid)})
    assert re.search(said, str(refused.value))
