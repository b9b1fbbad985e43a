"""
ROC curves and the uncertainty of an area
=========================================

With ``measure=auc`` candidates are judged by how they rank. The curve is that of the winner's out-of-fold
scores.
"""

import modelsel

# %%
space = {
    "tree": {
        "learner": "tree",
        "sweep": {"criterion": "choice(entropy, gini, hellinger)", "leaf.score": "choice(frequency, laplace)"},
    },
    "naive_bayes": "naive_bayes",
}
outcome = modelsel.run("dataset=breast_cancer", space=space, measure="auc", split="none", tracking="off")
print(outcome.leaderboard[["entry", "criterion", "leaf.score", "mean", "se"]].fillna("").to_string(index=False))

# %%
outcome.plot.roc().save("roc.svg")

# %%
# A mark per fold: areas of single folds scatter widely.
outcome.plot.leaderboard().save("folds.svg")
