"""Its parts lie in these packages."""

PARTS = ("", "setup", "exams")
