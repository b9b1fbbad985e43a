"""The journal of a study, and calls that run where its cells are computed."""

from collections.abc import Callable, Sequence

from modelsel.config.compose import Config
from modelsel.core.spec import classes_in
from modelsel.core.system.interrupts import interruptible
from modelsel.core.system.machine import cores
from modelsel.core.types import AnyTask, Candidate
from modelsel.kernels.ahead import compile_ahead
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


def compile_kernels(config: Config, task: AnyTask) -> None:
    """Compile what sealing, the journal and the parts of the candidates use, by as many processes as the study has workers."""
    parts = [candidate.learner for candidate in config.foreseen]
    used = {name for kind in classes_in([*parts, config.measure]) if hasattr(kind, "kernels") for name in kind.kernels(task)}
    compile_ahead(sorted({*used, "blake", "distinct"}), min(Pool(config.pool.kind, config.pool.n_jobs).jobs, cores()))
