"""
The one-standard-error rule
===========================

Candidates within one standard error of the best are as good as it, as far as the folds can tell. The rule takes
the simplest of them (Breiman, Friedman, Olshen & Stone 1984).
"""

import modelsel

# %%
# One space, two rules. The fits are the same; only the choice differs. ``split="none"`` seals no test rows.
space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3, 4, 5, 6, 8, 10]}}}
studies = {
    rule: modelsel.run("dataset=breast_cancer", space=space, rule=rule, split="none", tracking="off", name=rule)
    for rule in ("best", "one_standard_error")
}
for rule, outcome in studies.items():
    winner = outcome.winner
    print(f"{rule:<20} depth {winner['parameters']['max_depth']}, {winner['complexity']['value']:.1f} leaves,", end=" ")
    print(f"error {winner['cv']['mean']:.4f} ± {winner['cv']['se']:.4f}")

# %%
# The error against the depth. Deeper trees cost leaves, and the folds cannot tell that they are better.
studies["one_standard_error"].plot.curve("max_depth").save("by_depth.svg")
