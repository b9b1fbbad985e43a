"""Which trees can be written as one expression: those that send each row down a single path, on features as they are."""

from collections.abc import Iterator

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.learner.trees.model import TreeModel
from modelsel.record.model.model import Predictor


def one_path(predictor: Predictor, to: str) -> TreeModel:
    """The tree of a predictor. Raises ConfigurationError with every reason why `--to` cannot say what it says."""
    fix = "choose another format, or a tree with missing=node_mode and no softener"
    ConfigurationError.raise_if(Problem("MSEL-255", reason, f"--to {to}", fix) for reason in _reasons(predictor))
    assert isinstance(predictor.model, TreeModel)
    return predictor.model


def _reasons(predictor: Predictor) -> Iterator[str]:
    model = predictor.model
    if not isinstance(model, TreeModel):
        yield f"{type(model).__name__} is no tree"
        return
    if predictor.steps:
        yield "the features are prepared before the tree sees them"
    if model.widths is not None:
        yield "the splits are softened: a row reaches several leaves"
    missing, inner = model.cut.tree.missing_to, ~model.cut.leaf
    if missing is not None and (missing[inner] < 0).any():
        yield "rows with missing values are divided, or sent by surrogates"
