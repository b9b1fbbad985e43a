"""Kernels are kept under a digest of their sources, can be done without, and fall back with one word."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from modelsel.core.errors import ConfigurationError
from modelsel.kernels import compiler

SCRIPT = """
import numpy as np
from modelsel.core.types import Feature, Task
from modelsel.learner.tree import Tree
rng = np.random.default_rng(0)
x = np.where(rng.random((80, 3)) < .1, np.nan, rng.integers(0, 5, (80, 3)))
task = Task(name="t", features=tuple(Feature(f"f{i}", "numeric") for i in range(3)), values=x, rows=np.arange(80),
            classes=("a", "b"), target=rng.integers(0, 2, 80).astype(np.int32))
model = Tree(missing="fractional").fit(task, np.arange(80), rng)
print(model.n_nodes, model.predict(task).tolist())
"""


def run(cache: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    place = {} if cache is None else {"MODELSEL_CACHE": str(cache)}
    settings = {**os.environ, **place, **environment}
    return subprocess.run([sys.executable, "-c", SCRIPT], env=settings, capture_output=True, text=True, check=True, timeout=240)


@pytest.mark.slow
def test_plain_python_gives_the_same_answer(tmp_path: Path) -> None:
    compiled, plain = run(), run(tmp_path, MODELSEL_KERNELS="python")
    assert plain.stdout == compiled.stdout
    assert plain.stderr == ""
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert run(tmp_path / "cache").stderr.count("cannot be kept") == 1


def test_the_folder_of_a_file_names_its_source_and_the_kernels_that_it_imports(monkeypatch, tmp_path: Path) -> None:
    """A piece that changes changes what was compiled with it, through every import, and nothing else."""
    kernels = tmp_path / "modelsel" / "kernels"
    shutil.copytree(Path(compiler.__file__).parent, kernels, ignore=shutil.ignore_patterns("__pycache__", "ready"))
    monkeypatch.setattr(compiler, "__file__", str(kernels / "compiler.py"))

    def digests() -> dict[str, str]:
        compiler.digest.cache_clear()
        compiler._imports.cache_clear()
        return {path.stem: compiler.digest(path) for path in compiler.sources(kernels)}

    before = digests()
    tally = kernels / "growth" / "tally.py"
    tally.write_text(tally.read_text() + "\n")
    after = digests()
    changed = {name for name in before if before[name] != after[name]}
    assert {"tally", "grow", "grow_numbers"} <= changed
    assert not changed & {"neighbours", "grow_forest", "optimal", "layout"}
    compiler.digest.cache_clear()
    compiler._imports.cache_clear()


def test_imports_are_found_as_python_reads_them(tmp_path: Path) -> None:
    """A piece that was overlooked would leave old machine code in use."""
    root = Path(compiler.__file__).parents[2]
    odd = tmp_path / "odd.py"
    odd.write_text(
        "def f():\n    from modelsel.kernels import (  # pieces (all of them)\n        stop,\n        layout as form,\n    )\n"
        "from modelsel.kernels.growth import tally, \\\n    surrogates\nfrom modelsel.kernels.splits.presort import*\n"
    )
    for source in (*compiler.sources(root / "modelsel" / "kernels"), odd):
        froms = [node for node in ast.walk(ast.parse(source.read_bytes())) if isinstance(node, ast.ImportFrom)]
        named = {f"{node.module}.{name}" for node in froms for name in ("", *(each.name for each in node.names))}
        paths = {root.joinpath(*name.strip(".").split(".")).with_suffix(".py") for name in named if "modelsel.kernels" in name}
        assert set(compiler._imports(source)) == {path for path in paths if path.is_file()}, source
    assert [path.stem for path in compiler._imports(odd)] == ["surrogates", "tally", "layout", "presort", "stop"]


def test_machine_code_is_kept_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELSEL_CACHE", str(tmp_path))
    compiler.folder.cache_clear()
    source = Path(compiler.__file__)
    assert compiler.place_of(source) == tmp_path / "kernels" / f"compiler-{compiler.digest(source)}"
    compiler.folder.cache_clear()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _change(path: Path) -> None:
    """One bit in the midst of the machine code, or of the index."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


KERNEL = """
import piece
print(piece.twice(20))
"""
PIECE = """
from modelsel.kernels.compiler import kernel

@kernel("int64(int64)")
def twice(number):
    return 2 * number
"""


AT_ONCE = """
import sys
import time
from pathlib import Path
from modelsel.kernels import compiler, ready

here, other = (Path(word) for word in sys.argv[1:])
found = ready.CheckedCache.load_overload

def load_overload(self, *words):  # who finds nothing waits until the other asks for the same kernel, too
    code = found(self, *words)
    while code is None and not other.exists():
        time.sleep(0.01)
    return code

ready.CheckedCache.load_overload = load_overload
here.touch()
import piece
print("loaded" if piece.twice.stats.cache_hits else "compiled")
"""


@pytest.mark.slow
def test_of_two_processes_that_want_a_kernel_one_compiles(tmp_path: Path) -> None:
    (tmp_path / "piece.py").write_text(PIECE)
    (tmp_path / "use.py").write_text(AT_ONCE)
    settings = {**os.environ, "MODELSEL_CACHE": str(tmp_path / "cache")}
    marks = [str(tmp_path / "first"), str(tmp_path / "second")]
    started = [
        subprocess.Popen([sys.executable, str(tmp_path / "use.py"), *words], env=settings, stdout=subprocess.PIPE, text=True)
        for words in (marks, marks[::-1])
    ]
    assert sorted(process.communicate(timeout=120)[0] for process in started) == ["compiled\n", "loaded\n"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [_cut, _empty, _change])
def test_kept_machine_code_that_is_damaged_is_dropped_named_and_compiled_anew(tmp_path: Path, damage, suffix: str) -> None:
    (tmp_path / "piece.py").write_text(PIECE)
    (tmp_path / "use.py").write_text(KERNEL)

    def use() -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "MODELSEL_CACHE": str(tmp_path / "cache")}
        return subprocess.run(
            [sys.executable, str(tmp_path / "use.py")], env=settings, capture_output=True, text=True, timeout=120
        )

    assert use().stdout == "40\n"
    (kept,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    whole = kept.read_bytes()
    damage(kept)
    after = use()
    assert (after.returncode, after.stdout) == (0, "40\n")
    (said,) = after.stderr.splitlines()
    assert f"{kept} was dropped and is compiled anew" in said
    assert len(kept.read_bytes()) == len(whole)
    assert use().stderr == "", "and kept whole again"


@pytest.mark.slow
def test_a_damaged_kernel_is_not_replaced_by_its_twin(tmp_path: Path) -> None:
    first = run(tmp_path)
    for kept in tmp_path.rglob("*.nb?"):
        _cut(kept)
    again = run(tmp_path)
    assert again.stdout == first.stdout
    assert "slower twin" not in again.stderr
    assert "was dropped" in again.stderr


@pytest.mark.skipif(not compiler.is_wanted(), reason="twins were chosen")
def test_files_with_machine_code_of_their_own_are_those_with_a_kernel_that_has_a_signature() -> None:
    for source in compiler.sources(Path(compiler.__file__).parent):
        if source.parent != Path(compiler.__file__).parent:
            module = compiler.load(source.stem)
            own = [one for one in vars(module).values() if isinstance(one, Dispatcher) and one.__module__ == module.__name__]
            closed = [not one._can_compile for one in own]  # compiled for its signature; a piece is, in whatever calls it
            assert any(closed) is compiler.has_own_code(source), source.stem


def test_an_interpreted_kernel_stands_beside_the_compiled_one_which_stays() -> None:
    compiled = compiler.load("preorder")
    plain = compiler.interpret("preorder")
    assert compiled is not None
    assert compiler.load("preorder") is compiled
    assert sys.modules[compiled.__name__] is compiled
    assert isinstance(compiled.preorder, Dispatcher)
    assert not isinstance(plain.preorder, Dispatcher)


@pytest.mark.slow
def test_trees_and_forests_of_numbers_are_the_same_where_nothing_is_compiled(tmp_path: Path) -> None:
    """In a process of its own, as `MODELSEL_KERNELS=python` has it; a median needs the sets of bits."""
    script = (
        "import numpy as np, modelsel\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(60, 3)); y = (X[:, 0] + rng.normal(size=60)).round(2)\n"
        "for words in (('cart',), ('cart', 'criterion=absolute_error'), ('forest', 'trees=3')):\n"
        "    print(modelsel.regressor(*words).fit(X, y).predict(X).tolist())\n"
    )
    said = []
    for settings in ({}, {"MODELSEL_KERNELS": "python", "MODELSEL_CACHE": str(tmp_path)}):
        words = [sys.executable, "-W", "error::RuntimeWarning", "-c", script]
        done = subprocess.run(words, env={**os.environ, **settings}, capture_output=True, text=True, check=True)
        said.append(done.stdout)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == 3
    assert not any(tmp_path.iterdir())


def test_a_word_for_the_kernels_that_means_nothing_is_an_error_and_no_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, compiled in (("", True), ("python", False)):
        monkeypatch.setenv("MODELSEL_KERNELS", said)
        assert compiler.is_wanted() is compiled
    monkeypatch.setenv("MODELSEL_KERNELS", "numba")
    with pytest.raises(ConfigurationError) as found:
        compiler.is_wanted()
    assert str(found.value).startswith("MSEL-276: MODELSEL_KERNELS=numba means nothing, environment; ")
    assert "MODELSEL_KERNELS=python" in str(found.value)
