"""The core without the packages beside it: it says what installs them, and forgets nothing that they wrote."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from modelsel.core import satellites
from tests.figures.golden import kept

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.name.replace("-", "_") for path in (ROOT / "packages").iterdir())
ALONE = f"import sys; sys.modules.update(dict.fromkeys({PACKAGES})); "
COMMAND = "from modelsel.cli.dispatch import main; sys.exit(main(sys.argv[1:]))"
CALLED = sorted({name for name in satellites.OWN if name in satellites.offers_of(satellites.COMMANDS)})


def alone(code: str, *words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", ALONE + code, *words], capture_output=True, text=True, cwd=cwd)


def test_both_projects_name_the_same_entry_points_and_the_core_knows_which_extra_brings_them() -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    found: dict[str, dict[str, str]] = {}
    extras: dict[str, str] = {}
    for place in sorted((ROOT / "packages").iterdir()):
        for group, entries in tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"].items():
            found.setdefault(group, {}).update(entries)
            if group in (satellites.COMMANDS, satellites.NAMES):
                extras |= dict.fromkeys(entries, place.name.removeprefix("modelsel-"))
    groups = ("pytest11", satellites.COMMANDS, satellites.NAMES, satellites.OUTPUTS, satellites.FINDINGS, satellites.PARTS)
    assert {group: own[group] for group in groups if group in own} == {name: found[name] for name in groups if name in found}
    assert extras == dict(satellites.OWN)


@pytest.mark.parametrize("name", CALLED)
def test_a_command_that_is_absent_says_what_installs_it(name: str) -> None:
    done = alone(COMMAND, name, "status", "place")
    line = f"MSEL-260: {name} is not installed, modelsel {name}; pip install 'modelsel[{satellites.OWN[name]}]'"
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, line)
    assert f"  {name} " not in alone(COMMAND, "--help").stdout


def test_a_setting_and_a_name_of_python_say_it_too() -> None:
    done = alone(COMMAND, "plan", "exam=somewhere")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "MSEL-260: exam is not installed, exam=; pip install 'modelsel[exam]'",
    )
    done = alone("import modelsel; print(hasattr(modelsel, 'exam'), 'exam' in dir(modelsel)); modelsel.exam")
    assert (done.stdout, done.stderr.splitlines()[-1].rpartition(": ")[2]) == ("False False\n", "pip install 'modelsel[exam]'")


@pytest.mark.slow
def test_a_home_in_which_satellites_wrote_is_audited_and_priced_as_with_them(tmp_path: Path) -> None:
    """Two processes, with and without; what they say is what was said when it was written."""
    folder = kept.unpack(tmp_path)
    told: dict[str, Any] = json.loads((folder / kept.TOLD).read_text("utf-8"))
    code = (
        "import json, pathlib, modelsel; from tests.figures.golden import kept\n"
        "with kept.at(pathlib.Path(sys.argv[1]), 'satellites'): print(json.dumps(kept.audited()))"
    )
    for before in ("", ALONE):
        words = [sys.executable, "-c", f"import sys; {before}{code}", str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
        assert json.loads(done.stdout) == told["audit"], done.stderr


@pytest.mark.slow
def test_certificates_of_runs_are_written_and_those_of_exams_verified_without_satellites(tmp_path: Path) -> None:
    folder = kept.unpack(tmp_path)
    code = (
        "import pathlib, modelsel; from tests.figures.golden import kept\n"
        "with kept.at(pathlib.Path(sys.argv[1])):\n"
        "    made = modelsel.run('classes.csv', 'y', 'learner=majority', 'scheme.folds=2', 'tracking=off', 'final_test=true')\n"
        "    print([modelsel.verify(one)['faults'] for one in (modelsel.certify(made), 'exam.zip')])"
    )
    done = alone(code, str(folder), cwd=ROOT)
    assert done.stdout.splitlines()[-1:] == ["[[], []]"], done.stderr
