"""
Discretisation for naive Bayes
==============================

Naive Bayes can model a number by a normal distribution, or by intervals. Which intervals? A preparer is an axis
of the space: it is fitted in each fold on its analysis rows alone.
"""

import modelsel

# %%
space = {
    "naive_bayes": {
        "learner": "naive_bayes",
        "sweep": {
            "preparer": [
                "none",
                "discretise_mdl",
                *(
                    {"kind": kind, "bins": bins}
                    for kind in ("discretise_width", "discretise_frequency")
                    for bins in (3, 5, 10, 20)
                ),
            ]
        },
    }
}
outcome = modelsel.run("dataset=breast_cancer", space=space, split="none", tracking="off")
board = outcome.leaderboard
print(board[[*board.filter(like="preparer"), "mean", "se"]].fillna("none").to_string(index=False))

# %%
# A mark per fold, the mean, one standard error to each side.
outcome.plot.leaderboard().save("ways.svg")
