"""Ten ways to look at a test set again, and what becomes of each here and with the nearest other tool.

    python -m benchmarks.attacks.guard_evasions [--with PYTHON]

The other tool is `mlw`, which refuses a second `assess()` by the content of the test part. Where it is installed, here or in
the environment of another interpreter (`--with`), its column is measured (`_nearest_tool`); else it is what was observed with
PyPI 1.1.2 and repository 1.2.0, and marked as stated. 1,000 rows, 200 of them test rows. Reading the file with other code is
beyond both. Ends with 1 when one of ours is not as claimed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.common.places import ROOT
from benchmarks.common.timing import Row
from modelsel.core.spec import make
from modelsel.core.types import Feature, Outputs, Table, Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.requests import LookRequest, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home


def table() -> Task:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 6))
    target = (values[:, 0] + rng.normal(size=1000) > 0).astype(np.int32)
    features = tuple(Feature(f"x{i}", "numeric") for i in range(6))
    return Task(name="t", features=features, values=values, rows=np.arange(1000), classes=("no", "yes"), target=target)


@dataclass(frozen=True)
class Attempt:
    """One study under `guard=strict`: which table, which seed of the split, which column the model reads."""

    task: Task
    seed: int = 0
    column: int = 0
    runs: str = "runs"

    def sealing(self) -> TestSetDeclaration:
        order = np.random.default_rng(self.seed).permutation(len(self.task))
        test, development = self.task.take(np.sort(order[:200])), self.task.take(np.sort(order[200:]))
        return TestSetDeclaration(seal(test), development, make("measure", "error"), "study", "runs/1", f"column {self.column}")

    def look(self, home: Path) -> str:
        sealing = self.sealing()

        def predict(rows: Table) -> Outputs:
            return Outputs((rows.values[:, self.column] > 0).astype(np.int32)[None])

        gate = Gate(make("guard", "strict"), home / self.runs, home=Home(home))
        result = gate.look(LookRequest(sealing, SelectionSummary(f"column {self.column}", 0.3, 800, 0.3, 1), predict))
        if result.refused:
            return f"refused ({', '.join(result.flags)})"
        return "replayed" if result.replay else "revealed"


def read_labels(home: Path) -> str:
    """Predictions on the test features are free; the labels to compare them with are not to be had."""
    del home
    sealed = Attempt(table()).sealing().sealed
    holds = [name for name in dir(sealed) if name in ("target", "labels", "y")]
    return "no labels to be had" if not holds else "revealed"


def another_process(home: Path) -> str:
    code = "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
    code += "import benchmarks.attacks.guard_evasions as g; print(g.Attempt(g.table(), column=1).look(Path(sys.argv[2])))"
    command = [sys.executable, "-c", code, str(ROOT), str(home)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout.strip()


def changed(how: Callable[[Task], Task], seed: int = 0) -> Callable[[Path], str]:
    return lambda home: Attempt(how(table()), seed=seed, column=1).look(home)


def shuffled(task: Task) -> Task:
    return replace(task.take(np.random.default_rng(5).permutation(len(task))), rows=np.arange(len(task)))


def renamed(task: Task) -> Task:
    return replace(task, features=(Feature("alpha", "numeric"), *task.features[1:]))


def single(task: Task) -> Task:
    return task.with_features(task.features, task.values.astype(np.float32).astype(np.float64))


def wider(task: Task) -> Task:
    return task.with_features((*task.features, Feature("one", "numeric")), np.c_[task.values, np.ones(len(task))])


ROWS: tuple[tuple[str, str, str, Callable[[Path], str]], ...] = (
    ("second model on the same test rows", "refused", "refused", changed(lambda task: task)),
    ("new split seed", "revealed", "refused", changed(lambda task: task, seed=1)),
    ("source rows shuffled, same seed", "revealed", "refused", changed(shuffled)),
    ("one column renamed", "revealed", "refused", changed(renamed)),
    ("float32 copy", "revealed", "refused", changed(single)),
    ("constant column added", "revealed", "refused", changed(wider)),
    ("own accuracy from test predictions", "revealed", "no labels", read_labels),
    ("same script from another directory", "revealed", "refused",
     lambda home: Attempt(table(), column=1, runs="elsewhere/runs").look(home)),
    ("another process", "revealed (1.1.2)", "refused", another_process),
    ("honest identical re-run", "refused (1.2.0)", "replayed", lambda home: Attempt(table()).look(home)),
)  # fmt: skip


def rows() -> Iterator[Row]:
    """No timing: the comparison is printed, and our column asserted."""
    assert main() == 0
    yield from ()


def measured(interpreter: str) -> tuple[str, dict[str, str]]:
    """The other tool's version and column; the stated one, and no version, where it is not installed."""
    script = Path(__file__).with_name("_nearest_tool.py")
    done = subprocess.run([interpreter, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        return "", {name: theirs for name, theirs, _, _ in ROWS}
    report = json.loads(done.stdout.splitlines()[-1])
    return str(report["version"]), dict(report["found"])


def main(interpreter: str = sys.executable) -> int:
    good = True
    version, column = measured(interpreter)
    print(f"mlw {version}: measured" if version else "mlw is not installed: its column is stated, not measured")
    print(f"{'attempt after one look':38}{'mlw':32}here")
    for name, _, claimed, attempt in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            Attempt(table()).look(home)
            found = attempt(home)
        good &= found.startswith(claimed)
        print(f"{name:38}{column[name]:32}{found}{'' if found.startswith(claimed) else '   NOT AS CLAIMED'}")
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="interpreter", default=sys.executable, help="an interpreter that has mlw")
    sys.exit(main(parser.parse_args().interpreter))
