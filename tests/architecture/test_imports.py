"""What a study stands on is imported when it is needed: these take longer to import than a small study computes."""

import subprocess
import sys

HEAVY = ("scipy.stats", "sklearn", "mlflow")


def test_importing_a_study_imports_nothing_that_only_some_studies_need() -> None:
    told = f"import sys, modelsel.study.perform, modelsel.cli.run; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
