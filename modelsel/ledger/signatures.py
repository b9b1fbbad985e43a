"""Ed25519 signatures over the hashes of entries, by a key that the name of the chain commits to.

    replica = salt ‖ first 24 of SHA-256("modelsel.replica.v2\\0" ‖ public key ‖ salt), hexadecimal

so that nobody else can begin or continue a chain of this name. A hash covers all entries before it; so does a signature.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
