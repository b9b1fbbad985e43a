"""Bad tables made by rule are read, asked about or refused, never silently other than they were meant; answers give those.

The oracle is the generator, which knows what it wrote: no reader of this package has a part in it.
"""

import math
from pathlib import Path

import pytest

from modelsel.api.commands.settle import Settled, compose_surely, settle
from modelsel.api.commands.table_words import as_overrides
from modelsel.config.compose import compose
from modelsel.core.types import ClassTask, Finding
from modelsel.runner.study_data import prepare
from tests.dataset.bad_tables import SHAPES, BadTable, combine, spoil

LIGHT = ("space=naive_bayes", "scheme.folds=3")


def settled(path: Path, target: str, *words: str) -> Settled:
    said = [*as_overrides([str(path), target]), *LIGHT, *words]
    return settle(*compose_surely(lambda more: compose([*said, *more])))


def codes(found: Settled) -> set[str]:
    """What was said: what was set for it, and what is left to decide."""
    said = {reason.partition(":")[0] for reasons in found.added.values() for reason in reasons.split("; ")}
    return said | {one.code for one in found.left} | ({one.code for one in findings(found)})


def findings(found: Settled) -> tuple[Finding, ...]:
    return () if found.error is not None else prepare(found.config).findings


def differences(bad: BadTable, found: Settled) -> list[str]:
    """How the table that was read differs from the one that was meant."""
    task = found.config.dataset.load().task
    assert isinstance(task, ClassTask)
    kept = [row for row, label in enumerate(bad.labels) if label is not None]
    called = bad.places()
    wrong = [] if task.rows.tolist() == kept else [f"rows {len(task)} and not {len(kept)}"]
    if wrong:
        return wrong
    if [task.classes[code] for code in task.target.tolist()] != [bad.labels[row] for row in kept]:
        wrong.append("labels")
    names = {feature.name for feature in task.features}
    meant = {called[name]: values for name, values in bad.meant.items()}
    wrong += [f"{name} is no feature" for name in meant.keys() - names] + [
        f"{name} is a feature" for name in names - meant.keys()
    ]
    for feature, column in zip(task.features, task.values.T):
        values = [meant[feature.name][row] for row in kept] if feature.name in meant else []
        read = [
            None if math.isnan(value) else feature.levels[int(value)] if feature.levels else value for value in column.tolist()
        ]
        if values and read != values:
            row = next(row for row, (one, other) in enumerate(zip(read, values)) if one != other)
            wrong.append(f"{feature.name} ({feature.kind}) in row {row}: {read[row]!r} and not {values[row]!r}")
    return wrong


def check(bad: BadTable, folder: Path) -> None:
    """A bad table is refused, or asked about, or is what was meant."""
    path = bad.write(folder)
    found = settled(path, bad.target if bad.named else str(bad.cells[bad.target][0]))
    if bad.refused:
        assert found.error is not None, "not refused"
        assert set(bad.refused) & codes(found), codes(found)
        return
    unasked = [sorted(one) for one in bad.asked if not one & codes(found)]
    silent = found.error is None and bool(unasked)
    assert not (silent and differences(bad, found)), (unasked, codes(found))
    if bad.answers and (found.error is not None or differences(bad, found)):
        target = bad.target if bad.named else bad.places()[bad.target]
        found = settled(path, target, *bad.answers, *([] if bad.named else ["dataset.header=0"]))
    if found.error is not None:
        raise found.error
    assert differences(bad, found) == []


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_each_shape_by_itself(name: str, tmp_path: Path) -> None:
    check(spoil([name]), tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_shapes_together(seed: int, tmp_path: Path) -> None:
    names, bad = combine(seed)
    assert names
    check(bad, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 400))
def test_many_shapes_together(seed: int, tmp_path: Path) -> None:
    check(combine(seed, most=7)[1], tmp_path)
