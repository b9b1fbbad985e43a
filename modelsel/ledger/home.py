"""The person's own place: ledger, keys, the name of this machine's chain, and how far ledgers had got when last seen.

`MODELSEL_HOME`, else the platform's data directory. Nothing here depends on the folder a study runs in, so that another
folder, a fresh clone or a removed `runs/` forgets nothing.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

import platformdirs
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from modelsel.core import stored
from modelsel.core.errors import ConfigurationError, LedgerError, Problem, StoreError
from modelsel.core.system.container import is_lost_afterwards
from modelsel.core.system.disk import lock_file, sync_directory

# Ed25519 signatures over the hashes of entries, by a key that the name of the chain commits to.
#
#     replica = salt ‖ first 24 of SHA-256("modelsel.replica.v2\0" ‖ public key ‖ salt), hexadecimal
#
# so that nobody else can begin or continue a chain of this name. A hash covers all entries before it; so does a signature.


SALT = 8  # of the 32 characters of a chain's name
_WHAT = b"modelsel.entry.v1\0"


@dataclass(frozen=True)
class Signer:
    """A person's secret key, 32 bytes; `public` is what others know it by."""

    secret: bytes

    @cached_property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.secret)

    @cached_property
    def public(self) -> str:
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, hash_: str) -> str:
        return self._key.sign(_WHAT + hash_.encode()).hex()

    def __repr__(self) -> str:
        return f"Signer({self.public[:16]})"


def chain_of(public: str, salt: str) -> str:
    """The name of a chain that only this key can write.

    >>> name = chain_of("ab" * 32, "00000001")
    >>> len(name), belongs(name, "ab" * 32), belongs(name, "cd" * 32)
    (32, True, False)
    """
    return salt + hashlib.sha256(b"modelsel.replica.v2\0" + public.encode() + salt.encode()).hexdigest()[: 32 - SALT]


def belongs(replica: str, public: str) -> bool:
    """Say whether a chain belongs to a key."""
    return len(replica) == 32 and chain_of(public, replica[:SALT]) == replica


def is_signed(public: str, hash_: str, signature: str) -> bool:
    """Say whether a key signed this hash; False for anything that is no key or no signature."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), _WHAT + hash_.encode())
    except (ValueError, InvalidSignature):
        return False
    return True


# The folder of a person: keys, ledger, marks.

KEY_BYTES, LONGEST_KEY = 32, 4096
BACKUP = "restore it from a backup: with another one rows seen before are not recognised"
USER = "user"  # the name of the key that is used where no project names another one
NAME = re.compile(r"[\w-][\w. -]{0,99}")  # of a key: a file of its own, in the folder of keys


@dataclass(frozen=True)
class IdentityKey:
    """The secret that row hashes are keyed with: without it, rows of few different values could be guessed."""

    secret: bytes

    @cached_property
    def id(self) -> str:
        """Says which key it was without giving it away."""
        return hashlib.blake2b(self.secret, digest_size=8, person=b"modelsel.key-id").hexdigest()

    def __repr__(self) -> str:
        return f"Key({self.id})"


@dataclass(frozen=True)
class Home:
    """A folder of mode 0700; `Home.find()` is the person's."""

    folder: Path

    @classmethod
    def find(cls) -> "Home":
        """The home of whoever runs this; StoreError where nothing says where it is."""
        try:
            chosen = os.environ.get("MODELSEL_HOME") or platformdirs.user_data_dir("modelsel", appauthor=False)
            return cls(Path(chosen).expanduser().absolute())
        except RuntimeError as error:  # neither HOME nor the system's list of users says where
            fix = "set HOME, or MODELSEL_HOME to a folder that lasts"
            raise StoreError(Problem("MSEL-640", "nothing says where this user's home is", "HOME", fix)) from error

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.db"

    @property
    def short_memory(self) -> str:
        """What a person should know of a home that forgets, and how to keep one; empty where it remembers and lasts."""
        new = "" if self.ledger.exists() else " is new: no look made before or elsewhere is known here"
        keep = f"mount a volume at {self.folder} (or where MODELSEL_HOME says), or name the team's ledger (guard.ledger=postgresql://...)"
        if is_lost_afterwards(self.folder):
            return f"the home {self.folder}{new}{', and it' if new else ''} goes with this container; {keep}"
        return (
            f"the home {self.folder}{new}; set MODELSEL_HOME to the one that remembers, or name the team's ledger"
            if new
            else ""
        )

    def key(self, name: str = "user") -> IdentityKey:
        """The key of this name, made on first use (mode 0600). `MODELSEL_KEY` (hexadecimal) wins over the file.

        Raises LedgerError where the stored key is damaged: another one would not recognise any row; ConfigurationError where
        the name is none, but a way to another folder.
        """
        if not NAME.fullmatch(name):
            fix = "use letters, digits, '-', '_' and '.', as in guard.project=loans"
            raise ConfigurationError(Problem("MSEL-274", f"not a name of a key: {name!r}", "guard.project", fix))
        given = os.environ.get("MODELSEL_KEY")
        if given:
            return _key(_from_hex(given), "MODELSEL_KEY")
        path = self.folder / "keys" / name
        return _key(self._secret(path, self.own().secret if name == USER else None), str(path))

    def own(self) -> IdentityKey:
        """The key under which this home remembers every contact, whatever key a study uses: that of the user when it was made.

        No setting chooses it, and it does not lie with the others. Raises LedgerError where it is gone: another one would
        recognise nothing.
        """
        path, user = self.folder / "own.key", self.folder / "keys" / USER
        if not os.path.lexists(path):
            if self.state().get("own"):
                fix = "restore it from a backup: without it no earlier contact is recognised"
                raise LedgerError(Problem("MSEL-508", "the home's own key is gone", str(path), fix))
            self._secret(path, _stored_key(user) if os.path.lexists(user) else None)
        key = _key(_stored_key(path), str(path))
        if self.state().get("own") != key.id:
            self._introduce(key)
        return key

    def keys(self) -> dict[str, IdentityKey]:
        """Every key at hand, by id: the home's own, those of projects, and `MODELSEL_KEY`."""
        given = os.environ.get("MODELSEL_KEY")
        files = [_stored_key(path) for path in sorted((self.folder / "keys").glob("*")) if path.is_file()]
        secrets_ = [self.own().secret, *files, *([_from_hex(given)] if given else [])]
        return {key.id: key for key in (IdentityKey(secret) for secret in secrets_ if len(secret) == KEY_BYTES)}

    @property
    def since(self) -> str:
        """The day since which this home remembers."""
        self.own()
        return str(self.state()["since"])

    def _introduce(self, key: IdentityKey) -> None:
        """Remember the own key, and since when there is a home; a key that was exchanged is an error."""
        with self.changing() as state:
            if state.setdefault("own", key.id) != key.id:
                fix = "restore it from a backup: without it no earlier contact is recognised"
                raise LedgerError(Problem("MSEL-508", "the home's own key is another one", str(self.folder / "own.key"), fix))
            made = (self.folder, *self.folder.glob("replica"), *self.folder.glob("keys/*"))
            first = min(path.stat().st_mtime for path in made)
            state.setdefault("since", datetime.fromtimestamp(first, UTC).date().isoformat())

    def replica(self, url: str) -> str:
        """The name of the chain that this home writes in the ledger at a place.

        It lives here and not in the ledger, so that a copied ledger is continued by a chain of its own and does not fork.
        """
        return self._replica(url, self.state().get("generation", {}).get(without_password(url), 0))

    def replicas(self, url: str) -> set[str]:
        """The names of all chains that this home has written at a place, also of before there were signatures."""
        last = self.state().get("generation", {}).get(without_password(url), 0)
        return {name for number in range(last + 1) for name in (self._replica(url, number), self._salt(url, number))}

    def signer(self) -> Signer:
        """The person's secret key for signatures, made on first use (mode 0600)."""
        path = self.folder / "signing.key"
        return Signer(_key(self._secret(path), str(path)).secret)

    def secret(self, name: str) -> bytes:
        """Another secret of the person's, 32 bytes in a file of that name, made on first use (mode 0600)."""
        path = self.folder / name
        return _key(self._secret(path), str(path)).secret

    def _replica(self, url: str, generation: int) -> str:
        return chain_of(self.signer().public, self._salt(url, generation)[:SALT])

    def _salt(self, url: str, generation: int) -> str:
        whole = self._secret(self.folder / "replica")
        return hashlib.sha256(b"\0".join((whole, url.encode(), str(generation).encode()))).hexdigest()[:16]

    def state(self) -> dict[str, Any]:
        """Return the remembered state: `marks` per ledger and replica, `places` of ledgers, `facts` per test set."""
        fix = "restore it from a backup; removing it loses the memory of this machine"
        with stored.reading(self._state, fix, "MSEL-507", LedgerError, "the state of the ledgers"):
            try:
                found = stored.mapping(stored.text(self._state))
            except (FileNotFoundError, NotADirectoryError):
                return {}
            stored.conforming(_State, found)
            by_address = {
                name: {without_password(url): of for url, of in found[name].items()} for name in BY_ADDRESS if name in found
            }
            return {**found, **by_address}

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """The state, to be changed in place; written whole or not at all, one writer at a time."""
        with self._writable(), lock_file(self._prepare(self.folder / "state.lock")):
            state = self.state()
            yield state
            write_whole(self._state, json.dumps(state, sort_keys=True).encode())

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    def _secret(self, path: Path, first: bytes | None = None) -> bytes:
        """Read a secret file, which is made at its first use."""
        if not os.path.lexists(path):
            with self._writable():
                _create_once(self._prepare(path), first or secrets.token_bytes(KEY_BYTES))
        return _stored_key(path)

    def _prepare(self, path: Path) -> Path:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Turn an error of writing into one that names the folder."""
        try:
            yield
        except OSError as error:
            raise StoreError(Problem("MSEL-640", f"cannot write ({error.strerror})", str(self.folder),
                                     "make it writable, or set MODELSEL_HOME to a place that is")) from error  # fmt: skip


BY_ADDRESS = ("places", "generation")  # what the state keeps by a ledger's address
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^@]*@")


def without_password(url: str) -> str:
    """A ledger's address as it is remembered and shown: without its password.

    >>> without_password("postgresql://ann:secret@db.example.org/looks"), without_password("sqlite:////tmp/ledger.db")
    ('postgresql://ann:***@db.example.org/looks', 'sqlite:////tmp/ledger.db')
    """
    return _PASSWORD.sub(r"\1:***@", url)


class _State(TypedDict, total=False):
    """What state.json holds; what the marks of a ledger say is the anchors' affair."""

    own: str
    since: str
    generation: Mapping[str, int]
    places: Mapping[str, object]
    marks: Mapping[str, object]
    facts: Mapping[str, object]


def _stored_key(path: Path) -> bytes:
    """The bytes of a secret file. Raises LedgerError where it cannot be read."""
    with stored.reading(path, BACKUP, "MSEL-506", LedgerError, "a key"):
        return stored.content(path, LONGEST_KEY)


def _key(secret: bytes, where: str) -> IdentityKey:
    """Check the length of a key."""
    if len(secret) != KEY_BYTES:
        raise LedgerError(Problem("MSEL-506", f"the key has {len(secret)} bytes instead of {KEY_BYTES}", where, BACKUP))
    return IdentityKey(secret)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file so that a crash leaves the old or the new one: temp, fsync, rename, fsync of the folder."""
    temp = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write(temp, data)
        os.replace(temp, path)
    finally:
        temp.unlink(missing_ok=True)
    sync_directory(path.parent)


def _create_once(path: Path, data: bytes) -> None:
    """Create a file of mode 0600; where two processes race, the first one's stays."""
    temp = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        _write(temp, data)
        os.link(temp, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without second names (FAT, some shares)
        with suppress(FileExistsError):
            _write(path, data)
    finally:
        temp.unlink(missing_ok=True)
    sync_directory(path.parent)


def _write(path: Path, data: bytes) -> None:
    """Write a new file of mode 0600, on disk before it returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _from_hex(text: str) -> bytes:
    """Read hexadecimal digits; empty where they are none."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
