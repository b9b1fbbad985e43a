"""
A race that cannot change the winner
====================================

With ``race=exact`` candidates that can no longer win are dropped between two folds. The winner is the one of
the full study.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
# The same space twice: every fit, and the race.
space = {
    "knn": {"learner": "knn", "sweep": {"k": range(1, 40, 2)}},
    "tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3, 4, 5, 6, 8, 10], "min_leaf": [1, 5, 20, 50]}},
    "naive_bayes": "naive_bayes",
}
given = {"space": space, "split": "none", "tracking": "off"}
full = modelsel.run("dataset=digits", **given, name="full")
race = modelsel.run("dataset=digits", "race=exact", **given, name="race")
assert full.winner["id"] == race.winner["id"]
print(f"winner of both: {race.winner['learner']}, error {race.winner['cv']['mean']:.4f}")

# %%
# How many candidates each fold still judged.
judged = race.folds.dropna(subset="score").groupby("fold").size()
print(f"{judged.sum()} of {len(full.folds)} scores were computed")
figure, axes = plt.subplots(figsize=(6, 3))
axes.bar(judged.index, judged)
axes.set(xlabel="fold", ylabel="candidates still in the race", xticks=judged.index)
figure.tight_layout()
