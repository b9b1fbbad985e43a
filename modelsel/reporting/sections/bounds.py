"""Generalisation bounds, each with its assumption in words and the exact binomial limit beside it.

All hold with probability 1 − δ over the rows, for k folds at once with δ / k each, for the models of the folds on average; m is
the rows of the smallest fold. The exact limit is that of the same counts for a hypothesis fixed before the rows were seen.
A bound of 1 or more says nothing.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.errors import DataError
from modelsel.core.types import Feature
from modelsel.learner.base import ability
from modelsel.record.documents import FoldsFacts
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import number, plural, score
from modelsel.statistics import bounds
from modelsel.statistics.bounds import upper_limit

DELTA = 0.05
WITHIN = 0.05  # what the rows that would be needed are told for
NOTHING = "says nothing"


@dataclass(frozen=True)
class Errors:
    """A share of wrong rows, as a bound reads it: of the smallest of some folds, or of all rows at once."""

    share: float
    rows: int
    folds: int = 1

    @property
    def delta(self) -> float:
        return DELTA / self.folds

    @property
    def exact(self) -> float:
        """Upper limit for one hypothesis fixed beforehand; parts of an error count whole."""
        return upper_limit(min(self.rows, math.ceil(self.share * self.rows - 1e-9)), self.rows, self.delta)


@dataclass(frozen=True)
class TreeCode:
    """The final tree: its features, how many bits send it, its errors on the rows that grew it."""

    features: tuple[Feature, ...]
    bits: float
    errors: Errors
    prepared: bool  # behind preparation steps


def section(view: View) -> dict[str, object]:
    """The table's rows; `why` where none can be made."""
    if view.outcome.task.of_numbers:
        return {"rows": [], "why": "The target is a number, and these bounds are of errors.", "groups": False}
    data, folds = view.details.data, view.details.folds
    out = _out_of_fold(view, folds)
    why = "The rows are weighted, and these bounds count rows." if data and data.weighted else ""
    if out is None or folds is None or why:
        return {"rows": [], "why": why or "No out-of-fold predictions of the winner are on record.", "groups": False}
    training = Errors(view.winner.training_error, max(1, min(folds.analysis)), out.folds)
    repeated = view.outcome.scheme.name == "bootstrap"
    rows = [
        *of_candidates(out, int(view.outcome.candidates.distinct)),
        *of_trees(None if repeated else training, _tree(view), len(view.outcome.task.classes)),
    ]
    return {"rows": rows, "why": "", "groups": bool(data and data.groups), "folds": out.folds, "within": WITHIN}


def of_candidates(out: Errors, count: int) -> Iterator[dict[str, str]]:
    """H is what selection chose from; the assessment rows chose, so they are what was trained on."""
    excess, needed = bounds.agnostic_excess(count, out.rows, out.delta), bounds.agnostic_rows(count, WITHIN, out.delta)
    words = f"H: the {plural(count, 'model')} of a fold, fixed before its assessment rows were looked at"
    yield _row("agnostic", out, out.share + excess, f"{words}. Holds for all of H at once, whichever was chosen.", needed)
    if out.share:
        yield _none("consistent", f"Asks for a winner without an error on the assessment rows; {score(out.share)} are wrong.")
    else:
        bound = bounds.consistent_error(count, out.rows, out.delta)
        needed = bounds.consistent_rows(count, WITHIN, out.delta)
        yield _row("consistent", out, bound, f"{words}. Speaks of those without an error on these rows.", needed)


def of_trees(training: Errors | None, tree: TreeCode | None, classes: int) -> Iterator[dict[str, str]]:
    """H is all trees over the features; training rows are what they were trained on."""
    why = _no_dimension(training, tree, classes)
    if training is None or tree is None or why:
        yield _none("Vapnik–Chervonenkis", why)
    else:
        yield _vc(training, int(bounds.vc_dimension_of_trees(tree.features)))
    if tree is None:
        yield _none("Occam", "Asks for the length of the model in a code fixed beforehand: given for trees only.")
    else:
        yield _occam(tree)


def _vc(training: Errors, dimension: int) -> dict[str, str]:
    """Write the row of the VC bound."""
    words = (
        f"H: all trees, VC dimension {dimension:,} (every combination of levels). "
        "Stopping and pruning choose from fewer, by how much is not known"
    )
    if training.share:
        bound = training.share + bounds.vc_excess(dimension, training.rows, training.delta)
        return _row("VC, agnostic", training, bound, f"{words}.", bounds.vc_rows(dimension, WITHIN, training.delta))
    bound = bounds.vc_consistent_error(dimension, training.rows, training.delta)
    needed = bounds.vc_consistent_rows(dimension, WITHIN, training.delta)
    return _row("VC, consistent", training, bound, f"{words}; no training row is wrong.", needed)


def _occam(tree: TreeCode) -> dict[str, str]:
    """Write the row of Occam's bound on the final tree."""
    errors = tree.errors
    words = (
        f"The final tree in {tree.bits:,.0f} bits of a prefix code, its errors those among the rows that its leaves count. "
        "The code has to be fixed beforehand"
    )
    if any(feature.has_order for feature in tree.features):
        words += ": a threshold is coded as one of the cuts that these rows allow, so the bound is approximate"
    words += "; the preparation steps are not counted." if tree.prepared else "."
    if errors.share:
        bound = errors.share + bounds.occam_excess(tree.bits, errors.rows, DELTA)
        return _row("Occam", errors, bound, words, bounds.occam_rows(tree.bits, WITHIN, DELTA))
    bound, codes = bounds.occam_error(tree.bits, errors.rows, DELTA), 2 ** math.ceil(tree.bits)
    return _row("Occam", errors, bound, f"{words[:-1]}; no row is wrong.", bounds.consistent_rows(codes, WITHIN, DELTA))


def _no_dimension(training: Errors | None, tree: TreeCode | None, classes: int) -> str:
    """Say why there is no VC bound; empty when there is one."""
    if tree is None:
        return "The winner is not a tree: the VC dimension of what it chooses from is not known here."
    if classes > 2:
        return f"Defined for two classes, and there are {classes}."
    if training is None or not math.isfinite(training.share):
        return "The rows of a bootstrap repeat, and these bounds ask for independent ones."
    if tree.prepared:
        return "The preparation steps choose too: the VC dimension of steps and tree together is not known."
    numeric = next((feature.name for feature in tree.features if feature.is_number), None)
    return f"Infinite VC dimension: {numeric} is numeric, and a tree may cut it as often as it likes." if numeric else ""


def _row(name: str, errors: Errors, bound: float, words: str, needed: int) -> dict[str, str]:
    """Write a row: errors, bound, exact limit, rows needed."""
    exact = errors.exact
    return {
        "name": name,
        "wrong": score(errors.share),
        "rows": f"{errors.rows:,}",
        "bound": NOTHING if bound >= 1 else f"≤ {score(bound)}",
        "exact": NOTHING if exact >= 1 else f"≤ {score(exact)}",
        "needed": number(needed),
        "words": words,
    }


def _none(name: str, why: str) -> dict[str, str]:
    return {"name": name, "wrong": "", "rows": "", "bound": "none", "exact": "", "needed": "", "words": why}


def _out_of_fold(view: View, folds: FoldsFacts | None) -> Errors | None:
    """Gather the winner's out-of-fold error rate; None where its predictions were not kept."""
    found, winner = view.assessed, view.outcome.winner.id
    if winner not in found.ids or folds is None or not folds.assessment:
        return None
    predicted = found.predicted[found.ids.index(winner)]
    known = predicted >= 0
    if not known.any():
        return None
    wrong = float((predicted != found.truth)[known].mean())
    return Errors(wrong, max(1, min(folds.assessment)), len(folds.assessment))


def _tree(view: View) -> TreeCode | None:
    """The recorded tree, where the winner is one and its folder is whole."""
    if view.winner.learner != "tree" or not view.folder.model.is_dir():
        return None
    try:
        predictor = view.predictor
    except DataError:
        return None  # the section on the final model says what is damaged
    coded = ability(predictor.model, "code_length")
    found: tuple[tuple[Feature, ...], float, float, float] | None = coded(predictor) if coded else None
    return None if found is None else tree_code(*found, bool(predictor.steps))


def tree_code(features: tuple[Feature, ...], bits: float, wrong: float, total: float, prepared: bool) -> TreeCode:
    """The code of a tree, with the errors among the rows that its leaves count."""
    return TreeCode(features, bits, Errors(wrong / total if total else 1.0, max(1, int(total))), prepared)
