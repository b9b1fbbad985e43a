"""`python -m modelsel <command> …`."""

import sys

from modelsel.cli.dispatch import console

if __name__ == "__main__":
    sys.exit(console())
