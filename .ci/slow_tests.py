"""Choose the slow tests that `.ci/run` runs, and print their files in order: what a change touches, then one third of the rest.

    python .ci/slow_tests.py [BASE]     files, one a line; what was chosen, and why, goes to stderr

A change is what differs from BASE: the commit that is given, else where this branch left `origin/main`, else the commit before.
A file of the package touches the tests that lie where it lies, and those that name it; any other file those that name it.
Without git, or in a history of one commit, there is no change to see, and the third alone is chosen.
The third follows from the number of commits: three changes in a row run all of them. Together they take more than the
35 minutes of a quiet machine with two cores that a change may take (RUN_ALL).
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN_ALL = False  # whether all slow tests take less than 35 minutes of two free cores
SLOW = re.compile(r"mark\.(slow|sampled)\b")
MANY = 40  # test files that one touched file may bring


def git(*words: str) -> str:
    """What git prints; nothing where there is no git or it refuses."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def changed(base: str) -> list[str]:
    """Files that differ from the base in the tree as it lies here, and new ones."""
    head = git("rev-parse", "HEAD")
    left = git("merge-base", "HEAD", "origin/main")
    since = base or (left if left != head else "") or git("rev-parse", "--verify", "--quiet", "HEAD^")
    found = git("diff", "--name-only", since, "--").splitlines() if since else []
    return sorted({*found, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def slow_files() -> dict[str, str]:
    """Every test file with slow tests, and its text."""
    files = sorted(path for path in ROOT.rglob("test_*.py") if not re.match(r"\.|build$", path.relative_to(ROOT).parts[0]))
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}
    return {name: text for name, text in texts.items() if SLOW.search(text)}


def module_of(path: Path) -> str:
    """The dotted name of a Python file inside a package; nothing for others."""
    if path.suffix != ".py" or not (ROOT / path.parent / "__init__.py").exists():
        return ""
    parts = [path.stem]
    for folder in path.parents:
        if not (ROOT / folder / "__init__.py").exists() or folder == Path():
            break
        parts.insert(0, folder.name)
    return ".".join(parts)


def touched_by(path: str, slow: dict[str, str]) -> Iterator[str]:
    """Test files that a changed file touches, the nearest first."""
    if path in slow:
        yield path
        return
    here, module = Path(path), module_of(Path(path))
    beside = "/".join(module.split(".")[1:-1]) if module else "/".join(here.parts[1:-1])
    near = f"/{beside}/" if beside else "/"
    yield from (name for name in slow if module and near in f"/{name}" and here.stem in Path(name).stem)
    yield from (name for name, text in slow.items() if (module or here.name) in text)
    yield from (name for name in slow if beside and f"/{beside}/test_" in f"/{name}")


def touched(paths: Iterable[str], slow: dict[str, str]) -> list[str]:
    """Test files that the changed files touch, those of tests that changed themselves first."""
    paths = sorted(paths, key=lambda path: path not in slow)
    return list(dict.fromkeys(name for path in paths for name in list(dict.fromkeys(touched_by(path, slow)))[:MANY]))


def main() -> None:
    slow = slow_files()
    paths = changed(sys.argv[1] if len(sys.argv) > 1 else "")
    first = touched(paths, slow)
    number = int(git("rev-list", "--count", "HEAD") or 0) % 3
    others = [name for name in slow if name not in first]
    then = others if RUN_ALL else [name for place, name in enumerate(slow) if place % 3 == number and name in others]
    turn = "all others" if RUN_ALL else f"third {number + 1} of 3 of all"
    print(f"slow tests: {len(first)} files by {len(paths)} changed ones, then {len(then)}: {turn} {len(slow)}", file=sys.stderr)
    print("\n".join([*first, *then]))


if __name__ == "__main__":
    main()
