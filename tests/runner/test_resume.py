"""What is known is not computed again: the same run, a larger space, another measure, damaged records, kills at any moment."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from modelsel.runner.journal import Journal, older_journals
from tests.doubles import Agreement, Double, Quadratic, candidates, spread
from tests.runner.studies import answer, study

HERE = str(Path(__file__).parents[2])
SOME = (*spread(7, noise=True), *spread(5, group=1, lean=1))


def test_the_same_run_again_computes_nothing_and_is_complete_by_itself(tmp_path):
    first = study(tmp_path, SOME, name="a")
    said = answer(first)
    again = study(tmp_path, SOME, name="b", older=[tmp_path / "a"])
    for path in (tmp_path / "a").iterdir():
        path.unlink()
    alone = study(tmp_path, SOME, name="b")
    assert (first.computed, again.computed, alone.computed) == (6, 0, 0)
    assert said == answer(again) == answer(alone)


def test_a_larger_space_computes_only_what_is_missing(tmp_path):
    small, large = spread(4), (*spread(4), *spread(3, lean=1), *spread(3, group=2))
    study(tmp_path, small, name="a")
    grown = study(tmp_path, large, name="b", older=[tmp_path / "a"])
    assert grown.computed == 6
    assert grown.why == {"4 of 7 candidates were known": 3, "not computed before": 3}
    assert answer(grown) == answer(study(tmp_path, large, name="c"))


def test_a_space_of_other_candidates_of_the_same_batches_is_not_called_damaged(tmp_path):
    study(tmp_path, spread(4), name="a")
    other = study(tmp_path, spread(3, lean=1), name="b", older=[tmp_path / "a"])
    assert other.why == {"0 of 3 candidates were known": 3}


def test_a_smaller_space_computes_nothing(tmp_path):
    study(tmp_path, SOME, name="a")
    small = SOME[2:9]
    again = study(tmp_path, small, name="b", older=[tmp_path / "a"])
    assert again.computed == 0
    assert answer(again) == answer(study(tmp_path, small, name="c"))


def test_another_measure_reads_stored_predictions_where_it_can(tmp_path):
    study(tmp_path, SOME, name="a")
    other = study(tmp_path, SOME, measure=Agreement(), name="b", older=[tmp_path / "a"])
    scored = study(tmp_path, SOME, measure=Quadratic(), name="c", older=[tmp_path / "a"])
    back = study(tmp_path, SOME, name="d", older=[tmp_path / "c"])
    assert (other.computed, scored.computed, back.computed) == (0, 6, 0)
    assert scored.why == {"the measure reads class scores, which were not kept": 6}
    assert answer(other) == answer(study(tmp_path, SOME, measure=Agreement(), name="e"))
    assert answer(back) == answer(study(tmp_path, SOME, name="f"))


def test_another_seed_is_computed_afresh_and_says_why(tmp_path):
    study(tmp_path, SOME, name="a")
    again = study(tmp_path, SOME, name="b", older=[tmp_path / "a"], seed=1)
    assert again.why == {"it was computed with another seed": 6}


def test_failures_are_remembered_unless_they_are_to_be_retried(tmp_path):
    some = (*spread(3), *candidates(Double(cut=9.5, deed="raise")))
    first = study(tmp_path, some, name="a")
    again = study(tmp_path, some, name="b", older=[tmp_path / "a"])
    retried = study(tmp_path, some, name="c", older=[tmp_path / "a"], retry_failed=True)
    assert (again.computed, retried.computed) == (0, 3)
    assert answer(first) == answer(again) == answer(retried)


def test_a_flipped_bit_costs_its_own_cell_and_nothing_else(tmp_path):
    said = answer(study(tmp_path, SOME, name="a"))
    path = next((tmp_path / "a").iterdir())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    again = study(tmp_path, SOME, name="b", older=[tmp_path / "a"])
    assert again.computed == 1
    assert again.why == {"its record is damaged": 1}
    assert answer(again) == said


@pytest.mark.slow
def test_whatever_bit_of_a_journal_is_flipped_it_is_read_and_at_most_one_cell_is_computed_again(tmp_path):
    said = answer(study(tmp_path, SOME, name="a"))
    path = next((tmp_path / "a").iterdir())
    whole = path.read_bytes()
    for number, at in enumerate(np.linspace(0, len(whole) - 1, 150).astype(int)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << number % 8)]) + whole[at + 1 :])
        again = study(tmp_path, SOME, name=f"b{number}", older=[tmp_path / "a"])
        assert (again.computed, answer(again)) == (1, said), at
        with Journal(tmp_path / "a") as damaged:
            assert not damaged.own.path


def test_older_journals_are_newest_first_after_the_named_one(tmp_path):
    for number, name in enumerate(("x", "y", "z")):
        journal = tmp_path / "study" / name / "journal"
        journal.mkdir(parents=True)
        os.utime(journal, (number, number))
    found = older_journals(tmp_path, (tmp_path / "study" / "x" / "journal",))
    assert [path.parent.name for path in found] == ["x", "z", "y"]


def test_a_journal_knows_what_it_holds(tmp_path):
    study(tmp_path, SOME, name="a")
    with Journal(tmp_path / "a") as journal:
        assert not journal.damage


STUDY = """
import sys
from pathlib import Path
from modelsel.runner.execution.executors import Pool
from tests.runner.studies import answer, study
from tests.doubles import spread
folder, name, kind, *older = sys.argv[1:]
settings = {{"seconds": {seconds}, "noise": True, "log": f"{{folder}}/fits.log"}}
some = [candidate for group in range({groups}) for candidate in spread(4, group=group, **settings)]
results = study(Path(folder), some, pool=Pool(kind, 2), name=name, older=[Path(folder) / one for one in older], folds=4)
print(answer(results))
"""


def killed_at_random(folder, kind, kills, groups, seconds, rng):
    """Run a study, kill its process group at a random moment, resume, …; the digest of the last run and the fits made."""
    script = folder / "study.py"
    script.write_text(STUDY.format(groups=groups, seconds=seconds))
    names: list[str] = []
    longest = 2.0 + groups * 4 * seconds / 2
    for kill in range(kills + 1):
        names.append(f"run{kill:02d}")
        command = [sys.executable, str(script), str(folder), names[-1], kind, *reversed(names[:-1])]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "PYTHONPATH": HERE}
        )
        if kill < kills:
            time.sleep(float(rng.uniform(0.3, longest)))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        else:
            digest = process.communicate()[0].strip()
            assert process.returncode == 0
    fits = (folder / "fits.log").read_text().splitlines()
    return digest, fits


def check_kills(tmp_path, kind, kills, groups, seconds):
    digest, fits = killed_at_random(tmp_path, kind, kills, groups, seconds, np.random.default_rng(0))
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    assert killed_at_random(undisturbed, "sequential", 0, groups, seconds, None)[0] == digest
    rework = len(fits) - len(set(fits))
    print(f"{kind}: {kills} kills, {rework} of {groups * 4} cells computed again, at most {kills * 2} may be")
    assert len(set(fits)) == groups * 4
    assert rework <= kills * 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_killed_runs_end_resumed_with_the_answer_of_the_undisturbed_one(tmp_path, kind):
    check_kills(tmp_path, kind, kills=2, groups=12, seconds=0.04)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_killed_twenty_times(tmp_path, kind):
    check_kills(tmp_path, kind, kills=20, groups=250, seconds=0.04)
