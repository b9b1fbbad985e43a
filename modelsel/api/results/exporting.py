"""The final model of a run for other systems."""

from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.folder import RunFolder


def exported_model(run: Any, to: str, path: str | Path | None = None, table: str = "rows") -> str | bytes | Path:
    """Write the model of a run as one of the formats, or return what would be written."""
    from modelsel.cli.export import FORMATS, exported
    from modelsel.record.content.files import write

    if to not in FORMATS:
        raise ConfigurationError(Problem("MSEL-810", f"{to!r} is no format", "to", f"use one of {', '.join(FORMATS)}"))
    written = exported(RunFolder.open(str(run)), to, table)
    return written if path is None else write(Path(path), written)
