"""Families are resolved by one fit, which is written down: a study that was killed after it computes none of it again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from modelsel.core.types import Candidate
from modelsel.learner.tree import Tree
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.runner.families import resolve
from modelsel.runner.journal import SUFFIX, Journal
from tests import doubles
from tests.doubles import candidates
from tests.family import Family

HERE = str(Path(__file__).parents[2])
TASK = doubles.task(90, classes=3)
STUDY = """
import os, signal, sys
from pathlib import Path
from modelsel.runner.families import resolve
from modelsel.runner.journal import Journal
from modelsel.runner.execution.executors import Pool
from tests import doubles
from tests.family import Family
from tests.runner.studies import answer, study
folder, name, kill, *older = sys.argv[1:]
folder = Path(folder)
families = doubles.candidates(*(Family(group=group, cut="path", log=f"{folder}/fits.log") for group in (0, 1)))
with Journal(folder / name, [folder / one for one in older]) as journal:
    some = resolve(families, doubles.task(), 0, journal)
    if kill == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
results = study(folder, some, name=name, older=[folder / one for one in older])
print(answer(results))
"""


def tree(strength, **more):
    return Candidate(Tree(pruner=CostComplexity(alpha=strength), **more), entry="cart")


FAMILIES = (tree("path"), tree("path", max_depth=3), tree("path", min_leaf=4), *candidates(Family(cut="path"), Family()))


def test_what_a_family_stands_for_is_read_back_to_the_last_bit(tmp_path):
    found = resolve(FAMILIES, TASK, 0)
    for written in (True, False):
        with Journal(tmp_path / "a") as journal:
            assert resolve(FAMILIES, TASK, 0, journal) == found
            assert bool(journal.own.path) is written
    strengths = [candidate.learner.pruner.alpha for candidate in found if candidate.entry == "cart"]
    assert len(set(strengths)) >= 5
    assert all(type(strength) is float for strength in strengths)


def test_families_of_equal_growing_share_a_fit_and_a_known_one_needs_none(tmp_path):
    log = tmp_path / "fits.log"
    some = candidates(*(Family(group=group, cut="path", lean=lean, log=str(log)) for group in (0, 1) for lean in (0, 1)))
    with Journal(tmp_path / "a") as journal:
        first = resolve(some, TASK, 0, journal)
    assert len(log.read_text().splitlines()) == 2
    with Journal(tmp_path / "b", [tmp_path / "a"]) as journal:
        assert resolve(some, TASK, 0, journal) == first
    for path in (tmp_path / "a").iterdir():
        path.unlink()
    with Journal(tmp_path / "b") as journal:
        assert resolve(some, TASK, 0, journal) == first, "a run's own journal is complete by itself"
    assert len(log.read_text().splitlines()) == 2


def test_other_rows_another_seed_and_another_family_are_fitted(tmp_path):
    log = tmp_path / "fits.log"
    for count, (task, seed, group) in enumerate(
        [(TASK, 0, 0), (TASK, 0, 0), (TASK, 1, 0), (doubles.task(), 0, 0), (TASK, 0, 7)]
    ):
        with Journal(tmp_path / "a") as journal:
            resolve(candidates(Family(group=group, cut="path", log=str(log))), task, seed, journal)
        assert len(log.read_text().splitlines()) == max(count, 1)


def test_a_flipped_bit_costs_a_fit_and_no_answer(tmp_path):
    some = candidates(Family(cut="path"))
    with Journal(tmp_path / "a") as journal:
        found = resolve(some, TASK, 0, journal)
    path = next((tmp_path / "a").glob(f"*{SUFFIX}"))
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with Journal(tmp_path / "b", [tmp_path / "a"]) as journal:
            assert resolve(some, TASK, 0, journal) == found
        for copy in (tmp_path / "b").iterdir():
            copy.unlink()


@pytest.mark.slow
def test_killed_after_resolving_a_resumed_study_fits_no_family_again(tmp_path):
    (tmp_path / "study.py").write_text(STUDY)

    def started(name, kill, *older):
        command = [sys.executable, str(tmp_path / "study.py"), str(tmp_path), name, kill, *older]
        return subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": HERE}, check=False, timeout=60
        )

    log = tmp_path / "fits.log"
    assert started("a", "kill").returncode == -signal.SIGKILL
    assert len(log.read_text().splitlines()) == 2
    resumed = started("b", "go", "a")
    assert resumed.returncode == 0, resumed.stderr
    cells = 2 * 3
    assert len(log.read_text().splitlines()) == 2 + cells, "each family once, then its cells"
    assert resumed.stdout == started("c", "go").stdout


@pytest.mark.parametrize("said", [[{"cut": "path"}], [{"cut": 3.0}], [{"no.such": 1}], "nothing", [{"cut": [1]}]])
def test_a_record_whose_members_are_not_those_it_names_is_not_believed(tmp_path, said):
    from modelsel.runner import families

    family = candidates(Family(cut="path"))[0]
    right = resolve((family,), TASK, 0)
    key = families.CellKey(
        TASK.fingerprint,
        families.ALL_ROWS,
        families.digest([families.fit_digest(family), family.id]),
        0,
        families.code((family,)),
    )
    facts = families._facts(key, family, right)
    with Journal(tmp_path / "a") as journal:
        journal.own.append({**facts, "members": said}, {})
    with Journal(tmp_path / "b", [tmp_path / "a"]) as journal:
        assert resolve((family,), TASK, 0, journal) == right
