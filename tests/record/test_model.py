"""The model folder: what comes back predicts the same, and what was touched is refused or predicts the same."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from modelsel.core.errors import DataError
from modelsel.core.spec import class_of
from modelsel.core.types import Candidate, Feature, Task, positions
from modelsel.record import model
from modelsel.record.facts import FinalModel
from modelsel.runner.final_fit import fit

LEARNERS = ("majority", "prior_draw", "table", "knn", "naive_bayes", "tree", "forest")
STEPS = {"": (), "select_top": ("select_top",), "discretise_mdl": ("discretise_mdl",), "impute": ("impute",)}


def mixed(rows: int = 120) -> Task:
    """Numbers, levels and ordered levels with missing values; three classes that depend on them."""
    rng = np.random.default_rng(3)
    features = (
        Feature("width", "numeric"),
        Feature("colour", "nominal", ("red", "green", "blue, or so", "=ü")),
        Feature("size", "ordered", ("small", "large")),
        Feature("noise", "numeric"),
    )
    values = np.column_stack([rng.normal(size=rows), rng.integers(0, 4, rows), rng.integers(0, 2, rows), rng.normal(size=rows)])
    target = ((values[:, 0] > 0) + (values[:, 1] > 1)).astype(np.int32)
    values[rng.random(values.shape) < 0.08] = np.nan
    return Task(name="mixed", features=features, values=np.asfortranarray(values), rows=np.arange(rows, dtype=np.int64),
                classes=("none", "one", "two"), target=target)  # fmt: skip


def final_of(kind: str, steps: tuple[str, ...] = ()) -> tuple[FinalModel, object, Task]:
    task = mixed()
    candidate = Candidate(class_of("learner", kind)(), tuple(class_of("preparer", step)() for step in steps))
    fitted = fit(candidate, task, seed=0)
    example = task.take(positions(task)[:5])
    return FinalModel(task.features, task.classes, fitted.learner, fitted.descriptions, example), fitted, task


def columns(task: Task) -> dict[str, list]:
    """The rows as a person has them: names, numbers, words, None."""
    return {
        feature.name: [
            None if np.isnan(v) else v if feature.kind == "numeric" else feature.levels[int(v)] for v in task.values[:, i]
        ]
        for i, feature in enumerate(task.features)
    }


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("kind", LEARNERS)
def test_what_comes_back_predicts_the_same(kind, steps, tmp_path):
    final, fitted, task = final_of(kind, steps)
    back = model.load(model.save(tmp_path / "model", final, "0.1.0"))
    classes = np.array(task.classes)[fitted.predict(task)]
    assert back(columns(task)).tolist() == classes.tolist()
    np.testing.assert_array_equal(back.scores(back.table(columns(task))), fitted.scores(task))


@pytest.mark.parametrize("kind", LEARNERS)
def test_columns_are_matched_by_name_and_others_left_aside(kind, tmp_path):
    final, _, task = final_of(kind)
    back = model.load(model.save(tmp_path / "model", final, "0.1.0"))
    given = columns(task)
    shuffled = {"unknown": ["x"] * len(task), **dict(reversed(given.items()))}
    assert back(shuffled).tolist() == back(given).tolist()


def test_nothing_in_the_folder_is_a_pickle(tmp_path):
    final, *_ = final_of("tree")
    saved = model.save(tmp_path / "model", final, "0.1.0")
    names = sorted(str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file())
    assert names == ["MLmodel", "data/SHA256SUMS", "data/arrays.npz", "data/model.json", "input_example.json",
                     "python_env.yaml", "requirements.txt", "serving_input_example.json"]  # fmt: skip
    assert "python_model" not in (saved / "MLmodel").read_text()


def test_the_same_model_gives_the_same_bytes(tmp_path):
    final, *_ = final_of("tree", ("select_top",))
    one, two = (model.save(tmp_path / name, final, "0.1.0") / "data" for name in ("a", "b"))
    assert (one / "SHA256SUMS").read_bytes() == (two / "SHA256SUMS").read_bytes()


@pytest.mark.parametrize("name", ["model.json", "arrays.npz", "SHA256SUMS"])
def test_a_missing_file_is_said(name, tmp_path):
    saved = model.save(tmp_path / "model", final_of("tree")[0], "0.1.0")
    (saved / "data" / name).unlink()
    with pytest.raises(DataError, match="MSEL-620"):
        model.load(saved)


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_touched_file_is_refused_or_predicts_the_same(kind, tmp_path):
    mutate(kind, tmp_path, 40, resign=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_touched_file_with_new_digests_never_breaks_the_process(kind, tmp_path):
    mutate(kind, tmp_path, 60, resign=True)


@pytest.mark.soak
@pytest.mark.parametrize("resign", [False, True])
@pytest.mark.parametrize("kind", LEARNERS)
def test_ten_thousand_touched_files(kind, resign, tmp_path):
    mutate(kind, tmp_path, 10_000 // len(LEARNERS) // 2 + 1, resign)


def mutate(kind, tmp_path, times, resign):
    """Flip, cut, repeat bytes, change numbers in the facts; every outcome is one of the two that are allowed."""
    final, _, task = final_of(kind)
    saved = model.save(tmp_path / "model", final, "0.1.0")
    given = columns(task)
    expected = model.load(saved)(given).tolist()
    rng = np.random.default_rng(len(kind) + resign)
    for turn in range(times):
        touched = tmp_path / f"touched{turn}"
        shutil.copytree(saved, touched)
        name = ("model.json", "arrays.npz")[int(rng.integers(2))] if resign else FILES[int(rng.integers(len(FILES)))]
        path = touched / name if name in ("MLmodel", "input_example.json") else touched / "data" / name
        path.write_bytes(touch(path.read_bytes(), rng))
        if resign:
            sums = (hashlib.sha256((touched / "data" / n).read_bytes()).hexdigest() + f"  {n}\n" for n in model_files)
            (touched / "data" / "SHA256SUMS").write_text("".join(sums))
        try:
            back = model.load(touched)
            answer = back(given).tolist()
        except DataError:
            pass
        else:
            assert resign or answer == expected
            assert set(answer) <= set(back.classes)
        shutil.rmtree(touched)


FILES = ("model.json", "arrays.npz", "SHA256SUMS", "MLmodel", "input_example.json")
model_files = ("model.json", "arrays.npz")


def touch(content: bytes, rng: np.random.Generator) -> bytes:
    data = bytearray(content)
    at = int(rng.integers(len(data)))
    match int(rng.integers(6)):
        case 0:
            data[at] ^= 1 << int(rng.integers(8))
        case 1:
            del data[at:]
        case 2:
            data[at:at] = data[at : at + 64]
        case 3:
            data[at : at + 8] = bytes(rng.integers(0, 256, 8, dtype=np.uint8))
        case 4:
            data[at : at + 8] = b"\xff" * 8
        case _:
            digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57] or [at]
            for i in rng.choice(digits, min(3, len(digits)), replace=False):
                data[i] = 48 + int(rng.integers(10))
    return bytes(data)


def test_a_scikit_learn_model_is_a_recipe_that_fits_itself_again(tmp_path):
    final, fitted, task = final_of("sklearn", ("select_top",))
    back = model.load(model.save(tmp_path / "model", final, "0.1.0"))
    assert back.is_recipe
    with pytest.raises(DataError, match="MSEL-621"):
        back(columns(task))
    again = back.refit(task)
    np.testing.assert_array_equal(again.scores(task), fitted.scores(task))
    with pytest.raises(DataError, match="not the rows"):
        back.refit(task.take(positions(task)[1:]))


def test_a_kind_that_is_not_installed_or_private_is_refused(tmp_path):
    final, *_ = final_of("majority")
    for kind in ("nothing_like_it", "_prior", "os", "../x"):
        changed = replace(final, learner=replace(final.learner, kind=kind))
        with pytest.raises(DataError, match="MSEL-620"):
            model.load(model.save(tmp_path / "model", changed, "0.1.0"))


def test_one_class_alone_and_two_features_of_one_name_are_no_model(tmp_path):
    final, *_ = final_of("majority")
    twice = (final.features[0], *final.features[:-1])
    for changed in (replace(final, features=twice), replace(final, classes=final.classes[:1])):
        with pytest.raises(DataError, match=r"MSEL-620.*one class alone, or two features of one name"):
            model.load(model.save(tmp_path / "model", changed, "0.1.0"))


def test_facts_are_plain_json(tmp_path):
    for kind in LEARNERS:
        saved = model.save(tmp_path / kind, final_of(kind, ("discretise_mdl",))[0], "0.1.0")
        json.loads((saved / "data" / "model.json").read_text(), parse_constant=lambda word: pytest.fail(word))
