"""Rows under noise are known by waves over columns of equal names; other samples, and measurements made anew, are not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import bundled, drawn
from benchmarks.recognition.guard_disguises import look, noise, subset
from modelsel.core.types import Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.portrait import Portrait, draw_portrait
from modelsel.ledger.portraits.variables import Variables, variables
from modelsel.ledger.portraits.waves import SURE, OwnWaves

KEY = IdentityKey(b"k" * 32)
TABLES = {"4 columns": (400, "rrrr"), "10 columns": (600, "rrrssrrrss"), "mixed": (690, "rrsiizlllmmmkkb")}


def both(task: Task) -> tuple[Variables, Portrait]:
    found = variables(task)
    assert found is not None
    return found, draw_portrait(found, KEY)


def nats(one: Task, other: Task, common: int = 0, key: IdentityKey = KEY) -> float:
    (found, mine), theirs = both(one), both(other)[1]
    assert theirs.waves is not None
    return OwnWaves(found, mine.labels, key, mine.waves).nats(theirs.waves, theirs.n, common)


def noisy(task: Task, share: float, seed: int) -> Task:
    rng = np.random.default_rng(seed)
    part = noise(0.05)(subset(share)(task, rng), rng)  # type: ignore[arg-type]
    assert part is not None
    return part


@pytest.mark.parametrize("name", TABLES)
def test_sixty_in_a_hundred_rows_under_noise_are_known(name: str) -> None:
    table = drawn(*TABLES[name], 1)
    part = noisy(table, 0.6, 1)
    assert nats(table, part) > SURE
    assert nats(part, table) > SURE
    assert nats(table, part, common=len(part)) == 0  # as near as rows that are matched make them


def test_other_samples_of_one_source_and_columns_measured_anew_are_not() -> None:
    table = drawn(600, "rrrrrr", 1, 1)
    assert [nats(table, drawn(600, "rrrrrr", seed, 1)) for seed in range(2, 6)] == [0.0] * 4
    values = table.values.copy()
    values[:, 0] = drawn(600, "rrrrrr", 2, 1).values[:, 0]
    assert nats(table, table.with_features(table.features, values)) == 0
    assert nats(table, table) > 100


@pytest.mark.slow
def test_the_scale_is_that_of_the_means_of_other_samples() -> None:
    """The variance that is reckoned row by row, beside that of the means of two hundred samples of one world."""
    means, reckoned = [], []
    for seed in range(200):
        found, mine = both(drawn(200, "rr", seed, 1))
        assert mine.waves is not None
        means.append(mine.waves.means)
        if seed < 30:
            reckoned.append(OwnWaves(found, mine.labels, KEY)._spread[1] / 200)
    measured = np.var(means, axis=0)
    assert np.mean(reckoned) == pytest.approx(measured.mean(), rel=0.06)
    assert np.corrcoef(np.mean(reckoned, axis=0).ravel(), measured.ravel())[0, 1] > 0.9


def test_another_key_has_other_waves_and_what_is_stored_is_read_again() -> None:
    task = drawn(200, "rrr", 1)
    found, mine = both(task)
    again = Portrait.of(mine.stored()).waves
    assert again is not None
    assert mine.waves is not None
    assert np.array_equal(again.labels, mine.waves.labels)
    assert again.means == pytest.approx(mine.waves.means, abs=1e-6)
    other = OwnWaves(found, mine.labels, IdentityKey(b"o" * 32)).drawn
    assert np.abs(other.means - mine.waves.means).mean() > 0.05
    assert Portrait.of(replace(mine, waves=None).stored()).waves is None
    assert draw_portrait(variables(drawn(200, "ddk", 1)), KEY).waves is None  # type: ignore[arg-type]  # columns of few values


@pytest.mark.slow
@pytest.mark.parametrize("which", ["wine", "breast_cancer"])
def test_a_noisy_part_of_a_real_table_is_refused(which: str, tmp_path: Path) -> None:
    task = bundled(which)
    look(tmp_path, task, 0)
    assert look(tmp_path, noisy(task, 0.6, 1), 1, "another") == "refused"
