"""`outcome.plot`: the drawings of the report, one at a time."""

from collections.abc import Iterable

from modelsel.api.results.comparison import compare_runs
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.folder import RunFolder
from modelsel.reporting.picture import Picture
from modelsel.reporting.sections import curve, explanation, predictions, scores, slices
from modelsel.reporting.sections.view import View


class Plots:
    """Pictures of a study, which a notebook shows and which `save` as SVG or PNG.

    Parameters
    ----------
    folder : RunFolder
        The study's folder.

    Examples
    --------
    >>> outcome.plot.leaderboard().save("leaderboard.svg").name
    'leaderboard.svg'
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._view = folder, View(folder)

    def leaderboard(self) -> Picture:
        """Draw the fold scores of the best candidates: a mark per fold, the mean, one standard error to each side.

        Returns
        -------
        Picture
            The drawing.

        Examples
        --------
        >>> outcome.plot.leaderboard()
        <picture: fold scores of the best candidates>
        """
        return Picture("fold scores of the best candidates", str(scores.strips(self._view)["svg"]))

    def curve(self, parameter: str, entry: str | None = None) -> Picture:
        """Draw the score against one parameter, within one entry of the space.

        Parameters
        ----------
        parameter : str
            The parameter's dotted name.
        entry : str, optional
            The entry; the first that varies the parameter without it.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where no entry varies it.

        Examples
        --------
        >>> outcome.plot.curve("max_depth")
        <picture: cart: max_depth>
        """
        panels = {str(panel["title"]): str(panel["svg"]) for panel in slices.panels(self._view)}
        found = [title for title in panels if title.endswith(f": {parameter}") and title.startswith(f"{entry or ''}")]
        if not found:
            raise _nothing(f"no entry varies {parameter!r}", f"there are {_some(panels)}")
        return Picture(found[0], panels[found[0]])

    def path(self) -> Picture:
        """Draw score and training error along the pruning path of the best tree.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the study did not run with `show=["pruning_path"]`, or has no pruned tree.

        Examples
        --------
        >>> outcome.plot.path()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ConfigurationError: no pruning path is on record
        """
        from modelsel.reporting import pruning_path

        kept = self._view.details.shows.get("pruning_path")
        if not kept or not kept.get("paths"):
            raise _nothing("no pruning path is on record", 'run the study with show=["pruning_path"]')
        facts = pruning_path.PruningFacts.read(kept)
        return Picture(f"pruning path: {facts.paths[0].title}", pruning_path.draw(facts.measure, facts.paths[0]))

    def overfitting(self, entry: str | None = None) -> Picture:
        """Draw the accuracy in and out of sample against the size of a tree.

        Parameters
        ----------
        entry : str, optional
            An entry of the space; the first without it.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the study did not run with `show=["overfitting"]`.

        Examples
        --------
        >>> outcome.plot.overfitting()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ConfigurationError: no such curve is on record
        """
        from modelsel.reporting import overfitting

        kept = self._view.details.shows.get("overfitting", {})
        curves = overfitting.SizeCurves.read(kept).curves if kept.get("curves") else []
        found = [curve for curve in curves if entry in (None, curve.entry)]
        if not found:
            there = _some(curve.entry for curve in curves) if curves else 'run the study with show=["overfitting"]'
            raise _nothing("no such curve is on record", there)
        return Picture(f"{found[0].entry}: {found[0].shows} against size", overfitting.draw(found[0]))

    def importance(self, candidate: int = 0) -> Picture:
        """Draw the permutation importance of the columns.

        Parameters
        ----------
        candidate : int
            The place among `explanations.candidates`.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the study did not run with `explanations={"importance": True}`.

        Examples
        --------
        >>> outcome.plot.importance()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ConfigurationError: no such importance is on record
        """
        parts = [part for part in explanation.importance(self._view) if "svg" in part]
        if candidate not in range(len(parts)):
            raise _nothing("no such importance is on record", 'run the study with explanations={"importance": True}')
        return Picture(f"importance of the columns: {parts[candidate]['called']}", str(parts[candidate]["svg"]))

    def dependence(self, column: str) -> Picture:
        """Draw the mean class scores along a column.

        Parameters
        ----------
        column : str
            A feature.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the study did not run with `explanations={"dependence": True}`, or has no such column.

        Examples
        --------
        >>> outcome.plot.dependence("Outlook")  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ConfigurationError: no dependence on 'Outlook' is on record
        """
        panels = {str(panel["title"]): str(panel["svg"]) for panel in explanation.dependence(self._view)}
        if column not in panels:
            fix = f"there are {', '.join(panels)}" if panels else 'run the study with explanations={"dependence": True}'
            raise _nothing(f"no dependence on {column!r} is on record", fix)
        return Picture(f"partial dependence on {column}", panels[column])

    def learning_curve(self) -> Picture:
        """Draw the measure by the number of rows to fit on.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the study did not run with `curve=True`.

        Examples
        --------
        >>> outcome.plot.learning_curve()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ConfigurationError: no learning curve is on record
        """
        found = curve.section(self._view)
        if not found:
            raise _nothing("no learning curve is on record", "run the study with curve=True")
        return Picture("learning curve", str(found["svg"]))

    def tree(self) -> Picture:
        """Draw the final tree.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where the winner is not a tree.

        Examples
        --------
        >>> outcome.plot.tree()
        <picture: the final tree>
        """
        from modelsel.reporting.sections.final import drawable_model, say

        shipped = drawable_model(self._folder)
        picture = say(shipped, "picture") if shipped else ""
        if not picture:
            raise _nothing("the winner is not a tree", "plot.leaderboard() and plot.curve() are of every winner")
        return Picture("the final tree", picture)

    def roc(self) -> Picture:
        """Draw ROC curves of the winner's out-of-fold scores.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where no class scores are on record.

        Examples
        --------
        >>> outcome.plot.roc()
        <picture: ROC, one class against the rest; areas with DeLong’s 95 % interval>
        """
        return self._of_scores(0)

    def calibration(self) -> Picture:
        """Draw the reliability diagram of the winner's out-of-fold scores.

        Returns
        -------
        Picture
            The drawing.

        Raises
        ------
        ConfigurationError
            Where no class scores are on record.

        Examples
        --------
        >>> outcome.plot.calibration()
        <picture: Calibration: share that came true>
        """
        return self._of_scores(1)

    def critical_difference(self, *others: object) -> Picture:
        """Draw the mean ranks of learners over the data sets of several runs, and which learners do not differ significantly.

        Parameters
        ----------
        *others : str, Path or Outcome
            Runs on other data sets with the same learners.

        Returns
        -------
        Picture
            The drawing; of this study alone the pairs' differences with their intervals.

        Raises
        ------
        ConfigurationError
            Where the runs cannot be compared.

        Examples
        --------
        >>> outcome.plot.critical_difference()
        <picture: differences in error with their intervals>
        """
        places = [getattr(other, "folder", other) for other in others]
        picture = compare_runs([self._folder.path, *places], 0.01).picture
        if picture is None:
            raise _nothing("there is no picture of this comparison", "give runs on other data sets with the same learners")
        return picture

    def _of_scores(self, which: int) -> Picture:
        """Draw one of the curves of the winner's class scores."""
        curves = predictions.section(self._view).get("curves", [])
        if not curves:
            fix = 'class scores are kept where a measure asks for them: measure="auc", "log_loss" or "brier"'
            raise _nothing("class scores are not on record", fix)
        if which >= len(curves):
            raise _nothing("the winner's class scores are decision values, no probabilities", "set calibrator: platt for it")
        return Picture(str(curves[which]["title"]), str(curves[which]["svg"]))


def _some(names: Iterable[str]) -> str:
    return ", ".join(names) or "no varied parameters"


def _nothing(what: str, fix: str) -> ConfigurationError:
    return ConfigurationError(Problem("MSEL-806", what, "plot", fix))
