"""The final model of a run for other systems, and its tables."""

from pathlib import Path
from typing import TYPE_CHECKING

from modelsel.core.errors import ConfigurationError, Problem

if TYPE_CHECKING:  # the help of the command comes without it
    from modelsel.record.folder import RunFolder

FORMATS = ("onnx", "sql", "rules", "json", "dot")
TABLES = ("csv", "parquet")  # a folder with a file per table


def export_model(run: object, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """Write the model of a run as one of the formats, or return what would be written; `csv` and `parquet` are its tables."""
    from modelsel.record.files import write
    from modelsel.record.folder import RunFolder

    if to in TABLES:
        return _tables(RunFolder.open(str(run)), to, path)
    if to not in FORMATS:
        fix = f"use one of {', '.join((*FORMATS, *TABLES))}"
        raise ConfigurationError(Problem("MSEL-810", f"{to!r} is not a format", "to", fix))
    content = convert(RunFolder.open(str(run)), to, table)
    return content if path is None else write(Path(path), content)


def _tables(folder: "RunFolder", to: str, path: str | Path | None) -> Path:
    """Write the tables of a run to a folder, as CSV or Parquet."""

    from modelsel.record.tables import tables, write_tables

    if path is None:
        fix = "name their folder; outcome.tables() has them as data frames"
        raise ConfigurationError(Problem("MSEL-810", f"the {to} tables are several files", "path", fix))
    return write_tables(tables(folder), Path(path), to)


def convert(folder: "RunFolder", to: str, table: str = "rows") -> str | bytes:
    """The final model of a run's folder in one of the FORMATS."""
    from modelsel.exports.write import write_model
    from modelsel.record.model import load

    predictor = load(folder.model, tuple(folder.config().get("plugins") or ()))
    return write_model(predictor, to, table)
