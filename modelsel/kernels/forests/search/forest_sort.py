"""Entries of a node put into the order of their codes: few by counting who is smaller, many by a radix sort.

An entry is code | class | weight (32, 16 and 16 bits), so that a scan reads one word per row. No order of entries of one code
matters: cuts lie between codes.
"""

import numpy as np

from modelsel.kernels.compiler import kernel

CLASS, LOW = np.uint64(16), np.uint64(32)
FIELD = np.uint64(0xFFFF)
FEW, SHORT, LANES = 4, 24, 8  # entries sorted by insertion, by comparing each with each, LANES at a time
CODES = 1 << 24  # codes that are compared in 32 bits together with a place
SMALL, LARGE, MANY = 8, 11, 2048  # digits of a radix sort, and entries from which they are large


@kernel(_nrt=False)
def gather(codes, drawn, words, keys):
    """Entries of the rows of a node, lowest and highest code; the lowest is −1 where a value is missing."""
    lowest, highest = np.int32(2**31 - 1), np.int32(-1)
    for i in range(len(drawn)):
        code = codes[np.uint64(drawn[np.uint64(i)])]
        keys[np.uint64(i)] = (np.uint64(np.uint32(code)) << LOW) | words[np.uint64(i)]
        lowest, highest = min(lowest, code), max(highest, code)
    return lowest, highest


@kernel(_nrt=False)
def sort(keys, spare, buckets, places, n, lowest, highest):
    """Sort by code. Returns whether the entries end in `spare`."""
    if n <= FEW:
        _insert(keys, n)
        return False
    if n <= SHORT and highest - lowest < CODES:
        _compare(keys, spare, places, n, lowest)
        return True
    bits, largest = 1, LARGE if n >= MANY else SMALL
    while (highest - lowest) >> bits:
        bits += 1
    passes = (bits + largest - 1) // largest
    width = (bits + passes - 1) // passes
    for k in range(passes):
        one, other = (spare, keys) if k % 2 else (keys, spare)
        _distribute(one, other, buckets, n, np.uint64(lowest), np.uint64(k * width), width)
    return passes % 2 == 1


@kernel(_nrt=False)
def _insert(keys, n):
    """Sort in place by insertion."""
    for i in range(1, n):
        key, j = keys[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@kernel(_nrt=False)
def _compare(keys, spare, places, n, lowest):
    """Each entry goes where as many stand before it as are smaller. `places`: codes with their places, and ranks."""
    own, ranks = places
    whole = (n + LANES - 1) // LANES * LANES
    for i in range(whole):
        own[i], ranks[i] = np.int32(0), np.int32(0)
    for i in range(n):
        own[i] = np.int32((((keys[i] >> LOW) - np.uint64(lowest)) << np.uint64(5)) | np.uint64(i))
    for j in range(n):
        smaller = own[j]
        for start in range(0, whole, LANES):
            for i in range(LANES):
                ranks[start + i] += np.int32(own[start + i] > smaller)
    for i in range(n):
        spare[np.uint64(ranks[i])] = keys[i]


@kernel(_nrt=False)
def _distribute(one, other, buckets, n, lowest, shift, width):
    """One pass of a radix sort."""
    mask, so_far = np.uint64((1 << width) - 1), 0
    for b in range(1 << width):
        buckets[b] = 0
    for i in range(n):
        buckets[(((one[np.uint64(i)] >> LOW) - lowest) >> shift) & mask] += 1
    for b in range(1 << width):
        buckets[b], so_far = so_far, so_far + buckets[b]
    for i in range(n):
        key = one[np.uint64(i)]
        b = (((key >> LOW) - lowest) >> shift) & mask
        other[np.uint64(buckets[b])] = key
        buckets[b] += 1
