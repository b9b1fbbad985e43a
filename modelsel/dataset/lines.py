"""Which lines of a text file are taken: one with the names, those of the rows; titles, comments and units around it are not.

`header` is the line of the names, from 1, and what stands above it is left out; 0: no line has names, and columns are called
column_1, column_2, ... `skip` lines after it are left out too. A line ends with a line feed, whatever quotes say.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class TakenLines:
    """The lines that are taken; `names` is the line that is written where the file has none."""

    header: int = 1
    skip: int = 0
    names: str = ""

    def of(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        r"""The blocks of a text without the lines that are not taken.

        >>> b"".join(TakenLines(header=2, skip=1).of([b"title\na,", b"b\nkg,m\n1,2\n"]))
        b'a,b\n1,2\n'
        >>> b"".join(TakenLines(header=0, names="column_1,column_2").of([b"1,2\n"]))
        b'column_1,column_2\n1,2\n'
        """
        source, head = iter(blocks), b""
        wanted = 0 if self.header == 1 and not self.skip else self.header + self.skip
        while head.count(b"\n") < wanted and (block := next(source, None)) is not None:
            head += block
        parts = head.split(b"\n", wanted)
        if wanted or not self.header:
            names = parts[self.header - 1] if self.header and len(parts) > self.header - 1 else self.names.encode()
            head = names + b"\n" + (parts[wanted] if len(parts) > wanted else b"")
        yield head
        yield from source

    def number(self, line: int) -> int:
        """The number, within the file, of a line of what is taken.

        >>> TakenLines(header=3, skip=1).number(1), TakenLines(header=3, skip=1).number(2), TakenLines(header=0).number(2)
        (3, 5, 1)
        """
        return self.header if line == 1 and self.header else line - 1 + self.header + self.skip

    def text(self, head: str) -> str:
        """The beginning of a text without the lines that are not taken."""
        return b"".join(self.of([head.encode("utf-8", "surrogatepass")])).decode("utf-8", "surrogatepass")


def default_names(many: int) -> tuple[str, ...]:
    """The names of columns that have none.

    >>> default_names(2)
    ('column_1', 'column_2')
    """
    return tuple(f"column_{place + 1}" for place in range(many))
