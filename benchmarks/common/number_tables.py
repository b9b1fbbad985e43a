"""Tables whose target is a number: scikit-learn's, Friedman's first function, and those that NUMBERS.csv lists in the data."""

from collections.abc import Iterator

import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1

from benchmarks.common.places import DATA


def tables() -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Name, rows and target of each table."""
    diabetes = load_diabetes(as_frame=True, scaled=False).frame
    yield "diabetes", diabetes, "target"
    values, target = make_friedman1(1000, 10, noise=1.0, random_state=0)
    yield "Friedman 1", pd.DataFrame(values, columns=[f"x{i}" for i in range(10)]).assign(y=target), "y"
    if not (DATA / "NUMBERS.csv").is_file():
        print("tables of NUMBERS.csv: passed over, there is no such folder of data")
        return
    for one in pd.read_csv(DATA / "NUMBERS.csv").itertuples():
        table = pd.read_csv(DATA / f"{one.name}.csv", na_values="?")
        whole = table[table[one.numeric_target].notna()]
        yield str(one.name), whole.rename(columns=lambda name: name.replace(".", "_")), one.numeric_target.replace(".", "_")
