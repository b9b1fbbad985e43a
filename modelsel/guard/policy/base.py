"""Settings that all policies share: how an answer is released, the interval's confidence, what is stored and where."""

from dataclasses import dataclass, field
from typing import ClassVar

from modelsel.core.spec import number, one_of, plain, whole

QUOTA = 3  # docs/guard/reviewer.md has the simulations
RELEASES = ("full", "grid", "predicted", "passfail", "ladder", "thresholdout")
CORRECTED = "labels"  # says that labels of the test rows were corrected: equal predictions are then a new look
CATEGORIES = ("", "bug", CORRECTED, "new_data", "reviewer", "protocol", "other")


@dataclass(frozen=True)
class Justify:
    """The reason for a further look; it is stored in the ledger, and the same text serves once."""

    nested = True
    category: str = one_of(*CATEGORIES)
    text: str = plain("", help="in words, 20 characters or more; kept with your name")


@dataclass(frozen=True)
class Identity:
    """Settings of how rows are recognised. `digest_only` keeps the least about them and recognises only the whole set."""

    nested = True
    key: str = plain("user", help="the name of the key; guard.project names another one")
    store: str = one_of("full", "sketch", "digest_only")


@dataclass(frozen=True)
class Policy:
    """The settings of the gate; the kinds off, warn, strict, ladder, thresholdout differ in defaults and refusals."""

    vetoes: ClassVar[bool] = False  # does a grave flag refuse the look
    rank: ClassVar[int] = 1  # how much a policy forbids; going down is a weakening

    release: str = one_of(*RELEASES, default="predicted", help="what is shown of the score, and so what it costs")
    resolution: float | str = plain("count", help="count: the exact error count; auto; or a step such as 0.01")
    delta: float = number(0.05, above=0, most=0.5)
    max_looks: int | None = whole(None, least=1, help="looks that are allowed at one test set; null: any number")
    max_halfwidth: float | None = number(None, above=0, most=0.5)
    quota: float | None = number(QUOTA, above=0, help="exact answers (or a half width below 1); then the ladder, then none")
    declared_space: int | str | None = plain("auto", help="auto: counted from the plan when the set is sealed; null: none")
    target: float | None = number(None, help="the score to be met, for release=passfail")
    budget: int = whole(10, least=1, help="thresholdout: answers that may differ from cross-validation")
    sweep_test: bool = plain(False, help="open the test set in every job of a sweep; each counts as a look")
    remember: bool = plain(True, help="false: nothing is kept of this study, and that is said wherever its result stands")
    ledger: str = plain("user", help="user, project, or an SQLAlchemy URL")
    project: str | None = plain(None, help="another key than the person's own")
    anchors: tuple[str, ...] = plain(("state", "mlflow", "lockfile"))
    identity: Identity = field(default_factory=Identity)
    justify: Justify = field(default_factory=Justify)
