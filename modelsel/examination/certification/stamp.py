"""A time stamp of a third party (RFC 3161) on a certificate: it existed at that time, whatever the issuer's clock said."""

from urllib.error import URLError
from urllib.request import Request, urlopen

from modelsel.core.errors import ConfigurationError, Problem

SECONDS = 30.0


def stamped(statement: bytes, address: str) -> bytes:
    """The authority's signed reply to a SHA-512 of the statement. ConfigurationError where none is to be had."""
    try:
        from rfc3161_client import TimestampRequestBuilder
    except ImportError as error:
        fix = "pip install 'modelsel[exam]', or leave --stamp out"
        raise ConfigurationError(Problem("MSEL-952", "rfc3161-client is not installed", "--stamp", fix)) from error
    if not address.startswith(("http://", "https://")):
        raise ConfigurationError(
            Problem("MSEL-953", "not the address of an authority", address, "give one that begins with http")
        )
    asked = TimestampRequestBuilder().data(statement).nonce(nonce=True).cert_request(cert_request=True).build()
    headers = {"Content-Type": "application/timestamp-query"}
    try:
        with urlopen(Request(address, asked.as_bytes(), headers), timeout=SECONDS) as reply:  # noqa: S310  http alone
            data = bytes(reply.read(1 << 20))
        if not _granted(data):
            raise ValueError("the authority refused")
    except (URLError, OSError, ValueError) as error:
        fix = "try again, or another authority"
        raise ConfigurationError(Problem("MSEL-953", f"no time stamp ({error})", address, fix)) from error
    return data


def _granted(reply: bytes) -> bool:
    """Say whether the status of a DER-encoded reply is 0 or 1 (granted).

    The rest is not read here: authorities put certificates in an order that strict readers refuse; OpenSSL checks it.

    >>> _granted(bytes.fromhex("3005300302010002")), _granted(bytes.fromhex("30053003020102")), _granted(b"<html>")
    (True, False, False)
    """
    rest = reply
    for _ in range(2):
        if rest[:1] != b"\x30" or len(rest) < 2:
            return False
        rest = rest[2 + (rest[1] & 0x7F if rest[1] & 0x80 else 0) :]
    return rest[:3] in (b"\x02\x01\x00", b"\x02\x01\x01")
