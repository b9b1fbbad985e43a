"""What every data set in conf/dataset/ promises."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.dataset.led import DIGITS

CONF = Path(__file__).parents[2] / "conf" / "dataset"
SPECS = {path.stem: {"kind": path.stem, **yaml.safe_load(path.read_text())} for path in sorted(CONF.glob("*.yaml"))}
ASKED = {"path", "dir", "data_id", "content", "query"}  # of a disk, the web, or memory
FROM_DISK = {name for name, spec in SPECS.items() if ASKED & set(spec)}


def part(name: str) -> Any:
    return make("dataset", **SPECS[name])


@pytest.mark.parametrize("name", sorted(set(SPECS) - FROM_DISK))
def test_a_set_that_needs_no_file_is_whole(name: str) -> None:
    assert list(part(name).problems()) == []
    task: Task = part(name).read()
    assert len(task) == len(task.target) == len(task.values)
    assert task.values.shape[1] == len(task.features)
    assert set(np.unique(task.target)) <= set(range(len(task.classes)))
    assert len({feature.name for feature in task.features}) == len(task.features)
    for index, feature in enumerate(task.features):
        column = task.values[:, index]
        if feature.kind != "numeric":
            assert np.all((column >= 0) & (column < len(feature.levels)) & (column == np.round(column)))
    assert part(name).read().fingerprint == task.fingerprint


@pytest.mark.parametrize("name", sorted(FROM_DISK))
def test_a_set_from_disk_says_what_it_needs(name: str) -> None:
    problems = list(part(name).problems())
    assert problems[0].code == {"memory": "MSEL-380"}.get(name, "MSEL-301")
    assert "dataset." in problems[0].where
    with pytest.raises(ConfigurationError):
        part(name).read()


@pytest.mark.parametrize("name", ["csv", "arff", "parquet", "duckdb", "openml", "named"])
def test_the_yaml_names_every_setting(name: str) -> None:
    assert set(SPECS[name]) - {"kind"} == set(type(part(name)).__dataclass_fields__)


def test_another_waveform_training_set_has_the_same_test_rows() -> None:
    first = make("dataset", "waveform", rows=50, seed=0, test_rows=30).read()
    second = make("dataset", "waveform", rows=50, seed=1, test_rows=30).read()
    assert np.array_equal(first.values[50:], second.values[50:])
    assert not np.array_equal(first.values[:50], second.values[:50])
    assert first.held_out.sum() == (first.folds == 0).sum() == 30


def test_training_sets_side_by_side_are_those_of_the_seeds_and_share_the_test_rows() -> None:
    alone = [make("dataset", "waveform", positive="a", rows=50, seed=seed, test_rows=30).read() for seed in (3, 4)]
    task = make("dataset", "waveform", positive="a", rows=50, seed=3, test_rows=30, sets=2).read()
    first, second = make("scheme", "predefined").instantiate(task, 0).folds
    assert (first.repeat, second.repeat) == (0, 1)
    assert np.array_equal(first.assessment, second.assessment)
    for one, fold in zip(alone, (first, second), strict=True):
        assert np.array_equal(task.values[fold.analysis], one.values[:50])
        assert np.array_equal(task.target[fold.assessment], one.target[50:])


def test_two_classes_of_the_waves_are_those_that_the_published_areas_belong_to() -> None:
    """A mixes the outer waves (places 7 and 15), B the middle one (11) and an outer one: where their means are highest."""
    for positive, high, low in (("a", (7, 15), 11), ("b", (11, 15), 7)):
        task = make("dataset", "waveform", positive=positive, rows=6000).read()
        mean = task.values[task.target == 1].mean(axis=0)
        assert min(mean[place - 1] for place in high) > mean[low - 1] + 0.5
        assert task.target.mean() == pytest.approx(1 / 3, abs=0.02)


def test_led_has_the_bayes_error_of_the_book() -> None:
    led = make("dataset", "led", rows=40_000).read()
    shown = np.array([[int(segment) for segment in digit] for digit in DIGITS])
    wrong = (led.values[:, None, :] != shown).sum(axis=2)  # equal priors: the likeliest digit differs in fewest segments
    assert (wrong.argmin(axis=1) != led.target).mean() == pytest.approx(0.26, abs=0.01)
