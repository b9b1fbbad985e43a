"""Configuration is data: two hundred files and overrides that would like to be more, and none that runs anything (P17)."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from modelsel.cli.dispatch import main
from modelsel.config.compose import compose
from modelsel.config.folders import shipped_folder
from modelsel.core.errors import ModelselError

TOUCH = "Path('{mark}').touch()"
CALLS = [
    "{{_target_: pathlib.Path.touch, self: '{mark}'}}",
    "{{_target_: os.system, command: 'touch {mark}'}}",
    "{{_target_: builtins.open, file: '{mark}', mode: w}}",
    "{{_target_: subprocess.run, args: [touch, '{mark}']}}",
    "{{_target_: joblib.load, filename: '{mark}'}}",
    "{{_target_: pandas.eval, expr: '1'}}",
    "{{_target_: canary.fire}}",
    "{{_partial_: true, _target_: canary.fire}}",
    "{{_args_: [1], _target_: canary.fire}}",
    "{{kind: canary.fire}}",
    "{{kind: canary}}",
    "{{kind: ../../canary}}",
    "{{kind: __import__('canary')}}",
    "!!python/object/apply:os.system ['touch {mark}']",
    "!!python/name:canary.fire",
    "!!python/module:canary",
    "${{canary:}}",
    "${{oc.env:MODELSEL_CANARY}}",
    "${{oc.decode:'canary'}}",
    "${{oc.create:{{_target_: canary.fire}}}}",
]
FILES = {
    "dataset": "kind: csv\npath: {call}\n",
    "scheme": "kind: kfold\nfolds: {call}\n",
    "measure": "{call}\n",
    "guard": "kind: warn\nidentity: {call}\n",
    "learner": "kind: tree\npruner: {call}\n",
    "space": "entry: {{learner: tree, sweep: {call}}}\n",
    "experiment": "# @package _global_\nname: {call}\n",
}
HYDRA = [
    "callbacks: {{evil: {{_target_: canary.Callback}}}}",
    "job_logging: {{version: 1, formatters: {{evil: {{(): canary.fire}}}}}}",
    "hydra_logging: {{version: 1, handlers: {{evil: {{class: canary.Handler}}}}}}",
    "job_logging: {{version: 1, root: {{handlers: [f]}}, handlers: {{f: {{class: logging.FileHandler, filename: '{mark}'}}}}}}",
    "launcher: {{_target_: canary.fire}}",
    "sweeper: {{_target_: canary.fire}}",
    "searchpath: ['pkg://canary']",
    "searchpath: ['file:///etc']",
    "run: {{dir: '{mark}'}}",
    "sweep: {{dir: '{mark}'}}",
    "sweep: {{subdir: '{mark}'}}",
    "output_subdir: '{mark}'",
    "job: {{env_set: {{MODELSEL_CANARY_SET: '1'}}}}",
    "job: {{env_copy: [HOME]}}",
    "job: {{chdir: true}}",
    "env: {{_target_: canary.fire}}",
    "help: {{template: '${{canary:}}'}}",
    "job: {{name: '${{canary:}}'}}",
    "mode: '${{canary:}}'",
    "sweeper: {{params: {{'hydra.callbacks.evil._target_': canary.Callback}}}}",
]
DEFAULTS = [
    "- /hydra/job_logging@hydra.job_logging: default",
    "- override /hydra/job_logging: default",
    "- override /hydra/launcher: ../../canary",
    "- override /hydra/callbacks: evil",
    "- ../../canary",
    "- /../canary@_global_",
    "- pkg://canary",
    "- /hydra/config",
    "- override /dataset: ../../../etc/passwd",
    "- override /dataset: ${{canary:}}",
]
OVERRIDES = """
+_target_=canary.fire
++scheme._target_=canary.fire
+dataset._target_=os.system
learner._target_=canary.fire
dataset={_target_: canary.fire}
learner={kind: tree, pruner: {_target_: canary.fire}}
space={e: {_target_: canary.fire}}
space=[{_target_: canary.fire}]
hydra.callbacks.evil._target_=canary.Callback
+hydra.callbacks={e: {_target_: canary.Callback}}
hydra/job_logging=colorlog
hydra/job_logging=default
hydra.job_logging.root=null
hydra.searchpath=[pkg://canary]
hydra.run.dir={mark}
hydra.output_subdir={mark}
hydra.job.chdir=true
+hydra.job.env_set.MODELSEL_CANARY_SET=1
hydra.launcher._target_=canary.fire
hydra/launcher=../../canary
hydra.sweeper._target_=canary.fire
name=${canary:}
name=${oc.env:MODELSEL_CANARY}
name=${${canary:}}
dataset.path=${oc.env:MODELSEL_CANARY}
seed=${oc.decode:1}
learner=canary.fire
learner=../../canary
measure=canary.fire
plugins=[canary]|learner=canary
experiment=../../canary
+experiment@_global_=../../canary
outer={_target_: canary.fire}
outer=canary.fire
resume={_target_: canary.fire}
""".strip().splitlines()


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that only hostile code would make; a module that only it would import; a resolver that only it would call."""
    modules = tmp_path / "modules"
    modules.mkdir()
    found = tmp_path / "mark"
    (modules / "canary.py").write_text(f"from pathlib import Path\n{TOUCH.format(mark=found)}\n")
    monkeypatch.syspath_prepend(str(modules))
    monkeypatch.setenv("MODELSEL_CANARY", "canary-secret")
    monkeypatch.chdir(tmp_path)
    OmegaConf.register_new_resolver("canary", lambda: found.touch(), replace=True)
    yield found
    OmegaConf.clear_resolver("canary")


def nothing_happened(mark: Path) -> bool:
    return not mark.exists() and "canary" not in sys.modules and "MODELSEL_CANARY_SET" not in os.environ


def refused(overrides: list[str], folder: Path | None) -> str:
    with pytest.raises(ModelselError) as raised:
        compose(overrides, folder and str(folder))
    return str(raised.value)


def write(folder: Path, group: str, text: str) -> Path:
    (folder / "conf" / group).mkdir(parents=True)
    (folder / "conf" / group / "evil.yaml").write_text(text)
    return folder / "conf"


QUICK = ("dataset", "space", "experiment")  # read by Hydra, by ourselves, and merged at the root; the others in `make check`


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("group", "call"),
    [pytest.param(*pair, marks=() if pair[0] in QUICK else pytest.mark.slow) for pair in product(FILES, CALLS)],
)
def test_a_file_of_a_group_runs_nothing(mark: Path, group: str, call: str) -> None:
    folder = write(mark.parent, group, FILES[group].format(call=call.format(mark=mark)))
    said = refused(["dataset=iris", f"{group}=evil"], folder)
    assert nothing_happened(mark)
    assert "canary-secret" not in said


@pytest.mark.parametrize("node", HYDRA)
@pytest.mark.parametrize("where", ["experiment", "root"])
def test_a_file_may_not_set_up_hydra(mark: Path, node: str, where: str) -> None:
    text = f"hydra:\n  {node.format(mark=mark)}\n"
    if where == "experiment":
        folder = write(mark.parent, "experiment", f"# @package _global_\n{text}")
    else:
        folder = write(mark.parent, "space", "majority:\n")
        root = (shipped_folder() / "config.yaml").read_text()
        (folder / "config.yaml").write_text(f"{root}{text}")
    with suppress(ModelselError):  # a mode or a help text that is never shown may pass; nothing may happen
        compose(["dataset=iris", "space=majority", *(["experiment=evil"] if where == "experiment" else [])], str(folder))
    assert nothing_happened(mark)


@pytest.mark.parametrize("line", DEFAULTS)
def test_a_defaults_list_leads_nowhere_else(mark: Path, line: str) -> None:
    text = f"# @package _global_\ndefaults:\n  {line.format()}\n"
    with suppress(ModelselError):
        compose(["dataset=iris", "space=majority", "experiment=evil"], str(write(mark.parent, "experiment", text)))
    assert nothing_happened(mark)


@pytest.mark.parametrize("text", OVERRIDES)
def test_an_override_runs_nothing(mark: Path, text: str) -> None:
    said = refused(["dataset=iris", *text.replace("{mark}", str(mark)).split("|")], None)
    assert nothing_happened(mark)
    assert "canary-secret" not in said


SWEPT = ["callbacks: {{evil: {{_target_: canary.Callback}}}}", "job: {{env_set: {{MODELSEL_CANARY_SET: '1'}}}}",
         "sweep: {{dir: '{mark}'}}", "launcher: {{_target_: canary.fire}}",
         "sweeper: {{params: {{'hydra.callbacks.evil._target_': canary.Callback}}}}"]  # fmt: skip


@pytest.mark.parametrize("node", SWEPT)
def test_a_sweep_that_a_file_asks_for_sets_up_nothing_either(mark: Path, node: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"# @package _global_\nhydra:\n  mode: MULTIRUN\n  {node.format(mark=mark)}\n"
    folder = write(mark.parent, "experiment", text)
    assert main(["run", "dataset=iris", "space=majority", "experiment=evil", "--config-dir", str(folder)]) == 2
    assert nothing_happened(mark)
    assert not (mark.parent / "runs").exists()
    assert capsys.readouterr().err.startswith("MSEL-23")


def test_they_are_two_hundred() -> None:
    assert len(FILES) * len(CALLS) + 2 * len(HYDRA) + len(DEFAULTS) + len(OVERRIDES) + len(SWEPT) >= 200
