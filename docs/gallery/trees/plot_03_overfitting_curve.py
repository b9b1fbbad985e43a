"""
Accuracy against the size of a tree
===================================

The figure of every textbook (Mitchell 1997, figure 3.6), from a run: on the rows that a tree was grown from,
accuracy rises with its size; on other rows it rises and falls.
"""

import modelsel

# %%
# Displays of digits with a tenth of the segments wrong, and ten columns that say nothing.
outcome = modelsel.run("experiment=overfitting_curve", "dataset.rows=200", scheme={"repeats": 8}, tracking="off")
outcome.plot.overfitting("grown").save("grown.svg")
