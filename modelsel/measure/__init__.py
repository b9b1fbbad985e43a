"""Its parts lie in these packages: `counts` reads predicted classes, `scores` class scores."""

PARTS = ("", "counts", "scores")
