"""Sets that are read from a folder the person gives."""

from pathlib import Path

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError, DataError
from modelsel.dataset import magic
from modelsel.dataset.magic import Magic
from modelsel.dataset.miniboone import Miniboone
from modelsel.scheme.predefined import Predefined


def test_magic_is_read_whole(shared: Path) -> None:
    task = Magic(dir=str(shared / "data")).read()
    assert (len(task), task.classes) == (19_020, ("g", "h"))
    assert np.bincount(task.target).tolist() == [12_332, 6_688]


@pytest.mark.slow
def test_magic_without_a_header_is_the_same(shared: Path, tmp_path: Path) -> None:
    text = (shared / "data" / "magic04.csv").read_text()
    (tmp_path / "magic04.data").write_text(text.partition("\n")[2])
    assert Magic(dir=str(tmp_path)).read().fingerprint == Magic(dir=str(shared / "data")).read().fingerprint


def test_a_cut_off_download_is_refused(tmp_path: Path) -> None:
    (tmp_path / "magic04.data").write_text("1,2,3,4,5,6,7,8,9,10,g\n" * 5)
    with pytest.raises(DataError, match=r"MSEL-315: 5 rows, where MAGIC has 19020"):
        Magic(dir=str(tmp_path)).read()
    with pytest.raises(ConfigurationError, match="MSEL-302"):
        Miniboone(dir=str(tmp_path)).read()


def test_miniboone_leaves_out_events_that_were_not_reconstructed(tmp_path: Path) -> None:
    events = np.round(np.random.default_rng(0).normal(size=(7, 50)), 3)
    events[4] = -999
    lines = [" ".join(str(x) for x in event) for event in events]
    (tmp_path / "MiniBooNE_PID.txt").write_text("  3  4\n" + "\n".join(lines) + "\n")
    loaded = Miniboone(dir=str(tmp_path)).load()
    assert loaded.task.target.tolist() == [1, 1, 1, 0, 0, 0]
    assert np.array_equal(loaded.task.values, events[[0, 1, 2, 3, 5, 6]])
    assert loaded.findings[0].message.startswith("1 events")
    (tmp_path / "MiniBooNE_PID.txt").write_text("3 4\n1 2 3\n")
    with pytest.raises(DataError, match="MSEL-315"):
        Miniboone(dir=str(tmp_path)).read()


@pytest.mark.slow
def test_magic_in_ten_random_splits_of_the_published_sizes(shared: Path) -> None:
    folds = Predefined().instantiate(Magic(dir=str(shared / "data"), sets=10).read(), 0).folds
    assert [(len(fold.analysis), len(fold.assessment)) for fold in folds] == [(12_680, 6_340)] * 10
    assert all(len(np.union1d(fold.analysis, fold.assessment)) == 19_020 for fold in folds)
    assert len({fold.fingerprint for fold in folds}) == 10
    small = Predefined().instantiate(Magic(dir=str(shared / "data"), sets=2, scale=0.1).read(), 0).folds
    assert [(len(fold.analysis), len(fold.assessment)) for fold in small] == [(1_268, 634)] * 2


def test_miniboone_in_training_sets_that_share_no_row(tmp_path: Path) -> None:
    events = np.random.default_rng(0).normal(size=(130, 50)).round(3)
    lines = [" ".join(str(x) for x in event) for event in events]
    (tmp_path / "MiniBooNE_PID.txt").write_text("  60  70\n" + "\n".join(lines) + "\n")
    folds = Predefined().instantiate(Miniboone(dir=str(tmp_path), sets=10).read(), 0).folds
    assert [(len(fold.analysis), len(fold.assessment)) for fold in folds] == [(12, 10)] * 10
    assert len(np.unique(np.concatenate([fold.analysis for fold in folds]))) == 120
    assert len({tuple(fold.assessment) for fold in folds}) == 1


def test_a_folder_that_is_not_named_says_where_the_file_is_to_be_had() -> None:
    for part, address in ((Magic(), "archive.ics.uci.edu/dataset/159"), (Miniboone(), "archive.ics.uci.edu/dataset/199")):
        (problem,) = part.problems()
        assert address in problem.fix
        assert problem.where == "dataset.dir"


def test_magic_is_told_by_its_rows_and_the_fields_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magic, "ROWS", 4)
    rows = [[*(str(row * 0.5 + column) for column in range(10)), "gh"[row % 2]] for row in range(4)]
    file = tmp_path / "magic04.data"
    file.write_text("\n".join(map(",".join, rows)))
    task = Magic(dir=str(tmp_path)).read()
    assert (len(task), len(task.features), task.classes) == (4, 10, ("g", "h"))
    file.write_text("\n".join(map(",".join, [*rows[:3], rows[3][1:]])))
    with pytest.raises(DataError, match="MSEL-315"):
        Magic(dir=str(tmp_path)).read()
