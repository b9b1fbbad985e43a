"""
A peek, caught
==============

Somebody does not like the test score, draws another split and tests again. The new test rows are not new: some
were tested before, and most helped to choose.
"""

import matplotlib.pyplot as plt

import modelsel

# %%
given = {"space": "trees", "tracking": "off"}
first = modelsel.run("dataset=wine", **given, name="first")
second = modelsel.run("dataset=wine", "split.seed=1", **given, name="second")
for outcome in (first, second):
    print(f"{outcome.study}: look {outcome.test.look}, error {outcome.test.score:.4f}, flags {', '.join(outcome.test.flags)}")

# %%
# What the codes mean stands on the page of findings; ``modelsel.explain`` prints it.
print(modelsel.explain("G021"))

# %%
# The first look has an interval. The second has none: its rows were used before.
low, high = first.test.interval
figure, axes = plt.subplots(figsize=(6, 2.2))
axes.errorbar([first.test.score], ["first"], xerr=[[first.test.score - low], [high - first.test.score]], fmt="o", capsize=4)
axes.plot([second.test.score], ["second"], "x", markersize=9)
axes.set(xlabel="test error", xlim=(0, 0.5))
axes.margins(y=0.5)
axes.invert_yaxis()
figure.tight_layout()

# %%
# In a test suite the same is one line, which fails.
try:
    modelsel.check(second, fail_on="high")
except modelsel.ModelselError as error:
    print(str(error).splitlines()[0])
