"""What a fitted estimator of another library can beside predicting: be written as ONNX, by that library's converter."""

from modelsel.exports.onnx import estimator_graph
from modelsel.exports.shipped import Shipped


def to_onnx(shipped: Shipped) -> bytes:
    """A graph for ONNX."""
    return estimator_graph(shipped)
