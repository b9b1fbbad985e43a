"""Whatever the bytes, the readers end in a task or in one of our own errors."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modelsel.core.errors import ModelselError
from modelsel.dataset.read_table import read_table

CSV = b'a,b,y\n1,"x, y",no\n2.5,?,yes\n-3e1,"q""q",no\n4,z,yes\n'
ARFF = (
    b"@relation r\n@attribute a numeric\n@attribute b {u,'v w'}\n@attribute d date 'yyyy-MM-dd'\n@attribute y {no,yes}\n"
    b"@data\n1,u,'2001-01-02',no\n?,'v w',?,yes,{2}\n{0 3, 2 2001-01-03, 3 yes}\n4,u,?,no\n"
)


def mutated(base: bytes) -> st.SearchStrategy[bytes]:
    """Some bytes changed, dropped, doubled or put in."""

    def apply(edits: list[tuple[int, int, bytes]]) -> bytes:
        data = bytearray(base)
        for place, length, new in edits:
            at = place % (len(data) + 1)
            data[at : at + length] = new
        return bytes(data)

    signs = st.sampled_from([bytes([byte]) for byte in b"\"',\n\r{}?\0\xff%\\@e1 "])
    edit = st.tuples(st.integers(0, 10_000), st.integers(0, 4), st.one_of(signs, st.binary(max_size=3)))
    return st.lists(edit, max_size=6).map(apply)


def survives(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        task = read_table(path, "y")
    except ModelselError:
        return
    assert len(task) == len(task.target) > 1


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated(CSV))
def test_a_damaged_csv_file(data: bytes, tmp_path: Path) -> None:
    survives(tmp_path / "rows.csv", data)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated(ARFF))
def test_a_damaged_arff_file(data: bytes, tmp_path: Path) -> None:
    survives(tmp_path / "rows.arff", data)


@pytest.mark.soak
@settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(csv=mutated(CSV), arff=mutated(ARFF))
def test_many_damaged_files(csv: bytes, arff: bytes, tmp_path: Path) -> None:
    survives(tmp_path / "rows.csv", csv)
    survives(tmp_path / "rows.arff", arff)
