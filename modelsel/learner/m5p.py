"""Model trees, M5': a tree of numbers whose leaves are linear models of the columns that were tested there.

Grown by the fifth root of the variance, pruned where a node's model is expected to be no worse than its subtree, and smoothed
towards the models above (`tree.model_tree`). One grown tree answers every setting.
Quinlan 1992, *Learning with continuous classes*; Wang & Witten 1997, *Inducing model trees for continuous classes*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from modelsel.core.spec import number, one_of, plain
from modelsel.core.types import NUMBER_TASKS, Codes, Description, Floats, Integers, NumberOutputs, NumberTask, Table, TaskKind
from modelsel.learner.base import BaseLearner, training_error
from modelsel.learner.trees.model import ModelTree, restore_models
from modelsel.tree.cutting import ends, leaves
from modelsel.tree.model_tree import LEAST, FittedModels, GrownModelTree, fit_models, grow_models
from modelsel.tree.node import NodeModels, PrunedView
from modelsel.tree.pruning import compact
from modelsel.tree.routing import route

LINEAR, MEAN = "linear", "mean"


@dataclass(frozen=True)
class M5p(BaseLearner):
    """All settings are path parameters. `M5P -N`: pruned=false, `-U`: smoothing=0, `-R`: leaf=mean, `-M`: min_split."""

    min_split: float = number(LEAST, least=LEAST, help="weight below which a node is not split, 4 at least")
    leaf: str = one_of(LINEAR, MEAN, help="linear: a model of the columns tested below; mean: a regression tree")
    pruned: bool = plain(True, help="a subtree goes where its node's own model is expected to be no worse")
    smoothing: float = number(15.0, least=0.0, help="rows by which a leaf is drawn towards the models above; 0: not")

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS
    unit: ClassVar[str] = "leaves"
    drawable: ClassVar[bool] = True
    draws: ClassVar[bool] = False

    @classmethod
    def kernels(cls, task: NumberTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return "grow_numbers", "rank", "preorder", "route"

    def fit_key(self) -> dict[str, object]:
        return {"kind": "m5p"}

    def fit_path(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> "M5pPath":
        return M5pPath(grow_models(task, rows), task, rows)

    def fit(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> ModelTree:
        return self.fit_path(task, rows, rng).model(self)

    def complexity(self, model: ModelTree) -> float:
        return float(model.n_leaves)

    @staticmethod
    def restore(description: Description) -> ModelTree:
        return restore_models(description)


@dataclass(frozen=True, eq=False)
class _Sent:
    """Rows of a table that went down the grown tree: their leaf, and the terms of its models."""

    leaf: Codes
    terms: Floats


@dataclass(eq=False)
class M5pPath:
    """The grown tree, and the models of each smallest size that was asked for (a path is used by one thread)."""

    grown: GrownModelTree
    task: NumberTask
    rows: Integers
    _fits: dict[tuple[float, str], FittedModels] = field(default_factory=dict)
    _cuts: dict[M5p, PrunedView] = field(default_factory=dict)

    def outputs(self, learners: Sequence[M5p], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Send the rows down once, and answer by the models of each learner."""
        sent = self._send_down(table, rows)
        return NumberOutputs(np.array([self._answer(learner, sent) for learner in learners]).reshape(len(learners), len(rows)))

    def complexity(self, learners: Sequence[M5p]) -> Floats:
        """Count the leaves that are left for every learner."""
        return np.array([leaves(self.cut(learner)) for learner in learners], np.float64)

    def training_error(self, learners: Sequence[M5p]) -> Floats:
        """Compute every learner's root mean squared error on the analysis rows."""
        sent = self._send_down(self.task, self.rows)
        return np.array([training_error(self.task, self.rows, self._answer(learner, sent)) for learner in learners])

    def model(self, learner: M5p) -> ModelTree:
        """The tree without what it does not reach, its leaves with the error that they leave on their rows."""
        cut = self.cut(learner)
        assert cut.models is not None
        known = replace(cut, models=replace(cut.models, squares=self._squares(cut)))
        return ModelTree(compact(known))

    def cut(self, learner: M5p) -> PrunedView:
        """The grown tree as it is cut back for a learner, with its models."""
        if learner not in self._cuts:
            tree, fits = self.grown.tree, self._fit_nodes(learner)
            intercept, coefficients = fits.smooth(tree.parent, tree.weight, learner.smoothing)
            models = NodeModels(self._terms, intercept, coefficients, np.full(len(tree), np.nan))
            assert tree.numbers is not None
            leaf = fits.pruned if learner.pruned else fits.closed
            self._cuts[learner] = PrunedView(tree, leaf, tree.numbers.mean, tree.counts, models)
        return self._cuts[learner]

    def _fit_nodes(self, learner: M5p) -> FittedModels:
        """The models of all nodes for some settings, fitted once."""
        key = learner.min_split, learner.leaf
        if key not in self._fits:
            self._fits[key] = fit_models(self.grown, learner.min_split, learner.leaf == LINEAR)
        return self._fits[key]

    @cached_property
    def _terms(self) -> tuple[Any, ...]:
        return tuple(self.grown.rows.terms[term] for term in self.grown.used)

    def _send_down(self, table: Table, rows: Integers) -> _Sent:
        leaf = route(self.grown.tree, table, rows).leaf
        columns = [term.of(table.values[rows, term.feature]) for term in self._terms]
        return _Sent(leaf, np.array(columns).T if columns else np.empty((len(rows), 0)))

    def _answer(self, learner: M5p, sent: _Sent) -> Floats:
        cut = self.cut(learner)
        assert cut.models is not None
        return cut.models.answers(ends(cut)[sent.leaf], sent.terms)

    def _squares(self, cut: PrunedView) -> Floats:
        """What the leaves of a cut leave of the squares of their training rows; 0 elsewhere."""
        grown, size = self.grown, np.diff(self.grown.first)
        assert cut.models is not None
        node = np.repeat(ends(cut), size)
        said = cut.models.answers(node, grown.rows.values[grown.used].T)
        off = np.square(grown.rows.target - said) * grown.rows.weight
        return np.bincount(node, off, len(cut.tree)).astype(np.float64)
