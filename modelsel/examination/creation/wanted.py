"""The terms that an examiner chooses, and what is wrong with them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelsel.config.compose import Config
from modelsel.core.errors import Problem
from modelsel.core.spec import resolved
from modelsel.examination.creation.terms import RELEASES


@dataclass(frozen=True)
class Wanted:
    """The terms that an examiner chooses. `looks` and `nats` are budgets of each asker (None: no limit)."""

    name: str = ""
    release: str = "predicted"
    resolution: float | str = "count"
    delta: float = 0.05
    target: float | None = None  # the error rate to be met, for passfail
    budget: int = 10  # answers of thresholdout that may differ from the development rows
    looks: int | None = 20
    nats: float | None = None
    class_counts: bool = False
    everything: bool = False  # the whole table is the exam
    parquet: bool = False
    accept_overlap: bool = False
    ledger: str = "user"  # or the address of a team's (PostgreSQL); labels stay in the examiner's store all the same


def problems(wanted: Wanted, folder: Path, config: Config) -> Iterator[Problem]:
    """Say what does not go together in the terms, or cannot be."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        yield Problem("MSEL-913", "there is something already", str(folder), "name a new folder")
    if wanted.release not in RELEASES:
        yield Problem(
            "MSEL-914", f"{wanted.release!r} is no way to show answers", "--release", f"use one of {', '.join(RELEASES)}"
        )
    if wanted.release == "passfail" and wanted.target is None:
        yield Problem("MSEL-914", "passfail needs a target", "--pass", "give the error rate to be met, as --pass 0.2")
    yield from _numbers(wanted)
    yield from _steps(wanted)
    if wanted.release == "thresholdout" and wanted.everything:
        yield Problem("MSEL-914", "thresholdout needs development rows", "--all", "leave it out")
    name = resolved(config.measure)["kind"]
    if wanted.release in ("ladder", "better", "passfail", "thresholdout") and name != "error":
        yield Problem(
            "MSEL-914", f"{wanted.release} shows error rates, and the measure is {name}", "measure", "use measure=error"
        )


def _numbers(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of delta, target and budgets."""
    if not 0 < wanted.delta <= 0.5:
        yield Problem("MSEL-914", f"delta {wanted.delta:g} is not in (0, 0.5]", "--delta", "use 0.05")
    if wanted.target is not None and not 0 < wanted.target < 1:
        yield Problem("MSEL-914", f"an error rate of {wanted.target:g} is no target", "--pass", "give one between 0 and 1")
    for option, limit in (("--looks", wanted.looks), ("--nats", wanted.nats), ("--budget", wanted.budget)):
        if limit is not None and not limit > 0:
            yield Problem("MSEL-914", f"{limit:g} is no budget", option, "give a number above 0")


def _steps(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of the step to which scores are rounded."""
    step, fix = wanted.resolution, "give a step, as --resolution 0.01, or auto"
    if isinstance(step, str) and step not in ("count", "auto"):
        yield Problem("MSEL-914", f"{step!r} is no step", "--resolution", "give count, auto or a step, as --resolution 0.01")
    elif not isinstance(step, str) and not 0 < step <= 0.5:
        yield Problem("MSEL-914", f"{step:g} is no step", "--resolution", "give one above 0, up to 0.5")
    if wanted.release == "grid" and step == "count":
        yield Problem("MSEL-914", "grid needs a step", "--resolution", fix)
