"""Comparison over runs: what is paired is compared, what is not is refused."""

from dataclasses import replace

import numpy as np
import pytest

from modelsel.comparison.learners import over_folds, over_sets, sentences_over_folds, sentences_over_sets
from modelsel.comparison.runs import ComparedRun, EntryResult, pairing, ratio_of, score_choice
from modelsel.core.errors import ConfigurationError
from modelsel.statistics.paired import corrected_t
from modelsel.statistics.ranks import friedman

# AUC of C4.5 and three variants on 14 sets; Demšar (2006), table 6
DEMSAR = """
.763 .768 .771 .798  .599 .591 .590 .569  .954 .971 .968 .967  .628 .661 .654 .657  .882 .888 .886 .898
.936 .931 .916 .931  .661 .668 .609 .685  .583 .583 .563 .625  .775 .838 .866 .875  1 1 1 1
.940 .962 .965 .962  .619 .666 .614 .669  .972 .981 .9751 .975  .957 .978 .946 .970
"""
LEARNERS = ("c45", "c45_m", "c45_cf", "c45_m_cf")


def run(
    name: str, means: dict[str, float], task: str = "t", resampling: str = "r", measure: str = "error", seed: int = 0
) -> ComparedRun:
    rng = np.random.default_rng(seed)
    best = tuple(EntryResult(learner, f"id-{learner}", mean, mean + rng.normal(0, 0.02, 10)) for learner, mean in means.items())
    return ComparedRun(name, name, task, resampling, measure, 1 / 9, best, measure == "auc")


@pytest.mark.slow
def test_the_paper_s_table_is_read_as_the_paper_reads_it() -> None:
    table = np.array(DEMSAR.split(), float).reshape(14, 4)
    runs = [run(f"set{i}", dict(zip(LEARNERS, row)), task=f"t{i}", measure="auc") for i, row in enumerate(table)]
    assert pairing(runs) == "sets"
    of = over_sets(runs)
    assert dict(zip(of.learners, of.friedman.ranks.round(3).tolist())) == {
        "c45": 3.143, "c45_cf": 2.893, "c45_m": 2.0, "c45_m_cf": 1.964}  # fmt: skip
    assert (round(of.friedman.f, 2), round(of.difference, 2)) == (3.69, 1.25)
    assert [set(bar) for bar in of.bars] == [{0, 1, 2, 3}]  # no two mean ranks are 1.25 apart
    said = " ".join(sentences_over_sets(of))
    assert "F = 3.69" in said
    assert "critical difference of mean ranks at 0.05 is 1.25" in said
    assert len(of.pairs) == 6
    assert min(pair.nemenyi for pair in of.pairs) > 0.05  # as no two mean ranks are 1.25 apart


@pytest.mark.slow
def test_a_pair_that_is_told_apart_says_who_is_better() -> None:
    for measure, better in (("error", "cart"), ("auc", "knn")):
        runs = [run(f"s{i}", {"cart": 0.2 + i / 90, "knn": 0.3 + i / 99}, task=f"t{i}", measure=measure) for i in range(9)]
        worse = "knn" if better == "cart" else "cart"
        assert (
            over_sets(runs).pairs[0].nemenyi < 0.01
        )  # ranks 1 and 2 on nine tables: one apart, and .86 is the distance at .01
        said = [words for words in sentences_over_sets(over_sets(runs)) if words.startswith(f"{better} is better than {worse}")]
        assert len(said) == 1
        assert "in the median by 0.09" in said[0]


@pytest.mark.slow
def test_the_order_of_data_sets_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    runs = [run(f"s{i}", dict(zip("abc", rng.random(3).round(2))), task=f"t{i}", seed=i) for i in range(8)]
    first, second = over_sets(runs), over_sets(runs[::-1])
    assert first.pairs == second.pairs
    assert sentences_over_sets(first) == sentences_over_sets(second)
    assert np.array_equal(first.won, second.won)


def test_learners_on_the_same_folds_are_compared_by_the_corrected_test() -> None:
    one = run("s", {"cart": 0.2, "knn": 0.21, "majority": 0.5})
    pairs = over_folds([one])
    assert pairing([one]) == "folds"
    assert [(pair.first, pair.second) for pair in pairs] == [("cart", "knn"), ("cart", "majority"), ("knn", "majority")]
    direct = corrected_t(one.best[1].folds - one.best[0].folds, 1 / 9)
    assert pairs[0].p == pytest.approx(float(direct.p))
    assert pairs[1].adjusted < 0.001
    said = sentences_over_folds(pairs, [one])
    assert said[1].startswith("cart has a lower error than majority, by 0.2983 (")
    assert "interval +0." in said[1]
    assert "Holm p < 0.0001: told apart" in said[1]
    total = pairs[0].posterior
    assert total.below + total.within + total.above == pytest.approx(1)


def test_two_runs_on_the_same_folds_name_their_learners_apart() -> None:
    pairs = over_folds([run("first", {"cart": 0.2}), run("second", {"cart": 0.3}, seed=1)])
    assert (pairs[0].first, pairs[0].second) == ("first: cart", "second: cart")


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([], "MSEL-281"),
        ([run("a", {"x": 0.1}), run("b", {"x": 0.2}, measure="auc")], "MSEL-282"),
        ([run("a", {"x": 0.1}), run("b", {"x": 0.2}, resampling="other")], "MSEL-283"),
        (
            [run("a", {"x": 0.1, "y": 0.2}), run("b", {"x": 0.2, "y": 0.2}), run("c", {"x": 0.2, "y": 0.1}, task="u")],
            "MSEL-284",
        ),
        ([run("a", {"x": 0.1, "y": 0.2}), run("b", {"x": 0.2, "z": 0.2}, task="u")], "MSEL-285"),
        ([run("a", {"x": 0.1})], "MSEL-285"),
    ],
)
def test_what_is_not_paired_is_refused(runs: list[ComparedRun], code: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        pairing(runs)
    assert caught.value.code == code


def test_one_holdout_has_no_fold_differences() -> None:
    single = ComparedRun("s", "s", "t", "r", "error", 0.4, tuple(EntryResult(n, n, 0.1, np.array([0.1])) for n in "ab"))
    with pytest.raises(ConfigurationError, match="MSEL-286"):
        over_folds([single])


def test_the_ratio_is_read_off_the_fold_assignment() -> None:
    assert ratio_of(np.arange(100)[:, None] % 10) == pytest.approx(1 / 9)
    holdout = np.where(np.arange(10) < 3, 0, -1)[:, None]
    assert ratio_of(holdout) == pytest.approx(3 / 7)


def test_ranks_of_learners_do_not_hang_on_the_order_of_data_sets() -> None:
    table = np.random.default_rng(0).random((9, 4)).round(2)
    first, second = friedman(table), friedman(table[::-1])
    assert first.f == pytest.approx(second.f)
    assert np.allclose(friedman(table, higher_is_better=True).ranks, 5 - first.ranks)


def test_data_sets_on_which_two_are_equal_are_dropped_by_wilcoxon_and_that_is_said() -> None:
    means = [{"a": 0.2, "b": 0.2 + 0.01 * (i > 2)} for i in range(8)]
    runs = [run(f"s{i}", one, task=f"t{i}", seed=i) for i, one in enumerate(means)]
    of = over_sets(runs)
    assert of.pairs[0].equal == 3
    said = " ".join(sentences_over_sets(of))
    assert "Wilcoxon's test drops data sets on which two learners are equal: of 1 of 1 pairs, up to 3 each." in said
    apart = over_sets([run(f"s{i}", {"a": 0.2, "b": 0.3 + i / 100}, task=f"t{i}") for i in range(4)])
    assert "drops" not in " ".join(sentences_over_sets(apart))


def test_the_hierarchical_test_reads_every_fold_of_every_data_set() -> None:
    from modelsel.core.fingerprint import digest, generator
    from modelsel.statistics.bayesian import bayes_hierarchical

    runs = [run(f"s{i}", {"a": 0.2, "b": 0.25 + i / 100}, task=f"t{i}", seed=i) for i in range(4)]
    pair = over_sets(runs).pairs[0]
    found = sorted((np.round(one.of("b").folds - one.of("a").folds, 12).tolist(), one.ratio) for one in runs)
    rng = generator(0, digest(["a", "b", found]), "hierarchical")
    assert pair.hierarchical == bayes_hierarchical([np.array(folds) for folds, _ in found], [1 / 9] * 4, rng, 0.01)
    assert pair.hierarchical.above > 0.9
    means = [("a", 0.1), ("b", 0.2)]
    once = tuple(EntryResult(name, name, mean, np.array([mean])) for name, mean in means)
    single = [ComparedRun(f"s{i}", f"s{i}", f"t{i}", "r", "error", 0.5, once) for i in range(3)]
    assert over_sets(single).pairs[0].hierarchical is None


def test_rounding_follows_the_scale_of_numbers() -> None:
    """Scores of numbers of any unit tie by the order of sums alone, and no others do."""
    folds = np.array([[3.0, 1.0, 2.0, 4.0], [3.0, 1.0, 2.0, 4.0]])
    for unit in (1e-15, 1.0, 1e15):
        noise, apart = folds * (1 + np.array([[0.0], [1e-15]])), folds * np.array([[1.0], [0.9999]])
        repeat = np.zeros(4, np.int64)
        assert score_choice(unit * noise, repeat, scale=unit).tolist() == (unit * folds[0]).tolist()
        assert score_choice(unit * apart, repeat, scale=unit).tolist() == (unit * apart[1]).tolist()


def test_numbers_of_several_tables_are_compared_as_shares_of_the_floor() -> None:
    runs = [run(f"s{i}", {"cart": 0.4 + i / 90, "knn": 0.5 + i / 99}, task=f"t{i}", measure="mse", seed=i) for i in range(4)]
    units = [1e-9, 1.0, 1e3, 1e12]
    grown = [
        replace(one, scale=unit, best=tuple(replace(e, mean=e.mean * unit, folds=e.folds * unit) for e in one.best))
        for one, unit in zip(runs, units)
    ]
    found, same = over_sets(grown), over_sets(runs)
    assert found.measure == "mse as a share of the floor's"
    np.testing.assert_allclose(found.table, same.table)
    assert [(pair.equal, round(pair.median, 9)) for pair in found.pairs] == [(p.equal, round(p.median, 9)) for p in same.pairs]
