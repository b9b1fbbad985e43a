"""A progress that nobody is shown."""

from typing import Self


class NullProgress:
    """A progress that says nothing."""

    def start(self, cells: int, candidates: int) -> None: ...

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None: ...

    def say(self, message: str) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None: ...


QUIET = NullProgress()
