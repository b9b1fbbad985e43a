"""
Scores that come true
=====================

Naive Bayes is often too sure: of the rows that it calls 99 % certain, fewer than 99 % are of that class. A
calibrator behind it is an axis of the space like any other setting, and is fitted on inner folds.
"""

import modelsel

# %%
space = {"bayes": {"learner": "naive_bayes", "sweep": {"calibrator": "choice(none, platt, isotonic, beta)"}}}
given = {"split": "none", "tracking": "off", "measure": "log_loss"}
outcome = modelsel.run("dataset=breast_cancer", space=space, **given)
print(outcome.leaderboard[["calibrator", "mean", "se"]].fillna("none").to_string(index=False))

# %%
# As naive Bayes says it.
raw = modelsel.run("dataset=breast_cancer", space="naive_bayes", **given)
raw.plot.calibration().save("raw.svg")

# %%
# With the calibrator that was chosen.
outcome.plot.calibration().save("calibrated.svg")
