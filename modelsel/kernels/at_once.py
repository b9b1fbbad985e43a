"""Compile a kernel and its pieces in one go: only the kernel is optimised and made machine code.

Numba optimises each function, and makes machine code of it, when it is compiled; then again within each that calls it, and so
on upwards: a piece that is five calls deep is optimised six times, though nothing but the kernel is ever called from Python.
Here pieces are linked as they come from Numba's front end. LLVM's inliner goes from the innermost call outwards and simplifies
what it takes in, as it did piece by piece. It may not reorder sums in either way, so that answers are the same bits.

Meanwhile Python's cyclic garbage waits (a compiler makes millions of objects that refer to each other, few of them garbage),
and Numba compares its flags by what was set, not by forty attributes a time: it does so at every call that it types.

This leans on the inside of Numba, and is done under the versions whose inside is known; others compile in their own way.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig

from modelsel.core.system.memory import pause_garbage_collection

KNOWN = ("0.68.",)  # beginnings of Numba's versions under which the tests of this have passed


class Unmade(JITCodeLibrary):  # type: ignore[misc]
    """A function's code in LLVM's language, which is optimised and made machine code when an address in it is asked for."""

    environments: dict[str, object] = {}  # of functions that have no address yet, by name
    made = False

    def _optimize_functions(self, module: Any) -> None:
        """Leave it to the optimisation of the whole; what a module has to know is where data lie."""
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link what is called."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def make(self) -> None:
        """Optimise the whole, and make machine code of it."""
        self._ensure_finalized()
        if not self.made:
            self._codegen._check_llvm_bugs()
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        """Make machine code, and set the environments that were asked for before there was any."""
        self.made = True
        super()._finalize_final_module()
        for name in [each.name for each in self._final_module.global_variables]:
            if name in self.environments:
                self._codegen.set_env(name, self.environments.pop(name))

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0 for what is not there: the entry from Python, of a piece."""
        if not (self.made or self._has(name)):
            return 0
        self.make()
        return int(super().get_pointer_to_function(name))

    def _has(self, name: str) -> bool:
        """Say whether the library itself defines a function of this name."""
        try:
            return not self.get_function(name).is_declaration
        except NameError:
            return False

    def _get_compiled_object(self) -> bytes:
        self.make()
        return bytes(super()._get_compiled_object())

    @property
    def has_dynamic_globals(self) -> bool:
        """Say whether addresses of this process are in it, so that it cannot be kept."""
        self.make()
        return len(self._dynamic_globals) > 0


@contextmanager
def at_once() -> Iterator[None]:
    """Compile in this way, if Numba's version is known; no other thread compiles meanwhile."""
    if not numba.__version__.startswith(KNOWN):
        yield
        return
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock, pause_garbage_collection(), ExitStack() as stack:
        _set(stack, TargetConfig, "values", _values)
        _set(stack, TargetConfig, "__eq__", _same)
        _set(stack, codegen, "_library_class", Unmade)
        _set(stack, codegen, "set_env", partial(_set_env, codegen, codegen.set_env))
        yield


def _set(stack: ExitStack, owner: object, name: str, value: object) -> None:
    """Set an attribute until the stack is left."""
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _set_env(codegen: Any, set_env: Callable[[str, object], None], name: str, environment: object) -> None:
    """Tell a function its environment, now or when it is made."""
    if codegen._engine.is_symbol_defined(name):
        set_env(name, environment)
    else:
        Unmade.environments[name] = environment


def _values(self: Any) -> dict[str, object]:
    """As Numba's, without its properties."""
    own = self._values
    return {name: own.get(name, option.default) for name, option in self.options.items()}


def _same(self: Any, other: object) -> object:
    """As Numba's: two that were set alike need not be compared option by option."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    return self is other or bool(self._values == other._values) or bool(self.values() == other.values())
