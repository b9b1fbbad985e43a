"""Every attack made at the gate itself, run by run: which cells of the tables have more misses than a true method has?

    python -m benchmarks.attacks.at_the_gate [--runs 500] [--kept FILE] [--table units numbers releases] [--cell "home, costs"]

A run is one attacker at homes of his own: sealing, matching, replay, intent, answer, price, quota, merge and audit are the
product's, without fits. Each outcome is appended to FILE as the run ends: the same command goes on from there, several at once
with `--share 1/2` and `--share 2/2`. At delta = .05 at most 41 of 500 runs of a cell may have a miss.

What decides nothing takes no time: entries are chained, signed and examined as ever, but stand in memory and not in a database,
and the digest of predictions, which takes 40 ms so that nobody guesses it, takes none. `--disk` makes runs with all of that;
they have the same intervals either way (tests/guard/attacks/test_at_the_gate.py).
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.attacks import guard_gate_attacks, guard_numbers, guard_units
from benchmarks.attacks._in_memory import in_memory
from benchmarks.common.places import scratch

Cell = tuple[str, str, str]  # table, row and column
RUNS, MOST = 500, 41
NO_PROMISE = "undeclared"


def cells() -> dict[Cell, Callable[[int], bool]]:
    """Every cell, and whether a run of it has a miss."""
    units = {
        ("units", *place): partial(guard_units.missed, *place) for place in product(guard_units.SCENARIOS, guard_units.KINDS)
    }
    numbers = {("numbers", name, "runs"): partial(_numbers, name) for name in guard_numbers.SCENARIOS}
    shown = product(guard_gate_attacks.SCENARIOS, guard_gate_attacks.RELEASES)
    releases = {("releases", *place): partial(_released, *place) for place in shown if guard_gate_attacks.shows(*place)}
    return {**units, **numbers, **releases}


def _numbers(scenario: str, run: int) -> bool:
    with scratch() as folder:
        return guard_numbers.missed(scenario, np.random.default_rng([run, guard_numbers.SCENARIOS.index(scenario)]), folder)


def _released(scenario: str, release: str, run: int) -> bool:
    with scratch() as folder:
        return guard_gate_attacks.missed(release, scenario, folder, run)


def outcomes(file: Path | None) -> dict[Cell, dict[int, bool]]:
    """Read what each run came to so far; a line that a killed process left half is left out."""
    found: dict[Cell, dict[int, bool]] = defaultdict(dict)
    for line in file.read_text().splitlines() if file is not None and file.is_file() else ():
        if line.endswith("}"):
            told = json.loads(line)
            found[told["table"], told["row"], told["column"]][told["run"]] = told["missed"]
    return found


def attack(
    wanted: Sequence[Cell], runs: int, file: Path | None, share: tuple[int, int] = (1, 1), disk: bool = False
) -> dict[Cell, dict[int, bool]]:
    """Make the runs that are not on file: the first of every cell, then the second of each, so that all grow alike."""
    known, every = outcomes(file), cells()
    if file is not None and file.is_file() and not file.read_text().endswith("\n"):
        with file.open("a") as out:
            out.write("\n")
    for run, cell in product(range(share[0] - 1, runs, share[1]), wanted):
        if run not in known[cell]:
            start = time.process_time()
            with nullcontext() if disk else in_memory():
                known[cell][run] = every[cell](run)
            if file is not None:
                told = {"run": run, "missed": known[cell][run], "seconds": round(time.process_time() - start, 3)}
                with file.open("a") as out:
                    out.write(json.dumps({**dict(zip(("table", "row", "column"), cell)), **told}) + "\n")
    return known


def page(found: dict[Cell, dict[int, bool]], wanted: Sequence[Cell]) -> str:
    """Write the tables: runs with a miss, of how many."""
    lines = []
    for table in dict.fromkeys(cell[0] for cell in wanted):
        rows = list(dict.fromkeys(cell[1] for cell in wanted if cell[0] == table))
        columns = list(dict.fromkeys(cell[2] for cell in wanted if cell[0] == table))
        lines += ["", f"| {table} | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
        for row in rows:
            told = (found.get((table, row, column), {}) for column in columns)
            lines.append(
                f"| {row} | " + " | ".join(f"{sum(one.values())} of {len(one)}" if one else "–" for one in told) + " |"
            )
    return "\n".join(lines[1:])


def too_many(found: dict[Cell, dict[int, bool]], wanted: Sequence[Cell]) -> list[Cell]:
    """The cells of which more runs have a miss than a true method shows once in a thousand times."""
    from scipy.stats import binom

    judged = (cell for cell in wanted if cell[1] != NO_PROMISE and found.get(cell))
    return [cell for cell in judged if binom.sf(sum(found[cell].values()) - 1, len(found[cell]), 0.05) < 1e-3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each cell; 0 prints what is on file")
    parser.add_argument("--kept", type=Path, help="file of outcomes, a line for each run, from which the command goes on")
    parser.add_argument(
        "--table", nargs="+", choices=("units", "numbers", "releases"), default=("units", "numbers", "releases")
    )
    parser.add_argument("--cell", nargs="+", help="row, or row and column with a comma between, as the table names them")
    parser.add_argument("--share", default="1/1", help="which of how many shares of the runs, for several processes at once")
    parser.add_argument("--disk", action="store_true", help="with databases and slow digests, at ten times the cost")
    options = parser.parse_args()
    first, of = map(int, options.share.split("/"))
    wanted = [cell for cell in cells() if cell[0] in options.table]
    if options.cell:
        wanted = [cell for cell in wanted if cell[1] in options.cell or f"{cell[1]}, {cell[2]}" in options.cell]
    found = attack(wanted, options.runs, options.kept, (first, of), options.disk)
    print(page(found, wanted))
    bad = too_many(found, wanted)
    print(*(f"too many: {cell}" for cell in bad), sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
