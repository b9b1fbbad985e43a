"""The identity of an object that somebody made in Python: equal wherever the object says and does the same.

    plain values      themselves, with their types (1 is not 1.0); arrays by type, shape and bytes; mappings and sets in any
                      order
    of a distribution a class, function or module by its name, and the distribution with its version
    one's own code    the syntax tree of its source without docstrings, comments and layout, its defaults, what it closes
                      over, and the globals that it reads; the bytecode where there is no source, or where the source is no
                      longer what runs
    an estimator      its class and its parameters; anything else its class and what a copy is made from (`__reduce_ex__`)

It depends neither on the process, nor on `PYTHONHASHSEED`, nor on the cell or file in which the code stands. A digest of a
pickle would: it differs between processes of the same program.
"""

import ast
import copyreg
import dis
import functools
import hashlib
import inspect
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from modelsel.foreign.libraries import LIBRARIES

SIZE = 32  # hexadecimal characters
DEEPEST = 200
OPTIMISED = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
UNSAID = frozenset((  # of a class: where and how it was made, not what it does
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__",
    "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__parameters__", "__orig_bases__",
    "__abstractmethods__", "_abc_impl", "_sklearn_auto_wrap_output_keys", "__classcell__", "__classdictcell__",
    "__match_args__", "__dataclass_fields__", "__dataclass_params__", "__type_params__",
))  # fmt: skip


class NoIdentityError(ValueError):
    """The object has no identity: two of its kind cannot be compared."""


def identity(value: object) -> str:
    """The digest of a value. Raises NoIdentityError.

    >>> identity({"a": 1, "b": {2.0, 3.0}}) == identity({"b": {3.0, 2.0}, "a": 1})
    True
    >>> identity(1) == identity(1.0)
    False
    """
    return hashlib.sha256(_Reader().text_of(value).encode()).hexdigest()[:SIZE]


def sources(value: object) -> tuple[str, ...]:
    """The distributions, with their versions, that an object's code comes from; one's own code is not among them.

    >>> [each.split()[0] for each in sources(len)]
    ['python']
    """
    reader = _Reader()
    reader.text_of(value)
    return tuple(sorted(reader.origins))


class _Reader:
    """One pass over an object. What refers to itself is said by its name where it is met again within itself."""

    def __init__(self) -> None:
        """Nothing was met yet."""
        self.within: dict[int, str] = {}
        self.known: dict[int, str] = {}
        self.kept: list[object] = []  # an id is that of one object for as long as the object lives
        self.origins: set[str] = set()

    def text_of(self, value: object) -> str:
        """The value as a text: short, and equal for equal values."""
        if value is None or value is Ellipsis or value is NotImplemented:
            return repr(value)
        for kind in _PLAIN:
            if type(value) is kind:
                return f"{kind.__name__}:{value!r}"
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        place = id(value)
        if place in self.within:
            return f"itself:{self.within[place]}"
        if place not in self.known:
            if len(self.within) > DEEPEST:
                raise NoIdentityError(f"a {type(value).__name__} is nested more than {DEEPEST} deep")
            self.within[place] = str(getattr(value, "__qualname__", type(value).__qualname__))
            try:
                text = self._compound(value)
            finally:
                del self.within[place]
            self.known[place] = hashlib.sha256(text.encode()).hexdigest()[:SIZE]
            self.kept.append(value)
        return self.known[place]

    def _compound(self, value: object) -> str:
        """Anything that is made of parts."""
        for kind, way in _WAYS:
            if isinstance(value, kind):
                return f"{kind.__name__}({way(self, value)})"
        if hasattr(value, "get_params") and not inspect.isclass(value):
            return f"estimator({self.text_of(type(value))},{self.text_of(value.get_params(deep=False))})"
        return self._text_of_copy(value)

    def _array(self, value: object) -> str:
        """An array by type, shape and bytes; of objects by each of them."""
        array = np.asarray(value)
        if array.dtype.hasobject:
            return f"array:{array.shape}:[{','.join(self.text_of(one) for one in array.ravel().tolist())}]"
        return f"array:{array.dtype.str}{array.shape}:{hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"

    def _row(self, values: Any) -> str:
        return f"{self._subclass(values, (tuple, list))}{','.join(self.text_of(one) for one in values)}"

    def _mapping(self, values: Mapping[object, object]) -> str:
        each = sorted(((self.text_of(key), value) for key, value in values.items()), key=lambda pair: pair[0])
        return self._subclass(values, (dict,)) + ",".join(f"{key}={self.text_of(value)}" for key, value in each)

    def _text_of_set(self, values: Any) -> str:
        return ",".join(sorted(map(self.text_of, values)))

    def _subclass(self, value: object, kinds: tuple[object, ...]) -> str:
        return "" if type(value) in kinds else f"{self.text_of(type(value))}:"

    def _partial(self, value: Any) -> str:
        return ",".join(map(self.text_of, (value.func, value.args, value.keywords)))

    def _method(self, value: Any) -> str:
        return f"{value.__name__},{self.text_of(value.__self__)}"

    def _builtin(self, value: Any) -> str:
        """A function of C, bound or not."""
        owner = getattr(value, "__self__", None)
        if owner is not None and not inspect.ismodule(owner):
            return f"{value.__name__},{self.text_of(owner)}"
        return self._text_of_name(value, f"{value.__module__}.{value.__qualname__}")

    def _ufunc(self, value: Any) -> str:
        """A function of NumPy or SciPy on arrays, by the name under which it is found."""
        own = str(value.__name__)
        for name in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(name), own, None) is value:
                self.origins.add(origin_of(name))
                return f"{name}.{own} of {origin_of(name)}"
        raise NoIdentityError(f"the ufunc {own} cannot be told from others of its kind")

    def _module(self, value: Any) -> str:
        """A module of a distribution by its name, one's own by all of its text."""
        origin = origin_of(value.__name__)
        if origin:
            self.origins.add(origin)
            return f"{value.__name__} of {origin}"
        file = getattr(value, "__file__", None)
        if file is None or not file.endswith(".py"):
            return str(value.__name__)
        return _tree(_parse_source(Path(file).read_text("utf-8")))

    def _class(self, value: Any) -> str:
        """A class of a distribution by its name; one's own by what stands in it, and what it is derived from."""
        if origin_of(value.__module__):
            return self._text_of_name(value, f"{value.__module__}.{value.__qualname__}")
        stated = {name: one for name, one in vars(value).items() if name not in UNSAID and not _made_by_scikit_learn(name, one)}
        members = ",".join(f"{name}={self.text_of(stated[name])}" for name in sorted(stated))
        return f"own {value.__qualname__}:{','.join(self.text_of(base) for base in value.__bases__)}:{members}"

    def _text_of_name(self, value: object, name: str) -> str:
        """A name, and the distribution that it is of."""
        origin = origin_of(str(value.__module__))
        if origin:
            self.origins.add(origin)
        return f"{name} of {origin}"

    def _function(self, value: Any) -> str:
        """A function of a distribution by its name; one's own by its code and by what that reads."""
        if origin_of(str(value.__module__)) and "<" not in value.__qualname__:
            return self._text_of_name(value, f"{value.__module__}.{value.__qualname__}")
        code = value.__code__
        cells = [_content(cell) for cell in value.__closure__ or ()]
        parts = (value.__defaults__, value.__kwdefaults__, dict(zip(code.co_freevars, cells, strict=True)))
        around = self._globals(value)
        return f"{_code(code)},{','.join(map(self.text_of, parts))},{around}"

    def _globals(self, function: Any) -> str:
        """Yield the globals that the code reads; of an imported module of one's own only the names that it uses."""
        found = {}
        for path in _read_globally(function.__code__):
            value = function.__globals__.get(path[0], _MISSING)
            if value is _MISSING:
                continue  # a builtin, or a name that does not exist yet
            taken = [path[0]]
            for name in path[1:]:
                if not (inspect.ismodule(value) and not origin_of(value.__name__) and hasattr(value, name)):
                    break
                value, taken = getattr(value, name), [*taken, name]
            found[".".join(taken)] = value
        return ",".join(f"{name}={self.text_of(found[name])}" for name in sorted(found))

    def _descriptor(self, value: Any) -> str:
        return self.text_of(value.__func__)

    def _property(self, value: Any) -> str:
        return ",".join(map(self.text_of, (value.fget, value.fset, value.fdel)))

    def _text_of_copy(self, value: Any) -> str:
        """Anything else by what a copy of it is made from."""
        if inspect.isdatadescriptor(value) and hasattr(value, "__objclass__"):
            return f"slot {getattr(value, '__name__', '')}"
        if all(hasattr(value, name) for name in ("dist", "args", "kwds", "rvs")):  # a distribution of SciPy with its parameters
            return ",".join(map(self.text_of, (type(value.dist), value.dist.name, value.args, value.kwds)))
        try:
            own = copyreg.dispatch_table.get(type(value))
            made = own(value) if own else value.__reduce_ex__(4)
        except Exception as error:
            raise NoIdentityError(f"a {type(value).__name__} cannot be told from others of its kind ({error})") from error
        if isinstance(made, str):
            return self._text_of_name(value, made) if hasattr(value, "__module__") else f"{self.text_of(type(value))}.{made}"
        maker, arguments, *rest = made
        state, items, pairs = [*rest, None, None, None][:3]
        texts = (*map(self.text_of, (maker, arguments, state)), _text_of_items(self, items), _text_of_items(self, pairs))
        return f"made({','.join(texts)})"


def _text_of_items(reader: _Reader, values: Any) -> str:
    return "" if values is None else ",".join(reader.text_of(one) for one in values)


_MISSING = object()
_PARSING = Lock()
_PLAIN = (bool, int, float, complex, str, bytes)
_WAYS: tuple[tuple[Any, Callable[[_Reader, Any], str]], ...] = (
    (type, _Reader._class),
    (types.ModuleType, _Reader._module),
    (np.ufunc, _Reader._ufunc),
    (functools.partial, _Reader._partial),
    (types.FunctionType, _Reader._function),
    (types.MethodType, _Reader._method),
    (types.BuiltinFunctionType, _Reader._builtin),
    (staticmethod, _Reader._descriptor),
    (classmethod, _Reader._descriptor),
    (property, _Reader._property),
    (dict, _Reader._mapping),
    (tuple, _Reader._row),
    (list, _Reader._row),
    (set, _Reader._text_of_set),
    (frozenset, _Reader._text_of_set),
)


def _content(cell: Any) -> object:
    """What a closure holds; None for a name that is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None


def _made_by_scikit_learn(name: str, value: object) -> bool:
    """`set_fit_request` and its like are made anew in every class, from the signatures that are read anyway."""
    return name.startswith("set_") and name.endswith("_request") and type(value).__name__ == "RequestMethod"


# Where code comes from: a distribution with its version, or nobody's.


@cache
def origin_of(module: str) -> str:
    """The distribution of a module, with its version; empty for one's own code: `__main__`, a folder, an editable installation.

    >>> origin_of("json").split()[0], origin_of("numpy.linalg").split()[0], origin_of("__main__")
    ('python', 'numpy', '')
    """
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return f"python {sys.version_info.major}.{sys.version_info.minor}" if top != "__main__" else ""
    if top == "__main__" or not _is_installed(top):
        return ""
    known = LIBRARIES[top].distributions if top in LIBRARIES else (top,)
    for name in known:  # the list of all packages takes seconds where there are many
        with suppress(metadata.PackageNotFoundError):
            return f"{name} {metadata.version(name)}"
    names = metadata.packages_distributions().get(top, ())
    return f"{names[0]} {metadata.version(names[0])}" if names else ""


def _is_installed(top: str) -> bool:
    """Say whether a package is installed as a copy, and not linked to a folder that is edited."""
    found = sys.modules.get(top)
    file = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ())), None)
    if file is None:
        return False
    here = Path(file).resolve()
    folders = {Path(each).resolve() for each in (*map(sysconfig.get_path, ("purelib", "platlib")), *_sites())}
    return any(here.is_relative_to(folder) for folder in folders)


def _sites() -> Iterator[str]:
    yield from (place for place in sys.path if Path(place).name in ("site-packages", "dist-packages"))


# Code as text: the syntax tree where the source is what runs, else the bytecode.


def _code(code: types.CodeType) -> str:
    node = _node_of(code)
    return f"tree:{_tree(node)}" if node is not None else f"bytes:{_bytecode(code)}"


def _tree(node: ast.AST) -> str:
    """The syntax tree as a digest, without places."""
    return hashlib.sha256(ast.dump(node, include_attributes=False).encode()).hexdigest()[:SIZE]


def _node_of(code: types.CodeType) -> ast.AST | None:
    """The node of the function whose code this is; None where there is no source, or where it was edited since it was read."""
    try:
        lines, _ = inspect.findsource(code)
        text = "".join(lines)
        codes, nodes = _source(text, code.co_filename)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None
    alike = codes.get(_place(code), [])
    if len(alike) != 1 or _bytecode(alike[0]) != _bytecode(code):
        return None
    found = nodes.get(_place(code), [])
    return found[0] if len(found) == 1 else None


Place = tuple[int, str]  # the line at which it begins, and its name


@lru_cache(maxsize=16)  # the functions of one file are asked about one after the other, and again for each candidate
def _source(text: str, name: str) -> tuple[dict[Place, list[types.CodeType]], dict[Place, list[ast.AST]]]:
    """Code and syntax tree of all that a source names, by place."""
    codes: dict[Place, list[types.CodeType]] = {}
    for code in _codes(compile(text, name, "exec", dont_inherit=True)):
        codes.setdefault(_place(code), []).append(code)
    nodes: dict[Place, list[ast.AST]] = {}
    for node in ast.walk(_parse_source(text)):
        if called := _name_of_call(node):
            nodes.setdefault((_starts(node), called), []).append(node)
    return codes, nodes


def _parse_source(text: str) -> ast.Module:
    """The syntax tree of a source without docstrings. CPython makes them one at a time: two threads lose count of the depth."""
    with _PARSING:
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                node.body = node.body[1:]
    return tree


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all that stands inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _place(code: types.CodeType) -> Place:
    return code.co_firstlineno, code.co_name


def _starts(node: ast.AST) -> int:
    """The line at which a function's code begins: that of its first decorator, where it has some."""
    decorators = getattr(node, "decorator_list", None) or [node]
    return int(getattr(decorators[0], "lineno", 0))


def _name_of_call(node: ast.AST) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else str(getattr(node, "name", ""))


def _bytecode(code: types.CodeType) -> str:
    """Instructions, names and constants, without places; the docstring is no constant that counts."""
    constants = [_constant(one) for one in code.co_consts]
    if code.co_flags & OPTIMISED == OPTIMISED and constants and isinstance(code.co_consts[0], str):
        constants[0] = "docstring" if _has_docstring(code) else constants[0]
    said = (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, tuple(constants),
            code.co_argcount, code.co_kwonlyargcount, code.co_flags & ~inspect.CO_NESTED, sys.version_info[:2])  # fmt: skip
    return hashlib.sha256(repr(said).encode()).hexdigest()[:SIZE]


def _has_docstring(code: types.CodeType) -> bool:
    """Say whether the first constant is a docstring: no instruction loads it."""
    return all(one.arg != 0 for one in dis.get_instructions(code) if one.opname in ("LOAD_CONST", "RETURN_CONST"))


def _constant(value: object) -> str:
    """A constant of a code, in an order that no hash decides."""
    if isinstance(value, types.CodeType):
        return _bytecode(value)
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_constant, value))})"
    if isinstance(value, tuple):
        return f"({','.join(map(_constant, value))})"
    return f"{type(value).__name__}:{value!r}"


def _read_globally(code: types.CodeType) -> list[tuple[str, ...]]:
    """The globals that a function reads, inner functions included, each with the attributes that it goes on to by name."""
    found: list[tuple[str, ...]] = []
    for one in _codes(code):
        going: list[str] = []
        for instruction in dis.get_instructions(one):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found += [tuple(going)] if going else []
                going = [str(instruction.argval)]
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and going:
                going.append(str(instruction.argval))
            elif instruction.opname not in ("CACHE", "PUSH_NULL", "PRECALL", "EXTENDED_ARG"):
                found += [tuple(going)] if going else []
                going = []
        found += [tuple(going)] if going else []
    return sorted(set(found))
