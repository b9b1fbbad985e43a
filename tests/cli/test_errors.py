"""What people are told when something is wrong, word for word: `golden/errors.txt` is what a terminal would show.

`MODELSEL_GOLDEN=write pytest tests/cli/test_errors.py` writes it anew; read the difference before it is committed.
"""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from modelsel.core.system import container

YAML = {
    "did not find expected ',' or ']'": "expected ',' or ']', but got '<stream end>'"
}  # OmegaConf from 2.4 parses with libyaml
GOLDEN = Path(__file__).parent / "golden" / "errors.txt"


def transcript(modelsel: Callable[..., object], lines: list[str], folder: Path) -> str:
    said = []
    for line in lines:
        ran = modelsel(*shlex.split(line)[1:])
        assert ran.out == ""
        said.append(f"$ {line}\n{ran.err}# exit {ran.code}\n".replace(str(folder), "."))
    return "\n".join(said)


def test_errors_read_as_they_were_written(
    modelsel: Callable[..., object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "is_lost_afterwards", lambda _: False)  # a container says more, wherever these tests run
    (folder / "loans.csv").write_text("age,income,default\n" + "".join(f"{i},{i * 7},{'yn'[i % 3 == 0]}\n" for i in range(30)))
    (folder / "one.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    (folder / "conf" / "scheme").mkdir(parents=True)
    (folder / "conf" / "scheme" / "mine.yaml").write_text("kind: kfold\nfolds: [3\n")
    lines = [line[2:] for line in GOLDEN.read_text().splitlines() if line.startswith("$ ")]
    assert len(lines) >= 20
    found = transcript(modelsel, lines, folder)
    for compiled, plain in YAML.items():
        found = found.replace(compiled, plain)
    if os.environ.get("MODELSEL_GOLDEN") == "write":
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text()
