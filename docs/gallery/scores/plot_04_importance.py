"""
Which columns does the winner read?
===================================

Each column is shuffled among the rows of a fold that the model has not seen. What the error grows by is the
importance of the column for this model. One column of pure noise is the yardstick.
"""

import modelsel

# %%
space = {"tree": {"learner": "cart", "sweep": {"max_depth": [2, 3, 4]}}}
outcome = modelsel.run(
    "dataset=wine",
    space=space,
    explanations={"importance": True, "dependence": True},
    split="none",
    tracking="off",
    measure="log_loss",
)
outcome.plot.importance().save("importance.svg")

# %%
# How the scores of the classes move along one column, all else as it is.
outcome.plot.dependence("flavanoids").save("flavanoids.svg")
