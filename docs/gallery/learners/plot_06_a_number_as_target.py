"""
A number as target, and its logarithm
=====================================

Prices are made by rule here: what raises one raises it by a share. Learners are fitted on the price and on its logarithm;
scores are in the unit of the price either way, so that both stand in one table.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import modelsel

rng = np.random.default_rng(0)
homes = pd.DataFrame(
    {"area": rng.gamma(9, 12, 400).round(), "age": rng.integers(0, 90, 400), "town": rng.choice(["n", "s", "e"], 400)}
)
logarithm = 4 + 0.012 * homes["area"] - 0.006 * homes["age"] + 0.3 * (homes["town"] == "s")
homes["price"] = np.exp(logarithm + rng.normal(0, 0.2, 400)).round(2)

# %%
either = {"target.transform": ["none", "log"]}
space = {
    "line": {"learner": "linear_regression", "sweep": {"params.alpha": [0.1, 1.0, 10.0], **either}},
    "cart": {"learner": "cart", "sweep": {"pruner": "unpruned", "max_depth": [2, 4, 6, 8], **either}},
    "knn": {"sweep": {"k": [3, 9, 27], **either}},
}
outcome = modelsel.run(homes, target="price", space=space, measure="mae", tracking="off", scheme={"folds": 5})
print(outcome)

# %%
board = outcome.leaderboard
board = board.assign(fitted=board["target.transform"].fillna("none"))
best = board.groupby(["entry", "fitted"])["mean"].min().unstack()
figure, axes = plt.subplots(figsize=(6, 3.2))
best.plot.barh(ax=axes)
axes.set(xlabel="mean absolute error of the best candidate", ylabel="")
labels = ["log of the price" if name == "log" else "price" for name in best.columns]
axes.legend(title="fitted on", labels=labels, loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
