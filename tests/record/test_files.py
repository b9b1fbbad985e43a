"""Whole files or none: whatever fails, and whenever."""

import json
import os
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.errors import UNWRITABLE, StoreError
from modelsel.record import files
from modelsel.record.folder import LossArchive


def test_the_old_file_survives_a_failure_at_every_point(tmp_path, monkeypatch):
    path = files.write(tmp_path / "a.txt", "old")
    for call in ("fsync", "open", "replace"):
        with monkeypatch.context() as patch:
            owner = os if call == "fsync" else type(path)
            patch.setattr(owner, call, _disk_full)
            with pytest.raises(StoreError) as error:
                files.write(path, "new")
        assert error.value.exit_code == UNWRITABLE
        assert "No space left" in str(error.value)
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["a.txt"], f"a part was left when {call} failed"


def _disk_full(*_args, **_kwargs):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("number", "advice"), [(28, "free some space"), (30, "another one"), (13, "permissions"), (5, "disk")])
def test_the_advice_fits_the_reason(tmp_path, number, advice):
    with pytest.raises(StoreError, match=advice), files.storing(tmp_path / "a.txt"):
        raise OSError(number, os.strerror(number))


def test_a_directory_appears_whole_or_not_at_all(tmp_path):
    def fill(folder):
        (folder / "one").write_text("1")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError):
        files.write_directory(tmp_path / "model", fill)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_replaces_the_old_one(tmp_path):
    files.write_directory(tmp_path / "model", lambda folder: (folder / "old").write_text("1"))
    files.write_directory(tmp_path / "model", lambda folder: (folder / "new").write_text("2"))
    assert [p.name for p in (tmp_path / "model").iterdir()] == ["new"]


def test_an_unwritable_place_is_said_with_the_place(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="MSEL-601") as error:
        files.write(tmp_path / "file" / "a.txt", "x")
    assert str(tmp_path / "file") in str(error.value)


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_whatever_is_written_as_json_is_strict_json(value):
    def refuse(word):
        raise AssertionError(word)

    json.loads(files.json_text(value), parse_constant=refuse)


def test_equal_arrays_give_equal_bytes_and_read_back():
    arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.array(["x", "yz"])}
    for compress in (False, True):
        assert files.npz(arrays, compress) == files.npz(dict(arrays), compress)
        dates = {info.date_time for info in zipfile.ZipFile(BytesIO(files.npz(arrays, compress))).infolist()}
        assert dates == {(1980, 1, 1, 0, 0, 0)}
        back = np.load(BytesIO(files.npz(arrays, compress)), allow_pickle=False)
        assert all((back[name] == array).all() for name, array in arrays.items())


def test_an_object_array_is_refused():
    with pytest.raises(ValueError, match="allow_pickle"):
        files.npz({"a": np.array([{}], dtype=object)})


@pytest.mark.slow
def test_a_large_array_is_written_without_a_copy_and_read_when_it_is_asked_for(tmp_path):
    matrix = np.zeros((4000, 4000), np.float32)
    matrix[::3] = 1
    tracemalloc.start()
    (tmp_path / "a.npz").write_bytes(files.npz({"losses": matrix, "row": np.arange(4000)}, compress=True))
    archive = LossArchive((tmp_path / "a.npz").read_bytes())
    assert list(archive) == ["losses", "row"]
    np.testing.assert_array_equal(archive["row"], np.arange(4000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < matrix.nbytes / 1.5, "blocks of 16 MiB, and what was compressed"
    np.testing.assert_array_equal(archive["losses"], matrix)
    assert archive["losses"] is archive["losses"]
