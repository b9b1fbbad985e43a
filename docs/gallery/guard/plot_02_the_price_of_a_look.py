"""
What every further look costs
=============================

Each answer from the test rows tells something about their labels, and later studies can make use of it. So
intervals widen with every look, in a way that keeps all of them valid together.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
# Five studies, one after the other, each changed after the score of the one before was known.
spaces = ["majority", "stump", "naive_bayes", "cart", "knn"]
studies = [modelsel.run("dataset=breast_cancer", space=[name], tracking="off", name=name) for name in spaces]
for outcome in studies:
    test = outcome.test
    print(
        f"look {test.look}: {outcome.study:<12} error {test.score:.4f}, price {test.price:.2f} nats, before it {test.spent:.2f}"
    )

# %%
# The half-width of each interval.
wide = [(test.interval[1] - test.interval[0]) / 2 for test in (outcome.test for outcome in studies) if test.interval]
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(range(1, len(wide) + 1), wide, "o-")
axes.set(xlabel="look", ylabel="half-width of the interval", xticks=range(1, len(wide) + 1), ylim=(0, None))
figure.tight_layout()
