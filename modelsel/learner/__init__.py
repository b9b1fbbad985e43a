"""Its parts lie in these packages: `adjusted` has learners around a learner."""

PARTS = ("", "adjusted")
