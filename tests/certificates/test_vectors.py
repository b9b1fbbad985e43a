"""Every conformance vector gets the answer that its index says, from our verifier and from one written from the page."""

import copy
import json
import random
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy.special import betaincinv

from modelsel.certificates.verifier import verify
from tests.certificates import drafts, vectors

Made = tuple[dict[str, drafts.Files], drafts.Facts, dict[str, str]]
INDEX: drafts.Facts = json.loads((vectors.HERE / "index.json").read_text("utf-8"))
SECOND = Path(__file__).parents[2] / "examples" / "verify_certificate.mjs"
GOLDEN = Path(__file__).parents[1] / "figures" / "golden" / "record.zip"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the second verifier is not run")


@pytest.fixture(scope="module")
def made() -> Made:
    return vectors.build()


@pytest.mark.parametrize("vector", INDEX["vectors"], ids=lambda vector: vector["file"] + vector.get("key", "")[:4])
def test_the_verifier_answers_as_the_index_says(vector: dict[str, str], made: Made) -> None:
    verdict = verify(vectors.HERE / vector["file"], vector.get("key", INDEX["key"]))
    assert (verdict.code == 0) == (vector["answer"] == "holds"), verdict.text()
    said = "which was expected" if "key" in vector else made[2].get(vector["file"].removesuffix(".zip"), "$^")
    assert verdict.code == 0 or any(re.search(said, fault) for fault in verdict.faults), verdict.text()


def test_the_vectors_are_those_that_the_script_writes(made: Made) -> None:
    assert (vectors.HERE / "index.json").read_text("utf-8") == vectors.written(made[1])
    assert {path.stem for path in vectors.HERE.glob("*.zip")} == made[0].keys()
    for name, files in made[0].items():
        with zipfile.ZipFile(vectors.HERE / f"{name}.zip") as archive:
            assert {one: archive.read(one) for one in archive.namelist()} == files, name


def javascript(folder: Path, text: str) -> Any:
    """What a module says that has the second verifier."""
    module = folder / "ask.mjs"
    module.write_text(
        f'import fs from "node:fs";\nimport {{ lower, upper, verify }} from "{SECOND.as_uri()}";\n{text}', "utf-8"
    )
    assert NODE is not None
    return json.loads(subprocess.run([NODE, str(module)], capture_output=True, check=True, timeout=300).stdout)


def second(folder: Path, files: dict[str, tuple[Path, str | None]]) -> dict[str, list[int]]:
    """The statements that do not hold of each file, by the second verifier."""
    asked = json.dumps({name: [str(path), key] for name, (path, key) in files.items()})
    ask = f"const asked = {asked};\nconst faults = ([path, key]) => verify(path, key).faults.map((one) => one.statement);\n"
    said = "Object.fromEntries(Object.entries(asked).map(([name, one]) => [name, faults(one)]))"
    return dict(javascript(folder, f"{ask}console.log(JSON.stringify({said}));\n"))


@needs_node
@pytest.mark.slow
def test_the_second_verifier_answers_as_the_index_says(tmp_path: Path) -> None:
    files = {
        str(number): (vectors.HERE / one["file"], one.get("key", INDEX["key"])) for number, one in enumerate(INDEX["vectors"])
    }
    found = second(tmp_path, files)
    for number, one in enumerate(INDEX["vectors"]):
        faults = found[str(number)]
        assert (not faults) if one["answer"] == "holds" else (one["statement"] in faults), (one, faults)


@needs_node
@pytest.mark.slow
def test_the_second_verifier_has_exit_codes(tmp_path: Path) -> None:
    for file, code, said in (("valid.zip", 0, b"all "), ("look-low.zip", 5, b"FAULT    4 "), ("none.zip", 5, b"FAULT    1 ")):
        ran = subprocess.run([str(NODE), str(SECOND), str(vectors.HERE / file), "--key", INDEX["key"]], capture_output=True)
        assert (ran.returncode, said in ran.stdout) == (code, True), ran
    assert subprocess.run([str(NODE), str(SECOND)], capture_output=True).returncode == 2


@needs_node
@pytest.mark.slow
def test_the_second_verifier_reads_what_was_certified(tmp_path: Path) -> None:
    with zipfile.ZipFile(GOLDEN) as archive:
        names = [name for name in archive.namelist() if name.endswith(".zip")]
        archive.extractall(tmp_path, names)
    assert len(names) > 5
    assert second(tmp_path, {name: (tmp_path / name, None) for name in names}) == {name: [] for name in names}


@needs_node
@pytest.mark.slow
def test_the_second_verifiers_limits_are_scipys(tmp_path: Path) -> None:
    rng = random.Random(0)
    cases = [(rng.randint(1, n - 1), n, rng.uniform(0.1, 300)) for n in (2, 3, 10, 200, 5000, 10**6, 10**9) for _ in range(8)]
    found = javascript(
        tmp_path, f"console.log(JSON.stringify({json.dumps(cases)}.map(([k, n, L]) => [lower(k, n, L), upper(k, n, L)])));"
    )
    for (k, n, nats), limits in zip(cases, found, strict=True):
        level = 2.718281828459045**-nats
        wanted = [float(betaincinv(k, n - k + 1, level)), 1 - float(betaincinv(n - k, k + 1, level))]
        assert limits == pytest.approx(wanted, abs=1e-6), (k, n, nats)


def leaves(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of numbers and words in nested facts."""
    for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ():
        if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield (*path, key)
        yield from leaves(value, (*path, key))


def changed_by(seed: int) -> drafts.Draft | None:
    """A certificate with one value changed by rule, and where the seed is odd all that follows; None where nothing can."""
    rng = random.Random(seed)
    draft = drafts.GOOD[rng.choice([*drafts.GOOD])][0]()
    facts = rng.choice([*(one for _, _, one in draft.entries), *draft.claimed, draft.about])
    *path, last = rng.choice([*leaves(facts)])
    for key in path:
        facts = facts[key]
    old = copy.copy(facts[last])
    if isinstance(old, str):
        facts[last] = rng.choice(["", "x", "error", "full", "predicted", "count", "value", drafts.ROWS])
    else:
        facts[last] = rng.choice(
            [old + 1, old - 1, old * 2, 0, 1, 10**9] + ([] if isinstance(old, int) else [old / 2, 0.999 * old])
        )
    try:
        return draft.settle() if seed % 2 else draft
    except (ArithmeticError, LookupError, StopIteration, TypeError, ValueError):
        return None


@needs_node
@pytest.mark.slow
def test_two_verifiers_agree_on_what_was_changed_by_rule(tmp_path: Path) -> None:
    ours = dict[str, bool]()
    files = dict[str, tuple[Path, str | None]]()
    for seed in range(1000):
        draft = changed_by(seed)
        if draft is not None:
            files[str(seed)] = (tmp_path / f"{seed}.zip", INDEX["key"])
            files[str(seed)][0].write_bytes(vectors.packed(draft.files()))
            ours[str(seed)] = verify(*files[str(seed)]).code == 0
    theirs = second(tmp_path, files)
    assert {name for name in ours if ours[name] != (not theirs[name])} == set()
    assert min(sum(ours.values()), len(ours) - sum(ours.values())) > 200  # and many of either kind
