"""What failed in hooks: counted in a file of the home, so that `modelsel watch status` can say it of processes that have ended.

A hook that fails lets the program go on; what it would have told is not on record. Kept are the time, the program, and the kind
and place of the error, and no word of what was said: that may hold data.
"""

import json
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from modelsel.guard.face import Home

FILE = "watch_failures.jsonl"
MOST = 100_000  # bytes of the file; from then on it is counted no further


def program() -> str:
    """The program that is running, as the ledger names it: its file, or where it was typed."""
    path = sys.argv[0] if sys.argv else ""
    return Path(path).name if path and path not in ("-c", "-m") else "interactive"


def note_failure(home: Home, by: str, error: Exception) -> None:
    """Write down that a hook failed in a program."""
    path = home.folder / FILE
    if path.exists() and path.stat().st_size > MOST:
        return
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else ""
    line = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "program": by, "error": type(error).__name__, "place": place}
    home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def failures(home: Home) -> list[dict[str, str]]:
    """What failed, the oldest first."""
    try:
        lines = (home.folder / FILE).read_text("utf-8").splitlines()
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
