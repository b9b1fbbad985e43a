"""What exporters know beside the fitted model itself: how its columns are read, its classes, its preparation steps."""

from typing import Any, Protocol

from modelsel.core.reading import TableReading
from modelsel.core.types import Feature


class Shipped(Protocol):
    """A fitted model on its way to another system, as a run's folder keeps it (`record.model.Predictor`)."""

    @property
    def model(self) -> Any: ...
    @property
    def features(self) -> tuple[Feature, ...]: ...
    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> tuple[Any, ...]: ...
    @property
    def read_as(self) -> TableReading: ...
