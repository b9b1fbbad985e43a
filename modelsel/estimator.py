"""modelsel's learners as scikit-learn estimators: `modelsel.classifier("c45", "pruner.confidence=0.1", min_leaf=5)`.

The adapter lives at the door: it turns arrays and data frames into a `Task` and hands that to a learner specification.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, _num_samples, check_is_fitted, validate_data

from modelsel.config.build import ALONE, NUMBERS, BuildContext, LearnerAndSteps, build
from modelsel.config.schema import setting
from modelsel.core.reading import TableReading
from modelsel.core.spec import flat, spec_of
from modelsel.core.types import (
    CLASS_TASKS,
    PROBABILITIES,
    Candidate,
    ClassTask,
    Codes,
    Feature,
    Floats,
    NumberTask,
    RowTable,
    Table,
    Task,
    UncheckedRows,
    names,
    positions,
    scores_are,
)
from modelsel.dataset.frame import (
    finite_sum,
    has_cells,
    numeric_features,
    plain_labels,
    plain_matrix,
    plain_numbers,
    read_frame,
    rows_of_frame,
)
from modelsel.dataset.in_memory import of_columns
from modelsel.dataset.labels import held_labels, own_type
from modelsel.dataset.refused import demand_labels, explain_refusals
from modelsel.dataset.targets import OF_FITS, check_squares
from modelsel.dataset.weights import AUTO as WEIGHTS
from modelsel.dataset.weights import decide_weights
from modelsel.learner.trees.model import NumberTreeModel, TreeModel
from modelsel.runner.final_fit import Final, fit, objections
from modelsel.tree.nested import to_dict
from modelsel.tree.node import PrunedView
from modelsel.tree.rules import rules_text, to_text

FLOOR, NUMBER_FLOOR = ("majority", "prior_draw"), ("mean", "median")  # learners that look at no feature
OWN = ("learner", "settings", "seed", "weights_are")


def classifier(
    learner: str = "tree", *overrides: str, seed: int = 0, weights_are: str = WEIGHTS, **params: object
) -> "Classifier":
    """Return a classifier by the name of its learner, for use where scikit-learn's are used.

    Its settings are those of `conf/learner/<learner>.yaml`.

    Parameters
    ----------
    learner : str
        `tree`, `cart`, `c45`, `knn`, `naive_bayes`, ...: a file of `conf/learner/`.
    *overrides : str
        Settings as on the command line (`"pruner=unpruned"`).
    seed : int
        Of learners that draw.
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study.
    **params
        Settings as values (`max_depth=3`).

    Returns
    -------
    Classifier
        With `fit`, `predict` and `predict_proba` on rows × features.

    Raises
    ------
    ConfigurationError
        Names every setting that does not exist or does not fit.

    Examples
    --------
    >>> model = classifier("cart", "pruner=unpruned", max_depth=1).fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    >>> print(model.to_text())
    x0 <= 2.5: a (2)
    x0 > 2.5: b (1)
    """
    settings = {**dict(setting(override) for override in overrides), **params}
    build(learner, settings, Classifier.context)
    return Classifier(learner, settings or None, seed, weights_are)


def regressor(
    learner: str = "linear_regression", *overrides: str, seed: int = 0, weights_are: str = WEIGHTS, **params: object
) -> "Regressor":
    """Return a regressor by the name of its learner, for use where scikit-learn's are used.

    Parameters
    ----------
    learner : str
        `linear_regression`, `knn`, `mean`, ...: a file of `conf/learner/`.
    *overrides : str
        Settings as on the command line.
    seed : int
        Of learners that draw.
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study.
    **params
        Settings as values (`k=3`).

    Returns
    -------
    Regressor
        With `fit` and `predict` on rows × features.

    Raises
    ------
    ConfigurationError
        Names every setting that does not exist or does not fit.

    Examples
    --------
    >>> regressor("knn", k=2).fit([[1.0], [2.0], [9.0]], [10.0, 20.0, 90.0]).predict([[1.4]]).tolist()
    [15.0]
    """
    settings = {**dict(setting(override) for override in overrides), **params}
    build(learner, settings, Regressor.context)
    return Regressor(learner, settings or None, seed, weights_are)


def _is_tree(estimator: "LearnerEstimator") -> bool:
    """Text, rules and nodes are there for trees; AttributeError otherwise."""
    check_is_fitted(estimator)
    if not isinstance(estimator.final_.model, TreeModel | NumberTreeModel):
        raise AttributeError(f"learner {estimator.learner!r} is not a tree")
    return True


def has_probabilities(estimator: "Classifier") -> bool:
    """Say whether class scores are probabilities; AttributeError otherwise."""
    if (said := estimator.scores_are) != PROBABILITIES:
        raise AttributeError(f"learner {estimator.learner!r} gives {said} and no probabilities: set calibrator=platt")
    return True


def has_decisions(estimator: "Classifier") -> bool:
    """Say whether there are decision values; AttributeError otherwise."""
    if not estimator.decides:
        raise AttributeError(f"learner {estimator.learner!r} has no decision values")
    return True


def one_column(decisions: Floats) -> Floats:
    """Decision values as scikit-learn gives them: of two classes those of the second."""
    return np.ascontiguousarray(decisions[:, 1]) if decisions.shape[1] == 2 else decisions


class LearnerEstimator(BaseEstimator):  # type: ignore[misc]
    """The learners of `conf/learner/` as scikit-learn's estimators: what classifiers and regressors share.

    `get_params` and `set_params` (and so GridSearchCV) also know every hyper-parameter by its dotted name.

    Parameters
    ----------
    learner : str or dict
        A file of `conf/learner/`, or a specification of the same form.
    settings : dict, optional
        Dotted hyper-parameters and their values.
    seed : int
        Of learners that draw.
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study: whole numbers as repeated rows, all others relative to
        their mean, unless it is said.

    Examples
    --------
    >>> isinstance(classifier("cart"), LearnerEstimator), isinstance(regressor("knn"), LearnerEstimator)
    (True, True)
    """

    context: ClassVar[BuildContext] = ALONE
    final_: Final

    def __init__(
        self,
        learner: str | Mapping[str, object] = "tree",
        settings: Mapping[str, object] | None = None,
        seed: int = 0,
        weights_are: str = WEIGHTS,
    ) -> None:
        """Keep the parameters as they are given, as scikit-learn wants it."""
        self.learner = learner
        self.settings = settings
        self.seed = seed
        self.weights_are = weights_are

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters, and the hyper-parameters of the learner.

        Parameters
        ----------
        deep : bool
            Every hyper-parameter too, under its dotted name.

        Returns
        -------
        dict
            Names and values.

        Examples
        --------
        >>> classifier("cart", max_depth=3).get_params()["max_depth"]
        3
        """
        own = {name: getattr(self, name) for name in OWN}
        if not deep:
            return own
        known = flat(spec_of(self._build()[0]))
        return {**{name: value for name, value in known.items() if name != "kind"}, **own}

    def set_params(self, **params: object) -> Self:
        """Set constructor parameters or dotted hyper-parameters.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        Classifier
            Itself.

        Raises
        ------
        ValueError
            Names a parameter that does not exist.

        Examples
        --------
        >>> classifier("cart").set_params(max_depth=2).get_params()["max_depth"]
        2
        """
        for name in OWN:
            if name in params:
                setattr(self, name, params.pop(name))
        unknown = sorted(set(params) - set(self.get_params())) if params else []
        if unknown:
            raise ValueError(f"Invalid parameter {unknown[0]!r} of learner {self.learner!r}: get_params() lists its names.")
        if params:
            self.settings = {**(self.settings or {}), **params}
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing and nominal values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _build(self) -> LearnerAndSteps:
        """Build the learner and its preparation steps."""
        return build(self.learner, self.settings, self.context)

    def _check_target(self) -> None:
        """Build the learner, before rows are looked at; ValueError where it predicts what this estimator does not."""
        spec, _ = self._build()
        own = self.context.task
        other, door = ("classes", "classifier") if own == "numbers" else ("numbers", "regressor")
        if own not in getattr(spec, "reads", CLASS_TASKS):
            fix = f"take modelsel.{door}({self.learner!r}), or a learner of {own}: cart, forest and knn predict either"
            raise ValueError(f"learner {self.learner!r} predicts {other} and no {own}: {fix}")

    def _fit_on(self, task: Task) -> Self:
        """Fit on the rows of a task that have weight; ValueError where the learner cannot be fitted on them."""
        spec, preparers = self._build()
        rows = positions(task) if task.weights is None else np.flatnonzero(task.weights > 0)
        if len(rows) == 0:
            raise ValueError("All sample weights are zero: no row is left to fit on.")
        candidate = Candidate(spec, preparers)
        if reason := next(objections(candidate, task), None) or spec.refusal(task, rows):
            raise ValueError(f"n_samples = {len(rows)}: {reason}")
        self.final_ = fit(candidate, task, self.seed, rows)
        return self

    @property
    def n_leaves_(self) -> int:
        """The number of leaves of a fitted tree; AttributeError for another learner.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).n_leaves_
        2
        """
        return self._tree().n_leaves

    @property
    def n_nodes_(self) -> int:
        """The number of nodes of a fitted tree; AttributeError for another learner.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).n_nodes_
        3
        """
        return self._tree().n_nodes

    @property
    def depth_(self) -> int:
        """The number of tests on the longest path of a fitted tree; AttributeError for another learner.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).depth_
        1
        """
        return self._tree().depth

    @available_if(_is_tree)  # type: ignore[untyped-decorator]
    def to_text(self) -> str:
        """Write the tree, a line per branch; AttributeError for a learner that is not a tree.

        Returns
        -------
        str
            The tree.

        Examples
        --------
        >>> print(classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).to_text())
        x0 <= 1.5: a (1)
        x0 > 1.5: b (1)
        """
        return to_text(self._cut())

    @available_if(_is_tree)  # type: ignore[untyped-decorator]
    def to_rules(self) -> str:
        """Write a rule per leaf, with coverage and confidence; AttributeError for a learner that is not a tree.

        Returns
        -------
        str
            The rules.

        Examples
        --------
        >>> print(classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).to_rules())
        if x0 <= 1.5 then a   [covers 1 (50.0 %), right 100.0 %]
        if x0 > 1.5 then b   [covers 1 (50.0 %), right 100.0 %]
        """
        return rules_text(self._cut())

    @available_if(_is_tree)  # type: ignore[untyped-decorator]
    def to_dict(self) -> dict[str, Any]:
        """Return classes, features and nodes as plain data; AttributeError for a learner that is not a tree.

        Returns
        -------
        dict
            The shape that the documentation describes.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).to_dict()["classes"]
        ['a', 'b']
        """
        return to_dict(self._cut())

    @property
    def _reading(self) -> TableReading:
        """How rows are read; plainly by a model that was made of an array, or before there was a reading."""
        return TableReading.of(self.final_.features) if self.final_.reading is None else self.final_.reading

    def _tree(self) -> TreeModel | NumberTreeModel:
        """Return the fitted tree; other models are refused."""
        _is_tree(self)
        model = self.final_.model
        assert isinstance(model, TreeModel | NumberTreeModel)
        return model

    def _cut(self) -> PrunedView:
        return self._tree().cut

    def _table_of(self, X: Any) -> Table:
        """Read X as a table of the fitted features."""
        if "final_" not in vars(self):  # scikit-learn's own check builds all its tags first
            check_is_fitted(self)
        if has_cells(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return with_source(rows_of_frame(X, self._reading), X, self.final_)
        late = not self.final_.steps and getattr(self.final_.model, "looks_for_infinity", False)
        values = X
        if not (_plain(self, X) and X.shape[1] == self.n_features_in_ and (late or finite_sum(X))):
            values = validate_data(self, X, dtype=np.float64, ensure_all_finite=False if late else "allow-nan", reset=False)
        return with_source(_table(values, self.final_.features, UncheckedRows if late else RowTable), X, self.final_)


def with_source(table: Table, X: object, final: Final) -> Table:
    """The rows with their columns in their own types, for a model that reads those; any other gets the table alone."""
    model: Any = final.model
    if not getattr(getattr(model, "learner", None), "reads_source", False):
        return table
    known = getattr(model.estimator, "feature_names_in_", None)
    return replace(table, source=of_columns(X, set(names(final.features) if known is None else map(str, known))))


class Classifier(ClassifierMixin, LearnerEstimator):  # type: ignore[misc]
    """A learner of `conf/learner/` as a scikit-learn classifier.

    `get_params` and `set_params` (and so GridSearchCV) also know every hyper-parameter by its dotted name.

    Parameters
    ----------
    learner : str or dict
        A file of `conf/learner/`, or a specification of the same form.
    settings : dict, optional
        Dotted hyper-parameters and their values.
    seed : int
        Of learners that draw.
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study: whole numbers as repeated rows, all others relative to
        their mean, unless it is said.

    Examples
    --------
    >>> Classifier("cart", {"max_depth": 1}).fit([[1.0], [2.0]], ["a", "b"]).predict([[0.0]]).tolist()
    ['a']
    """

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit on rows × features.

        Parameters
        ----------
        X : table or array
            Rows × features; NaN where a value is missing.
        y : array-like
            A class per row.
        sample_weight : array-like, optional
            A weight per row; rows of weight 0 take no part.

        Returns
        -------
        Classifier
            Itself, fitted.

        Raises
        ------
        ValueError
            For rows that the learner cannot be fitted on.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).classes_.tolist()
        ['a', 'b']
        """
        self._check_target()
        task, self.classes_ = task_of(self, X, y, sample_weight)
        return self._fit_on(task)

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : table or array
            Rows × features; a table's columns in the order of `fit`.

        Returns
        -------
        array
            Labels, one per row.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).predict([[5.0]]).tolist()
        ['b']
        """
        table = self._table_of(X)
        labels: NDArray[np.generic] = self.classes_.take(np.asarray(self.final_.predict(table), np.int32))
        return labels

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> Floats:
        """Compute the class scores of each row; AttributeError for a learner that gives decision values alone.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            Scores in [0, 1], rows × classes in the order of `classes_`.

        Examples
        --------
        >>> classifier("cart").fit([[1.0], [2.0]], ["a", "b"]).predict_proba([[5.0]]).tolist()
        [[0.0, 1.0]]
        """
        table = self._table_of(X)
        return self.final_.scores(table)

    @available_if(has_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: object) -> Floats:
        """Compute the decision values of each row, where an estimator of another library has them; else AttributeError.

        Parameters
        ----------
        X : table or array
            Rows × features.

        Returns
        -------
        array
            A value per row, the larger the more it is the second class; of more classes rows × classes.

        Examples
        --------
        >>> machine = classifier("estimator", estimator="sklearn.svm.LinearSVC").fit([[1.0], [2.0]], ["a", "b"])
        >>> (machine.decision_function([[0.0], [3.0]]) > 0).tolist(), hasattr(machine, "predict_proba")
        ([False, True], False)
        """
        return one_column(self.final_.decisions(self._table_of(X)))

    @property
    def scores_are(self) -> str:
        """`probabilities`, `decision values`, or `classes`, where the predicted class has the whole score.

        Examples
        --------
        >>> classifier("cart").scores_are, classifier("svm").scores_are
        ('probabilities', 'decision values')
        """
        final = vars(self).get("final_")
        return scores_are(self._build()[0] if final is None else final.model)

    @property
    def decides(self) -> bool:
        """True where the learner has decision values, beside probabilities or without.

        Examples
        --------
        >>> classifier("cart").decides, classifier("svm").decides
        (False, True)
        """
        final = vars(self).get("final_")
        own = self._build()[0] if final is None else final.model
        return bool(getattr(own, "decides", False))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that floors score poorly."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.learner in FLOOR
        return tags


class Regressor(RegressorMixin, LearnerEstimator):  # type: ignore[misc]
    """A learner of `conf/learner/` as a scikit-learn regressor.

    Parameters
    ----------
    learner : str or dict
        A file of `conf/learner/`, or a specification of the same form.
    settings : dict, optional
        Dotted hyper-parameters and their values.
    seed : int
        Of learners that draw.
    weights_are : {"auto", "repeats", "relative"}
        How `sample_weight` counts, as `dataset.weights_are` of a study: whole numbers as repeated rows, all others relative to
        their mean, unless it is said.

    Examples
    --------
    >>> Regressor("knn", {"k": 1}).fit([[1.0], [2.0]], [10.0, 20.0]).predict([[0.0]]).tolist()
    [10.0]
    """

    context = NUMBERS

    def __init__(
        self,
        learner: str | Mapping[str, object] = "linear_regression",
        settings: Mapping[str, object] | None = None,
        seed: int = 0,
        weights_are: str = WEIGHTS,
    ) -> None:
        super().__init__(learner, settings, seed, weights_are)

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit on rows × features.

        Parameters
        ----------
        X : table or array
            Rows × features; NaN where a value is missing.
        y : array-like
            A number per row.
        sample_weight : array-like, optional
            A weight per row; rows of weight 0 take no part.

        Returns
        -------
        Regressor
            Itself, fitted.

        Raises
        ------
        ValueError
            For rows that the learner cannot be fitted on.

        Examples
        --------
        >>> regressor("mean").fit([[1.0], [2.0]], [10.0, 20.0]).predict([[5.0]]).tolist()
        [15.0]
        """
        self._check_target()
        return self._fit_on(numbers_of(self, X, y, sample_weight))

    def predict(self, X: object) -> Floats:
        """Predict the number of each row.

        Parameters
        ----------
        X : table or array
            Rows × features; a table's columns in the order of `fit`.

        Returns
        -------
        array
            Numbers, one per row.

        Examples
        --------
        >>> regressor("median").fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0]).predict([[5.0]]).tolist()
        [2.0]
        """
        return np.asarray(self.final_.predict(table), np.float64) if len(table := self._table_of(X)) else np.empty(0)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that floors score poorly."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.learner in NUMBER_FLOOR
        return tags


def task_of(estimator: Any, X: object, y: object, sample_weight: object = None) -> tuple[Task, NDArray[np.generic]]:
    """The task of a call of `fit`, and the labels of its classes; the estimator learns its features' number and names."""
    with explain_refusals(y, count_rows(X), numbers=False):
        held = held_labels(y) if own_type(y) else None
        table, found, reading = _training(estimator, X, y if held is None else held[1])
        if not countable(found):
            check_classification_targets(found)
        classes, target = distinct(found) if held is None else held[:2]
        demand_labels(classes)
    names = tuple(str(label) for label in classes) if held is None else held[2].feature.levels
    if held is not None:
        reading = replace(TableReading.of(table.features) if reading is None else reading, target=held[2])
    weights = weights_of(sample_weight, table.values)
    task = ClassTask(
        name=table.name, features=table.features, values=table.values, rows=table.rows, weights=weights, reading=reading,
        classes=names, target=target,
    )  # fmt: skip
    return decide_weights(task, estimator.weights_are), classes


def count_rows(X: Any) -> int:
    """Rows of a table or an array; 0 of what has none."""
    try:
        return int(_num_samples(X))
    except TypeError:
        return 0


def weights_of(sample_weight: object, values: object) -> Floats | None:
    """Weights as scikit-learn checks them, none below 0; None where there are none."""
    if sample_weight is None:
        return None
    weights: Floats = _check_sample_weight(sample_weight, values, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`: weights are numbers from 0 on.")
    return weights


def numbers_of(estimator: Any, X: object, y: object, sample_weight: object = None) -> NumberTask:
    """The task of a call of `fit` with numbers as targets; the estimator learns its features' number and names."""
    with explain_refusals(y, count_rows(X), numbers=True):
        table, found, reading = _training(estimator, X, y, numeric=True)
        check_squares(np.asarray(found, np.float64), OF_FITS)
    task = NumberTask(
        name=table.name, features=table.features, values=table.values, rows=table.rows, reading=reading,
        weights=weights_of(sample_weight, table.values), target=np.asarray(found, np.float64),
    )  # fmt: skip
    return cast(NumberTask, decide_weights(task, estimator.weights_are))


def _training(estimator: Any, X: Any, y: Any, numeric: bool = False) -> tuple[Table, NDArray[np.generic], TableReading | None]:
    """Read X and y for fitting: how a frame is read its types say; an array's features are numbers unless it holds texts."""
    if has_cells(X):
        validate_data(estimator, X, skip_check_array=True)
        labels = _check_y(y, multi_output=False, y_numeric=numeric, estimator=estimator)
        if not len(X) == len(labels) > 0 or not X.shape[1]:
            raise ValueError(f"Found {X.shape[0]} sample(s) of {X.shape[1]} feature(s) and {len(labels)} label(s).")
        reading, table = read_frame(X)
        return table, labels, reading
    if _plain(estimator, X) and (plain_labels(y, len(X)) or (numeric and plain_numbers(y, len(X)))) and finite_sum(X):
        values, labels, estimator.n_features_in_ = X, y, X.shape[1]
    else:
        values, labels = validate_data(estimator, X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=numeric)
    return _table(values, numeric_features(values.shape[1])), labels, None


def _plain(estimator: object, X: object) -> bool:
    """Say whether X stands for itself: a plain array, and no names of a frame that scikit-learn would compare or forget."""
    return plain_matrix(X) and not hasattr(estimator, "feature_names_in_")


def _table(values: Floats, features: tuple[Feature, ...], kind: type[RowTable] = RowTable) -> Table:
    return kind(name="array", features=features, values=values, rows=np.arange(len(values)))


# The distinct labels of rows, and which of them each row has: `np.unique`, without sorting where labels are small integers.

WIDEST = 1 << 16  # between the smallest and the largest integer, what is counted instead of sorted


def countable(labels: NDArray[np.generic]) -> bool:
    """Integers in one row: classes for certain, whatever their values."""
    return labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels) > 0


def distinct(labels: NDArray[Any]) -> tuple[NDArray[np.generic], Codes]:
    """The labels in ascending order, and the place of each row's among them.

    >>> classes, place = distinct(np.array([7, 5, 7]))
    >>> classes.tolist(), place.tolist()
    ([5, 7], [1, 0, 1])
    """
    if countable(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < WIDEST:
            least = labels.dtype.type(low)
            above = (labels - least).view(f"u{labels.itemsize}").astype(np.intp)  # a difference may not fit the labels' type
            there = np.bincount(above, minlength=high - low + 1) > 0
            return np.flatnonzero(there).astype(labels.dtype) + least, (np.cumsum(there) - 1).astype(np.int32)[above]
    classes, place = np.unique(labels, return_inverse=True)
    return classes, place.astype(np.int32)
