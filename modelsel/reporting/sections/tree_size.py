"""Could a tree of this size do better? The winner and each entry's best tree beside the best trees of their size."""

from modelsel.record.documents import OptimalShape
from modelsel.reporting.sections.view import View
from modelsel.reporting.text import tree_size
from modelsel.reporting.text.words import number, score


def section(view: View) -> list[dict[str, object]]:
    """A line per tree, and a sentence on each; empty where it was not asked for."""
    return [_part(view, one) for one in view.folder.explanation().get("optimal", ())]


def _part(view: View, one: OptimalShape) -> dict[str, object]:
    """A tree's line of the table and its sentences; where a fit failed, why."""
    name = view.name_of(one["candidate"])
    said: dict[str, object] = {"name": name, "said": " ".join(tree_size.sentences(one, name)), "failed": one.get("failed", "")}
    if said["failed"]:
        return said
    training, own = one["training"], one["out_of_fold"]
    return {
        **said, "depth": one["depth"], "leaves": one["leaves"], "best_leaves": number(round(own["leaves"], 1)),
        "training": [score(training[which]) for which in ("grown", "optimal", "bound")],
        "unseen": [score(own[which]) for which in ("grown", "optimal")],
        "ended": tree_size.proven_folds(one), "deeper": tree_size.deeper(one),
    }  # fmt: skip
