"""What all measures at once cost: a selection with them against the same selection by its one measure, in processor time.

With: the measures of class counts for all candidates, those of class scores for the winner, and for each entry's best and
those that cannot be told from the winner as far as a twentieth of the cells goes, and the time to predict 1,000 rows. Both end
with the choice and its corrected score. One worker, a fresh journal each time. On the small table each entry's best is scored
in any case.
"""

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.timing import Row
from modelsel.comparison.selection import choose, with_score_measures
from modelsel.config.compose import Config, compose
from modelsel.core.selection import Selection
from modelsel.measure.beside import other_measures
from modelsel.planning.make import Plan, make
from modelsel.runner.execution.executors import Pool
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import prediction_seconds
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.runner.run import run
from modelsel.runner.spare_scores import SpareScores
from modelsel.runner.study_data import StudyData, prepare

TURNS, MOST = 3, 1.1
SMALL = "space=quickstart, breast_cancer"
STUDIES = {
    "space=trees, 2,900 rows": ("dataset=waveform", "dataset.rows=2900", "space=trees"),
    "space=trees, 10,000 rows": ("dataset=waveform", "dataset.rows=10000", "space=trees"),
    SMALL: (),
}


def rows() -> Iterable[Row]:
    for name, words in STUDIES.items():
        config = compose(words, None)
        material = prepare(config)
        one = {how: _timed(config, material, how) for how in (True, False)}  # compiled, read, warmed up
        assert one[True][1] == one[False][1], "the choice is another one"
        turns = [(_timed(config, material, True)[0], _timed(config, material, False)[0]) for _ in range(TURNS)]
        yield Row(
            f"{name}: {len(config.candidates):,} entries declared",
            "the one measure",
            tuple(us / them for us, them in turns),
            median(us for us, _ in turns),
            median(them for _, them in turns),
            "winner and its corrected score",
            most=None if name == SMALL else MOST,
            note="the ratio is ours / theirs, in processor time",
        )


def _timed(config: Config, material: StudyData, everything: bool) -> tuple[float, Any]:
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        began = time.process_time()
        found = _selected(config, material, journal, everything)
        corrected = found.corrected and found.corrected["mean"]
        return time.process_time() - began, (found.winner, corrected)


def _selected(config: Config, material: StudyData, journal: Journal, everything: bool) -> Selection:
    task, folds, pool = material.development, material.resampling, Pool("sequential")
    candidates = resolve(config.candidates, task, config.seed, journal)
    spare = SpareScores() if everything else None
    compute: Callable[..., Results] = lambda plan, beside: run(  # noqa: E731
        plan, task, folds, config.measure, pool, journal, seed=config.seed, beside=beside, spare=spare
    )
    counted = other_measures(config.measure, task, folds, scores=False) if everything else {}
    plan: Plan = make(candidates, task, folds)
    results = compute(plan, counted)
    selection = choose(results, config.rule, folds, config.seed)
    if not everything:
        return selection
    selection = with_score_measures(selection, results, compute)
    called = set(selection.assessed.ids)
    prediction_seconds([one for one in candidates if one.id in called], task, config.seed)
    return selection
