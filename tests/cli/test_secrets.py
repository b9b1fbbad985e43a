"""A password, wherever it comes from, is in no file, on no stream and in no message (P18)."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")  # files that nobody closed
SECRET = "canary-Pa55word"
DEAD = f"http://me:{SECRET}@127.0.0.1:9"
LEDGER = f"postgresql://me:{SECRET}@127.0.0.1:9/ledger"


def files_with_it(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "words",
    [
        ("tracking=server", f"tracking.uri={DEAD}"),
        pytest.param(("tracking=server", "tracking.uri_env=MODELSEL_TEST_ADDRESS"), marks=pytest.mark.slow),
        pytest.param(("tracking=server", "tracking.uri=${oc.env:MODELSEL_TEST_ADDRESS}"), marks=pytest.mark.slow),
        pytest.param(("-m", "seed=1,2", "final_test=false", "tracking=server", f"tracking.uri={DEAD}"), marks=pytest.mark.slow),
        ("tracking=off", f"guard.ledger={LEDGER}"),
        ("tracking=off", "name=${oc.env:MODELSEL_TEST_ADDRESS}"),
        ("tracking=off", f"dataset.path={DEAD}"),
        ("tracking=off", f"seed={DEAD}"),
        ("tracking=off", f"resume={DEAD}"),
    ],
    ids=["typed", "variable", "reference", "sweep", "ledger", "name", "path", "seed", "resume"],
)  # fmt: skip
def test_a_password_goes_nowhere(
    modelsel: Callable[..., object],
    folder: Path,
    small: tuple[str, ...],
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MODELSEL_TEST_ADDRESS", DEAD)
    base = [word for word in small if not word.startswith("tracking")]
    ran = modelsel("run", *base, *words)
    assert ran.code == (0 if "tracking=server" in words else 2 if len(words) == 2 and "ledger" not in words[1] else 6)
    assert SECRET not in ran.out + ran.err
    assert files_with_it(folder.parent) == []


def test_a_typed_password_is_kept_as_a_reference_that_can_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel.config.build import reopen
    from modelsel.config.compose import compose

    monkeypatch.delenv("MODELSEL_TRACKING_URI", raising=False)
    config = compose(["dataset=iris", "space=majority", f"tracking.uri={DEAD}"])
    assert config.tracking.uri == DEAD
    assert config.resolved["tracking"]["uri"] == "${oc.env:MODELSEL_TRACKING_URI}"
    assert SECRET not in repr(config.tracking)
    assert reopen(config.resolved, "tracking").tracking.uri == DEAD
    monkeypatch.delenv("MODELSEL_TRACKING_URI")


def test_an_internal_error_hides_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    from modelsel.cli.errors import print_error

    assert print_error(ValueError(f"cannot reach {DEAD}")) == 1
    err = capsys.readouterr().err
    written = Path(err.strip().rpartition("traceback in ")[2])
    assert SECRET not in err + written.read_text()
    written.unlink()
