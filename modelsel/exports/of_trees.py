"""What a fitted tree can beside predicting: be drawn, be written as rules, as data, as DOT, SQL or ONNX."""

from modelsel.core.types import Feature
from modelsel.exports.onnx import onnx
from modelsel.exports.shipped import Shipped
from modelsel.exports.sql import sql
from modelsel.learner.trees.model import TreeModel
from modelsel.pruner.mdl import description_length
from modelsel.tree import draw as drawing
from modelsel.tree.nested import to_dict
from modelsel.tree.nested import to_dot as dot
from modelsel.tree.rules import missing_words, rules_text
from modelsel.tree.softening import Widths

MOST = 500  # leaves of a picture


def draw(shipped: Shipped) -> str:
    """A figure for a page, with what makes it fold."""
    return drawing.to_html(shipped.model.cut, widths=_widths(shipped))


def drawing_style() -> str:
    """The rules of style that pictures need."""
    return drawing.rules()


def picture(shipped: Shipped) -> str:
    """The drawing alone, as SVG; of a large tree its top."""
    return drawing.to_svg(drawing.top(shipped.model.cut, MOST), _widths(shipped))


def rules(shipped: Shipped, most: int | None = None) -> str:
    """A line per leaf and one about missing values; of more than `most` the leaves that cover most rows."""
    text = rules_text(shipped.model.cut, most)
    return text if most else f"{text}{missing_words(shipped.model.cut)}\n"


def structure(shipped: Shipped) -> dict[str, object]:
    """The nodes as plain data, in the documented shape."""
    return to_dict(shipped.model.cut)


def to_dot(shipped: Shipped) -> str:
    """A graph for Graphviz."""
    return f"{dot(shipped.model.cut)}\n"


def to_sql(shipped: Shipped, table: str) -> str:
    """A query that adds the prediction to a table."""
    return sql(shipped, table)


def to_onnx(shipped: Shipped) -> bytes:
    """A graph for ONNX."""
    return onnx(shipped)


def code_length(shipped: Shipped) -> tuple[tuple[Feature, ...], float, float, float] | None:
    """Features, bits that send the tree, weight of wrong rows and of all rows that its leaves count; None for numbers."""
    model = shipped.model
    return (model.cut.tree.features, *description_length(model.cut)) if isinstance(model, TreeModel) else None


def _widths(shipped: Shipped) -> Widths | None:
    """The ramps of a softened tree."""
    return shipped.model.widths if isinstance(shipped.model, TreeModel) else None
