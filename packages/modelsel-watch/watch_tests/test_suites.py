"""Test suites of other libraries, as they are installed, have the same outcomes watched and unwatched.

A few files of each; whole suites take an hour, and are marked `soak`. For XGBoost and LightGBM there is `watch_tests.boosting`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import modelsel
from tests.extras import needs

ROOT = Path(__file__).parents[3]
BOOSTING = str(Path(__file__).with_name("boosting.py"))
SUITES = {
    "sklearn": ["sklearn.tests.test_isotonic", "sklearn.ensemble.tests.test_voting", "sklearn.ensemble.tests.test_iforest"],
    "imblearn": ["imblearn.tests.test_pipeline"],
    "mapie": ["mapie.tests.test_utils"],
    "xgboost": [BOOSTING],
}  # fmt: skip
WHOLE = {
    "ensemble": ["sklearn.ensemble.tests"], "model_selection": ["sklearn.model_selection.tests"],
    "others": ["sklearn.tests.test_calibration", "sklearn.tests.test_pipeline", "imblearn.tests", "mapie.tests"],
}  # fmt: skip


def outcomes(modules: list[str], folder: Path, *flags: str) -> dict[str, str]:
    """What each test of some modules came to, by name."""
    folder.mkdir()
    paths = os.pathsep.join(map(str, [ROOT, *(ROOT / "packages").iterdir()]))
    own = () if _plugin_is_installed() else ("-p", "modelsel_watch.pytest_plugin")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "0", *own, *flags]
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*words, "--junitxml", str(folder / "told.xml"), "--pyargs", *modules],
        cwd=folder, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    cases = ElementTree.parse(folder / "told.xml").iter("testcase")
    return {f"{one.get('classname')}::{one.get('name')}": ",".join(what.tag for what in one) for one in cases}


def _plugin_is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(one.name == "modelsel" for one in entry_points(group="pytest11"))


def assert_same_outcomes(modules: list[str], folder: Path) -> None:
    """Run modules' tests beside three tables that are sealed, watched and unwatched."""
    from sklearn import datasets

    for load in (datasets.load_iris, datasets.load_breast_cancer, datasets.load_diabetes):
        X, y = load(return_X_y=True)
        modelsel.watch(X[::3], y[::3], name=load.__name__)
    unwatched = outcomes(modules, folder / "unwatched")
    watched = outcomes(modules, folder / "watched", "--modelsel", "--modelsel-fail-on", "critical")
    assert len(unwatched) > 20
    assert watched == unwatched
    assert not (folder / "home" / "watch_failures.jsonl").exists()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("library", SUITES)
def test_suites_of_other_libraries_have_the_same_outcomes(library: str, tmp_path: Path) -> None:
    needs(library)
    if library == "xgboost":
        needs("lightgbm")
    modules = [str(shutil.copy(one, tmp_path / "test_boosting.py")) if one == BOOSTING else one for one in SUITES[library]]
    assert_same_outcomes(modules, tmp_path)  # a copy, where no conftest.py of ours is


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", WHOLE)
def test_whole_suites_have_the_same_outcomes(part: str, tmp_path: Path) -> None:
    if part == "others":
        needs("imblearn")
        needs("mapie")
    assert_same_outcomes(WHOLE[part], tmp_path)
