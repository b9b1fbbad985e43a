"""The identity of objects: equal across processes, hash seeds, cells and orders; another where the code says otherwise."""

import functools
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from modelsel.foreign.identity import NoIdentityError, identity, origin_of, sources

SCRIPT = """
    import re
    import numpy as np
    from scipy import stats
    from sklearn.base import BaseEstimator, ClassifierMixin

    FACTOR = 3
    WORDS = {"b": {1, 2, "x", None}, "a": frozenset({"q", "r", "s"})}

    def scaled(values):
        return values * FACTOR

    class Own(ClassifierMixin, BaseEstimator):
        def __init__(self, k=1, words=None):
            self.k = k
            self.words = words

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            self.k_ = scaled(self.k) + len(WORDS)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0] if self.k_ in {1, 2, 3} else self.classes_[-1])

    from modelsel.foreign.identity import identity
    print(identity([Own(2, WORDS), stats.loguniform(1e-3, 1e3), re.compile("a+"), lambda x: scaled(x) + 1]))
"""


def told(text: str, folder: Path, how: str = "file", seed: str = "0") -> str:
    """What a process of its own prints: of a file, without any source, or in IPython's cells."""
    text = textwrap.dedent(text)
    (folder / "own.py").write_text(text)
    ways = {
        "file": [str(folder / "own.py")],
        "no source": ["-c", text],
        "cells": ["-c", f"from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
                        f"for cell in ['x = 1'] * {seed} + {text!r}.split(chr(10) * 2 + 'class'):\n"
                        f"    shell.run_cell(cell if cell[:1] in 'xi\\n' else 'class' + cell)"],
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *ways[how]], env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.mark.slow
def test_it_is_the_same_in_every_process_and_for_every_hash_seed(tmp_path: Path) -> None:
    first = told(SCRIPT, tmp_path)
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert told(SCRIPT, tmp_path, seed="7") == first
    pytest.importorskip("IPython")
    assert told(SCRIPT, tmp_path, "cells", "1") == told(SCRIPT, tmp_path, "cells", "5") == first
    without = told(SCRIPT, tmp_path, "no source")
    assert without == told(SCRIPT, tmp_path, "no source", "9"), "the bytecode stands in, and does not depend on the process"


@pytest.mark.slow
def test_comments_and_docstrings_do_not_count_and_what_the_code_reads_does(tmp_path: Path) -> None:
    first = told(SCRIPT, tmp_path)
    said = SCRIPT.replace("def scaled(values):", 'def scaled(values):\n        "Say it."\n        # so it is')
    assert told(said, tmp_path) == first
    for before, after in (("FACTOR = 3", "FACTOR = 4"), ("values * FACTOR", "FACTOR * values + 0"), ('"s"})', '"t"})')):
        assert told(SCRIPT.replace(before, after), tmp_path) != first


def pipeline() -> Any:
    columns = ColumnTransformer([("n", StandardScaler(), ["x"]), ("f", FunctionTransformer(np.log1p), ["y"])])
    return make_pipeline(FeatureUnion([("c", columns)]), StackingClassifier([("s", SVC(gamma=0.5))], LogisticRegression()))


def test_a_clone_is_the_same_and_a_parameter_further_down_is_not():
    one = pipeline()
    assert identity(one) == identity(clone(one)) == identity(pipeline())
    other = clone(one).set_params(stackingclassifier__s__gamma=0.6)
    assert identity(other) != identity(one)
    assert [each.split()[0] for each in sources(one)] == ["numpy", "scikit-learn"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (1, True), ("1", 1), ((1, 2), [1, 2]), (np.float32(1), np.float64(1)), (np.arange(3), np.arange(4)),
        ([1, [2]], [[1], 2]), (stats.uniform(0, 1), stats.uniform(0, 2)), (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (sparse.csr_matrix([[0, 1]]), sparse.csr_matrix([[1, 0]])), (pd.Timestamp("2020"), pd.Timestamp("2021")),
        (functools.partial(max, 1), functools.partial(max, 2)), (np.log, np.exp), (float("nan"), None),
    ],
)  # fmt: skip
def test_what_differs_is_told_apart_and_what_does_not_is_not(one: Any, other: Any) -> None:
    assert identity(one) != identity(other)
    assert identity(one) == identity(one)
    assert identity([one, other]) != identity([other, one])


def test_the_order_of_a_mapping_and_shared_parts_do_not_count():
    part = [1, 2]
    assert identity({"a": part, "b": part}) == identity({"b": [1, 2], "a": [1, 2]})


def test_what_refers_to_itself_ends():
    loop: list[Any] = [1]
    loop.append(loop)
    assert identity(loop) == identity(loop)


def test_a_closure_and_its_cell_count():
    def made(by: int) -> Any:
        return lambda value: value * by

    assert identity(made(2)) == identity(made(2)) != identity(made(3))


def test_an_edited_file_does_not_stand_for_the_code_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "edited_module.py"
    file.write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import edited_module

    before = identity(edited_module.f)
    file.write_text("def f(x):\n    return x + 2222\n")
    after = identity(edited_module.f)
    fresh: dict[str, Any] = {"__name__": "edited_module"}
    exec(file.read_text(), fresh)
    assert after != identity(fresh["f"])
    assert before != identity(fresh["f"])
    monkeypatch.delitem(sys.modules, "edited_module")


def test_what_cannot_be_told_from_others_is_refused():
    with pytest.raises(NoIdentityError, match="generator"):
        identity(value for value in ())
    with pytest.raises(NoIdentityError, match="ufunc"):
        identity(np.frompyfunc(lambda x: x, 1, 1))


def test_own_code_is_code_that_no_distribution_brought():
    assert origin_of(__name__) == ""
    assert origin_of("sklearn.svm").startswith("scikit-learn ")
