"""The rows of a node go to its branches, and what the test says of rows that did not grow the tree."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import EQUALITY, THRESHOLD


@kernel(_nrt=False)
def divide(codes, test, at, lost_to, marks, rows, spare, words, others):
    """Rows of the first branch before those of the second, each in their order; returns how many go first."""
    first, second = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        code = codes[row]
        if code < 0:
            side = lost_to
        elif test == THRESHOLD:
            side = np.int64(code > at)
        elif test == EQUALITY:
            side = np.int64(code != at)
        else:
            side = np.int64(marks[code] == 0)
        if side == 0:
            rows[first] = row
            if len(words):
                words[first] = words[i]
            first += 1
        else:
            spare[second] = row
            if len(words):
                others[second] = words[i]
            second += 1
    for i in range(second):
        rows[first + i] = spare[i]
        if len(words):
            words[first + i] = others[i]
    return first


@kernel(forceinline=True, _nrt=False)
def _place(side, row, word, ends, rows, spare, words, others):
    """Write a row to both branches and keep it in one, so that no jump depends on the way of the last row."""
    first, second = ends
    rows[first], words[first] = row, word
    spare[second], others[second] = row, word
    return first + np.uint64(1) - side, second + side


@kernel(forceinline=True, _nrt=False)
def divide_known(codes, at, bits, place, rows, spare, words, others):
    """The same for a threshold where no value is missing; a column of two values (`place`) is read as bits."""
    ends = np.uint64(0), np.uint64(0)
    if place >= 0:
        word_of, shift = np.uint64(place >> 6), np.uint64(place & 63)
        for i in range(len(rows)):
            row, word = rows[np.uint64(i)], words[np.uint64(i)]
            side = np.uint64(1) - ((bits[np.uint64(row), word_of] >> shift) & np.uint64(1))
            ends = _place(side, row, word, ends, rows, spare, words, others)
    else:
        for i in range(len(rows)):
            row, word = rows[np.uint64(i)], words[np.uint64(i)]
            ends = _place(np.uint64(codes[np.uint64(row)] > at), row, word, ends, rows, spare, words, others)
    first = ends[0]
    for i in range(ends[1]):
        rows[first + np.uint64(i)] = spare[np.uint64(i)]
        words[first + np.uint64(i)] = others[np.uint64(i)]
    return np.int64(first)


@kernel(_nrt=False)
def weight_of(rows, weight):
    """Add up the weights of rows."""
    whole = 0.0
    for i in range(len(rows)):
        whole += weight[rows[i]]
    return whole


@kernel(_nrt=False)
def last_code(values, code, threshold):
    """The largest code whose value is at most the threshold: also for rows that did not grow the tree."""
    low, high = code, len(values) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if values[middle] <= threshold:
            low = middle
        else:
            high = middle - 1
    return low


@kernel(_nrt=False)
def mark(codes, drawn, own, others_to, seen, marks):
    """Mark the levels that take the first branch; those that do not occur here go with the larger one."""
    for level in range(len(marks)):
        seen[level] = 0
    for i in range(len(drawn)):
        if codes[drawn[i]] >= 0:
            seen[codes[drawn[i]]] = 1
    for level in range(len(marks)):
        marks[level] = own[level] if seen[level] else 1 - others_to


@kernel()
def longer(marks, size):
    """Copy marks into an array of a given length, zeros behind them."""
    longer = np.zeros(size, np.uint8)
    longer[: len(marks)] = marks
    return longer
