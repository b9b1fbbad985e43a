"""
When mistakes are not alike
===========================

A missed tumour costs ten times a false alarm. Then a class is better predicted from another score on than one
half. The operating point is chosen on inner folds, and judged on rows that took no part in that.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
# The cost of a malignant row that is called benign is 10. Rows of the matrix are true classes, columns are
# predicted ones.
costs = [[0, 10], [1, 0]]
space = {
    "as it says": "naive_bayes",
    "by cost": {"learner": "naive_bayes", "decision": {"costs": costs}},
    "at 0.9": {"learner": "naive_bayes", "sweep": {"threshold": [0.9]}},
}
outcome = modelsel.run(
    "dataset=breast_cancer", space=space, measure={"kind": "cost_matrix", "costs": costs}, split="none", tracking="off"
)
board = outcome.leaderboard
print(board[["entry", "mean", "se"]].to_string(index=False))

# %%
figure, axes = plt.subplots(figsize=(6, 2.6))
axes.barh(board["entry"], board["mean"], xerr=board["se"], color="tab:blue", alpha=0.7)
axes.set(xlabel="cost per row ± one standard error")
axes.invert_yaxis()
figure.tight_layout()
