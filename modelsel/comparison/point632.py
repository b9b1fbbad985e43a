"""The bootstrap's .632 and .632+ estimates of the winner's error, beside its out-of-bag mean."""

from modelsel.core.selection import Assessed
from modelsel.statistics.bootstrap import no_information_error, point632, point632_plus


def estimates(training: float, out_of_bag: float, assessed: Assessed, classes: int) -> dict[str, float]:
    """Both estimates; the no-information error comes from the winner's out-of-bag predictions (first resample)."""
    there = assessed.predicted[0] >= 0
    gamma = no_information_error(assessed.truth[there], assessed.predicted[0][there], classes)
    return {"point632": point632(training, out_of_bag), "point632_plus": point632_plus(training, out_of_bag, gamma)}
