"""The one place that pickles a model: where the person allows it, for whoever trusts the file; nothing here reads it."""

import pickle
from pathlib import Path
from typing import Any


def write(made: Any, path: Path) -> None:
    """Pickle a fitted estimator that no safe format takes."""
    path.write_bytes(pickle.dumps(made))
