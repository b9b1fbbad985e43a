"""Parameters of an estimator as plain data: which names it takes, which values are plain, what it is told beside them."""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache

from modelsel.core.fingerprint import canonical
from modelsel.foreign.allowed import NotAllowedError, class_of, near
from modelsel.foreign.interface import SklearnTransformer
from modelsel.foreign.libraries import LIBRARIES, SKLEARN, Library
from modelsel.foreign.optimum import is_logistic, settle_solver

SCALARS = (str, int, float, bool, type(None))


class Params(Mapping[str, object]):
    """Parameters by name, hashable, in the order of their names."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = {key: values[key] for key in sorted(values)}

    def __getitem__(self, key: str) -> object:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(canonical(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __repr__(self) -> str:
        return repr(self._values)


def is_plain(value: object) -> bool:
    """Say whether a value can be written to a file as plain data.

    >>> is_plain([1, {"a": None}]), is_plain(float("nan")), is_plain(object())
    (True, False, False)
    """
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    return isinstance(value, SCALARS) and value == value and value not in (float("inf"), float("-inf"))


def library_of(kind: type) -> Library:
    """The library of a class; scikit-learn's conventions where it is no known one."""
    return LIBRARIES.get(kind.__module__.partition(".")[0], SKLEARN)


@cache
def named_parameters(kind: type) -> frozenset[str]:
    """Parameters that the signature of a class names; those of its bases too, as far as it takes further ones for them."""
    names = set[str]()
    for cls in kind.__mro__[:-1]:
        if "__init__" in vars(cls):
            own = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]  # that of this very class
            names.update(one.name for one in own if one.kind not in _REST)
            if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in own):
                break
    names.update(kind._get_param_names() if hasattr(kind, "_get_param_names") else ())
    return frozenset(names - {"self"})


@cache
def takes_more(kind: type) -> bool:
    """Say whether a class takes keyword arguments that its signature does not name."""
    own = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]  # that of this very class
    return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in own)


def unknown_parameters(kind: type, params: Mapping[str, object]) -> Iterator[str]:
    """Parameters that the class does not take. Behind `**kwargs` a name passes, but for one that is nearly a known one."""
    known = named_parameters(kind) | _aliases(kind)
    for name in params:
        if name in known:
            continue
        meant = near(name, named_parameters(kind)) or near(name, known)
        if meant or not takes_more(kind) or _aliases(kind):
            yield f"{kind.__name__} has no parameter {name!r}{meant}"


def unwritable_parameters(params: Mapping[str, object]) -> Iterator[str]:
    """Parameters whose values are not plain."""
    for name, value in params.items():
        if not is_plain(value):
            yield f"parameter {name!r} is not a plain value (text, number, truth value, null, or a list or mapping of them)"


def settle_parameters(kind: type, params: Mapping[str, object], seed: int) -> dict[str, object]:
    """The parameters, and what the library is told beside them: one thread, a seed unless one is given, no chatter."""
    library = library_of(kind)
    told = dict(params)
    for setting in library.settings:
        given = [name for name in setting.names if name in told]
        if setting.forced:
            for name in given:
                del told[name]
        if setting.value is not None and (setting.forced or not given) and _takes(kind, setting.names[0]):
            told[setting.names[0]] = setting.value
    if "l1_ratio" in told and "penalty" not in told and _needs_penalty(kind):
        told["penalty"] = "elasticnet"
    told |= settle_solver(kind, told)
    if not any(name in told for name in library.seed) and _takes(kind, library.seed[0]):
        told[library.seed[0]] = seed
    return told


def _needs_penalty(kind: type) -> bool:
    """Up to scikit-learn 1.7 logistic regression reads `l1_ratio` only with `penalty=elasticnet`, a name that goes later."""
    if not is_logistic(kind):
        return False
    import sklearn

    return tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)


def _takes(kind: type, name: str) -> bool:
    return name in named_parameters(kind) or (library_of(kind).open_ended and takes_more(kind))


@cache
def _aliases(kind: type) -> frozenset[str]:
    """Every parameter name and alias that LightGBM knows; empty where its version has no such list."""
    if kind.__module__.partition(".")[0] != "lightgbm":
        return frozenset()
    try:
        from lightgbm.basic import _ConfigAliases

        return frozenset(name for names in _ConfigAliases._get_all_param_aliases().values() for name in names)
    except (ImportError, AttributeError):
        return frozenset()


_REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


# Transformers by name: a bare name is one of scikit-learn's own, a dotted one goes through the allow-list.


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
        raise NotAllowedError(f"{name} is not a transformer")
    if reads_a_series(kind) and not cross_fitted:
        raise NotAllowedError(f"{name} takes one column of a data frame: name the columns, as steps by columns of an estimator")
    if kind.__name__ in REFUSED and not (cross_fitted and kind.__name__ in CROSS_FITTED):
        raise NotAllowedError(f"{kind.__name__} as a step {REFUSED[kind.__name__]}")
    return kind


def reads_a_series(kind: object) -> bool:
    """Say whether a transformer takes one column of a data frame, as several of skrub's do."""
    return bool(getattr(kind, "__single_column_transformer__", False))


def transformer_problems(
    name: str, params: Mapping[str, object], plugins: tuple[str, ...] = (), cross_fitted: bool = False
) -> Iterator[str]:
    """Yield reasons why a step cannot be used, by itself."""
    try:
        kind = transformer_of(name, plugins, cross_fitted)
    except NotAllowedError as error:
        yield str(error)
        return
    wrong = [*unknown_parameters(kind, params), *unwritable_parameters(params)]
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
def _sklearn_transformers() -> Mapping[str, type]:
    from sklearn.utils import all_estimators

    return {name: kind for name, kind in all_estimators() if hasattr(kind, "transform")}  # vectorizers of texts too


def _own(name: str) -> type:
    if name not in _sklearn_transformers():
        raise NotAllowedError(f"scikit-learn has no transformer {name!r}{near(name, _sklearn_transformers())}")
    return _sklearn_transformers()[name]
