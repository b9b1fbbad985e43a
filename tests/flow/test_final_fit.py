"""A winner that cannot be fitted on all rows: said, on record, and nobody takes its place."""

import pytest
from joblib.externals.loky import get_reusable_executor

from modelsel.record.folder import RunFolder

LEARNER = '''
import os, signal, sys
from dataclasses import dataclass
from pathlib import Path
from modelsel.core.spec import one_of
from modelsel.learner.naive_bayes import NaiveBayes, NaiveBayesModel

ASKED = Path(__file__).with_name("asked")  # once it is there, models do what it says


class FragileModel(NaiveBayesModel):
    """Good, until somebody asks it after the study; or until it is described."""

    how = ""

    def predict(self, table):
        if ASKED.exists() and ASKED.read_text() == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if ASKED.exists():
            raise RuntimeError(ASKED.read_text())
        if self.how == "die_when_asked":
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().predict(table)

    def describe(self):
        if self.how == "raise_when_described":
            raise RuntimeError("beyond words")
        return super().describe()

@dataclass(frozen=True)
class Fragile(NaiveBayes):
    """Good on every fold, and no good on all rows; or no good at all."""

    kind = "fragile"
    how: str = one_of(
        "raise", "die", "exit", "interrupt", "die_on_folds", "live", "die_when_asked", "raise_when_described"
    )

    def fit_path(self, task, rows, rng):
        if self.how == "die_on_folds":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit_path(task, rows, rng)

    def fit(self, task, rows, rng):
        if self.how == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "exit":
            sys.exit(5)
        if self.how == "interrupt":
            raise KeyboardInterrupt
        if self.how == "raise":
            raise RuntimeError("no luck with all of them")
        found = super().fit(task, rows, rng)
        model = FragileModel(**vars(found))
        object.__setattr__(model, "how", self.how)
        return model

    @staticmethod
    def restore(description):
        return FragileModel(**vars(NaiveBayes.restore(description)))
'''
ASKED = ("dataset=wine", "learner=fragile", "plugins=[fragile]", "scheme.folds=3")
BESIDE = "space={{fragile: {{learner: {{kind: fragile, how: {}}}}}, next: {{learner: majority}}}}"
FAILED = {
    "raise": "error, RuntimeError: no luck with all of them",
    "die": "crashed, it killed its worker twice",
    "exit": "error, SystemExit: 5",
    "interrupt": "error, KeyboardInterrupt",
    "die_when_asked": "crashed, it killed its worker twice",
    "raise_when_described": "error, RuntimeError: beyond words",
}


@pytest.fixture(autouse=True)
def fragile(tmp_path, monkeypatch):
    """An installed distribution with the learner."""
    facts = tmp_path / "installed" / "fragile-0.1.dist-info"
    facts.mkdir(parents=True)
    (facts.parent / "fragile_learner.py").write_text(LEARNER)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: fragile\nVersion: 0.1\n")
    (facts / "entry_points.txt").write_text("[modelsel.learner]\nfragile = fragile_learner:Fragile\n")
    monkeypatch.syspath_prepend(str(facts.parent))
    get_reusable_executor().shutdown()  # workers of an earlier test would not look there


@pytest.mark.slow
@pytest.mark.parametrize("how", FAILED)
def test_a_winner_that_cannot_be_fitted_on_all_rows_is_named_and_on_record_and_not_replaced(modelsel, how):
    asked = ("dataset=wine", BESIDE.format(how), "plugins=[fragile]", "scheme.folds=3")
    done = modelsel("run", *asked)
    assert done.code == 7, done.err
    assert "MSEL-705: the winner, fragile" in done.err
    assert f"could not be fitted on all development rows: {FAILED[how]}" in done.err
    assert "Traceback" not in done.err
    outcome = done.outcome
    assert outcome.candidates["ok"] == 2, "somebody could have taken its place"
    assert outcome.winner["learner"] == "fragile"
    assert ", ".join(outcome.winner["failure"].values()).startswith(FAILED[how])
    assert outcome.winner["cv"]["mean"] < 0.2, "its cross-validated score stands"
    assert outcome.test is None, "nobody looked at the test rows"
    folder = RunFolder.open("latest")
    assert not folder.model.exists()
    assert "could not be fitted on all development rows" in folder.report.read_text()
    again = modelsel("run", *asked)
    assert (again.code, "MSEL-705" in again.err) == (7, True), "and so it is said again"
    assert modelsel("test", "latest").code != 0
    assert modelsel("audit", "latest").code == 0


@pytest.mark.slow
def test_a_plug_in_that_crashes_on_a_fold_ends_no_study(modelsel):
    """In threads, the default of our own learners, the study would have gone with it."""
    space = "space={fragile: {learner: {kind: fragile, how: die_on_folds}}, majority: {learner: majority}}"
    done = modelsel("run", "dataset=wine", space, "plugins=[fragile]", "scheme.folds=3")
    assert done.code == 0, done.err
    assert done.outcome.winner["learner"] == "majority"
    assert [failure["status"] for failure in done.outcome.failures] == ["crashed"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["die", "die_when_asked", "raise"])
@pytest.mark.parametrize("interval", ["corrected", "bates"])
def test_the_winner_of_an_outer_fold_that_fails_or_dies_when_it_is_asked_is_named(modelsel, how, interval):
    done = modelsel("run", *ASKED, f"learner.how={how}", "outer=kfold", "outer.folds=3", f"outer.interval={interval}")
    assert done.code == 7, done.err
    assert "MSEL-706: the winner of an outer fold" in done.err
    assert FAILED[how] in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_recorded_model_that_dies_or_raises_when_it_is_asked_ends_no_command(modelsel, tmp_path):
    """`modelsel test` and `predict` ask it as a job, as cells were computed; no test row is looked at."""
    asked, rows = tmp_path / "installed" / "asked", tmp_path / "rows.csv"
    done = modelsel("run", *ASKED, "learner.how=live", "final_test=false")
    assert done.code == 0, done.err
    write_rows(rows)
    for what, said in (("die", "crashed, it killed its worker twice"), ("no mood", "error, RuntimeError: no mood")):
        asked.write_text(what)
        for words in (("test", "latest"), ("predict", "latest", str(rows))):
            failed = modelsel(*words)
            assert failed.code == 7, failed.err
            assert f"MSEL-709: the model gave no answers: {said}" in failed.err
            assert "Traceback" not in failed.err
    asked.unlink()
    get_reusable_executor().shutdown()
    assert len(modelsel("predict", "latest", str(rows)).out.splitlines()) == 4
    opened = modelsel("test", "latest")
    assert opened.code == 0, opened.err
    assert RunFolder.open("latest").outcome().test.look == 1, "what failed was no look"


def write_rows(path):
    """Three rows of wine."""
    from modelsel.config.compose import compose

    task = compose(("dataset=wine",)).dataset.load().task
    names = [feature.name for feature in task.features]
    lines = [",".join(f'"{name}"' for name in names), *(",".join(map(str, row)) for row in task.values[:3].tolist())]
    path.write_text("\n".join(lines) + "\n")
