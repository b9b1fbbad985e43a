"""`modelsel.read_table`: the reader chosen by the file's suffix."""

from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.dataset._bytes import bare
from modelsel.dataset._file import File

READERS = {
    ".csv": "csv",
    ".data": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".arff": "arff",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def reader(path: str | Path, **settings: Any) -> File:
    """The dataset part that reads a file; ConfigurationError for an unknown suffix or setting."""
    suffix = bare(path).suffix.lower()
    if suffix not in READERS:
        fix = f"use one of {', '.join(READERS)}"
        raise ConfigurationError(Problem("MSEL-306", f"no reader for the suffix '{suffix}'", str(path), fix))
    if suffix == ".tsv":
        settings.setdefault("delimiter", "\t")
    try:
        made: File = make("dataset", READERS[suffix], path=str(path), **settings)
    except TypeError as error:
        word = str(error).rpartition("argument ")[2]
        raise ConfigurationError(
            Problem("MSEL-305", f"unknown setting {word}", f"reading {path}", "see conf/dataset/")
        ) from error
    return made


def read_table(path: str | Path, target: str, **settings: Any) -> Task:
    """Read a CSV, ARFF or Parquet file as a task; settings are those of conf/dataset/.

    Raises ConfigurationError (missing file, target not in the header) and DataError (the contents), each with all problems.
    """
    return reader(path, target=target, **settings).read()
