"""Fitted objects of other libraries as bytes: each library's own format, else skops; read back only if every type is allowed.

    lightgbm   lightgbm.txt    the text that LightGBM writes
    xgboost    xgboost.json    XGBoost's JSON
    catboost   catboost.cbm    CatBoost's binary
    others     fitted.skops    skops, which names every type in the file before anything is made of it

No pickle: reading a file must not be able to run what stands in it. A type in a skops file counts if skops trusts it, or if it
is of an allowed package (`allowed.home_of`).
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.foreign.allowed import NotAllowedError, home_of

FILES = ("lightgbm.txt", "xgboost.json", "catboost.cbm", "fitted.skops")
TEXT, JSON, CBM, SKOPS = FILES
INSTALL = "pip install 'modelsel[skops]'"
# what histogram boosting keeps to read categories: a function by itself does nothing, and each one in a file is named
PLAIN_TYPES = frozenset(
    ("numpy.dtype", "functools.partial", "sklearn.utils.validation.check_array", "scipy.sparse._csr.csr_matrix")
)


class NotStoredError(ValueError):
    """Something that cannot be written down or read back, with the reason."""


class Booster(Protocol):
    """LightGBM's booster, as far as it is asked."""

    def predict(self, X: object) -> object:
        """Return shares of the classes, or that of the second of two; of a regressor numbers."""
        ...

    def model_to_string(self) -> str:
        """Write it as text."""
        ...


class HoldsBooster(Protocol):
    """A classifier or regressor of LightGBM's, or what was read back of one."""

    @property
    def booster_(self) -> Booster:
        """The booster inside."""
        ...


def has_skops() -> bool:
    """Say whether skops is installed."""
    return find_spec("skops") is not None


def dump(made: object, plugins: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """The name of the file, and its bytes. Raises NotStoredError where there is no safe format for it."""
    write = _WRITERS.get(f"{type(made).__module__}.{type(made).__qualname__}")
    return write(made) if write else (SKOPS, skops(made, plugins))


def load(name: str, data: bytes, plugins: tuple[str, ...] = (), numbers: bool = False) -> Any:
    """Read what `dump` wrote, of an estimator of `numbers` or of classes.

    Raises NotStoredError for types that are not allowed, and what the library raises.
    """
    if name == TEXT and numbers:
        return BoostedNumbers(_booster(data))
    return _READERS[name](data) if name in _READERS else load_skops(data, plugins)


def skops(made: object, plugins: tuple[str, ...] = ()) -> bytes:
    """Write an object by skops. Raises NotStoredError for what could not be read back."""
    if not has_skops():
        raise NotStoredError(f"a {type(made).__name__} is stored by skops: {INSTALL}")
    import skops.io

    try:
        data = bytes(skops.io.dumps(made))
        strange = _strange(skops.io.get_untrusted_types(data=data), plugins)
    except Exception as error:
        raise NotStoredError(f"skops cannot store this {type(made).__name__}: {error}") from error
    if strange:
        raise NotStoredError(f"a {type(made).__name__} holds what could not be read back safely: {', '.join(strange)}")
    return data


def load_skops(data: bytes, plugins: tuple[str, ...] = ()) -> Any:
    """Read a skops file. Raises NotStoredError for types that are not allowed."""
    if not has_skops():
        raise NotStoredError(f"the model is stored by skops, which is not installed: {INSTALL}")
    import skops.io

    untrusted = skops.io.get_untrusted_types(data=data)
    if strange := _strange(untrusted, plugins):
        raise NotStoredError(f"the file holds types that are not allowed: {', '.join(strange)}")
    return skops.io.loads(data, trusted=untrusted)


def _strange(types: Iterable[str], plugins: tuple[str, ...]) -> list[str]:
    return [name for name in types if name not in PLAIN_TYPES and not _of_allowed(name, plugins)]


def _of_allowed(name: str, plugins: tuple[str, ...]) -> bool:
    """Say whether a value is a class of an allowed package; functions and modules are not."""
    package, _, last = name.partition(".")[0], "", name.rpartition(".")[2]
    try:
        home_of(package, plugins)
    except NotAllowedError:
        return False
    return last.lstrip("_")[:1].isupper()


def _text_of(made: HoldsBooster) -> tuple[str, bytes]:
    return TEXT, made.booster_.model_to_string().encode()


def _json_of(made: Any) -> tuple[str, bytes]:
    return JSON, bytes(made.get_booster().save_raw("json"))


def _cbm_of(made: Any) -> tuple[str, bytes]:
    """Write a model in CatBoost's own format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / CBM
        made.save_model(str(path), format="cbm")
        return CBM, path.read_bytes()


class Boosted:
    """LightGBM's booster with the two questions that its classifier answers, in the same way."""

    def __init__(self, booster: Booster) -> None:
        self.booster_ = booster

    def predict_proba(self, X: object) -> Floats:
        """Class scores."""
        shares: Floats = np.asarray(self.booster_.predict(X))
        return np.vstack((1.0 - shares, shares)).transpose() if shares.ndim == 1 else shares

    def predict(self, X: object) -> Integers:
        """The class of the highest score."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)


class BoostedNumbers:
    """LightGBM's booster with the question that its regressor answers, in the same way."""

    def __init__(self, booster: Booster) -> None:
        self.booster_ = booster

    def predict(self, X: object) -> Floats:
        """The numbers."""
        return np.asarray(self.booster_.predict(X), np.float64)


def _booster(data: bytes) -> Booster:
    """Read a booster from LightGBM's text."""
    import lightgbm

    booster: Booster = lightgbm.Booster(model_str=data.decode())
    return booster


def _read_boosted(data: bytes) -> object:
    return Boosted(_booster(data))


def _xgboost(data: bytes) -> object:
    """Read a model of XGBoost's own format."""

    import xgboost

    made = xgboost.XGBClassifier(n_jobs=1)
    made.load_model(bytearray(data))
    return made


def _catboost(data: bytes) -> object:
    """Read a model of CatBoost's own format."""

    import catboost

    made = catboost.CatBoostClassifier()
    made.load_model(blob=data, format="cbm")
    return made


_WRITERS: Mapping[str, Callable[[Any], tuple[str, bytes]]] = {
    "lightgbm.sklearn.LGBMClassifier": _text_of,
    "lightgbm.sklearn.LGBMRegressor": _text_of,
    "modelsel.foreign.stored.Boosted": _text_of,
    "modelsel.foreign.stored.BoostedNumbers": _text_of,
    "xgboost.sklearn.XGBClassifier": _json_of,
    "xgboost.sklearn.XGBRFClassifier": _json_of,
    "catboost.core.CatBoostClassifier": _cbm_of,
}
_READERS: Mapping[str, Callable[[bytes], object]] = {TEXT: _read_boosted, JSON: _xgboost, CBM: _catboost}
