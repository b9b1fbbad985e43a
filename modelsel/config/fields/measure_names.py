"""scikit-learn's names of measures: each is a file of `conf/measure` that leads to modelsel's, and something is said of it."""

SAID = {
    "accuracy": "error is its complement, 1 − accuracy: lower is better",
    "balanced_accuracy": "balanced_error is its complement, 1 − balanced accuracy: lower is better",
    "top_k_accuracy": "top_k_error is its complement, 1 − top-k accuracy: lower is better",
    "neg_log_loss": "log_loss is it with the other sign: lower is better",
    "neg_brier_score": "brier has the other sign, and with two classes twice the size: lower is better",
    "roc_auc": "it is auc here",
    "roc_auc_ovr_weighted": "it is auc here",
    "matthews_corrcoef": "it is mcc here",
    **{f"{kind}_{average}": f"it is {kind} with measure.average={average} here"
       for kind in ("f1", "precision", "recall") for average in ("macro", "weighted")},
}  # fmt: skip


def measure_notes(choice: object) -> tuple[str, ...]:
    """Explain a measure that was given by scikit-learn's name; nothing for other names.

    >>> measure_notes("accuracy")
    ('measure=accuracy: error is its complement, 1 − accuracy: lower is better',)
    >>> measure_notes("error")
    ()
    """
    said = SAID.get(str(choice))
    return (f"measure={choice}: {said}",) if said else ()
