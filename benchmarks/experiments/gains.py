"""The gain that each feature would have had at each node of the final tree, by the winner's own criterion.

Features compete by this number: bits of gain for entropy, their ratio for gain_ratio, a statistic's surprise for chi_square. A
feature without an admissible test, or used up on the way, has none.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TypedDict

from benchmarks.experiments.contests import NodeSplits, contests
from benchmarks.experiments.final_tree import no_tree, tree_of
from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of
from modelsel.core.types import ClassTask, positions
from modelsel.learner.tree import Tree
from modelsel.learner.trees.path import held_back
from modelsel.planning.make import fit_digest
from modelsel.reporting.show import SectionContext
from modelsel.runner.evaluation.preprocessing import rows_digest
from modelsel.tree.conditions import path_conditions
from modelsel.tree.node import PrunedView

TITLE = "What each feature gains at each node"
NODES, FEATURES = 40, 12  # shown; each node is looked at again in plain NumPy


class NodeGains(TypedDict):
    """A node: the tests on the way to it, the weight of its rows by class, the gain of each test."""

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
    tree = tree_of(studied)
    if tree is None:
        return no_tree(studied)
    if not isinstance(studied.winner.learner, Tree):
        return {"reason": f"{studied.final.kind} grows in a way of its own, and has no criterion by which features compete"}
    if studied.winner.learner.monotone is not None:
        return {"reason": "of a tree with monotone columns tests compete that keep to their directions"}
    task, cut = studied.final.prepared(studied.task), tree.cut
    assert isinstance(task, ClassTask)
    inner = int((~cut.leaf).sum())
    nodes = [_node(task, cut, contest) for contest in islice(_contests(studied, task, cut), NODES)]
    criterion = kind_of(studied.winner.learner.criterion)
    return {"criterion": criterion, "classes": list(task.class_names), "nodes": nodes, "more": inner - len(nodes)}


def text(one: GainFacts) -> str:
    """Write the section for the terminal."""
    return "\n".join(_block(one, node) for node in one["nodes"]) + _more(one)


def html(one: GainFacts) -> str:
    """Write the section for the page."""
    tables = "".join(_table(one, node) for node in one["nodes"])
    said = f"By {one['criterion']}; the test that was made stands first."
    return f"<p class='soft'>{escape(said)}</p><div class='panels'>{tables}</div><p class='soft'>{_more(one)}</p>"


def _contests(studied: SectionContext, task: ClassTask, cut: PrunedView) -> Iterator[NodeSplits]:
    """Repeat the search at each node, on the rows that grew the final tree."""
    learner, every = studied.winner.learner, positions(studied.task)
    rng = generator(studied.seed, rows_digest(studied.task, every), fit_digest(studied.winner))
    rows, _ = held_back(task, every, learner.pruner.fit_key().get("share"), rng)
    return contests(cut, task, rows, learner.criterion, learner.growth)


def _node(task: ClassTask, cut: PrunedView, contest: NodeSplits) -> dict[str, object]:
    """Rows and gains at one node; the winner first, the others by their gain."""
    won = int(cut.tree.feature[contest.node])
    order = sorted(contest.rivals, key=lambda rival: (rival.feature != won, -rival.goodness, rival.feature))
    path = path_conditions(cut.tree, contest.node)
    return {
        "path": [condition.words(task.features[condition.feature]) for condition in path],
        "counts": cut.tree.counts[contest.node].tolist(),
        "gains": [[rival.test, round(rival.goodness, 12) + 0.0] for rival in order],
    }


def _heading(one: GainFacts, node: NodeGains) -> str:
    """Name a node by the way to it and by what its rows are."""
    counts = ", ".join(f"{count:g} {name}" for name, count in zip(one["classes"], node["counts"]) if count)
    return f"{' and '.join(node['path']) or 'all rows'}: {counts}"


def _block(one: GainFacts, node: NodeGains) -> str:
    """Write the gains of a node as text."""
    shown = _shown(node["gains"])
    width = max((len(name) for name, _ in shown), default=0)
    lines = [f"  {name:<{width}}  {gain:.6f}{'  <- tested' if i == 0 else ''}\n" for i, (name, gain) in enumerate(shown)]
    return f"{_heading(one, node)}\n{''.join(lines)}"


def _table(one: GainFacts, node: NodeGains) -> str:
    """Write the gains of a node as a table of HTML."""
    rows = "".join(
        f"<tr{' class=winner' if i == 0 else ''}><td>{escape(name)}</td><td class='n'>{gain:.6f}</td></tr>"
        for i, (name, gain) in enumerate(_shown(node["gains"]))
    )
    return f"<figure class='panel'><h3>{escape(_heading(one, node))}</h3><table><tbody>{rows}</tbody></table></figure>"


def _shown(gains: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
    return gains[:FEATURES]


def _more(one: GainFacts) -> str:
    return f"\n{one['more']} more nodes are not shown\n" if one["more"] else ""
