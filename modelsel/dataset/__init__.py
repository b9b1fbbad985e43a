"""Its parts lie in these packages."""

PARTS = ("", "formats", "bundled")
