"""The draws of forests in plain Python (`kernels.forests.draws`)."""

MASK = (1 << 64) - 1
GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
OF_ROWS, OF_HONEST, OF_CUT, OF_SIDE, OF_TREE = (
    0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3, 0x1D8E4E27C47D124F,
)  # fmt: skip


def word(key: int, counter: int) -> int:
    """Word `counter` of a key (`kernels.forests.draws`).

    >>> hex(word(0, 0))  # SplitMix64 with seed 0
    '0xe220a8397b1dcdaf'
    """
    x = (key + (counter + 1) * GAMMA) & MASK
    x = ((x ^ (x >> 30)) * FIRST) & MASK
    x = ((x ^ (x >> 27)) * SECOND) & MASK
    return x ^ (x >> 31)


def below(bits: int, m: int) -> int:
    """A whole number from 0 to m − 1."""
    return ((bits >> 32) * m) >> 32


def share(bits: int) -> float:
    """A real number from 0 to 1, 1 not among them."""
    return (bits >> 11) / 2.0**53
