"""
A certificate of the test
=========================

A certificate lets somebody without the data recompute what a study claims: the number of looks before it, their
price, and the interval.
"""

import json
import zipfile

import matplotlib.pyplot as plt

import modelsel

# %%
outcome = modelsel.run("dataset=breast_cancer", space="trees", tracking="off", name="tumours")
place = modelsel.certify(outcome)
found = modelsel.verify(place)
print("holds:", *found["held"], sep="\n  ")

# %%
# And what no certificate can show, which it says as well.
print("cannot be told from it:", *found["unknown"], sep="\n  ")

# %%
# The claim, from the file alone.
with zipfile.ZipFile(place) as parts:
    (claim,) = json.loads(parts.read("certificate.json"))["claims"]
low, high = claim["interval"]
figure, axes = plt.subplots(figsize=(6, 1.9))
axes.errorbar(
    [claim["score"]], [f"look {claim['look']}"], xerr=[[claim["score"] - low], [high - claim["score"]]], fmt="o", capsize=4
)
axes.set(xlabel="error on the sealed test rows, certified interval", xlim=(0, 0.3))
figure.tight_layout()

# %%
# A certificate that somebody changed is found out.
with zipfile.ZipFile(place) as parts:
    contents = {name: parts.read(name) for name in parts.namelist()}
better = contents["certificate.json"].replace(f'"errors":{claim["errors"]}'.encode(), b'"errors":0')
with zipfile.ZipFile("forged.zip", "w") as parts:
    for name, content in (contents | {"certificate.json": better}).items():
        parts.writestr(name, content)
print(*modelsel.verify("forged.zip")["faults"], sep="\n")
