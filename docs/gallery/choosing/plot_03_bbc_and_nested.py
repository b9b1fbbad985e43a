"""
BBC against nested cross-validation
===================================

Two ways to say what the winner's score is worth. BBC repeats the choice on resampled losses and fits nothing.
Nested cross-validation repeats the whole selection in every outer fold. On labels drawn by lot the truth is an
error of one half.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import modelsel

# %%
# The space: shallow trees on one column of noise each. Twenty data sets of 80 rows.
space = {
    "tree": {
        "learner": "cart",
        "sweep": {"preparer": [{"kind": "select_named", "features": [f"x{i}"]} for i in range(8)], "max_depth": [1, 2]},
    }
}
rows = []
for seed in range(20):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(80, 8)), columns=[f"x{i}" for i in range(8)]).assign(
        y=rng.permutation(["a", "b"] * 40)
    )
    outcome = modelsel.run(
        frame,
        target="y",
        space=space,
        corrected="nested",
        split="none",
        tracking="off",
        scheme={"folds": 5},
        name=f"seed_{seed}",
    )
    winner = outcome.winner
    rows.append((winner["cv"]["mean"], winner["corrected"]["bbc"]["mean"], winner["corrected"]["mean"]))
found = pd.DataFrame(rows, columns=["best mean", "BBC", "nested"])
print(found.describe().loc[["mean", "std"]].round(3))

# %%
# The best mean is too low. The two corrections lie near the truth; nested costs a selection per outer fold.
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.boxplot([found[name] for name in found], tick_labels=list(found))
axes.axhline(0.5, color="grey", linestyle="dashed")
axes.set(ylabel="error (truth: 0.5)")
figure.tight_layout()
