"""The journal of a study, and calls that run where its cells are computed."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from modelsel.config.compose import Config
from modelsel.core.spec import classes_in
from modelsel.core.system.interrupts import interruptible
from modelsel.core.types import Candidate
from modelsel.kernels.ahead import compiled_ahead
from modelsel.record.folder import RunFolder
from modelsel.runner.evaluation.limits import CellLimits
from modelsel.runner.execution.executors import Pool, choose_pool
from modelsel.runner.execution.single_job import Arguments, Failure, Returned, run_in_pool
from modelsel.runner.journal import Journal, older_journals


def run_apart(
    config: Config, function: Callable[[*Arguments], Returned], candidates: Sequence[Candidate], *arguments: *Arguments
) -> Returned | Failure:
    """Call the function where the cells of these candidates are computed; return its result, or the Failure."""
    limits = CellLimits(config.limit.seconds, config.limit.bytes)
    with interruptible():
        return run_in_pool(choose_pool(config.pool, limits, candidates), limits, function, *arguments)


def journal_of(config: Config, folder: RunFolder) -> Journal:
    """The run's journal, which asks those of older runs, `resume` first."""
    first = (RunFolder.open(config.resume, folder.root).journal,) if config.resume else ()
    return Journal(folder.journal, older_journals(folder.root, first))


def kernels_ahead(config: Config) -> AbstractContextManager[None]:
    """Compile beside the study what its learners would wait for longest, unless it is to have one worker."""
    kinds = classes_in(candidate.learner for candidate in config.foreseen)
    slow = sorted({getattr(kind, "slow_kernels", ()) for kind in kinds})
    return compiled_ahead(dict.fromkeys(chain(*slow)), Pool(config.pool.kind, config.pool.n_jobs).jobs)
