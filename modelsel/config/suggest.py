"""Suggestions for a misspelt name: the nearest of the names that would have been right."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

SHOWN = 12
MEASURES = {  # measures as others write them, without `neg_` and `_score`, and how they are said here
    "acc": "measure=error: accuracy is 1 − error",
    "bal_acc": "measure=balanced_error: balanced accuracy is 1 − balanced error",
    "f1_micro": "measure=error: with one class a row, micro averages are the accuracy, 1 − error",
    "precision_micro": "measure=error: with one class a row, micro averages are the accuracy, 1 − error",
    "recall_micro": "measure=error: with one class a row, micro averages are the accuracy, 1 − error",
    "macro_f1": "measure=f1_macro",
    "auroc": "measure=auc",
    "roc": "measure=auc",
    "roc_auc_ovr": "measure=auc",
    "pr_auc": "measure=average_precision",
    "cross_entropy": "measure=log_loss",
    "nll": "measure=log_loss",
    "mean_squared_error": "measure=mse",
    "root_mean_squared_error": "measure=rmse",
    "mean_absolute_error": "measure=mae",
    "cohen_kappa": "measure=kappa",
    "mean_absolute_percentage_error": "measure=mape",
    "mean_poisson_deviance": "measure=poisson_deviance",
}


def near(name: str, vocabulary: Iterable[str]) -> str:
    """Suggest a correction of a name: the nearest right one, or all of them when there are few.

    >>> near("ginni", ["gini", "entropy"])
    "did you mean 'gini'?"
    >>> near("xyz", ["gini", "entropy"])
    'one of: entropy, gini'
    >>> near("regression_forest", ["svm_regression", "forest_regression"])
    "did you mean 'forest_regression'?"
    """
    words = sorted(set(vocabulary))
    if found := [word for word in words if "_" in name and sorted(word.split("_")) == sorted(name.lower().split("_"))]:
        return f"did you mean {found[0]!r}?"
    if found := get_close_matches(name, words, 1, cutoff=0.6) or get_close_matches(name.lower(), words, 1, cutoff=0.6):
        return f"did you mean {found[0]!r}?"
    if found := [word for word in words if name and (word.startswith(name) or word.endswith(f".{name}"))]:
        return f"did you mean {found[0]!r}?"
    if not words:
        return "nothing can be set here"
    more = f", … ({len(words)} in all)" if len(words) > SHOWN else ""
    return f"one of: {', '.join(words[:SHOWN])}{more}"


def near_option(group: str, name: str, known: Collection[str]) -> str:
    """Suggest the option of a group that was meant: a measure also by the names that others give it.

    >>> near_option("measure", "acc", ["error", "mcc"]), near_option("measure", "neg_mean_squared_error", ["mse"])
    ('write measure=error: accuracy is 1 − error', 'write measure=mse')
    """
    plain = name.lower().replace("-", "_").removeprefix("neg_").removesuffix("_score")
    if group == "measure" and plain in MEASURES:
        return f"write {MEASURES[plain]}"
    return near(plain if plain in known else name, known)
