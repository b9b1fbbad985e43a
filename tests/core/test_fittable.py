"""What is fitted and cannot be written down is refused at its first fit, and not when the winner is stored."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from modelsel.core.fittable import Fittable
from modelsel.dataset.play_tennis import PlayTennis
from modelsel.learner.base import BaseLearner, FittedModel
from modelsel.preparer.base import BasePreparer


class Unannotated:
    def fit(self, task, rows, rng):  # type: ignore[no-untyped-def]
        return object()


@dataclass(frozen=True, eq=False)
class Holding(FittedModel):
    held: Any


class Unwritable:
    def fit(self, task: object, rows: object, rng: object) -> Holding:
        return Holding(object())


@pytest.mark.parametrize("base", [BaseLearner, BasePreparer])
@pytest.mark.parametrize(("way", "why"), [(Unannotated, "has to be annotated"), (Unwritable, "cannot be written down")])
def test_what_cannot_be_kept_is_refused_at_the_first_fit(base: type[Fittable], way: type, why: str) -> None:
    part: Fittable = type("Own", (way, base), {})()
    with pytest.raises(TypeError, match=why):
        part.fit_path(PlayTennis().read(), np.arange(14), np.random.default_rng(0))


@pytest.mark.parametrize("base", [BaseLearner, BasePreparer])
def test_who_reads_back_by_themselves_answer_for_it(base: type[Fittable]) -> None:
    own = {"restore": staticmethod(lambda _: None), "fit_key": lambda _: {}}
    part: Fittable = type("Own", (Unannotated, base), own)()
    assert part.fit_path(PlayTennis().read(), np.arange(14), np.random.default_rng(0)) is not None
