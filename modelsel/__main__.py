"""`python -m modelsel <command> …`."""

import sys

from modelsel.cli.dispatch import main

if __name__ == "__main__":
    sys.exit(main())
