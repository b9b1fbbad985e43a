"""Paired tests and tests over ranks against R, Weka, mlxtend, baycomp, autorank and the papers' printed tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.statistics.bayesian import bayes_correlated
from modelsel.statistics.paired import corrected_t, five_by_two_f, holm, mcnemar, paired_t
from modelsel.statistics.ranks import critical_difference, friedman, nemenyi, wilcoxon


def answers(reference: Path, name: str) -> Any:
    return json.loads((reference / "stats" / f"{name}.json").read_text())


def test_corrected_resampled_t(reference: Path) -> None:
    for label, case in answers(reference, "corrected_t")["cases"].items():
        d = np.array(case["x"]) - np.array(case["y"])
        ratio = case["n_test"] / case["n_train"]
        found, naive = corrected_t(d, ratio), paired_t(d)
        if case["corrected_t"] is None:  # equal scores: nothing tells them apart
            assert (float(found.p), float(naive.p)) == (1.0, 1.0)
            continue
        assert float(found.statistic) == pytest.approx(case["corrected_t"], rel=1e-10), label
        assert float(found.p) == pytest.approx(case["corrected_p_two_sided"], rel=1e-10), label
        assert float(naive.p) == pytest.approx(case["paired_p_two_sided"], rel=1e-10), label
        assert float(found.p) == pytest.approx(case["weka_PairedStatsCorrected"]["p_value"], rel=1e-8), label
        for rope in ("0.0", "0.01"):
            expected = case.get(f"formula_P(x<y-rope),P(rope),P(x>y+rope)_rope_{rope}")
            if expected is not None:
                rho = case["runs"] / case["J"]  # baycomp's correlation: one over the folds of a run
                posterior = bayes_correlated(d, rho / (1 - rho), float(rope))
                said = (posterior.below, posterior.within, posterior.above)
                assert said == pytest.approx(expected, abs=1e-10), (label, rope)


def test_mcnemar(reference: Path) -> None:
    rows = answers(reference, "mcnemar")["rows"]
    b, c = (np.array([row[key] for row in rows]) for key in "bc")
    assert mcnemar(b, c) == pytest.approx([row["exact_two_sided_p"] for row in rows], rel=1e-9)
    assert mcnemar(b, c, mid=True) == pytest.approx([row["mid_p"] for row in rows], rel=1e-9, abs=1e-15)


def test_five_by_two(reference: Path) -> None:
    for case in answers(reference, "five_by_two_cv")["cases"]:
        assert five_by_two_f(case["differences_5x2"]) == pytest.approx((case["F"], case["p_F"]), rel=1e-9)


def test_friedman_and_nemenyi(reference: Path) -> None:
    given = answers(reference, "friedman_nemenyi")
    for label, case in given.items():
        if not isinstance(case, dict) or "scores" not in case:
            continue
        found = friedman(case["scores"], higher_is_better=True)
        sets, learners = np.shape(case["scores"])
        assert found.ranks == pytest.approx(case["mean_ranks_higher_is_better"], abs=1e-12), label
        assert found.chi2 == pytest.approx(case["chi2_without_tie_correction"], abs=1e-9), label
        assert found.chi2_p == pytest.approx(case["p_without_tie_correction"], abs=1e-9), label
        assert found.f == pytest.approx(case["iman_davenport_F"], abs=1e-9), label
        assert found.f_p == pytest.approx(case["iman_davenport_p"], abs=1e-9), label
        assert found.tie_corrected[0] == pytest.approx(case["chi2_R_friedman_test"], abs=1e-9), label
        assert found.tie_corrected[1] == pytest.approx(case["iman_davenport_F_tie_corrected"], abs=1e-9), label
        for alpha, expected in case["nemenyi_critical_difference"].items():
            assert critical_difference(learners, sets, float(alpha)) == pytest.approx(expected, abs=1e-6), label
        assert nemenyi(found.ranks, sets) == pytest.approx(np.array(case["nemenyi_pairwise_p"]), abs=1e-6), label


def test_wilcoxon_and_holm(reference: Path) -> None:
    given = answers(reference, "wilcoxon_sign_padjust")
    for case in given["wilcoxon"]:
        assert wilcoxon(case["x"], case["y"]) == pytest.approx(case["R"]["p"], rel=1e-9)
    assert holm(given["p_adjust"]["p"]) == pytest.approx(given["p_adjust"]["holm"])
