"""
Five ways in which folds leak
=============================

In each of these tables the labels are drawn by lot, so that no model can be right in more than half of the cases on
new rows. A scheme that does not fit the table promises more, or less. What each leak is: :doc:`/schemes`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import modelsel

rng = np.random.default_rng(0)
found = []


def error(frame, scheme, **settings):
    """The cross-validated error of one learner under a scheme."""
    words = {"space": {"nearest": {"learner": "knn", "k": 1}}, "split": "none", "tracking": "off", **settings}
    outcome = modelsel.run(frame, target="y", scheme=scheme, name=f"leak_{len(found)}", **words)
    return outcome.winner["cv"]["mean"]


def table(values):
    """Columns of numbers with names."""
    return pd.DataFrame(values).add_prefix("x")


# %%
# **Columns chosen before.** 200 rows, 2,000 columns of noise. Once the ten columns that differ most between the classes
# are picked on all rows, once inside each fold.
lot = rng.choice(["a", "b"], 200)
noise = table(rng.normal(size=(200, 2000))).assign(y=lot)
means = noise.groupby("y").mean().diff().iloc[1].abs()
best = noise[[*means.nlargest(10).index, "y"]]
inside = {"bayes": {"learner": "naive_bayes", "preparer": {"kind": "select_top", "n": 10}}}
before = error(best, "stratified_kfold", space="naive_bayes")
found.append(("columns chosen before", before, error(noise, "stratified_kfold", space=inside)))

# %%
# **Groups across folds.** 100 patients with ten visits each: visits of a patient are alike, and have one label.
patient = np.repeat(np.arange(100), 10)
visits = table(rng.normal(size=(100, 5))[patient] + rng.normal(scale=0.3, size=(1000, 5)))
visits = visits.assign(y=rng.choice(["a", "b"], 100)[patient])
across = error(visits, "stratified_kfold")
grouped = error(visits.assign(patient=patient), "stratified_group_kfold", dataset={"groups": "patient"})
found.append(("groups across folds", across, grouped))

# %%
# **Time.** Labels stay the same for some twenty days, and the columns drift slowly, each on its own.
changes = rng.random(3000) < 0.05
weather = table(rng.normal(size=(3000, 3)).cumsum(axis=0)).assign(y=np.array(["a", "b"])[changes.cumsum() % 2])
shuffled = error(weather, "stratified_kfold")
ordered = error(weather.assign(day=range(3000)), {"kind": "time_split", "gap": 60}, dataset={"time": "day"})
found.append(("time out of order", shuffled, ordered))

# %%
# **Copies.** Every row stands in the table twice.
once = table(rng.normal(size=(300, 5))).assign(y=rng.choice(["a", "b"], 300))
twice = pd.concat([once, once])
apart = error(twice, "stratified_kfold")
together = error(twice, {"kind": "stratified_kfold", "keep_duplicates_together": True})
found.append(("copies of rows", apart, together))

# %%
# **One row left out.** The majority class of 30 and 30 rows, less one, is always the other class: every answer is wrong.
even = table(rng.normal(size=(60, 2))).assign(y=["a", "b"] * 30)
found.append(("one row left out", *(error(even, each, space="majority") for each in ("leave_one_out", "stratified_kfold"))))

# %%
# What the first scheme says, what the second one says, and the truth: 0.5.
said = pd.DataFrame(found, columns=["leak", "leaking", "mended"]).set_index("leak")
print(said.round(3).to_string())

figure, axes = plt.subplots(figsize=(6.4, 3.4))
said.plot.barh(ax=axes, ylabel="")
axes.axvline(0.5, color="grey", linestyle="dashed", label="truth")
axes.set(xlabel="error")
axes.invert_yaxis()
axes.legend()
figure.tight_layout()
