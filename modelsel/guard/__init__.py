"""Its parts lie in these packages."""

PARTS = ("policy",)
