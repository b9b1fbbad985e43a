"""Parameters of an estimator as plain data: which names it takes, which values are plain, what it is told beside them."""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache

from modelsel.core.fingerprint import canonical
from modelsel.foreign.allowed import near
from modelsel.foreign.libraries import LIBRARIES, SKLEARN, Library

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


def unknown(kind: type, params: Mapping[str, object]) -> Iterator[str]:
    """Parameters that the class does not take. Behind `**kwargs` a name passes, but for one that is nearly a known one."""
    known = named_parameters(kind) | _aliases(kind)
    for name in params:
        if name in known:
            continue
        meant = near(name, named_parameters(kind)) or near(name, known)
        if meant or not takes_more(kind) or _aliases(kind):
            yield f"{kind.__name__} has no parameter {name!r}{meant}"


def unsaid(params: Mapping[str, object]) -> Iterator[str]:
    """Parameters whose values are not plain."""
    for name, value in params.items():
        if not is_plain(value):
            yield f"parameter {name!r} is no plain value (text, number, truth value, null, or a list or mapping of them)"


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
    if not any(name in told for name in library.seed) and _takes(kind, library.seed[0]):
        told[library.seed[0]] = seed
    return told


def _needs_penalty(kind: type) -> bool:
    """Up to scikit-learn 1.7 logistic regression reads `l1_ratio` only with `penalty=elasticnet`, a name that goes later."""
    if kind.__name__ != "LogisticRegression":
        return False
    import sklearn

    return tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)


def _takes(kind: type, name: str) -> bool:
    return name in named_parameters(kind) or (library_of(kind).open_ended and takes_more(kind))


@cache
def _aliases(kind: type) -> frozenset[str]:
    """Every name that LightGBM knows, so that a misspelt one is found; empty where there is no such list."""
    if kind.__module__.partition(".")[0] != "lightgbm":
        return frozenset()
    try:
        from lightgbm.basic import _ConfigAliases

        return frozenset(name for names in _ConfigAliases._get_all_param_aliases().values() for name in names)
    except (ImportError, AttributeError):
        return frozenset()


_REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
