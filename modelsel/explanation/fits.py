"""Fits that explaining a choice adds to a plan, beside those of the selection."""

from collections.abc import Iterator, Sequence

from modelsel.config.settings import BOUNDS, NESTED, ExplanationSettings, OptimalSettings
from modelsel.core.types import Candidate
from modelsel.explanation.forest_importance import has_rows_out_of_bag
from modelsel.explanation.learning_curve import RUNNERS_UP, SHARES
from modelsel.explanation.optimal_bounds import is_single_tree, searches


def fitted_explanations(
    settings: ExplanationSettings, curve: bool, folds: int, candidates: Sequence[Candidate], needed: int = 0
) -> Iterator[tuple[str, int]]:
    """Yield the explanations that need fits, each with the largest number of fits; `needed` are those of the selection.

    >>> list(fitted_explanations(ExplanationSettings(importance=True), False, 10, ()))
    [('permutation importance of 1 candidate, with a noise column', 20)]
    """
    if settings.importance:
        many = len(settings.candidates)
        noise = ", with a noise column" if settings.noise else ""
        yield f"permutation importance of {many} candidate{'s' * (many > 1)}{noise}", many * folds * (1 + settings.noise)
        if any(has_rows_out_of_bag(candidate.learner) for candidate in candidates):
            yield f"impurity importance of {many} forest{'s' * (many > 1)}, on all development rows", many
    if settings.sets == NESTED:
        yield "the choice made anew on the analysis rows of each fold, for prediction sets and intervals", folds * needed
    elif settings.sets:
        yield "a model of each fold, of the choice repeated, for prediction sets and intervals", folds
    if curve:
        many = min(len({candidate.entry for candidate in candidates}), 1 + RUNNERS_UP)
        yield f"learning curve of {many} candidate{'s' * (many > 1)}", many * folds * (len(SHARES) - 1)


def lines(settings: ExplanationSettings, curve: bool, folds: int, candidates: Sequence[Candidate], needed: int) -> list[str]:
    """Write the lines that `modelsel plan` prints; none where nothing costs a fit."""
    return [
        f"explanations {fits:,} fit{'s' * (fits > 1)} more: {what}"
        for what, fits in fitted_explanations(settings, curve, folds, candidates, needed)
    ]


STEPS = 0.0005  # seconds that a million steps of a search take, about


def foretold(optimal: OptimalSettings, folds: int, candidates: Sequence[Candidate]) -> list[str]:
    """Write what `modelsel plan` says of the searches for the best trees; nothing where they were not asked for.

    >>> from modelsel.learner.tree import Tree
    >>> foretold(OptimalSettings("bounds"), 10, [Candidate(Tree(), entry="cart")])[0]
    'optimal      at most 122 searches of trees of depth 3 beside those of cart: 100,000 million steps, 50 s'
    """
    entries = list(dict.fromkeys(one.entry for one in candidates if is_single_tree(one)))
    if optimal.kind != BOUNDS or not entries:
        return []
    many = (len(entries) + 1) * (1 + searches(folds))
    return [
        f"optimal      at most {many:,} searches of trees of depth {optimal.depth} beside those of {', '.join(entries)}: "
        f"{optimal.budget:,} million steps, {optimal.budget * STEPS:.0f} s"
    ]
