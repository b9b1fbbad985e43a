"""Reading numbers at once, and quotes without a walk: the same answers as texts and Python's strict reader give."""

import csv
import io
import threading
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from modelsel.core.errors import DataError
from modelsel.dataset import csv as formats
from modelsel.dataset.quotes import QuoteCheck

CELLS = [
    "1",
    "-0",
    "0.25",
    " 2 ",
    "3e5",
    ".5",
    "7.",
    "1e-320",
    "123456789012345678",
    "9007199254740993",
    "0.1000000000000000055",
]
ODD = ["", "?", " ?", "NA", "nan", "inf", "1e400", "+4", "1_0", "0x1", "x", "1,5", '"6"', "  ", "2020-01-02"]


def loaded(path: Path, **settings: object) -> object:
    """What reading a file says: the whole task and findings, or its problems."""
    try:
        found = formats.Csv(path=str(path), target="y", **settings).load()
    except DataError as error:
        return str(error)
    task = found.task
    return task.features, task.values.tobytes(), task.target.tolist(), task.classes, found.findings


@pytest.mark.parametrize("seed", range(30))
def test_numbers_read_at_once_are_what_texts_say(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    rows = 400
    columns = []
    for _ in range(4):
        cells = rng.choice(CELLS[: rng.integers(1, len(CELLS) + 1)], rows)
        odd = rng.choice(ODD, rng.integers(0, 3))
        cells = cells.astype(object)
        cells[rng.choice(np.arange(310, rows) if seed % 2 else rows, len(odd), replace=False)] = odd
        columns.append(cells)
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "d", "y"])
        writer.writerows(zip(*columns, rng.choice(["no", "yes"], rows)))
    settings = {"missing": ("", "?", "-9", " 2 ")} if seed % 5 == 4 else {}
    at_once = loaded(path, **settings)
    monkeypatch.setattr(formats, "begin_as_numbers", lambda *_: {})
    assert at_once == loaded(path, **settings)


def test_declared_kinds_roles_and_second_files_keep_their_texts(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,g,y\n" + "1,1.0,01,no\n2,1,1,yes\n" * 20)
    for settings in ({"features": {"b": "nominal"}, "groups": "g"}, {"features": {"a": "numeric"}, "id": "g"},
                     {"test_path": str(path)}):  # fmt: skip
        at_once = loaded(path, **settings)
        with monkeypatch.context() as patch:
            patch.setattr(formats, "begin_as_numbers", lambda *_: {})
            assert at_once == loaded(path, **settings)


def whole(text: str, size: int) -> bool:
    check, data = QuoteCheck(","), text.encode()
    for start in range(0, len(data), size):
        check.feed(data[start : start + size])
    return check.end()


def strict(text: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@pytest.mark.slow
def test_quotes_that_look_whole_are_so_to_the_strict_reader():
    rng = np.random.default_rng(0)
    agreed = 0
    for _ in range(4000):
        text = "".join(rng.choice(['"', '"', ",", "\n", "\r\n", "a", "é"], rng.integers(1, 14)))
        found = {whole(text, size) for size in (1, 2, 3, 100)}
        assert len(found) == 1, repr(text)
        assert strict(text) or found == {False}, repr(text)
        agreed += found == {True}
    assert agreed > 400, "most texts with quotes would be walked through"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cells_of_two_lines_are_noticed(end, tmp_path):
    for cell in ("a b", f"a{end}b", f'""{end}', end):
        text = f'x,y{end}1,no{end}"{cell}",yes{end}2,"yes"{end}3,no{end}'
        for size in (1, 2, 3, 100):
            check = QuoteCheck(",")
            for start in range(0, len(text), size):
                check.feed(text[start : start + size].encode())
            assert check.end()
            assert check.lines == (end not in cell)
        path = tmp_path / "rows.csv"
        path.write_bytes(text.encode())
        levels = formats.Csv(path=str(path), target="y", features={"x": "nominal"}).read().features[0].levels
        said = cell.replace('""', '"')
        assert levels == tuple(sorted(["1", "2", "3", *([said] if said.strip() else [])]))


def test_what_a_writer_writes_needs_no_walk():
    rng = np.random.default_rng(1)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    for _ in range(300):
        writer.writerow(["".join(rng.choice(['"', ",", "\n", "a", " "], rng.integers(0, 6))) for _ in range(4)])
    assert all(whole(file.getvalue(), size) for size in (1, 7, 1 << 20))


@pytest.mark.parametrize("text", ['a\n"' + "1\n" * 100_000 + '"\n', "a" * 140_000 + "\n", 'a\n"' + "1" * 140_000 + '"\n'])
def test_cells_longer_than_the_reader_takes_are_left_to_it(text):
    assert not whole(text, 1 << 16)
    assert not strict(text)


def test_reading_waits_until_arrow_has_let_go_of_what_it_was_lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of its threads that lets go while the process ends aborts it: so ended 1 of 200 commands that read a small file."""
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,yes\n3,4,no\n5,6,yes\n7,8,no\n")
    opened, kept = pyarrow.csv.open_csv, []

    def lingering(source: object, *options: object) -> object:
        kept.append(source)
        threading.Timer(0.2, kept.clear).start()
        return opened(source, *options)

    monkeypatch.setattr(pyarrow.csv, "open_csv", lingering)
    assert len(formats.Csv(path=str(tmp_path / "t.csv"), target="y").read()) == 4
    assert kept == []
