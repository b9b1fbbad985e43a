"""One fully grown tree that answers every stopping limit, every pruner and its strength, and every leaf score.

Rows are routed once, to the leaf of the grown tree. A candidate is then a set of marked nodes: a map from each node to the
leaf where its rows end, and predictions are looked up through it. Candidates that leave the same tree share their answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Codes, Floats, Integers, Outputs, Table, Task
from modelsel.learner._leaf import Leaf, leaf_scores
from modelsel.learner._tree_model import TreeModel, predicted
from modelsel.statistics.auc import multiclass_auc
from modelsel.tree.compact import compact
from modelsel.tree.cutting import errors_as_leaf
from modelsel.tree.evidence import Evidence, PruningPath
from modelsel.tree.node import Cut, Tree
from modelsel.tree.route import ends, route
from modelsel.tree.soft import Widths, soft_route
from modelsel.tree.truncate import Limits, truncate


@dataclass(frozen=True, eq=False)
class Standing:
    """What a candidate leaves of the tree, where the rows of each node end, and how many leaves there are."""

    cut: Cut
    end: Codes
    leaves: int
    key: tuple[Any, ...]


@dataclass(eq=False)
class TreePath:
    """The grown tree, what pruners may know, and answers found so far (a path is used by one thread)."""

    tree: Tree
    evidence: Evidence
    task: Task
    rows: Integers
    certain: bool = True  # every analysis row is predicted by the node that counts it
    judging: Integers | None = None  # analysis rows that neither grew the tree nor may soften it
    _bases: dict[Any, Cut] = field(default_factory=dict)
    _prunings: dict[Any, PruningPath] = field(default_factory=dict)
    _standing: dict[Any, Standing] = field(default_factory=dict)
    _asked: dict[int, tuple[Any, Standing]] = field(default_factory=dict)  # by identity: the learner is kept alive
    _cuts: dict[Any, tuple[Cut, Standing]] = field(default_factory=dict)  # by identity too: the cut is kept alive
    _errors: dict[Any, float] = field(default_factory=dict)  # training error per standing
    _wrong: dict[int, tuple[Codes, Floats]] = field(default_factory=dict)  # training weight misclassified, per prediction
    _scores: dict[Any, Floats] = field(default_factory=dict)
    _soft: dict[Any, tuple[Cut, Widths | None]] = field(default_factory=dict)

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        routed = route(self.tree, table, rows)
        classes = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), len(self.tree.classes))) if scores else None
        seen: dict[Any, Codes] = {}
        for i, learner in enumerate(learners):
            standing = self.standing(learner)
            if kind_of(learner.softener) != "hard":
                classes[i], soft = self._softly(learner, table, rows, scores)
                if shares is not None:
                    shares[i] = soft
                continue
            own = routed if standing.cut.tree is self.tree else route(standing.cut.tree, table, rows)
            if standing.key not in seen:
                seen[standing.key] = predicted(standing.cut, own, learner.cost_matrix, standing.end)
            classes[i] = seen[standing.key]
            if shares is not None:
                shares[i] = own.per_row(self._node_scores(standing, learner.leaf))
        return Outputs(classes, shares)

    def complexity(self, learners: Sequence[Any]) -> Floats:
        return np.array([self.standing(learner).leaves for learner in learners], np.float64)

    def training_error(self, learners: Sequence[Any]) -> Floats:
        return np.array([self._training_error(learner) for learner in learners])

    def held_back(self, learners: Sequence[Any]) -> Floats:
        """AUC on the rows that a pruner holds back to judge by; NaN where it holds none back, or only of one class."""
        if self.judging is None:
            return np.full(len(learners), np.nan)
        scores = self.outputs(learners, self.task, self.judging, scores=True).scores
        assert scores is not None
        return multiclass_auc(self.task.target[self.judging], scores, self.task.row_weights[self.judging])

    def model(self, learner: Any) -> TreeModel:
        cut, widths = self._softened(learner)
        return TreeModel(cut, leaf_scores(cut, learner.leaf), learner.cost_matrix, widths)

    def members(self, learner: Any) -> tuple[Any, ...]:
        """The learners that one with an open pruning strength (`alpha: path`) stands for on this tree."""
        pruners = learner.pruner.members(self._base(learner.limits, learner), self._known(learner))
        return tuple(replace(learner, pruner=pruner) for pruner in pruners)

    def standing(self, learner: Any) -> Standing:
        """The tree that is left for a learner, shared by all that leave the same one."""
        known = self._asked.get(id(learner))
        if known is None:
            known = self._asked[id(learner)] = learner, self._found(learner)
        return known[1]

    def _found(self, learner: Any) -> Standing:
        base = self._base(learner.limits, learner)
        sharing = (id(base), learner.costs, learner.pruner.sharing())
        if sharing not in self._prunings:
            self._prunings[sharing] = learner.pruner.path(base, self._known(learner))
        cut = self._prunings[sharing].cut(learner.pruner)
        if (id(cut), learner.costs) not in self._cuts:
            self._cuts[id(cut), learner.costs] = cut, self._left(cut, learner.costs)
        return self._cuts[id(cut), learner.costs][1]

    def _known(self, learner: Any) -> Evidence:
        return replace(self.evidence, cost_matrix=learner.cost_matrix) if learner.costs else self.evidence

    def _left(self, cut: Cut, costs: Any) -> Standing:
        moved = cut.tree is not self.tree
        marks = (cut.leaf.tobytes(), cut.tree.parent.tobytes() if moved else b"")
        key = (costs, *marks, id(cut.prediction), id(cut.counts))  # an array that a kept answer holds is never another one
        if key not in self._standing:
            end, leaves = ends(cut)
            self._standing[key] = Standing(cut, end, leaves, key)
        return self._standing[key]

    def _softened(self, learner: Any) -> tuple[Cut, Widths | None]:
        """The tree that is left, without the rest, and the widths of its thresholds."""
        standing = self.standing(learner)
        asked = (standing.key, learner.softener)
        if asked not in self._soft:
            small = compact(standing.cut)
            hard = kind_of(learner.softener) == "hard"
            self._soft[asked] = small, None if hard else learner.softener.widths(small, self.task, self.rows)
        return self._soft[asked]

    def _softly(self, learner: Any, table: Table, rows: Integers, scores: bool) -> tuple[Codes, Floats | None]:
        """Classes and scores of rows that ramps divide among leaves."""
        cut, widths = self._softened(learner)
        assert widths is not None
        routed = soft_route(cut.tree, widths, table, rows)
        classes = predicted(cut, routed, learner.cost_matrix)
        return classes, routed.per_row(leaf_scores(cut, learner.leaf)) if scores else None

    def _base(self, limits: Limits, learner: Any) -> Cut:
        """The truncated tree; truncations that come out alike are one."""
        asked = (limits, learner.costs)
        if asked not in self._bases:
            cut = truncate(self.tree, limits, learner.cost_matrix)
            self._bases[asked] = self._bases.setdefault((cut.leaf.tobytes(), learner.costs), cut)
        return self._bases[asked]

    def _node_scores(self, standing: Standing, leaf: Leaf) -> Floats:
        """Class scores of the leaf where each node's rows end."""
        asked = (standing.key, leaf)
        if asked not in self._scores:
            self._scores[asked] = leaf_scores(standing.cut, leaf)[standing.end]
        return self._scores[asked]

    def _training_error(self, learner: Any) -> float:
        standing = self.standing(learner)
        if kind_of(learner.softener) != "hard":
            classes, _ = self._softly(learner, self.task, self.rows, scores=False)
            return self._share_wrong(classes)
        if standing.cut.tree is self.tree and self.certain:
            if standing.key not in self._errors:
                leaves = standing.cut.leaf & (standing.end == self._places)
                wrong = self._misclassified(standing.cut.prediction)[leaves].sum()
                self._errors[standing.key] = float(wrong / self._total)
            return self._errors[standing.key]
        routed = route(standing.cut.tree, self.task, self.rows)
        return self._share_wrong(predicted(standing.cut, routed, learner.cost_matrix, standing.end))

    @cached_property
    def _places(self) -> Integers:
        return np.arange(len(self.tree))

    @cached_property
    def _counts(self) -> Floats:
        """Class weights of the analysis rows per node, held back ones included but for those that judge."""
        held_back = self.evidence.pruning_counts if self.judging is None else None
        return self.tree.counts if held_back is None else self.tree.counts + held_back

    @cached_property
    def _total(self) -> float:
        return float(self._counts[0].sum())

    def _misclassified(self, prediction: Codes) -> Floats:
        """Training weight that each node misclassifies when it predicts these classes."""
        if id(prediction) not in self._wrong:
            self._wrong[id(prediction)] = prediction, errors_as_leaf(self._counts, prediction, None)
        return self._wrong[id(prediction)][1]

    def _share_wrong(self, classes: Codes) -> float:
        weight = self.task.row_weights[self.rows]
        return float(weight[classes != self.task.target[self.rows]].sum() / weight.sum())
