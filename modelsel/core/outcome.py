"""The Outcome: what the study found, in one machine-readable value (`study.json`, schema 1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = 1


@dataclass(frozen=True)
class TestResult:
    """One look at the sealed rows, as released: nothing here was computed from labels beyond the released answer."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    score: float | None
    errors: int | None
    n: int
    look: int
    replay: bool
    price: float
    spent: float
    interval: tuple[float, float] | None
    level: float
    policy: str
    release: str
    flags: tuple[str, ...] = ()
    refused: str | None = None
    unit: str = "rows"  # what the interval takes as independent,
    units: int | None = None  # and how many of them; None where no interval is certified for them
    cap: float | None = None  # of a log loss: what a row counts at most; None where the measure has a bound of its own
    above: Mapping[str, Any] | None = None  # the `rows` that lost more than the cap, with the `interval` of their share
    counted: Mapping[str, Any] | None = (
        None  # beside another measure: the `rows` that are off, with the `interval` of their share
    )
    beside: Mapping[str, Any] | None = (
        None  # the study's `measure` beside the share: `score`, `interval`, the `cap` of errors, the rows `above` it
    )
    measure: str | None = None  # what the score is of; of numbers `within`,
    tolerance: float | None = None  # the share of rows whose error exceeds this


@dataclass(frozen=True)
class StudySummary:
    """The fields of study.json; `folder` is where it lies."""

    study: str
    spec_id: str
    seed: int
    task: Mapping[str, Any]
    scheme: Mapping[str, Any]
    measure: str
    rule: str
    candidates: Mapping[str, int]
    fits: Mapping[str, int]
    winner: Mapping[str, Any]
    test: TestResult | None
    failures: tuple[Mapping[str, object], ...]
    seconds: Mapping[str, float]
    modelsel: str
    folder: str = ""
    findings: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def to_dict(self) -> dict[str, Any]:
        """Plain data in the order of the documentation; what `extra` holds stands beside the other fields."""
        fields = asdict(self)
        extra = fields.pop("extra")
        return {"schema": fields.pop("schema"), "modelsel": fields.pop("modelsel"), **fields, **extra}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StudySummary":
        """Read study.json back; fields that a newer version added are kept in `extra`."""
        known = {key: data[key] for key in cls.__dataclass_fields__ if key in data and key != "extra"}
        test = known.get("test")
        if test is not None:
            known["test"] = TestResult(
                **{**test, "interval": test["interval"] and tuple(test["interval"]), "flags": tuple(test["flags"])}
            )
        known["failures"] = tuple(known.get("failures", ()))
        known["findings"] = tuple(known.get("findings", ()))
        extra = {key: value for key, value in data.items() if key not in cls.__dataclass_fields__}
        return cls(**known, extra=extra)
