"""scikit-learn's small sets are the same, read from their files and by scikit-learn itself."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
import sklearn.datasets

from modelsel.dataset import sklearn_bundled
from modelsel.dataset.sklearn_bundled import FILES, bundle


@pytest.mark.parametrize("which", FILES)
def test_a_set_is_what_scikit_learn_reads(which: str) -> None:
    ours, theirs = bundle(which), getattr(sklearn.datasets, f"load_{which}")()
    assert isinstance(ours, sklearn_bundled.Bundle)
    assert ours.data.shape == theirs.data.shape
    assert ours.data.tobytes() == theirs.data.tobytes()
    assert ours.target.tolist() == theirs.target.tolist()
    assert ours.feature_names == list(theirs.feature_names)
    assert [str(name) for name in ours.target_names] == [str(name) for name in theirs.target_names]


def test_a_scikit_learn_that_keeps_its_files_elsewhere_is_asked_itself(tmp_path: Path) -> None:
    with patch.object(sklearn_bundled, "FILES", dict.fromkeys(FILES, "moved")):
        assert bundle("iris").data.tobytes() == sklearn.datasets.load_iris().data.tobytes()


def test_reading_one_imports_no_scikit_learn() -> None:
    told = "import sys; from modelsel.dataset.sklearn_bundled import SklearnBundled; SklearnBundled('wine').read()"
    told += "; print('sklearn' in sys.modules, 'scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
