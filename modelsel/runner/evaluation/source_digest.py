"""The digest of a source: columns as they were handed over, of which a table of numbers does not say everything."""

import hashlib

import numpy as np

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.source import Source


def fingerprint(source: Source) -> str:
    """The digest of a source: types, categories in their order, and every cell; what its table does not say of it is in it."""
    data = source.data
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        rows = data.tocsr()
        return digest([str(rows.dtype), list(rows.shape), array_digest(rows.data, rows.indices, rows.indptr)])
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        return array_digest(data)
    if isinstance(data, np.ndarray | list | tuple):
        return hashlib.sha256(b"".join(hashlib.sha256(_bytes(row)).digest() for row in data)).hexdigest()[:32]
    import narwhals as nw  # with pandas: few studies need them
    import pandas as pd

    frame = nw.from_native(data, eager_only=True).to_pandas()
    kinds = [
        [str(name), str(kind), [str(one) for one in getattr(kind, "categories", ())]] for name, kind in frame.dtypes.items()
    ]
    cells = [pd.util.hash_pandas_object(frame.iloc[:, place], index=False).to_numpy() for place in range(frame.shape[1])]
    return digest([type(data).__module__, kinds, array_digest(*cells)])


def _bytes(row: object) -> bytes:
    """What a row holds: a text, numbers, or what it shows."""
    if isinstance(row, str):
        return b"text:" + row.encode()
    array = np.asarray(row)
    return array.tobytes() if not array.dtype.hasobject else repr(row).encode()
