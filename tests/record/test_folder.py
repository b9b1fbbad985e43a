"""A run's folder: one per launch, found by what people call it, nothing secret in it."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from modelsel.core.errors import BAD_CONFIGURATION, UNWRITABLE, ConfigurationError, StoreError
from modelsel.core.outcome import StudySummary
from modelsel.record.files import plain
from modelsel.record.folder import RunFolder, folder_name


def test_launches_of_the_same_second_get_folders_of_their_own(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: RunFolder.create(tmp_path, "study").path, range(64)))
    assert len(set(made)) == 64
    assert (tmp_path / "latest").resolve() in made
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_names_sort_by_time(tmp_path):
    made = [RunFolder.create(tmp_path, "study").path.name for _ in range(20)]
    assert [name[:20] for name in made] == sorted(name[:20] for name in made)


def test_latest_is_a_relative_link_so_that_runs_can_be_moved(tmp_path):
    made = RunFolder.create(tmp_path / "runs", "study")
    (tmp_path / "runs").rename(tmp_path / "moved")
    assert (tmp_path / "moved" / "latest").resolve().name == made.path.name


def test_a_run_is_found_by_folder_latest_study_name_and_mlflow_id(folder, finished, monkeypatch):
    folder.write_json("mlflow.json", {"run_id": "0123456789abcdef" * 2})
    root = folder.root
    names = (str(folder.path), "latest", finished.outcome.study, folder.path.name, "0123456789abcdef" * 2)
    assert [RunFolder.open(name, root).path for name in names] == [folder.path.resolve()] * 5


def test_a_study_name_means_its_newest_finished_run(folder, finished):
    newer = RunFolder.create(folder.root, finished.outcome.study)
    assert RunFolder.open(finished.outcome.study, folder.root).path == folder.path.resolve()
    newer.save(finished)
    assert RunFolder.open(finished.outcome.study, folder.root).path == newer.path.resolve()


def test_an_unknown_run_names_the_nearest(folder):
    with pytest.raises(ConfigurationError, match="did you mean 'breast_cancer-quick'") as error:
        RunFolder.open("breast_cancer-quik", folder.root)
    assert error.value.exit_code == BAD_CONFIGURATION


def test_an_empty_place_says_how_to_start(tmp_path):
    with pytest.raises(ConfigurationError, match="modelsel run"):
        RunFolder.open("latest", tmp_path)


def test_a_run_that_was_not_finished_says_so(tmp_path):
    made = RunFolder.create(tmp_path, "study")
    with pytest.raises(ConfigurationError, match="was not finished"):
        RunFolder.open(made.path).outcome()


def test_what_is_read_is_what_was_written(folder, finished):
    assert folder.outcome() == StudySummary.read(plain(finished.outcome.to_dict()))
    assert folder.config() == finished.config
    losses, assessed = folder.losses(), folder.assessed()
    np.testing.assert_array_equal(losses.matrix, finished.selection.losses.matrix)
    np.testing.assert_array_equal(losses.fold, finished.selection.losses.fold)
    np.testing.assert_array_equal(losses.row, finished.selection.losses.row)
    assert losses.ids == tuple(row.id for row in folder.candidates())
    np.testing.assert_array_equal(assessed.predicted, finished.selection.assessed.predicted)
    np.testing.assert_allclose(assessed.scores, finished.selection.assessed.scores, atol=1e-6)
    assert assessed.ids == finished.selection.assessed.ids


def test_an_unwritable_root_is_exit_6(tmp_path):
    (tmp_path / "runs").write_text("a file where a folder should be")
    with pytest.raises(StoreError) as error:
        RunFolder.create(tmp_path / "runs", "study")
    assert error.value.exit_code == UNWRITABLE


@pytest.mark.parametrize("name", ["../up", "/etc", "a/b", ".hidden", "", "latest", "ü ber", "x" * 300])
def test_no_study_name_leaves_its_root(name, tmp_path):
    made = RunFolder.create(tmp_path, name)
    assert made.path.parent.parent == tmp_path
    assert folder_name(name) not in ("latest", "", ".", "..")
