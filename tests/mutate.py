"""Mutation testing of guard, ledger and certificate: `python -m tests.mutate [--sample 400] [--seed 0]`.

A mutant changes one operator (comparison, arithmetic, and/or) of one file, in a copy of the package; it is killed when a test
of those rooms fails. The sample has a fixed seed, so that it is the same until the code changes. Exit 1 below 90 %.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (
    "modelsel/guard",
    "modelsel/ledger",
    "modelsel/statistics/reuse/certificate.py",
    "modelsel/statistics/reuse/prices.py",
)
TESTS = ("tests/statistics/test_certificate.py", "tests/statistics/test_prices.py", "tests/statistics/test_guard_oracles.py",
         "tests/ledger", "tests/guard")  # fmt: skip
LEAST = 0.9
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def files() -> list[Path]:
    found = [ROOT / place for place in PLACES]
    return sorted(path for one in found for path in ([one] if one.suffix else one.rglob("*.py")))


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    """Every operator that has a twin: the node, its field, and which of several."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            yield node, "op", 0
        elif isinstance(node, ast.Compare):
            yield from ((node, "ops", index) for index, op in enumerate(node.ops) if type(op) in SWAPS)


def mutant(source: str, number: int) -> tuple[str, str]:
    """The source with its so-many-th operator swapped, and where that is."""
    tree = ast.parse(source)
    node, field, index = list(places(tree))[number]
    old = node.ops[index] if field == "ops" else node.op  # type: ignore[attr-defined]
    new = SWAPS[type(old)]()
    if field == "ops":
        node.ops[index] = new  # type: ignore[attr-defined]
    else:
        node.op = new  # type: ignore[attr-defined]
    return ast.unparse(tree), f"line {node.lineno}: {type(old).__name__} -> {type(new).__name__}"  # type: ignore[attr-defined]


def killed(copy: Path, tests: tuple[str, ...]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    env = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        return subprocess.run(command, cwd=copy, env=env, capture_output=True, timeout=1800).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a file's name")
    parser.add_argument("tests", nargs="*", default=TESTS)
    args = parser.parse_args()
    every = [(path, number) for path in files() if args.only in str(path)
             for number in range(len(list(places(ast.parse(path.read_text("utf-8"))))))]  # fmt: skip
    drawn = random.Random(args.seed).sample(every, min(args.sample, len(every)))
    dead = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "work"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "runs", "__pycache__", ".venv", "*.db"))
        for path, number in drawn:
            place, source = path.relative_to(ROOT), path.read_text("utf-8")
            changed, where = mutant(source, number)
            (copy / place).write_text(changed, "utf-8")
            died = killed(copy, tuple(args.tests))
            dead += died
            print(f"{'killed  ' if died else 'SURVIVED'} {place} {where}", flush=True)
            (copy / place).write_text(source, "utf-8")
    print(f"{dead} of {len(drawn)} killed ({dead / max(1, len(drawn)):.0%}), of {len(every)} possible")
    return 0 if dead >= LEAST * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
