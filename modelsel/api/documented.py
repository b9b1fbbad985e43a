"""Parameters that two functions share are told once, at the first of them, and put into the docstring of the other."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def documented_as(other: Callable[..., Any]) -> Callable[[Function], Function]:
    """Put the parameters of another function into a docstring that has none, before what it returns.

    >>> def first(x):
    ...     '''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     x : int
    ...         A number.
    ...
    ...     Returns
    ...     -------
    ...     int
    ...     '''
    >>> @documented_as(first)
    ... def second(x):
    ...     '''Do the same.
    ...
    ...     Returns
    ...     -------
    ...     str
    ...     '''
    >>> [line.strip() for line in second.__doc__.splitlines()[2:6]]
    ['Parameters', '----------', 'x : int', 'A number.']
    """

    def filled(function: Function) -> Function:
        if function.__doc__ and other.__doc__:  # `python -OO` has none
            told = other.__doc__[other.__doc__.index("Parameters\n") : other.__doc__.index("Returns\n")]
            function.__doc__ = function.__doc__.replace("Returns\n", f"{told}Returns\n", 1)
        return function

    return filled
