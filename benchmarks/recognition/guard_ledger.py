"""A long memory: one more look with 10,000 looks at 1,000 sets of other tables on record, in a process of its own.

Bookkeeping is everything but the fingerprints of the table at hand: reading and checking the ledger, looking for the same
rows, replay or intent, reveal, anchors. The ledger is made of real seals of different tables (80 to 4,000 rows, 4 to 20
columns that go by the same names) and ten looks at each, entry by entry as a gate writes them. Besides, a table of
100 × 2,000 with ten unrelated ones of its kind on record.

    python -m benchmarks.recognition.guard_ledger [--sets 1000] [--looks 10]

Beside the same ledger, `modelsel audit` of everything and `modelsel doctor`, each from its start to its end.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from benchmarks.common.places import ROOT
from benchmarks.common.timing import Row
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, seal
from modelsel.guard.entries import keep_all, keep_chosen, origin, seal_facts, terms_of
from modelsel.guard.fingerprints import subject_of
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.home import Home

SETS, LOOKS, GOAL, WIDE, AUDIT, DOCTOR = 1000, 10, 0.5, 2.0, 10.0, 3.0
BOUND = (
    "By profile a third is reading, comparing and recalling 31,000 entries, a quarter the comparison of portraits with "
    "tables of as many rows, a quarter the look for the same rows among 1,000 sets. The slowest is the first look, which makes "
    "the index over row hashes."
)
CONFIG = {"learner": {"kind": "tree", "depth": list(range(30))}, "scheme": {"kind": "kfold", "folds": 10}, "seed": 0}


def table(rows: int, columns: int, seed: int) -> Task:
    """Continuous columns by the same names everywhere."""
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))).round(4)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(columns))
    target = (values[:, 0] + rng.normal(size=rows) > 0).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(rows), classes=("no", "yes"), target=target)


def sealing(task: Task, name: str) -> TestSetDeclaration:
    order, cut = np.random.default_rng(0).permutation(len(task)), round(0.3 * len(task))
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    return TestSetDeclaration(seal(test), development, make("measure", "error"), name, f"runs/{name}", f"spec {name}", CONFIG)


def gate_of(home: Path) -> Gate:
    return Gate(make("guard", "warn", anchors=("state",), quota=None), home / "runs", home=Home(home))


def look(gate: Gate, what: TestSetDeclaration) -> object:
    def predict(rows: Table) -> Outputs:
        return Outputs((rows.values[:, 0] > 0).astype(np.int32)[None])

    return gate.look(LookRequest(what, SelectionSummary("a", 0.3, len(what.development), 0.3, 1), predict))


def fill(home: Path, sets: int, looks: int) -> None:
    """Seals, selections, intents and reveals as a gate writes them, in one transaction."""
    gate = gate_of(home)
    first = sealing(table(300, 5, 0), "first")
    look(gate, first)
    intent, reveal = (entry.facts for entry in gate.session.ledger.entries() if entry.kind in ("intent", "reveal"))
    rng, policy, key = np.random.default_rng(1), gate.policy, gate.session.key

    def step(writing: WriteTransaction) -> None:
        for number in range(1, sets + 1):
            task = table(int(80 * 50 ** rng.random()), int(rng.integers(4, 21)), number)
            what = sealing(task, f"study {number}")
            subject = subject_of(what, key)
            terms = terms_of(policy, what)
            chosen = asdict(SelectionSummary("a", 0.3, len(what.development), 0.3, 1))
            facts = {"testset": subject.digest, "train": subject.train, "study": what.study, "folder": what.folder}
            writing.append(
                "seal",
                {**seal_facts(subject, what, terms, key.id, None), **keep_all(writing, gate.session.store, key, what, subject)},
            )
            for turn in range(looks):
                asked = {**facts, "spec_id": f"spec {number}.{turn}", "key_id": key.id}
                writing.append("selection", {
                    **origin(), **asked, "measure": terms.metric, "measured": terms.measure, **chosen,
                    **keep_chosen(writing, gate.session.store, key, what, subject),
                })  # fmt: skip
                said = f"{number:08x}{turn:08x}"
                past = {"look": turn + 1, "spent": 5.0 * turn, "n": len(what.sealed), "charged": [subject.digest]}
                done = writing.append(
                    "intent", {**intent, **origin(), **facts, "spec_id": asked["spec_id"], "predictions": said, **past}
                )
                writing.append("reveal", {**reveal, **origin(), "intent": done.facts["id"]})

    gate.session.ledger.write(step)
    gate.session.remember_how_far()


def timed(home: Path, rows: int, columns: int, seed: int) -> tuple[float, float]:
    """Processor time of a look at a new table: its fingerprints, and everything else."""
    what, gate = sealing(table(rows, columns, seed), f"new {seed}"), gate_of(home)
    with tempfile.TemporaryDirectory() as folder:  # imports and kernels are no bookkeeping
        for rows_of_it in (900, 950):  # the second is compared with the portrait of the first, which smaller ones have not
            look(gate_of(Path(folder)), sealing(table(rows_of_it, 9, rows_of_it), f"warm {rows_of_it}"))
    before = time.process_time()
    gate_of(Path(folder)).subject(what)
    alone = time.process_time() - before
    before = time.process_time()
    look(gate, what)
    return alone, time.process_time() - before - alone


def command(home: Path, word: str) -> float:
    """Processor time of a command from its start to its end, in a process of its own."""
    before, environment = _of_children(), {**os.environ, "MODELSEL_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "modelsel", word], cwd=home, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-2000:])
    return _of_children() - before


def _of_children() -> float:
    """Processor time of the processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def apart(home: Path, rows: int, columns: int, seed: int) -> float:
    """Time a look in a process of its own, as `modelsel run` is one."""
    return _elsewhere(f"timed(Path({str(home)!r}), {rows}, {columns}, {seed})[1]")


def _elsewhere(call: str) -> float:
    """What a call of this module comes to in a process of its own."""
    program = f"from {__spec__.name} import timed, Path; print({call})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def rows(sets: int = SETS, looks: int = LOOKS) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, sets, looks)
        times = sorted(apart(home, 1000, 12, 10_000 + turn) for turn in range(3))
        on_record = f"{sets * looks:,} looks at {sets:,} sets on record, processor time"
        yield replace(_row(f"bookkeeping of a look, {on_record}", GOAL, times), note=BOUND)
        for word, goal in (("audit", AUDIT), ("doctor", DOCTOR)):
            times = sorted(command(home, word) for _ in range(3))
            yield _row(f"the command `modelsel {word}`, {on_record}", goal, times)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for number in range(10):
            look(gate_of(home), sealing(table(100, 2000, number), str(number)))
        times = sorted(apart(home, 100, 2000, 20_000 + turn) for turn in range(3))
        work = "bookkeeping of a look at 100 × 2,000, ten unrelated tables of that size on record, processor time"
        yield _row(work, WIDE, times)


def _row(work: str, budget: float, times: list[float]) -> Row:
    """A row of what was measured, in order, beside its budget."""
    against, ratios = f"a budget of {budget:g} s", tuple(one / budget for one in times)
    return Row(work, against, ratios, times[len(times) // 2], budget, "a process each", most=1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=SETS)
    parser.add_argument("--looks", type=int, default=LOOKS)
    options = parser.parse_args()
    for row in rows(options.sets, options.looks):
        print(f"{row.work}: {row.ours:.2f} s ({row.against})")
