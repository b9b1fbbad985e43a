"""What an extra brings, and how a test says that it needs it: `polars = needs("polars")`."""

from typing import Any

import pytest

EXTRAS = {  # the package as it is imported, and the extra of pyproject.toml that brings it
    "dask": "dask",
    "distributed": "dask",
    "psycopg": "postgresql",
    "onnx": "onnx",
    "skl2onnx": "onnx-learners",
    "onnxmltools": "onnx-learners",
    "resvg_py": "png",
    "mcp": "exam",
    "starlette": "exam",
    "uvicorn": "exam",
    "httpx2": "exam",
    "rfc3161_client": "exam",
    "skops": "skops",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "imblearn": "imbalanced",
    "skrub": "skrub",
    "optuna": "optuna",
    **dict.fromkeys(("gosdt", "pycontree", "pystreed"), "optimal-elsewhere"),
    **dict.fromkeys(("hatchling", "httpx", "ipykernel", "jsonschema", "mapie", "nbclient", "nbformat"), "test"),
    **dict.fromkeys(("duckdb", "onnxruntime", "polars", "statsmodels"), "test"),
    "quantile_forest": "test",
    "numpydoc": "dev",
    **dict.fromkeys(("pydata_sphinx_theme", "sphinx"), "docs"),
}


def needs(module: str) -> Any:
    """Import a module of an extra; without it the test, or its whole file, is skipped, and the extra is named."""
    extra = EXTRAS.get(module.partition(".")[0])
    missing = f"the extra `{extra}` is not installed ({module})" if extra else f"{module} is not installed"
    return pytest.importorskip(module, reason=missing)
