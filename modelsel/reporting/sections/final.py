"""The final model as people read it: its drawing and its rules, made anew from the model folder, which is checked.

Nothing that was drawn before is kept, so that no file of a run's folder gets into the page as it is.
"""

from collections.abc import Callable
from contextlib import suppress

from modelsel.core.errors import DataError
from modelsel.core.spec import class_of
from modelsel.learner.base import ability
from modelsel.record.documents import OptimalFacts
from modelsel.record.folder import RunFolder
from modelsel.record.model import Predictor, describe, load
from modelsel.reporting import verdict
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import number, score

RULES = 500  # on the page; `modelsel export RUN --to rules` has all


def section(view: View) -> dict[str, str]:
    """`drawing` is safe to paste, `rules` and `damage` are plain text; all are empty where there is nothing to draw."""
    empty = {"drawing": "", "rules": "", "damage": "", "rows": _rows(view)}
    if not view.folder.model.is_dir():
        return empty
    try:
        shipped = drawable_model(view.folder, lambda: view.predictor)
    except DataError as error:
        return {**empty, "damage": str(error)}
    if shipped is None:
        return empty
    rules = ability(shipped.model, "rules")
    return {**empty, "drawing": say(shipped, "draw"), "rules": rules(shipped, RULES) if rules else ""}


def _rows(view: View) -> str:
    """Describe the rows that it was fitted on: of training sets side by side the first."""
    folds = view.details.folds
    if folds and view.outcome.scheme.name == "predefined" and folds.repeats > 1:
        return f"the {folds.analysis[0]:,} rows of the first training set"
    return f"all {view.outcome.task.development_rows:,} development rows"


def drawable_model(folder: RunFolder, restored: Callable[[], Predictor] | None = None) -> Predictor | None:
    """The model of a folder where it can draw itself, or as it was `restored` before; what else it may hold is not read.

    Raises DataError where the folder is damaged.
    """
    learner, plugins = describe(folder.model).get("learner"), tuple(folder.config().get("plugins") or ())
    kind = learner.get("kind") if isinstance(learner, dict) else None
    if not _is_drawable(str(kind), plugins):
        return None
    shipped = restored() if restored else load(folder.model, plugins)
    return shipped if ability(shipped.model, "draw") else None


def _is_drawable(kind: str, plugins: tuple[str, ...]) -> bool:
    """Say whether models of a learner can draw themselves, as far as it is known here."""
    with suppress(KeyError):
        return bool(getattr(class_of("learner", kind, plugins), "drawable", False))
    return False


def say(shipped: Predictor, name: str) -> str:
    """What a model that can says of itself: a drawing, a picture."""
    able = ability(shipped.model, name)
    return str(able(shipped)) if able else ""


# Could a tree of this size do better? The winner and each entry's best tree beside the best trees of their size.


def best_of_size(view: View) -> list[dict[str, object]]:
    """A line per tree, and a sentence on each; empty where it was not asked for."""
    return [_beside_best(view, one) for one in view.folder.explanation().optimal]


def _beside_best(view: View, one: OptimalFacts) -> dict[str, object]:
    """A tree's line of the table and its sentences; where a fit failed, why."""
    name = view.name_of(one.candidate)
    said: dict[str, object] = {
        "name": name,
        "said": " ".join(verdict.size_sentences(one, name)),
        "failed": one.failed,
    }
    if said["failed"]:
        return said
    training, own = one.training, one.out_of_fold
    return {
        **said, "depth": one.depth, "leaves": one.leaves, "best_leaves": number(round(own.leaves, 1)),
        "training": [*map(score, (training.grown, training.optimal, training.bound))],
        "unseen": [score(own.grown), score(own.optimal)],
        "ended": verdict.proven_folds(one), "deeper": verdict.deeper(one),
    }  # fmt: skip
