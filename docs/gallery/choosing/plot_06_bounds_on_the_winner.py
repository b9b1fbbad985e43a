"""
The best among those that find enough
=====================================

``subject_to`` keeps the rule to candidates within bounds: here those that find at least 96 % of the malignant
tumours. All candidates are judged all the same, so that one sees what the bound costs.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
# Neighbours that say "benign" from different scores on, once without a bound and once with it. Class 0 is the
# malignant one.
space = {"knn": {"learner": "knn", "sweep": {"k": [5, 11, 21], "threshold": [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]}}}
given = {"space": space, "split": "none", "tracking": "off"}
free = modelsel.run("dataset=breast_cancer", **given, name="free")
bound = {"recall": {"bound": ">= 0.96", "positive": 0}}
bounded = modelsel.run("dataset=breast_cancer", rule={"kind": "best", "subject_to": bound}, **given, name="bounded")

# %%
# What the bound costs: the winner's error, and what each of the two finds.
for name, outcome in (("best", free), ("best within the bound", bounded)):
    winner = outcome.winner
    settings = winner["parameters"]
    print(f"{name:<22} error {winner['cv']['mean']:.4f}: k = {settings['k']}, from a score of {settings['decision.at']} on")

# %%
# Every candidate by its two measures; those to the right of the line keep the bound, and the ring is the winner
# among them.
board = bounded.leaderboard
recall = next(name for name in board if name.startswith("recall") and name != "recall")
won = board[board["id"] == bounded.winner["id"]]
figure, axes = plt.subplots(figsize=(6, 3.4))
axes.plot(board[recall], board["mean"], ".", color="grey")
axes.plot(won[recall], won["mean"], "o", fillstyle="none", markersize=11)
axes.axvline(0.96, linestyle="dashed")
axes.set(xlabel="share of malignant tumours found", ylabel="cross-validated error")
figure.tight_layout()
