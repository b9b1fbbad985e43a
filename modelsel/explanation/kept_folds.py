"""Prediction sets of a recorded run: its fold models are asked, and what each thought of the rows that it did not see."""

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, Floats, Table
from modelsel.explanation.prediction_sets import guaranteed, prediction_sets
from modelsel.record.folder import STRANGENESS, RunFolder
from modelsel.record.model import archive
from modelsel.record.model.model import Predictor, load

Kept = list[tuple[Predictor, Floats]]


def kept_folds(folder: RunFolder) -> Kept:
    """The winner's models of the folds. Raises ConfigurationError where none were kept, DataError where one is damaged."""
    places = sorted(folder.folds.glob("[0-9]*"))
    if not places:
        why = folder.explanation().get("sets", {}).get("failed")
        what = f"the run kept no models of its folds{f': {why}' if why else ''}"
        raise ConfigurationError(Problem("MSEL-291", what, str(folder.path), "run the study with explain.sets=true"))
    plugins = tuple(folder.config().get("plugins") or ())
    return [(load(place, plugins), archive.arrays(place / STRANGENESS)["strangeness"]) for place in places]


def sets_of(kept: Kept, table: Table, coverage: float) -> Booleans:
    """Rows × classes: which are in the set of a row. Raises ConfigurationError for a coverage that is none."""
    if not 0 < coverage < 1:
        fix = "write a share such as 0.9"
        raise ConfigurationError(Problem("MSEL-292", f"{coverage:g} is no share of rows to cover", "--sets", fix))
    return prediction_sets([model.scores(table) for model, _ in kept], [strange for _, strange in kept], coverage)


def promise(kept: Kept, coverage: float) -> str:
    """State the coverage that the sets promise, in words."""
    least = guaranteed(coverage, sum(len(strange) for _, strange in kept), len(kept))
    return (
        f"sets for {100 * coverage:g} % of rows like the study's: simulations give about that; guaranteed, for rows "
        f"drawn alike, are {100 * least:.1f} %"
    )
