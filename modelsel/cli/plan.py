"""`modelsel plan`: what a study would do and what it would cost. Fits none of the rows, opens nothing.

It writes nothing but, in this machine's cache, how long the probe took.
"""

import sys
from collections.abc import Sequence
from functools import partial

from modelsel.cli._application import Done, application
from modelsel.config.compose import BATES, Config
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    return application("plan", words, planned, lambda jobs: OK)


def planned(config: Config, swept: bool) -> Done:
    """Print the plan of one study."""
    from modelsel.kernels import compiler
    from modelsel.planning.make import make
    from modelsel.planning.nesting import Nesting
    from modelsel.planning.probe import estimate
    from modelsel.planning.show import lines
    from modelsel.runner.material import prepare
    from modelsel.runner.pool import Pool

    for note in config.notes:
        print(note, file=sys.stderr)
    material = prepare(config, partial(print, file=sys.stderr))
    plan = make(config.candidates, material.development, material.resampling)
    workers = Pool(config.pool.kind, config.pool.n_jobs).jobs
    cost = estimate(
        plan, material.development, material.resampling, config.measure.needs_scores, workers, folder=compiler.base() / "probes"
    )
    outer = config.outer and Nesting.of(
        config.outer.instantiate(material.development, config.seed), plan.rows, pairs=config.interval == BATES
    )
    if swept:
        print(f"\n{config.name}")
    print("\n".join(lines(plan, material.development, len(material.sealed), cost, outer=outer)))
    return Done.of(float("nan"))
