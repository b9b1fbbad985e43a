"""Class priors as learners declare them: shares of the analysis weight (`empirical`), `uniform`, one number per class.

`laplace` smooths the shares of each fold's own analysis rows, as Weka does: (N_c + 1) / (N + K).
"""

from collections.abc import Iterable

import numpy as np

from modelsel.core.types import ClassTask, Floats, Table

Prior = str | tuple[float, ...]
WORDS = ("empirical", "laplace", "uniform")


def prior_of(prior: Prior, class_weight: Floats) -> Floats:
    """Probabilities that sum to 1. No weight at all counts as equal weights.

    >>> prior_of("empirical", np.array([3.0, 1.0])).tolist(), prior_of((1, 3), np.array([3.0, 1.0])).tolist()
    ([0.75, 0.25], [0.25, 0.75])
    >>> prior_of("laplace", np.array([4.0, 0.0])).tolist()
    [0.8333333333333334, 0.16666666666666666]
    """
    if prior == "laplace":
        given = class_weight + 1.0
    elif isinstance(prior, str):
        given = class_weight if prior == "empirical" and class_weight.sum() > 0 else np.ones(len(class_weight))
    else:
        given = np.asarray(prior, np.float64)
    shares: Floats = given / given.sum()
    return shares


def prior_problems(prior: Prior, task: Table | None) -> Iterable[str]:
    """Yield the problems of a prior, by itself and for the task's classes."""
    if isinstance(prior, str):
        if prior not in WORDS:
            yield f"prior is '{prior}': use empirical, laplace, uniform, or a list with one number per class"
    elif not all(np.isfinite(p) and p >= 0 for p in prior) or not sum(prior) > 0:
        yield f"prior {list(prior)} needs numbers of at least 0, not all 0"
    elif isinstance(task, ClassTask) and len(prior) != len(task.classes):
        yield f"prior has {len(prior)} numbers for {len(task.classes)} classes ({', '.join(task.classes)})"


def as_prior(prior: object) -> object:
    """A list from a configuration becomes a tuple, so that the learner stays hashable."""
    return tuple(float(p) for p in prior) if isinstance(prior, list | tuple) else prior
