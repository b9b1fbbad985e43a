"""
In the place of GridSearchCV
============================

``SelectionCV`` takes the place of scikit-learn's ``GridSearchCV``: the same ``cv``, the same attributes.
Candidates that can be read off one fit share it, and the winner's score comes corrected for having been chosen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import modelsel

# %%
X, y = load_breast_cancer(return_X_y=True)
alphas = [0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032]
theirs = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}, cv=5).fit(X, y)
space = {"tree": (DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas})}
ours = modelsel.SelectionCV(space, cv=5, scoring="accuracy", record={"name": "cancer"}).fit(X, y)

# %%
# The same folds, the same trees, the same scores; here from one fit per fold instead of seven.
print("theirs", theirs.cv_results_["mean_test_score"].round(4))
print("ours  ", ours.cv_results_["mean_test_score"].round(4))
score, low, high = ours.corrected_score_
print(f"best {ours.best_score_:.4f}; without the luck of the choice {score:.4f} [{low:.4f}, {high:.4f}]")

# %%
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(alphas, theirs.cv_results_["mean_test_score"], "o-", label="GridSearchCV")
axes.plot(alphas, ours.cv_results_["mean_test_score"], "x", markersize=9, label="SelectionCV")
axes.set(xlabel="ccp_alpha", ylabel="accuracy")
axes.legend()
figure.tight_layout()
