"""
Prediction sets
===============

Where a model is not sure, it can name several classes. With ``explanations.sets=true`` the models of the folds are
kept, and ``predict`` says for each new row the classes that cover the truth in the share of cases that is asked
for (CV+, Barber et al. 2021).
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import modelsel

# %%
# A small forest for handwritten digits, which is seldom sure; 600 rows to choose on, the others are new.
digits = load_digits(as_frame=True).frame
known, new = train_test_split(digits, train_size=600, random_state=0)
space = {"forest": {"learner": {"kind": "forest", "max_depth": 4}, "sweep": {"trees": [10, 40]}}}
outcome = modelsel.run(
    known, target="target", space=space, explanations={"sets": True}, scheme={"folds": 5}, split="none", tracking="off"
)

# %%
# How often the sets hold the truth, and how large they are.
truth = new["target"].astype(str)
rows = []
for share in (0.7, 0.8, 0.9, 0.95):
    sets = modelsel.predict(outcome, new.drop(columns="target"), sets=share)["set"].str.split("|")
    covered = [label in said for label, said in zip(truth, sets)]
    rows.append((share, sum(covered) / len(covered), sets.str.len().mean()))
found = pd.DataFrame(rows, columns=["asked", "covered", "classes in a set"])
print(found.round(3).to_string(index=False))

# %%
figure, axes = plt.subplots(figsize=(5, 3.2))
axes.plot([0.65, 1], [0.65, 1], color="grey", linestyle="dashed")
axes.plot(found["asked"], found["covered"], "o-")
for line in found.itertuples():
    axes.annotate(f"{line[3]:.1f} classes", (line.asked, line.covered), xytext=(-8, 8), textcoords="offset points", ha="right")
axes.set(xlabel="share asked for", ylabel="share of new rows covered")
figure.tight_layout()
