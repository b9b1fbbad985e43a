"""Fitted objects are written down and read back; what cannot be written is refused by its name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from modelsel.core.described import Described


@dataclass(frozen=True)
class _Fitted(Described):
    cuts: Any


def test_nested_tuples_come_back_as_tuples() -> None:
    fitted = _Fitted((1, (2.5, "a"), None))
    assert _Fitted.of_description(fitted.describe()) == fitted


@pytest.mark.parametrize("inner", [np.zeros(2), object(), (1, object()), (1, np.zeros(2))])
def test_an_array_or_an_object_within_a_tuple_is_refused_by_name(inner: object) -> None:
    with pytest.raises(TypeError, match=r"_Fitted\.cuts is neither an array nor a plain value"):
        _Fitted((1, inner)).describe()
