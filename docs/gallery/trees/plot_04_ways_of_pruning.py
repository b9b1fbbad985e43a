"""
Eight ways of pruning one tree
==============================

After Esposito, Malerba & Semeraro (1997): the same grown tree, pruned in eight ways, each over its strengths.
All of them are read off one growth per fold; reduced error grows one more for each share of rows that it holds
back.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
outcome = modelsel.run("dataset=breast_cancer", space="pruners", split="none", tracking="off")
print(f"{outcome.candidates['distinct']} candidates, {outcome.fits['needed']} fits instead of {outcome.fits['naive']}")

# %%
# The best of each way: its error and its size.
best = outcome.leaderboard.groupby("entry", sort=False).first()
print(best[["mean", "se", "complexity"]].round(3).to_string())
figure, axes = plt.subplots(figsize=(6, 3.6))
axes.errorbar(best["mean"], best.index, xerr=best["se"], fmt="o", capsize=3)
axes.invert_yaxis()
axes.set(xlabel="cross-validated error ± one standard error")
figure.tight_layout()
