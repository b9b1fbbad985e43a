"""The sorted columns of some rows out of the sorted columns of all: a filter, not a sort."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(
    types.entries(
        types.fixed_columns,
        types.fixed_columns,
        types.fixed_wholes,
        types.fixed_wholes,
        types.fixed_codes,
        types.fixed_codes,
        types.whole,
        types.whole,
        types.whole,
    )
)
def pack(order, codes, feature, levels, y, number, rows, id_bits, class_bits):
    """Entries code | class | number of the chosen rows, per sorted column (the layout that `grow` reads).

    order: sorted columns × data rows (~row where a value begins);
    feature: of each sorted column; number: of each data row among the chosen, or −1.
    """
    entries = np.empty((order.shape[0], rows), np.int64)
    for t in range(order.shape[0]):
        at, column, missing = 0, codes[feature[t]], levels[feature[t]]
        for i in range(order.shape[1]):
            row = order[t, i] if order[t, i] >= 0 else ~order[t, i]
            if number[row] >= 0:
                code = np.int64(column[row])
                if code < 0:
                    code = missing
                entries[t, at] = (code << (id_bits + class_bits)) | (np.int64(y[row]) << id_bits) | number[row]
                at += 1
    return entries
