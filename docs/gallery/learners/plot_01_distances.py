"""
k nearest neighbours: which distance, which k?
==============================================

One search of neighbours per distance and fold answers every k and every way of voting: 130 candidates from five
searches a fold.
"""

import modelsel

# %%
space = {
    "knn": {
        "learner": "knn",
        "sweep": {
            "k": range(1, 52, 4),
            "vote": "choice(uniform, inverse)",
            "distance": "choice(euclidean, manhattan, chebyshev, heom, gower)",
        },
    }
}
outcome = modelsel.run("dataset=wine", space=space, split="none", tracking="off", measure="log_loss")
print(f"{outcome.candidates['distinct']} candidates, {outcome.fits['needed']} fits instead of {outcome.fits['naive']}")

# %%
# The score by k: few neighbours are too sure of themselves, many too timid.
outcome.plot.curve("k").save("k.svg")

# %%
# And by distance.
outcome.plot.curve("distance").save("distance.svg")
