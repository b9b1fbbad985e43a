"""Variables made of columns at hand: numbers, or truth values as 1 and 0."""

from collections.abc import Sequence

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Table
from modelsel.core.whole_table import WholeTable
from modelsel.ledger.portraits.variables import Variable, Variables


def variables_of(values: Floats, binary: Booleans, orders: int, labels: Sequence[str]) -> Variables:
    """A variable per column of rows × columns."""
    features = tuple(Feature(name, "numeric") for name in labels)
    table = Table(name="", features=features, values=np.asfortranarray(values), rows=np.arange(len(values)))
    found = (Variable(name, index, 1.0 if binary[index] else None) for index, name in enumerate(labels))
    return Variables(WholeTable((table,)), tuple(found), orders)
