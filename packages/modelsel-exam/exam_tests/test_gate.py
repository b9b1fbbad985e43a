"""A gate for loops: verdicts by hand, one final number, and twenty ways of tampering, caught or named as not seen."""

import asyncio
import json
import re
import shlex
import shutil
import warnings
from collections.abc import Callable
from dataclasses import asdict, fields
from math import log, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import modelsel
from exam_tests.conftest import table
from modelsel.api.commands.words import all_commands
from modelsel.cli import arguments
from modelsel.cli.dispatch import main, module_of
from modelsel.core.errors import ConfigurationError, DataError, LedgerError, RefusedError
from modelsel.ledger.home import Home
from modelsel.measure.error import Error
from modelsel.statistics.paired import improvement
from modelsel_exam import proposals
from modelsel_exam.gates import LoopGate
from modelsel_exam.options import AnswerOptions, WantedLoop, of_exams, of_gates, words_of
from modelsel_exam.proposals import LoopSession
from modelsel_exam.terms import _of_loop
from modelsel_watch.session import SealedRowsWarning
from tests.extras import needs

Make = Callable[..., LoopGate]
ROWS = 400


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a gate of the table of loans, in a folder and with a home of its own."""
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    table(ROWS).to_csv("loans.csv", index=False)

    def made(*settings: str, folder: str = "gate", **terms: Any) -> LoopGate:
        return modelsel.create_gate("loans.csv", folder, "default", *settings, **terms)

    return made


def cut(gate: LoopGate, at: float, spoiled: int = 0) -> np.ndarray:
    """A rule's classes; of the first `spoiled` questions the other ones."""
    said = np.where(gate.questions.income > at, "yes", "no")
    said[:spoiled] = np.where(said[:spoiled] == "yes", "no", "yes")
    return said


def truth(gate: LoopGate) -> tuple[np.ndarray, np.ndarray]:
    """The labels of the questions, which the tests know, and which of them judge."""
    whole = table(ROWS).set_index(["age", "income", "city"]).default
    labels = np.array([whole[key] for key in zip(gate.questions.age, gate.questions.income, gate.questions.city)])
    store = LoopSession(gate.folder).store
    judges = set(store.tokens("development")[store.judges].tolist())
    return labels, np.array([token in judges for token in gate.questions.token])


def codes(gate: LoopGate) -> set[str]:
    return {one.code for one in gate.status().findings}


# What it does.


def test_rows_are_given_out_once_without_labels_and_nobody_can_tell_which_judge(make: Make) -> None:
    gate = make()
    rows = gate.status().rows
    assert rows == {"learn": 196, "judge": 84, "sealed": 120}
    assert (len(gate.development), len(gate.questions)) == (196, 204)
    assert "default" not in gate.questions
    assert list(gate.questions.token) == sorted(gate.questions.token)  # in the order of random tokens
    keys = [set(zip(side.age, side.income, side.city)) for side in (gate.development, gate.questions)]
    assert not keys[0] & keys[1]
    text = (gate.folder / "exam.json").read_text()
    assert not any(token in text for token in gate.questions.token)


def test_each_verdict_is_that_of_pairs_by_hand(make: Make) -> None:
    gate = make()
    labels, judges = truth(gate)
    best: np.ndarray | None = None
    for at in (2.0, 2.5, 2.4, 2.9, 3.1, 3.0, 4.0, 3.05):
        said = cut(gate, at)
        wrong = (said != labels)[judges].astype(float)
        if best is None:
            expected = "keep"
        else:
            gains = best - wrong
            expected = "keep" if gains.mean() > gains.std(ddof=1) / sqrt(len(gains)) and gains.mean() > 0 else "discard"
        assert gate.propose(said, f"cut at {at}").verdict == expected
        best = wrong if expected == "keep" else best
    assert {one.verdict for one in LoopSession(gate.folder).proposals()} == {"keep", "discard"}


def test_the_final_number_is_the_count_of_the_best_with_the_interval_of_a_first_look(make: Make) -> None:
    gate = make()
    labels, judges = truth(gate)
    for at in (2.0, 3.0, 4.5):
        gate.propose(cut(gate, at))
    ended = gate.close()
    wrong = cut(gate, 3.0) != labels
    errors, n = int(wrong[~judges].sum()), int((~judges).sum())
    alpha = 0.04 / 2 * 0.8  # δ without the share of verdicts, a side, at the first index
    limits = (beta.ppf(alpha, errors, n - errors + 1), beta.isf(alpha, errors + 1, n - errors))
    assert (ended.errors, ended.n, ended.number, ended.kept) == (errors, n, 2, 2)
    assert ended.interval == pytest.approx(limits, abs=1e-9)
    assert ended.judged == pytest.approx(wrong[judges].mean())
    assert gate.close() == ended
    (one,) = modelsel.audit()["test_sets"]
    assert len(one["looks"]) == 1


def test_a_veto_is_one_bit_that_the_terms_allow_so_often_and_later_intervals_pay_for(make: Make) -> None:
    gate = make(vetoes=1)
    labels, judges = truth(gate)
    gate.propose(cut(gate, 2.8))
    best = cut(gate, 2.8)
    better = np.where(judges, labels, np.where(best == "yes", "no", "yes"))  # right where it is judged, wrong elsewhere
    found = gate.propose(better, "overfitted", veto=True)
    assert (found.verdict, found.vetoes_left) == ("veto", 0)
    assert gate.status().best == 1
    with pytest.raises(RefusedError, match="vetoes, and they are used up"):
        gate.propose(cut(gate, 3.0), veto=True)
    assert gate.propose(cut(gate, 3.0)).verdict in ("keep", "discard")
    ended = gate.close()
    spent = log(2) + log(10)  # a bit, and the index of a second look
    assert ended.interval is not None
    assert ended.interval[0] < beta.ppf(0.02 * 0.8, ended.errors, ended.n - ended.errors + 1)
    level = np.exp(-spent) * 0.04 / 2
    assert ended.interval[0] == pytest.approx(beta.ppf(level, ended.errors, ended.n - ended.errors + 1), abs=1e-4)


def test_a_veto_lets_equals_pass_and_a_discarded_proposal_uses_none_up(make: Make) -> None:
    gate = make(vetoes=2)
    labels, judges = truth(gate)
    first = cut(gate, 2.4)
    gate.propose(first)
    assert gate.propose(cut(gate, 5.0), veto=True).vetoes_left == 2
    better = np.where(judges, labels, first)  # no other answer on sealed rows
    found = gate.propose(better, veto=True)
    assert (found.verdict, found.vetoes_left) == ("keep", 1)


def test_units_are_compared_whole() -> None:
    before, after = np.array([1.0, 1, 1, 1, 0, 0]), np.zeros(6)
    alone, whole = improvement(before, after), improvement(before, after, np.array([0, 0, 0, 0, 1, 2]))
    assert alone.gain == whole.gain == pytest.approx(4 / 6)
    parts = np.array([4 * (1 - 4 / 6), -4 / 6, -4 / 6])
    assert whole.se == pytest.approx(sqrt(3 / 2 * (parts**2).sum()) / 6)
    assert whole.se > alone.se == pytest.approx(before.std(ddof=1) / sqrt(6))


def test_one_in_six_equals_is_kept_by_luck_and_the_status_says_so(make: Make) -> None:
    rng = np.random.default_rng(0)
    kept = 0
    for _ in range(2000):
        wrong = rng.random(400) < 0.3
        other = np.where(rng.random(400) < 0.2, rng.random(400) < 0.3, wrong)
        kept += improvement(wrong.astype(float), other.astype(float)).exceeds(1.0)
    assert 0.13 < kept / 2000 < 0.18
    gate = make()
    for at in (2.0, 3.0, 3.1):
        gate.propose(cut(gate, at))
    assert gate.status().by_luck == pytest.approx(2 * 0.1587, abs=1e-3)


def test_the_command_line_says_what_python_does(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "create", "loans.csv", "cli", "--target", "default", "--vetoes", "2", "--errors", "2"]) == 0
    assert "196 rows to learn from; 204 questions, of which 84 judge and 120 are sealed" in capsys.readouterr().out
    gate = modelsel.gate("cli")
    frame = pd.DataFrame({"token": gate.questions.token, "prediction": cut(gate, 3.0)})
    frame.to_csv("said.csv", index=False)
    assert main(["gate", "propose", "cli", "said.csv", "--as", "first", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "keep"
    assert main(["gate", "propose", "cli", "said.csv", "--as", "again"]) == 0
    assert "judged before" in capsys.readouterr().out
    assert main(["gate", "status", "cli"]) == 0
    assert "1 proposals, 1 kept; the best so far: proposal 1" in capsys.readouterr().out
    assert main(["gate", "close", "cli", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(asdict(gate.close())))
    assert main(["gate", "close", "cli"]) == 0
    assert "do not quote it" in capsys.readouterr().out
    assert main(["gate", "propse"]) == 2
    assert main(["exam", "answer", "cli", "said.csv", "--as", "first"]) == 4


def test_terms_that_do_not_go_together_are_told_at_once(make: Make) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make(judged=1.0, errors=-1.0, vetoes=30, pinned=["nowhere.py"])
    assert len(raised.value.problems) == 4
    with pytest.raises(ConfigurationError, match="pairs of rows judge"):
        make("measure=auc")
    assert not Path("gate").exists()
    modelsel.create_exam("loans.csv", "exam", "default")
    with pytest.raises(ConfigurationError, match="MSEL-932"):
        modelsel.gate("exam")


def test_certificates_hold_of_a_gate_that_is_closed(make: Make) -> None:
    gate = make()
    gate.propose(cut(gate, 3.0))
    gate.close()
    assert modelsel.verify(modelsel.certify("gate", "c.zip"))["faults"] == []


def test_agents_propose_by_the_model_context_protocol(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("mcp")
    from mcp.client import Client

    from modelsel_exam.serve import TOKEN, agents
    from modelsel_exam.service import Askers, ExamService

    gate = make()
    monkeypatch.setenv(TOKEN, Askers(gate._session.store.folder).admit("agent"))
    said = dict(zip(gate.questions.token, cut(gate, 3.0).tolist()))

    async def ask() -> list[Any]:
        async with Client(agents(ExamService(gate.folder))) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            made = await client.call_tool("propose", {"predictions": said})
            state = await client.call_tool("status", {})
            ended = await client.call_tool("close", {})
            late = await client.call_tool("propose", {"predictions": {**said, next(iter(said)): "no"}})
            return [names, made.structured_content, state.structured_content, ended.structured_content, late.is_error]

    names, made, state, ended, late = asyncio.run(ask())
    assert names == {"terms", "development", "questions", "propose", "status", "close"}
    assert (made["verdict"], made["by"], state["proposals"]) == ("keep", "agent", 1)
    assert ended == json.loads(json.dumps(asdict(gate.close())))
    assert late


# Twenty ways of tampering. Each is caught, has no effect, or is named as not seen on the page (docs/guard/loops.md).


def start(make: Make, **terms: Any) -> LoopGate:
    Path("evaluate.py").write_text("print('score')\n")
    gate = make(pinned=["evaluate.py"], **terms)
    gate.propose(cut(gate, 2.6), "first")
    return gate


def test_01_a_scorer_that_was_edited_is_a_finding_and_nothing_is_judged(make: Make) -> None:
    gate = start(make)
    Path("evaluate.py").write_text("print('better score')\n")
    with pytest.raises(RefusedError, match="MSEL-933"):
        gate.propose(cut(gate, 3.0))
    assert codes(gate) == {"G027"}
    assert "G027" in {flag["code"] for flag in modelsel.audit()["flags"]}
    Path("evaluate.py").write_text("print('score')\n")
    assert gate.propose(cut(gate, 3.0)).number == 2
    assert codes(gate) == {"G027"}  # it stays on record


def test_02_a_scorer_that_is_gone_is_a_finding(make: Make) -> None:
    gate = start(make)
    Path("evaluate.py").unlink()
    with pytest.raises(RefusedError, match="is gone"):
        gate.propose(cut(gate, 3.0))
    assert codes(gate) == {"G027"}


@pytest.mark.parametrize("file", ["development.csv", "questions.csv"])
def test_03_and_04_rows_that_were_edited_are_a_finding(make: Make, file: str) -> None:
    gate = start(make)
    path = gate.folder / file
    path.write_text(path.read_text() + "\n")
    with pytest.raises(RefusedError, match="MSEL-933"):
        gate.propose(cut(gate, 3.0))
    assert codes(gate) == {"G027"}


def test_05_the_rule_of_the_package_that_was_edited_is_a_finding(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = start(make)
    monkeypatch.setattr(proposals, "scorer_digest", lambda _measure: "another")
    gate.propose(cut(gate, 3.0))
    assert codes(gate) == {"G029"}


def test_06_terms_that_were_edited_are_known_by_their_signature(make: Make) -> None:
    gate = start(make)
    path = gate.folder / "exam.json"
    terms = json.loads(path.read_text())
    terms["loop"]["errors"] = 0.0
    path.write_text(json.dumps(terms))
    with pytest.raises(LedgerError, match="MSEL-903"):
        modelsel.gate("gate")


def test_07_terms_of_another_gate_are_not_those_of_the_store(make: Make) -> None:
    gate = start(make)
    make("split.seed=3", folder="other", accept_overlap=True, errors=0.0)
    shutil.copy("other/exam.json", gate.folder / "exam.json")
    assert modelsel.gate("gate").terms["id"] != gate.terms["id"]  # it is the other gate, with files that are not its own
    with pytest.raises((RefusedError, DataError)):
        modelsel.gate("gate").propose(cut(gate, 3.0))


def test_08_labels_of_rows_that_judge_which_were_edited_are_known(make: Make) -> None:
    gate = start(make)
    path = LoopSession(gate.folder).store.folder / "rows.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["development.target"] = 1 - arrays["development.target"]
    np.savez(path, **arrays)
    with pytest.raises(LedgerError, match="MSEL-916"):
        modelsel.gate("gate").propose(cut(gate, 3.0))


def test_09_sealed_rows_in_a_training_call_are_a_finding_and_nothing_is_certified(make: Make) -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    gate = start(make)
    whole = pd.read_csv("loans.csv")
    encoded = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    with modelsel.watching() as seen, warnings.catch_warnings(action="ignore", category=SealedRowsWarning):
        make_pipeline(encoded, LogisticRegression(max_iter=1000)).fit(whole[["age", "income", "city"]], whole.default)
    assert {one.code for one in seen.findings} == {"G026"}
    assert "G026" in {flag["code"] for flag in modelsel.audit()["flags"]}
    assert gate.close().interval is None


def test_10_the_whole_table_among_the_inputs_is_a_finding(make: Make) -> None:
    gate = start(make)
    assert gate.propose(cut(gate, 3.0), inputs=["loans.csv"]).number == 2
    assert codes(gate) == {"G026"}


def test_11_the_questions_among_the_inputs_are_a_finding_and_the_development_rows_are_not(make: Make) -> None:
    gate = start(make)
    gate.propose(cut(gate, 3.0), inputs=[gate.folder / "development.csv"])
    assert codes(gate) == set()
    gate.propose(cut(gate, 3.1), inputs=[gate.folder / "questions.csv"])
    assert codes(gate) == {"G025"}
    with pytest.raises(ConfigurationError, match="MSEL-934"):
        gate.propose(cut(gate, 3.2), inputs=["nowhere.csv"])


def test_12_the_same_predictions_again_tell_nothing_new_under_any_name(make: Make) -> None:
    gate = start(make)
    shown = gate.propose(cut(gate, 2.6), "somebody else")
    assert (shown.replay, shown.number, shown.by) == (True, 1, "first")
    assert gate.status().proposals == 1


def test_13_row_by_row_probing_reads_no_sealed_label(make: Make) -> None:
    gate = start(make)
    first = cut(gate, 2.6)
    before = [gate.propose(np.r_[first[:row], ["yes" if first[row] == "no" else "no"], first[row + 1 :]]).verdict
              for row in range(12)]  # fmt: skip
    _, judges = truth(gate)
    assert all(verdict == "discard" for verdict, own in zip(before, judges[:12]) if not own)
    assert not [look for one in modelsel.audit()["test_sets"] for look in one["looks"]]  # nothing at all was asked of them


def test_14_a_veto_cannot_be_asked_for_later_or_more_often(make: Make) -> None:
    gate = start(make, vetoes=1)
    gate.propose(cut(gate, 3.0))
    if gate.status().best == 2:
        with pytest.raises(RefusedError, match="judged without a veto"):
            gate.propose(cut(gate, 3.0), veto=True)
    assert gate.status().vetoes_left == 1


def test_15_after_the_close_nothing_is_judged_and_the_number_stays(make: Make) -> None:
    gate = start(make)
    ended = gate.close()
    with pytest.raises(RefusedError, match="MSEL-930"):
        gate.propose(cut(gate, 3.0))
    assert gate.close() == ended


@pytest.mark.slow
def test_16_a_second_gate_on_the_same_rows_is_refused(make: Make) -> None:
    start(make).close()
    with pytest.raises(RefusedError, match="MSEL-911"):
        make(folder="second")
    with pytest.raises(RefusedError, match="MSEL-911"):
        make("split.seed=9", folder="third")


def test_17_answers_of_an_exam_are_not_taken_at_a_gate(make: Make) -> None:
    gate = start(make)
    frame = pd.DataFrame({"token": gate.questions.token, "prediction": cut(gate, 3.0)})
    with pytest.raises(RefusedError, match="MSEL-930"):
        modelsel.exam("gate").answer(frame, "loop")
    with pytest.raises(ConfigurationError, match="MSEL-932"):
        modelsel.exam("gate").close()


def test_18_a_kept_proposal_that_was_put_away_is_missed(make: Make) -> None:
    gate = start(make)
    for path in (LoopSession(gate.folder).store.folder / "answers").glob("*.npz"):
        path.unlink()
    with pytest.raises(LedgerError, match="MSEL-907"):
        gate.propose(cut(gate, 3.0))


def test_19_a_ledger_that_was_put_back_is_known(make: Make) -> None:
    gate = start(make)
    home = Home.find().folder
    saved = {path: path.read_bytes() for path in home.glob("ledger.db*")}
    gate.propose(cut(gate, 3.0))
    for path in home.glob("ledger.db*"):
        path.unlink()
    for path, data in saved.items():
        path.write_bytes(data)
    modelsel.gate("gate").propose(cut(gate, 3.2))
    assert {"G070", "G071", "G072"} & {flag["code"] for flag in modelsel.audit()["flags"]}


def test_20_a_loop_that_knew_the_labels_that_judge_is_told_at_the_close(make: Make) -> None:
    gate = start(make)
    labels, judges = truth(gate)
    gate.propose(np.where(judges, labels, cut(gate, 2.6)), "knows")
    ended = gate.close()
    assert {one.code for one in ended.findings} == {"G028"}
    assert ended.judged == 0.0
    assert ended.errors == int((cut(gate, 2.6) != labels)[~judges].sum())  # the number is honest all the same


def test_an_honest_loop_raises_nothing(make: Make) -> None:
    gate = start(make)
    for at in np.linspace(2.7, 3.3, 7):
        gate.propose(cut(gate, at), inputs=["gate/development.csv"])
    assert gate.close().findings == []
    assert not [flag for flag in modelsel.audit()["flags"] if flag["severity"] not in ("info", "low")]


def test_rows_cells_and_names_that_do_not_fit_are_told(make: Make) -> None:
    gate = start(make)
    frame = pd.DataFrame({"token": gate.questions.token, "prediction": cut(gate, 3.0)})
    for broken, code in ((frame[1:], "MSEL-922"), (pd.concat([frame, frame[:1]]), "MSEL-923"),
                         (frame.assign(prediction="maybe"), "MSEL-926")):  # fmt: skip
        with pytest.raises(DataError, match=code):
            gate.propose(broken)
    with pytest.raises(ConfigurationError, match="MSEL-931"):
        gate.propose(frame, "\n")
    assert gate.status().proposals == 1


# The page for programs.

SKILL = Path(__file__).resolve().parents[3] / "SKILL.md"


def test_the_skill_is_short_and_names_commands_options_and_functions_that_there_are() -> None:
    text = SKILL.read_text("utf-8")
    assert len(text.splitlines()) < 200
    assert text.startswith("---\nname: modelsel\ndescription: ")
    lines = re.findall(r"^(modelsel .+?)(?:\s{2,}#.*)?$", text, re.MULTILINE)
    assert len(lines) >= 11
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        assert words[0] in all_commands()
        module = "".join(Path(str(one.__file__)).read_text() for one in (module_of(words[0]), arguments))
        module += "".join(f'"{word}"' for one in (*of_exams(), *of_gates(), *fields(AnswerOptions)) for word in words_of(one))
        assert all(f'"{word}"' in module for word in words if word.startswith("--")), line
        if words[0] in ("gate", "exam"):
            assert words[1] in module_of(words[0]).COMMANDS
    for name in re.findall(r"modelsel\.(\w+)\(", text):
        assert callable(getattr(modelsel, name))


def test_the_loop_of_the_skill_does_what_it_says(make: Make) -> None:
    from sklearn.linear_model import LogisticRegression

    make()
    gate = modelsel.gate("gate")
    columns = ["age", "income"]
    model = LogisticRegression().fit(gate.development[columns], gate.development["default"])
    assert gate.propose(model.predict(gate.questions[columns]), "a first idea").verdict == "keep"
    assert gate.close().score is not None


@pytest.mark.parametrize(
    ("said", "refused"),
    [({"errors": 0.0}, ""), ({"errors": 5.0}, ""), ({"errors": 5.01}, "--errors"), ({"errors": -0.01}, "--errors"),
     ({"vetoes": 20}, ""), ({"vetoes": 21}, "--vetoes"), ({"judged": 1.0}, "--judged")],
)  # fmt: skip
def test_terms_of_a_gate_have_limits_that_may_be_reached(said: dict[str, Any], refused: str) -> None:
    found = [one.where for one in _of_loop(WantedLoop(**said), SimpleNamespace(measure=Error()))]  # type: ignore[arg-type]
    assert found == ([refused] if refused else [])
