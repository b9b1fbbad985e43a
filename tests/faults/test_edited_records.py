"""A record that was edited is not believed, and one that was lost is made again from the journal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.stored import sum_of
from tests.faults.conftest import Said
from tests.faults.damage import WAYS

EDITS: dict[str, Callable[[dict[str, Any]], None]] = {
    "score": lambda said: said["test"].update(score=0.0),
    "errors": lambda said: said["test"].update(errors=0),
    "interval": lambda said: said["test"].update(interval=[0.0, 0.01]),
    "mean": lambda said: said["winner"]["cv"].update(mean=0.001),
    "folds": lambda said: said["winner"]["cv"].update(folds=[0.0, 0.0, 0.0]),
    "winner": lambda said: said["winner"].update(id="0" * 16),
}


def _study(world: Path) -> Path:
    (path,) = world.glob("runs/shown/*/study.json")
    return path


@pytest.mark.sampled(2)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_summary_is_said_by_all_who_read_it(world: Path, ask: Callable[..., Said], edit: str) -> None:
    said = json.loads(_study(world).read_text())
    EDITS[edit](said)
    _study(world).write_text(json.dumps(said))
    audited = ask("audit", "shown", "--fail-on", "high")
    assert (audited.code, "R003" in audited.out) == (4, True)
    reported = ask("report", "shown")
    if edit == "winner":
        assert (reported.code, "none of the candidates" in reported.err) == (2, True)
    else:
        assert (reported.code, "R003 (high)" in reported.err) == (0, True)
        assert "R003" in Path(reported.out.strip()).read_text()
    assert "R003 (high)" in ask("compare", "shown").err
    refused = ask("certify", "shown", "-o", "new.cert")
    assert (refused.code, "MSEL-954" in refused.err, Path("new.cert").exists()) == (4, True, False)


def test_a_whole_record_is_believed(world: Path, ask: Callable[..., Said]) -> None:
    assert ask("audit", "shown", "--fail-on", "high").code in (0, 4)
    for command in ("audit shown", "report shown", "compare shown"):
        said = ask(*command.split())
        assert "R003" not in said.out + said.err


@pytest.mark.parametrize("name", ["candidates.csv", "losses.npz"])
@pytest.mark.parametrize("way", [*WAYS][:3])
def test_a_lost_file_is_made_again_from_the_journal_to_the_byte(
    world: Path, ask: Callable[..., Said], name: str, way: str
) -> None:
    path = _study(world).with_name(name)
    whole = path.read_bytes()
    WAYS[way](path)
    damaged = path.read_bytes()
    said = ask("report", "shown")
    assert said.code == 0, said.err
    assert f"{name} was damaged or gone" in said.err
    assert path.read_bytes() == whole
    assert [kept.read_bytes() for kept in path.parent.glob(f"{path.stem}.damaged-*")] == [damaged]


def test_scores_that_were_edited_with_their_sum_are_not_those_of_the_summary(world: Path, ask: Callable[..., Said]) -> None:
    """The winner's row made better, and the sum in study.json with it."""
    path, said = _study(world), json.loads(_study(world).read_text())
    table = path.with_name("candidates.csv")
    better = table.read_text().replace(repr(said["winner"]["cv"]["mean"]), "0.0")
    table.write_text(better)
    said["files"]["candidates.csv"] = sum_of(better.encode())
    path.write_text(json.dumps(said))
    assert ask("audit", "shown", "--fail-on", "high").code == 4


def test_a_model_of_no_kind_is_refused(world: Path, ask: Callable[..., Said]) -> None:
    """The kind of a step, of the learner or of a column, with the sums made to fit."""
    model = _study(world).parent / "model" / "data"
    whole = json.loads((model / "model.json").read_text())
    for place in ("learner", "feature"):
        said = json.loads(json.dumps(whole))
        (said["learner"] if place == "learner" else said["features"][0])["kind"] = "nothing"
        text = json.dumps(said)
        sums = (model / "SHA256SUMS").read_text().splitlines()
        kept = [line for line in sums if not line.endswith("model.json")]
        (model / "model.json").write_text(text)
        (model / "SHA256SUMS").write_text("\n".join([*kept, f"{sum_of(text.encode())}  model.json"]) + "\n")
        refused = ask("predict", "shown", "t.csv", "-o", "new.csv")
        assert (refused.code, "model.json" in refused.err) == (3, True), place
