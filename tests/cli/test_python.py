"""The package as Python sees it."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import modelsel
from modelsel.api.commands.words import COMMANDS, all_commands
from modelsel.cli.dispatch import module_of
from modelsel.core.errors import ConfigurationError

ROOT = Path(modelsel.__file__).parents[1]


def test_importing_modelsel_imports_nothing_else() -> None:
    code = "import sys, modelsel; sys.exit(' '.join({'numpy', 'pandas', 'hydra', 'mlflow', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_its_names_are_those_that_are_documented() -> None:
    stub = ast.parse(Path(modelsel.__file__).with_suffix(".pyi").read_text())
    typed = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {*typed, "__version__"} == set(dir(modelsel))
    assert all(getattr(modelsel, name) for name in dir(modelsel))
    with pytest.raises(AttributeError, match="has no attribute 'rnu'"):
        modelsel.rnu  # noqa: B018


@pytest.mark.parametrize("command", all_commands())
def test_every_command_has_its_twin(command: str) -> None:
    twin = getattr(modelsel, command)
    assert callable(twin)
    assert twin.__doc__
    assert not (Path(modelsel.__file__).parent / command).is_dir(), "importing a submodule would hide the function"


def test_every_option_of_a_command_has_an_argument_in_its_twin() -> None:
    """Commands with an argument parser; `run` and `plan` take overrides."""
    renamed = {"file": "data", "folder": "directory", "justify": "category", "output": "path", "o": "path", "as": "checklist"}
    shown = {"help", "json", "html", "fail_on", "verbose"}  # what is printed is returned; `check` is `audit --fail-on`
    for command in COMMANDS:
        taken = set(inspect.signature(getattr(modelsel, command)).parameters)
        options = {renamed.get(name, name) for name in _arguments(command)} - shown
        if command == "compare":
            options.discard("path")  # Comparison.save
        if command == "explain":
            options.discard("schema")  # files for editors: `modelsel init` writes them
            options -= {"alternatives", "within", "min_leaf", "limit", "depth"}  # Outcome.alternatives
        if command == "dossier":
            options -= {"to", "path"}  # Dossier.markdown, html
        if command == "lint":
            options -= {"sarif", "github"}  # ways of writing what is returned
        if command == "predict":
            options.discard("path")  # a data frame has to_csv
        assert options <= taken, command


def _arguments(command: str) -> set[str]:
    module = ast.parse(Path(str(module_of(command).__file__)).read_text())
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _is_argument(node)]
    names = [[arg.value for arg in call.args if isinstance(arg, ast.Constant)] for call in calls]
    return {max(words, key=len).lstrip("-").replace("-", "_") for words in names}


def _is_argument(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"


@pytest.mark.slow
def test_a_small_program_type_checks_for_its_user(tmp_path: Path) -> None:
    mypy = Path(sys.executable).with_name("mypy")
    if not mypy.exists():
        pytest.skip("mypy is not installed (make check installs it)")
    program = tmp_path / "program.py"
    program.write_text(
        "import pandas as pd\n"
        "import modelsel\n\n"
        "def best(frame: pd.DataFrame) -> str:\n"
        "    outcome = modelsel.run(frame, target='y', space=['trees', 'knn'], final_test=False)\n"
        "    reveal_type(outcome)\n"
        "    reveal_type(outcome.leaderboard)\n"
        "    outcome.plot.leaderboard().save('x.svg')\n"
        "    modelsel.rnu(frame)\n"
        "    return outcome.methods() + modelsel.open_run('latest').study\n"
    )
    done = subprocess.run([mypy, "--strict", "--no-error-summary", program], capture_output=True, text=True, cwd=ROOT)
    said = [line.partition("program.py:")[2] for line in done.stdout.splitlines()]
    assert said[0] == '6: note: Revealed type is "modelsel.api.outcome.Outcome"'
    assert "DataFrame" in said[1]
    assert said[2].startswith('9: error: Module has no attribute "rnu"')
    assert len([line for line in said if "error" in line]) == 1
    assert (ROOT / "modelsel" / "py.typed").exists()


@pytest.mark.slow
def test_a_study_in_python_takes_the_same_overrides(folder: Path, small: tuple[str, ...]) -> None:
    outcome = modelsel.run(*small, "final_test=false")
    assert outcome.test is None
    assert outcome.winner["id"]
    with pytest.raises(ConfigurationError) as raised:
        modelsel.run("dataset=irs")
    assert (raised.value.code, raised.value.exit_code) == ("MSEL-201", 2)


def test_a_table_is_read_as_a_task(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    assert modelsel.read_table(tmp_path / "t.csv", target="y").classes == ("a", "b")
