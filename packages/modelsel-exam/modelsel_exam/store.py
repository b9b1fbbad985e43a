"""The examiner's own store of an exam, under `MODELSEL_HOME/exams/`: its rows, encrypted labels, and what was handed in.

Labels are read in one function, `_labels`, which the gate calls when a look is on record.
"""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from modelsel.core import stored
from modelsel.core.errors import ConfigurationError, LedgerError, Problem, StoreError
from modelsel.core.fingerprint import canonical
from modelsel.core.types import (
    Booleans,
    ClassTask,
    Floats,
    Integers,
    NumberTask,
    Outputs,
    Sealed,
    Strings,
    Targets,
    Task,
    seal_unread,
)
from modelsel.guard.face import Home, TestSetDeclaration, write_whole
from modelsel_exam.terms import FILE, Terms, read_terms

PRIVATE = "private.json"
SIDES = ("development", "questions")
PER_ROW = ("values", "rows", "ids", "groups", "units", "times", "weights")


BACKUP = "restore the examiner's store from a backup"


@dataclass(frozen=True, eq=False)
class Store:
    """A folder of mode 0700 that nobody but the examiner has."""

    folder: Path
    public: Path  # the folder that askers have
    home: Home

    @classmethod
    def open(cls, public: Path, home: Home | None = None) -> "Store":
        """The store of an exam's folder; ConfigurationError where the examiner's key is not here."""
        home = home or Home.find()
        terms = read_terms(public)
        store = cls(home.folder / "exams" / terms.id, public, home)
        if not os.path.lexists(store.folder / FILE):
            fix = "ask the examiner's server: modelsel.exam(URL), or `modelsel exam` where the exam was created"
            raise ConfigurationError(Problem("MSEL-904", "the labels of this exam are not here", str(public), fix))
        if store.terms != terms:
            fix = "restore the folder from what the examiner gave out"
            raise LedgerError(Problem("MSEL-905", "the terms are not those of the examiner's store", str(public), fix))
        return store

    @cached_property
    def terms(self) -> Terms:
        return read_terms(self.folder)

    @cached_property
    def _private(self) -> dict[str, str]:
        """Read the examiner's own facts, which askers need not know."""
        with _reading(self.folder / PRIVATE):
            stated = stored.mapping(stored.text(self.folder / PRIVATE))
            stored.conforming(_PrivateFacts, stated)
            return stated

    @property
    def ledger(self) -> str:
        """Where looks are written down: the ledger's address, or the place that names it."""
        return str(self._private["ledger"])

    def write_private(self, ledger: str, salt: str) -> None:
        """Keep where looks are written down, and the salt of what is committed to."""
        write_whole(self.folder / PRIVATE, json.dumps({"ledger": ledger, "salt": salt}).encode())

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        path = self.folder / "rows.npz"
        with _reading(path):
            return unpack_arrays(path)

    def tokens(self, side: str = "questions") -> Strings:
        """The tokens of the rows of one side, in their order."""
        return self._arrays[f"{side}.tokens"]

    @cached_property
    def development(self) -> Task:
        """The development rows, with their classes or numbers."""
        own, target = self._of("development"), self._arrays["development.target"]
        weights = self._arrays.get("development.weights")
        if self.terms.of_numbers:
            return NumberTask(**own, target=target, weights=weights, measured_in=self.terms.measured_in)
        return ClassTask(**own, classes=self.terms.classes, target=target.astype(np.int32), weights=weights)

    @property
    def kind(self) -> type[np.generic]:
        """The type in which a target, or a prediction of it, is stored: the index of a class, or a number."""
        return np.float64 if self.terms.of_numbers else np.int32

    @cached_property
    def judges(self) -> Booleans:
        """Of a gate, which development rows judge proposals."""
        return np.asarray(self._arrays["development.judges"], bool)

    @cached_property
    def judged(self) -> Task:
        """The development rows that judge. LedgerError where they, or their labels, are not those that were committed to."""
        if judged_digest(self.development, self.judges, self._private.get("salt", "")) != self.terms.commitments.judged:
            fix = "restore the owner's store from a backup"
            what = "the rows that judge, or their labels, are not those that were committed to"
            raise LedgerError(Problem("MSEL-916", what, str(self.folder), fix))
        return self.development.take(np.flatnonzero(self.judges))

    @cached_property
    def sealed(self) -> Sealed:
        """The rows of the exam; their labels are not in memory."""
        sealed = Sealed(**self._of("questions"))
        return seal_unread(sealed, lambda: _labels(self), self._arrays.get("questions.weights"))

    @cached_property
    def weights(self) -> Floats | None:
        return self._arrays.get("questions.weights")

    def sealing(self, **config: object) -> TestSetDeclaration:
        """The rows as the gate takes them; `config` says whose answer it is."""
        terms = self.terms
        return TestSetDeclaration(self.sealed, self.development, terms.make_measure(), f"exam {terms.name}", terms.id,
                       str(config.get("handed", terms.id)), {"exam": terms.id, **terms.row_order, **config})  # fmt: skip

    def _of(self, side: str) -> dict[str, Any]:
        """Gather what a table of one side is made of."""
        arrays = {name: self._arrays.get(f"{side}.{name}") for name in PER_ROW if name != "weights"}
        return {
            "name": self.terms.name,
            "features": self.terms.schema,
            **arrays,
            "unit": self.terms.unit or "",
        }

    def keep(self, name: str, outputs: Outputs, about: Mapping[str, object]) -> bool:
        """Keep the predictions of an answer before anything is computed from them; True where they are new."""
        folder = self.folder / "answers"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{name}.npz"
        if path.is_file():
            return False
        arrays = {"predicted": outputs.predicted, "about": np.array(canonical(about))}
        if outputs.scores is not None:
            arrays["scores"] = outputs.scores
        try:
            write_whole(path, pack_arrays(arrays))
        except OSError as error:
            raise StoreError(Problem("MSEL-906", f"an answer cannot be kept ({error.strerror})", str(path),
                                     "free disk space or mend permissions; nothing was shown")) from error  # fmt: skip
        return True

    def forget(self, name: str) -> None:
        """Let the predictions of a refused answer go."""
        (self.folder / "answers" / f"{name}.npz").unlink(missing_ok=True)

    def answer(self, name: str) -> Outputs:
        """The predictions of an answer; LedgerError where they are gone."""
        path = self.folder / "answers" / f"{name}.npz"
        try:
            kept = unpack_arrays(path)
            return Outputs(kept["predicted"].astype(self.kind), kept.get("scores"))
        except Exception as error:  # whatever damaged bytes bring about
            said = stored.reason(error)
            raise LedgerError(
                Problem("MSEL-907", f"the predictions of an answer are gone ({said})", str(path), BACKUP)
            ) from error


def create_store(
    home: Home, public: Path, exam: str, sides: Mapping[str, Task], tokens: Mapping[str, object],
    judges: Booleans | None = None,
) -> Store:  # fmt: skip
    """A new store with the rows of both sides and the encrypted labels; the terms are written when they are complete."""
    store = Store(home.folder / "exams" / exam, public, home)
    store.folder.mkdir(mode=0o700, parents=True)
    arrays = {f"{side}.{name}": getattr(task, name) for side, task in sides.items() for name in PER_ROW
              if getattr(task, name) is not None}  # fmt: skip
    arrays |= {f"{side}.tokens": tokens[side] for side in SIDES}
    arrays["development.target"] = sides["development"].target
    if judges is not None:
        arrays["development.judges"] = judges
    write_whole(store.folder / "rows.npz", pack_arrays(arrays))
    return store


def judged_digest(development: Task, judges: Booleans, salt: str) -> str:
    """The commitment to the rows that judge, their labels and their weights."""
    rows = np.flatnonzero(judges)
    parts = [rows, development.values[rows], development.target[rows], development.row_weights[rows]]
    state = hashlib.sha256(bytes.fromhex(salt))
    for part in parts:
        state.update(np.ascontiguousarray(part, np.float64).tobytes())
    return state.hexdigest()


def commit(store: Store, target: NDArray[np.generic], tokens: Strings) -> str:
    """Write the labels, encrypted to the examiner's key with 32 random bytes; the commitment to both."""
    salt = os.urandom(32)
    raw = canonical({"salt": salt.hex(), "labels": dict(zip(tokens.tolist(), target.tolist()))}).encode()
    write_whole(store.folder / "labels.box", encrypt(raw, public_of(store.home.secret("exam.key"))))
    return hashlib.sha256(raw).hexdigest()


def _labels(store: Store) -> tuple[tuple[str, ...], Targets]:
    """The labels of the exam's rows: the one place where they are read. They are those that were committed to."""
    try:
        raw = decrypt(stored.content(store.folder / "labels.box"), store.home.secret("exam.key"))
    except (OSError, ValueError) as error:
        fix, place = "restore the examiner's home, its exam.key above all, from a backup", str(store.folder / "labels.box")
        raise LedgerError(Problem("MSEL-908", f"the labels cannot be read ({error})", place, fix)) from None
    if hashlib.sha256(raw).hexdigest() != store.terms.commitments.labels:
        raise LedgerError(Problem("MSEL-909", "the labels are not those that were committed to", str(store.folder), BACKUP))
    labels = json.loads(raw)["labels"]
    return store.terms.classes, np.array([labels[token] for token in store.tokens().tolist()], store.kind)


class _PrivateFacts(TypedDict):
    """private.json: where looks are written down, and the salt of what is committed to."""

    ledger: str
    salt: NotRequired[str]  # exams of 1.0 have none


def _reading(path: Path) -> AbstractContextManager[None]:
    return stored.reading(path, BACKUP, "MSEL-907", LedgerError)


def unpack_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file, without pickle."""
    with np.load(io.BytesIO(stored.content(path, stored.ARCHIVE)), allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}


def pack_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Arrays as the bytes of an npz file."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def reorder(task: Task, order: Integers) -> Task:
    """Rows of a task in another order, numbered by it."""
    return replace(task.take(order), rows=np.arange(len(order)))


def join(first: Task, second: Task) -> Task:
    """The rows of two tasks of one schema, one after the other."""
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in (*PER_ROW, "target") if getattr(first, name) is not None
    }  # fmt: skip
    return replace(first, **parts)


# Bytes encrypted to an examiner's key: X25519 with a key of its own for each message, HKDF-SHA256, ChaCha20-Poly1305.
#
# message = public key of the message ‖ nonce ‖ ciphertext

WHAT, KEY, NONCE = b"modelsel.exam.labels.v1", 32, 12


def public_of(secret: bytes) -> str:
    """The public key, hexadecimal, of a secret of 32 bytes."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw().hex()


def encrypt(data: bytes, public: str) -> bytes:
    """Bytes that only the owner of a key can read.

    >>> secret = bytes(range(32))
    >>> decrypt(encrypt(b"yes, no", public_of(secret)), secret)
    b'yes, no'
    """
    own, receiver = X25519PrivateKey.generate(), X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    mine, nonce = own.public_key().public_bytes_raw(), os.urandom(NONCE)
    return mine + nonce + _cipher(own, receiver, mine + bytes.fromhex(public)).encrypt(nonce, data, WHAT)


def decrypt(message: bytes, secret: bytes) -> bytes:
    """Decrypt a message. Raises ValueError for another key, or a message that was changed."""
    own = X25519PrivateKey.from_private_bytes(secret)
    sender, rest = message[:KEY], message[KEY:]
    try:
        cipher = _cipher(own, X25519PublicKey.from_public_bytes(sender), sender + own.public_key().public_bytes_raw())
        return cipher.decrypt(rest[:NONCE], rest[NONCE:], WHAT)
    except InvalidTag as error:
        raise ValueError("not encrypted to this key, or changed") from error


def _cipher(own: X25519PrivateKey, other: X25519PublicKey, salt: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(HKDF(SHA256(), KEY, salt, WHAT).derive(own.exchange(other)))
