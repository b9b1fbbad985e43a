"""Models of trees whose answers no other system can say: why."""

from typing import NoReturn

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.exports.shipped import Shipped
from modelsel.exports.trees import KEPT_ROWS, refuse_other_answers
from modelsel.learner.forests.model import QuantileForestModel


def rules(shipped: Shipped, most: int | None = None) -> NoReturn:  # noqa: ARG001
    """Raise ConfigurationError: its leaves do not say what it answers."""
    if isinstance(shipped.model, QuantileForestModel):
        what = KEPT_ROWS
    else:
        said = f"its leaves say the target as it was fitted (target.transform={shipped.model.name})"
        what = f"{said}, not in its own unit"
    raise ConfigurationError(Problem("MSEL-257", what, "--to", "json takes every model"))


def to_dot(shipped: Shipped) -> NoReturn:
    """Raise as `rules` does."""
    rules(shipped)


def to_sql(shipped: Shipped, _table: str) -> None:
    """Raise ConfigurationError: another system would round, or lacks rows."""
    refuse_other_answers(shipped, "sql")


def to_onnx(shipped: Shipped) -> None:
    """Raise as `to_sql` does."""
    refuse_other_answers(shipped, "onnx")
