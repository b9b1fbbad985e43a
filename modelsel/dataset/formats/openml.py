"""Data sets of OpenML, by name and version or by their number; fetched once, then read from disk.

Kinds are those that the file declares: nominal features and classes keep their levels in declared order, numbers are numeric,
`?` is missing. Columns that OpenML marks as identifiers or to be ignored are no features.
Source: Vanschoren, van Rijn, Bischl & Torgo (2014), *OpenML: networked science in machine learning*.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from modelsel.core.errors import ConfigurationError, DataError, Problem
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Finding, Task
from modelsel.dataset.columns.assemble import Loaded, assemble
from modelsel.dataset.columns.settings import TableSettings
from modelsel.dataset.formats.arff import Arff
from modelsel.dataset.reading.openml_client import NoAnswerError, NoDataSetError, ResponseCache

NO_ANSWER = "MSEL-307"
UNUSED = ("is_ignore", "is_row_identifier")


@dataclass(frozen=True, kw_only=True)
class Openml(TableSettings):
    """Nothing is asked of OpenML that is on disk already. The target is the one it declares unless `target` says otherwise."""

    name: str | None = plain(None, help="as OpenML calls it; versions of one name may be different data")
    version: int = whole(1, least=1, help="of the name")
    data_id: int | None = whole(None, least=1, help="or its number: 31 is credit-g, version 1")
    cache: str | None = plain(None, help="the folder that keeps what was fetched; null: the person's own")
    seconds: float = number(10.0, above=0, help="to wait for each answer; there is one attempt")
    encoding: str = plain("utf-8", help="of the file: utf-8, latin-1, ...")

    def problems(self) -> Iterator[Problem]:
        """Yield problems of the settings by themselves; those against the columns follow once they are there."""
        if (self.name is None) == (self.data_id is None):
            what = "no data set is named" if self.name is None else "both a name and a number are given"
            yield Problem("MSEL-301", what, "dataset.name", "set dataset.name and dataset.version, or dataset.data_id")

    def load(self) -> Loaded:
        """ConfigurationError where OpenML does not answer or has no such data set, DataError where it cannot be used."""
        ConfigurationError.raise_if(self.problems())
        try:
            return self._loaded(ResponseCache.of(self.cache, self.seconds))
        except NoAnswerError as error:
            fix = "go online once (what was fetched is kept), or give its file: dataset=arff dataset.path=FILE"
            raise ConfigurationError(Problem(NO_ANSWER, f"{self._called}: {error}", "openml.org", fix)) from error
        except NoDataSetError as error:
            fix = "names and versions are those of openml.org"
            raise ConfigurationError(Problem("MSEL-302", f"there is no {self._called} ({error})", "openml.org", fix)) from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            fix = "try again later: an answer that is not whole is not kept"
            raise DataError(Problem("MSEL-309", f"{self._called} cannot be read ({error!r})", "openml.org", fix)) from error

    def read(self) -> Task:
        return self.load().task

    def _loaded(self, store: ResponseCache) -> Loaded:
        """Read a data set from the store of answers, with the roles that OpenML declares."""
        known = store.number(str(self.name), self.version) if self.data_id is None else self.data_id
        description, said = store.description(known), store.columns(known)
        raw = Arff(encoding=self.encoding).raw(store.arff(known, description))
        settings = self._with(said)
        ConfigurationError.raise_if(settings.header_problems([column.name for column in raw.columns]))
        loaded = assemble(raw.columns, settings, str(description["name"]), weights=raw.weights)
        return Loaded(loaded.task, (*_findings(description), *loaded.findings))

    def _with(self, said: Sequence[Mapping[str, Any]]) -> TableSettings:
        """Fill these settings, where they say nothing, with what OpenML says."""
        unused = {str(column["name"]): "ignore" for column in said if any(column.get(mark) == "true" for mark in UNUSED)}
        roles = {self.target, *self.roles()}
        features = {**{name: kind for name, kind in unused.items() if name not in roles}, **self.features}
        targets = [str(column["name"]) for column in said if column.get("is_target") == "true"]
        return replace(self, features=features, target=self.target or (targets[0] if len(targets) == 1 else None))

    @property
    def _called(self) -> str:
        return f"data set {self.data_id}" if self.name is None else f"data set '{self.name}' of version {self.version}"


def _findings(description: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield findings that identify the data, and OpenML's own warnings about them."""
    which = f"OpenML's data set {description['id']}: {description['name']}, version {description['version']}"
    yield Finding("FROM_OPENML", "info", f"{which}, md5 {description.get('md5_checksum')}", "")
    if description.get("status", "active") != "active":
        yield Finding("OPENML_STATUS", "medium", f"OpenML calls it {description['status']}", "look for a newer version")
    for mark in ("error", "warning"):
        if description.get(mark):
            yield Finding("OPENML_STATUS", "medium", f"OpenML says: {description[mark]}", "look it up at openml.org")
