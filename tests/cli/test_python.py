"""The package as Python sees it."""

import subprocess
import sys
from pathlib import Path

import pytest

import modelsel
from modelsel.core.errors import ConfigurationError


def test_importing_modelsel_imports_nothing_else() -> None:
    code = "import sys, modelsel; sys.exit(' '.join({'numpy', 'pandas', 'hydra', 'mlflow', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_its_names_are_those_that_are_documented() -> None:
    assert {"run", "classifier", "read_table", "__version__"} == set(dir(modelsel))
    assert all(getattr(modelsel, name) for name in dir(modelsel))
    with pytest.raises(AttributeError, match="has no attribute 'rnu'"):
        modelsel.rnu  # noqa: B018


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
