"""What CONTRIBUTING says is done to a copy of the tree, and the tests that a contributor runs are green there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_contributing import PAGE, ROOT, SHOWN

FILES = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
DIFFS = re.findall(r"```diff\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
WORKED = "\n## {name}\n\n>>> 1 + 1\n2\n"  # the section that a criterion's author writes
TESTS = (
    "architecture", "manual", "config", "contract", "criterion", "learner", "preparer", "measure", "scheme", "record",
    "reporting",
    "cli/test_dispatch.py", "cli/test_python.py", "cli/test_completion.py", "guard/findings",
)  # fmt: skip


def git(*words: str, cwd: Path) -> str:
    return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout


def apply(place: Path, diff: str) -> None:
    """Apply a diff whose hunks have no line numbers: their old lines stand in the file once."""
    for part in re.split(r"^--- a/", diff, flags=re.MULTILINE)[1:]:
        head, *hunks = re.split(r"^@@.*\n", part, flags=re.MULTILINE)
        file = place / head.splitlines()[0]
        text = file.read_text("utf-8")
        for hunk in hunks:
            old, new = ("".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[:1] in (sign, " ", "")) for sign in "-+")
            assert text.count(old) == 1, f"{file.relative_to(place)} has not once\n{old}"
            text = text.replace(old, new)
        file.write_text(text, "utf-8")


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """The tree as git knows it, elsewhere, with all that the page says done to it."""
    if not (ROOT / ".git").exists():
        pytest.skip("the tree is no checkout of git")
    if any((ROOT / name).exists() for name, _ in FILES):
        pytest.skip("this is such a copy")
    place = tmp_path / "copy"
    for name in git("ls-files", "-z", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    git("init", "--quiet", cwd=place)
    follow(place)
    return place


def follow(place: Path) -> None:
    """Do what the page says: files, diffs, and for each part a yaml of its name."""
    for group, name, text in SHOWN:
        (place / "modelsel" / group / f"{name}.py").write_text(text, "utf-8")
        (place / "conf" / group / f"{name}.yaml").write_text(f"# Of the page.\nkind: {name}\n", "utf-8")
    for name in (name for group, name, _ in SHOWN if group == "criterion"):
        page = place / "docs" / "trees" / "criteria.md"
        page.write_text(page.read_text("utf-8") + WORKED.format(name=name), "utf-8")
    for name, text in FILES:
        (place / name).write_text(text, "utf-8")
    for diff in DIFFS:
        apply(place, diff)
    git("add", "--all", cwd=place)


def test_what_is_shown_fits_the_tree(changed: Path) -> None:
    assert {Path(name).parts[1] for name, _ in FILES} == {"api", "cli", "core", "reporting", "modelsel-exam", "learner"}
    assert (changed / "conf" / "measure" / "g_mean.yaml").exists()


@pytest.mark.slow
@pytest.mark.timeout(1200)  # a good part of the suite
def test_nothing_else_need_be_edited(changed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "not slow and not soak", *(f"tests/{name}" for name in TESTS)],
        env={**os.environ, "PYTHONPATH": str(changed), "MODELSEL_HOME": str(tmp_path / "home")},
        cwd=changed, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
