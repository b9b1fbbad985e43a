"""Candidates that cannot differ on a table are one: smoothing of counts says nothing where every feature is a number.

A learner says which of its settings can matter for features of some kinds, and where nothing reads class scores (`mattering`);
candidates of which that is the same stand for one, the first that was declared. What a preparation step makes of the features
is known only when it is fitted, so that candidates with preparation are left as they are; and so are learners that draw, whose
draws follow their settings.
"""

from collections.abc import Sequence

from modelsel.core.types import Candidate, Feature


def told_apart(candidates: Sequence[Candidate], features: Sequence[Feature], scores: bool = True) -> tuple[Candidate, ...]:
    """The candidates that can differ on these features, the first of each set that cannot.

    `scores` says whether anything reads class scores, and not only predicted classes.

    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> both = [Candidate(NaiveBayes(smoothing=1)), Candidate(NaiveBayes(smoothing=2))]
    >>> len(told_apart(both, [Feature("x", "numeric")])), len(told_apart(both, [Feature("x", "nominal", ("a", "b"))]))
    (1, 2)
    """
    kinds = frozenset(feature.kind for feature in features)
    found: dict[object, Candidate] = {}
    for candidate in candidates:
        found.setdefault((candidate.preparers, _mattering(candidate, kinds, scores)), candidate)
    return tuple(found.values())


def _mattering(candidate: Candidate, kinds: frozenset[str], scores: bool) -> object:
    """Return the learner without settings that do nothing on columns of these kinds."""
    learner = candidate.learner
    if candidate.preparers or not hasattr(learner, "mattering"):
        return learner
    return learner.mattering(kinds, scores)


def counted_once(before: int, after: int) -> str:
    """Say how many candidates cannot differ on this table; empty where all can."""
    if before == after:
        return ""
    return f"{before - after} of {before} candidates are identical to another on this table and are counted once"


def count_declared(said: int, families: int, candidates: Sequence[Candidate]) -> int:
    """Count the candidates that were declared, a family (`alpha: path`) by its members.

    >>> from dataclasses import replace
    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> one = Candidate(NaiveBayes())
    >>> count_declared(2, 1, [one, *[replace(one, family="pruner.alpha: path")] * 6])  # one by itself, a family of six
    7
    """
    return said - families + sum(bool(candidate.family) for candidate in candidates)
