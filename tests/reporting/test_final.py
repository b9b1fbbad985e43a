"""The final model on the page: drawn from the model folder, and nothing that a file says gets in as it is."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import modelsel
from modelsel.record.folder import DETAILS, OUTCOME, RunFolder
from modelsel.record.model import ARRAYS, FACTS, SUMS
from modelsel.reporting import page

HOSTILE = "</script></pre><script>alert('x')</script><img src=x onerror=alert(1)>\"'"
KINDS = ("numeric", "nominal", "ordered", "info", "low", "medium", "high", "critical")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> RunFolder:
    """A tree on real data, recorded."""
    root = tmp_path_factory.mktemp("final")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELSEL_HOME", str(root / "home"))
        patch.chdir(root)
        outcome = modelsel.run("dataset=iris", "learner=cart", "scheme.folds=3", "tracking=off", "pool=sequential")
        return RunFolder(Path(outcome.folder).absolute())


@pytest.fixture
def copy(study, tmp_path) -> RunFolder:
    """The study in a folder that may be tampered with."""
    return RunFolder(Path(shutil.copytree(study.path, tmp_path / "runs" / "iris" / "copy")))


def hostile(value: Any) -> Any:
    """Every text replaced, also the names; numbers stay, and words that a file is refused without."""
    if isinstance(value, dict):
        return {name: hostile(one) for name, one in value.items()}
    if isinstance(value, list):
        return [hostile(one) for one in value]
    return HOSTILE if isinstance(value, str) and value not in KINDS else value


def test_a_tree_is_drawn_with_its_rules(study):
    html = page.render(study)
    assert html.count('class="tree-drawing"') == 1
    assert "petal length (cm) &lt;= 2.45" in html
    assert "if petal length (cm) &lt;= 2.45 then setosa" in html


def test_no_drawing_is_kept(study):
    assert not {"drawing", "rules"} & set(study.details())
    assert "<" not in (study.path / DETAILS).read_text().replace("<=", "")


@pytest.mark.slow
def test_nothing_of_a_hostile_details_file_gets_into_the_page_unescaped(copy):
    details = hostile(copy.details().written()) | {"drawing": HOSTILE, "rules": HOSTILE}
    (copy.path / DETAILS).write_text(json.dumps(details))
    stated = json.loads((copy.path / OUTCOME).read_text())
    stated["files"][DETAILS] = sha256((copy.path / DETAILS).read_bytes()).hexdigest()  # whoever edits one can edit the other
    (copy.path / OUTCOME).write_text(json.dumps(stated))
    html = page.render(RunFolder(copy.path))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert" in html


def test_a_model_with_hostile_names_is_drawn_as_text(copy):
    data = copy.model / "data"
    (data / FACTS).write_text((data / FACTS).read_text().replace("setosa", "<script>alert(1)</script>"))
    (data / SUMS).write_text("".join(f"{sha256((data / name).read_bytes()).hexdigest()}  {name}\n" for name in (FACTS, ARRAYS)))
    html = page.render(copy)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_damaged_model_is_said_and_the_rest_is_there(copy):
    (copy.model / "data" / FACTS).write_text("{}")
    html = page.render(copy)
    assert "It cannot be shown: MSEL-620" in html
    assert "tree-drawing" not in html
    assert 'id="leaderboard"' in html


def test_a_study_without_a_model_folder_has_none(copy):
    shutil.rmtree(copy.model)
    html = page.render(copy)
    assert "tree-drawing" not in html
    assert "It cannot be shown" not in html
