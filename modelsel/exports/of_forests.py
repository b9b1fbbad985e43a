"""What a fitted forest can beside predicting: its trees as rules and as DOT; its votes in SQL and ONNX."""

from modelsel.exports.onnx import onnx
from modelsel.exports.shipped import Shipped
from modelsel.exports.sql import sql
from modelsel.exports.trees import forest_dot, forest_rules


def rules(shipped: Shipped, most: int | None = None) -> str:  # noqa: ARG001  of a forest all
    """The rules of every tree, one tree after the other."""
    return forest_rules(shipped.model, shipped.classes)


def to_dot(shipped: Shipped) -> str:
    """A graph for Graphviz, with a part for each tree."""
    return forest_dot(shipped.model, shipped.classes)


def to_sql(shipped: Shipped, table: str) -> str:
    """A query that adds the prediction to a table."""
    return sql(shipped, table)


def to_onnx(shipped: Shipped) -> bytes:
    """A graph for ONNX."""
    return onnx(shipped)
