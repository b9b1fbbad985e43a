"""Each code of the catalogue has a case in which it is due and one in which it is not; a code without both fails here."""

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB

import modelsel
from benchmarks.recognition.guard_shared_designs import pair
from modelsel.core.spec import make
from modelsel.guard.findings.base import catalogue
from modelsel.guard.gate import Gate
from modelsel.guard.policy.base import Identity, Justify
from modelsel.guard.reporting.audit import audit
from tests.extras import needs
from tests.guard.access.test_running import dies
from tests.guard.studies import Rule, Study, numbers

FOLDER = Path(__file__).parents[2]
Scene = Callable[[Path, pytest.MonkeyPatch], set[str]]


@dataclass(frozen=True)
class Case:
    """Where a code is due and where it is not: scenes here, or tests elsewhere (file and name) that assert it."""

    due: Scene | str
    otherwise: Scene | str


def told(study: Study) -> set[str]:
    """What a look is told, and what its result names."""
    result, gate = study.run()
    return {*result.flags, *(finding.code for finding in gate.findings)}


def first(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home))


def again(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(), home))


def changed(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(), home, rule=Rule(1)))


def of_many(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, candidates=tuple(map(str, range(40)))))


def of_many_by_auc(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, measure=make("measure", "auc"), candidates=tuple(map(str, range(10**4)))))


def forgets(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, policy="off", settings={"remember": False}))


def unguarded(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, policy="off"))


def after_unguarded(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home, policy="off").look()
    return told(Study(numbers(), home, rule=Rule(1)))


def predicts_otherwise(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home, spec="one").look()
    return told(Study(numbers(), home, spec="one", rule=Rule(0, 0.5)))


def committed(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home)
    study.choose_only()
    gate, sealing = study.gate(), study.sealing()
    gate.commit(sealing, [sealing.spec_id])
    return told(study)


def member(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home, candidates=(str(Rule(0)), str(Rule(1))))
    study.choose_only()
    return told(study)


def stranger(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, candidates=("another", "and another")))


def corrected(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(), home, settings={"justify": Justify("labels", "a rater had mixed up two forms")}))


def justified(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(), home, rule=Rule(1), settings={"justify": Justify("other", "a second model was asked for")}))


def reseeded(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(), home, split_seed=1))


def another_table(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home).look()
    return told(Study(numbers(seed=7), home))


def scaled(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home)
    study.look()
    return told(study.but(task=replace(study.task, values=study.task.values * 2.54)))


def on_the_same_days(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    first_shop, second_shop = pair("shops on the same days", 0)
    Study(first_shop, home).look()
    return told(Study(second_shop, home))


def by_another_target(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home, target="quality")
    study.look()
    return told(study.but(target="yield", spec="another", split_seed=1))


def only_digests(home: Path, monkeypatch: pytest.MonkeyPatch, seed: int = 1) -> set[str]:
    """A colleague's look in a common ledger that keeps digests alone, then another split of the same table."""
    monkeypatch.setenv("MODELSEL_KEY", "07" * 32)
    settings = {"identity": Identity(store="digest_only"), "ledger": f"sqlite:///{home / 'team.db'}"}
    study = Study(numbers(), home / "colleague", settings=settings)
    study.look()
    return told(study.but(split_seed=seed, home=home / "mine"))


def repeated(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home)
    development, test = study.parts()
    values = study.task.values.copy()
    values[test.rows[:9]] = values[development.rows[:9]]
    return told(study.but(task=replace(study.task, values=values)))


def too_good(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home)
    _, test = study.parts()
    target = study.task.target.copy()
    target[test.rows] = study.rule(test).predicted[0]
    return told(study.but(task=replace(study.task, target=target)))


def kappa(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    return told(Study(numbers(), home, measure=make("measure", "kappa")))


def beyond_quota(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home, settings={"quota": 1})
    study.look()
    return told(study.but(rule=Rule(1)))


def interrupted(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    dies(monkeypatch, Study(numbers(), home))
    return told(Study(numbers(), home, rule=Rule(1)))


def burned(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    study = Study(numbers(), home)
    gate: Gate = study.gate()
    gate.burn(study.sealing())
    return told(study)


def weakened(home: Path, _: pytest.MonkeyPatch) -> set[str]:
    Study(numbers(), home, settings={"delta": 0.05}).look()
    return told(Study(numbers(), home, rule=Rule(1), settings={"delta": 0.5}))


def scored_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Another person's script scores a model on the sealed rows, then a study looks."""
    return told(watched(home, monkeypatch, lambda model, rows, labels: model.score(rows, labels)))


def predicted_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    return told(watched(home, monkeypatch, lambda model, rows, labels: model.predict(rows)))


def perhaps_scored_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """A copy of so few predictions that nobody can be sure."""
    needs("modelsel_watch")
    rows, labels = np.random.default_rng(0).normal(size=(24, 3)), np.arange(24) % 2
    modelsel.watch(rows, name="few")
    with modelsel.watching() as seen:
        predicted = LogisticRegression().fit(rows[::2] + 0.1, rows[::2, 0] > 0).predict(rows)
        accuracy_score(labels, predicted.tolist())
    return {one.code for one in seen.findings}


def fitted_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    return audited(watched(home, monkeypatch, lambda model, rows, labels: model.fit(rows, labels)))


def fitted_on_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    task = numbers()
    return audited(watched(home, monkeypatch, lambda model, rows, labels: model.fit(task.values, task.target)))


def watched(home: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[Any, Any, Any], object]) -> Study:
    """A study whose rows are sealed, and what a watched script did with a model and these rows."""
    needs("modelsel_watch")
    monkeypatch.setenv("MODELSEL_HOME", str(home))
    study = Study(numbers(), home)
    development, test = study.parts()
    study.gate().seal(study.sealing())
    with modelsel.watching(), warnings.catch_warnings(action="ignore"):
        script(GaussianNB().fit(development.values, development.target), test.values, test.target)
    return study


def audited(study: Study) -> set[str]:
    return {flag["code"] for flag in audit(study.gate())["flags"]}


FINDINGS, ATTEMPTS, TRACES = "guard/findings/test_findings.py", "guard/attacks/test_attempts.py", "flow/test_traces.py"
FORGETTING = "guard/attacks/test_forgetting.py"
WHOLE = "guard/attacks/test_parallel.py::test_an_entry_written_after_the_ledger_was_read_was_not_cut_off"
GATE = "../packages/modelsel-exam/exam_tests/test_gate.py"
LINT = "guard/reporting/test_lint.py"
CASES: Mapping[str, Case] = {
    "G001": Case(first, changed), "G002": Case(again, first), "G003": Case(unguarded, first), "G004": Case(forgets, unguarded),
    "G005": Case(f"{TRACES}::test_a_plan_and_a_published_experiment_leave_no_trace_and_say_so", first),
    "G010": Case(predicts_otherwise, again), "G011": Case(
        *[f"{FINDINGS}::test_g011_the_same_study_trained_on_other_rows_is_told_and_another_rule_on_the_same_rows_is_not"] * 2),
    "G012": Case(changed, again), "G013": Case(committed, first), "G014": Case(stranger, member),
    "G015": Case(corrected, justified),
    "G016": Case(member, stranger), "G017": Case(scored_elsewhere, predicted_elsewhere),
    "G018": Case(perhaps_scored_elsewhere, scored_elsewhere),
    "G020": Case(reseeded, another_table), "G021": Case(reseeded, another_table),
    "G022": Case(scaled, another_table), "G023": Case(only_digests, lambda home, patch: only_digests(home, patch, 0)),
    "G024": Case(on_the_same_days, scaled),
    "G025": Case(fitted_elsewhere, fitted_on_all), "G026": Case(fitted_on_all, fitted_elsewhere),
    "G027": Case(f"{GATE}::test_01_a_scorer_that_was_edited_is_a_finding_and_nothing_is_judged", first),
    "G028": Case(f"{GATE}::test_20_a_loop_that_knew_the_labels_that_judge_is_told_at_the_close", first),
    "G029": Case(f"{GATE}::test_05_the_rule_of_the_package_that_was_edited_is_a_finding", first),
    "G030": Case(repeated, first),
    "G031": Case(*[f"{FINDINGS}::test_g031_near_copies_are_told_and_independent_rows_are_not"] * 2),
    "G032": Case(*[f"{FINDINGS}::test_g032_groups_on_both_sides_are_told_and_whole_groups_are_not"] * 2),
    "G033": Case(by_another_target, on_the_same_days),
    "G040": Case(of_many, of_many_by_auc), "G041": Case(too_good, first),
    "G050": Case(*[f"{FINDINGS}::test_g050_a_budget_nearly_used_is_told_and_an_ample_one_is_not"] * 2),
    "G051": Case(*["guard/test_modes.py::test_looks_without_end_leave_no_information"] * 2),
    "G052": Case(kappa, first), "G053": Case(beyond_quota, first),
    "G060": Case(interrupted, changed),
    "G061": Case(burned, first),
    "G070": Case(f"{ATTEMPTS}::test_16_a_chain_written_anew_is_whole_and_contradicts_its_witnesses", WHOLE),
    "G071": Case(f"{ATTEMPTS}::test_17_a_truncated_ledger_and_a_restored_copy", WHOLE),
    "G072": Case(f"{ATTEMPTS}::test_14_the_deleted_ledger_is_known_from_its_anchors", WHOLE),
    "G073": Case(weakened, changed),
    "G074": Case(f"{ATTEMPTS}::test_29_a_lock_file_made_with_another_key_is_a_gap", changed),
    "G075": Case(f"{ATTEMPTS}::test_21_a_clock_that_was_set_back", changed), "G076": Case(after_unguarded, changed),
    "G077": Case(*[f"{FINDINGS}::test_g077_an_anchor_that_is_away_is_told_and_one_that_is_there_is_not"] * 2),
    "G078": Case(f"{FORGETTING}::test_a_ledger_with_looks_of_others_that_cannot_be_reached_takes_the_certificate", changed),
    "G079": Case("guard/attacks/test_forgery.py::test_a_forgery_is_named_stops_nobody_and_hides_nothing", changed),
    "G080": Case(*[f"{LINT}::test_a_conflict_an_edit_and_other_text_are_g080_at_their_line"] * 2),
    "G081": Case(*[f"{LINT}::test_without_a_ledger_it_is_g081_and_none_is_made"] * 2),
    "G082": Case(*[f"{LINT}::test_a_set_of_another_ledger_is_g082_and_one_of_this_ledger_that_lost_it_is_graver"] * 2),
    "G083": Case(*[f"{LINT}::test_a_file_that_was_put_back_is_g083_at_its_count"] * 2),
    "G084": Case(*[f"{LINT}::test_git_alone_tells_g084_of_looks_that_a_change_adds"] * 2),
    "G085": Case(*[f"{LINT}::test_git_alone_tells_g085_of_looks_that_a_change_takes_away"] * 2),
}  # fmt: skip


def test_every_code_of_the_catalogue_has_both_cases() -> None:
    assert set(CASES) == set(catalogue())


@pytest.fixture(scope="module")
def told_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Scene], set[str]]:
    """What a scene is told, in a home of its own: a scene in which many codes are (not) due is played once."""

    @cache
    def codes(scene: Scene) -> set[str]:
        with pytest.MonkeyPatch.context() as patch:
            return scene(tmp_path_factory.mktemp("scene") / "home", patch)

    return codes


@pytest.mark.sampled(8)
@pytest.mark.parametrize("code", sorted(CASES))
def test_a_finding_is_told_where_it_is_due(code: str, told_in: Callable[[Scene], set[str]]) -> None:
    due = CASES[code].due
    assert code in (asserted(due) if isinstance(due, str) else told_in(due))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("code", sorted(CASES))
def test_a_finding_is_not_told_where_it_is_not_due(code: str, told_in: Callable[[Scene], set[str]]) -> None:
    otherwise = CASES[code].otherwise
    if isinstance(otherwise, str):
        assert code in asserted(otherwise)
    else:
        assert code not in told_in(otherwise)


def asserted(place: str) -> set[str]:
    """The codes that a test elsewhere asserts something of."""
    file, _, name = place.partition("::")
    tree = ast.parse((FOLDER / file).read_text())
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    constants = [one.value for node in ast.walk(found) if isinstance(node, ast.Assert) for one in ast.walk(node)
                 if isinstance(one, ast.Constant) and isinstance(one.value, str)]  # fmt: skip
    return {code for code in catalogue() if any(code in text for text in constants)}
