"""`modelsel.run` and `modelsel.plan`: a study on overrides, on settings by keyword, on data in memory."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from modelsel.api import content
from modelsel.api.commands.settle import compose_surely, settle, write_settings
from modelsel.api.commands.table_words import is_table
from modelsel.api.outcome import Outcome
from modelsel.config.compose import Config, compose, recompose
from modelsel.config.dataset_file import is_dataset_file, lines_of
from modelsel.config.overrides import ROLES
from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.surroundings import Progress
from modelsel.core.system.requirements import requirements
from modelsel.dataset.files import tell_progress
from modelsel.dataset.in_memory import OF_A_TASK, MemoryTable, UnreadColumnsError, take_table
from modelsel.dataset.memory import NAME
from modelsel.dataset.read_table import kind_of_file
from modelsel.dataset.untyped import UntypedTable, hold
from modelsel.record.folder import RunFolder
from modelsel.reporting import terminal
from modelsel.reporting.forecast import Forecast, forecast
from modelsel.reporting.terminal import State

# Parameters that two functions share are told once, at the first of them, and put into the docstring of the other.

Function = TypeVar("Function", bound=Callable[..., Any])
WRITE = """\
    write : str or Path, optional
        All that is sure of a file's table is said first, and written there with what is left to decide: `run("t.yaml")` takes
        it.
"""


def documented_as(other: Callable[..., object], own: str = "") -> Callable[[Function], Function]:
    """Put the parameters of another function into a docstring that has none; `own` ones stand before its `**settings`.

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
            told = told.replace("    **settings\n", f"{own}    **settings\n")
            function.__doc__ = function.__doc__.replace("Returns\n", f"{told}Returns\n", 1)
        return function

    return filled


def run(
    *overrides: object, data: object = None, target: object = None, weights: object = None, groups: object = None,
    unit: object = None, id: object = None, config: str | Path | None = None, config_dir: str | None = None, **settings: object,
) -> Outcome:  # fmt: skip
    """Run a study, and return what it found.

    The test rows are sealed before anything is fitted; every candidate is on record.

    Parameters
    ----------
    *overrides : str
        As on the command line (`"space=trees"`, `"scheme.folds=5"`); the first may be the data, a table or the path of a file.
    data : table, array, tuple, Task, str or Path, optional
        A pandas, Polars or PyArrow table, a NumPy array, `(X, y)`, a `Task`, or the path of a file. Without it `dataset` says.
    target, weights, groups, unit, id : str or array-like, optional
        Names of columns, or arrays with an entry per row.
    config : str or Path, optional
        A recorded run to repeat: its folder, study or id. Another table than its own is refused, and it is said what changed.
    config_dir : str, optional
        A `conf/` of one's own, searched before the package's.
    **settings
        Groups and settings by keyword: `space=["trees", "knn"]`, `space={"mine": {"learner": "cart", "sweep": {"max_depth":
        [1, 2]}}}`, `scheme={"kind": "stratified_kfold", "folds": 5}`, `rule="one_standard_error"`, `final_test=False`.

    Returns
    -------
    Outcome
        The winner, the test, data frames, the final model.

    Raises
    ------
    ModelselError
        With `code`, `exit_code` and all problems at once. A look that the guard refuses is none: `outcome.test.refused`.
    KeyboardInterrupt
        What is finished stays: the same call goes on where it was interrupted.

    Examples
    --------
    >>> import modelsel
    >>> outcome = modelsel.run("dataset=play_tennis", learner="table", split="none", tracking="off")
    >>> len(outcome.leaderboard)
    1
    """
    composed, table = _compose(overrides, data, _roles(target, weights, groups, unit, id), config, config_dir, settings)
    return _perform(composed, table, _command(overrides))


def _perform(config: Config, table: UntypedTable | None, command: tuple[str, ...]) -> Outcome:
    """Perform a study and return its outcome; a table in memory is kept beside the record."""
    with requirements():
        from modelsel.study.perform import perform

    shown = progress()
    try:
        done = perform(config, shown, command)
    except KeyboardInterrupt as error:
        error.add_note("interrupted; the same call goes on where it stopped")
        raise
    folder = RunFolder.open(done.folder)
    if table is not None:
        content.keep(folder, table, str(getattr(config.dataset, "target", "")))
    return Outcome.at(folder, table)


@documented_as(run, WRITE)
def plan(
    *overrides: object, data: object = None, target: object = None, weights: object = None, groups: object = None,
    unit: object = None, id: object = None, config: str | Path | None = None, config_dir: str | None = None,
    write: str | Path | None = None, **settings: object,
) -> Forecast:  # fmt: skip
    """Tell what `run` would do with the same arguments, and what it would cost.

    Nothing is fitted or opened.

    Returns
    -------
    Forecast
        Candidates, fits, seconds, memory, the price of a look, and `findings` about the data and the plan.

    Raises
    ------
    ModelselError
        As `run` does.

    Examples
    --------
    >>> import modelsel
    >>> modelsel.plan("dataset=play_tennis", space="naive_bayes").cells > 1
    True
    """
    roles = _roles(target, weights, groups, unit, id)

    def composed_with(more: Sequence[str]) -> tuple[Config, UntypedTable | None]:
        return _compose((*overrides, *more), data, roles, config, config_dir, settings)

    reasons: dict[str, str] = {}
    if write is None:
        composed, _table = composed_with(())
    else:
        (composed, _table), reasons = compose_surely(composed_with)
    shown = progress()
    for note in composed.notes:
        shown.say(note)
    with tell_progress(shown.say):
        if write is not None:
            settled = settle(composed, reasons)
            shown.say(write_settings(settled, write, "modelsel.plan"))
            if settled.error is not None:
                raise settled.error
            composed = settled.config
        return forecast(composed)


def open_run(
    run: str | Path = "latest",
    data: object = None,
    target: object = None,
    weights: object = None,
    groups: object = None,
    unit: object = None,
    id: object = None,
) -> Outcome:
    """Open the outcome of a run on disk.

    For a study on data in memory, the same table handed over again is what `open_test`, recipes and `candidate(id).fit()` need.

    Parameters
    ----------
    run : str or Path
        A folder, `latest`, a study's name (its newest run) or an MLflow run id.
    data : table, array or tuple, optional
        The table of a study on data in memory, as `run` was given it.
    target, weights, groups, unit, id : str or array-like, optional
        Its roles, as `run` was given them.

    Returns
    -------
    Outcome
        What the study found.

    Raises
    ------
    ConfigurationError
        Where there is no such run.
    DataError
        Where the table is another one; it says what changed.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.open_run(outcome.folder).winner == outcome.winner
    True
    """
    folder = RunFolder.open(run)
    folder.outcome()
    if data is None:
        return Outcome.at(folder)
    table = hold(take_table(data, **_roles(target, weights, groups, unit, id)).table)
    content.check_same_table(folder, table)
    return Outcome.at(folder, table)


def run_on_all(table: UntypedTable, settings: Mapping[str, object]) -> Outcome:
    """A study on a task that is made already; no rows are sealed."""
    held = hold(table)
    dataset = {"kind": NAME, "content": held.content, "target": OF_A_TASK}
    return _perform(compose((), None, {"split": "none", "dataset": dataset, **settings}), held, ("modelsel.SelectionCV",))


def _compose(
    overrides: Sequence[object], data: object, roles: Mapping[str, object], config: str | Path | None, config_dir: str | None,
    settings: dict[str, object],
) -> tuple[Config, UntypedTable | None]:  # fmt: skip
    """Compose a study from overrides, data and keywords; the second value is the table in memory, if it was one."""
    words, data = _split_overrides(overrides, data)
    if isinstance(data, str | Path) and "target" not in roles and words and "=" not in words[0]:
        roles = {**roles, "target": words.pop(0)}
    if config is not None:
        return _run_again(config, words, data, roles, config_dir, settings)
    if data is None:
        return compose(words, config_dir, _with(settings, roles)), None
    if isinstance(data, str | Path):
        return compose(words, config_dir, _with(settings, {"kind": kind_of_file(data), "path": str(data), **roles})), None
    try:
        taken = take_table(data, **roles)
    except UnreadColumnsError as error:
        also = _problems_of(error.rest, words, config_dir, settings) if error.rest else ()
        raise DataError(*error.problems, *also) from None
    composed, table = _on(taken, words, config_dir, settings)
    return replace(composed, notes=(*taken.notes, *composed.notes)), table


def _on(
    taken: MemoryTable, words: Sequence[str], config_dir: str | None, settings: Mapping[str, object]
) -> tuple[Config, UntypedTable]:
    """Hold a table, and compose a study on it."""
    table = hold(taken.table)
    return compose(words, config_dir, _with(settings, {"kind": NAME, "content": table.content, **taken.roles})), table


def _problems_of(
    rest: MemoryTable, words: Sequence[str], config_dir: str | None, settings: Mapping[str, object]
) -> tuple[Problem, ...]:
    """Find what else is wrong with a table of which some columns cannot be read, so that all is said at once."""
    try:
        composed, _table = _on(rest, words, config_dir, settings)  # held until its rows were looked at
        composed.dataset.load()
    except DataError as error:
        return error.problems
    except ConfigurationError:  # a target, or a setting, of one of those columns
        return ()
    return ()


def _run_again(
    run: str | Path,
    words: Sequence[str],
    data: object,
    roles: Mapping[str, object],
    config_dir: str | None,
    settings: dict[str, object],
) -> tuple[Config, UntypedTable | None]:
    """A recorded study once more, on its own table where that was in memory."""
    if words:
        fix = "change settings by keyword: seed=1"
        raise ConfigurationError(Problem("MSEL-809", "overrides beside config=", " ".join(words), fix))
    folder = RunFolder.open(run)
    recorded = folder.config()
    if data is None:
        return recompose(recorded, _with(settings, roles), config_dir), None
    table = hold(take_table(data, **roles).table)
    content.check_same_table(folder, table)
    return recompose(recorded, settings, config_dir), table


def _split_overrides(overrides: Sequence[Any], data: Any) -> tuple[list[str], object]:
    """Overrides, and the data that may stand before them."""
    first = overrides[0] if overrides and not isinstance(overrides[0], str) else None
    if first is not None and data is not None:
        raise ConfigurationError(Problem("MSEL-809", "the data are given twice", "run", "hand them over once"))
    words = list(overrides if first is None else overrides[1:])
    if data is None and first is None and words and isinstance(words[0], str) and is_table(words[0]):
        first = words.pop(0)  # as on the command line: FILE, then overrides
    if first is None and words and isinstance(words[0], str) and is_dataset_file(words[0]):
        words[:1] = lines_of(words[0])
    strange = [type(word).__name__ for word in words if not isinstance(word, str)]
    if strange:
        fix = "overrides are texts like 'space=trees'; settings go by keyword"
        raise ConfigurationError(Problem("MSEL-809", f"a {strange[0]} is not an override", "run", fix))
    return words, data if first is None else first


def _with(settings: Mapping[str, Any], dataset: Mapping[str, object]) -> dict[str, object]:
    """Settings with what was said of the data; `dataset={...}` beside it adds features, costs, missing, ..."""
    said = settings.get("dataset") or {}
    own = {"kind": said} if isinstance(said, str) else dict(said)
    merged = {**own, **{key: value for key, value in dataset.items() if value is not None}}
    return {**settings, "dataset": merged} if merged else dict(settings)


def _roles(*said: object) -> dict[str, object]:
    return {role: value for role, value in zip(ROLES, said, strict=True) if value is not None}


def _command(overrides: Sequence[object]) -> tuple[str, ...]:
    return ("modelsel.run", *(word for word in overrides if isinstance(word, str)))


# Choose how progress is shown: a bar in a notebook, elsewhere the same as on the terminal.


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


def _html(text: str) -> object:
    from IPython.display import HTML

    return HTML(text)
