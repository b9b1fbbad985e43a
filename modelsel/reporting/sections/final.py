"""The final model as people read it: a tree as a drawing and as rules, drawn anew from the model folder, which is checked.

Nothing that was drawn before is kept, so that no file of a run's folder gets into the page as it is.
"""

from collections.abc import Callable

from modelsel.core.errors import DataError
from modelsel.learner.trees.model import NumberTreeModel, TreeModel
from modelsel.record.documents import OptimalShape
from modelsel.record.folder import RunFolder
from modelsel.record.model import Predictor, describe, load
from modelsel.reporting import verdict
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import number, score
from modelsel.tree.draw import to_html
from modelsel.tree.rules import rules_text
from modelsel.tree.softening import Widths

TREES = ("tree", "m5p")  # learners whose models are trees
RULES = 500  # on the page; `modelsel export RUN --to rules` has all


def section(view: View) -> dict[str, str]:
    """`drawing` is safe to paste, `rules` and `damage` are plain text; all are empty where there is nothing to draw."""
    empty = {"drawing": "", "rules": "", "damage": "", "rows": _rows(view)}
    if not view.folder.model.is_dir():
        return empty
    try:
        model = tree(view.folder, lambda: view.predictor)
    except DataError as error:
        return {**empty, "damage": str(error)}
    if model is None:
        return empty
    return {**empty, "drawing": to_html(model.cut, widths=widths(model)), "rules": rules_text(model.cut, RULES)}


def _rows(view: View) -> str:
    """Describe the rows that it was fitted on: of training sets side by side the first."""
    folds = view.details.get("folds", {})
    if view.outcome.scheme["name"] == "predefined" and folds.get("repeats", 1) > 1:
        return f"the {folds['analysis'][0]:,} rows of the first training set"
    return f"all {view.outcome.task['development_rows']:,} development rows"


def widths(model: TreeModel | NumberTreeModel) -> Widths | None:
    """The ramps of a softened tree."""
    return model.widths if isinstance(model, TreeModel) else None


def tree(folder: RunFolder, restored: Callable[[], Predictor] | None = None) -> TreeModel | NumberTreeModel | None:
    """The tree of a model folder, or as it was `restored` before; what else it may hold is not read.

    Raises DataError where the folder is damaged.
    """
    learner = describe(folder.model).get("learner")
    is_tree = isinstance(learner, dict) and learner.get("kind") in TREES
    if not is_tree:
        return None
    model = (restored() if restored else load(folder.model)).model
    return model if isinstance(model, TreeModel | NumberTreeModel) else None


# Could a tree of this size do better? The winner and each entry's best tree beside the best trees of their size.


def best_of_size(view: View) -> list[dict[str, object]]:
    """A line per tree, and a sentence on each; empty where it was not asked for."""
    return [_beside_best(view, one) for one in view.folder.explanation().get("optimal", ())]


def _beside_best(view: View, one: OptimalShape) -> dict[str, object]:
    """A tree's line of the table and its sentences; where a fit failed, why."""
    name = view.name_of(one["candidate"])
    said: dict[str, object] = {
        "name": name,
        "said": " ".join(verdict.size_sentences(one, name)),
        "failed": one.get("failed", ""),
    }
    if said["failed"]:
        return said
    training, own = one["training"], one["out_of_fold"]
    return {
        **said, "depth": one["depth"], "leaves": one["leaves"], "best_leaves": number(round(own["leaves"], 1)),
        "training": [score(training[which]) for which in ("grown", "optimal", "bound")],
        "unseen": [score(own[which]) for which in ("grown", "optimal")],
        "ended": verdict.proven_folds(one), "deeper": verdict.deeper(one),
    }  # fmt: skip
