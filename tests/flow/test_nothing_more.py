"""What a run leaves behind says of its sealed labels what was released and no more: all files and all output are searched."""

import json
import math
import re
import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.api.final_test import reseal
from modelsel.core.spec import make
from modelsel.core.types import Outputs, open_labels
from modelsel.record.folder import RunFolder
from modelsel.record.refit import ready
from modelsel.runner.run import QUIET

STUDY = ("run", "dataset=breast_cancer", "space=[naive_bayes,majority]", "scheme.folds=3", "show=[overfitting]")
MEASURES = ("balanced_error", "auc", "brier", "log_loss", "kappa", "mcc", "f1")
REDUCED = (
    ("guard.resolution=0.05",),
    pytest.param(("guard.release=passfail", "guard.target=0.2"), marks=pytest.mark.slow),
    pytest.param(("guard.release=grid", "guard.resolution=0.05"), marks=pytest.mark.slow),
    pytest.param(("guard=ladder", "guard.resolution=0.05"), marks=pytest.mark.slow),
    pytest.param(("guard=thresholdout",), marks=pytest.mark.slow),
)


class Sealed:
    """What only the labels say, computed beside the gate from the recorded model."""

    def __init__(self, folder: RunFolder) -> None:
        sealing = reseal(folder)[1]
        model = ready(folder, QUIET.say, sealing.development)
        table = model.prepared(sealing.sealed)
        self.labels = open_labels(sealing.sealed)[1]
        said, scores = model.model.predict(table), model.model.scores(table)
        self.wrong = said != self.labels
        self.n, self.errors = len(self.labels), int(self.wrong.sum())
        values = [
            float(make("measure", kind).score(self.labels, Outputs(said[None], scores[None]), None, 2)[0]) for kind in MEASURES
        ]
        by_class = [float(self.wrong[self.labels == label].mean()) for label in (0, 1)]
        of_said = [float(self.wrong[said == label].mean()) for label in (0, 1)]
        self.others = [value for value in (*values, *by_class, *of_said) if value not in (0.0, 1.0)]


def everything(*roots: Path) -> Iterator[tuple[str, bytes]]:
    """All files, archives of arrays as the arrays themselves."""
    for path in (path for root in roots for path in root.rglob("*") if path.is_file()):
        raw = path.read_bytes()
        yield str(path), raw
        if path.suffix == ".npz":
            with np.load(BytesIO(raw), allow_pickle=False) as archive:
                yield from ((f"{path}:{name}", archive[name].tobytes()) for name in archive.files)


FOR_PEOPLE = (".html", ".csv", ".yaml", ".log", "output")  # where numbers are rounded; elsewhere they stand in full


def rounded(number: float) -> re.Pattern[bytes]:
    """A number as people read it: four or five digits, and no further one."""
    return re.compile("|".join(rf"\.{f'{number:.{digits}f}'.partition('.')[2]}(?!\d)" for digits in (4, 5)).encode())


def packed(numbers: list[float]) -> list[bytes]:
    """Numbers in full, as text of six digits or more and as the bytes of floats (of fractions like 1/8 most are nought)."""
    told = [number for number in numbers if (number * 1024) % 1]
    return [f"{number:.7f}"[:-1].lstrip("0").encode() for number in numbers] + [
        struct.pack(kind, number) for number in told for kind in ("<d", "<f")
    ]


def rows(labels: Any) -> list[bytes]:
    """A row-level vector in the forms in which it could be kept."""
    texts = [
        ",".join(map(str, labels.astype(int))),
        ", ".join(map(str, labels.astype(int))),
        "\n".join(map(str, labels.astype(int))),
    ]
    return [*(labels.astype(kind).tobytes() for kind in ("i1", "<i4", "<i8", "<f4", "<f8")), *(text.encode() for text in texts)]


def found(numbers: list[float], others: list[bytes], output: str) -> list[str]:
    """Where any of them is; rounded ones are looked for where people read: among timings they would occur by chance."""
    places = [("output", output.encode()), *everything(Path("runs"), Path.cwd().parent / "home")]
    full = [f"{one!r} in {name}" for name, raw in places for one in (*others, *packed(numbers)) if one in raw]
    shown = [(name, raw) for name, raw in places if name.endswith(FOR_PEOPLE)]
    return [*full, *(f"{number} in {name}" for name, raw in shown for number in numbers if rounded(number).search(raw))]


@pytest.mark.parametrize("tracking", ["tracking=off", pytest.param("tracking=sqlite", marks=pytest.mark.slow)])
def test_an_exact_count_is_all_that_is_left_of_the_labels(modelsel: Any, tracking: str) -> None:
    done = modelsel(*STUDY, tracking)
    assert done.code == 0, done.err
    sealed = Sealed(RunFolder.open("latest"))
    assert done.outcome.test.errors == sealed.errors  # the search knows what it looks for
    audit = modelsel("audit", "--json", "--html", "runs/audit.html")
    secrets = [*rows(sealed.labels), *rows(sealed.wrong)]
    assert found(sealed.others, secrets, done.out + done.err + audit.out + audit.err) == []


@pytest.mark.slow
@pytest.mark.parametrize("release", REDUCED, ids=" ".join)
def test_a_reduced_answer_leaves_the_exact_one_nowhere(modelsel: Any, release: tuple[str, ...]) -> None:
    done = modelsel(*STUDY, *release)
    assert done.code == 0, done.err
    sealed = Sealed(RunFolder.open("latest"))
    exact, shown = sealed.errors / sealed.n, done.outcome.test
    assert shown.errors is None
    assert shown.score is None or not math.isclose(shown.score, exact, abs_tol=1e-4)
    audit = modelsel("audit", "--json", "--html", "runs/audit.html")
    counts = (
        f"{sealed.errors}/{sealed.n}",
        f"{sealed.errors} of {sealed.n}",
        f'"errors":{sealed.errors},',
        f'"errors": {sealed.errors},',
    )
    secrets = [*rows(sealed.labels), *rows(sealed.wrong), *(text.encode() for text in counts)]
    assert found([exact, *sealed.others], secrets, done.out + done.err + audit.out + audit.err) == []


@pytest.mark.slow
def test_the_search_finds_what_is_there(modelsel: Any) -> None:
    assert modelsel(*STUDY).code == 0
    folder = RunFolder.open("latest")
    sealed = Sealed(folder)
    (folder.path / "leak.json").write_text(json.dumps({"recall": sealed.others[0]}))
    np.savez_compressed(folder.path / "leak.npz", wrong=sealed.wrong)
    (folder.path / "leak.html").write_text(f"recall {sealed.others[0]:.4f}")
    places = "".join(found(sealed.others, rows(sealed.wrong), f"{sealed.others[1]:.5f}"))
    assert all(place in places for place in ("leak.json", "leak.npz", "leak.html", "output"))
