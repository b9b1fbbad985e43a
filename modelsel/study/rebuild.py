"""Make a run's files again from its journal: what the cells add up to is a projection of their records, and can be lost."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from modelsel.config.compose import recompose
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.selection import Selection
from modelsel.core.stored import sum_of
from modelsel.core.surroundings import Progress
from modelsel.planning.make import make
from modelsel.record.files import storing, write
from modelsel.record.folder import CANDIDATES, LOSSES, REBUILT, RunFolder
from modelsel.reporting import page
from modelsel.runner.families import resolve
from modelsel.runner.run import QUIET
from modelsel.runner.study_data import prepare
from modelsel.study.jobs import journal_of
from modelsel.study.selection import select


def report(folder: RunFolder, progress: Progress = QUIET) -> Path:
    """Write report.html again; files that the journal gives are made again first, where they are damaged or gone."""
    if lost := lost_files(folder):
        rebuild(folder, lost, progress)
    winner = folder.outcome().winner.id
    if winner not in {row.id for row in folder.candidates()}:
        what, fix = f"study.json was changed: its winner {winner[:8]} is not one of the candidates", "take it from a backup"
        raise ConfigurationError(Problem("MSEL-617", what, str(folder.path), fix))
    return page.write(folder)


def lost_files(folder: RunFolder) -> list[str]:
    """Names of files that the journal gives, and that are not there as the study wrote them."""
    reads: Mapping[str, Callable[[], object]] = {CANDIDATES: folder.candidates, LOSSES: folder.losses}
    return [name for name in REBUILT if not _is_readable(reads[name])]


def rebuild(folder: RunFolder, lost: list[str], progress: Progress = QUIET) -> None:
    """Make files again from the journal; what stood in their place moves aside. Nothing is sealed, no test row is opened.

    Raises ConfigurationError where the data are not those of the study, or the journal gives other files than it wrote.
    """
    made, stated = folder.files_of(_select_again(folder, progress)), folder.sums
    if other := [name for name in lost if sum_of(made[name]) != stated.get(name, sum_of(made[name]))]:
        fix = "take them from a backup, or run the study again"
        what = f"the journal gives another {' and another '.join(other)} than the study wrote"
        raise ConfigurationError(Problem("MSEL-615", what, str(folder.path), fix))
    for name in lost:
        path = folder.path / name
        aside = path.with_name(f"{path.stem}.damaged-{secrets.token_hex(4)}{path.suffix}")
        with storing(path):
            if path.is_symlink() or path.exists():
                path.rename(aside)
        write(path, made[name])
        progress.say(f"{name} was damaged or gone: it is made again from the journal, in {folder.path}")


def _select_again(folder: RunFolder, progress: Progress) -> Selection:
    """Choose once more from the records of the journal; cells that are lost as well are computed again."""
    config = replace(recompose(folder.config(), {}), resume=None)
    material = prepare(config, progress.say)
    if material.development.fingerprint != folder.outcome().task.fingerprint:
        raise ConfigurationError(
            Problem("MSEL-616", "the data are not those of the study", str(folder.path), "run the study again")
        )
    config = material.config
    with journal_of(config, folder) as journal:
        candidates = resolve(config.candidates, material.development, config.seed, journal, config.reads_scores)
    foreseen = (*candidates, *(corner for entry in config.adaptive for corner in entry.corners))
    plan = make(foreseen if config.adaptive else candidates, material.development, material.resampling)
    _, selection, _ = select(config, material, candidates, plan, folder, progress)
    return selection


def _is_readable(read: Callable[[], object]) -> bool:
    """Say whether a file is as the study wrote it."""
    try:
        read()
    except ConfigurationError:
        return False
    return True
