"""
Where the winner fails
======================

A twentieth of all labels are wrong here, but half of them where ``age`` is above 60 and ``new`` is yes. The
report names that corner. Half of the rows find it, the other half tests it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import modelsel

# %%
rng = np.random.default_rng(0)
rows = 1500
frame = pd.DataFrame(
    {"age": rng.integers(18, 80, rows), "income": rng.normal(30, 8, rows).round(1), "new": rng.choice(["yes", "no"], rows)}
)
corner = (frame["age"] > 60) & (frame["new"] == "yes")
wrong = rng.random(rows) < np.where(corner, 0.5, 0.05)
frame["good"] = np.where((frame["income"] > 30) ^ wrong, "yes", "no")
space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3]}}}
outcome = modelsel.run(frame, target="good", space=space, split="none", tracking="off")

# %%
# What the record says of the slices that were found.
found = pd.DataFrame(outcome.explanation["weak_slices"]["slices"])
print(found[["slice", "rows", "rate", "low", "high", "adjusted"]].round(3).to_string(index=False))

# %%
figure, axes = plt.subplots(figsize=(6.4, 2.6))
bars = [found["rate"] - found["low"], found["high"] - found["rate"]]
axes.errorbar(found["rate"], found["slice"], xerr=bars, fmt="o", capsize=3)
axes.set(xlabel="error rate among the rows that test the slice, 95 % interval", xlim=(0, 1))
axes.margins(y=0.3)
axes.invert_yaxis()
figure.tight_layout()
