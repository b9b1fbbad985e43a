"""Tables with the kinds that their descriptions give them."""

import json
from pathlib import Path

import pandas as pd

from benchmarks.common.places import DATA


def table(name: str, folder: Path = DATA) -> tuple[pd.DataFrame, pd.Series]:
    """Features and classes of a table, kinds as its description has them."""
    described = json.loads((folder / f"{name}.json").read_text())
    frame = pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=["", "?"])
    target = described["target"]
    for column in described["columns"]:
        if column["type"] != "numeric" and column["name"] in frame and column["name"] != target:
            frame[column["name"]] = frame[column["name"]].astype("category")
    X = frame.drop(columns=target)
    X.attrs["table"] = name
    return X, frame[target].astype(str)
