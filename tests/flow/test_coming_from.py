"""Every line that docs/coming_from.md lets users of Hydra and MLflow type is typed, in order, and does what the table says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coming_from.md").read_text("utf-8")
ROOT_FILE = "defaults:\n  - config\n  - override /dataset: iris\n  - _self_\nscheme:\n  folds: 3\n"
EXPERIMENT = (
    "# @package _global_\ndefaults:\n  - override /dataset: iris\nfinal_test: false\n"
    "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      learner: majority,naive_bayes\n"
)


def rows(section: str) -> list[tuple[str, str]]:
    """The typed line and what happens, of each row of a section's table."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `(.+?)` \| (.+) \|$", text, re.MULTILINE)
    return [(line.replace("\\|", "|"), said) for line, said in found]


@pytest.mark.slow
@pytest.mark.parametrize("section", ["Hydra", "MLflow"])
def test_every_line_is_typed_and_does_what_is_said(section: str, tmp_path: Path) -> None:
    lines = rows(section)
    assert len(lines) >= 5
    for folder in ("conf/experiment", "own", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "conf" / "mine.yaml").write_text(ROOT_FILE)
    (tmp_path / "conf" / "experiment" / "mine.yaml").write_text(EXPERIMENT)
    (tmp_path / "own" / "__init__.py").touch()
    (tmp_path / "own" / "conf").symlink_to("../conf")
    (tmp_path / "data" / "t.csv").write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(40)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")} | {
        "MODELSEL_HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join((str(tmp_path), *filter(None, (os.environ.get("PYTHONPATH"),)))),
    }
    for line, said in lines:
        typed = line.replace("modelsel ", f"{sys.executable} -m modelsel ")
        done = subprocess.run(["bash", "-c", typed], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == (2 if said.startswith("refused") else 0), (line, done.stderr)
        for word in re.findall(r"with ours: `(.+?)`", said):
            assert f"write {word}" in done.stderr, line
    if section == "MLflow":
        import mlflow

        client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}")
        assert {"mine", "sweeps"} <= {one.name for one in client.search_experiments()}
        assert (tmp_path / "theirs.db").is_file()
