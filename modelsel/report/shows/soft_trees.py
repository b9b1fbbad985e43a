"""Softened trees."""

from typing import Any

TITLE = "Softened trees"


def facts(studied: Any) -> dict[str, Any]:
    return {"reason": "not yet"}
