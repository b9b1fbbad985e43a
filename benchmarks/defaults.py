"""What somebody gets who declares nothing: `python -m benchmarks.defaults` (everyday/defaults.py)."""

import sys

from benchmarks.everyday.defaults import main

if __name__ == "__main__":
    sys.exit(main())
