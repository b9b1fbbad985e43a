"""A function in the place of another one: it passes everything through as it came, and tells hooks of the call.

What a program can see of it is as little as Python allows. It is a function, of the same name, signature and attributes; it may
be pickled by value and read where modelsel is not, for its hooks are left behind; warnings that the other function raises at
its caller's line are raised there (`INTERNAL`). Whatever a hook raises is swallowed and counted, but for refusals.
"""

import functools
from collections.abc import Callable, Generator
from types import FunctionType
from typing import Any

from modelsel.core.errors import RefusedError

Story = Generator[None, Any, None]
Hook = Callable[[tuple[Any, ...], dict[str, Any]], Story]
INTERNAL = "<importlib._bootstrap of modelsel>"  # frames of such names are passed over where warnings look for the caller
REFUSALS = {"MSEL-840", "MSEL-841"}


class HookList(list[Any]):
    """The hooks of a function; pickled, there are none."""

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ()


def passing(function: FunctionType, hook: Hook, failed: Callable[[Exception], None]) -> tuple[FunctionType, list[Any]]:
    """A function that passes through, and the list of its hooks, to be emptied when nothing is watched any more."""
    hooks = HookList([functools.partial(Told, hook, failed)])

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        told = [one(args, kwargs) for one in hooks]
        try:
            made = function(*args, **kwargs)
        except BaseException:
            for one in told:
                one.left()
            raise
        for one in told:
            one.done(made)
        return made

    mine: Any = call
    mine.__code__ = mine.__code__.replace(co_filename=INTERNAL)
    return mine, hooks


class Told:
    """A call that a hook is told of: begun here, then `done` or `left`."""

    def __init__(self, hook: Hook, failed: Callable[[Exception], None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell of a call that begins."""
        self._failed = failed
        self._story: Story | None = None
        with Swallowing(failed):
            story = hook(args, kwargs)
            next(story)
            self._story = story

    def done(self, made: object) -> None:
        """Tell what the call returned."""
        if self._story is not None:
            with Swallowing(self._failed):
                try:
                    self._story.send(made)
                except StopIteration:
                    return

    def left(self) -> None:
        """Tell that the call raised."""
        if self._story is not None:
            with Swallowing(self._failed):
                self._story.close()


class Swallowing:
    """Whatever fails is counted and goes no further; refusals do."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        """Say what is to be told of failures."""
        self._failed = failed

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        """Swallow what is no refusal, and nothing that ends a process."""
        if not isinstance(error, Exception) or is_refusal(error):
            return False
        self._failed(error)
        return True


def is_refusal(error: BaseException) -> bool:
    """Say whether an error is a refusal of code that is watched."""
    return isinstance(error, RefusedError) and any(problem.code in REFUSALS for problem in error.problems)
