"""A record that was edited is not believed, and one that was lost is made again from the journal."""

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.stored import sum_of
from modelsel.record import folder
from modelsel.record.folder import RunFolder
from modelsel.reporting.verdict import verdict
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
        assert (reported.code, "not one of the candidates" in reported.err) == (2, True)
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


def _places(found: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key of a document, and of the first item of each of its lists."""
    for key, one in found.items() if isinstance(found, dict) else enumerate(found[:1]):
        yield from ((*place, key),) if isinstance(found, dict) else ()
        if isinstance(one, dict | list) and key not in ("files", "parameters", "measures"):
            yield from _places(one, (*place, key))


def _refusal(run: Path) -> str:
    """The code of the error that a run's verdict is; empty where it can be shown."""
    try:
        verdict(RunFolder(run))
    except ConfigurationError as error:
        return error.code
    return ""


def test_a_summary_that_lacks_a_key_is_damaged_wherever_that_is(world: Path) -> None:
    """Or has nothing for it: what is not refused is what earlier versions did not write, or may be empty, and can be shown."""
    whole = json.loads(_study(world).read_text())
    refused: dict[bool, set[str]] = {True: set(), False: set()}
    for *way, key in _places(whole):
        for null in (True, False):
            said = json.loads(json.dumps(whole))
            inner = reduce(lambda found, one: found[one], way, said)
            if null:
                inner[key] = None
            else:
                del inner[key]
            _study(world).write_text(json.dumps(said))
            if code := _refusal(_study(world).parent):
                assert code == "MSEL-612", (way, key)
                refused[null].add(".".join(map(str, (*way, key))))
    needed = {"winner.cv", "winner.cv.mean", "winner.id", "candidates.skipped", "task.name", "floor.0.learner", "test.price"}
    assert needed <= refused[False]
    assert needed <= refused[True]


@pytest.mark.parametrize("key", ["winner.id", "winner.cv.mean", "candidates.skipped"])
@pytest.mark.parametrize("command", ["report shown", "audit shown", "compare shown", "dossier shown --as model-card"])
def test_a_key_that_is_gone_is_said_by_all_who_read_it(world: Path, ask: Callable[..., Said], key: str, command: str) -> None:
    said = json.loads(_study(world).read_text())
    *way, last = key.split(".")
    del reduce(lambda found, one: found[one], way, said)[last]
    _study(world).write_text(json.dumps(said))
    done = ask(*command.split())
    assert (done.code, f"study.json is damaged ({key} is missing)" in done.err) == (2, True), done.err


FORGED: dict[str, Callable[[Any], Any]] = {
    "null": lambda old: None, "text": lambda old: "x\0<b>", "list": lambda old: [], "mapping": lambda old: {},
    "number": lambda old: -7, "huge": lambda old: 10**400 if isinstance(old, int) else 1e308,
    "nested": lambda old: [[[{"a": [1]}]]], "shorter": lambda old: old[1:] if isinstance(old, list | str) else None,
}  # fmt: skip
READERS = (
    "report shown", "audit shown --json", "compare shown closed", "dossier shown --as model-card", "certify shown -o new.cert",
    "export shown --to csv -o tables", "export shown --to json", "test shown", "predict shown t.csv -o new.csv",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["study.json", "details.json", "model/data/model.json"])
def test_a_document_that_was_forged_with_its_sum_is_no_internal_error(
    world: Path, ask: Callable[..., Said], name: str, seed: int
) -> None:
    """At every kind of place, one value is dropped or another one stands there, and the sums are made to fit."""
    draw, study, path = random.Random(f"{name} {seed}"), _study(world), _study(world).parent / name
    whole, summary = json.loads(path.read_text()), json.loads(study.read_text())
    sums = path.with_name("SHA256SUMS").read_text().splitlines() if name.startswith("model/") else []
    for *way, key in draw.sample(list(_places(whole)), 20):
        said = json.loads(json.dumps(whole))
        inner = reduce(lambda found, one: found[one], way, said)
        forge = draw.choice([None, *FORGED.values()])
        old = inner.pop(key)
        if forge is not None:
            inner[key] = forge(old)
        text = json.dumps(said)
        path.write_text(text)
        if sums:
            kept = [line for line in sums if not line.endswith(path.name)]
            path.with_name("SHA256SUMS").write_text("\n".join([*kept, f"{sum_of(text.encode())}  {path.name}", ""]))
        elif path != study:
            study.write_text(json.dumps({**summary, "files": {**summary["files"], name: sum_of(text.encode())}}))
        for command in draw.sample(READERS, 3):
            done = ask(*command.split())
            assert done.code in (0, 2, 3, 4, 5, 6, 7), (way, key, command, done.err)


def test_arrays_that_unpack_to_more_than_the_memory_are_not_unpacked(
    world: Path, ask: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside them a header that promises more than any machine has."""
    path, study = _study(world).with_name("losses.npz"), json.loads(_study(world).read_text())
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 50, 4)})
    for content, most in ((b"\0" * (64 << 20), 16 << 20), (header.getvalue(), 1 << 40)):
        monkeypatch.setattr(folder, "memory", lambda most=most: most)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("losses", "fold", "row", "candidate", "truth", "predicted", "predicted_candidate"):
                archive.writestr(f"{name}.npy", content)
        study["files"]["losses.npz"] = sum_of(path.read_bytes())
        _study(world).write_text(json.dumps(study))
        done = ask("export", "shown", "--to", "csv", "-o", "tables")
        assert (done.code, "losses.npz" in done.err) == (2, True), done.err
        assert done.seconds < 5
