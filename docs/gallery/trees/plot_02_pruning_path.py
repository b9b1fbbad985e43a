"""
A pruning path
==============

Cost-complexity pruning (Breiman et al. 1984) gives a sequence of smaller and smaller trees. One grown tree per
fold answers for all of them. The published path of iris, versicolor against the rest, comes out with its
strengths, leaves and errors.
"""

import modelsel

# %%
outcome = modelsel.run("experiment=iris_pruning", tracking="off")
print(f"{outcome.candidates['distinct']} candidates, {outcome.fits['needed']} fits instead of {outcome.fits['naive']}")

# %%
# Training error falls with every leaf; the cross-validated error does not. The rules' choices are marked.
outcome.plot.path().save("path.svg")

# %%
# The tree that was chosen.
outcome.plot.tree().save("tree.svg")
