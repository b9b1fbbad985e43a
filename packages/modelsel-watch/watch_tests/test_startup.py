"""Watching from the start of a process: libraries that are loaded later, and the hook of a virtual environment."""

import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path

import pytest

import modelsel
from modelsel.cli import dispatch
from modelsel.core.errors import REFUSED, RefusedError
from modelsel_watch import watching as api

ROOT = Path(__file__).parents[3]
DATA = """
from sklearn.datasets import make_classification
X, y = make_classification(240, 6, random_state=0)
"""


def run(python: str, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    words = [python, *options, "-c", textwrap.dedent(code)]
    return subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def test_the_hook_of_an_earlier_install_works_and_is_silent_where_watching_is_not_installed() -> None:
    """The line that `modelsel_watch.pth` held when watching stood in the core."""
    line = (
        "import importlib.util as u; u.find_spec('modelsel') and "
        "__import__('modelsel.watcher.startup', fromlist=['begin']).begin(True)"
    )
    waits = "import sys; print(any('LoadNotice' in type(one).__name__ for one in sys.meta_path))"
    for before, watched in (("", "True"), ("import sys; sys.modules['modelsel_watch'] = None", "False")):
        done = run(sys.executable, f"{before}\n{line}\n{waits}")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{watched}\n", "")


def test_outside_a_virtual_environment_nothing_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(RefusedError, match="MSEL-843"):
        api.install()
    assert dispatch.main(["watch", "install"]) == REFUSED
    assert "MSEL-843" in capsys.readouterr().err
    assert dispatch.main(["watch", "status"]) == 0


@pytest.mark.slow
def test_libraries_that_are_loaded_within_the_context_are_watched() -> None:
    code = """
    import sys, warnings
    import modelsel
    from modelsel_watch.startup import WATCHING
    assert "sklearn" not in sys.modules
    with modelsel.watching() as seen:
        assert "sklearn" not in sys.modules
        from sklearn.utils import validation
        hooked = validation._check_feature_names
        from sklearn.compose import _column_transformer
    assert validation._check_feature_names is not hooked
    held = [m for m in list(sys.modules.values()) if getattr(m, "__dict__", {}).get("_check_feature_names") is hooked]
    assert held == [], held
    assert not any("LoadNotice" in type(one).__name__ for one in sys.meta_path)
    """
    done = run(sys.executable, code)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_process_of_an_environment_is_watched_workers_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are sealed here; a script that knows nothing of modelsel searches a grid in worker processes of the environment."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    site = run(str(python), "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    paths = [path for path in sys.path if path.endswith("site-packages")]
    Path(site, "aaa.pth").write_text(
        "\n".join([str(ROOT), *map(str, (ROOT / "packages").iterdir()), sysconfig.get_path("purelib"), *paths]) + "\n"
    )
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    words = [str(python), "-m", "modelsel", "watch"]
    assert "watched from their start" in subprocess.run([*words, "install"], capture_output=True, text=True, check=True).stdout
    from sklearn.datasets import make_classification

    X, y = make_classification(240, 6, random_state=0)
    modelsel.watch(X[:80], y[:80], name="loans")
    code = f"""{DATA}
from sklearn.model_selection import cross_val_score
from sklearn.linear_model import LogisticRegression
print(cross_val_score(LogisticRegression(), X, y, n_jobs=2, cv=2))
model = LogisticRegression().fit(X[80:], y[80:])
from joblib import Parallel, delayed
print(Parallel(2)([delayed(model.score)(X[:80], y[:80])]))
"""
    done = run(str(python), code)
    assert done.returncode == 0, done.stderr
    assert {flag["code"] for flag in modelsel.audit()["flags"]} >= {"G017", "G026"}
    idle = run(str(python), "import sys; assert 'sklearn' not in sys.modules and 'numpy' not in sys.modules")
    assert (idle.returncode, idle.stderr) == (0, "")
    subprocess.run([*words, "uninstall"], check=True, capture_output=True)
    assert "not watched" in subprocess.run([*words, "status"], capture_output=True, text=True, check=True).stdout
