"""Mutation testing of guard, ledger and certificate: `PYTHONPATH=tests python -m mutation [--sample 400] [--into FILE]`.

With `--others` the mutants are those of all other rooms but statistics and the compiled kernels, and the tests are all, or
those that are named. To note the lines of all of them takes hours: with `--near` nothing is noted, and a mutant meets the
examples of its file, the tests named after it, and the files of tests that name it, those of its own room first. The test that
fails has to pass again without the mutant; what is alive after `--most` seconds of a processor was not judged.

A mutant changes one operator of one file, in a copy of the package; it is killed when a test of those rooms fails. Each mutant
meets the tests that reach its lines: first those of the file that is named after the mutated one, then the quickest of each
file; with `--most` only so many seconds of them, as they took when their lines were noted, so that some live on that the whole
suite would kill. Mutants that change no answer are left out by name (`equivalent`). The sample has a fixed seed, so that it is
the same until the code changes; with `--into` a run that was broken off goes on where it was. Exit 1 below 90 %.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from math import inf
from multiprocessing import get_context
from pathlib import Path

import pytest
from mutation.equivalent import without
from mutation.operators import PLACES, ROOT, Mutant, every, others

TESTS = ("tests/statistics/test_certificate.py", "tests/statistics/test_prices.py", "tests/statistics/test_guard_oracles.py",
         "tests/ledger", "tests/guard", "tests/examination", *PLACES)  # fmt: skip
OPTIONS = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "--timeout", "600")
HEAVY = ("numpy", "scipy.special", "scipy.stats", "scipy.optimize", "sqlalchemy",
         "cryptography.hazmat.primitives.asymmetric.ed25519", "pytest", "hypothesis", "numba", "pandas", "jinja2")  # fmt: skip
LEAST, PATIENCE, LONGEST = 0.9, 900.0, 60.0  # share; seconds of a mutant, and of a test with its lines noted


def reached(copy: Path, tests: tuple[str, ...], places: tuple[str, ...], into: Path) -> list[dict[str, object]]:
    """Which lines each test reaches, and how long it takes."""
    if not into.is_file():
        part = into.with_suffix(".part")
        part.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", *OPTIONS[1:-1], "900", "-m", "not slow and not soak",
                   "-p", "mutation.reach", *tests]  # fmt: skip
        env = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'tests'}", "REACH": str(part),
               "PLACES": os.pathsep.join(places)}  # fmt: skip
        subprocess.run(command, cwd=copy, env=env, check=False, stdout=subprocess.DEVNULL)
        part.rename(into)
    return [json.loads(line) for line in into.read_text("utf-8").splitlines()]


def chosen(mutant: Mutant, known: list[dict[str, object]], most: float) -> list[str]:
    """The tests that reach a mutant's lines: its own file of tests, then the quickest of each; the longest are left out."""
    lines = set(range(mutant.first, mutant.last + 1))
    known = [one for one in known if one["seconds"] < LONGEST]  # type: ignore[operator]
    met = [one for one in known if lines & set(one["lines"].get(mutant.place, ()))]  # type: ignore[attr-defined]
    met.sort(key=lambda one: one["seconds"])  # type: ignore[arg-type, return-value]
    turns: Counter[str] = Counter()
    ranked = []
    for one in met:  # one of every file of tests, then a second of each: they look at other sides of a thing
        file = str(one["test"]).partition("::")[0]
        turns[file] += 1
        ranked.append((turns[file], one))
    ranked.sort(key=lambda pair: (not _own(str(pair[1]["test"]), mutant), pair[0]))
    spent = accumulate(float(str(one["seconds"])) for _, one in ranked)
    return [str(one["test"]) for (_, one), until in zip(ranked, spent) if until <= most or one is ranked[0][1]]


def _own(test: str, mutant: Mutant) -> bool:
    """Is a test's file named after the mutant's, or after its folder?"""
    file, place = Path(test.partition("::")[0]), Path(mutant.place)
    name = file.stem.removeprefix("test_").lstrip("_")
    return file == place or (name in (place.stem.lstrip("_"), place.parent.name) and file.parent.name in place.parts)


def killed(copy: Path, tests: list[str]) -> bool:
    """Does a test fail?"""
    return ran(copy, tests) != 0


def ran(copy: Path, tests: list[str], seconds: float = inf, failed: Path | None = None) -> int:
    """The exit code of tests, in a process that has the heavy libraries already, but nothing of the package; −9: time is up.

    `seconds`: of a processor; `failed`: a file for the name of the test that fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        child = os.fork()
        if not child:
            os.setsid()
            _run(copy, tests, folder, seconds, failed)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return -signal.SIGKILL


class FirstFailure:
    """A plugin that writes down which test, or file of tests, failed."""

    def __init__(self, into: Path) -> None:
        self.into = into

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        if report.failed and not self.into.exists():
            self.into.write_text(report.nodeid, "utf-8")


def _run(copy: Path, tests: list[str], folder: str, seconds: float, failed: Path | None) -> None:
    code = 70
    try:
        if seconds < inf:
            resource.setrlimit(resource.RLIMIT_CPU, (round(sum(os.times()[:2]) + seconds),) * 2)
        os.chdir(copy)
        os.environ.update(PYTHONPATH=str(copy), TMPDIR=folder)
        tempfile.tempdir = folder
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.path[:] = [str(copy), *(entry for entry in sys.path if Path(entry).resolve() not in (ROOT, copy))]
        for name in [name for name in sys.modules if name.split(".")[0] in ("modelsel", "tests")]:
            del sys.modules[name]
        code = int(sys.modules["pytest"].main([*OPTIONS, *tests], plugins=[FirstFailure(failed)] if failed else []))
    finally:
        os._exit(code)


def judge(copy: Path, mutant: Mutant, known: list[dict[str, object]], turn: int, most: float) -> str:
    """What becomes of a mutant that meets the tests that reach it."""
    tests = chosen(mutant, known, most)
    if not tests:
        return "SURVIVED"
    with put_in(copy, mutant, turn):
        return "killed" if killed(copy, tests) else "SURVIVED"


def judge_near(copy: Path, mutant: Mutant, turn: int, most: float) -> str:
    """What becomes of a mutant that meets the tests near it."""
    with tempfile.TemporaryDirectory() as folder:
        failed = Path(folder, "failed")
        with put_in(copy, mutant, turn):
            code = ran(copy, near(mutant.place), most, failed)
        if code == 0:
            return "SURVIVED"
        if not failed.is_file():
            return "unjudged"
        return "killed" if ran(copy, [failed.read_text("utf-8")], most) == 0 else "unjudged"


@contextmanager
def put_in(copy: Path, mutant: Mutant, turn: int) -> Iterator[None]:
    """Put the mutant in, and take it out; the file's time tells compiled copies that it changed."""
    file = copy / mutant.place
    whole, time_of = file.read_text("utf-8"), file.stat().st_mtime
    file.write_text(mutant.source(), "utf-8")
    os.utime(file, (time_of + 10 + turn, time_of + 10 + turn))
    yield
    file.write_text(whole, "utf-8")
    os.utime(file, (time_of, time_of))


def near(place: str) -> list[str]:
    """A file for its examples, then files of tests: named after it, of its own room that name it, others that name it."""
    path = Path(place.removesuffix(".py"))
    above = re.escape(".".join(path.parent.parts))
    named = re.compile(rf"{above}\.{path.stem}\b|from {above} import [^\n]*\b{path.stem}\b")
    ranks = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        test, own_room = str(file.relative_to(ROOT)), file.relative_to(ROOT).parts[1] == path.parts[1]
        own = own_room and file.stem.removeprefix("test_") == path.stem.lstrip("_")
        if own or named.search(file.read_text("utf-8")):
            ranks[test] = 0 if own else 1 if own_room else 2
    return [place, *sorted(ranks, key=lambda test: ranks[test])]


def sampled(size: int, seed: int, only: str, places: tuple[str, ...] = PLACES) -> list[Mutant]:
    there = [mutant for mutant in without(every(places)) if only in str(mutant)]
    return random.Random(seed).sample(there, min(size, len(there)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of what is said of a mutant: a file, a line")
    parser.add_argument("--most", type=float, default=inf, help="seconds of tests that a mutant meets")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes, each with a copy of its own")
    parser.add_argument("--into", type=Path, help="file of results, which is gone on with")
    parser.add_argument("--others", action="store_true", help="all other rooms but the compiled kernels")
    parser.add_argument("--near", action="store_true", help="tests by their names, without noting which lines they reach")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    places = others() if args.others else PLACES
    tests = tuple(args.tests) or (("tests",) if args.others else TESTS)
    drawn = sampled(args.sample, args.seed, args.only, places)
    for name in HEAVY:
        import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # some tests go on as somebody who may do little
        into = args.into.absolute() if args.into else Path(folder) / "results"
        known = None
        if not args.near:
            known = reached(_copied(Path(folder) / "reached"), tests, places, into.with_suffix(".reach"))
        left = [mutant for mutant in drawn if str(mutant) not in _results(into)]
        start = get_context("fork").Process
        shares = [left[turn :: args.workers] for turn in range(args.workers)]
        workers = [
            start(target=_judge, args=(Path(folder) / str(turn), share, known, into, args.most))
            for turn, share in enumerate(shares)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        said = _results(into)
    broken = [mutant for mutant in drawn if str(mutant) not in said]
    if broken:
        raise SystemExit(f"{len(broken)} of {len(drawn)} mutants were not judged")
    words = Counter(said[str(mutant)] for mutant in drawn)
    judged = words["killed"] + words["SURVIVED"]
    dead, late = words["killed"], words["unjudged"]
    print(f"{dead} of {judged} killed ({dead / max(1, judged):.0%}){f', {late} not judged in time' if late else ''}")
    return 0 if dead >= LEAST * judged else 1


def _copied(copy: Path) -> Path:
    """A copy of the project, which mutants are put into."""
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "runs", "__pycache__", ".venv*", "*.db"))
    return copy


def _results(into: Path) -> dict[str, str]:
    """What became of each mutant that was judged so far."""
    lines = into.read_text("utf-8").splitlines() if into.is_file() else []
    return {mutant: word for word, mutant in (line.split(" ", 1) for line in lines)}


def _judge(folder: Path, share: list[Mutant], known: list[dict[str, object]] | None, into: Path, most: float) -> None:
    """Judge a worker's share of the mutants in a copy of its own, and write down what became of each."""
    copy = _copied(folder)
    if share and known is not None and killed(copy, chosen(share[0], known, most)):
        raise SystemExit("tests fail although nothing was changed")
    for turn, mutant in enumerate(share):
        word = judge_near(copy, mutant, turn, most) if known is None else judge(copy, mutant, known, turn, most)
        line = f"{word} {mutant}"
        print(line, flush=True)
        with into.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
