"""
Pipelines: steps before a learner
=================================

Steps are fitted in each fold on its analysis rows, so that nothing of the assessment rows leaks into a mean or
a component. Candidates that begin with the same steps share them.
"""

import modelsel

# %%
# Logistic regression on scaled columns, with and without principal components.
scaled = {"numeric": ["StandardScaler"]}
space = {
    "plain": {"learner": "logistic_regression", "steps": scaled, "sweep": {"params.C": [0.01, 0.1, 1, 10]}},
    "components": {
        "learner": "logistic_regression",
        "steps": {"numeric": ["StandardScaler", {"kind": "PCA", "n_components": 5}]},
        "sweep": {"params.C": [0.01, 0.1, 1, 10]},
    },
    "tree": "cart",
}
outcome = modelsel.run("dataset=breast_cancer", space=space, split="none", tracking="off", pool="threads", scheme={"folds": 5})
print(outcome.leaderboard[["entry", "params.C", "mean", "se"]].fillna("").to_string(index=False))

# %%
outcome.plot.leaderboard().save("folds.svg")
