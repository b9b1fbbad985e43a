"""The final model of a run for other systems, and its tables."""

from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.folder import RunFolder


def exported_model(run: Any, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """Write the model of a run as one of the formats, or return what would be written; `csv` and `parquet` are its tables."""
    from modelsel.cli.export import FORMATS, TABLES, exported
    from modelsel.record.files import write

    if to in TABLES:
        return _tables(RunFolder.open(str(run)), to, path)
    if to not in FORMATS:
        fix = f"use one of {', '.join((*FORMATS, *TABLES))}"
        raise ConfigurationError(Problem("MSEL-810", f"{to!r} is no format", "to", fix))
    written = exported(RunFolder.open(str(run)), to, table)
    return written if path is None else write(Path(path), written)


def _tables(folder: RunFolder, to: str, path: str | Path | None) -> Path:
    """Write the tables of a run to a folder, as CSV or Parquet."""

    from modelsel.record.tables import tables, write_tables

    if path is None:
        fix = "name their folder; outcome.tables() has them as data frames"
        raise ConfigurationError(Problem("MSEL-810", f"the {to} tables are several files", "path", fix))
    return write_tables(tables(folder), Path(path), to)
