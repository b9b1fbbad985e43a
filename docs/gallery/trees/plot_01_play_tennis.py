"""
Fourteen days of tennis
=======================

Quinlan's (1986) table: which day is one to play? ``experiment=play_tennis`` repeats the textbook.
"""

import modelsel

# %%
outcome = modelsel.run("experiment=play_tennis", tracking="off")
print(outcome.export("rules"))

# %%
# This is the tree that ID3 grows: at the root the outlook gains .246 bits, humidity .151, wind .048 (in the sources
# ``python -m benchmarks.experiments play_tennis`` prints the gains of every node). No rows are sealed: fourteen cannot
# spare a test set.
outcome.plot.tree().save("tennis.svg")
