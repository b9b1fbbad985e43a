"""`python -m benchmarks [name ...]`: run the benchmark files, assert equal answers, write the table of README.md.

A file `<name>.py` in a folder offers `rows() -> Iterable[Row]`. Without names all are run; with names, whatever folder they
stand in, only their rows of the table are replaced.
"""

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from math import isnan
from pathlib import Path

import benchmarks
from benchmarks.common.timing import Row, machine

HERE = Path(__file__).parent
STORE = HERE / "results.json"
HEAD = """# What is fast, measured beside what people would use instead

`python -m benchmarks` runs all of it; `python -m benchmarks engine knn` two files of it. A ratio is *their seconds / our
seconds* of one turn; both take turns in one process and the median is shown with its range. Work of less than a twentieth of
a second is called again within a turn, on either side, until that much has passed. The answers are compared in the same run:
a row whose answers differ is an error, not a row.
"""


def main(wanted: list[str]) -> int:
    """Run, print and write; 1 when a goal was missed, 2 for a name that is not there."""
    places = modules()
    names = wanted or sorted(name for name, place in places.items() if hasattr(importlib.import_module(place), "rows"))
    if unknown := set(names) - set(places):
        print(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(sorted(places))}", file=sys.stderr)
        return 2
    table = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in names:
        found = []
        for row in importlib.import_module(places[name]).rows():
            print(_line(row), flush=True)
            found.append(row)
        table[name] = {"machine": machine(), "rows": [asdict(row) for row in found]}
        STORE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
        (HERE / "README.md").write_text(page(table))
    return int(not all(Row(**row).reached for entry in table.values() for row in entry["rows"]))


def modules() -> dict[str, str]:
    """Each file's short name and its module; those with `rows` measure times, the others print tables of their own."""
    found = (one.name for one in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.") if not one.ispkg)
    return {short: name for name in found if (short := name.rpartition(".")[2])[0] != "_"}


def page(table: dict[str, dict[str, object]]) -> str:
    """The README: a section per file, with the machine that measured it."""
    return HEAD + "".join(_section(name, entry) for name, entry in sorted(table.items()))


def _section(name: str, entry: dict[str, object]) -> str:
    rows = [Row(**row) for row in entry["rows"]]  # type: ignore[attr-defined]
    head = "| work | against | ours | theirs | ratio (range) | goal | equal answers |\n|---|---|---|---|---|---|---|\n"
    notes = "".join(f"\n{row.work}: {row.note}\n" for row in rows if row.note)
    return f"\n## {name}\n\n{entry['machine']}\n\n{head}{''.join(_line(row) for row in rows)}{notes}"


def _line(row: Row) -> str:
    goal = ", ".join(f"{sign} {end:g}" for sign, end in (("≥", row.goal), ("≤", row.most)) if end is not None)
    verdict = f"{goal} {'reached' if row.reached else '**missed**'}" if goal else ""
    spread = f"{row.ratio:.3g} ({min(row.ratios):.3g}–{max(row.ratios):.3g})"
    return f"| {row.work} | {row.against} | {_time(row.ours)} | {_time(row.theirs)} | {spread} | {verdict} | {row.equal} |\n"


def _time(seconds: float) -> str:
    if isnan(seconds):
        return ""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
