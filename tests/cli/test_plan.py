"""`modelsel plan` says what a study would do and cost, and leaves nothing behind."""

import re

from modelsel.core.errors import OK


def test_a_plan_tells_time_and_memory(modelsel, small, folder):
    done = modelsel("plan", *small)
    assert done.code == OK, done.err
    assert re.search(r"^time +about [\d.]+ (s|min|h) with 1 worker$", done.out, re.MULTILINE)
    assert re.search(r"^memory +about [\d,]+ MiB beyond the data$", done.out, re.MULTILINE)


def test_a_plan_counts_candidates_batches_and_fits(modelsel, small):
    said = modelsel("plan", "-v", *small).out
    for what in ("rows", "candidates", "batches", "cells", "fits", "final test"):
        assert re.search(rf"^{what} ", said, re.MULTILINE), what


def test_a_plan_writes_and_opens_nothing(modelsel, small, folder, tmp_path):
    assert modelsel("plan", *small).code == OK
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_a_swept_mapping_of_scikit_learn_is_planned(modelsel, small):
    entry = "{learner: sklearn, estimator: DecisionTreeClassifier, sweep: {params.max_depth: 'choice(1, 2)'}}"
    done = modelsel("plan", *[word for word in small if not word.startswith("space")], f"+space={{shallow: {entry}}}")
    assert done.code == OK, done.err
    assert re.search(r"^candidates +2$", done.out, re.MULTILINE)


def test_the_plan_says_which_entries_export_to_what(modelsel) -> None:
    assert "export       sql: cart, c45; " in modelsel("plan", "dataset=iris", "space=[cart,c45]", "-v").out


def test_the_gravest_finding_of_a_plan_is_to_be_read_up(modelsel) -> None:
    said = modelsel("plan", "dataset=iris", "space=cart").out
    code = re.search(r"`modelsel explain ([A-Z][A-Z0-9_-]+)` tells of the gravest finding", " ".join(said.split()))[1]
    assert f"findings     {code} (" in said
