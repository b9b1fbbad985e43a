"""Write what Weka 3.6.14 says of the tables of `tests.learner.m5p_tables`: `python -m tests.figures.m5p.make`."""

import json
import tempfile
from pathlib import Path

from modelsel.core.types import positions
from tests.learner.m5p_tables import SETTINGS, made, options, weka

HERE = Path(__file__).parent


def main() -> None:
    found = {}
    for name in ("mixed", "whole", "collinear"):
        task = made(name)
        jobs = [(task, positions(task)[::2] if half else positions(task), learner) for learner in SETTINGS for half in (0, 1)]
        with tempfile.TemporaryDirectory() as folder:
            said = weka(Path(folder), jobs)
        found[name] = [
            {"options": options(learner), "rows": "every second" if len(rows) < len(task) else "all", "said": own.tolist()}
            for (_, rows, learner), own in zip(jobs, said, strict=True)
        ]
    told = {"by": "Weka 3.6.14 (Debian 3.6.14-3), weka.classifiers.trees.M5P, OpenJDK", "tables": found}
    (HERE / "weka.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
