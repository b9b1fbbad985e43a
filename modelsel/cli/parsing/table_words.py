"""`modelsel plan wine.csv target`: a file and the column to predict, as people type them first, as overrides."""

from collections.abc import Sequence
from pathlib import Path

from modelsel.dataset.reading.bytes import bare
from modelsel.dataset.tables.read_table import READERS


def spelled_out(words: Sequence[str]) -> list[str]:
    """The words with a leading FILE [TARGET] put as overrides.

    >>> spelled_out(["wine.csv", "target", "space=trees"])
    ['dataset=csv', "dataset.path='wine.csv'", "dataset.target='target'", 'space=trees']
    >>> spelled_out(["space=trees"])
    ['space=trees']
    """
    if not words or not is_table(words[0]):
        return list(words)
    file, *rest = words
    suffix = bare(file).suffix.lower()
    delimiter = ["dataset.delimiter=tab"] if suffix == ".tsv" else []
    target = [f"dataset.target={_quoted(rest.pop(0))}"] if rest and "=" not in rest[0] else []
    return [f"dataset={READERS[suffix]}", f"dataset.path={_quoted(file)}", *delimiter, *target, *rest]


def is_table(word: str) -> bool:
    """A path to a file that there is, or that is called like one; no override and no option."""
    named = bare(word).suffix.lower() in READERS
    return named and not word.startswith("-") and ("=" not in word or Path(word).is_file())


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
