"""Data sets by their names: made, or read from a folder with or without a description."""

import json
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError, DataError
from modelsel.dataset.csv import Csv
from modelsel.dataset.monks import Monks
from modelsel.dataset.named import MADE, NOT_AT_HAND, Named


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_set_that_is_made_is_called_by_its_name(name: str) -> None:
    made = Named(name)
    assert list(made.problems()) == []
    assert made.read().name == name


def test_the_noisy_monks_differ_in_one_label_of_twenty() -> None:
    clean, noisy = Named("monks_3").read(), Named("monks_3_noisy").read()
    assert clean.fingerprint == Monks(problem=3).read().fingerprint
    assert int((clean.target != noisy.target).sum()) == 22


def test_a_file_without_a_description_has_its_target_in_the_class_column(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("Class,a\n" + "".join(f"{'yn'[i % 2]},{i}\n" for i in range(20)))
    loaded = Named("mine", str(tmp_path)).load()
    assert (loaded.task.classes, loaded.task.features[0].kind) == (("n", "y"), "numeric")
    assert "INFERRED_KINDS" in {finding.code for finding in loaded.findings}


def test_a_description_says_target_and_kinds(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b,out\n" + "".join(f"{i % 3},{i},{'yn'[i % 2]}\n" for i in range(20)))
    assert [problem.code for problem in Named("mine", str(tmp_path)).problems()] == ["MSEL-304"]
    columns = [{"name": "a", "type": "nominal"}, {"name": "b", "type": "numeric"}, {"name": "out", "type": "nominal"}]
    (tmp_path / "mine.json").write_text(json.dumps({"target": "out", "columns": columns}))
    task = Named("mine", str(tmp_path)).read()
    assert [feature.kind for feature in task.features] == ["nominal", "numeric"]


def test_a_broken_description_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,class\n1,x\n2,y\n")
    (tmp_path / "mine.json").write_text("{target: class}")
    with pytest.raises((DataError, ConfigurationError), match=r"mine\.json"):
        Named("mine", str(tmp_path)).read()


def test_what_is_not_there_is_refused_or_passed_over(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("a,class\n1,x\n")
    for folder, words in ((None, "no folder is named"), (str(tmp_path), "did you mean 'votes'")):
        (problem,) = Named("vote", folder, openml=False).problems()
        assert problem.code == "MSEL-302"
        assert words in str(problem)
        (problem,) = Named("vote", folder, openml=False, absent="skip").problems()
        assert problem.code == NOT_AT_HAND
    assert [problem.code for problem in Named().problems()] == ["MSEL-301"]


def test_it_is_the_table_that_dataset_csv_reads(shared: Path) -> None:
    named = Named("vote", str(shared / "data")).read()
    table = Csv(path=str(shared / "data" / "vote.csv"), target="Class").read()
    assert named.fingerprint == table.fingerprint
    assert np.array_equal(named.target, table.target)
