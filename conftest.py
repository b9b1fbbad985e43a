"""What tests and the examples in docstrings share: a home of their own, no settings of the person, a study to look at."""

import gc
import os
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

gc.disable()  # while thousands of tests are collected there is nothing to throw away

LATE = "no time was left to begin them"
collect_ignore = [] if find_spec("mcp") else ["packages/modelsel-exam/modelsel_exam/serve.py"]  # imports the extra `exam`

_HOME = tempfile.TemporaryDirectory(prefix="modelsel-tests-")
_DATA = tempfile.TemporaryDirectory(prefix="modelsel-nobody-")
os.environ["XDG_DATA_HOME"] = _DATA.name
os.environ["MODELSEL_HOME"] = _HOME.name  # before anything asks for the ledger; worker processes inherit it
for name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # the tests' workers fill the cores: more threads only wait for each other
    os.environ.setdefault(name, "1")
for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
    del os.environ[name]


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test marked `sampled(n)` n stay among the default tests, spread evenly; the others are slow."""
    cases: defaultdict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for several in cases.values():
        several.sort(key=lambda case: (*case.callspec.indices.values(),))
        (kept,) = several[0].get_closest_marker("sampled").args
        stay = {number * len(several) // kept for number in range(kept)}
        for number, case in enumerate(several):
            if number not in stay:
                case.add_marker("slow")


@pytest.hookimpl(tryfirst=True)  # before any fixture is made
def pytest_runtest_setup() -> None:
    """Begin no test after the moment `MODELSEL_TESTS_UNTIL` (seconds since 1970): it is skipped, and told at the end."""
    if time.time() > float(os.environ.get("MODELSEL_TESTS_UNTIL") or "inf"):
        pytest.skip(LATE)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which tests there was no time for."""
    late = [report for report in terminalreporter.stats.get("skipped", ()) if LATE in str(report.longrepr)]
    if late:
        terminalreporter.section(f"{len(late)} tests were not run: {LATE}")
        for name, many in sorted(Counter(report.nodeid.partition("::")[0] for report in late).items()):
            terminalreporter.line(f"{many:5} of {name}")


def pytest_collection_finish() -> None:
    """What was collected stays to the end: from here on it is not looked through for what may be thrown away."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _the_persons_own_ledger_is_left_alone() -> Iterator[None]:
    """The platform's data folder, where a person's ledger would be, is an empty one, and stays empty."""
    yield
    assert not list(Path(_DATA.name).rglob("*"))


@pytest.fixture(autouse=True)
def _mlflow_forgets_where_a_test_sent_it() -> Iterator[None]:
    """`mlflow.set_tracking_uri` tells later processes by the environment: a study of the next test would write there."""
    yield
    if os.environ.pop("MLFLOW_TRACKING_URI", None) is not None:
        import mlflow

        mlflow.set_tracking_uri(None)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _examples_of_what_people_call(request: pytest.FixtureRequest) -> Iterator[None]:
    """Examples of modelsel.api run in a folder of their own, with a small study that left its test set closed."""
    if not (
        isinstance(request.node, pytest.DoctestItem)
        and re.search("/modelsel/api/|/modelsel_(exam|watch)/", str(request.node.path))
    ):
        yield
        return
    import modelsel

    folder: Path = request.getfixturevalue("tmp_path")
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    sources = [example.source for example in request.node.dtest.examples]
    made = ("outcome =", "create_exam(", "create_gate(")
    studied = any(re.search(r"outcome|exam\(\"tennis|gate\(\"gate", source) for source in sources)
    swept = any("sweep" in source for source in sources)
    studied = studied and not swept and not any(word in source for source in sources for word in made)
    if studied:
        folder = Path(shutil.copytree(request.getfixturevalue("_small_study"), folder / "study"))
    if swept:
        folder = request.getfixturevalue("_small_sweep")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MODELSEL_HOME", str(folder / "home"))
    namespace: dict[str, Any] = request.getfixturevalue("doctest_namespace")
    frame = _play_tennis()
    frame.to_csv(folder / "play_tennis.csv", index=False)
    namespace.update(modelsel=modelsel, frame=frame)
    if swept:
        namespace["sweep"] = modelsel.open_sweep("latest")
    if studied:
        namespace["outcome"] = modelsel.open_run("latest", frame, target="PlayTennis")
    yield
    for name in ("modelsel", "frame", "outcome", "sweep"):  # the namespace is the session's: no example lives on another's
        namespace.pop(name, None)


class _Asked(dict[str, str]):
    """The modules of kernels, and which of them were asked for."""

    def __getitem__(self, name: str) -> str:
        self.names = {*getattr(self, "names", ()), name}
        return super().__getitem__(name)


@pytest.fixture(scope="session")
def code() -> Callable[[str], AbstractContextManager[None]]:
    """`with code("plain"):` or `code("kernels")`: what runs inside is plain Python or compiled, or the test fails.

    A comparison of a kernel with its source in plain Python is none where one of them was compared with itself.
    """

    from modelsel.kernels import compiler

    @contextmanager
    def only(which: str) -> Iterator[None]:
        compiled, asked = {"kernels": True, "plain": False}[which], _Asked(compiler._modules())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiler, "_modules", lambda: asked)
            patch.setattr(compiler, "is_wanted", lambda: compiled)
            compiler._load.cache_clear()
            try:
                yield
                ran = [compiler.load_compiled(name) is not None for name in getattr(asked, "names", ())]
            finally:
                compiler._load.cache_clear()
        assert ran, f"nothing asked for a kernel, so that its {which} did not run"
        assert all(one == compiled for one in ran), f"not all that ran were {which}"

    return only


@pytest.fixture(scope="session")
def _small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study on the table of `_play_tennis`, its test set left closed, an exam and a gate; each example works on a copy."""
    import modelsel

    folder = tmp_path_factory.mktemp("study")
    cart = {"learner": "cart", "pruner": "unpruned", "sweep": {"max_depth": [1, 2]}}
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        there.setenv("MODELSEL_HOME", str(folder / "home"))
        modelsel.run(
            _play_tennis(),
            target="PlayTennis",
            space={"majority": "majority", "cart": cart},
            final_test=False,
            tracking="off",
            show=["pruning_path"],
        )
        _play_tennis().to_csv("play_tennis.csv", index=False)
        if find_spec("modelsel_exam"):
            modelsel.create_exam("play_tennis.csv", "tennis", "PlayTennis", accept_overlap=True)
            modelsel.create_gate("play_tennis.csv", "gate", "PlayTennis", accept_overlap=True)
    return folder


@pytest.fixture(scope="session")
def _small_sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two jobs, which examples read."""
    from modelsel.cli.dispatch import main

    folder = tmp_path_factory.mktemp("sweep")
    words = ("dataset=play_tennis", "learner=majority,naive_bayes", "scheme=kfold", "scheme.folds=3", "tracking=off")
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        there.setenv("MODELSEL_HOME", str(folder / "home"))
        assert main(["run", "-m", *words, "final_test=false"]) == 0
    return folder


def _play_tennis() -> Any:
    import pandas as pd

    from modelsel.dataset.play_tennis import PlayTennis

    task = PlayTennis().read()
    columns = {
        feature.name: [feature.levels[int(code)] for code in task.values[:, i]] for i, feature in enumerate(task.features)
    }
    return pd.DataFrame({**columns, "PlayTennis": [task.classes[label] for label in task.target]})
