"""A table in memory: `modelsel.run(frame, target="y")`. The configuration names its content; its rows are in this process."""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Task
from modelsel.dataset.columns.assemble import Loaded, assemble
from modelsel.dataset.columns.settings import TableSettings
from modelsel.dataset.tables.untyped import TABLES, UntypedTable

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
            yield Problem("MSEL-380", "the table of this study is in nobody's memory here", "dataset.content", fix)
        elif table.task is None:
            yield from self.header_problems([column.name for column in table.columns])

    def load(self) -> Loaded:
        """The task and what is notable about it; ConfigurationError or DataError with all problems."""
        ConfigurationError.raise_if(self.problems())
        table = self._table
        return Loaded(table.task, ()) if table.task is not None else assemble(table.columns, self, NAME)

    def read(self) -> Task:
        return self.load().task

    @property
    def _table(self) -> UntypedTable:
        return TABLES[str(self.content)]
