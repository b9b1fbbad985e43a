"""Ten ways in which a file that modelsel reads may be found: each takes a sound file and leaves what went wrong."""

import json
import random
from collections.abc import Callable
from pathlib import Path

HUGE = 16 << 30  # bytes, none of which is on disk
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
TAGS = "run: !!python/object/apply:os.mkdir [hostile]\n"
DEEP = "[" * 100_000


def empty(path: Path) -> None:
    path.write_bytes(b"")


def half(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def flipped(path: Path) -> None:
    """A bit of every 97th byte."""
    data, draw = bytearray(path.read_bytes()), random.Random(str(path.name))
    for at in range(0, len(data), 97):
        data[min(at + draw.randrange(97), len(data) - 1)] ^= 1 << draw.randrange(8)
    path.write_bytes(bytes(data))


def other_type(path: Path) -> None:
    """Sound JSON, YAML and text, and not what belongs here."""
    path.write_text("[1, 2]\n")


def huge(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(HUGE)


def link(path: Path) -> None:
    """A link to itself."""
    path.unlink()
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def no_rights(path: Path) -> None:
    path.chmod(0)


def tags(path: Path) -> None:
    """What a parser may be made to do: objects of Python and aliases in YAML, lists in lists in JSON, else text."""
    path.write_text({".yaml": BOMB + TAGS, ".json": DEEP}.get(path.suffix, TAGS + DEEP))


def newer(path: Path) -> None:
    """As a later version may write it: of another number, with more in it."""
    if path.suffix != ".json":
        path.write_bytes(path.read_bytes() + b"future: {}\n")
        return
    said = json.loads(path.read_bytes())
    said |= {name: 99 for name in ("schema", "format", "version") if name in said}
    path.write_text(json.dumps({**said, "future": {"more": [1]}}))


WAYS: dict[str, Callable[[Path], None]] = {
    way.__name__: way for way in (empty, half, flipped, other_type, huge, link, folder, no_rights, tags, newer)
}
