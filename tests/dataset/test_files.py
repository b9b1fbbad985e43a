"""Files as people have them: compressed, of another separator, with decimal commas, with the index that pandas saved."""

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelsel.core.errors import ConfigurationError, DataError
from modelsel.core.types import Loaded, Task
from modelsel.dataset import csv
from modelsel.dataset import files as bytes_module
from modelsel.dataset.arrow import _read_cells
from modelsel.dataset.csv import Csv
from modelsel.dataset.files import tell_progress
from modelsel.dataset.parquet import Parquet
from modelsel.dataset.read_table import read_like, read_table

ROWS = "a,b,y\n" + "".join(f"{i * 1.5},{'uvw'[i % 3]},{'no' if i % 2 else 'yes'}\n" for i in range(24))


def zipped(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("rows.csv", data)
    return made.getvalue()


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd, ".zip": zipped,
}  # fmt: skip


def load(path: Path, **settings: object) -> Loaded:
    return Csv(path=str(path), **{"target": "y", **settings}).load()  # type: ignore[arg-type]


def written(folder: Path, text: str | bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def said(loaded: Loaded, code: str) -> list[str]:
    return [finding.message for finding in loaded.findings if finding.code == code]


def same(one: Task, other: Task) -> bool:
    return one.fingerprint == other.fingerprint


@pytest.mark.parametrize("ending", PACKED)
def test_a_compressed_file_is_the_table_in_it(ending: str, tmp_path: Path) -> None:
    plain = load(written(tmp_path, ROWS)).task
    packed = written(tmp_path, PACKED[ending](ROWS.encode()), f"rows.csv{ending}")
    assert same(load(packed).task, plain)
    assert same(read_table(packed, "y"), plain)
    assert load(packed).task.name == "rows"
    assert np.array_equal(read_like(packed, plain.reading).table.values, plain.values)
    assert same(load(written(tmp_path, packed.read_bytes(), "odd.csv")).task, plain)  # whatever it is called


def test_arff_may_be_compressed(tmp_path: Path) -> None:
    text = b"@relation r\n@attribute a numeric\n@attribute y {no,yes}\n@data\n" + b"1,no\n2,yes\n" * 5
    assert read_table(written(tmp_path, gzip.compress(text), "rows.arff.gz"), "y").classes == ("no", "yes")


@pytest.mark.parametrize("ending", PACKED)
def test_a_damaged_compressed_file_is_named(ending: str, tmp_path: Path) -> None:
    whole = PACKED[ending](ROWS.encode() * 50)
    with pytest.raises(DataError, match=r"MSEL-372.*damaged.*rows"):
        load(written(tmp_path, whole[: len(whole) // 2], f"rows.csv{ending}"))


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    again = bz2.compress(b"a,y\n") + bz2.compress(b"1,no\n" * 1_000_000) * 14
    with pytest.raises(DataError, match=r"MSEL-374.*unpack to more than 68 MB.*unpack it by hand"):
        load(written(tmp_path, again, "again.csv.bz2"))


def test_a_table_that_no_memory_holds_is_refused_by_its_first_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, b"a,b,y\n" + b"1,2,no\n" * 1000, "rows.csv")
    table = pa.table({"a": np.arange(1000.0), "b": np.arange(1000.0), "y": ["no", "yes"] * 500})
    pq.write_table(table, tmp_path / "rows.parquet")
    files = [Csv(path=str(path), target="y"), Parquet(path=str(tmp_path / "rows.parquet"), target="y")]
    need = 1000 * 3 * 8
    monkeypatch.setattr("modelsel.dataset.files.memory", lambda: need + 100)
    assert [list(file.problems()) for file in files] == [[], []]
    monkeypatch.setattr("modelsel.dataset.files.memory", lambda: need - 100)
    said = [str(problem) for file in files for problem in file.problems()]
    assert len(said) == 2
    assert all("MSEL-375" in one and "3 columns" in one and "features.NAME=ignore" in one for one in said)
    less = replace(files[0], features={"a": "ignore"})
    assert not list(less.problems())


def test_a_workbook_and_an_archive_of_several_say_what_to_do(tmp_path: Path) -> None:
    book = io.BytesIO()
    pd_free = zipfile.ZipFile(book, "w")
    pd_free.writestr("[Content_Types].xml", "")
    pd_free.writestr("xl/workbook.xml", "")
    pd_free.close()
    with pytest.raises(DataError, match=r"MSEL-373.*workbook.*save the sheet as CSV"):
        load(written(tmp_path, book.getvalue()))
    two = io.BytesIO()
    with zipfile.ZipFile(two, "w") as archive:
        archive.writestr("a.csv", ROWS)
        archive.writestr("b.csv", ROWS)
    with pytest.raises(DataError, match=r"MSEL-373.*holds 2 files"):
        load(written(tmp_path, two.getvalue()))


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_another_separator_is_recognised_and_said(sign: str, tmp_path: Path) -> None:
    loaded = load(written(tmp_path, ROWS.replace(",", sign)))
    assert same(loaded.task, load(written(tmp_path, ROWS)).task)
    assert len(said(loaded, "DELIMITER")) == 1
    assert said(load(tmp_path / "rows.csv"), "DELIMITER") == []


@pytest.mark.parametrize("spelled", ["\\t", "tab", "\t"])
def test_a_tab_may_be_written_as_people_write_it(spelled: str, tmp_path: Path) -> None:
    path = written(tmp_path, ROWS.replace(",", "\t"))
    assert same(load(path, delimiter=spelled).task, load(path).task)
    with pytest.raises(ConfigurationError, match=r"MSEL-305.*';;' is not one character"):
        load(path, delimiter=";;")


def test_a_comma_within_cells_of_another_separator_is_no_separator(tmp_path: Path) -> None:
    text = "a;b, said;y\n" + "".join(f"{i};p, q{i % 3};{'no' if i % 2 else 'yes'}\n" for i in range(24))
    assert [feature.name for feature in load(written(tmp_path, text)).task.features] == ["a", "b, said"]


def test_a_table_of_commas_stays_one_though_its_cells_hold_semicolons(tmp_path: Path) -> None:
    text = "a,b;c,y\n" + "".join(f"{i},p;q{i % 3},{'no' if i % 2 else 'yes'}\n" for i in range(24))
    assert [feature.name for feature in load(written(tmp_path, text)).task.features] == ["a", "b;c"]


def test_decimal_commas_are_recognised_where_commas_part_no_fields(tmp_path: Path) -> None:
    text = "a;b;y\n" + "".join(f"{i},25;{i}.5;{'no' if i % 2 else 'yes'}\n" for i in range(24))
    loaded = load(written(tmp_path, text))
    assert loaded.task.values[:3].tolist() == [[0.25, 0.5], [1.25, 1.5], [2.25, 2.5]]
    assert said(loaded, "DECIMAL_COMMA") == ["decimal commas were recognised in a"]
    assert read_like(tmp_path / "rows.csv", loaded.task.reading).table.values[1].tolist() == [1.25, 1.5]


def test_commas_that_may_part_thousands_are_asked_about(tmp_path: Path) -> None:
    text = "a;y\n" + "".join(f"{i},250;{'no' if i % 2 else 'yes'}\n" for i in range(24))
    with pytest.raises(DataError, match=r"MSEL-342.*thousands.*column 'a'.*dataset\.decimal=','"):
        load(written(tmp_path, text))
    assert load(tmp_path / "rows.csv", decimal=",").task.values[1, 0] == 1.25


@pytest.mark.parametrize("cell", ["{},250", "{},250,000", "{}'250", "{} 250,75", "{}.250,75", "{},250.75"])
def test_thousands_are_taken_neither_for_words_nor_for_fractions(cell: str, tmp_path: Path) -> None:
    text = "a\ty\n" + "".join(f"{cell.format(i + 1)}\t{'no' if i % 2 else 'yes'}\n" for i in range(24))
    with pytest.raises(DataError, match=r"MSEL-342.*thousands.*column 'a'.*without"):
        load(written(tmp_path, text), delimiter="tab")
    quoted = "a,y\n" + "".join(f'"{cell.format(i + 1)}",{"no" if i % 2 else "yes"}\n' for i in range(24))
    with pytest.raises(DataError, match=r"MSEL-342.*thousands.*column 'a'.*without"):
        load(written(tmp_path, quoted))


def test_points_beside_decimal_commas_are_asked_about(tmp_path: Path) -> None:
    text = "price;b;y\n" + "".join(f"{i + 1}.250;{i},5;{'no' if i % 2 else 'yes'}\n" for i in range(24))
    with pytest.raises(DataError, match=r"MSEL-342: points that may part thousands.*column 'price'"):
        load(written(tmp_path, text))
    loaded = load(tmp_path / "rows.csv", features={"price": "numeric"})
    assert loaded.task.values[0].tolist() == [1.25, 0.5]
    assert load(written(tmp_path, text.replace(",5;", ".5;"))).task.values[0].tolist() == [1.25, 0.5]  # no commas: fractions


@pytest.mark.parametrize("kept", [slice(None), slice(None, None, 3)])
def test_the_index_that_pandas_saved_is_left_out_and_said(kept: slice, tmp_path: Path) -> None:
    plain = written(tmp_path, ROWS)
    pd.read_csv(plain)[kept].to_csv(tmp_path / "saved.csv")  # a first column without a name
    pd.read_csv(tmp_path / "saved.csv").to_csv(tmp_path / "again.csv", index=False)  # called "Unnamed: 0"
    pd.read_csv(plain)[kept].to_csv(tmp_path / "bare.csv", index=False)
    for name in ("saved.csv", "again.csv"):
        loaded = load(tmp_path / name)
        assert same(loaded.task, load(tmp_path / "bare.csv").task)
        assert "'Unnamed: 0' is a saved row index" in said(loaded, "INDEX_COLUMN")[0]
    kept_as_feature = load(tmp_path / "saved.csv", features={"Unnamed: 0": "numeric"}).task
    assert kept_as_feature.features[0].name == "Unnamed: 0"
    assert load(tmp_path / "saved.csv", id="Unnamed: 0").task.ids is not None


def test_a_first_column_without_a_name_that_is_no_index_stays(tmp_path: Path) -> None:
    text = ",b,y\n" + "".join(f"{i % 5},{i * 1.5},{'no' if i % 2 else 'yes'}\n" for i in range(24))
    loaded = load(written(tmp_path, text))
    assert [feature.name for feature in loaded.task.features] == ["Unnamed: 0", "b"]
    assert said(loaded, "INDEX_COLUMN") == []


def test_a_long_reading_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytes_module, "EVERY", 0.0)
    monkeypatch.setattr(bytes_module, "BLOCK", 128)
    lines: list[str] = []
    path = written(tmp_path, gzip.compress(ROWS.encode() * 1), "rows.csv.gz")
    with tell_progress(lines.append):
        load(path)
    assert lines
    assert lines[-1].startswith("reading rows.csv.gz: 100%")
    plain: list[str] = []
    with tell_progress(plain.append):
        load(written(tmp_path, ROWS))
    shares = [int(line.split(": ")[1].split("%")[0]) for line in plain]
    assert shares == sorted(shares)
    assert shares[-1] == 100


def test_reading_takes_at_most_six_times_the_table_that_comes_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourteen times, when every text of the file was a Python string; NumPy's and Python's share is what is counted here."""
    table = np.random.default_rng(0).normal(size=(20_000, 20)).round(6)
    frame = pd.DataFrame(table).rename(columns=str)
    frame["y"] = np.where(table[:, 0] > 0, "a", "b")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for module in (bytes_module, csv):
        monkeypatch.setattr(module, "BLOCK", 1 << 18)
    load(written(tmp_path, ROWS, "warm.csv"))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    task = load(tmp_path / "rows.csv").task
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(task.values, table)
    assert peak < 4 * table.nbytes
    assert pa.total_allocated_bytes() - before < table.nbytes  # nothing of the texts is kept


def test_whole_numbers_are_numbers_as_far_as_a_double_holds_each() -> None:
    largest = 2**53
    assert _read_cells("n", pa.chunked_array([[largest, -largest, 1]])).numbers is not None
    assert set(_read_cells("n", pa.chunked_array([[largest + 1, 1]])).texts) == {"1", str(largest + 1)}
