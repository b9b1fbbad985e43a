"""What a part of each group promises, whatever its kind: settings and tasks are drawn, nothing is listed by name.

`check(group, cls)` raises AssertionError for a broken promise, and skips where a kind can be used with none of the tasks.
"""

import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from modelsel.core.fingerprint import canonical
from modelsel.core.spec import class_of, kind_of, kinds_of, limits_of, make, spec_of
from modelsel.core.types import ClassTask, Feature, Fold, NumberTask, Outputs, Resampling, Table, Task, positions
from modelsel.learner.tree import Tree

CLASSES = ("A", "B", "C")
LARGE = 20  # defaults above it (500 trees) are always drawn anew: they cost, and prove nothing more
ENOUGH = 1.0  # seconds after which no other task is drawn


def check(group: str, cls: Any) -> None:
    """Hold a class to what its group promises."""
    assert dataclasses.is_dataclass(cls), "a part is a dataclass"
    assert cls.__dataclass_params__.frozen, "a part is frozen"
    {"learner": learner, "criterion": criterion, "preparer": preparer, "measure": measure, "scheme": scheme}[group](cls)


def drawn_task(rng: np.random.Generator, kinds: Sequence[str] = ("numeric", "nominal", "ordered")) -> Task:
    """Some numbers, names and ranks, of which some are missing; weights, and a class that may be absent."""
    rows, count = int(rng.integers(25, 60)), int(rng.integers(2, 6))
    features = [
        Feature(f"f{i}", kind, () if kind == "numeric" else ("a", "b", "c")) for i, kind in enumerate(rng.choice(kinds, count))
    ]
    columns = [rng.normal(size=rows).round(1) if one.kind == "numeric" else rng.integers(0, 3, rows) for one in features]
    values = np.column_stack(columns).astype(float)
    values[rng.random(values.shape) < rng.choice([0.0, 0.1])] = np.nan
    return Task(
        name="drawn", features=tuple(features), values=values, rows=np.arange(rows), classes=CLASSES,
        target=rng.integers(0, 3, rows).astype(np.int32),
        weights=None if rng.random() < 0.6 else rng.choice([0.5, 1.0, 2.0], rows),
    )  # fmt: skip


def drawn(cls: Any, rng: np.random.Generator) -> Any:
    """The class with settings drawn within their declared limits."""
    values = {}
    for field in dataclasses.fields(cls):
        default = field.default if field.default is not dataclasses.MISSING else None
        chance = 1.0 if type(default) is int and default > LARGE else 0.5
        if field.init and rng.random() < chance and (found := _value(limits_of(field), default, rng)) is not None:
            values[field.name] = found
    try:
        return cls(**values)
    except (ValueError, TypeError):
        return cls()


def _value(limits: Any, default: Any, rng: np.random.Generator) -> Any:
    if limits.words:
        return str(rng.choice(limits.words))
    if limits.group and not limits.many:
        return make(limits.group, str(rng.choice(_reading_classes(limits.group))))
    if isinstance(default, bool):
        return bool(rng.random() < 0.5)
    if isinstance(default, int | float):
        low = max(value for value in (limits.least, limits.above, 0.0) if value is not None)
        high = low + 5 if limits.most is None else limits.most
        return int(rng.integers(int(low), int(high) + 1)) if isinstance(default, int) else float(rng.uniform(low, high)) + 1e-9
    return None


def _reading_classes(group: str) -> list[str]:
    return [kind for kind in kinds_of(group) if _reads_classes(class_of(group, kind))]


def _reads_classes(cls: Any) -> bool:
    """Say whether a kind is of classes; one whose settings decide (a property) may be."""
    reads = getattr(cls, "reads", ("classes",))
    return not isinstance(reads, tuple) or "classes" in reads


def drawn_numbers(rng: np.random.Generator, kinds: Sequence[str]) -> NumberTask:
    """The same features, and a number to predict."""
    task = drawn_task(rng, kinds)
    same = {name: getattr(task, name) for name in ("name", "features", "values", "rows", "weights")}
    return NumberTask(**same, target=rng.normal(size=len(task)).round(2))


def same_answers(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.predicted, other.predicted)
    if one.scores is None and other.scores is None:  # numbers have none
        return
    np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-12)


def learner(cls: Any, count: int = 6) -> None:
    """One fit answers every learner of equal growing exactly as that learner fitted alone, and so does one read back."""
    tried, began = 0, time.process_time()
    for seed in range(count):
        if tried and time.process_time() - began > ENOUGH:
            break
        rng = np.random.default_rng(seed)
        kinds = ("numeric", "nominal", "ordered") if seed % 2 else ("numeric",)
        task = drawn_task(rng, kinds) if _reads_classes(cls) else drawn_numbers(rng, kinds)
        some = [drawn(cls, rng) for _ in range(4)]
        rows = np.sort(rng.integers(0, len(task), len(task)))
        usable = [one for one in some if _usable(one, task, rows)]
        tried += len(usable)
        for group in _alike(usable):
            _path(group, task, rows)
    if not tried:
        pytest.skip(f"{cls.__name__} can be used with none of the drawn tasks: {list(cls().problems(task))}")


def _usable(one: Any, task: Task, rows: np.ndarray) -> bool:
    """Nothing is said against it; of what another library's code raises nothing can be said beforehand."""
    if list(one.problems(task)) or one.refusal(task, rows) is not None:
        return False
    if hasattr(one, "source"):
        try:
            one.fit(task, rows, np.random.default_rng(5))
        except ValueError:
            return False
    return True


def _alike(learners: Sequence[Any]) -> Iterator[list[Any]]:
    groups: dict[str, list[Any]] = {}
    for one in learners:
        assert hash(one) == hash(replace(one))
        groups.setdefault(str(canonical([kind_of(one), one.fit_key(), getattr(one, "apart", dict)()])), []).append(one)
    yield from groups.values()


def _path(learners: list[Any], task: Task, rows: np.ndarray) -> None:
    asked, new, scores = positions(task), lambda: np.random.default_rng(5), isinstance(task, ClassTask)
    path = learners[0].fit_path(task, rows, new())
    together = path.outputs(learners, task, asked, scores)
    assert together.predicted.shape == (len(learners), len(task))
    if scores:
        assert ((together.predicted >= 0) & (together.predicted < 3)).all()
        np.testing.assert_allclose(together.scores.sum(axis=2), 1.0, atol=1e-9)
    assert np.isfinite(path.complexity(learners)).all()
    assert all(isinstance(one.unit, str) and one.unit for one in learners)
    for place, one in enumerate(learners):
        fitted = one.fit(task, rows, new())
        kept = type(one).restore(replace(fitted.describe(), kind=kind_of(one)))
        kept = kept.refit(task, rows) if hasattr(kept, "refit") else kept
        for model in (fitted, path.model(one), kept):
            said = Outputs(model.predict(task), model.scores(task) if scores else None)
            same_answers(said, Outputs(together.predicted[place], together.scores[place] if scores else None))
        same_answers(path.outputs([one], task, asked[::2].copy(), scores), _cut(together, place))
        no_scores = path.outputs([one], task, asked, False)
        np.testing.assert_array_equal(no_scores.predicted[0], together.predicted[place])


def _cut(outputs: Outputs, place: int) -> Outputs:
    return Outputs(outputs.predicted[[place], ::2], None if outputs.scores is None else outputs.scores[[place], ::2])


def criterion(cls: Any) -> None:
    """A test that parts the classes is better than one that does not; trees grown by it keep what learners promise."""
    if not _reads_classes(cls):  # it reads weights and means, not counts of classes
        task = drawn_numbers(np.random.default_rng(1), ("numeric",))
        grown = Tree(criterion=cls())
        _path([grown, replace(grown, max_depth=2)], task, positions(task))
        return
    table = np.array([[[8.0, 0.0], [0.0, 8.0]], [[4.0, 4.0], [4.0, 4.0]]])
    for part in (cls(), *(drawn(cls, np.random.default_rng(seed)) for seed in range(3))):
        apart, mixed = part.goodness(table)
        assert np.isfinite([apart, mixed]).all()
        assert apart > mixed
        np.testing.assert_allclose(part.goodness(table[:, ::-1]), part.goodness(table), rtol=1e-9)
    task = drawn_task(np.random.default_rng(1), ("numeric",))
    grown = Tree(criterion=cls())
    if not list(grown.problems(task)):
        _path([grown, replace(grown, max_depth=2)], task, positions(task))


def preparer(cls: Any) -> None:
    """One fit answers every preparer of equal growing; a row's description depends on no other row."""
    tried = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        task = drawn_task(rng) if seed % 2 else drawn_task(rng, ("numeric",))
        rows, new = positions(task)[: len(task) * 2 // 3], lambda: np.random.default_rng(5)
        for step in (cls(), drawn(cls, rng)):
            if list(step.problems(task)):
                continue
            tried += 1
            seen = task.take(rows)
            fitted = step.fit(seen, positions(seen), new())
            kept = type(step).restore(replace(fitted.describe(), kind=kind_of(step)))
            ready = fitted.apply(task)
            assert ready.values.shape == (len(task), len(ready.features))
            for other in (step.fit_path(seen, positions(seen), new()).prepared(step), kept):
                np.testing.assert_array_equal(other.apply(task).values, ready.values)
            alone = Table(name="t", features=task.features, values=task.values[::5], rows=task.rows[::5])
            np.testing.assert_allclose(fitted.apply(alone).values, ready.values[::5], rtol=1e-9)
    if not tried:
        pytest.skip(f"{cls.__name__} can be used with none of the drawn tasks: {list(cls().problems(task))}")


def measure(cls: Any) -> None:
    """A candidate's number depends on nobody else; weights are repeats; the right answer scores best."""
    if not _reads_classes(cls):
        _measure_of_numbers(cls)
        return
    rng, task = np.random.default_rng(0), drawn_task(np.random.default_rng(0))
    truth = np.concatenate([np.arange(3), rng.integers(3, size=27)]).astype(np.int32)
    shares = rng.dirichlet(np.ones(3), (4, 30))
    outputs, part = Outputs(shares.argmax(axis=2).astype(np.int32), shares), cls()
    if reasons := list(part.problems(task, _folds(task, 2))):
        pytest.skip(f"{cls.__name__}: {reasons[0]}")
    together = part.score(truth, outputs, None, 3)
    for place in range(4):
        alone = Outputs(outputs.predicted[[place]], shares[[place]])
        np.testing.assert_array_equal(part.score(truth, alone, None, 3), together[[place]])
    times = rng.integers(1, 4, 30)
    rows = np.repeat(np.arange(30), times)
    many = part.score(truth[rows], Outputs(outputs.predicted[:, rows], shares[:, rows]), None, 3)
    np.testing.assert_allclose(part.score(truth, outputs, times.astype(float), 3), many, rtol=1e-9)
    best = part.score(truth, Outputs(truth[None], np.eye(3)[truth][None]), None, 3)[0]
    assert np.all(together <= best) if part.higher_is_better else np.all(together >= best)
    if part.over_rows:
        np.testing.assert_allclose(part.losses(truth, outputs, 3).mean(axis=1), together, rtol=1e-9)


def _measure_of_numbers(cls: Any) -> None:
    rng, part = np.random.default_rng(0), cls()
    truth, said = rng.uniform(1, 9, 30), rng.uniform(1, 9, (4, 30))
    together = part.score(truth, Outputs(said), None, 0)
    for place in range(4):
        np.testing.assert_array_equal(part.score(truth, Outputs(said[[place]]), None, 0), together[[place]])
    times = rng.integers(1, 4, 30)
    many = part.score(np.repeat(truth, times), Outputs(np.repeat(said, times, axis=1)), None, 0)
    np.testing.assert_allclose(part.score(truth, Outputs(said), times.astype(float), 0), many, rtol=1e-9)
    best = part.score(truth, Outputs(truth[None]), None, 0)[0]
    assert np.all(together <= best) if part.higher_is_better else np.all(together >= best)
    if part.over_rows:
        np.testing.assert_allclose(part.losses(truth, Outputs(said), 0).mean(axis=1), together, rtol=1e-9)


def scheme(cls: Any) -> None:
    """Halves of a fold share no row; folds depend on seed and rows alone; groups are kept whole or refused."""
    if not getattr(cls, "portable", True):
        pytest.skip(f"{cls.__name__} holds an object that was handed over: tests/scheme/test_splitter.py")
    plain = drawn_task(np.random.default_rng(3))
    rows = np.arange(len(plain))
    tasks = (
        plain,
        replace(plain, groups=rows // 3),
        replace(plain, times=rows.astype(float)),
        replace(plain, groups=rows % 3, times=rows.astype(float)),
        replace(plain, folds=rows % 4 - 1),
    )
    usable = [task for task in tasks if not list(cls().problems(task))]
    assert usable, [list(cls().problems(task)) for task in tasks]
    for task in usable:
        first, again = cls().instantiate(task, 3), cls().instantiate(task, 3)
        assert first.fingerprint == again.fingerprint
        assert first.task_fingerprint == task.fingerprint
        assert [fold.index for fold in first.folds] == list(range(len(first.folds)))
        for fold in first.folds:
            assert len(fold.analysis)
            assert len(fold.assessment)
            assert fold.judges_itself or not np.intersect1d(fold.analysis, fold.assessment).size
            assert not fold.analysis.flags.writeable
            if task.groups is not None:
                assert not np.intersect1d(task.groups[fold.analysis], task.groups[fold.assessment]).size
    assert spec_of(cls())["kind"] == first.scheme


def _folds(task: Task, count: int) -> Resampling:
    number = positions(task) % count
    folds = tuple(Fold(i, 0, np.flatnonzero(number != i), np.flatnonzero(number == i)) for i in range(count))
    return Resampling("t", task.fingerprint, folds)
