"""Facts about other people's libraries: their packages, and how they are kept to one thread, seeded and quiet.

Everything that a library is told beside its user's parameters stands here, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from modelsel.core.types import CLASS_TASKS, NUMBER_TASKS, TaskKind


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
    "sklearn.linear_model.LogisticRegression": frozenset(("lbfgs", "newton-cg", "newton-cholesky")),
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
