"""A code of an error means one thing: it belongs to one room, and docs/errors.md says what it means."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, BESIDE = ROOT / "modelsel", ROOT / "packages"
CODE = re.compile(r"MSEL-(?!000)\d{3}")  # 000 stands where no problem is
DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)


def used() -> dict[str, set[str]]:
    """Code to the rooms, or packages beside, whose modules name it; those in docstrings of core and of the manual are examples.

    What a command does stands in `api`, what it reads and prints in `cli`: the two are one room.
    """
    found = defaultdict(set)
    for path in (*PACKAGE.rglob("*.py"), *BESIDE.glob("*/modelsel_*/**/*.py")):
        room = (
            path.relative_to(PACKAGE if PACKAGE in path.parents else BESIDE)
            .parts[PACKAGE not in path.parents]
            .removesuffix(".py")
        )
        room = "api" if room == "cli" else room
        text = path.read_text("utf-8")
        for code in CODE.findall(DOCSTRING.sub("", text) if room in ("core", "manual") else text):
            found[code].add(room)
    return found


def documented() -> list[tuple[str, str, str]]:
    rows = re.findall(r"^\| (MSEL-\d{3}) \| (\w+) \| (.+) \|$", (ROOT / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE)
    return [(code, room, meaning) for code, room, meaning in rows]


def test_a_code_is_used_in_one_room_only():
    assert {code: rooms for code, rooms in used().items() if len(rooms) > 1} == {}


def test_the_documentation_lists_every_code_once_in_order_with_its_room():
    codes = [code for code, _, _ in documented()]
    assert codes == sorted(set(codes))
    assert {code: {room} for code, room, _ in documented()} == used()


def test_no_two_codes_of_a_room_are_said_to_mean_the_same():
    meanings = [(room, meaning) for _, room, meaning in documented()]
    assert len(set(meanings)) == len(meanings)
