"""
An exam for anybody's predictions
=================================

The examiner keeps the labels. Askers get rows without labels, hand in predictions of any tool, and are told
what the terms allow.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import modelsel

# %%
# The examiner makes the exam from a table.
load_breast_cancer(as_frame=True).frame.to_csv("tumours.csv", index=False)
exam = modelsel.create_exam("tumours.csv", "exam", "target", "split.test=0.5", looks=5, release="full")
print(f"{len(exam.development)} rows with labels, {len(exam.questions)} questions without")

# %%
# Two askers, each with a model of scikit-learn's.
known, asked = exam.development, exam.questions
X, y = known.drop(columns=["token", "target"]), known["target"]
models = {
    "ann": make_pipeline(StandardScaler(), LogisticRegression()),
    "bob": DecisionTreeClassifier(max_depth=2, random_state=0),
}
told = {}
for name, model in models.items():
    predicted = model.fit(X, y).predict(asked.drop(columns="token"))
    told[name] = exam.answer(asked[["token"]].assign(prediction=predicted), name=name)
    print(f"{name}: {told[name]['said']}; price {told[name]['price']:.2f} nats")

# %%
# The board as everybody sees it. Both intervals hold, whatever was done with the first answer before the second.
print(exam.board()[["number", "asker", "said"]].to_string(index=False))
figure, axes = plt.subplots(figsize=(6, 2.2))
for name, answer in told.items():
    low, high = answer["interval"]
    axes.errorbar([answer["score"]], [name], xerr=[[answer["score"] - low], [high - answer["score"]]], fmt="o", capsize=4)
axes.set(xlabel="error on the questions", xlim=(0, 0.3))
axes.margins(y=0.5)
figure.tight_layout()
