"""The terms of an exam, `exam.json`: what is asked, how answers are shown, what was committed to. Public, and signed."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from modelsel.config.compose import Config
from modelsel.config.settings import CLASSIFICATION, REGRESSION
from modelsel.core import stored
from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.core.fingerprint import canonical
from modelsel.core.spec import make, spec_of
from modelsel.core.types import Feature
from modelsel.guard.face import COUNTED, Facts, Home, Policy, is_signed, worst_of
from modelsel.measure.base import BaseMeasure
from modelsel_exam.options import Wanted, WantedLoop

FILE, FORMAT = "exam.json", "modelsel exam 1"
RELEASES = ("full", "grid", "predicted", "ladder", "better", "passfail", "closed", "thresholdout")
LEAST = worst_of(0.0)  # nats that any answer may cost
VERDICTS = 0.2  # the share of δ that the verdicts at the close have
PUBLIC = "if an asker knows the labels, the exam proves nothing, and modelsel cannot detect it"
_WHAT = "modelsel.exam.v1 "


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnNames(Facts):
    """The names of the columns that are no features; None where there is none."""

    token: str
    target: str
    weight: str | None
    group: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureTerms(Facts):
    """A feature: its name, its kind, and the levels of a nominal or ordered one."""

    name: str
    kind: str
    levels: Sequence[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class SideRows(Facts):
    """Numbers of rows; of a gate's development rows the `judged` ones are given out without labels, among the questions."""

    development: int
    questions: int
    judged: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ExamPolicy(Facts):
    """How answers are released, and the error probabilities: of all that is shown, of intervals, of verdicts at the close."""

    release: str
    resolution: float | str
    delta: float
    intervals: float
    verdicts: float
    target: float | None
    budget: int


@dataclass(frozen=True, kw_only=True, eq=False)
class AskerLimits(Facts):
    """The budget of each asker; None: no limit."""

    looks: int | None
    nats: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenFile(Facts):
    """A file that askers get, and the digest of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Commitments(Facts):
    """Commitments of the examiner: the digest of the labels with their salt; of a gate's judged rows the same."""

    labels: str
    judged: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoopTerms(Facts):
    """The terms of a gate: when a proposal is kept, and what must not change meanwhile.

    `errors`: how many standard errors better than the best so far; `vetoes`: how often sealed rows may say no; `scorer`: the
    digest of the code that judges; `pinned`: files of the evaluation, named from the gate's folder, and their digests.
    """

    errors: float
    vetoes: int
    seed: int
    scorer: str
    pinned: tuple[GivenFile, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms(Facts):
    """The terms of an exam, as exam.json states them; it is read and written here."""

    id: str
    name: str
    format: str
    examiner: str
    columns: ColumnNames
    classes: tuple[str, ...]
    features: tuple[FeatureTerms, ...]
    rows: SideRows
    measure: Mapping[str, Any]  # its kind and settings
    policy: ExamPolicy
    per_asker: AskerLimits
    files: Mapping[str, GivenFile]
    commitments: Commitments
    notes: Sequence[str]
    testset: str
    overlap: Sequence[str] = ()  # findings about rows that were tested, chosen on or opened before
    class_counts: Mapping[str, object] | None = None
    key: str  # public, to which the labels are encrypted
    unit: str | None = None
    split: str | None = None
    task: str = CLASSIFICATION  # regression: the target is a number, and its measure counts rows off by more than a tolerance
    measured_in: str = ""  # the unit of measurement of such a target
    loop: LoopTerms | None = None

    @property
    def release(self) -> str:
        return self.policy.release

    @property
    def of_numbers(self) -> bool:
        """Say whether the target is a number."""
        return self.task == REGRESSION

    @property
    def wrong(self) -> str:
        """The word for rows that are counted.

        >>> Terms.read({"measure": {"kind": "error"}}).wrong
        'wrong'
        >>> Terms.read({"task": "regression", "measured_in": "mm", "measure": {"kind": "within", "tolerance": 12.5}}).wrong
        'off by more than 12.5 mm'
        """
        return f"off by more than {self.measure['tolerance']:g} {self.measured_in}".strip() if self.of_numbers else "wrong"

    @property
    def token(self) -> str:
        """The name of the column of row tokens."""
        return self.columns.token

    @property
    def schema(self) -> tuple[Feature, ...]:
        """The features as a task has them."""
        return tuple(Feature(one.name, one.kind, tuple(one.levels)) for one in self.features)

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.written()).encode()).hexdigest()

    @property
    def row_order(self) -> dict[str, str]:
        """The statement that rows were split by time, where they were."""
        return {"split": self.split} if self.split else {}

    def make_measure(self) -> BaseMeasure:
        """Make the measure that answers are scored by."""
        settings = {name: _tuples(value) for name, value in self.measure.items() if name != "kind"}
        measure: BaseMeasure = make("measure", self.measure["kind"], **settings)
        return measure

    def guard_policy(self, ledger: str = "user") -> Policy:
        """Make the guard's policy for an answer: the intervals' part of δ, no quota but the budgets of the terms."""
        own = self.policy
        policy: Policy = make(
            "guard", "warn", release=own.release, resolution=own.resolution, delta=own.intervals, target=own.target,
            budget=own.budget, quota=None, declared_space=None, ledger=ledger, anchors=("state", "lockfile"),
        )  # fmt: skip
        return policy


def _tuples(value: object) -> object:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def write_terms(terms: Terms, folder: Path, home: Home) -> Terms:
    """Write the terms, signed with the home's key; return them as they are read again."""
    written = Terms.read(json.loads(canonical(terms.written())))
    signer = home.signer()
    signed = {**written.written(), "signature": {"key": signer.public, "value": signer.sign(_WHAT + written.digest)}}
    (folder / FILE).write_text(json.dumps(signed, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return written


def read_terms(folder: Path) -> Terms:
    """The terms of an exam's folder; ConfigurationError where there are none, LedgerError where they were changed."""
    path = folder / FILE
    fix = "take the file as the examiner gave it"
    try:
        stated = stored.mapping(stored.text(path))
        signature = stated.pop("signature")
        known = stated["format"] == FORMAT and isinstance(signature, dict)
        terms = Terms.read(stated)
    except OSError as error:
        found = "name the folder that `modelsel exam create` wrote"
        said = error.strerror or stored.reason(error)
        raise ConfigurationError(Problem("MSEL-901", f"no exam is there ({said})", str(path), found)) from error
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError) as error:
        raise ConfigurationError(Problem("MSEL-902", "not the terms of an exam", str(path), fix)) from error
    if not known or not is_signed(str(signature.get("key")), _WHAT + terms.digest, str(signature.get("value"))):
        raise LedgerError(Problem("MSEL-903", "the terms are not those that were signed", str(path), fix))
    return terms


# What is wrong with the terms that an examiner chooses.


def problems(wanted: Wanted, folder: Path, config: Config) -> Iterator[Problem]:
    """Say what does not go together in the terms, or cannot be."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        yield Problem("MSEL-913", "there is something already", str(folder), "name a new folder")
    if wanted.release not in RELEASES:
        yield Problem(
            "MSEL-914", f"{wanted.release!r} is not a way to show answers", "--release", f"use one of {', '.join(RELEASES)}"
        )
    if wanted.release == "passfail" and wanted.target_rate is None:
        yield Problem("MSEL-914", "passfail needs a target", "--target-rate", "give the error rate to be met, as 0.2")
    yield from _numbers(wanted)
    yield from _steps(wanted)
    if wanted.release == "thresholdout" and wanted.all:
        yield Problem("MSEL-914", "thresholdout needs development rows", "--all", "leave it out")
    if wanted.loop is not None:
        yield from _of_loop(wanted.loop, config)
    name = spec_of(config.measure)["kind"]
    if wanted.release in ("ladder", "better", "passfail", "thresholdout") and name not in COUNTED:
        fix = "use measure=error; of numbers leave it out"
        yield Problem("MSEL-914", f"{wanted.release} shows error rates, and the measure is {name}", "measure", fix)


def _of_loop(loop: WantedLoop, config: Config) -> Iterator[Problem]:
    """Yield problems of a gate's terms."""
    if not 0 < loop.judged < 1:
        yield Problem("MSEL-914", f"a share of {loop.judged:g}", "--judged", "give one between 0 and 1, as 0.3")
    if not 0 <= loop.errors <= 5:
        yield Problem("MSEL-914", f"{loop.errors:g} standard errors", "--errors", "give a number from 0 to 5; 1 is usual")
    if not 0 <= loop.vetoes <= 20:
        yield Problem("MSEL-914", f"{loop.vetoes} vetoes", "--vetoes", "give a number from 0 to 20: each costs ln 2 nats")
    if not config.measure.over_rows:
        fix = "use error, brier or log_loss"
        yield Problem(
            "MSEL-914", f"{spec_of(config.measure)['kind']} is not a mean over rows: pairs of rows judge", "measure", fix
        )
    if loop.vetoes and spec_of(config.measure)["kind"] not in COUNTED:
        yield Problem("MSEL-914", "a veto compares error counts", "--vetoes", "use measure=error, or no vetoes")
    for path in loop.pinned:
        if not path.is_file():
            yield Problem("MSEL-914", f"there is no file {str(path)!r}", "--pin", "name the files that evaluate a proposal")


def _numbers(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of delta, target and budgets."""
    if not 0 < wanted.delta <= 0.5:
        yield Problem("MSEL-914", f"delta {wanted.delta:g} is not in (0, 0.5]", "--delta", "use 0.05")
    if wanted.tolerance is not None and not 0 <= wanted.tolerance < inf:
        fix = "give a number from 0 on, in the unit of the target: a row is off when its error exceeds it"
        yield Problem("MSEL-914", f"a tolerance cannot be {wanted.tolerance:g}", "--tolerance", fix)
    if wanted.target_rate is not None and not 0 < wanted.target_rate < 1:
        yield Problem(
            "MSEL-914", f"an error rate of {wanted.target_rate:g} is not a target", "--target-rate", "give one between 0 and 1"
        )
    if wanted.release != "closed":
        yield from no_answer(wanted.nats)
    for option, limit in (("--looks", wanted.looks), ("--nats", wanted.nats), ("--budget", wanted.budget)):
        if limit is not None and not limit > 0:
            yield Problem("MSEL-914", f"{limit:g} is not a budget", option, "give a number above 0")


def no_answer(nats: float | None) -> Iterator[Problem]:
    """Yield a problem for a budget that no answer fits in: one that fails while labels are open costs so much."""
    if nats is not None and 0 < nats < LEAST:
        what, fix = f"a budget of {nats:g} nats admits no answer", f"an answer may cost {LEAST:.2f} (where it fails): give more"
        yield Problem("MSEL-914", what, "--nats", fix)


def _steps(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of the step to which scores are rounded."""
    step, fix = wanted.resolution, "give a step, as --resolution 0.01, or auto"
    if isinstance(step, str) and step not in ("count", "auto"):
        yield Problem("MSEL-914", f"{step!r} is not a step", "--resolution", "give count, auto or a step, as --resolution 0.01")
    elif not isinstance(step, str) and not 0 < step <= 0.5:
        yield Problem("MSEL-914", f"{step:g} is not a step", "--resolution", "give one above 0, up to 0.5")
    if wanted.release == "grid" and step == "count":
        yield Problem("MSEL-914", "grid needs a step", "--resolution", fix)
