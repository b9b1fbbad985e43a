"""Mutation testing of guard, ledger and certificate: `PYTHONPATH=tests python -m mutation [--sample 400] [--into FILE]`.

With `--others` the mutants are those of all other rooms but statistics and the compiled kernels, and the tests are all of the
default suite, or those that are named.

A mutant changes one operator of one file; it is killed when a test fails that passes without it. All that are drawn stand in
one copy of the package, each behind a switch (`switches`). First the tests run once with every switch off, which tells for each
mutant the tests that come by it, and what each costs (`reach`). Then one process collects these tests and forks for each
mutant, which meets the tests of the file named after its own, and then the quickest of each file (`judge`): nothing is imported
again. With `--most` it meets only so many seconds of them, so that some live on that the whole suite would kill. What a switch
cannot say, a mutant that is compiled or computed at import, has a process with the changed file.

Mutants that change no answer are left out by name (`equivalent`). The sample has a fixed seed, so that it is the same until the
code changes; with `--into` a run that was broken off goes on where it was. `--keep FILE` writes down what died, each by its
line and the test that killed it, and `--again FILE` looks in a few minutes whether that still kills it. Exit 1 below 90 %.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf
from pathlib import Path

from mutation import switches
from mutation.equivalent import without
from mutation.operators import PLACES, ROOT, Mutant, every, mutants, others

TESTS = ("tests/statistics/test_certificate.py", "tests/statistics/test_prices.py", "tests/statistics/test_guard_oracles.py",
         "tests/ledger", "tests/guard", "packages/modelsel-exam/exam_tests", *PLACES)  # fmt: skip
DEFAULT = ("tests", "modelsel", "--ignore", "tests/architecture")  # what reads the source sees switches
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow and not soak")
LEAST, ALIVE = 0.9, ("SURVIVED", "")


@dataclass
class Reached:
    """What a run with every switch off has told: seconds of the tests that passed, and who came by which mutant."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    imports: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, times: Path, hits: Path) -> "Reached":
        self = cls()
        for line in times.read_text("utf-8").splitlines():
            seconds, _, test = line.partition(" ")
            self.seconds[test] = float(seconds)
        files = defaultdict(set)
        for test in self.seconds:
            files[_file(test)].add(test)
        for line in hits.read_text("utf-8").splitlines():
            key, _, where = line.partition(" ")
            test, _, phase = where.rpartition(" ")
            if not test:
                self.imports.add(key)
            elif phase == "(setup)":  # of what may be the whole file's
                self.tests[key] |= files[_file(test)]
            elif test in self.seconds:
                self.tests[key].add(test)
        return self


def reach(copy: Path, tests: Sequence[str], workers: int, into: Path) -> Reached:
    """Run the tests with every switch off, unless that was done."""
    times, hits = into.with_suffix(".times"), into.with_suffix(".hits")
    if not times.is_file():
        part = into.with_suffix(".part")
        for file in (part, hits):
            file.unlink(missing_ok=True)
        with hits.open("a"):
            _run(
                [*PYTEST, "-n", str(workers), "-p", "mutation.reach", "--timeout", "900", *tests], copy, REACH=hits, TIMES=part
            )
        part.rename(times)
    return Reached.read(times, hits)


def chosen(mutant: Mutant, met: set[str], seconds: dict[str, float], most: float) -> list[str]:
    """Tests, the quickest first: of the file named after the mutant's, then one of each file in turn, until time is spent."""
    turns: Counter[str] = Counter()
    ranked = []
    for test in sorted(met, key=lambda one: (seconds[one], one)):  # those of one file are much alike
        turns[_file(test)] += 1
        ranked.append((not _own(test, mutant), turns[_file(test)], test))
    order = [test for _, _, test in sorted(ranked)]
    return [
        test for test, until in zip(order, accumulate(map(seconds.__getitem__, order))) if until <= most or test is order[0]
    ]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _own(test: str, mutant: Mutant) -> bool:
    """Is a test's file named after the mutant's, or after its folder?"""
    file, place = Path(_file(test)), Path(mutant.place)
    name = file.stem.removeprefix("test_").lstrip("_")
    return file == place or (name in (place.stem.lstrip("_"), place.parent.name) and file.parent.name in place.parts)


def judge_switched(copy: Path, met: dict[str, list[str]], seconds: dict[str, float], workers: int, into: Path) -> None:
    """Have each mutant, by its key, meet its tests in a fork of one process; the verdicts are written down one by one."""
    files = sorted({_file(test) for tests in met.values() for test in tests})
    job = into.with_suffix(".job")
    job.write_text(json.dumps({"mutants": met, "seconds": seconds, "into": str(into), "workers": workers}), "utf-8")
    _run([*PYTEST, "-n", "0", "-s", "-p", "mutation.judge", *files], copy, JOB=job)


def judge_apart(copy: Path, mutant: Mutant, tests: list[str]) -> str:
    """What becomes of a mutant whose file is changed before it is imported."""
    command = [*PYTEST, "-n", "0", "-x", "--timeout", "600", *tests]
    with put_in(copy, mutant):
        if _run(command, copy) == 0:
            return "SURVIVED"
    return "killed" if _run(command, copy) == 0 else "unjudged"


def judge_known(copy: Path, known: dict[Mutant, str], workers: int, into: Path) -> None:
    """Have each mutant meet the test that has killed it before."""
    compiled = switches.write(copy, list(known))
    met = {mutant.key: [test] for mutant, test in known.items() if mutant.key not in compiled}
    judge_switched(copy, met, {}, workers, into)
    for mutant, test in known.items():
        if mutant.key in compiled:
            word = judge_apart(copy, mutant, [test])
            with into.open("a", encoding="utf-8") as file:
                file.write(f"{word} {mutant.key} {test}\n")


@contextmanager
def put_in(copy: Path, mutant: Mutant) -> Iterator[None]:
    """Put the mutant in, and take it out."""
    file = copy / mutant.place
    whole = file.read_text("utf-8")
    file.write_text(mutant.source(), "utf-8")
    yield
    file.write_text(whole, "utf-8")


def _run(command: list[str], copy: Path, **said: Path) -> int:
    """The exit code of a command in a copy of the project, which keeps no bytecode: files change within a second."""
    env = {name: value for name, value in os.environ.items() if name not in ("REACH", "MUTANT")}
    env |= {"PYTHONPATH": f"{copy}{os.pathsep}{copy / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"} | {
        k: str(v) for k, v in said.items()
    }
    return subprocess.run(
        command, cwd=copy, env=env, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode


def sampled(size: int, seed: int, only: str, places: tuple[str, ...] = PLACES) -> list[Mutant]:
    there = [mutant for mutant in without(every(places)) if only in str(mutant)]
    return random.Random(seed).sample(there, min(size, len(there)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of what is said of a mutant: a file, a line")
    parser.add_argument("--most", type=float, default=inf, help="seconds of tests that a mutant meets")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--into", type=Path, help="file of results, which is gone on with")
    parser.add_argument("--others", action="store_true", help="all other rooms but the compiled kernels")
    parser.add_argument("--keep", type=Path, help="file to write mutants and the tests that killed them into")
    parser.add_argument("--again", type=Path, help="such a file: each mutant meets the test that killed it")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    known = kept(args.again) if args.again else {}
    drawn = list(known) or sampled(args.sample, args.seed, args.only, others() if args.others else PLACES)
    tests = tuple(args.tests) or (DEFAULT if args.others else TESTS)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # some tests go on as somebody who may do little
        into = args.into.absolute() if args.into else Path(folder) / "results.txt"
        copy = _copied(Path(folder) / "copy")
        if known:
            judge_known(copy, known, args.workers, into)
        said = _results(into) if known else judged(copy, drawn, tests, args.workers, args.most, into)
    words = Counter(said.get(mutant.key, ALIVE)[0] for mutant in drawn)
    for mutant in drawn:
        print(*said.get(mutant.key, ALIVE), mutant)
    if args.keep:
        dead = [(said[mutant.key][1], mutant) for mutant in drawn if said[mutant.key][0] == "killed"]
        args.keep.write_text("".join(f"{test}\t{mutant.name}\n" for test, mutant in dead if test), "utf-8")
    killed, late = words["killed"], words["unjudged"]
    alive = len(drawn) - late
    print(f"{killed} of {alive} killed ({killed / max(1, alive):.0%}){f', {late} not judged' if late else ''}")
    return 0 if killed >= LEAST * alive else 1


def kept(file: Path) -> dict[Mutant, str]:
    """Mutants as `--keep` has written them, each with the test that killed it, but for those whose line is gone."""
    found: dict[Mutant, str] = {}
    for line in file.read_text("utf-8").splitlines():
        test, _, name = line.partition("\t")
        place = name.partition("\t")[0]
        there = (mutant for mutant in (mutants(place) if (ROOT / place).is_file() else ()) if mutant.name == name)
        found |= dict.fromkeys(there, test)
    return found


def _copied(copy: Path) -> Path:
    ignored = shutil.ignore_patterns(".git", "runs", "__pycache__", ".venv*", "*.db")
    return Path(shutil.copytree(ROOT, copy, ignore=ignored))


def judged(
    copy: Path, drawn: list[Mutant], tests: Sequence[str], workers: int, most: float, into: Path
) -> dict[str, tuple[str, str]]:
    """What became of each mutant, by its key, and the test that killed it."""
    compiled = switches.write(copy, drawn)
    reached = reach(copy, tests, workers, into)
    met = {mutant.key: chosen(mutant, reached.tests[mutant.key], reached.seconds, most) for mutant in drawn}
    left = {mutant.key: met[mutant.key] for mutant in drawn if met[mutant.key] and mutant.key not in _results(into)}
    if left:
        judge_switched(copy, left, reached.seconds, workers, into)
    apart = compiled | reached.imports
    for mutant in drawn:
        word = _results(into).get(mutant.key, ("", ""))[0]
        if not word or (word == ALIVE[0] and mutant.key in apart):
            all_of_them = chosen(mutant, set(reached.seconds), reached.seconds, min(most, 60))
            word = judge_apart(copy, mutant, all_of_them) if mutant.key in apart else ALIVE[0]
            with into.open("a", encoding="utf-8") as file:
                file.write(f"{word} {mutant.key} \n")
    return _results(into)


def _results(into: Path) -> dict[str, tuple[str, str]]:
    """The last that was said of each mutant, and the test that failed."""
    lines = into.read_text("utf-8").splitlines() if into.is_file() else []
    return {key: (word, test) for word, key, test in (line.split(" ", 2) for line in lines)}


if __name__ == "__main__":
    sys.exit(main())
