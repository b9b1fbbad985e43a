"""Watching from the start of a process: by a context, or by a hook of a virtual environment in every process of it.

Standard library only, so that a process that never loads scikit-learn pays nothing but this file: the hooks are put in place
when scikit-learn (or a library with predictions of its own) has been loaded.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

FIRST = "sklearn.base"
AWAITED = (FIRST, "lightgbm", "xgboost", "catboost")


class Watching:
    """The state of watching in this process: nothing is watched, or everything between the first `begin` and the last `end`."""

    def __init__(self) -> None:
        """Start with nothing watched."""
        self.watch: Any = None  # a Watch: its module is loaded when there is something to watch
        self.labels: dict[str, Any] = {}  # of the sets that `modelsel.watch` was given with labels: in memory, and nowhere else
        self.depth = 0
        self._lock = threading.RLock()
        self._hooks: Any = None
        self._notice: LoadNotice | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_in_fork)

    def begin(self, strict: bool = False) -> Any:
        """Watch from now on; a further beginning goes on with the same."""
        from modelsel_watch.session import Watch

        with self._lock:
            self.depth += 1
            if self.watch is None:
                self.watch = Watch(strict, labels=self.labels)
                self._notice = LoadNotice(AWAITED, self._put_hooks_into)
                sys.meta_path.insert(0, self._notice)
                try:
                    self._place()
                except BaseException:
                    self.end()
                    raise
            self.watch.strict = self.watch.strict or strict
            return self.watch

    def end(self) -> None:
        """End what one `begin` began; with the last one all hooks are taken away."""
        with self._lock:
            self.depth -= 1
            if self.depth == 0:
                if self._hooks is not None:
                    self._hooks.remove()
                if self._notice in sys.meta_path:
                    sys.meta_path.remove(self._notice)
                self.watch = self._hooks = self._notice = None

    def await_libraries(self, strict: bool) -> None:
        """Begin when one of the libraries is loaded: the start of a process of a watched environment."""
        with self._lock:
            self._notice = LoadNotice(AWAITED, lambda _: self._first(strict))
            sys.meta_path.insert(0, self._notice)

    def _begin_in_fork(self) -> None:
        """Begin anew in a forked process, where no other thread is left that could give a lock back."""
        self._lock = threading.RLock()
        if self.watch is not None:
            self.watch.forked()

    def _first(self, strict: bool) -> None:
        if self._notice in sys.meta_path:
            sys.meta_path.remove(self._notice)
        self.begin(strict)

    def _place(self) -> None:
        """Put hooks in place, as far as there are libraries to put them into."""
        from modelsel_watch.hooks import Hooks

        if self.watch is not None and FIRST in sys.modules:
            self._hooks = Hooks(self.watch)
            self._hooks.place()

    def _put_hooks_into(self, name: str) -> None:
        """Put hooks into a library that has just been loaded."""
        with self._lock:
            if self._hooks is None:
                self._place()
            elif name != FIRST:
                self._hooks.place_native()


class LoadNotice(importlib.abc.MetaPathFinder):
    """A finder that finds nothing by itself, and tells when one of some modules has been loaded."""

    def __init__(self, names: Sequence[str], tell: Callable[[str], None]) -> None:
        self._names = frozenset(names)
        self._tell = tell
        self._asked = threading.local()

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Find an awaited module as everybody else would, with a loader that tells of it."""
        if name not in self._names or getattr(self._asked, "now", False):
            return None
        self._asked.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asked.now = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, lambda: self._tell(name))
        return spec


class _Telling(importlib.abc.Loader):
    """A loader that tells when its module is there."""

    def __init__(self, loader: importlib.abc.Loader, tell: Callable[[], None]) -> None:
        self._loader = loader
        self._told = tell

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Load the module as its own loader does, then tell."""
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            self._told()
        except Exception as error:  # the library is there, and its importer goes on
            sys.stderr.write(f"modelsel: not watched: {error}\n")

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


WATCHING = Watching()


def begin(strict: bool) -> None:
    """Begin in a process of a watched environment; whatever fails is said, and stops no process."""
    try:
        WATCHING.await_libraries(strict)
    except Exception as error:
        sys.stderr.write(f"modelsel: not watched: {error}\n")
