"""Natural tables whose rows repeat for good reasons, as they are: is anything of them taken for a copy, is a unit asked for?

Tables of scikit-learn's, and by rule: joins, panels, visits, designs, questionnaires, lags. With `--folder` those of a folder
that `REAL` names, with the target of each; one that is not there is skipped by name. A table is *touched* where rows are
dropped, counted as one, or nothing is certified; a *finding* names columns for `dataset.unit`, and changes nothing. None may
be touched.

    python -m benchmarks.recognition.guard_natural [--folder FOLDER] [--splits 5]
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.common.timing import Row
from benchmarks.recognition.disguise_tables import bundled
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Integers, Task, seal
from modelsel.dataset.read_table import read_table
from modelsel.guard.checks.leakage import copies_across
from modelsel.guard.copied_units import sealed_copies
from modelsel.guard.requests import TestSetDeclaration

Rng = np.random.Generator
REAL = {
    "balance_scale": "class", "breast_cancer_ljubljana": "Class", "car": "class", "chick_weight": "Diet",
    "cmc": "Contraceptive_method_used", "contact_lenses": "contact-lenses", "credit_g": "class", "dermatology": "class",
    "haberman": "Survival_status", "hepatitis": "Class", "hypothyroid": "Class", "infert": "case", "kr_vs_kp": "class",
    "letter": "class", "lymph": "class", "monks1_test": "class", "mushroom": "class", "nursery": "class",
    "play_tennis": "PlayTennis", "soybean": "class", "spect_train": "OVERALL_DIAGNOSIS", "supermarket": "total",
    "tae": "Class_attribute", "tic_tac_toe": "Class", "titanic": "Survived", "vote": "Class", "zoo": "type",
}  # fmt: skip


def join(rng: Rng) -> tuple[Floats, Integers]:
    """700 orders of 60 customers: five columns are the customer's, three the order's, and so is the label."""
    customers, who = rng.normal(size=(60, 5)).round(2), rng.integers(0, 60, 700)
    orders = np.column_stack([rng.exponential(40, 700).round(2), rng.integers(1, 8, 700), rng.normal(size=700).round(3)])
    return np.column_stack([customers[who], orders]), (orders[:, 0] + 20 * rng.normal(size=700) > 40).astype(np.int64)


def panel(rng: Rng) -> tuple[Floats, Integers]:
    """80 firms in ten years: six columns of the firm, the year, two measurements; the label is that year's."""
    firm, year = np.repeat(np.arange(80), 10), np.tile(np.arange(2010, 2020), 80)
    firms, own = rng.normal(size=(80, 6)).round(2), rng.normal(size=(800, 2)).round(3)
    return np.column_stack([firms[firm], year, own]), (firms[firm, 0] + own[:, 0] + rng.normal(size=800) > 0).astype(np.int64)


def visits(rng: Rng) -> tuple[Floats, Integers]:
    """150 patients who came four times, of whom nothing else is known than who they are; each visit has a label of its own."""
    patients = np.column_stack([rng.integers(20, 90, 150), rng.integers(0, 2, 150), rng.normal(25, 4, 150).round(1)])
    ill = rng.uniform(0.2, 0.8, 150)
    return np.repeat(patients, 4, axis=0).astype(np.float64), (rng.random(600) < np.repeat(ill, 4)).astype(np.int64)


def design(rng: Rng, factors: int = 4, times: int = 4) -> tuple[Floats, Integers]:
    """Every combination of three levels so many times, with a response that is not certain."""
    cells = np.repeat(np.array(list(product(range(3), repeat=factors)), np.float64), times, axis=0)
    return cells, (cells.sum(axis=1) + rng.normal(size=len(cells)) * 1.5 > factors).astype(np.int64)


def questionnaire(rng: Rng) -> tuple[Floats, Integers]:
    """600 people, eight questions from 1 to 5 that hang together."""
    mood = rng.normal(size=(600, 1))
    answers = np.clip(np.round(3 + 1.2 * mood + 0.6 * rng.normal(size=(600, 8))), 1, 5)
    return answers, (mood[:, 0] + rng.normal(size=600) > 0).astype(np.int64)


def lags(rng: Rng) -> tuple[Floats, Integers]:
    """A slow sensor, read in tenths, with its last five readings beside each."""
    series = np.cumsum(rng.normal(size=2006) * 0.2).round(1)
    table = np.column_stack([series[lag : lag + 2000] for lag in range(6)])
    return table, (series[6:2006] > series[5:2005]).astype(np.int64)


def words(rng: Rng) -> tuple[Floats, Integers]:
    """600 short texts: thirty words, most of them not there."""
    kind = rng.integers(0, 2, 600)
    return rng.poisson(np.where(kind[:, None] == np.arange(30) % 2, 0.08, 0.02)).astype(np.float64), kind


def levels(rng: Rng) -> tuple[Floats, Integers]:
    """2,000 people in a survey of five columns with three levels, of which one follows another."""
    table = np.column_stack([rng.choice(3, 2000, p=rng.dirichlet(np.ones(3))) for _ in range(5)]).astype(np.float64)
    table[:, 4] = np.where(rng.random(2000) < 0.8, table[:, 0], table[:, 4])
    return table, (rng.random(2000) < 0.3 + 0.2 * (table[:, 1] > 0)).astype(np.int64)


def one_hot(rng: Rng) -> tuple[Floats, Integers]:
    """The same survey, each level a column of 0 and 1."""
    table, label = levels(rng)
    return np.column_stack([table == level for level in range(3)]).astype(np.float64), label


RULES: dict[str, Callable[[Rng], tuple[Floats, Integers]]] = {
    "join": join, "panel": panel, "visits": visits, "replicated design 3⁴ ×4": design,
    "replicated design 3² ×30": lambda rng: design(rng, 2, 30), "complete design 3⁵": lambda rng: design(rng, 5, 1),
    "questionnaire": questionnaire, "lags": lags, "words": words, "levels": levels, "levels as columns": one_hot,
}  # fmt: skip


def made(rule: str, seed: int = 0) -> Task:
    """A table by rule."""
    values, target = RULES[rule](np.random.default_rng([seed, *rule.encode()]))
    features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    rows = np.arange(len(values))
    return Task(name=rule, features=features, values=values, rows=rows, classes=("no", "yes"), target=target.astype(np.int32))


def tables(folder: Path | None) -> Iterator[tuple[str, Callable[[], Task]]]:
    """Each table by name."""
    yield from ((name, lambda name=name: bundled(name)) for name in ("iris", "wine", "breast_cancer", "digits"))  # type: ignore[misc]
    yield from ((name, lambda name=name: made(name)) for name in RULES)  # type: ignore[misc]
    for name, target in REAL.items() if folder else ():
        path = folder / f"{name}.csv"  # type: ignore[operator]
        if path.exists():
            yield name, lambda path=path, target=target: read_table(path, target)  # type: ignore[misc]
        else:
            print(f"{name:26}skipped: {path} is not there")


def said(task: Task, seed: int) -> tuple[str, tuple[str, ...]]:
    """What is done to a table that is split by a seed, empty for nothing; and the columns that a finding names."""
    order, cut = np.random.default_rng(seed).permutation(len(task)), round(0.3 * len(task))
    test, development = task.take(np.sort(order[:cut])), task.take(np.sort(order[cut:]))
    sealing = TestSetDeclaration(seal(test), development, make("measure", "error"), "study", "runs/1", "spec")
    copies = sealed_copies(sealing)
    if copies.agreed:
        what = f"{copies.across.sum()} of {cut} sealed rows are copies" if copies.across.any() else "sealed copies are units"
        return what, copies.columns
    return "near copies: nothing is certified" if copies_across(sealing, str(seed)) is not None else "", copies.columns


def rows() -> Iterator[Row]:
    """No timing: that nothing is touched is asserted."""
    assert main(None, 2) == 0
    yield from ()


def main(folder: Path | None, splits: int) -> int:
    count = touched = asked = 0
    for name, make_table in tables(folder):
        task, count = make_table(), count + 1
        found = [said(task, seed) for seed in range(splits)]
        done = [what for what, _ in found if what]
        named = [columns for what, columns in found if columns and not what]
        touched, asked = touched + bool(done), asked + bool(named)
        shown = f"TOUCHED in {len(done)} of {splits} splits: {done[0]}" if done else "not touched"
        finding = f"; in {len(named)} asked for a unit by {', '.join(named[0])}" if named else ""
        print(f"{name:26}{len(task):6} × {len(task.features):<4}{shown}{finding}", flush=True)
    print(f"{touched} of {count} tables touched; {asked} are asked to declare a unit")
    return 1 if touched else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where tables of the names of `REAL` are, as CSV")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    sys.exit(main(options.folder, options.splits))
