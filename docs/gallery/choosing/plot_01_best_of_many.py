"""
The best of many scores flatters
================================

Labels are drawn by lot here: no model can be right in more than half of the cases. The best of many
cross-validated errors is lower all the same, and the lower, the more candidates there are. The corrected score
allows for the choice.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import modelsel

# %%
# A hundred rows, ten columns of noise, and a label that hangs on nothing.
rng = np.random.default_rng(3)
frame = pd.DataFrame(rng.normal(size=(100, 10)), columns=[f"x{i}" for i in range(10)])
frame["y"] = rng.choice(["a", "b"], 100)

# %%
# Each study may choose among more trees than the one before. A tree here sees one or two columns, by name.
rows = []
for columns in (1, 3, 10):
    named = [[f"x{i}"] for i in range(columns)] + [[f"x{i}", f"x{i + 1}"] for i in range(columns - 1)]
    tried = [{"kind": "select_named", "features": features} for features in named]
    space = {"tree": {"learner": "cart", "sweep": {"preparer": tried, "max_depth": [1, 2, 3]}}}
    outcome = modelsel.run(frame, target="y", space=space, split="none", tracking="off", name=f"of_{columns}")
    board, corrected = outcome.leaderboard, outcome.winner["corrected"]
    rows.append((len(board), board["mean"].min(), corrected["mean"], corrected["low"], corrected["high"]))
found = pd.DataFrame(rows, columns=["candidates", "best", "corrected", "low", "high"])
print(found.round(3).to_string(index=False))

# %%
# The dashed line is the truth. The bars are the 95 % intervals of the corrected score.
figure, axes = plt.subplots(figsize=(6, 3.4))
axes.axhline(0.5, color="grey", linestyle="dashed", label="truth")
axes.plot(found["candidates"], found["best"], "o-", label="best of the cross-validated errors")
bars = [found["corrected"] - found["low"], found["high"] - found["corrected"]]
axes.errorbar(found["candidates"], found["corrected"], yerr=bars, fmt="s", capsize=3, label="corrected (BBC)")
axes.set(xlabel="candidates", ylabel="error", xscale="log", ylim=(0.2, 0.8))
axes.legend(loc="upper right")
figure.tight_layout()
