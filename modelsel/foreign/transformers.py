"""Transformers by name: a bare name is one of scikit-learn's own, a dotted one goes through the allow-list."""

from collections.abc import Iterator, Mapping
from functools import cache

from modelsel.foreign.allowed import NotAllowedError, class_of, near
from modelsel.foreign.interface import SklearnTransformer
from modelsel.foreign.parameters import settle_parameters, unknown, unsaid

UNSEEN: Mapping[str, Mapping[str, object]] = {  # a level that the analysis rows do not have must not end a fold
    "OneHotEncoder": {"handle_unknown": "ignore"},
    "OrdinalEncoder": {"handle_unknown": "use_encoded_value", "unknown_value": -1},
}

REFUSED: Mapping[str, str] = {
    "TargetEncoder": "would see each analysis row's own class: use encoding=target",
    "TableVectorizer": "holds functions once it is fitted, which cannot be stored: name its transformers by kind of column",
}


CROSS_FITTED = ("TargetEncoder",)  # where `fit_transform` makes the analysis rows, they do not see their own class


@cache
def transformer_of(name: str, plugins: tuple[str, ...] = (), cross_fitted: bool = False) -> type:
    """The class of a transformer; `cross_fitted`: the rows of the fit are made by `fit_transform`. Raises NotAllowedError.

    >>> transformer_of("StandardScaler").__module__
    'sklearn.preprocessing._data'
    """
    kind = class_of(name, plugins) if "." in name else _own(name)
    if hasattr(kind, "fit_resample"):
        raise NotAllowedError(f"{name} draws rows, and a step changes columns only")
    if not hasattr(kind, "transform"):
        raise NotAllowedError(f"{name} is no transformer")
    if reads_a_series(kind) and not cross_fitted:
        raise NotAllowedError(f"{name} takes one column of a data frame: name the columns, as steps by columns of an estimator")
    if kind.__name__ in REFUSED and not (cross_fitted and kind.__name__ in CROSS_FITTED):
        raise NotAllowedError(f"{kind.__name__} as a step {REFUSED[kind.__name__]}")
    return kind


def reads_a_series(kind: object) -> bool:
    """Say whether a transformer takes one column of a data frame, as several of skrub's do."""
    return bool(getattr(kind, "__single_column_transformer__", False))


def problems(
    name: str, params: Mapping[str, object], plugins: tuple[str, ...] = (), cross_fitted: bool = False
) -> Iterator[str]:
    """Yield reasons why a step cannot be used, by itself."""
    try:
        kind = transformer_of(name, plugins, cross_fitted)
    except NotAllowedError as error:
        yield str(error)
        return
    wrong = [*unknown(kind, params), *unsaid(params)]
    yield from wrong
    if wrong:
        return
    try:
        make_transformer(name, params, 0, plugins, cross_fitted)
    except Exception as error:
        yield f"{name} cannot be made from plain values: {error}"


def make_transformer(
    name: str, params: Mapping[str, object], seed: int, plugins: tuple[str, ...] = (), cross_fitted: bool = False
) -> SklearnTransformer:
    """An unfitted transformer; encoders are told what to do with levels not seen before, unless the parameters say it."""
    kind = transformer_of(name, plugins, cross_fitted)
    made: SklearnTransformer = kind(**settle_parameters(kind, {**UNSEEN.get(kind.__name__, {}), **params}, seed))
    return made


@cache
def _known() -> Mapping[str, type]:
    from sklearn.utils import all_estimators

    return {name: kind for name, kind in all_estimators() if hasattr(kind, "transform")}  # vectorizers of texts too


def _own(name: str) -> type:
    if name not in _known():
        raise NotAllowedError(f"scikit-learn has no transformer {name!r}{near(name, _known())}")
    return _known()[name]
