"""Facts about other people's libraries: their packages, and how they are kept to one thread, seeded and quiet.

Everything that a library is told beside its user's parameters stands here, and nowhere else.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import CLASS_TASKS, NUMBER_TASKS, Floats, TaskKind
from modelsel.foreign.interface import SklearnEstimator


@dataclass(frozen=True)
class Setting:
    """A parameter, under any of its names. `forced`: it takes the place of what the user wrote; None: that is left out."""

    names: tuple[str, ...]
    value: object
    forced: bool = False


@dataclass(frozen=True)
class Library:
    """A package of estimators. `extra` is the name under which `pip install 'modelsel[...]'` brings it along."""

    module: str
    distributions: tuple[str, ...]
    extra: str = ""
    seed: tuple[str, ...] = ("random_state",)
    settings: tuple[Setting, ...] = (Setting(("n_jobs",), None, forced=True),)  # None is one thread there
    open_ended: bool = False  # takes parameters that its signature does not name

    @property
    def install(self) -> str:
        """The line that installs it."""
        return f"pip install 'modelsel[{self.extra}]'" if self.extra else f"pip install {self.distributions[0]}"


SKLEARN = Library("sklearn", ("scikit-learn",))
LIGHTGBM = Library(
    "lightgbm",
    ("lightgbm",),
    "lightgbm",
    ("random_state", "seed", "random_seed"),
    (
        Setting(("n_jobs", "num_threads", "num_thread", "nthread", "nthreads"), 1, forced=True),
        Setting(("verbosity", "verbose"), -1),
        # without these two it tries which order of sums is faster, and its answers may depend on what else the machine does
        Setting(("deterministic",), True),
        Setting(("force_col_wise", "force_row_wise"), True),
    ),
    True,
)
XGBOOST = Library(
    "xgboost",
    ("xgboost", "xgboost-cpu"),
    "xgboost",
    ("random_state", "seed"),
    (Setting(("n_jobs", "nthread"), 1, forced=True), Setting(("verbosity",), 0)),
    True,
)
CATBOOST = Library(
    "catboost",
    ("catboost",),
    "catboost",
    ("random_seed", "random_state"),
    (
        Setting(("thread_count",), 1, forced=True),
        Setting(("allow_writing_files",), False, forced=True),
        Setting(("verbose", "silent", "logging_level", "verbose_eval"), False),
    ),
)
LIBRARIES: Mapping[str, Library] = {
    one.module: one
    for one in (
        SKLEARN, LIGHTGBM, XGBOOST, CATBOOST, Library("imblearn", ("imbalanced-learn",), "imbalanced"),
        Library("skrub", ("skrub",), "skrub"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Origin:
    """The origin of a class: its library, the installed distribution and its version."""

    library: Library
    distribution: str
    version: str


CONVERTED = frozenset((  # classes whose form in ONNX the tests compare with what they answer
    "sklearn.LogisticRegression", "sklearn.RandomForestClassifier", "sklearn.ExtraTreesClassifier", "sklearn.MLPClassifier",
    "sklearn.GradientBoostingClassifier", "sklearn.DecisionTreeClassifier", "sklearn.ExtraTreeClassifier",
    "sklearn.GaussianNB", "lightgbm.LGBMClassifier", "xgboost.XGBClassifier",
))  # fmt: skip
OF_CATEGORIES = frozenset(("lightgbm.LGBMClassifier", "xgboost.XGBClassifier"))  # of these: read categories where there are any


# Classes whose fits threads can share, since a process of their own would cost more than they do: sums of arrays in NumPy and
# SciPy alone, by these solvers, and scikit-learn's own histograms, which have no solver.

NO_SOLVER = ""
IN_THREADS: Mapping[str, frozenset[str]] = {
    "sklearn.linear_model.LogisticRegression": frozenset(("auto", "lbfgs", "newton-cg", "newton-cholesky")),
    "sklearn.ensemble.HistGradientBoostingClassifier": frozenset((NO_SOLVER,)),
}


def fits_in_threads(name: str, params: Mapping[str, object]) -> bool:
    """Say whether an estimator may be fitted in a thread of this process; its solver has to be said.

    >>> fits_in_threads("sklearn.linear_model.LogisticRegression", {"solver": "lbfgs"})
    True
    >>> fits_in_threads("sklearn.linear_model.LogisticRegression", {})
    False
    """
    return params.get("solver", NO_SOLVER) in IN_THREADS.get(name, ())


# An estimator's own statements: NaN and weights follow scikit-learn's tags and signatures.


def takes_nan(made: object) -> bool:
    """Say whether an estimator's tags allow NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.allow_nan)


def takes_sparse(made: object) -> bool:
    """Say whether an estimator's tags allow sparse matrices."""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.sparse)


# Matrices of mostly zeros: classes of which a fit without the zeros is the fit with them, and faster (the tests compare them).
#
# Ridge and ordinary least squares are solved there in steps, to a tolerance that is set so narrow that nobody sees it. Of
# logistic regression sag and saga, and SGD, learn the intercept a hundred times slower there, and of trees and forests each fit
# takes longer: these read the whole matrix.


WITHOUT_ZEROS: Mapping[str, Mapping[str, tuple[object, ...]]] = {  # conditions on parameters: values for which it is so
    "LogisticRegression": {"solver": ("lbfgs", "newton-cg", "newton-cholesky", "liblinear")},
    "Ridge": {"solver": ("auto",), "positive": (False,)}, "RidgeClassifier": {"solver": ("auto",), "positive": (False,)},
    "LinearRegression": {"positive": (False,)}, "Lasso": {}, "ElasticNet": {}, "LinearSVC": {}, "LinearSVR": {}, "SVC": {},
    "NuSVC": {}, "SVR": {}, "NuSVR": {}, "MLPClassifier": {}, "MLPRegressor": {}, "BernoulliNB": {}, "MultinomialNB": {},
    "ComplementNB": {}, "GradientBoostingClassifier": {}, "GradientBoostingRegressor": {}, "LGBMClassifier": {},
    "LGBMRegressor": {}, "XGBClassifier": {}, "XGBRegressor": {}, "CatBoostClassifier": {}, "CatBoostRegressor": {},
}  # fmt: skip
NARROW = 1e-10  # tolerance of the steps
IN_STEPS = ("Ridge", "RidgeClassifier", "LinearRegression")


def alike_on_sparse(made: Any) -> bool:
    """Say whether an estimator gives the same answers of a matrix whose zeros are left out.

    Of a logistic regression the solver says it, until it is fitted: then it multiplies.

    >>> from sklearn.linear_model import LogisticRegression
    >>> alike_on_sparse(LogisticRegression()), alike_on_sparse(LogisticRegression(solver="saga"))
    (True, False)
    """
    kind = type(made)
    if kind.__name__ not in WITHOUT_ZEROS or _library(kind) not in LIBRARIES:
        return False
    if kind.__name__ in IN_STEPS and "tol" not in inspect.signature(kind).parameters:
        return False  # scikit-learn before 1.7
    said = made.get_params(deep=False)
    if kind.__name__ == "LogisticRegression" and hasattr(made, "coef_"):
        return True
    return all(said.get(name) in values for name, values in WITHOUT_ZEROS[kind.__name__].items())


def told_on_sparse(kind: type, params: Mapping[str, object]) -> dict[str, object]:
    """Return what an estimator is told beside its parameters where it reads a matrix without its zeros."""
    return {"tol": NARROW} if kind.__name__ in IN_STEPS and "tol" not in params else {}


def takes_categorical(made: object) -> bool:
    """Say whether an estimator's tags allow categories."""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.categorical)


def is_pairwise(made: object) -> bool:
    """Say whether an estimator reads what stands between two rows, a kernel or a distance, in the place of columns."""
    from sklearn.utils import get_tags

    return bool(get_tags(made).input_tags.pairwise)


def takes_weights(made: object) -> bool:
    """Say whether an estimator's `fit` takes weights of rows."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(made, "sample_weight"))


def is_classifier(made: object) -> bool:
    """Say whether an estimator is a classifier by scikit-learn's conventions."""
    from sklearn.base import is_classifier

    return bool(is_classifier(made))


def kinds_read(made: object) -> tuple[TaskKind, ...]:
    """Return what an estimator learns by scikit-learn's conventions: classes, numbers, or neither."""
    from sklearn.base import is_regressor

    return CLASS_TASKS if is_classifier(made) else NUMBER_TASKS if is_regressor(made) else ()


# Estimators that take categories themselves, and how each wants to be told which columns hold them.
#
# The columns hold level indices, NaN where missing. XGBoost and scikit-learn are told when they are made, LightGBM and CatBoost
# when they are fitted; CatBoost takes no NaN there and no fractions, so that its categories become texts.


MOST = {"sklearn": 255}  # levels of a column, where there is a limit
NATIVE = (
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "lightgbm.sklearn.LGBMClassifier",
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRFClassifier",
    "catboost.core.CatBoostClassifier",
)


def takes_categories(kind: type) -> bool:
    """Say whether the class takes categories itself."""
    return f"{kind.__module__}.{kind.__qualname__}" in NATIVE


def most_levels(kind: type) -> int | None:
    """Levels that a column may have; None: as many as there are."""
    return MOST.get(_library(kind))


def made_with(kind: type, nominal: Sequence[int], columns: int) -> dict[str, object]:
    """Return the constructor's arguments for the nominal columns."""
    if not nominal or _library(kind) in ("lightgbm", "catboost"):
        return {}
    if _library(kind) == "sklearn":
        return {"categorical_features": list(nominal)}
    return {"enable_categorical": True, "feature_types": ["c" if column in nominal else "q" for column in range(columns)]}


def fitted_with(kind: type, nominal: Sequence[int]) -> dict[str, object]:
    """Return the arguments of `fit` for the nominal columns."""
    names = {"lightgbm": "categorical_feature", "catboost": "cat_features"}
    name = names.get(_library(kind))
    return {name: list(nominal)} if nominal and name else {}


def as_wanted(kind: type, matrix: object, nominal: Sequence[int]) -> object:
    """The matrix as the library reads it."""
    if not nominal or _library(kind) != "catboost":
        return matrix
    numbers = np.asarray(matrix, np.float64)
    mixed = numbers.astype(object)
    for column in nominal:
        codes = np.nan_to_num(numbers[:, column], nan=-1.0).astype(np.int64)
        mixed[:, column] = codes.astype(str)
    return mixed


def _library(kind: type) -> str:
    return str(kind.__module__.partition(".")[0])


# Early stopping of boosting on rows that it is handed: how each library is told, and how many rounds it kept.
#
#     scikit-learn   fit(X_val, y_val), n_iter_no_change    every round up to the stop is kept
#     LightGBM       fit(eval_set, callbacks)               the rounds up to the best one answer
#     XGBoost        early_stopping_rounds, fit(eval_set)   the rounds up to the best one answer
#     CatBoost       fit(eval_set, early_stopping_rounds)   the rounds up to the best one are kept
#
# What is compared is the library's own loss, or the metric that its user names.


HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoosting"
STOPPING = {
    f"{HISTOGRAMS}Classifier": "sklearn", f"{HISTOGRAMS}Regressor": "sklearn",
    "lightgbm.sklearn.LGBMClassifier": "lightgbm", "lightgbm.sklearn.LGBMRegressor": "lightgbm",
    "xgboost.sklearn.XGBClassifier": "xgboost", "xgboost.sklearn.XGBRegressor": "xgboost",
    "catboost.core.CatBoostClassifier": "catboost", "catboost.core.CatBoostRegressor": "catboost",
}  # fmt: skip
OWN = {  # parameters by which a user stops early himself
    "sklearn": ("early_stopping", "n_iter_no_change", "validation_fraction"),
    "lightgbm": ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    "xgboost": ("early_stopping_rounds", "callbacks"),
    "catboost": ("early_stopping_rounds", "od_type", "od_wait", "od_pval", "use_best_model", "eval_fraction"),
}
GROWING = {"lightgbm": ("boosting_type", ("gbdt", "gbrt", "goss")), "xgboost": ("booster", ("gbtree", None))}


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """The rows that say when to stop, as the library reads them."""

    X: object
    y: NDArray[np.generic]
    weights: Floats | None = None


def stops_early(kind: type[SklearnEstimator]) -> bool:
    """Say whether a class stops early on rows that it is handed."""
    return _stopping_library(kind) != "" and (
        _stopping_library(kind) != "sklearn" or "X_val" in inspect.signature(kind.fit).parameters
    )


def conflicts(kind: type[SklearnEstimator], params: Mapping[str, object]) -> Iterator[str]:
    """Yield why a class with these parameters cannot stop early on rows that it is handed."""
    library = _stopping_library(kind)
    if not library:
        yield f"{kind.__name__} cannot stop early on rows that it is given: leave early_stopping out"
    elif not stops_early(kind):
        yield f"{kind.__name__} takes validation rows from scikit-learn 1.7 on: leave early_stopping out, or upgrade"
    elif said := [name for name in OWN[library] if name in params]:
        yield f"early_stopping stands beside params.{said[0]}, by which {kind.__name__} stops by itself: give one of them"
    elif library in GROWING:
        name, growing = GROWING[library]
        if params.get(name, growing[0]) not in growing:
            yield f"{kind.__name__} with {name}={params[name]} does not stop early: leave early_stopping out"


def made_to_stop(kind: type[SklearnEstimator], patience: int) -> dict[str, object]:
    """Return what the constructor is told."""
    if _stopping_library(kind) == "sklearn":
        return {"early_stopping": True, "n_iter_no_change": patience}
    return {"early_stopping_rounds": patience} if _stopping_library(kind) == "xgboost" else {}


def fitted_to_stop(
    kind: type[SklearnEstimator], patience: int, held: ValidationRows, nominal: Sequence[int]
) -> dict[str, object]:
    """Return what `fit` is told."""
    library, weights = _stopping_library(kind), held.weights
    own: dict[str, object]
    if library == "sklearn":
        own = {} if weights is None else {"sample_weight_val": weights}
        return {"X_val": held.X, "y_val": held.y, **own}
    if library == "lightgbm":
        from lightgbm import early_stopping

        own = {} if weights is None else {"eval_sample_weight": [weights]}
        newer = "eval_X" in inspect.signature(kind.fit).parameters  # from 4.7 on
        rows = {"eval_X": (held.X,), "eval_y": (held.y,)} if newer else {"eval_set": [(held.X, held.y)]}
        return {**rows, "callbacks": [early_stopping(patience, verbose=False)], **own}
    if library == "xgboost":
        own = {} if weights is None else {"sample_weight_eval_set": [weights]}
        return {"eval_set": [(held.X, held.y)], "verbose": False, **own}
    from catboost import Pool

    pool = Pool(held.X, held.y, weight=weights, cat_features=list(nominal) or None)
    return {"eval_set": pool, "early_stopping_rounds": patience}


def rounds_kept(made: Any) -> int:
    """Count the rounds that answer, of an estimator that was told when to stop."""
    library = _stopping_library(type(made))
    if library == "sklearn":
        return int(made.n_iter_)
    if library == "lightgbm":
        return int(made.best_iteration_ or made.n_estimators_)
    return int(made.best_iteration) + 1 if library == "xgboost" else int(made.tree_count_)


def _stopping_library(kind: type[SklearnEstimator]) -> str:
    return STOPPING.get(f"{kind.__module__}.{kind.__qualname__}", "")
