"""
Critical differences over data sets
===================================

Four learners on seven data sets. Mean ranks that differ by less than the critical difference are joined by a
bar: the data sets cannot tell these learners apart (Demšar 2006).
"""

import modelsel

# %%
# One study per data set, on the same four learners with their default settings.
data = [
    "iris",
    "wine",
    "breast_cancer",
    "play_tennis",
    "monks dataset.problem=1",
    "monks dataset.problem=3",
    "led dataset.rows=300",
]
studies = []
for words in data:
    name, *settings = words.split()
    outcome = modelsel.run(
        f"dataset={name}", *settings, space=["c45", "cart", "naive_bayes", "majority"], split="none", scheme={"folds": 5},
        tracking="off", name=words.replace(" ", "-").replace("=", "-").replace(".", "-"),
    )  # fmt: skip
    studies.append(outcome)

# %%
# Sentences to quote, and the picture.
comparison = modelsel.compare(studies)
print("\n".join(comparison.sentences))
comparison.picture.save("critical_difference.svg")
