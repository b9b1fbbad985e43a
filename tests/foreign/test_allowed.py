"""The allow-list: what is on it is found, what is not is never imported, whatever lies in the working directory."""

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

from modelsel.foreign import allowed
from modelsel.foreign.allowed import NotAllowedError, class_of, home_of
from modelsel.learner.estimator import Estimator
from tests.extras import needs

RUNS = "import pathlib; pathlib.Path('RAN').write_text('ran')\nfrom sklearn.dummy import DummyClassifier as Own\n"


@pytest.fixture(autouse=True)
def forget():
    """Names are looked up afresh."""
    for known in (class_of, home_of):
        known.cache_clear()
    yield
    for known in (class_of, home_of):
        known.cache_clear()


@pytest.mark.parametrize(
    "name",
    [
        "sklearn.svm.SVC", "lightgbm.LGBMClassifier", "xgboost.XGBClassifier", "catboost.CatBoostClassifier",
        "imblearn.ensemble.BalancedRandomForestClassifier",
    ],
)  # fmt: skip
def test_a_class_of_an_allowed_distribution_is_found(name):
    needs(name.partition(".")[0])
    assert class_of(name).__name__ == name.rpartition(".")[2]
    assert home_of(name.partition(".")[0]).version


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os.system", "estimators may come from sklearn, lightgbm"),
        ("subprocess.Popen", "plugins=[subprocess]"),
        ("LGBMClassifier", "'LGBMClassifier' names no package; write it whole: lightgbm.LGBMClassifier"),
        ("RandomForrestClassifier", "write it whole: sklearn.ensemble.RandomForestClassifier"),
        ("sklearn.ensemble.RandomForrestClassifier", "did you mean 'RandomForestClassifier'?"),
        ("sklearn.nothing.SVC", "sklearn has no module 'sklearn.nothing'"),
        ("sklearn.ensemble._forest.RandomForestClassifier", "not a name of a public class"),
        ("sklearn.svm.tests.test_svm", "not a name of a public class"),
        ("sklearn.svm.__class__", "not a name of a public class"),
        ("sklearn.svm.SVC()", "not a name of a public class"),
        ("sklearn.base.warnings", "has no class"),
        ("sklearn.utils.Path", "has no class"),
    ],
)
def test_what_is_not_allowed_is_said(name, said):
    with pytest.raises(NotAllowedError, match=re.escape(said)):
        class_of(name)


def test_a_package_that_is_not_installed_is_said_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(allowed.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotAllowedError, match=r"lightgbm is not installed: pip install 'modelsel\[lightgbm\]'"):
        home_of("lightgbm")


def test_a_file_with_an_allowed_name_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "skrub.py").write_text(RUNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "skrub", raising=False)
    with pytest.raises(NotAllowedError, match="would be imported from"):
        class_of("skrub.Own")
    assert not Path("RAN").exists()


def test_a_file_that_plugins_name_is_no_installed_package(tmp_path, monkeypatch):
    (tmp_path / "evil_thing.py").write_text(RUNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(NotAllowedError, match="did not install"):
        class_of("evil_thing.Own", ("evil_thing",))
    assert not Path("RAN").exists()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution `own-learners` with a package of another name, as pip leaves it."""
    package, info = tmp_path / "ownlearners", tmp_path / "own_learners-1.5.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from sklearn.dummy import DummyClassifier\nclass Own(DummyClassifier):\n    pass\nclass Not:\n    pass\n"
    )
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-learners\nVersion: 1.5\n")
    (info / "top_level.txt").write_text("ownlearners\n")
    (info / "RECORD").write_text("ownlearners/__init__.py,,\nown_learners-1.5.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield info
    sys.modules.pop("ownlearners", None)


def test_an_installed_package_is_allowed_by_the_plugins_of_a_study(installed):
    with pytest.raises(NotAllowedError, match=r"plugins=\[ownlearners\]"):
        class_of("ownlearners.Own")
    assert class_of("ownlearners.Own", ("ownlearners",)).__name__ == "Own"
    assert home_of("ownlearners", ("ownlearners",)).version == metadata.version("own-learners") == "1.5"


def test_an_installed_package_is_allowed_by_its_entry_point(installed):
    (installed / "entry_points.txt").write_text("[modelsel.estimators]\nownlearners = ownlearners\n")
    assert class_of("ownlearners.Own").__name__ == "Own"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ends", ["raise RuntimeError('no licence')", "import sys; sys.exit('no licence')", "None.absent"])
def test_a_plug_in_that_cannot_be_imported_is_a_problem_of_its_entry_and_no_crash(installed, ends):
    (installed / "entry_points.txt").write_text("[modelsel.estimators]\nownlearners = ownlearners\n")
    (installed.parent / "ownlearners" / "__init__.py").write_text(ends)
    said = [*Estimator("ownlearners.Own").problems()]
    assert len(said) == 1
    assert re.match(r"ownlearners\.Own: importing ownlearners ended with (RuntimeError|SystemExit|AttributeError): ", said[0])
    assert "ownlearners" not in sys.modules
