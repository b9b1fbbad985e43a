"""Where the project stands, and the folder of data beside it, which only some machines have."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
