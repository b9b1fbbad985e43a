"""Mutation testing of guard, ledger and certificate: `PYTHONPATH=tests python -m mutation [--sample 400] [--into FILE]`.

With `--others` the mutants are those of all other rooms but statistics and the compiled kernels, and the tests are all, or
those that are named.

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
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from itertools import accumulate
from math import inf
from multiprocessing import get_context
from pathlib import Path

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
    """Does a test fail? In a process that has the heavy libraries already, but nothing of the package."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        child = os.fork()
        if not child:
            os.setsid()
            _run(copy, tests, folder)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status) != 0
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return True


def _run(copy: Path, tests: list[str], folder: str) -> None:
    code = 70
    try:
        os.chdir(copy)
        os.environ.update(PYTHONPATH=str(copy), TMPDIR=folder)
        tempfile.tempdir = folder
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.path[:] = [str(copy), *(entry for entry in sys.path if Path(entry).resolve() not in (ROOT, copy))]
        for name in [name for name in sys.modules if name.split(".")[0] in ("modelsel", "tests")]:
            del sys.modules[name]
        code = int(sys.modules["pytest"].main([*OPTIONS, *tests]))
    finally:
        os._exit(code)


def judge(copy: Path, mutant: Mutant, known: list[dict[str, object]], turn: int, most: float) -> bool:
    """Put the mutant in, run its tests, take it out; the file's time tells compiled copies that it changed."""
    tests = chosen(mutant, known, most)
    if not tests:
        return False
    file = copy / mutant.place
    whole, time_of = file.read_text("utf-8"), file.stat().st_mtime
    file.write_text(mutant.source(), "utf-8")
    os.utime(file, (time_of + 10 + turn, time_of + 10 + turn))
    died = killed(copy, tests)
    file.write_text(whole, "utf-8")
    os.utime(file, (time_of, time_of))
    return died


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
    dead = sum(said[str(mutant)] == "killed" for mutant in drawn)
    print(f"{dead} of {len(drawn)} killed ({dead / max(1, len(drawn)):.0%})")
    return 0 if dead >= LEAST * len(drawn) else 1


def _copied(copy: Path) -> Path:
    """A copy of the project, which mutants are put into."""
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "runs", "__pycache__", ".venv*", "*.db"))
    return copy


def _results(into: Path) -> dict[str, str]:
    """What became of each mutant that was judged so far."""
    lines = into.read_text("utf-8").splitlines() if into.is_file() else []
    return {mutant: word for word, mutant in (line.split(" ", 1) for line in lines)}


def _judge(folder: Path, share: list[Mutant], known: list[dict[str, object]], into: Path, most: float) -> None:
    """Judge a worker's share of the mutants in a copy of its own, and write down what became of each."""
    copy = _copied(folder)
    if share and killed(copy, chosen(share[0], known, most)):
        raise SystemExit("tests fail although nothing was changed")
    for turn, mutant in enumerate(share):
        line = f"{'killed' if judge(copy, mutant, known, turn, most) else 'SURVIVED'} {mutant}"
        print(line, flush=True)
        with into.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
