"""Fitted columns as data, and back: what a stored estimator reads its matrix through."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Feature
from modelsel.foreign.stored import skops, unskopsed
from modelsel.learner.inputs.encoding import ENCODINGS, ColumnEncoding
from modelsel.learner.inputs.target_encoding import TargetColumns

Arrays = dict[str, NDArray[Any]]
NUMBERS = ("middle", "center", "scale")
Fitted = ColumnEncoding | TargetColumns


def written(columns: Fitted) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays. Raises NotStoredError where an encoder cannot be stored."""
    if isinstance(columns, ColumnEncoding):
        return _plain(columns)
    (plain, numbers), (coded, others) = _plain(columns.plain), _plain(columns.coded)
    arrays = {**_under("plain/", numbers), **_under("coded/", others)}
    if columns.encoder is not None:
        arrays["encoder"] = np.frombuffer(skops(columns.encoder), np.uint8)
    return {"plain": plain, "coded": coded}, arrays


def read(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Fitted:
    """The columns again. Raises ValueError for what is not whole."""
    if "plain" not in facts:
        return _columns(facts, arrays)
    own = {name: {key.removeprefix(f"{name}/"): a for key, a in arrays.items() if key.startswith(f"{name}/")} for name in facts}
    encoder = unskopsed(np.asarray(arrays["encoder"], np.uint8).tobytes()) if "encoder" in arrays else None
    return TargetColumns(_columns(facts["plain"], own["plain"]), _columns(facts["coded"], own["coded"]), encoder)


def _plain(columns: ColumnEncoding) -> tuple[dict[str, Any], Arrays]:
    features = [asdict(feature) for feature in columns.features]
    facts = {"features": features, "encoding": columns.encoding, "places": list(columns.places)}
    return facts, {name: getattr(columns, name) for name in NUMBERS}


def _columns(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ColumnEncoding:
    """Check stored columns and rebuild their encoding."""
    features = tuple(Feature(f["name"], f["kind"], tuple(f["levels"]), float(f["cost"])) for f in facts["features"])
    places = tuple(int(place) for place in facts["places"])
    numbers = [np.asarray(arrays[name], np.float64) for name in NUMBERS]
    whole = all(one.shape == (len(features),) for one in numbers) and len(places) == len(features)
    if not whole or min(places, default=0) < 0 or facts["encoding"] not in ENCODINGS:
        raise ValueError("estimator: columns are not whole")
    return ColumnEncoding(features, str(facts["encoding"]), numbers[0], numbers[1], numbers[2], places)


def _under(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}{name}": array for name, array in arrays.items()}
