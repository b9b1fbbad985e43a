"""Two witnesses of our own: the person's state, and `modelsel.lock` beside the runs, where a reviewer sees looks in the diff.

What an anchor saw cannot be unseen by deleting or rewriting the ledger. The third, MLflow params, lives in `record`.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelsel.core.system.disk import lock_file
from modelsel.ledger.home import Home, write_whole

NAME = "modelsel.lock"
HEADER = "looks at sealed test rows, as modelsel's ledger counts them; keep this file in git"


@dataclass(frozen=True)
class AnchoredLook:
    """A look as an anchor remembers it; `head` is its place in a chain, what is not stated is empty."""

    testset: str
    head: str
    ledger: str = ""
    look: str = "0"
    n: str = ""
    policy: str = ""
    key: str = ""

    @classmethod
    def read(cls, stated: Mapping[str, str]) -> "AnchoredLook":
        """Read what an anchor says; names that this version does not know are left out."""
        return cls(**{name: stated[name] for name in cls.__dataclass_fields__ if name in stated})

    @property
    def unguarded(self) -> bool:
        """Say whether it was taken without a guard."""
        return self.policy == "off"


@dataclass(frozen=True)
class StateAnchor:
    """Facts of every look this person made, in `MODELSEL_HOME`, whatever the ledger."""

    home: Home
    name: str = "state"

    def witness(self, facts: Mapping[str, str]) -> None:
        with self.home.changing() as state:
            state.setdefault("facts", {}).setdefault(facts["testset"], []).append(dict(facts))

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        return self.remembering()(testset)

    def remembering(self) -> Callable[[str], Iterable[Mapping[str, str]]]:
        """Return `recall` as of now, for any test set: the state is read once."""
        known: dict[str, list[dict[str, str]]] = self.home.state().get("facts", {})
        return lambda testset: known.get(testset, [])

    def testsets(self, key: str, others: Container[str]) -> list[str]:
        """Test sets that were ever looked at under a key, but for looks in some other ledgers."""
        known = self.home.state().get("facts", {}).items()
        return [testset for testset, seen in known if any(_own_facts(facts, key, others) for facts in seen)]


@dataclass(frozen=True)
class LockFile:
    """`modelsel.lock`: a line per test set with its looks, nats spent and the head of the chain. Written inside git only."""

    folder: Path
    name: str = "lockfile"
    runs: str = "runs"  # the folder beside it, kept out of git: there lies what is locked while the file is written

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def witness(self, facts: Mapping[str, str]) -> None:
        """Write a look into the lock file, unless a later one of these rows stands there."""
        with self._changing() as known:
            sets = known.setdefault("testsets", {})
            if int(sets.get(facts["testset"], facts)["look"]) <= int(facts["look"]):
                sets[facts["testset"]] = {key: facts[key] for key in sorted(facts) if key != "testset"}

    def note_unremembered(self, study: str, at: str) -> None:
        """A study of which nothing is kept (`guard.remember=false`): that there was one, how often, and when last."""
        with self._changing() as known:
            studies = known.setdefault("not_remembered", {})
            studies[study] = {"at": at, "times": 1 + int(studies.get(study, {}).get("times", 0))}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Open the file's facts for a change in place; outside git nothing is written."""
        if not in_git(self.folder):
            yield {}
            return
        with self._one_writer():
            known = self.known()
            yield known
            write_whole(self.path, (json.dumps({"modelsel": HEADER, **known}, indent=1, sort_keys=True) + "\n").encode())

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        """One writer at a time, or a look would be lost from the file."""
        beside = self.folder / self.runs
        beside.mkdir(parents=True, exist_ok=True)
        with lock_file(beside / ".modelsel.lock.lock"):
            yield

    def recall(self, testset: str) -> Iterable[Mapping[str, str]]:
        return self.remembering()(testset)

    def remembering(self) -> Callable[[str], Iterable[Mapping[str, str]]]:
        """Return `recall` as of now, for any test set: the file is read once."""
        known: dict[str, dict[str, str]] = self.known().get("testsets", {})
        return lambda testset: [{"testset": testset, **known[testset]}] if known.get(testset) else []

    def testsets(self, key: str, others: Container[str]) -> list[str]:
        """Test sets of the file that were looked at under a key, but for looks in some other ledgers."""
        return [testset for testset, facts in self.known().get("testsets", {}).items() if _own_facts(facts, key, others)]

    def keys(self) -> set[str]:
        """The keys under which the looks in this file were made."""
        return {str(facts["key"]) for facts in self.known().get("testsets", {}).values() if "key" in facts}

    def known(self) -> dict[str, Any]:
        """Read the file's facts; a merge conflict counts as unreadable and raises OSError."""
        try:
            return self.parse(self.path.read_text("utf-8"), str(self.path))
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError as error:
            raise OSError(f"{self.path} is not a text") from error

    @staticmethod
    def parse(text: str, place: str) -> dict[str, Any]:
        """The facts of a lock file's text. Raises OSError where it is none."""
        try:
            known: dict[str, object] = json.loads(text)
        except ValueError as error:
            raise OSError(f"{place} cannot be read: settle its merge conflict, keeping the larger look counts") from error
        if not _whole(known):
            raise OSError(f"{place} was edited: a line is missing or is not a fact of a look; take it as it was from git")
        return known


def _whole(known: object) -> bool:
    """Say whether a lock file has the shape that `witness` and `unremembered` write.

    >>> _whole({"testsets": {"t": {"head": "a:1:f", "ledger": "l", "look": "1"}}}), _whole({"testsets": {"t": {"look": "1"}}})
    (True, False)
    """
    if not isinstance(known, dict):
        return False
    groups = known.get("testsets", {}), known.get("not_remembered", {})
    if not all(isinstance(group, dict) and all(isinstance(one, dict) for one in group.values()) for group in groups):
        return False
    looks, studies = (list(group.values()) for group in groups)
    return all(map(_a_look, looks)) and all(str(study.get("times", 0)).isdecimal() for study in studies)


def _a_look(facts: Mapping[str, Any]) -> bool:
    """Say whether a test set's facts name a look, its ledger and its place in a chain, all as words."""
    place = str(facts.get("head", "")).split(":")
    counts = (facts.get("look", ""), facts.get("n", "0"), place[1] if len(place) == 3 else "")
    return "ledger" in facts and all(isinstance(one, str) for one in facts.values()) and all(map(str.isdecimal, counts))


def _own_facts(facts: Mapping[str, str], key: str, others: Container[str]) -> bool:
    return facts.get("key", key) == key and facts.get("ledger") not in others


def in_git(folder: Path) -> bool:
    """Say whether the folder is inside a git work tree."""
    return any((parent / ".git").exists() for parent in (folder.absolute(), *folder.absolute().parents))
