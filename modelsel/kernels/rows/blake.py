"""Keyed BLAKE2b of many rows of one length, cut to 64 bits: what `hashlib.blake2b(..., digest_size=8)` says of each.

The state after the block of the key is the same for every row and is computed once. A row is a whole number of words, so that
blocks need no copying but for the last one, which is filled up with noughts (RFC 7693).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

IV = np.array([
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
], np.uint64)  # fmt: skip
_ORDER = (
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d", "2c6a0b834d75fe19",
    "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0", "0123456789abcdef", "ea489fd61c02b753",
)  # fmt: skip
SIGMA = np.array([[int(one, 16) for one in line] for line in _ORDER], np.int64)
BLOCK, WORDS = 128, 16  # bytes, and words, of a block


@kernel()
def _rotate(x, by):
    return (x >> np.uint64(by)) | (x << np.uint64(64 - by))


@kernel()
def _mix(a, b, c, d, x, y):
    """Mix two words into four, one step of BLAKE2b's round."""
    a = a + b + x
    d = _rotate(d ^ a, 32)
    c = c + d
    b = _rotate(b ^ c, 24)
    a = a + b + y
    d = _rotate(d ^ a, 16)
    c = c + d
    b = _rotate(b ^ c, 63)
    return a, b, c, d


@kernel()
def _compress(h, m, count, last):
    """One block of 16 words into the state `h`; `count` bytes were taken in with it."""
    a0, a1, a2, a3, b0, b1, b2, b3 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    c0, c1, c2, c3, d0, d1, d2, d3 = IV[0], IV[1], IV[2], IV[3], IV[4], IV[5], IV[6], IV[7]
    d0 = d0 ^ np.uint64(count)
    if last:
        d2 = ~d2
    for turn in range(12):
        s = SIGMA[turn]
        a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[s[0]], m[s[1]])
        a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[s[2]], m[s[3]])
        a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[s[4]], m[s[5]])
        a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[s[6]], m[s[7]])
        a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[s[8]], m[s[9]])
        a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[s[10]], m[s[11]])
        a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[s[12]], m[s[13]])
        a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[s[14]], m[s[15]])
    h[0], h[1], h[2], h[3] = h[0] ^ a0 ^ c0, h[1] ^ a1 ^ c1, h[2] ^ a2 ^ c2, h[3] ^ a3 ^ c3
    h[4], h[5], h[6], h[7] = h[4] ^ b0 ^ d0, h[5] ^ b1 ^ d1, h[6] ^ b2 ^ d2, h[7] ^ b3 ^ d3


@kernel(types.nothing(types.fixed_words, types.fixed_bits, types.fixed_bits, types.bits))
def rows(cells, parameters, key, found):
    """The first word of the hash of each row; `parameters` are the 8 words of RFC 7693, 2.5, `key` the 16 of its block."""
    count, width = cells.shape
    start, h, m = IV ^ parameters, np.empty(8, np.uint64), np.zeros(WORDS, np.uint64)
    _compress(start, key, BLOCK, False)
    whole = (width - 1) // WORDS  # blocks before the last one
    for row in range(count):
        for i in range(8):
            h[i] = start[i]
        for block in range(whole):
            _compress(h, cells[row, block * WORDS : (block + 1) * WORDS], BLOCK * (block + 2), False)
        rest = width - whole * WORDS
        for i in range(rest):
            m[i] = cells[row, whole * WORDS + i]
        for i in range(rest, WORDS):
            m[i] = 0
        _compress(h, m, BLOCK + 8 * width, True)
        found[row] = h[0]
