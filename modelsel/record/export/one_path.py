"""Decide which trees can be exported as they are fitted: on features as they are, with hard splits.

A row with a missing value may be divided (`missing=fractional`) or sent by surrogates (`missing=surrogate`): SQL says both,
the tree ensembles of ONNX neither.
"""

from collections.abc import Iterator

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.learner.forests.model import ForestModel, NumberForestModel, QuantileForestModel
from modelsel.learner.transformed_target import TransformedModel
from modelsel.learner.trees.model import ModelTree, NumberTreeModel, TreeModel
from modelsel.record.model import Predictor
from modelsel.tree.node import DIVIDED

KEPT_ROWS = "it says quantiles of the rows that its leaves keep (leaf.statistic of a forest)"
PREPARED = "the features are prepared before the tree sees them (preparer)"


def one_path(predictor: Predictor, to: str) -> TreeModel | NumberTreeModel:
    """Return the tree of a predictor that sends each row down a single path by the test's own column.

    Raises ConfigurationError with every reason why `--to` cannot express it.
    """
    fix = "take --to sql, or a tree with missing=node_mode"
    if isinstance(predictor.model, ModelTree):
        what = "its leaves are linear models, and the leaves of a tree in ONNX say one number"
        raise ConfigurationError(Problem("MSEL-255", what, f"--to {to}", "take --to sql, rules, dot or json"))
    _refuse_other_answers(predictor, to)
    _refuse(to, [*_reasons(predictor), *_holes(predictor)], fix)
    assert isinstance(predictor.model, TreeModel | NumberTreeModel)
    return predictor.model


def hard_tree(predictor: Predictor, to: str) -> TreeModel | NumberTreeModel:
    """The tree of a predictor whose splits are hard, rows with missing values sent as they may be."""
    _refuse_other_answers(predictor, to)
    _refuse(to, list(_reasons(predictor)), "take --to json, or a tree without these settings")
    assert isinstance(predictor.model, TreeModel | NumberTreeModel)
    return predictor.model


def unprepared_forest(predictor: Predictor, to: str) -> ForestModel:
    """The forest of a predictor (of numbers the votes), or ConfigurationError where its features are prepared."""
    reasons = [PREPARED.replace("tree", "forest")] if predictor.steps else []
    fix = "take --to json, or a forest without a preparer"
    ConfigurationError.raise_if(Problem("MSEL-255", reason, f"--to {to}", fix) for reason in reasons)
    model = predictor.model.votes if isinstance(predictor.model, NumberForestModel) else predictor.model
    assert isinstance(model, ForestModel)
    return model


def _refuse_other_answers(predictor: Predictor, to: str) -> None:
    """Raise for a model whose answers are more than the numbers of its leaves.

    A transform is turned back by exponentials, which differ from system to system in their last digits; a quantile of a forest
    is one of the rows that its leaves keep.
    """
    model = predictor.model
    if isinstance(model, TransformedModel):
        what = f"its answers are turned back by target.transform={model.name}, which systems round differently"
        raise ConfigurationError(Problem("MSEL-255", what, f"--to {to}", "take --to json, or target.transform=none"))
    if isinstance(model, QuantileForestModel):
        fix = "take --to json, or leaf.statistic=mean"
        raise ConfigurationError(Problem("MSEL-255", KEPT_ROWS, f"--to {to}", fix))


def _refuse(to: str, reasons: list[str], fix: str) -> None:
    ConfigurationError.raise_if(Problem("MSEL-255", reason, f"--to {to}", fix) for reason in reasons)


def _reasons(predictor: Predictor) -> Iterator[str]:
    """Yield why the model is not a single tree with hard tests on unprepared features."""
    model = predictor.model
    if not isinstance(model, TreeModel | NumberTreeModel):
        yield f"{type(model).__name__} is no tree"
        return
    if predictor.steps:
        yield PREPARED
    if isinstance(model, TreeModel) and model.widths is not None:
        yield "the splits are softened (softener other than hard): a row reaches several leaves"


def _holes(predictor: Predictor) -> Iterator[str]:
    """Yield why its rows with missing values cannot be sent down one path."""
    model = predictor.model
    if not isinstance(model, TreeModel | NumberTreeModel) or model.cut.tree.missing_to is None:
        return
    to = model.cut.tree.missing_to[~model.cut.leaf]
    if (to == DIVIDED).any():
        yield "rows with missing values are divided (missing=fractional)"
    if ((to < 0) & (to != DIVIDED)).any():
        yield "rows with missing values are sent by surrogates (missing=surrogate)"
