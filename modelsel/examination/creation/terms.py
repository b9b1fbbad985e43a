"""The terms of an exam, `exam.json`: what is asked, how answers are shown, what was committed to. Public, and signed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.core.fingerprint import canonical
from modelsel.core.spec import make
from modelsel.core.types import Feature
from modelsel.ledger.home import Home
from modelsel.ledger.signatures import verified

FILE, FORMAT = "exam.json", "modelsel exam 1"
RELEASES = ("full", "grid", "predicted", "ladder", "better", "passfail", "closed", "thresholdout")
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
