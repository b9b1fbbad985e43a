"""Its parts lie in these packages."""

PARTS = ("", "cost_sensitive")
