"""
Boosting: every number of rounds from one fit
=============================================

The longest boosting holds the shorter ones. So the number of rounds costs nothing more, and the curve of the
error can be drawn for every learning rate.
"""

import modelsel

# %%
# A preset of scikit-learn's histogram boosting. ``space=boosting`` adds LightGBM, XGBoost and CatBoost where they
# are installed.
space = {
    "boosting": {
        "learner": "hist_gradient_boosting",
        "sweep": {"params.max_iter": [5, 10, 20, 40, 80], "params.learning_rate": [0.05, 0.2], "params.max_leaf_nodes": [4]},
    }
}
outcome = modelsel.run(
    "dataset=wine", space=space, split="none", tracking="off", measure="log_loss", pool="threads", scheme={"folds": 5}
)
print(f"{outcome.candidates['distinct']} candidates, {outcome.fits['needed']} fits instead of {outcome.fits['naive']}")

# %%
outcome.plot.curve("params.max_iter").save("rounds.svg")
