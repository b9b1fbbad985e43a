"""Docstrings of what people call: a summary line, every parameter and return value, an example; checked by numpydoc."""

import inspect
from importlib import import_module

import pytest

import modelsel
from tests.extras import needs

validate = needs("numpydoc.validate").validate

PUBLIC = [name for name in dir(modelsel) if not name.startswith("_")]
LEFT = ("GL01", "GL03", "SA01", "ES01")  # the text begins beside the quotes; "See also" and a second paragraph are not asked

RESULTS = (  # classes whose objects the public functions return
    "modelsel.api.outcome.Outcome",
    "modelsel.api.results.candidates.StudyCandidate",
    "modelsel.api.results.audit.Audit",
    "modelsel.api.results.comparison.Comparison",
    "modelsel.api.results.model.StudyClassifier",
    "modelsel.api.results.plots.Plots",
    "modelsel.api.search.selection_cv.SelectionCV",
    "modelsel_exam.exams.Exam",
    "modelsel_exam.exams.SealedTable",
    "modelsel_exam.gates.LoopGate",
    "modelsel.estimator.Classifier",
    "modelsel.reporting.forecast.Forecast",
)
NOT_MADE_BY_PEOPLE = (*RESULTS[:2], "modelsel.api.results.model.StudyClassifier")  # fields, not arguments of people
BASES = ["modelsel.core.fittable"] + [
    f"modelsel.{group}.base"
    for group in (
        "calibrator",
        "criterion",
        "decision",
        "distance",
        "learner",
        "measure",
        "preparer",
        "pruner",
        "scheme",
        "split",
    )
]
PROMISED = ["modelsel.core.surroundings"]
PROTOCOLS = (  # a group without a base, bases that stand beside much else, and what paths of one fit offer
    "modelsel.rule.base.BaseRule",
    "modelsel.learner.base.Path",
    "modelsel.learner.base.SubsetPath",
    "modelsel.preparer.base.FeatureRanking",
    "modelsel.preparer.base.SelectedColumns",
    "modelsel.tree.softening.Softener",
    "modelsel.tree.growing.growth.BaseCriterion",
    "modelsel.tree.cutting.PruningPath",
)
POLICIES = tuple(f"modelsel.guard.policy.{name}" for name in (
    "ladder.Ladder", "off.Off", "strict.Strict", "thresholdout.Thresholdout", "warn.Warn"
))  # fmt: skip
JUDGED = (  # what the guard's policies are made of, read and give
    "modelsel.guard.policy.base.Policy",
    "modelsel.guard.policy.base.Justify",
    "modelsel.guard.policy.base.Identity",
    "modelsel.guard.policy.base.judge",
    "modelsel.guard.policy.base.Question",
    "modelsel.guard.policy.base.Verdict",
    "modelsel.tree.cutting.PruningData",
)
WITHIN = (  # defined in a base's file, and not for plug-ins
    *(
        f"modelsel.learner.base.{name}"
        for name in (
            "SingleFit",
            "PathModel",
            "chunks",
            "path_errors",
            "BaseFloor",
            "FloorModel",
            "BaseConstant",
            "ConstantModel",
        )
    ),
    "modelsel.preparer.base.SinglePreparer",
    "modelsel.calibrator.base.restore_calibration",
    "modelsel.decision.base.best_threshold",
    "modelsel.criterion.base.PerCost",
    "modelsel.preparer.base.Chosen",
    "modelsel.preparer.base.restore_columns",
    *(f"modelsel.split.base.{name}" for name in ("parts", "dropped_classes", "groups_ignored", "one_unit")),
    "modelsel.pruner.base.HasStrength",
    "modelsel.pruner.base.PrunesDirectly",
    "modelsel.tree.growing.growth.BaseCriterion.worth_loop",  # described in the class
)


def members(path: str) -> list[str]:
    """A class with its own public methods and properties; not what scikit-learn writes into it, nor what a base describes."""
    module, _, name = path.rpartition(".")
    cls = getattr(import_module(module), name)
    found = [path]
    for key, value in vars(cls).items():
        kinds = inspect.isfunction(value), isinstance(value, property | classmethod | staticmethod)
        made = any(kinds) or hasattr(value, "func") or hasattr(value, "fn")  # cached_property, available_if
        described = not value.__doc__ and any(getattr(vars(base).get(key), "__doc__", "") for base in cls.__mro__[1:])
        if made and not key.startswith(("_", "set_fit", "set_score")) and not described:
            found.append(f"{path}.{key}")
    return found


def offered(module: str) -> list[str]:
    """All public functions and classes that a base module defines, with the members of the classes."""
    found: list[str] = []
    for name, value in vars(import_module(module)).items():
        if not name.startswith("_") and getattr(value, "__module__", "") == module and callable(value):
            found += members(f"{module}.{name}") if inspect.isclass(value) else [f"{module}.{name}"]
    return found


OFFERED = [one for base in (*BASES, *PROMISED) for one in offered(base) if not one.startswith(WITHIN)]
OFFERED += [one for path in PROTOCOLS for one in members(path) if one not in (*OFFERED, *WITHIN)]
OFFERED += [*JUDGED, *POLICIES]


def missing(name: str) -> list[str]:
    found = [f"{code} {text}" for code, text in validate(name)["errors"] if code not in LEFT]
    inherited = (*POLICIES, *PROTOCOLS, "modelsel.distance.base.Distance")  # no arguments, or those of the base
    made_by_nobody = name in (*NOT_MADE_BY_PEOPLE, *inherited) or name.rpartition(".")[0] in PROMISED
    return [one for one in found if not (made_by_nobody and one.startswith("PR01"))]


@pytest.mark.parametrize("name", PUBLIC)
def test_what_people_call_is_documented_in_full(name: str) -> None:
    found = missing(f"modelsel.{name}")
    assert [one for one in found if not (name == "Outcome" and one.startswith("PR01"))] == []


@pytest.mark.parametrize("name", [one for path in RESULTS for one in members(path)])
def test_what_people_are_given_is_documented_in_full(name: str) -> None:
    assert missing(name) == []


@pytest.mark.parametrize("name", OFFERED)
def test_what_plug_ins_import_is_documented_in_full(name: str) -> None:
    """A base's method has no example of its own: that of the class, and CONTRIBUTING's, are run."""
    module, _, last = name.rpartition(".")
    method = last[0].islower() and module not in BASES
    assert [one for one in missing(name) if not (method and one.startswith("EX01"))] == []


def test_members_are_found() -> None:
    found = {one.rpartition(".")[2] for one in members("modelsel.api.outcome.Outcome")}
    assert {"leaderboard", "export", "at", "plot"} <= found
    assert "predict" in {one.rpartition(".")[2] for one in members("modelsel.api.search.selection_cv.SelectionCV")}
    assert {"modelsel.criterion.base.shares", "modelsel.core.fittable.Fittable.fit"} <= set(OFFERED)
    assert {"modelsel.rule.base.BaseRule.choose", "modelsel.measure.base.BaseMeasure.losses"} <= set(OFFERED)


def test_the_check_finds_what_is_missing() -> None:
    assert {"PR01", "EX01"} <= {code for code, _ in validate("modelsel.core.fingerprint.digest")["errors"]}
