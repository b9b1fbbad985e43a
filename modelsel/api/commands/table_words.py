"""A file and the column to predict, before all overrides, as people type them first: `modelsel plan wine.csv target`."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from modelsel.config.dataset_file import is_dataset_file, lines_of
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.proposal import APOSTROPHE, in_quotes
from modelsel.dataset.files import bare
from modelsel.dataset.read_table import READERS, holds_parquet, kind_of_file


def as_overrides(words: Sequence[str]) -> list[str]:
    """Put a leading FILE [TARGET] as overrides, as people type it first: `modelsel plan wine.csv target`.

    >>> as_overrides(["wine.csv", "target", "space=trees"])
    ['dataset=csv', "dataset.path='wine.csv'", "dataset.target='target'", 'space=trees']
    >>> as_overrides(["space=trees"])
    ['space=trees']
    """
    if words and is_dataset_file(words[0]):
        return [*lines_of(words[0]), *words[1:]]
    ConfigurationError.raise_if(_misread(words))
    if not words or not is_table(words[0]):
        return list(words)
    file, *rest = words
    suffix = bare(file).suffix.lower()
    delimiter = ["dataset.delimiter=tab"] if suffix == ".tsv" else []
    target = [f"dataset.target={in_quotes(rest.pop(0), APOSTROPHE)}"] if rest and "=" not in rest[0] else []
    return [f"dataset={kind_of_file(file)}", f"dataset.path={in_quotes(file, APOSTROPHE)}", *delimiter, *target, *rest]


def _misread(words: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for FILE and TARGET in the wrong order, and for what is not a table by its name, or is a folder."""
    if not words or "=" in words[0] or words[0].startswith("-") or is_table(words[0]):
        return
    if len(words) > 1 and is_table(words[1]):
        fix = f"write {words[1]} {words[0]}"
        yield Problem("MSEL-251", "the target stands before its file", f"{words[0]} {words[1]}", fix)
    elif (path := Path(words[0])).exists() and (path.suffix or (len(words) > 1 and "=" not in words[1])):
        what = "a folder is not a table" if path.is_dir() else f"no reader for the suffix {path.suffix!r}"
        yield Problem(
            "MSEL-251", what, words[0], f"name a file that ends in one of: {', '.join(READERS)}, or a folder of Parquet files"
        )
    elif path.suffix:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        near = get_close_matches(path.name, sorted(one.name for one in beside if is_table(one.name)), 1)
        fix = f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the path"
        yield Problem("MSEL-251", f"there is no file {words[0]!r}", words[0], fix)


def is_table(word: str) -> bool:
    """A path to a file or a folder that there is, or that is called like one; no override and no option."""
    named = bare(word).suffix.lower() in READERS or holds_parquet(word)
    return named and not word.startswith("-") and ("=" not in word or Path(word).exists())
