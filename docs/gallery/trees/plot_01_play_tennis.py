"""
Fourteen days of tennis
=======================

Quinlan's (1986) table: which day is one to play? ``experiment=play_tennis`` repeats the textbook: the gain of
every feature at each node, the tree, and the concept of each class.
"""

import modelsel

# %%
outcome = modelsel.run("experiment=play_tennis", tracking="off")
print(outcome.export("rules"))

# %%
# The report has the gains of every feature at every node: .246 bits for the outlook, .151 for humidity, .048 for
# wind at the root. This is the tree that ID3 grows. No rows are sealed: fourteen cannot spare a test set.
outcome.plot.tree().save("tennis.svg")
