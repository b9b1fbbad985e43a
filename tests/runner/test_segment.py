"""Segments: what is appended is read back; what is torn or altered is recognised."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from modelsel.core.errors import StoreError
from modelsel.runner.journal import (
    STARTED,
    CorruptRecord,
    RecordHeader,
    RecordLocation,
    Segment,
    encode,
    read,
    scan,
    start_times,
)

ARRAYS = {"x": np.arange(7, dtype=np.uint8), "y": np.eye(3), "empty": np.zeros((0, 4))}


def written(folder, count=5):
    segment = Segment(folder)
    places = [segment.append({"key": str(number)}, {**ARRAYS, "number": np.array(number)}) for number in range(count)]
    segment.close()
    return places


def path_of(places):
    return Path(places[0].path)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.dictionaries(
        st.text(max_size=5),
        st_numpy.arrays(
            st.sampled_from([np.uint8, np.int64, np.float64, np.bool_]),
            st_numpy.array_shapes(min_dims=0, min_side=0, max_side=4),
        ),
        max_size=3,
    ),
    st.dictionaries(st.text(max_size=8), st.one_of(st.text(max_size=20), st.integers(), st.none()), max_size=4),
)
def test_what_is_appended_is_read_back(tmp_path_factory, arrays, facts):
    folder = tmp_path_factory.mktemp("segment")
    segment = Segment(folder)
    place = segment.append(facts, arrays)
    found = read(place)
    assert found.facts == facts
    assert found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
    assert [entry.place for entry in scan(path_of([place]))] == [place]


def test_a_torn_tail_is_told_at_every_length_and_the_records_before_it_are_whole(tmp_path):
    places = written(tmp_path, 3)
    whole = path_of(places).read_bytes()
    torn = tmp_path / "torn.segment"
    for length in range(places[2].offset + 1, len(whole)):
        torn.write_bytes(whole[:length])
        *before, tail = scan(torn)
        assert [entry.facts["key"] for entry in before] == ["0", "1"]
        assert tail == CorruptRecord(str(torn), places[2].offset, torn=True)


def test_every_flipped_bit_is_detected_and_costs_no_other_record(tmp_path):
    places = written(tmp_path, 3)
    path = path_of(places)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    victim = places[1]
    for byte in range(victim.offset, victim.offset + victim.length):
        hurt = bytearray(whole)
        hurt[byte] ^= 1 << int(rng.integers(8))
        path.write_bytes(hurt)
        assert read(victim) is None
        found = [entry.facts.get("key") for entry in scan(path) if isinstance(entry, RecordHeader)]
        assert found[0] == "0"
        assert found[-1] == "2"
        assert read(places[0]) is not None
        assert read(places[2]) is not None


def test_a_record_that_is_not_there_is_none(tmp_path):
    assert read(RecordLocation(str(tmp_path / "gone.segment"), 0, 100)) is None


def test_an_empty_segment_holds_nothing(tmp_path):
    (tmp_path / "x.segment").write_bytes(b"")
    assert list(scan(tmp_path / "x.segment")) == []


@pytest.mark.parametrize("call", ["write", "fsync", "open"])
def test_the_i_th_system_call_may_fail_for_every_i(tmp_path, monkeypatch, call):
    """What was acknowledged before stays readable, the failed record leaves nothing behind, and the next append works."""
    real = getattr(os, call)
    for failing in range(12):
        calls, folder = iter(range(1000)), tmp_path / f"{call}{failing}"
        monkeypatch.setattr("modelsel.runner.journal.SYNC_RECORDS", 2)

        def fails(*arguments, calls=calls, failing=failing):
            if next(calls) == failing:
                if call == "write":
                    real(arguments[0], bytes(arguments[1])[:10])  # some bytes get through
                raise OSError(28, "No space left on device")
            return real(*arguments)

        monkeypatch.setattr(os, call, fails)
        segment, acknowledged, refused = Segment(folder), [], 0
        for number in range(10):
            try:
                acknowledged.append((number, segment.append({"key": number}, ARRAYS)))
            except StoreError as problem:
                refused += 1
                assert "No space left" in str(problem)  # noqa: PT017
        monkeypatch.undo()
        entries = [entry for path in folder.glob("*") for entry in scan(path)]
        found = {entry.facts["key"]: entry.place for entry in entries if isinstance(entry, RecordHeader)}
        assert refused <= 1
        assert all(found[number] == place and read(place) is not None for number, place in acknowledged)
        assert not any(isinstance(entry, CorruptRecord) for entry in entries)


def test_a_record_is_a_multiple_of_eight_bytes():
    assert len(encode({"a": "é"}, {"x": np.zeros(3, np.int8)})) % 8 == 0


def test_of_a_job_that_two_workers_began_the_newest_mark_counts(tmp_path):
    for at in (3.0, 7.0, 5.0):
        segment = Segment(tmp_path)
        segment.append({"kind": STARTED, "job": "a", "at": at}, {})
        segment.close()
    assert start_times(tmp_path) == {"a": 7.0}
