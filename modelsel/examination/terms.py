"""The terms of an exam, `exam.json`: what is asked, how answers are shown, what was committed to. Public, and signed."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelsel.config.compose import Config
from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.core.fingerprint import canonical
from modelsel.core.spec import make, resolved
from modelsel.core.types import Feature
from modelsel.guard.release import worst_of
from modelsel.ledger.home import Home
from modelsel.ledger.signatures import verified

FILE, FORMAT = "exam.json", "modelsel exam 1"
RELEASES = ("full", "grid", "predicted", "ladder", "better", "passfail", "closed", "thresholdout")
LEAST = worst_of(0.0)  # nats that any answer may cost
VERDICTS = 0.2  # the share of δ that the verdicts at the close have
PUBLIC = "if an asker knows the labels, the exam proves nothing, and modelsel cannot detect it"
_WHAT = "modelsel.exam.v1 "


@dataclass(frozen=True)
class Terms:
    """`exam.json` as it stands."""

    facts: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def release(self) -> str:
        return str(self.facts["policy"]["release"])

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.facts["classes"])

    @property
    def token(self) -> str:
        """The name of the column of row tokens."""
        return str(self.facts["columns"]["token"])

    @property
    def measure(self) -> Any:
        spec = dict(self.facts["measure"])
        return make("measure", spec.pop("kind"), **{name: _tuples(value) for name, value in spec.items()})

    @property
    def features(self) -> tuple[Feature, ...]:
        return tuple(Feature(one["name"], one["kind"], tuple(one["levels"])) for one in self.facts["features"])

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.facts).encode()).hexdigest()

    @property
    def apart(self) -> dict[str, str]:
        """What the rows' order says of their independence: that they were split by time."""
        return {"split": str(self.facts["split"])} if "split" in self.facts else {}

    def policy(self, ledger: str = "user") -> Any:
        """The guard's policy for an answer: the intervals' part of δ, no quota but the budgets of the terms."""
        said = self.facts["policy"]
        return make(
            "guard", "warn", release=said["release"], resolution=said["resolution"], delta=said["intervals"],
            target=said["target"], budget=said["budget"], quota=None, declared_space=None, ledger=ledger,
            anchors=("state", "lockfile"),
        )  # fmt: skip


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def written(facts: Mapping[str, Any], folder: Path, home: Home) -> Terms:
    """Write the terms, signed with the home's key."""
    terms = Terms(json.loads(canonical(facts)))
    signer = home.signer()
    signed = {**terms.facts, "signature": {"key": signer.public, "value": signer.sign(_WHAT + terms.digest)}}
    (folder / FILE).write_text(json.dumps(signed, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return terms


def read(folder: Path) -> Terms:
    """The terms of an exam's folder; ConfigurationError where there are none, LedgerError where they were changed."""
    path = folder / FILE
    try:
        facts = json.loads(path.read_text("utf-8"))
        signature = facts.pop("signature")
        known = facts["format"] == FORMAT
    except OSError as error:
        fix = "name the folder that `modelsel exam create` wrote"
        raise ConfigurationError(Problem("MSEL-901", f"no exam is there ({error.strerror})", str(path), fix)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fix = "take the file as the examiner gave it"
        raise ConfigurationError(Problem("MSEL-902", "not the terms of an exam", str(path), fix)) from error
    terms = Terms(facts)
    if not known or not verified(str(signature.get("key")), _WHAT + terms.digest, str(signature.get("value"))):
        fix = "take the file as the examiner gave it"
        raise LedgerError(Problem("MSEL-903", "the terms are not those that were signed", str(path), fix))
    return terms


# The terms that an examiner chooses, and what is wrong with them.


@dataclass(frozen=True)
class Wanted:
    """The terms that an examiner chooses. `looks` and `nats` are budgets of each asker (None: no limit)."""

    name: str = ""
    release: str = "predicted"
    resolution: float | str = "count"
    delta: float = 0.05
    target: float | None = None  # the error rate to be met, for passfail
    budget: int = 10  # answers of thresholdout that may differ from the development rows
    looks: int | None = 20
    nats: float | None = None
    class_counts: bool = False
    everything: bool = False  # the whole table is the exam
    parquet: bool = False
    accept_overlap: bool = False
    ledger: str = "user"  # or the address of a team's (PostgreSQL); labels stay in the examiner's store all the same


def problems(wanted: Wanted, folder: Path, config: Config) -> Iterator[Problem]:
    """Say what does not go together in the terms, or cannot be."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        yield Problem("MSEL-913", "there is something already", str(folder), "name a new folder")
    if wanted.release not in RELEASES:
        yield Problem(
            "MSEL-914", f"{wanted.release!r} is no way to show answers", "--release", f"use one of {', '.join(RELEASES)}"
        )
    if wanted.release == "passfail" and wanted.target is None:
        yield Problem("MSEL-914", "passfail needs a target", "--pass", "give the error rate to be met, as --pass 0.2")
    yield from _numbers(wanted)
    yield from _steps(wanted)
    if wanted.release == "thresholdout" and wanted.everything:
        yield Problem("MSEL-914", "thresholdout needs development rows", "--all", "leave it out")
    name = resolved(config.measure)["kind"]
    if wanted.release in ("ladder", "better", "passfail", "thresholdout") and name != "error":
        yield Problem(
            "MSEL-914", f"{wanted.release} shows error rates, and the measure is {name}", "measure", "use measure=error"
        )


def _numbers(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of delta, target and budgets."""
    if not 0 < wanted.delta <= 0.5:
        yield Problem("MSEL-914", f"delta {wanted.delta:g} is not in (0, 0.5]", "--delta", "use 0.05")
    if wanted.target is not None and not 0 < wanted.target < 1:
        yield Problem("MSEL-914", f"an error rate of {wanted.target:g} is no target", "--pass", "give one between 0 and 1")
    if wanted.release != "closed":
        yield from no_answer(wanted.nats)
    for option, limit in (("--looks", wanted.looks), ("--nats", wanted.nats), ("--budget", wanted.budget)):
        if limit is not None and not limit > 0:
            yield Problem("MSEL-914", f"{limit:g} is no budget", option, "give a number above 0")


def no_answer(nats: float | None) -> Iterator[Problem]:
    """Yield a problem for a budget that no answer fits in: one that fails while labels are open costs so much."""
    if nats is not None and 0 < nats < LEAST:
        what, fix = f"a budget of {nats:g} nats admits no answer", f"an answer may cost {LEAST:.2f} (where it fails): give more"
        yield Problem("MSEL-914", what, "--nats", fix)


def _steps(wanted: Wanted) -> Iterator[Problem]:
    """Yield problems of the step to which scores are rounded."""
    step, fix = wanted.resolution, "give a step, as --resolution 0.01, or auto"
    if isinstance(step, str) and step not in ("count", "auto"):
        yield Problem("MSEL-914", f"{step!r} is no step", "--resolution", "give count, auto or a step, as --resolution 0.01")
    elif not isinstance(step, str) and not 0 < step <= 0.5:
        yield Problem("MSEL-914", f"{step:g} is no step", "--resolution", "give one above 0, up to 0.5")
    if wanted.release == "grid" and step == "count":
        yield Problem("MSEL-914", "grid needs a step", "--resolution", fix)
