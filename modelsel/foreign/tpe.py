"""Optuna's tree-structured Parzen estimator: asks for the next trial by what the trials before it scored.

Trials are asked for in batches and told in the order in which they were asked, whoever computed them first. Each has a seed of
its own, so that what is asked for is a function of the space, the seeds and the scores told before; nothing is kept in a
database: a search that goes on asks the same again. Source: Bergstra et al. (2011); Akiba et al. (2019).
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Protocol


class OptunaTrial(Protocol):
    """A trial of Optuna's, as far as it is asked."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """Choose a whole number, both ends included."""
        ...

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """Choose a number."""
        ...

    def suggest_categorical(self, name: str, choices: tuple[int, ...]) -> int:
        """Choose one of some values."""
        ...


class OptunaStudy(Protocol):
    """A study of Optuna's, as far as it is asked."""

    sampler: object

    def ask(self) -> OptunaTrial:
        """Begin a trial."""
        ...

    def tell(self, trial: OptunaTrial, values: float | None = None, state: object = None) -> object:
        """End a trial."""
        ...


@dataclass(frozen=True, eq=False)
class AskedTrial:
    """A trial of Optuna's as an asker of choices."""

    trial: OptunaTrial

    def place(self, name: str, count: int, ordered: bool) -> int:
        """Choose among places from 0."""
        if ordered:
            return int(self.trial.suggest_int(name, 0, count - 1))
        return int(self.trial.suggest_categorical(name, tuple(range(count))))

    def number(self, name: str, low: float, high: float, logarithmic: bool, whole: bool) -> float:
        """Choose a number; whole ones below 1 have no logarithm that Optuna takes, and are chosen evenly."""
        if whole:
            return int(self.trial.suggest_int(name, int(low), int(high), log=logarithmic and low >= 1))
        return float(self.trial.suggest_float(name, low, high, log=logarithmic))


class Tpe:
    """One search: `ask` for a trial with a seed, `tell` what it scored, None where it failed."""

    def __init__(self, higher_is_better: bool) -> None:
        """Begin with no trial asked for."""
        self._higher = higher_is_better

    @cached_property
    def _study(self) -> OptunaStudy:
        """The study of Optuna, made when the first trial is asked for."""
        import optuna

        with _quiet():
            study: OptunaStudy = optuna.create_study(direction="maximize" if self._higher else "minimize")
            return study

    def ask(self, seed: int) -> AskedTrial:
        """Ask for a trial, those that are not told yet taken for bad ones, so that a batch spreads."""
        import optuna

        with _quiet():
            self._study.sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
            return AskedTrial(self._study.ask())

    def tell(self, asked: AskedTrial, score: float | None) -> None:
        """Tell a trial's score."""
        import optuna

        with _quiet():
            if score is None:
                self._study.tell(asked.trial, state=optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(asked.trial, score)


def sampler() -> str:
    """The sampler by name and version: another version may ask for other trials."""
    return f"optuna {version('optuna')} TPESampler"


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither what Optuna logs of a study of its own, nor its warnings of experimental features."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
