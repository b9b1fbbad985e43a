"""Find the dropped candidates that a resample of BBC could still pick: they have to finish before the score is corrected.

    in-bag mean ≥ (Σ known losses drawn + Σ least possible losses of the other rows drawn) / Σ weights drawn

A candidate whose bound is worse than the best finished one's mean in every resample is never picked; then the correction is the
same as over all candidates. The draws are those of `bbc`.
"""

import numpy as np

from modelsel.comparison.optimism.bbc import RESAMPLES, draws
from modelsel.comparison.optimism.units import units
from modelsel.core.fingerprint import generator
from modelsel.core.types import Floats, Integers, Resampling
from modelsel.runner.aggregation.racing import least_losses
from modelsel.runner.aggregation.results import Results

SLACK = 1e-6  # of losses that are kept in single precision


def bbc_generator(resampling: Resampling, seed: int) -> np.random.Generator:
    """Return the generator that draws the resamples of a study's correction."""
    return generator(seed, resampling.fingerprint, "bbc")


def pickable(results: Results, resampling: Resampling, seed: int) -> frozenset[int]:
    """Positions of dropped candidates that the rule `best` could pick in some resample."""
    task, dropped = results.book.work.task, np.array([s == "dropped" for s in results.status])
    if not dropped.any() or results.losses.matrix is None:
        return frozenset()
    whole = np.asarray(results.losses.matrix, np.float64).copy()
    column = {int(member): at for at, member in enumerate(results.kept)}
    of_dropped = [column[int(member)] for member in np.flatnonzero(dropped)]
    whole[:, of_dropped] = _hoped(results, np.flatnonzero(dropped))
    usable = results.board.eligible[results.kept].copy()
    finished = np.flatnonzero(usable)
    usable[of_dropped] = True
    of = units(whole, usable, task.groups, task.weights)
    place = {int(candidate): at for at, candidate in enumerate(of.candidates)}
    done, out = [place[int(one)] for one in finished], [place[one] for one in of_dropped]
    able = np.zeros(len(out), bool)
    for counts in draws(len(of.weight), RESAMPLES, bbc_generator(resampling, seed)):
        mean = counts @ of.total.astype(np.float64) / (counts @ of.weight)[:, None]
        able |= (mean[:, out] <= mean[:, done].min(axis=1, keepdims=True) + SLACK).any(axis=0)
    return frozenset(np.flatnonzero(dropped)[able].tolist())


def _hoped(results: Results, members: Integers) -> Floats:
    """Compute rows × members: known losses, and each row's least possible loss where its fold was not computed."""
    work = results.book.work
    task, classes = work.task, len(work.task.classes)
    place = {int(member): at for at, member in enumerate(members)}
    total, times = np.zeros((len(task), len(members))), np.zeros(len(task))
    known: dict[int, dict[int, Floats]] = {fold.index: {} for fold in work.resampling.folds}
    for fold, some, result in results.book.records(members):
        losses = work.measure.losses(task.target[fold.assessment], result.outputs(result.ok), classes)
        known[fold.index].update(zip(some[result.ok].tolist(), losses))
    for fold in work.resampling.folds:
        least = least_losses(work.measure, task.target[fold.assessment], classes)
        times[fold.assessment] += 1
        for member, at in place.items():
            total[fold.assessment, at] += known[fold.index].get(member, least)
    return np.divide(total, times[:, None], out=np.full_like(total, np.nan), where=times[:, None] > 0)
