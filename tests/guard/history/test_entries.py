"""What a seal decides: which settings go together, which are limits, and when a policy is weaker than before."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.fingerprint import digest
from modelsel.core.spec import make
from modelsel.guard.entries import (
    FIXED,
    declared_space,
    intent_to_burn,
    space_hashes,
    terms_of,
    weaker,
)
from modelsel.guard.facts import SealTerms
from modelsel.guard.history import History
from modelsel.guard.policy.base import Policy
from modelsel.ledger.rows.matching import Sketch, table_set, table_sketches
from modelsel.ledger.rows.row_set import RowSet
from modelsel.statistics.prices import steps_near
from tests.guard.chains import entry, reading

BEFORE = SealTerms.read({"delta": 0.05, "release": "grid", "rank": 1, "max_looks": 5, "quota": None})


def terms(rows: int = 100, measure: str = "error", **settings: Any) -> SealTerms:
    policy = replace(make("guard", "warn"), **settings)
    assert isinstance(policy, Policy)
    sealing = SimpleNamespace(sealed=range(rows), measure=make("measure", measure))
    return terms_of(policy, sealing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("resolution", "steps"), [("count", None), (0.5, 2), (0.01, 100), (0.3, 3), ("auto", steps_near(0.05)), (1e-3, 1000)]
)
def test_answers_are_rounded_to_so_many_steps(resolution: float | str, steps: int | None) -> None:
    assert terms(resolution=resolution).steps == steps  # auto: the deviation of a rate of one half, of 100 rows


@pytest.mark.parametrize(("rows", "steps"), [(0, 2), (1, 2), (2500, 100), (10_000, 200)])
def test_an_automatic_step_is_the_deviation_of_a_rate_of_one_half(rows: int, steps: int) -> None:
    assert terms(rows, resolution="auto").steps == steps_near(0.5 / max(1, rows) ** 0.5)
    assert rows < 2500 or terms(rows, resolution="auto").steps == steps


@pytest.mark.parametrize("resolution", [0.0, -0.1, 0.51, 1.0, "fine", "0.01"])
def test_what_is_no_step_is_refused(resolution: float | str) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.resolution"):
        terms(resolution=resolution)


@pytest.mark.parametrize("quota", [None, 0.5, 1e-3, 1, 2, 2.0, 100])
def test_a_number_of_answers_or_a_half_width_is_a_quota(quota: float | None) -> None:
    assert terms(quota=quota).quota == quota


@pytest.mark.parametrize("quota", [0, -0.1, -1, 0.51, 0.99, 1.5, 2.25])
def test_any_other_number_is_no_quota(quota: float) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.quota"):
        terms(quota=quota)


@pytest.mark.parametrize("release", ["passfail", "ladder", "thresholdout", "full", "grid", "predicted"])
@pytest.mark.parametrize("measure", ["error", "brier"])
@pytest.mark.parametrize("target", [None, 0.2])
def test_answers_that_are_error_rates_are_asked_of_errors_alone_and_a_pass_of_a_target(
    release: str, measure: str, target: float | None
) -> None:
    wrong = measure != "error" and release in ("passfail", "ladder", "thresholdout")
    if wrong or (release == "passfail" and target is None):
        with pytest.raises(ConfigurationError, match="shows error rates" if wrong else "needs a target"):
            terms(release=release, measure=measure, target=target)
    else:
        said = terms(release=release, measure=measure, target=target)
        assert (said.release, said.metric, said.target) == (release, measure, target)


@pytest.mark.parametrize(
    ("declared", "candidates", "fits"),
    [(5, 5, True), (6, 5, True), (4, 5, False), ("12", 5, True), (0, 0, False), (1, 0, True), ("five", 1, False),
     (-3, 1, False),     ("2.0", 1, False)],
)  # fmt: skip
def test_a_declared_space_holds_every_candidate_of_the_plan(declared: int | str, candidates: int, fits: bool) -> None:
    if fits:
        assert declared_space(declared, candidates) == int(declared)
    else:
        with pytest.raises(ConfigurationError, match=r"guard\.declared_space") as caught:
            declared_space(declared, candidates)
        assert f"at least {max(1, candidates)}" in str(caught.value)


@pytest.mark.parametrize("name", FIXED)
def test_a_term_that_a_seal_fixes_is_weaker_when_it_is_any_other(name: str) -> None:
    sealed = BEFORE.but(**dict.fromkeys(FIXED, 1))
    assert weaker([sealed], sealed) == []
    assert weaker([sealed], sealed.but(**{name: 2})) == [name]
    assert weaker([sealed, sealed.but(**{name: 2})], sealed) == []  # the seal decides


def test_a_policy_is_weaker_than_the_strictest_so_far() -> None:
    """All pairs of ranks and numbers of looks, against the rule in words."""
    for first, second, now in product(product((1, 2), (None, 3, 5)), repeat=3):
        before = [BEFORE.but(rank=rank, max_looks=looks) for rank, looks in (first, second)]
        known = [looks for _, looks in (first, second) if looks is not None]
        lower = now[0] < max(first[0], second[0])
        more = bool(known) and (now[1] is None or now[1] > min(known))
        said = weaker(before, BEFORE.but(rank=now[0], max_looks=now[1]))
        assert said == (["policy"] if lower else ["max_looks"] if more else [])


def test_a_candidate_is_known_by_the_first_half_of_the_first_half_of_its_digest() -> None:
    ids = ("b", "a", "b", "c")
    assert space_hashes(ids).tolist() == sorted(int(digest(one)[:16], 16) for one in "abc")
    assert space_hashes(ids).dtype == np.uint64


def test_the_sketches_of_a_table_are_read_back() -> None:
    drawn = tuple(Sketch(f"x{i}", f"digest {i}", np.arange(i + 1, dtype=np.uint64), np.full(i + 1, 0.25)) for i in range(3))
    again = table_sketches(RowSet.unpack(table_set(drawn, 7).pack()))
    assert [(one.name, one.digest, one.values.tolist(), one.shares.tolist()) for one in again] == [
        (one.name, one.digest, one.values.tolist(), one.shares.tolist()) for one in drawn
    ]


def test_labels_given_away_are_the_look_after_all_before_and_state_what_these_cost() -> None:
    looks = [
        entry("intent", seq=1, worst=4.0),
        entry("intent", seq=2, id="j", worst=3.0),
        entry("intent", seq=3, testset="other"),
    ]
    subject: Any = SimpleNamespace(digest="t", train="d", test=SimpleNamespace(bound=range(30)))
    facts = intent_to_burn(subject, SimpleNamespace(spec_id="s", study="x", folder="f"), 9.0, History.of(reading(looks)))  # type: ignore[arg-type]
    assert (facts.look, facts.spent, facts.worst, facts.n) == (3, 7.0, 9.0, 30)


def test_a_policy_is_weaker_by_its_quota_where_this_leaves_more_or_cannot_be_compared() -> None:
    for before, now in product((None, 1e-3, 0.1, 0.5, 1, 2, 3), repeat=2):
        alike = before is None or (now is not None and (before >= 1) == (now >= 1) and now <= before)
        assert weaker([BEFORE.but(quota=before)], BEFORE.but(quota=now)) == ([] if alike else ["quota"])
