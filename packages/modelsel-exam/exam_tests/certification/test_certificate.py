"""A certificate holds for who has nothing of modelsel, and not once anything in it was changed."""

import hashlib
import json
import math
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import modelsel
from exam_tests.conftest import guess
from exam_tests.test_exam import SHOWING, answer_of, make_any
from modelsel.certificates import verifier
from modelsel.certificates.certify import WHAT
from modelsel.core.errors import ConfigurationError
from modelsel.ledger.home import Home
from modelsel.statistics.certificate import lower_limit, upper_limit
from modelsel_exam import board as boards
from modelsel_exam.sit import ExamSession

Make = Callable[..., ExamSession]


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("release", SHOWING)
def test_every_policy_gives_a_certificate_that_holds(exam: Make, tmp_path: Path, release: str) -> None:
    made = make_any(exam, release)
    for cut in (3.0, 2.9, 2.0, 3.2):
        made.answer(answer_of(made, cut), "ann")
    boards.close(made)
    found = modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    assert found["faults"] == []
    assert found["exit_code"] == 0
    assert any("whether scores follow from the labels" in one for one in found["unknown"])


@pytest.mark.slow
def test_a_closed_exam_too(exam: Make, tmp_path: Path) -> None:
    made = exam(release="closed")
    made.answer(guess(made), "ann")
    with pytest.raises(ConfigurationError):
        modelsel.certify(made.folder, tmp_path / "certificate.zip")
    made.answer(guess(made, 2.7), "bob")
    boards.close(made)
    assert modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))["faults"] == []


@pytest.mark.slow
def test_no_certificate_has_the_noise_of_an_open_exam(exam: Make, loans: Path, tmp_path: Path) -> None:
    """Its seed is in the seal: who read it could take the noise off every further answer."""
    made = make_any(exam, "thresholdout")
    made.answer(answer_of(made, 3.0), "ann")
    with pytest.raises(ConfigurationError, match="noise"):
        modelsel.certify(made.folder, tmp_path / "certificate.zip")
    overlapping = exam(release="full", folder="other", all=True, accept_overlap=True)  # which has the same noise
    overlapping.answer(answer_of(overlapping, 3.0), "ann")
    with pytest.raises(ConfigurationError, match="noise"):
        modelsel.certify(overlapping.folder, tmp_path / "certificate.zip")
    pd.read_csv(loans).assign(age=lambda f: f.age[::-1].to_numpy() + 0.5, income=lambda f: f.income**2).to_csv(
        loans, index=False
    )
    other = exam(release="full", folder="another", accept_overlap=True)
    other.answer(guess(other), "ann")
    noise = [entry.facts["terms"]["noise"] for entry in made.gate.session.ledger.entries() if entry.kind == "seal"]
    chain = members(modelsel.certify(other.folder, tmp_path / "certificate.zip", whole=True))["chain.jsonl"].decode()
    assert str(noise[0]) not in chain
    assert modelsel.verify(tmp_path / "certificate.zip")["faults"] == []
    boards.close(overlapping)
    boards.close(made)
    assert modelsel.verify(modelsel.certify(made.folder, tmp_path / "closed.zip"))["faults"] == []


@pytest.mark.slow
def test_a_weighted_exam_too(exam: Make, loans: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(loans)
    frame.assign(w=np.arange(len(frame)) % 5 + 1.0).to_csv(loans, index=False)
    made = exam("dataset.weights=w", release="full")
    made.answer(guess(made), "ann")
    made.answer(guess(made, 2.5), "ann")
    boards.close(made)
    found = modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    assert found["faults"] == []
    assert any("other than counts" in one for one in found["unknown"])


@pytest.mark.slow
def test_the_verifier_stands_alone(exam: Make, tmp_path: Path) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    modelsel.certify(made.folder, tmp_path / "certificate.zip")
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "verifier.py").write_bytes(Path(verifier.__file__).read_bytes())
    hide = (
        "import sys; sys.modules.update(dict.fromkeys(('modelsel', 'numpy', 'scipy'))); import runpy; sys.argv = sys.argv[1:]; "
    )
    command = [sys.executable, "-c", hide + "runpy.run_path('verifier.py', run_name='__main__')", "verifier.py"]
    key = Home.find().signer().public
    done = subprocess.run([*command, "../certificate.zip", "--key", key], cwd=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAULT" not in done.stdout
    other = subprocess.run([*command, "../certificate.zip", "--key", "ab" * 32], cwd=alone, capture_output=True, text=True)
    assert other.returncode == 5


@pytest.mark.slow
@given(n=st.integers(1, 3000), share=st.floats(0, 1), nats=st.floats(0.7, 2000))
@settings(max_examples=200, deadline=None)
def test_its_limits_are_those_of_the_certificate(n: int, share: float, nats: float) -> None:
    errors = round(n * share)
    assert verifier.lower(errors, n, nats) == pytest.approx(lower_limit(errors, n, nats), abs=1e-7)
    assert verifier.upper(errors, n, nats) == pytest.approx(upper_limit(errors, n, nats), abs=1e-7)


@pytest.mark.slow
def test_any_bit_that_was_changed_is_seen(exam: Make, tmp_path: Path) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    made.answer(guess(made, 2.0), "bob")
    files = members(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    for name, data in files.items():
        for place in range(7, len(data), max(1, len(data) // 8)):
            changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            assert verifier.verify(packed(tmp_path / "changed.zip", {**files, name: changed})).code == 5, (name, place)


def signed_again(files: dict[str, bytes], home: Home) -> dict[str, bytes]:
    """What a dishonest issuer does: change, and sign anew with the same key."""

    from modelsel.core.fingerprint import canonical

    facts = json.loads(files["certificate.json"])
    outside = ("certificate.json", "signature.json")
    facts["members"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name not in outside}
    statement = canonical(facts).encode()
    signer = home.signer()
    value = signer.sign(WHAT + hashlib.sha256(statement).hexdigest())
    return {
        **files,
        "certificate.json": statement,
        "signature.json": canonical({"key": signer.public, "value": value}).encode(),
    }


@pytest.mark.parametrize("x", [2.5, 999_999.0, 1e6, 3e9])
@pytest.mark.parametrize("k", [1, 7, 200])
def test_ratios_of_gamma_functions_are_products_of_few_factors(x: float, k: int) -> None:
    assert verifier._rise(x, k) == pytest.approx(sum(math.log(x + i) for i in range(k)), abs=1e-8)


def test_members_may_be_as_large_as_is_allowed_together_and_no_larger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "it.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in verifier.MEMBERS:
            archive.writestr(name, b"0" * 5000)
    monkeypatch.setattr(verifier, "LARGEST", 5000 * len(verifier.MEMBERS))
    assert set(verifier._members(tmp_path / "it.zip")) == set(verifier.MEMBERS)
    monkeypatch.setattr(verifier, "LARGEST", 5000 * len(verifier.MEMBERS) - 1)
    with pytest.raises(ValueError, match="members too large"):
        verifier._members(tmp_path / "it.zip")


@pytest.mark.parametrize(("score", "counted"), [(0.03, False), (0.04, True), (0.05, True), (0.09, True), (0.11, False)])
def test_a_score_by_a_grid_lies_within_a_row_of_the_counts_that_it_leaves(score: float, counted: bool) -> None:
    released = SimpleNamespace(low=5, high=8)
    answer = SimpleNamespace(released=released, score=score, errors=None, symbol="cell 3")
    assert verifier._counted(SimpleNamespace(n=100), answer) is counted


def chain(*links: tuple[int, str]) -> dict[str, bytes]:
    """A chain whose contents are withheld, by number and previous hash of each entry."""
    lines = [{"replica": "r", "seq": seq, "prev": prev, "hash": f"h{place}"} for place, (seq, prev) in enumerate(links)]
    return {"chain.jsonl": "\n".join(map(json.dumps, lines)).encode(), "signatures.json": b"{}"}


FIRST = hashlib.sha256(b"modelsel.genesis.v1\0r").hexdigest()


@pytest.mark.parametrize(
    ("links", "holds"),
    [
        ([(1, FIRST), (2, "h0")], True), ([(1, FIRST), (3, "h0")], False), ([(1, FIRST), (2, "h1")], False),
        ([(1, "h0"), (2, "h0")], False), ([(2, FIRST), (2, "h0")], False),
    ],
)  # fmt: skip
def test_each_entry_has_the_next_number_and_the_hash_before_it(links: list[tuple[int, str]], holds: bool) -> None:
    checked = verifier.CheckedCertificate()
    assert verifier._chains(checked, chain(*links)) == {}
    assert ("chain r holds, entry by entry (2)" in checked.held) is holds
    assert ("chain r holds, entry by entry (2)" in checked.faults) is not holds


def test_the_last_line_says_how_many_statements_hold() -> None:
    checked = verifier.CheckedCertificate()
    assert checked.check(True, "one")
    assert checked.text().splitlines()[-1] == "verdict  all 1 statements hold"
    assert not checked.check(False, "other")
    assert checked.text().splitlines()[-1] == "verdict  FAULT: 1 of 2 statements do not hold"


@pytest.mark.slow
def test_an_issuer_cannot_claim_more_than_the_chain_says(exam: Make, tmp_path: Path) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    made.answer(guess(made, 2.0), "bob")
    files = members(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    home = Home.find()
    assert verifier.verify(packed(tmp_path / "same.zip", signed_again(files, home))).code == 0
    facts = json.loads(files["certificate.json"])
    facts["claims"][1]["interval"] = [0.2, 0.21]
    narrowed = {**files, "certificate.json": json.dumps(facts).encode()}
    found = verifier.verify(packed(tmp_path / "narrowed.zip", signed_again(narrowed, home)))
    assert any("the claim is the answer on record" in one for one in found.faults)
    lines = files["chain.jsonl"].decode().splitlines()
    shorter = {**files, "chain.jsonl": "\n".join(lines[:-1]).encode()}
    assert verifier.verify(packed(tmp_path / "shorter.zip", signed_again(shorter, home))).code == 5
    hidden = [json.loads(line) for line in lines]
    first = next(line for line in hidden if line.get("kind") == "intent")
    del first["body"], first["kind"]
    withheld = {**files, "chain.jsonl": "\n".join(map(json.dumps, hidden)).encode()}
    found = verifier.verify(packed(tmp_path / "withheld.zip", signed_again(withheld, home)))
    assert found.code == 5  # a claim without its look
    assert not any("entry by entry" in one for one in found.faults)
    first["hash"] = "0" * 64  # what is withheld is still a link of the chain
    unlinked = {**files, "chain.jsonl": "\n".join(map(json.dumps, hidden)).encode()}
    found = verifier.verify(packed(tmp_path / "unlinked.zip", signed_again(unlinked, home)))
    assert any("entry by entry" in one for one in found.faults)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", "certificate.json/../x", "C:\\x", "another"])
def test_a_member_of_another_name_is_refused_and_nothing_is_unpacked(exam: Make, tmp_path: Path, name: str) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    files = members(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    before = sorted(tmp_path.rglob("*"))
    assert verifier.verify(packed(tmp_path / "certificate.zip", {**files, name: b"x"})).code == 5
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", bytes(100)])
def test_what_is_no_certificate_does_not_hold(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    assert verifier.verify(tmp_path / "x.zip").code == 5


@pytest.mark.slow
def test_entries_about_other_rows_are_withheld_unless_asked_for(exam: Make, tmp_path: Path) -> None:
    first = exam(release="full", folder="first")
    first.answer(guess(first), "ann")
    second = exam(release="full", folder="second", accept_overlap=True, all=True)
    second.answer(guess(second), "bob")
    secret = first.terms.id.encode()
    whole = members(modelsel.certify(second.folder, tmp_path / "whole.zip", whole=True))
    assert secret in whole["chain.jsonl"]
    assert modelsel.verify(tmp_path / "whole.zip")["faults"] == []


@pytest.mark.slow
def test_cards_have_the_interval(exam: Make, tmp_path: Path) -> None:
    made = exam(release="full")
    shown = made.answer(guess(made), "ann")
    files = members(modelsel.certify(made.folder, tmp_path / "certificate.zip"))
    card = json.loads(files["card.cdx.json"])
    metric = card["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"][0]
    assert (card["bomFormat"], card["specVersion"]) == ("CycloneDX", "1.6")
    assert shown.interval is not None
    assert float(metric["confidenceInterval"]["lowerBound"]) == pytest.approx(shown.interval[0], abs=1e-6)
    import yaml

    front = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    result = front["model-index"][0]["results"][0]
    assert result["metrics"][0]["value"] == pytest.approx(shown.score)
    assert result["metrics"][0]["args"]["interval"] == pytest.approx(shown.interval)


@pytest.mark.slow
def test_a_run_is_certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    outcome = modelsel.run("dataset=wine", "learner=naive_bayes", "scheme.folds=3", "tracking=off")
    found = modelsel.verify(modelsel.certify(outcome, tmp_path / "certificate.zip"))
    assert found["faults"] == []
    assert json.loads(members(tmp_path / "certificate.zip")["certificate.json"])["claims"][0]["score"] == outcome.test.score


@pytest.mark.slow
@pytest.mark.parametrize("terms", [("guard.release=grid", "guard.resolution=auto"), ("guard.resolution=auto",)])
def test_terms_inherited_from_overlapping_rows_are_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: tuple[str, ...]
) -> None:
    """The second set has a row fewer and was sealed with exact counts: its answer is rounded and priced as the first says."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(300, 3)).round(4), columns=list("abc"))
    table["y"] = (table.a + rng.normal(size=300) > 0).astype(int)
    table["t"] = (np.arange(300) < 100).astype(int)
    data = ("dataset=csv", "dataset.target=y", "dataset.held_out=t", "split=predefined", "learner=knn", "tracking=off")
    table.to_csv("all.csv", index=False)
    table[1:].to_csv("fewer.csv", index=False)
    modelsel.run(*data, "dataset.path=all.csv", "learner.k=1", "final_test=true", *terms)
    outcome = modelsel.run(*data, "dataset.path=fewer.csv", "learner.k=5", "final_test=true")
    assert outcome.test.errors is None
    assert modelsel.verify(modelsel.certify(outcome, tmp_path / "certificate.zip"))["faults"] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("measure", ["brier", "log_loss", pytest.param("precision", marks=pytest.mark.slow)])
def test_bounded_losses_of_a_study_are_computed_again_from_the_plan_and_the_symbols(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(300, 3))
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(patient=np.arange(300) // 4)
    frame["y"] = np.where(rows[:, 0] + np.random.default_rng(1).normal(size=300) > 0, "yes", "no")
    settings = {"measure.positive": 1} if measure == "precision" else {}
    outcome = modelsel.run(data=frame, target="y", unit="patient", space="naive_bayes", measure=measure,
                           tracking="off", **settings)  # fmt: skip
    assert outcome.test.interval is not None
    assert outcome.test.units in (22, 23)
    path, costs, least_of_plan = modelsel.certify("latest", tmp_path / "c.zip"), list[float](), verifier._least_of_plan
    monkeypatch.setattr(verifier, "_least_of_plan", lambda *asked: costs.append(least_of_plan(*asked)) or costs[-1])
    found = modelsel.verify(path)
    assert found["faults"] == []
    assert outcome.test.price is not None
    (least,) = costs
    if measure == "log_loss":  # the forecast of the rows above the cap is not on record: the best one takes its place
        assert outcome.test.price - 1 < least < outcome.test.price
    else:
        assert least == pytest.approx(outcome.test.price, abs=1e-6)


def test_places_of_quantiles_are_those_of_the_counts_of_this_level() -> None:
    n, nats, q = 200, 3.0, 0.9
    low = next(k for k in range(n) if binom.cdf(k, n, q) >= math.exp(-nats))
    high = next(k for k in range(n + 1) if binom.sf(k - 1, n, q) <= math.exp(-nats))
    honest = {"q": q, "low": low, "middle": 180, "high": high}

    def holds(**changed: int) -> bool:
        look = SimpleNamespace(n=n, numbers=2, units=None, look=1, testset="t" * 8,
                               quantiles={"grid": [1.0, 2.0, 4.0], "asked": [{**honest, **changed}]})  # fmt: skip
        answer = SimpleNamespace(
            released=SimpleNamespace(places=[(0, 1, 2)]), quantiles=[{"q": q, "value": 2.0, "interval": [0, 4.0]}]
        )
        verdict = verifier.CheckedCertificate()
        verifier._quantiles(verdict, look, answer, nats)
        return not verdict.faults

    assert holds()
    assert not any(holds(**{name: honest[name] + step}) for name in ("low", "middle") for step in (-1, 1))
    assert not holds(high=high - 1)
