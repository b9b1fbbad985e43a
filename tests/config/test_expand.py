"""Spaces to candidates, against plain loops over parts built one by one."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.config.build import BuildContext, Builder
from modelsel.config.build import build as learner
from modelsel.config.expand import Space, expand
from modelsel.config.folders import Folders
from modelsel.core.types import Candidate

FOLDERS = Folders.of()


def space(wanted: Any, seed: int = 0) -> Space:
    builder = Builder(FOLDERS, context=BuildContext(seed=seed))
    found = expand(wanted, builder)
    assert not builder.problems
    return found


def problems(wanted: Any) -> list[str]:
    builder = Builder(FOLDERS)
    assert expand(wanted, builder).candidates == ()
    return [str(problem) for problem in builder.problems]


def built(name: str, **overrides: object) -> Candidate:
    return Candidate(*learner(name, overrides))


def ids(candidates: Any) -> list[str]:
    return [candidate.id for candidate in candidates]


DIMENSIONS: Mapping[str, list[Any]] = {
    "max_depth": [1, 2, None],
    "min_leaf": [1, 5],
    "criterion": ["gini", "entropy", "gain_ratio"],
    "leaf.score": ["frequency", "laplace"],
    "missing": ["node_mode", "class_mode"],
    "pruner": ["unpruned", "reduced_error"],
}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted(DIMENSIONS)), unique=True, min_size=1, max_size=3))
def test_a_sweep_is_the_product_of_its_settings_in_declared_order(names: list[str]) -> None:
    found = space({"entry": {"learner": "tree", "sweep": {name: DIMENSIONS[name] for name in names}}})
    expected = [built("tree", **dict(zip(names, values))) for values in product(*(DIMENSIONS[name] for name in names))]
    assert ids(found.candidates) == ids(expected)
    assert {candidate.entry for candidate in found.candidates} == {"entry"}


def test_dotted_nested_and_written_out_sweeps_say_the_same() -> None:
    dotted = {"pruner": "cost_complexity", "pruner.alpha": "choice(0.1, 0.2)", "leaf.score": "choice(laplace, frequency)"}
    nested = {"pruner": {"kind": "cost_complexity", "alpha": [0.1, 0.2]}, "leaf": {"score": ["laplace", "frequency"]}}
    written = {"pruner": "choice({kind: cost_complexity, alpha: 0.1}, {kind: cost_complexity, alpha: 0.2})",
               "leaf.score": "laplace,frequency"}  # fmt: skip
    spaces = [space({"t": {"learner": "tree", "sweep": sweep}}) for sweep in (dotted, nested, written)]
    assert len({tuple(ids(found.candidates)) for found in spaces}) == 1
    assert len(spaces[0].candidates) == 4


def test_a_list_of_sweeps_is_their_union_and_repeats_are_merged() -> None:
    found = space({"t": {"learner": "tree", "sweep": [{"max_depth": [1, 2]}, {"max_depth": "range(2, 4)"}]}})
    assert [candidate.learner.max_depth for candidate in found.candidates] == [1, 2, 3]
    assert (found.declared, found.merged) == (4, 1)


def test_settings_beneath_a_swept_part_go_to_the_alternatives_that_have_them() -> None:
    sweep = {"pruner": "choice(unpruned, reduced_error, cost_complexity)", "pruner.share": [0.2, 0.3], "pruner.alpha": [0, 0.1]}
    pruners = [candidate.learner.pruner for candidate in space({"t": {"learner": "tree", "sweep": sweep}}).candidates]
    assert [type(pruner).__name__ for pruner in pruners] == ["Unpruned", "ReducedError", "ReducedError"] + 2 * [
        "CostComplexity"
    ]
    assert [pruner.share for pruner in pruners[1:3]] == [0.2, 0.3]
    assert [pruner.alpha for pruner in pruners[3:]] == [0.0, 0.1]


def test_a_setting_that_no_alternative_has_is_an_error() -> None:
    sweep = {"pruner": "choice(unpruned, reduced_error)", "pruner.alpha": [0, 0.1]}
    assert problems({"t": {"learner": "tree", "sweep": sweep}}) == [
        "MSEL-203: unknown setting 'alpha', space.t.sweep.pruner.alpha; one of: relabel, share"
    ]


def test_a_preset_keeps_its_settings_for_its_own_kind_and_another_kind_starts_afresh() -> None:
    own = space({"a": {"learner": "c45", "sweep": {"pruner.confidence": [0.1]}}}).candidates[0].learner
    assert own.pruner == learner("c45")[0].pruner.__class__(**{**vars(learner("c45")[0].pruner), "confidence": 0.1})
    other = space({"a": {"learner": "c45", "sweep": {"pruner": ["unpruned"]}}}).candidates[0].learner
    assert type(other.pruner).__name__ == "Unpruned"
    assert other.criterion == learner("c45")[0].criterion


def test_a_path_strength_marks_a_family() -> None:
    found = space({"t": {"learner": "tree", "sweep": {"pruner": "cost_complexity", "pruner.alpha": ["path", 0.1]}}})
    assert [candidate.family for candidate in found.candidates] == ["pruner.alpha: path", ""]


def test_names_are_files_of_spaces_else_learners_and_a_list_is_their_union() -> None:
    assert [candidate.entry for candidate in space(["naive_bayes", "majority"]).candidates][-1] == "majority"
    assert ids(space("majority").candidates) == [built("majority").id]
    assert space(["majority", "table"]).name == "majority-table"


def test_an_entry_may_be_bare_or_carry_settings() -> None:
    bare = space({"majority": None, "other": "knn", "own": {"learner": {"kind": "knn", "k": 3}, "vote": "inverse"}})
    assert ids(bare.candidates) == [built("majority").id, built("knn").id, built("knn", k=3, vote="inverse").id]


def test_preparers_are_swept_like_parts() -> None:
    sweep = {"preparer": "choice(discretise_width, discretise_frequency)", "preparer.bins": [3, 5]}
    found = space({"n": {"learner": "naive_bayes", "sweep": sweep}})
    assert [[(type(step).__name__, step.bins) for step in one.preparers] for one in found.candidates] == [
        [("DiscretiseWidth", 3)], [("DiscretiseWidth", 5)], [("DiscretiseFrequency", 3)], [("DiscretiseFrequency", 5)],
    ]  # fmt: skip


def test_draws_are_as_many_as_said_and_the_same_for_the_same_seed() -> None:
    entry = {
        "t": {
            "learner": "tree",
            "sweep": {"min_leaf": "interval(1, 50)", "min_gain": "tag(log, interval(1e-4, 0.1))"},
            "draw": 30,
        }
    }
    first, again, other = space(entry), space(entry), space(entry, seed=1)
    assert first.declared == 30
    assert ids(first.candidates) == ids(again.candidates) != ids(other.candidates)
    assert all(1 <= candidate.learner.min_leaf <= 50 for candidate in first.candidates)
    assert len({candidate.learner.min_gain for candidate in first.candidates}) == 30


def tree(sweep: Any, **entry: Any) -> dict[str, Any]:
    return {"t": {"learner": "tree", "sweep": sweep, **entry}}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("tress", "MSEL-201: unknown space 'tress', space; did you mean"),
        (["knn", 3], "MSEL-220: 3 is not a name of a space"),
        (None, "MSEL-220: None is not a name of a space"),
        ({"t": {"learner": "treee"}}, "MSEL-201: unknown learner 'treee', space.t; did you mean 'tree'?"),
        ({"t": 3}, "MSEL-221: an entry should be a mapping"),
        (tree(3), "MSEL-221: a sweep should be a mapping"),
        (tree({}, draw=0), "MSEL-205: found 0, space.t.draw"),
        (tree({"max_dept": [1]}), "space.t.sweep.max_dept; did you mean 'max_depth'?"),
        (tree({"max_depth": [1, "x"]}), "MSEL-205: found 'x', space.t.sweep.max_depth"),
        (tree({"max_depth": "choice(null, 3)"}), "MSEL-225: 'choice(null, 3)' is not in the sweep grammar"),
        (tree({"min_leaf": "interval(0, 9)"}, draw=3), "MSEL-205: 0 is out of range, space.t.sweep.min_leaf"),
        (tree({"criterion": ["ginni"]}), "unknown criterion 'ginni', space.t.sweep.criterion; did you mean 'gini'?"),
        (tree({"criterion": [False]}), "MSEL-206: the truth value false is not a name of a criterion"),
        (tree({"min_leaf": "range(1, 3000)", "max_depth": "range(1, 3000)"}), "MSEL-223: 8,994,001 candidates"),
        (tree({"leaf": "laplace"}), "it has settings of its own"),
    ],
)
def test_what_is_wrong_with_a_space_is_said(wanted: Any, said: str) -> None:
    assert said in "\n".join(problems(wanted))


def test_all_problems_come_in_one_pass() -> None:
    wanted = {
        "a": {"learner": "tree", "sweep": {"max_dept": [1], "criterion": ["ginni"], "min_leaf": [0]}},
        "b": {"learner": "nobody"},
    }
    assert len(problems(wanted)) == 4


def test_two_files_may_not_use_one_name_for_two_things(tmp_path: Any) -> None:
    (tmp_path / "space").mkdir()
    (tmp_path / "space" / "one.yaml").write_text("t: {learner: knn}\n")
    (tmp_path / "space" / "two.yaml").write_text("t: {learner: majority}\n")
    builder = Builder(Folders.of(tmp_path))
    expand(["one", "two"], builder)
    assert [problem.code for problem in builder.problems] == ["MSEL-222"]


@pytest.mark.parametrize("name", FOLDERS.options("space"))
def test_every_space_of_the_package_expands(name: str) -> None:
    found = space(name)
    assert found.candidates
    assert found.merged == 0
    assert len(set(ids(found.candidates))) == len(found.candidates)


def test_a_file_of_a_space_may_begin_from_others_and_numbers_have_theirs(tmp_path: Any) -> None:
    (tmp_path / "space").mkdir()
    more = "defaults: [trees, majority]\nmine: {learner: knn}\ncart: {learner: cart}\n"
    (tmp_path / "space" / "own.yaml").write_text(more)
    (tmp_path / "space" / "majority.yaml").write_text("majority:\n")
    builder = Builder(Folders.of(tmp_path))
    both = expand("own", builder)
    named = expand(
        {**(FOLDERS.read("space", "trees") or {}), "majority": None, "mine": "knn", "cart": {"learner": "cart"}}, builder
    )
    assert not builder.problems
    assert ids(both.candidates) == ids(named.candidates)
    of_numbers = FOLDERS.for_numbers()
    assert of_numbers.read("space", "default") == of_numbers.read("space", "quickstart") != FOLDERS.read("space", "quickstart")


def test_a_large_space_is_listed_without_building_parts_again() -> None:
    sweep = {"min_leaf": "range(1, 101)", "max_depth": "range(1, 51)", "leaf.score": ["frequency", "laplace"]}
    found = space({"t": {"learner": "tree", "sweep": sweep}})
    assert len(found.candidates) == 10_000
    assert len({id(candidate.learner.criterion) for candidate in found.candidates}) == 1


def test_values_inside_a_mapping_may_be_swept() -> None:
    sweep = {"params.n_estimators": "choice(10, 50)", "params.criterion": ["gini", "entropy"]}
    entry = {"learner": "sklearn", "estimator": "RandomForestClassifier", "params": {"max_depth": 3}, "sweep": sweep}
    found = space({"forest": entry}).candidates
    expected = [{"max_depth": 3, "n_estimators": n, "criterion": c} for n in (10, 50) for c in ("gini", "entropy")]
    assert [dict(candidate.learner.params) for candidate in found] == expected
    assert len(set(ids(found))) == 4


def test_mappings_inside_a_mapping_are_swept_too_and_intervals_are_drawn() -> None:
    nested_entry = {"learner": "sklearn", "sweep": {"params.class_weight.0": "choice(1, 2)", "params.C": [0.5]}}
    found = space({"linear": nested_entry}).candidates
    assert [dict(candidate.learner.params) for candidate in found] == [
        {"class_weight": {"0": weight}, "C": 0.5} for weight in (1, 2)
    ]
    drawn = space({"linear": {"learner": "sklearn", "draw": 5, "sweep": {"params": {"C": "tag(log, interval(0.01, 10))"}}}})
    assert len({candidate.learner.params["C"] for candidate in drawn.candidates}) == 5
    assert all(0.01 <= candidate.learner.params["C"] <= 10 for candidate in drawn.candidates)


def test_an_interval_inside_a_mapping_is_drawn_from_as_everywhere() -> None:
    space = expand({"linear": {"learner": "sklearn", "sweep": {"params.C": "interval(0.1, 1)"}}}, Builder(FOLDERS))
    assert len(space.candidates) == 60


def test_a_misspelt_parameter_in_a_swept_mapping_is_said() -> None:
    builder = Builder(FOLDERS)
    expand({"linear": {"learner": "sklearn", "sweep": {"params.CC": "choice(1, 2)"}}}, builder)
    assert "LogisticRegression has no parameter 'CC'" in str(builder.problems[0])


def read_by(measure: str | None, text: Any) -> list[str]:
    """Entries of the candidates that stand where this measure chooses."""
    builder = Builder(FOLDERS)
    builder.context = BuildContext(measure and builder.part("measure", measure, "measure"))
    found = expand(text, builder)
    assert not builder.problems
    return [candidate.entry for candidate in found.candidates]


@pytest.mark.parametrize(
    ("measure", "entries"), [("error", ["a"]), ("auc", ["a", "b"]), ("log_loss", ["a", "a", "b"]), (None, ["a", "a", "b"])]
)
def test_what_only_some_measures_read_is_a_candidate_under_these(measure: str | None, entries: list[str]) -> None:
    bayes = {"learner": "naive_bayes", "sweep": [{"smoothing": 2}, {"measure_reads": "probabilities", "calibrator": "platt"}]}
    assert read_by(measure, {"a": bayes, "b": {"learner": "knn", "measure_reads": "scores"}}) == entries


@pytest.mark.parametrize(("measure", "there"), [("error", True), ("auc", True), ("log_loss", False), (None, True)])
def test_what_would_give_a_class_no_chance_is_left_out_where_probabilities_are_read(measure: str | None, there: bool) -> None:
    assert bool(read_by(measure, {"a": {"learner": "cart", "measure_reads": ["classes", "ranks"]}})) is there


def test_what_no_measure_can_read_is_named_where_it_stands() -> None:
    found = problems({"a": {"learner": "knn", "sweep": [{"k": 3}, {"measure_reads": "minds", "k": 5}]}})
    assert found == [
        "MSEL-205: found 'minds', space.a.sweep[1].measure_reads; choose among classes, scores, ranks, probabilities"
    ]


def test_an_entry_that_asks_for_other_numbers_of_rows_is_left_out_and_that_is_said():
    from modelsel.config.compose import compose
    from modelsel.core.errors import ConfigurationError
    from modelsel.runner.study_data import prepare

    def left(*more):
        said = ("dataset=iris", "space={naive_bayes: {}, knn: {rows: '> 1000'}, cart: {rows: '<= 150'}}", *more)
        material = prepare(compose(said))
        codes = [one.message for one in material.findings if one.code == "ENTRY_NOT_FOR_ROWS"]
        return {one.entry for one in material.config.candidates}, codes

    entries, codes = left()
    rows = len(prepare(compose(("dataset=iris",))).development)
    assert entries == {"naive_bayes", "cart"}
    assert codes == [f"knn is left out: its space says rows: > 1000, and there are {rows}"]
    with pytest.raises(ConfigurationError, match='write "<= 100000"'):
        compose(("dataset=iris", "space={knn: {rows: '> many'}}"))
    (forest,) = compose(("dataset=iris", "space={forest: {rows: 0.95}}")).candidates  # a setting of its own
    assert (forest.learner.rows, forest.rows) == (0.95, "")
    with pytest.raises(ConfigurationError, match="no entry of the space asks for"):
        prepare(compose(("dataset=iris", "space={knn: {rows: '> 1000'}}")))
