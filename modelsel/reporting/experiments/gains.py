"""The gain that each feature would have had at each node of the final tree, by the winner's own criterion.

Features compete by this number: bits of gain for entropy, their ratio for gain_ratio, a statistic's surprise for chi_square;
of numbers by what a test takes off the mean squared error of the node. A feature without an admissible test, or used up on the
way, has none.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import NotRequired, TypedDict

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of
from modelsel.core.types import AnyTask, ClassTask, NumberTask, positions
from modelsel.learner.tree import Tree
from modelsel.learner.trees.path import held_back
from modelsel.planning.make import fit_digest
from modelsel.reporting.show import SectionContext, no_tree
from modelsel.runner.evaluation.preprocessing import rows_digest
from modelsel.tree.conditions import path_conditions
from modelsel.tree.growing.contests import NodeSplits, contests
from modelsel.tree.growing.growth import SQUARED_ERROR
from modelsel.tree.node import PrunedView

TITLE = "What each feature gains at each node"
SQUARED = "squared error"  # the criterion of numbers, whatever the learner calls it
ROWS = 20_000  # that losses of quantiles are computed of
NODES, FEATURES = 40, 12  # shown; each node is looked at again in plain NumPy


class NodeGains(TypedDict):
    """A node: the tests on the way to it, the weight of its rows by class (of numbers their mean), the gain of each test."""

    mean: NotRequired[float]
    path: list[str]
    counts: list[float]
    gains: list[tuple[str, float]]


class GainFacts(TypedDict):
    """The criterion, the classes, the nodes that are shown and how many more there are."""

    criterion: str
    classes: list[str]
    nodes: list[NodeGains]
    more: int


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Compute the gains of all features at the first nodes of the final tree."""
    if studied.tree is None:
        return no_tree(studied)
    if not isinstance(studied.winner.learner, Tree):
        return {"reason": f"{studied.final.kind} grows in a way of its own, and has no criterion by which features compete"}
    if (reason := _why_not_shown(studied.winner.learner, len(studied.task))) is not None:
        return {"reason": reason}
    task, cut = studied.final.prepared(studied.task), studied.tree.cut
    assert isinstance(task, ClassTask | NumberTask)
    inner = int((~cut.leaf).sum())
    nodes = [_node(task, cut, contest) for contest in islice(_contests(studied, task, cut), NODES)]
    criterion = kind_of(studied.winner.learner.criterion)
    criterion = criterion if task.class_names or studied.winner.learner.criterion.number_loss != SQUARED_ERROR else SQUARED
    return {"criterion": criterion, "classes": list(task.class_names), "nodes": nodes, "more": inner - len(nodes)}


def _why_not_shown(learner: Tree, rows: int) -> str | None:
    """Why the gains of a tree are not computed again."""
    if learner.monotone is not None:
        return "of a tree with monotone columns tests compete that keep to their directions, and these are not computed again"
    if learner.criterion.number_loss.by_quantile and rows > ROWS:
        return f"gains by {kind_of(learner.criterion)} are computed in plain Python, of {ROWS:,} rows at most"
    return None


def text(one: GainFacts) -> str:
    """Write the section for the terminal."""
    return "\n".join(_block(one, node) for node in one["nodes"]) + _more(one)


def html(one: GainFacts) -> str:
    """Write the section for the page."""
    tables = "".join(_table(one, node) for node in one["nodes"])
    said = f"By {one['criterion']}; the test that was made stands first."
    return f"<p class='soft'>{escape(said)}</p><div class='panels'>{tables}</div><p class='soft'>{_more(one)}</p>"


def _contests(studied: SectionContext, task: AnyTask, cut: PrunedView) -> Iterator[NodeSplits]:
    """Repeat the search at each node, on the rows that grew the final tree."""
    learner, every = studied.winner.learner, positions(studied.task)
    rng = generator(studied.seed, rows_digest(studied.task, every), fit_digest(studied.winner))
    rows, _ = held_back(task, every, learner.pruner.fit_key().get("share"), rng)
    return contests(cut, task, rows, learner.criterion, learner.growth)


def _node(task: AnyTask, cut: PrunedView, contest: NodeSplits) -> dict[str, object]:
    """Rows and gains at one node; the winner first, the others by their gain. Of numbers with the mean of the rows."""
    won = int(cut.tree.feature[contest.node])
    order = sorted(contest.rivals, key=lambda rival: (rival.feature != won, -rival.goodness, rival.feature))
    path, numbers = path_conditions(cut.tree, contest.node), cut.tree.numbers
    return {
        **({} if numbers is None else {"mean": float(numbers.mean[contest.node])}),
        "path": [condition.words(task.features[condition.feature]) for condition in path],
        "counts": cut.tree.counts[contest.node].tolist(),
        "gains": [[rival.test, round(rival.goodness, 12) + 0.0] for rival in order],
    }


def _heading(one: GainFacts, node: NodeGains) -> str:
    """Name a node by the way to it and by what its rows are."""
    counts = ", ".join(f"{count:g} {name}" for name, count in zip(one["classes"], node["counts"]) if count)
    if "mean" in node:
        counts = f"{node['counts'][0]:g} rows, mean {node['mean']:.6g}"
    return f"{' and '.join(node['path']) or 'all rows'}: {counts}"


def _block(one: GainFacts, node: NodeGains) -> str:
    """Write the gains of a node as text."""
    shown = _shown(node["gains"])
    width = max((len(name) for name, _ in shown), default=0)
    lines = [
        f"  {name:<{width}}  {_gain(one, gain)}{'  <- tested' if i == 0 else ''}\n" for i, (name, gain) in enumerate(shown)
    ]
    return f"{_heading(one, node)}\n{''.join(lines)}"


def _table(one: GainFacts, node: NodeGains) -> str:
    """Write the gains of a node as a table of HTML."""
    rows = "".join(
        f"<tr{' class=winner' if i == 0 else ''}><td>{escape(name)}</td><td class='n'>{_gain(one, gain)}</td></tr>"
        for i, (name, gain) in enumerate(_shown(node["gains"]))
    )
    return f"<figure class='panel'><h3>{escape(_heading(one, node))}</h3><table><tbody>{rows}</tbody></table></figure>"


def _gain(one: GainFacts, gain: float) -> str:
    """Write a gain; squares of a target's unit may be of any size."""
    return f"{gain:.6g}" if one["criterion"] == SQUARED else f"{gain:.6f}"


def _shown(gains: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
    return gains[:FEATURES]


def _more(one: GainFacts) -> str:
    return f"\n{one['more']} more nodes are not shown\n" if one["more"] else ""
