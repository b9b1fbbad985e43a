"""A table in memory: `modelsel.run(frame, target="y")`. The configuration names its content; its rows are in this process."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Loaded, Task, names
from modelsel.dataset.assemble import assemble
from modelsel.dataset.base import TableSettings
from modelsel.dataset.in_memory import of_columns
from modelsel.dataset.sample import draw_columns
from modelsel.dataset.untyped import TABLES, UntypedTable
from modelsel.dataset.weights import counting

NAME = "memory"


@dataclass(frozen=True, kw_only=True)
class Memory(TableSettings):
    """A data frame, an array or a task that was handed over in Python."""

    content: str | None = plain(None, help="digest of the table in memory")

    def problems(self) -> Iterator[Problem]:
        """Yield a problem where the table is no longer in memory, or its columns do not fit the settings."""
        table = TABLES.get(str(self.content))
        if table is None:
            fix = "hand it over in Python: modelsel.run(frame, target=...), or modelsel.open_run(RUN, data=frame)"
            yield Problem("MSEL-380", "the table of this study is not in the memory of this process", "dataset.content", fix)
        elif table.task is None:
            yield from self.header_problems([column.name for column in table.columns])

    def load(self) -> Loaded:
        """The task and what is notable about it; ConfigurationError or DataError with all problems."""
        ConfigurationError.raise_if(self.problems())
        table = self._table
        if table.task is not None:
            return Loaded(*counting(table.task))
        settled = self.settle([column.name for column in table.columns])
        drawn = draw_columns(settled, table.columns)
        if drawn is None:
            return settled._with_source(assemble(table.columns, settled, NAME))
        loaded = settled._with_source(assemble([column.take(drawn.places) for column in table.columns], settled, NAME))
        task = replace(loaded.task, rows=drawn.places[loaded.task.rows])  # those of the table that was handed over
        return Loaded(task, (drawn.finding, *loaded.findings))

    def read(self) -> Task:
        return self.load().task

    def _with_source(self, loaded: Loaded) -> Loaded:
        """Return the table with the features as they were handed over, those without any value too: a program may name them."""
        if self._table.native is None:
            return loaded
        taken = names(loaded.task.features)
        empty = [column.name for column in self._table.columns if column.absent.all() and column.name in self._candidates]
        source = of_columns(self._table.native, {*taken, *empty})
        return replace(loaded, task=replace(loaded.task, source=source))

    @property
    def _candidates(self) -> set[str]:
        """Columns that have no role and are not ignored."""
        ignored = {name for name, said in self.features.items() if said == "ignore"}
        others = set(self.features) if self.others == "ignore" else {column.name for column in self._table.columns}
        return others - ignored - set(self.roles())

    @property
    def _table(self) -> UntypedTable:
        return TABLES[str(self.content)]
