"""A plan says what can be exported, and what it says is what an export then does."""

from collections.abc import Callable

import numpy as np
import pytest

from modelsel.config.build import NUMBERS
from modelsel.config.build import build as learner
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, NumberTask, positions
from modelsel.exports.onnx import onnx
from modelsel.exports.sql import sql
from modelsel.planning.exports import formats, line
from modelsel.record.model import Predictor
from tests.cli.test_export import task

SETTINGS = [
    {}, {"missing": "fractional"}, {"missing": "surrogate", "splits.nominal": "subset"}, {"missing": "branch"},
    {"softener": "range_fraction"},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_said_beforehand_is_what_is_done(settings: dict[str, str]) -> None:
    known = task(np.random.default_rng(3))
    spec, _ = learner("tree", {**settings, "min_leaf": 3})
    predictor = Predictor(known.features, known.classes, (), spec.fit(known, positions(known), np.random.default_rng(0)))
    said = formats(Candidate(spec))
    for to, write in (("sql", lambda: sql(predictor, "rows")), ("onnx", lambda: onnx(predictor))):
        if to in said:
            assert write()
        else:
            with pytest.raises(ConfigurationError, match="MSEL-255"):
                write()


def test_a_forest_has_every_format_where_its_features_are_as_they_are() -> None:
    forest = learner("forest", {"trees": 3})[0]
    assert formats(Candidate(forest)) == formats(Candidate(forest), numbers=True) == ("sql", "onnx", "rules", "dot")
    assert formats(Candidate(forest, (make("preparer", "discretise_width"),))) == ("rules", "dot")


def test_a_best_tree_has_every_format_where_its_features_are_as_they_are() -> None:
    best = learner("optimal_tree", {"max_depth": 2, "missing": "branch"})[0]
    assert formats(Candidate(best)) == ("sql", "onnx", "rules", "dot")
    assert formats(Candidate(best, (make("preparer", "discretise_width"),))) == ("rules", "dot")


def test_entries_are_named_by_format() -> None:
    tree, holes = (Candidate(learner("tree", settings)[0], entry=entry) for settings, entry in (({}, "a"), (SETTINGS[1], "b")))
    soft = Candidate(learner("tree", SETTINGS[4])[0], entry="b")
    prepared = Candidate(tree.learner, (make("preparer", "discretise_width"),), "c")
    bayes = Candidate(learner("naive_bayes", {})[0], entry="d")
    assert line([tree, holes, soft, prepared, bayes]) == (
        "export       sql: a, some of b; onnx: a; rules: a, b, c; dot: a, b, c; json: all"
    )
    assert line([bayes]) == "export       json: all"
    forest = Candidate(learner("forest", {"criterion": "variance"})[0], entry="e")
    assert line([forest], numbers=True) == "export       sql: e; onnx: e; rules: e; dot: e; json: all"
    logs = Candidate(learner("cart", {"target.transform": "log"}, context=NUMBERS)[0], entry="f")
    assert line([logs], numbers=True) == "export       json: all"


@pytest.mark.parametrize("write", [lambda own: sql(own, "rows"), onnx])
def test_a_forest_that_says_quantiles_is_said_to_have_json_alone(write: Callable[[Predictor], object]) -> None:
    rng = np.random.default_rng(0)
    own = task(np.random.default_rng(3))
    known = NumberTask(name="n", features=own.features, values=own.values, rows=own.rows, target=rng.normal(size=len(own)))
    forest = learner("forest", {"criterion": "variance", "trees": 2, "leaf.statistic": "median"}, context=NUMBERS)[0]
    assert formats(Candidate(forest), numbers=True) == ()
    predictor = Predictor(known.features, (), (), forest.fit(known, positions(known), rng))
    with pytest.raises(ConfigurationError, match=r"rows that its leaves keep.*leaf\.statistic=mean"):
        write(predictor)
