"""What a dishonest issuer signs, and files that were made to hurt who checks them: neither holds, and none hangs."""

import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import modelsel
from exam_tests.certification.test_certificate import members, packed, signed_again
from exam_tests.conftest import guess
from modelsel.certificates import verifier
from modelsel.ledger.home import Home
from modelsel_exam import board as boards
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]


@pytest.fixture
def files(exam: Make, tmp_path: Path) -> dict[str, bytes]:
    """The members of a good certificate: two answers, and the close."""
    made = exam(release="full")
    made.answer(guess(made), "ann")
    made.answer(guess(made, 2.0), "bob")
    boards.close(made)
    return members(modelsel.certify(made.folder, tmp_path / "certificate.zip"))


def forged(files: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
    """The statement changed and signed anew by the issuer himself."""
    facts = json.loads(files["certificate.json"])
    change(facts)
    return signed_again({**files, "certificate.json": json.dumps(facts).encode()}, Home.find())


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda f: f["claims"][1].update(look=1),
        lambda f: f["claims"][1].update(spent=0.0),
        lambda f: f["claims"][1].update(n=90_000),
        lambda f: f["claims"][1].update(price=0.1),
        lambda f: f["claims"][0].update(asker="carl"),
        lambda f: f["claims"][0].update(predictions_sha256="ab" * 32),
        lambda f: f["claims"][0].update(metric="auc"),
        lambda f: f["claims"][2]["answers"][0].update(interval=[0.2, 0.21]),
        lambda f: f.update(testset="ab" * 16),
        lambda f: f["about"]["terms"]["rows"].update(questions=90_000),
        lambda f: f["about"].update(terms_sha256="ab" * 32),
        lambda f: f.update(claims=[]),
    ],
)
def test_an_issuer_who_signs_a_changed_claim_is_found(
    files: dict[str, bytes], tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    assert verifier.verify(packed(tmp_path / "same.zip", forged(files, lambda _f: None))).faults == []
    assert verifier.verify(packed(tmp_path / "forged.zip", forged(files, change))).code == 5


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_card_with_other_numbers_than_the_claims_is_found(files: dict[str, bytes], tmp_path: Path, place: int) -> None:
    card, text = json.loads(files["card.cdx.json"]), files["README.md"].decode()
    metric = card["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"][0]
    shown = f"| {float(metric['value']):.6g} |"
    assert shown in text
    if place == 0:
        metric["confidenceInterval"]["upperBound"] = metric["confidenceInterval"]["lowerBound"]
    if place == 1:
        metric["value"] = "0.001"
    if place == 2:
        text = text.replace(shown, "| 0.001 |", 1)
    if place == 3:
        text = text.replace('"value": ', '"value": 0.5, "was": ', 1)
    changed = {**files, "card.cdx.json": json.dumps(card).encode(), "README.md": text.encode()}
    found = verifier.verify(packed(tmp_path / "card.zip", signed_again(changed, Home.find())))
    assert any("has the numbers of the claims" in fault for fault in found.faults)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("certificate.json", b"[]"), ("certificate.json", b"null"), ("certificate.json", b"[" * 100_000),
        ("certificate.json", b'{"format": NaN}'), ("certificate.json", b"9" * 10_000), ("certificate.json", b"\xff\xfe"),
        ("signature.json", b"[]"), ("signature.json", b'{"key": 1, "value": 2}'), ("signatures.json", b"[]"),
        ("signatures.json", b'{"x": []}'), ("chain.jsonl", b"[]\n"), ("chain.jsonl", b'{"replica": {}}\n'),
        ("chain.jsonl", b""),
        ("card.cdx.json", b"[]"), ("README.md", b"---"),
    ],
)  # fmt: skip
def test_a_hostile_member_is_a_fault_and_no_traceback(files: dict[str, bytes], tmp_path: Path, name: str, data: bytes) -> None:
    assert verifier.verify(packed(tmp_path / "hostile.zip", {**files, name: data})).code == 5


def test_names_that_stand_twice_are_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    """Two readers of one statement would otherwise find two scores in it, under one good signature."""
    statement = files["certificate.json"]
    twice = statement[:-1] + b',"name":"another"}'
    assert json.loads(twice)["name"] == "another"
    found = verifier.verify(packed(tmp_path / "twice.zip", {**files, "certificate.json": twice}))
    assert any("stands twice" in fault for fault in found.faults)


@pytest.mark.slow
def test_zips_that_are_odd_are_no_certificates(files: dict[str, bytes], tmp_path: Path) -> None:
    for number, kind in enumerate((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)):
        with zipfile.ZipFile(tmp_path / f"{number}.zip", "w", kind) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        assert verifier.verify(tmp_path / f"{number}.zip").code == 0  # another compression is the same certificate
    whole = packed(tmp_path / "whole.zip", files).read_bytes()
    for place in (30, len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.zip").write_bytes(whole[:place])
        assert verifier.verify(tmp_path / "cut.zip").code == 5
    unknown = bytearray(whole)
    first = whole.rindex(b"PK\x01\x02")
    unknown[first + 10] = 77  # a way of packing that nobody has
    (tmp_path / "unknown.zip").write_bytes(unknown)
    assert verifier.verify(tmp_path / "unknown.zip").code == 5
    encrypted = bytearray(whole)
    encrypted[first + 8] |= 1
    (tmp_path / "encrypted.zip").write_bytes(encrypted)
    assert verifier.verify(tmp_path / "encrypted.zip").code == 5


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(files: dict[str, bytes], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            if name != "chain.jsonl":
                archive.writestr(name, data)
        with archive.open("chain.jsonl", "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(1 << 20))
    began = time.process_time()
    found = verifier.verify(tmp_path / "bomb.zip")
    assert any("too large" in fault for fault in found.faults)
    assert time.process_time() - began < 1


def test_counts_that_nobody_can_have_are_not_added_up(exam: Make, tmp_path: Path) -> None:
    """A chain is the issuer's to write: one that says 10**12 rows would keep a reader busy for days."""
    look = {"look": 1, "testset": "a", "n": 10**9, "metric": "error", "release": "predicted", "cv_error": 0.1, "cv_mean": 0.1,
            "cv_rows": 10}  # fmt: skip
    look = verifier._read(verifier._Look, look)
    seal = verifier._read(verifier._Seal, {"terms": {"steps": 1}})
    answer = {"symbol": "cell", "price": 9.0, "score": 0.0, "errors": None, "released": {"low": 0, "high": 5 * 10**8 - 1}}
    verdict = verifier.CheckedCertificate()
    with pytest.raises(ValueError, match="too much to compute"):
        verifier._least(verdict, look, verifier._read(verifier._Answer, answer), [seal])
    for low, high in ((-1, 5), (5, 4), (5, 2 * 10**9)):
        answer["released"] = {"low": low, "high": high}
        with pytest.raises(ValueError, match="out of range"):
            verifier._least(verdict, look, verifier._read(verifier._Answer, answer), [seal])
