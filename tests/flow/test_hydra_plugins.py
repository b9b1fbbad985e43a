"""Sweepers and launchers of others, in environments of their own: Optuna's sweeper wants another Optuna than the extra."""

import csv
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from modelsel.record.sweep import SweepFolder

PLUGINS = {
    "released": ("hydra-optuna-sweeper==1.3.0", "optuna<3", "hydra-joblib-launcher==1.2.0", "cmaes"),
    "next": (
        "hydra-core==1.4.0rc3",
        "omegaconf==2.4.1rc1",
        "hydra-optuna-sweeper==1.4.0rc3",
        "hydra-joblib-launcher==1.4.0rc3",
    ),
}
ROOT = Path(__file__).resolve().parents[2]
SWEPT = (
    "dataset=iris",
    "learner=cart",
    "tracking=off",
    "scheme.folds=3",
    "hydra/sweeper=optuna",
    "hydra.sweeper.sampler.seed=1",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=list(PLUGINS))
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the plug-ins, and everything else from here."""
    place = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    found = place / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    packages = next(place.rglob("site-packages"))
    (packages / "zz_from_here.pth").write_text("\n".join((sysconfig.get_path("purelib"), str(ROOT))))
    pip = [str(found), "-m", "pip", "install", "--quiet", "--pre", "--no-deps", *PLUGINS[request.param]]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the plug-ins cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")
    return found


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MODELSEL_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    command = [str(python), "-m", "modelsel", "run", "-m", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def table(folder: Path) -> list[dict[str, str]]:
    sweep = SweepFolder.open("latest", folder / "runs")
    return list(csv.DictReader((sweep.path / "sweep.csv").open()))


def test_a_sweeper_that_learns_optimises_the_cross_validated_score_and_opens_no_test(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, *SWEPT, "learner.max_depth=int(interval(1,6))", "hydra.sweeper.n_trials=4")
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path)
    assert len(rows) == 4
    assert {row["test"] for row in rows} == {""}
    assert "the search was adaptive" in done.stdout.lower()
    outcomes = [job.outcome() for job in SweepFolder.open("latest", tmp_path / "runs").jobs()]
    assert all("ADAPTIVE_SWEEP" in {found["code"] for found in one.findings} for one in outcomes if one is not None)
    best = min(float(row["cv"]) for row in rows)
    sweep = SweepFolder.open("latest", tmp_path / "runs")
    said = (sweep.path / "optimization_results.yaml").read_text()
    assert f"best_value: {best}" in said


def test_a_failing_trial_is_a_failure_in_the_sweeper_s_terms(python: Path, tmp_path: Path) -> None:
    words = (*SWEPT, "learner.max_depth=choice(2,-1,3,4)", "hydra.sweeper.n_trials=6")
    borne = run(python, tmp_path, *words, "hydra.sweeper.max_failure_rate=1.0")
    assert borne.returncode == 0, borne.stderr
    codes = [row["code"] for row in table(tmp_path)]
    assert {"0", "2"} == set(codes)
    refused = run(python, tmp_path, *words, "hydra.sweeper.max_failure_rate=0")
    assert refused.returncode == 2
    assert "MSEL-263" in refused.stderr
    assert "MSEL-001" not in borne.stderr + refused.stderr


def test_the_best_job_looks_once_where_that_was_typed(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, *SWEPT, "learner.max_depth=choice(1,2,3)", "hydra.sweeper.n_trials=3", "final_test=true")
    assert done.returncode == 0, done.stderr
    opened = [row for row in table(tmp_path) if row["test"]]
    assert len(opened) == 1
    assert float(opened[0]["cv"]) == min(float(row["cv"]) for row in table(tmp_path))


def test_a_launcher_of_others_runs_the_jobs_in_other_processes(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "dataset=iris", "learner=majority,naive_bayes", "tracking=off", "scheme.folds=3",
               "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "final_test=false")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["learner"] for row in table(tmp_path)] == ["majority", "naive_bayes"]
