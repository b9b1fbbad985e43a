"""List which entries of a space could be exported, and to which format: known before anything is fitted.

SQL says every tree with hard splits on features as they are; ONNX not those that divide rows with missing values, or ask
surrogates. A forest has all formats but where it says quantiles; estimators of other libraries whose form was compared
have ONNX (of classes).
"""

from collections.abc import Sequence

from modelsel.core.spec import kind_of
from modelsel.core.types import Candidate
from modelsel.foreign.libraries import CONVERTED, OF_CATEGORIES
from modelsel.learner.estimator import Estimator
from modelsel.learner.forest import Forest
from modelsel.learner.m5p import M5p
from modelsel.learner.optimal_tree import OptimalTree
from modelsel.learner.tree import Tree
from modelsel.learner.trees.leaf import MEDIAN, QUANTILE

FORMATS = ("sql", "onnx", "rules", "dot")  # json takes every model
MANY_PATHS = ("fractional", "surrogate", "surrogate_count")


def formats(candidate: Candidate, numbers: bool = False) -> tuple[str, ...]:
    """The formats of the FORMATS that its fitted model can be written in; of estimators of numbers there is no ONNX.

    >>> formats(Candidate(Tree(missing="fractional"))), formats(Candidate(Tree(missing="branch")), numbers=True)
    (('sql', 'rules', 'dot'), ('sql', 'onnx', 'rules', 'dot'))
    """
    learner = candidate.learner
    if isinstance(learner, Estimator):
        return ("onnx",) if not numbers and _can_be_converted(candidate) else ()
    if isinstance(learner, Forest):
        if learner.leaf.statistic in (MEDIAN, QUANTILE):  # of rows that its leaves keep
            return ()
        return ("rules", "dot") if candidate.preparers else FORMATS
    if isinstance(learner, OptimalTree):
        return ("rules", "dot") if candidate.preparers else FORMATS
    if isinstance(learner, M5p):
        return ("rules", "dot") if candidate.preparers else ("sql", "rules", "dot")
    if not isinstance(learner, Tree):
        return ()
    hard = kind_of(learner.softener) == "hard" and not candidate.preparers
    able = {"sql": hard, "onnx": hard and learner.missing not in MANY_PATHS}
    return tuple(to for to in FORMATS if able.get(to, True))


def _can_be_converted(candidate: Candidate) -> bool:
    """Tell whether its form in ONNX was compared, and it reads one matrix of numbers whatever the table's columns are."""
    learner = candidate.learner
    name = str(learner.estimator)
    class_name = f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"
    plain = learner.encoding in ("one_hot", "ordinal") or (learner.encoding == "auto" and class_name not in OF_CATEGORIES)
    return class_name in CONVERTED and plain and not candidate.preparers and not learner.steps


def line(candidates: Sequence[Candidate], numbers: bool = False) -> str:
    """Per format the entries whose candidates all have it, or some of them; what none has is left out."""
    entries: dict[str, list[tuple[str, ...]]] = {}
    for candidate in candidates:
        entries.setdefault(candidate.entry, []).append(formats(candidate, numbers))
    said = []
    for to in FORMATS:
        able = {entry: sum(to in each for each in own) / len(own) for entry, own in entries.items()}
        names = [entry if share == 1 else f"some of {entry}" for entry, share in able.items() if share]
        said += [f"{to}: {', '.join(names)}"] if names else []
    return f"export       {'; '.join([*said, 'json: all'])}"
