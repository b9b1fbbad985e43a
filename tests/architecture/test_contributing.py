"""The parts that CONTRIBUTING shows are run as it says: as plug-ins, in a study, wherever its cells are computed."""

import re
from collections.abc import Callable, Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from modelsel.cli.dispatch import main
from modelsel.core.spec import class_name, kinds_of
from modelsel.record.folder import RunFolder
from tests.contract import promises

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SHOWN = re.findall(r"### An? (\w+): `(\w+)\.py`\n(?:(?!###).)*?```python\n(.*?)```", PAGE, re.DOTALL)
SPACE = re.search(r"```yaml\n# conf/space/own.yaml\n(.*?)```", PAGE, re.DOTALL)
COMMAND = re.search(r"    modelsel (run .*?)\n\n", PAGE, re.DOTALL)
GROUPS = ("criterion", "learner", "preparer", "measure", "scheme")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """The examples as an installed distribution; by name, the module of one."""
    place = tmp_path / "installed"
    facts = place / "own_parts-0.1.dist-info"
    facts.mkdir(parents=True)
    entries = ""
    for group, name, text in SHOWN:
        (place / f"own_{name}.py").write_text(text, "utf-8")
        entries += f"[modelsel.{group}]\n{name} = own_{name}:{class_name(name)}\n"
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts\nVersion: 0.1\n")
    (facts / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(place))
    invalidate_caches()
    get_reusable_executor().shutdown()  # workers of an earlier test would not look there
    yield lambda name: import_module(f"own_{name}")
    get_reusable_executor().shutdown()


def test_there_is_an_example_of_each_group() -> None:
    assert tuple(group for group, _, _ in SHOWN) == GROUPS


def test_a_learner_takes_forty_lines() -> None:
    (text,) = [text for group, _, text in SHOWN if group == "learner"]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert len(lines) <= 40


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, name, _ in SHOWN])
def test_the_example_keeps_what_its_group_promises(installed: Callable[[str], ModuleType], group: str, name: str) -> None:
    cls: Any = getattr(installed(name), class_name(name))
    promises.check(group, cls)


def test_a_measure_that_nobody_allowed_is_refused_with_the_words_that_allow_it(
    installed: Callable[[str], ModuleType], capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "g_mean" in kinds_of("measure"):
        pytest.skip("g_mean was added to the tree")
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "dataset=iris", "measure=g_mean"]) == 2
    assert "plugins=[g_mean]" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_the_study_runs(
    installed: Callable[[str], ModuleType], pool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SPACE is not None
    assert COMMAND is not None
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    space = tmp_path / "conf" / "space" / "own.yaml"
    space.parent.mkdir(parents=True)
    space.write_text(SPACE[1])
    monkeypatch.chdir(tmp_path)
    words = COMMAND[1].replace("\\\n", " ").split()
    assert main([*words, f"pool={pool}", "tracking=off"]) == 0
    folder = RunFolder.open("latest")
    outcome, table = folder.outcome(), folder.candidates()
    assert outcome.candidates == {**outcome.candidates, "ok": 14, "failed": 0}
    assert all(np.isfinite(row.training_error) for row in table)
    assert {len(row.folds) for row in table} == {5}
    assert outcome.winner["cv"]["mean"] > 0.9
    assert main(["audit", "latest"]) == 0
    rows = tmp_path / "rows.csv"
    from sklearn.datasets import load_iris

    load_iris(as_frame=True).frame.to_csv(rows, index=False)
    assert main(["predict", "latest", str(rows), "-o", str(tmp_path / "said.csv")]) == 0
