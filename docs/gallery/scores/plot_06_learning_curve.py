"""
Would more rows help?
=====================

``curve=true`` fits the winner and the best of the other entries on smaller shares of each fold's analysis rows.
"""

import modelsel

# %%
space = {
    "tree": {"learner": "cart", "sweep": {"max_depth": [4, 8, 12]}},
    "knn": {"learner": "knn", "sweep": {"k": [1, 3, 5]}},
    "naive_bayes": "naive_bayes",
}
outcome = modelsel.run("dataset=digits", space=space, curve=True, split="none", tracking="off", scheme={"folds": 5})
print(outcome.leaderboard.groupby("entry", sort=False)["mean"].first().round(4).to_string())

# %%
outcome.plot.learning_curve().save("curve.svg")
