"""`outcome.plot`: the drawings of the report, one at a time."""

from collections.abc import Iterable
from typing import Any

from modelsel.api.results.comparison import compared
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.record.folder import RunFolder
from modelsel.reporting.picture import Picture
from modelsel.reporting.sections import predictions, slices, strips
from modelsel.reporting.sections.view import View


class Plots:
    """Pictures that a notebook shows and that `save` as SVG or PNG."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._view = folder, View(folder)

    def leaderboard(self) -> Picture:
        """Fold scores of the best candidates: a mark per fold, the mean, one standard error to each side."""
        return Picture("fold scores of the best candidates", strips.section(self._view)["svg"])

    def curve(self, parameter: str, entry: str | None = None) -> Picture:
        """The score against one parameter, within one entry of the space (the first that varies it, unless said)."""
        panels = {panel["title"]: panel["svg"] for panel in slices.panels(self._view)}
        found = [title for title in panels if title.endswith(f": {parameter}") and title.startswith(f"{entry or ''}")]
        if not found:
            raise _nothing(f"no entry varies {parameter!r}", f"there are {_some(panels)}")
        return Picture(found[0], panels[found[0]])

    def path(self) -> Picture:
        """Score and training error along the pruning path of the best tree (studies with show=[pruning_path])."""
        from modelsel.reporting.experiments import pruning_path

        facts = self._view.details.get("shows", {}).get("pruning_path")
        if not facts or not facts["paths"]:
            raise _nothing("no pruning path is on record", 'run the study with show=["pruning_path"]')
        return Picture(f"pruning path: {facts['paths'][0]['title']}", pruning_path.drawn(facts["measure"], facts["paths"][0]))

    def tree(self) -> Picture:
        """The final tree."""
        from modelsel.reporting.sections.final import tree
        from modelsel.tree.export.draw import to_svg, top

        model = tree(self._folder)
        if model is None:
            raise _nothing("the winner is no tree", "plot.leaderboard() and plot.curve() are of every winner")
        return Picture("the final tree", to_svg(top(model.cut, 500), model.widths))

    def roc(self) -> Picture:
        """ROC curves of the winner's out-of-fold scores."""
        return self._of_scores(0)

    def calibration(self) -> Picture:
        """Plot the reliability diagram of the winner's out-of-fold scores."""
        return self._of_scores(1)

    def critical_difference(self, *others: Any) -> Picture:
        """Learners over this study's data set and those of other runs: mean ranks and who cannot be told apart."""
        places = [getattr(other, "folder", other) for other in others]
        picture = compared([self._folder.path, *places], 0.01).picture
        if picture is None:
            raise _nothing("there is no picture of this comparison", "give runs on other data sets with the same learners")
        return picture

    def _of_scores(self, which: int) -> Picture:
        curves: list[dict[str, Any]] = predictions.section(self._view).get("curves", [])
        if not curves:
            fix = 'class scores are kept where a measure asks for them: measure="auc", "log_loss" or "brier"'
            raise _nothing("class scores are not on record", fix)
        return Picture(curves[which]["title"], curves[which]["svg"])


def _some(names: Iterable[str]) -> str:
    return ", ".join(names) or "no varied parameters"


def _nothing(what: str, fix: str) -> ConfigurationError:
    return ConfigurationError(Problem("MSEL-806", what, "plot", fix))
