"""Bytes encrypted to an examiner's key: X25519 with a key of its own for each message, HKDF-SHA256, ChaCha20-Poly1305.

message = public key of the message ‖ nonce ‖ ciphertext
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

WHAT, KEY, NONCE = b"modelsel.exam.labels.v1", 32, 12


def public_of(secret: bytes) -> str:
    """The public key, hexadecimal, of a secret of 32 bytes."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw().hex()


def encrypted(data: bytes, public: str) -> bytes:
    """Bytes that only the owner of a key can read.

    >>> secret = bytes(range(32))
    >>> opened(encrypted(b"yes, no", public_of(secret)), secret)
    b'yes, no'
    """
    own, receiver = X25519PrivateKey.generate(), X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    mine, nonce = own.public_key().public_bytes_raw(), os.urandom(NONCE)
    return mine + nonce + _cipher(own, receiver, mine + bytes.fromhex(public)).encrypt(nonce, data, WHAT)


def opened(message: bytes, secret: bytes) -> bytes:
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
