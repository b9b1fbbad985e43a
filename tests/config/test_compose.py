"""Overrides to a study."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.config.build import Builder
from modelsel.config.compose import Config, _around, compose, recompose
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError
from modelsel.core.fingerprint import digest
from modelsel.core.spec import flat, kind_of, spec_of
from modelsel.core.types import Feature, Task

SMALL = ("dataset=iris", "space=majority")


def problems(*overrides: str, config_dir: Path | None = None) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        compose(overrides, config_dir and str(config_dir))
    assert raised.value.exit_code == 2
    return [str(problem) for problem in raised.value.problems]


def own(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_defaults_are_those_that_are_documented() -> None:
    config = compose()
    parts = {name: type(getattr(config, name)).__name__ for name in ("scheme", "measure", "rule", "guard", "split")}
    assert parts == {"scheme": "StratifiedKfold", "measure": "Error", "rule": "Best", "guard": "Warn", "split": "Random"}
    assert (config.scheme.folds, config.split.test, config.split.seed, config.pool.kind, config.tracking.kind) == (
        10, 0.3, 0, "auto", "sqlite",
    )  # fmt: skip
    assert config.name == "breast_cancer-default"
    assert (config.final_test, config.on_failure, config.outer, config.seed) == ("auto", "record", None, 0)
    families = {"forest", "logistic_regression", "cart", "c45", "knn", "naive_bayes", "majority"}
    assert families == {candidate.entry for candidate in config.candidates}


def test_the_default_takes_a_column_of_many_levels() -> None:
    levels = tuple(map(str, range(300)))
    values = np.stack([np.arange(300.0), np.arange(300.0)], axis=1)
    task = Task(
        name="towns", features=(Feature("town", "nominal", levels), Feature("age", "numeric")), values=values,
        rows=np.arange(300), target=np.arange(300, dtype=np.int32) % 2, classes=("a", "b"),
    )  # fmt: skip
    assert [problem for candidate in compose().candidates for problem in candidate.learner.problems(task)] == []


@pytest.mark.parametrize(
    ("said", "split", "scheme"),
    [
        (["dataset.groups=patient", "split.test=0.2", "scheme.folds=4"], "Group", "StratifiedGroupKfold"),
        (["dataset.groups=patient", "scheme=group_kfold"], "Group", "GroupKfold"),
        (["dataset.groups=patient", "split=random", "scheme=stratified_kfold"], "Random", "StratifiedKfold"),  # refused later
        (["dataset.groups=patient", "dataset.time=day"], "Random", "StratifiedKfold"),  # which scheme in time has to be said
        (["dataset.unit=patient"], "Random", "StratifiedKfold"),
    ],
)
def test_where_nobody_says_how_rows_are_divided_declared_groups_stay_whole(
    tmp_path: Path, said: list[str], split: str, scheme: str
) -> None:
    (tmp_path / "visits.csv").write_text("patient,day,ill\n1,1,yes\n")
    config = compose(["dataset=csv", f"dataset.path={tmp_path / 'visits.csv'}", "dataset.target=ill", *said])
    assert (type(config.split).__name__, type(config.scheme).__name__) == (split, scheme)
    assert any("rows of a group stay together: split=group" in note for note in config.notes) == (split == "Group")
    if "split.test=0.2" in said:
        assert (config.split.test, config.scheme.folds) == (0.2, 4)


@pytest.mark.parametrize(
    ("space", "candidates", "ids"),
    [("quickstart", 171, "7c7c1396ba2240ab728ac1c4b0c6d9a5"), ("trees", 157, "ed58994ec187808971f54140e02ed365")],
)
def test_a_space_has_the_candidates_of_earlier_versions_where_classes_are_read(space: str, candidates: int, ids: str) -> None:
    """Looks on record under it are priced and replayed by these ids."""
    found = [candidate.id for candidate in compose([f"space={space}"]).candidates]
    assert (len(found), digest(found)) == (candidates, ids)


@pytest.mark.parametrize("space", ["default", "quickstart", "trees", "cart", "c45", "knn", "forests"])
def test_where_probabilities_are_read_no_tree_and_no_neighbour_gives_a_class_no_chance(space: str) -> None:
    for candidate in compose([f"space={space}", "measure=log_loss"]).candidates:
        spec = flat(spec_of(candidate.learner))
        assert spec.get("leaf.score") != "frequency"
        assert spec.get("smoothing", 1.0) != 0 or spec["kind"] == "table"
        assert spec["kind"] != "knn" or "smoothing" in spec


@pytest.mark.parametrize("space", ["default", "forests"])
def test_the_smoothing_of_a_forest_does_not_grow_with_the_number_of_classes(space: str) -> None:
    """Laplace's rule adds a row's share to each class: leaves of one row say little of nineteen classes."""
    found = [candidate.learner for candidate in compose([f"space={space}", "measure=log_loss"]).candidates]
    leaves = {learner.leaf.score for learner in found if kind_of(learner) == "forest"}
    assert leaves == {"m_estimate"}


@pytest.mark.slow
def test_everything_on_the_help_page_is_understood() -> None:
    from modelsel.cli.help import OVERRIDES

    skipped = ("loans.csv", "dataset=csv", "tracking=sqlite tracking.uri", "experiment=", "learner=")
    for words, _ in OVERRIDES:
        if not words.startswith(skipped):
            assert compose([*SMALL[:1], *(word.strip("'") for word in words.split(" ") if word)]).candidates
    assert compose(["learner=c45", "learner.min_leaf=5"]).candidates[0].learner.min_leaf == 5


def test_a_learner_alone_is_a_space_of_one_entry_with_its_settings() -> None:
    config = compose(["learner=cart", "learner.pruner=reduced_error", "learner.pruner.share=0.2", "learner.max_depth=3"])
    (candidate,) = config.candidates
    assert (candidate.learner.max_depth, candidate.learner.pruner.share) == (3, 0.2)
    assert config.space == "cart"
    swept = compose(["learner=cart", 'learner.sweep.max_depth="range(1, 4)"'])
    assert [one.learner.max_depth for one in swept.candidates] == [1, 2, 3]


def test_a_space_may_be_written_on_the_command_line() -> None:
    config = compose(['space={knn: {sweep: {k: "range(1, 8, 2)"}}}', *SMALL[:1]])
    assert [candidate.learner.k for candidate in config.candidates] == [1, 3, 5, 7]
    assert compose(["space.knn.sweep.k=[1,3]"]).declared == 2


def test_an_outer_scheme_is_a_part_with_settings() -> None:
    assert compose([*SMALL, "outer=kfold"]).outer.folds == 10
    assert compose([*SMALL, "outer.folds=3", "outer=stratified_kfold"]).outer.folds == 3


def test_settings_that_no_file_mentions_and_added_ones_are_taken_alike() -> None:
    for prefix in ("", "+", "++"):
        assert compose([*SMALL, f"{prefix}scheme.folds=4"]).scheme.folds == 4
        assert compose([*SMALL, f"{prefix}limit.memory=2GiB"]).limit.bytes == 2**31


def test_declared_order_and_repeats_are_kept_apart() -> None:
    config = compose(["space={a: {learner: knn, sweep: {k: [1, 3]}}, b: {learner: knn, k: 3}}", *SMALL[:1]])
    assert (config.declared, len(config.candidates)) == (3, 2)
    assert config.notes == ("1 of 3 candidates say the same as another one and were merged",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["dataset=irs"], "MSEL-201: unknown dataset 'irs', dataset=irs; did you mean 'iris'?"),
        (["scheme.fold=3"], "MSEL-203: unknown setting 'fold', scheme.fold; did you mean 'folds'?"),
        (["+scheme.fold=3"], "MSEL-203: unknown setting 'fold', scheme.fold; did you mean 'folds'?"),
        (["scheme.folds=1"], "MSEL-205: 1 is out of range, scheme.folds; give a whole number of at least 2"),
        (["scheme.folds=ten"], "MSEL-205: found 'ten', scheme.folds; give a whole number of at least 2"),
        (["scheme.folds=2.5"], "MSEL-205: found 2.5, scheme.folds; give a whole number of at least 2"),
        (["taget=y"], "MSEL-202: unknown setting 'taget', taget; did you mean 'dataset.target' (in Python target=)?"),
        (["explian=off"], "MSEL-202: unknown setting 'explian', explian; did you mean 'explain'?"),
        (["mesure=auc"], "MSEL-202: unknown setting 'mesure', mesure; did you mean 'measure'?"),
        (["criterion=gini"], "MSEL-202: 'criterion' is not a setting of a study, criterion; it belongs to a learner"),
        (["space=tress"], "MSEL-201: unknown space 'tress', space; did you mean 'trees'?"),
        (["space=off"], "MSEL-201: unknown space 'off', space; one of:"),
        (["guard=[warn,strict]"], "MSEL-206: ['warn', 'strict'] is not a name of a guard, guard=[warn,strict]; a study"),
        (["guard=false"], "MSEL-206: the truth value false is not a name of a guard, guard=false"),
        (["on_failure=ignore"], "MSEL-205: 'ignore' is not allowed, on_failure; one of: error, record"),
        (["seed=-1"], "MSEL-205: -1 is out of range, seed; give a whole number of at least 0"),
        (["seed=abc"], "MSEL-205: found 'abc', seed; give a whole number of at least 0"),
        (["final_test=maybe"], "MSEL-205: 'maybe' is not an answer, final_test; give auto, true or false"),
        (["limit.memory=lots"], "MSEL-205: 'lots' is not a size, limit.memory; write it like 500MB or 2GiB"),
        (["limit=3"], "MSEL-205: found a single value, limit; it has settings of its own: seconds, memory"),
        (["dataset=csv"], "MSEL-301"),
        (["dataset=csv", "dataset.path=nowhere.csv", "dataset.target=y"], "there is no file 'nowhere.csv'"),
        (["learner=cart", "space=trees"], "MSEL-244: both a space and a learner are given"),
        (["learner=tree", "learner.max_dept=3"], "unknown setting 'max_dept', learner.max_dept; did you mean 'max_depth'?"),
        (["learner=tree", "learner.criterion=ginni"], "unknown criterion 'ginni', learner.criterion; did you mean 'gini'?"),
        (["learner=tree", "learner.pruner.alpha=1"], "unknown setting 'alpha', learner.pruner.alpha; nothing can be set here"),
        (["plugins=[nobody]", "learner=nobody"], "MSEL-201: unknown learner 'nobody', learner"),
        (["pool=thread"], "MSEL-201: unknown pool 'thread', pool=thread; did you mean 'threads'?"),
        (["pool.n_jobs=0.5"], "MSEL-205: found 0.5, pool.n_jobs"),
        (["~guard"], "MSEL-243: a study needs a guard"),
        (["~space"], "MSEL-220: None is not a name of a space"),
        (["seed"], "MSEL-245: cannot be read"),
        (["scheme.folds=[1,"], "MSEL-245: cannot be read"),
        (["space=cart", "space.cart.max_depth=choice(null, 3"], "write no limit as none: choice(none, 3, 5)"),
        (["pool=threads", "limit.seconds=5"], "MSEL-208: pool=threads cannot hold a limit"),
        (["space=[cart,{kind: knn"], "close the bracket: 'space=[cart,{kind: knn}]'"),
        (["split=0.2"], "MSEL-206: 0.2 is not a name of a split, split=0.2; did you mean split.test=0.2?"),
        (["scheme=5"], "MSEL-206: 5 is not a name of a scheme, scheme=5; did you mean scheme.folds=5?"),
        (["sweep=[3,5]"], "MSEL-202: 'sweep' is not a setting of a study, sweep; what is swept is said by a space"),
        (["scheme=kfold5"], "MSEL-201: unknown scheme 'kfold5', scheme=kfold5; write scheme=kfold scheme.folds=5"),
        (["kfold5"], "'kfold5'; write scheme=kfold scheme.folds=5"),
        (["scheme@outer=kfold"], "MSEL-241: a group keeps its place in the configuration"),
        (["tracking.uri=${oc.env:MODELSEL_NOT_SET}"], "MSEL-213: a reference leads nowhere"),
        (["name=${nowhere}"], "MSEL-213: a reference leads nowhere"),
        (["scheme.folds=choice(3,5)"], "MSEL-246: several values for one study, scheme.folds=choice(3,5); -m runs"),
        (["scheme=kfold,holdout"], "a list is written scheme=[a,b]"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_place_and_the_remedy(overrides: list[str], said: str) -> None:
    found = problems(*overrides)
    assert said in "\n".join(found)


@pytest.mark.slow
def test_settings_of_a_part_that_nothing_names_say_that_it_is_missing() -> None:
    assert problems("learner.max_depth=3")[0].startswith("MSEL-204: a learner is missing, learner;")


def test_all_problems_come_in_one_message() -> None:
    found = problems("dataset=irs", "mesure=auc", "scheme.fold=3", "+seed=-1", "learner=tree", "learner.criterion=ginni", "x=[")
    assert [line[:8] for line in found] == ["MSEL-201", "MSEL-202", "MSEL-245", "MSEL-205", "MSEL-203", "MSEL-201"]


def test_a_name_that_yaml_takes_for_a_truth_value_is_explained(tmp_path: Path) -> None:
    found = problems("guard=mine", config_dir=own(tmp_path, guard__mine="kind: off\n"))
    assert found == [
        "MSEL-206: the truth value false is not a name of a guard, guard; "
        "YAML reads off, on, yes, no as truth values: put the name in quotes"
    ]  # fmt: skip


def test_a_folder_of_ones_own_stands_before_the_package(tmp_path: Path) -> None:
    folder = own(
        tmp_path,
        dataset__mine="kind: sklearn_bundled\nwhich: wine\n",
        scheme__kfold="kind: kfold\nfolds: 4\n",
        pruner__gentle="kind: error_based\nconfidence: 0.5\n",
        learner__mine="kind: c45\npruner: gentle\n",
        experiment__first="# @package _global_\ndefaults:\n  - override /dataset: mine\n  - override /scheme: kfold\n"
        "space: [mine, majority]\nseed: 5\n",
    )
    config = compose(["experiment=first"], str(folder))
    assert (config.dataset.which, config.scheme.folds, config.seed, config.space) == ("wine", 4, 5, "mine-majority")
    assert config.candidates[0].learner.pruner.confidence == 0.5
    assert config.candidates[0].learner.collapse is True  # from c45, which stands beneath
    assert compose(["experiment=first", "seed=6", "dataset=iris"], str(folder)).seed == 6


def test_a_folder_that_is_not_there_is_said() -> None:
    assert problems(*SMALL, config_dir=Path("nowhere")) == [
        "MSEL-210: there is no folder 'nowhere', --config-dir; `modelsel init DIR` makes one"
    ]


def test_the_resolved_configuration_is_plain_and_names_every_kind() -> None:
    resolved = compose(SMALL).resolved
    assert all(
        resolved[group]["kind"] for group in ("dataset", "split", "scheme", "measure", "rule", "guard", "pool", "tracking")
    )
    assert "hydra" not in resolved


SAME = [
    ["pool=sequential"], ["pool.n_jobs=7"], ["tracking=off"], ["name=other"], ["limit.seconds=5"], ["retry_failed=true"],
    ["final_test=false"], ["guard=strict"], ["on_failure=error"], ['space={x: {learner: majority}}'], ["learner=majority"],
    ["guard=strict", "guard.justify.category=bug", "guard.justify.text=the label column was shifted"], ["guard.delta=0.1"],
    ["guard.release=grid", "guard.resolution=0.05"], ["guard=off"],
]  # fmt: skip
OTHER = [
    ["seed=1"], ["scheme.folds=5"], ["scheme=kfold"], ["measure=brier"], ["rule=one_standard_error"], ["split.test=0.2"],
    ["split.seed=3"], ["outer=kfold"], ["space=[majority,table]"], ["space=[table]"], ["dataset=wine"],
]  # fmt: skip


def spec_id(*overrides: str) -> str:
    return compose(
        [*(SMALL if not any(o.startswith(("space", "learner")) for o in overrides) else SMALL[:1]), *overrides]
    ).spec_id


@pytest.mark.sampled(6)
@pytest.mark.parametrize("overrides", SAME, ids=str)
def test_what_does_not_decide_the_answer_leaves_the_spec_id_alone(overrides: list[str]) -> None:
    assert spec_id(*overrides) == spec_id()


@pytest.mark.parametrize("overrides", OTHER, ids=str)
def test_what_decides_the_answer_changes_the_spec_id(overrides: list[str]) -> None:
    assert spec_id(*overrides) != spec_id()


def test_where_a_file_lies_is_no_part_of_the_spec_id(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n1,a\n2,b\n")
    ids = {
        compose(["dataset=csv", f"dataset.path={tmp_path / name}", "dataset.target=y", "space=majority"]).spec_id
        for name in ("a.csv", "b.csv")
    }
    assert len(ids) == 1


words = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=12)
keys = st.sampled_from(
    ["seed", "scheme", "scheme.folds", "space", "learner", "learner.k", "name", "limit", "dataset", "guard.delta"]
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(words, st.builds("{}={}".format, keys, words)), max_size=3))
def test_whatever_is_typed_there_is_a_study_or_a_list_of_problems(overrides: list[str]) -> None:
    try:
        assert isinstance(compose(overrides), Config)
    except ConfigurationError as error:
        assert error.problems  # noqa: PT017


texts = st.text("ab:-{}[]&*!#|>'\"%@`, \n\t?0", max_size=40)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(texts, st.sampled_from(["scheme", "experiment", "learner", "space"]))
def test_whatever_a_file_holds_there_is_a_study_or_a_list_of_problems(tmp_path_factory: Any, text: str, group: str) -> None:
    folder = own(tmp_path_factory.mktemp("conf"), **{f"{group}__mine": text})
    try:
        assert isinstance(compose([*SMALL[:1], f"{group}=mine"], str(folder)), Config)
    except ConfigurationError as error:
        assert error.problems  # noqa: PT017


def test_the_choice_is_repeated_around_its_own_folds_where_no_others_are_named() -> None:
    builder, scheme, outer = Builder(Folders.of()), SimpleNamespace(folds=5), object()

    def around(said: object, own: object, corrected: str) -> object:
        return _around(said, own, SimpleNamespace(corrected=corrected), builder)  # type: ignore[arg-type]

    assert around(None, scheme, "auto") is scheme
    assert around(outer, scheme, "auto") is outer
    assert [around(None, scheme, "bbc"), around(None, None, "auto")] == [None, None]
    assert builder.problems == []
    assert around(None, SimpleNamespace(folds=1), "nested") is None
    assert [problem.code for problem in builder.problems] == ["MSEL-218"]


def test_a_folder_whose_name_is_no_word_and_hydras_are_no_groups(tmp_path: Path) -> None:
    for name in ("criterion", "hydra", "my notes", ".git"):
        (tmp_path / name).mkdir()
    assert Folders((tmp_path,)).groups() == ("criterion",)


def test_an_old_name_of_a_setting_is_taken_for_the_new_one_and_said(tmp_path: Path) -> None:
    """Typed, by keyword, in a person's file and in a recorded configuration; never beside the new name."""
    note = "explain is called explanations now: write that"
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "old.yaml").write_text("# @package _global_\nexplain: {repeats: 3}\n")
    typed, keyword = compose([*SMALL, "explain.repeats=3"]), compose(SMALL, settings={"explain": {"repeats": 3}})
    file = compose([*SMALL, "experiment=old"], str(tmp_path))
    for config in (typed, keyword, file):
        assert (config.explanations.repeats, config.explanations.noise, note in config.notes) == (3, True, True)
        assert "explain" not in config.resolved
        assert config.resolved["explanations"]["repeats"] == 3
    recorded = {key: value for key, value in typed.resolved.items() if key != "explanations"}
    again = recompose({**recorded, "explain": typed.resolved["explanations"]}, {"explanations": {"repeats": 4}})
    assert (again.explanations.repeats, again.explanations.noise, again.notes) == (4, True, ())
    with pytest.raises(ConfigurationError, match="MSEL-244: both explain and explanations are given"):
        compose([*SMALL, "experiment=old", "explanations.repeats=4"], str(tmp_path))
    with pytest.raises(ConfigurationError, match="MSEL-244"):
        recompose(typed.resolved, {"explain": {"repeats": 3}, "explanations": {"noise": False}})


@pytest.mark.parametrize("name", Folders.of().options("experiment"))
def test_every_experiment_is_a_study(name: str) -> None:
    config = compose([f"experiment={name}"])
    assert config.candidates
    assert config.name == name or config.compare  # one study of several, named after its data set


@pytest.mark.slow
@pytest.mark.parametrize("group", ["guard", "pool", "tracking", "split", "scheme", "measure", "rule"])
def test_every_option_of_a_group_composes_and_keeps_its_name(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelsel.config.settings.find_spec", lambda _: True)  # as if every pool's package were installed
    for name in Folders.of().options(group):
        part = getattr(compose(["dataset=iris", "space=majority", f"{group}={name}"]), group)
        assert part is not None
