"""
How many trees does a forest need?
==================================

A forest of 200 trees holds those of 100, 50 and 10: every number of trees and every depth is read off one
forest per fold.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
space = {
    "forest": {"learner": "forest", "sweep": {"trees": [1, 3, 10, 30, 100, 200], "max_depth": "choice(2, 4, none)"}},
    "tree": "cart",
}
outcome = modelsel.run("dataset=breast_cancer", space=space, split="none", tracking="off", scheme={"folds": 5})
print(f"{outcome.candidates['distinct']} candidates, {outcome.fits['needed']} fits instead of {outcome.fits['naive']}")

# %%
# A line per depth; the dashed one is a single pruned tree.
board = outcome.leaderboard
forests = board[board["entry"] == "forest"].assign(max_depth=lambda rows: rows["max_depth"].fillna("none").astype(str))
figure, axes = plt.subplots(figsize=(6, 3.4))
for depth, rows in forests.groupby("max_depth"):
    rows = rows.sort_values("trees")
    axes.plot(rows["trees"].astype(float), rows["mean"], "o-", label=f"depth {depth}")
axes.axhline(board[board["entry"] == "tree"]["mean"].item(), color="grey", linestyle="dashed", label="one pruned tree")
axes.set(xlabel="trees", ylabel="cross-validated error", xscale="log")
axes.legend()
figure.tight_layout()
