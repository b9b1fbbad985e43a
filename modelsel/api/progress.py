"""Choose how progress is shown: a bar in a notebook, elsewhere the same as on the terminal."""

import sys
from typing import Any, Self

from modelsel.core.protocols.surroundings import Progress
from modelsel.reporting.text import terminal
from modelsel.reporting.text.terminal import State


def progress() -> Progress:
    """A bar of the notebook where this runs in one, else that of the terminal."""
    return Notebook() if in_notebook() else terminal.progress()


def in_notebook() -> bool:
    """True inside a kernel that shows rich output; IPython on a terminal is a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class Notebook:
    """A bar of HTML that is brought up to date in its place, and taken away at the end."""

    def __init__(self) -> None:
        self.state = State()
        self.handle: Any = None

    def start(self, cells: int, candidates: int) -> None:
        self.state.start(cells, candidates)
        self._show()

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
        """Count finished cells, and draw the bar again when a whole percent is full."""
        before = int(self.state.share * 100)
        self.state.advance(cells, best, failures)
        if int(self.state.share * 100) != before:
            self._show()

    def say(self, message: str) -> None:
        print(message)  # noqa: T201  a notebook's own output

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.handle is not None:
            self.handle.update(_html(""))

    def _show(self) -> None:
        """Draw the bar, in the place of the one before."""

        from IPython.display import display

        state = self.state
        words = ", ".join(filter(None, (f"{state.done:,} of {state.cells:,} cells", state.words())))
        bar = _html(f"<div><progress max='{state.cells}' value='{state.done}'></progress> <small>{words}</small></div>")
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)
