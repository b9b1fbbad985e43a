"""Naive Bayes: the class of largest P(c) Π_f P(x_f | c), as if features were independent within a class.

One table of counts and moments answers every smoothing and prior, and every subset of the features. Sums are logarithms;
classes within 1e-10 of the best are tied, and the first of them is taken. Where every class is impossible (l = 0 and an
unheard-of combination), the prior is all that is known.
Sources: Maron & Kuhns (1960); Langley, Iba & Thompson (1992).
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from modelsel.core.column_kind.base import kinds_named
from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import AnyTask, ClassTask, Codes, Description, Floats, Integers, Outputs, Table
from modelsel.learner.base import BaseLearner, PathModel, path_errors
from modelsel.learner.class_prior import Prior, as_prior, prior_of, prior_problems
from modelsel.learner.likelihood import Counted, Densities, Smoothing, count_levels, densities

CELLS = 1 << 15  # numbers that a block of rows has under all smoothings and classes
TIED = 1e-10  # of log posteriors: far above rounding, far below anything that matters


@dataclass(frozen=True)
class NaiveBayes(BaseLearner):
    """Naive Bayes: one fit answers all path parameters, and any features that are used."""

    numeric: str = one_of("gaussian", "kernel", help="kernel: any shape of density, at the price of keeping the values")
    smoothing: float = number(1.0, least=0, help="Laplace l; with 0 a single unseen combination rules a class out")
    m: float | None = number(None, least=0, help="the m-estimate in place of smoothing")
    m_prior: str = one_of("marginal", "uniform")
    prior: Prior = plain("empirical", help="empirical, laplace (smoothed shares, as Weka), uniform, or a number per class")

    path_parameters: ClassVar[tuple[str, ...]] = ("smoothing", "m", "m_prior", "prior")
    unit: ClassVar[str] = "parameters"
    holds_gil: ClassVar[bool] = False
    no_training_error: ClassVar[str] = "kernel densities would compare every analysis row with every other one for it"
    reads_subsets: ClassVar[bool] = True
    draws: ClassVar[bool] = False

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("gaussian",) if any(not feature.levels for feature in task.features) else ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", as_prior(self.prior))

    @property
    def smoothed(self) -> Smoothing:
        """The smoothing of counts; equal for learners that differ in nothing that matters."""
        if self.m is None:
            return Smoothing(self.smoothing, None, True)
        return Smoothing(0.0, self.m, self.m_prior == "uniform")

    def mattering(self, kinds: Set[str], scores: bool = True) -> "NaiveBayes":
        """Set what cannot matter for these kinds to its default: numbers have densities, other features counts."""
        counts = self if self.m is not None else replace(self, m_prior="marginal")
        counts = counts if self.m is None else replace(counts, smoothing=1.0)
        own = kinds_named(kinds)
        if not any(kind.has_levels for kind in own):
            counts = replace(counts, smoothing=1.0, m=None, m_prior="marginal")
        return counts if not all(kind.has_levels for kind in own) else replace(counts, numeric="gaussian")

    def problems(self, task: Table | None = None) -> Iterable[str]:
        yield from prior_problems(self.prior, task)

    def refusal(self, task: ClassTask, rows: Integers) -> str | None:
        return None

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "NaiveBayesPath":
        counts = count_levels(task, rows)
        kernels = densities(task, rows, counts.deviation) if self.numeric == "kernel" else None
        return NaiveBayesPath(counts, np.arange(len(task.features)), kernels, (task, rows))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "NaiveBayesModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "NaiveBayesModel":
        return _restore(description)


@dataclass(frozen=True, eq=False)
class NaiveBayesPath:
    """Counts of some features, and the columns of the table where they stand."""

    counted: Counted
    columns: Integers
    densities: Densities | None = None  # in place of means and deviations
    seen: tuple[ClassTask, Integers] | None = None  # what was counted; a model does not keep it

    def subset(self, columns: Integers) -> "NaiveBayesPath":
        """Return the path with fewer features, of the same counts."""
        kernels = None if self.densities is None else self.densities.subset(self.counted.numbers_of(columns))
        return NaiveBayesPath(self.counted.subset(columns), self.columns[columns], kernels, self.seen)

    def outputs(self, learners: Sequence[NaiveBayes], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute each smoothing's likelihood once, and each learner's classes from it with its prior."""
        smoothings = list(dict.fromkeys(learner.smoothed for learner in learners))
        at = {smoothing: position for position, smoothing in enumerate(smoothings)}
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), len(self.counted.class_weight))) if scores else None
        for block in self._blocks(len(smoothings), len(rows)):
            likelihood = self._likelihood(smoothings, table, rows[block])
            for prior, members in _by_prior(learners).items():
                which = [at[learners[member].smoothed] for member in members]
                posterior = _posterior(likelihood[which], prior_of(prior, self.counted.class_weight))
                predicted[members, block] = _first_of_best(posterior)
                if shares is not None:
                    shares[members, block] = np.swapaxes(_normalise(posterior), 1, 2)
        return Outputs(predicted, shares)

    def _blocks(self, smoothings: int, rows: int) -> Iterable[slice]:
        """Divide rows into blocks that stay in the cache; with densities of kept values, all rows at once."""
        each = CELLS // (smoothings * len(self.counted.class_weight)) if self.densities is None else rows
        return (slice(start, start + max(each, 256)) for start in range(0, rows, max(each, 256)))

    def _likelihood(self, smoothings: Sequence[Smoothing], table: Table, rows: Integers) -> Floats:
        """Log-likelihoods, smoothings × classes × rows; those of the impossible are infinitely small."""
        shape = len(smoothings), len(self.counted.class_weight), len(rows)
        if not (self.counted.levels > 0).any():
            numeric = self._numeric(table, rows)[None]
            return numeric if numeric.shape == shape else np.broadcast_to(numeric, shape)
        likelihood, impossible = self.counted.nominal(table.values[np.ix_(rows, self.columns)], smoothings)
        likelihood += self._numeric(table, rows)
        likelihood[impossible > 0] = -np.inf
        return likelihood

    def _numeric(self, table: Table, rows: Integers) -> Floats:
        if self.densities is None:
            return self.counted.gaussian(table, rows, self.columns)
        return self.densities.log(table.values[np.ix_(rows, self.columns[self.counted.levels == 0])])

    def complexity(self, learners: Sequence[NaiveBayes]) -> Floats:
        """Free numbers: per class, levels less one for a nominal feature and two for a numeric one; or its kept values."""
        levels, classes = self.counted.levels, len(self.counted.class_weight)
        numeric = 2 * classes * (levels == 0).sum() if self.densities is None else np.count_nonzero(self.densities.weights)
        return np.full(len(learners), float(classes - 1 + classes * np.maximum(levels - 1, 0).sum() + numeric))

    def training_error(self, learners: Sequence[NaiveBayes]) -> Floats:
        """NaN with kernel densities: every analysis row would be compared with every other one, n times the counting."""
        if self.seen is None or (self.densities is not None and (self.counted.levels == 0).any()):
            return np.full(len(learners), np.nan)
        return path_errors(self, learners, *self.seen)

    def model(self, learner: NaiveBayes) -> "NaiveBayesModel":
        prior = tuple(prior_of(learner.prior, self.counted.class_weight).tolist())
        own = NaiveBayesPath(self.counted, np.arange(len(self.columns)), self.densities)
        return NaiveBayesModel(own, replace(learner, prior=prior))


@dataclass(frozen=True, eq=False)
class NaiveBayesModel(PathModel):
    """Counts with one smoothing and prior."""

    path: NaiveBayesPath
    learner: NaiveBayes

    def describe(self) -> Description:
        """Describe the model: settings, counts and densities."""
        counts, learner = self.path.counted, self.learner
        facts = {"numeric": learner.numeric, "smoothing": learner.smoothing, "m": learner.m,
                 "m_prior": learner.m_prior, "prior": list(learner.prior)}  # fmt: skip
        arrays = {field.name: getattr(counts, field.name) for field in fields(Counted)}
        if self.path.densities is not None:
            arrays |= {field.name: getattr(self.path.densities, field.name) for field in fields(Densities)}
        return Description("naive_bayes", facts, arrays)


def _by_prior(learners: Sequence[NaiveBayes]) -> dict[Prior, list[int]]:
    """Group learners by prior; values are their positions."""
    groups: dict[Prior, list[int]] = {}
    for position, learner in enumerate(learners):
        groups.setdefault(learner.prior, []).append(position)
    return groups


def _posterior(likelihood: Floats, prior: Floats) -> Floats:
    """Log posteriors up to a constant, with classes in the middle axis; the prior alone where every class is impossible."""
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)[:, None]
    posterior = likelihood + log_prior
    nothing = np.isneginf(posterior).all(axis=1, keepdims=True)
    return np.where(nothing, log_prior, posterior) if nothing.any() else posterior


def _first_of_best(posterior: Floats) -> Codes:
    best = posterior >= posterior.max(axis=1, keepdims=True) - TIED
    first: Codes = np.argmax(best, axis=1).astype(np.int32)
    return first


def _normalise(posterior: Floats) -> Floats:
    shares = np.exp(posterior - posterior.max(axis=1, keepdims=True))
    normalised: Floats = shares / shares.sum(axis=1, keepdims=True)
    return normalised


def _restore(description: Description) -> NaiveBayesModel:
    """Check a description and rebuild the model."""
    facts, arrays = description.facts, description.arrays
    counts, kernels = Counted(*(np.asarray(arrays[field.name]) for field in fields(Counted))), None
    if facts["numeric"] == "kernel":
        kernels = Densities(*(np.asarray(arrays[field.name]) for field in fields(Densities)))
        if kernels.widths.shape != counts.deviation.shape:
            raise ValueError("naive_bayes: densities and counts do not fit together")
    learner = NaiveBayes(numeric=facts["numeric"], smoothing=float(facts["smoothing"]), m=facts["m"],
                         m_prior=facts["m_prior"], prior=tuple(facts["prior"]))  # fmt: skip
    problems = list(learner.problems())
    if problems or len(facts["prior"]) != len(counts.class_weight):
        raise ValueError(f"naive_bayes: the prior does not fit the classes {problems}")
    if learner.numeric not in ("gaussian", "kernel") or not learner.smoothing >= 0 or not (learner.m or 0) >= 0:
        raise ValueError("naive_bayes: smoothing or the form of numbers is out of range")
    return NaiveBayesModel(NaiveBayesPath(counts, np.arange(len(counts.levels)), kernels), learner)
