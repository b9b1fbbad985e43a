"""The policy of a gate: how an answer is released, at which confidence, what is stored and where; and whether a look may be."""

import re
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from modelsel.core.spec import number, one_of, plain, whole
from modelsel.core.types import Finding
from modelsel.guard.findings.base import at_least

QUOTA = 3  # docs/guard/measured.md has the simulations
FULL = "full"  # of a ledger: it keeps hashes of all rows
RELEASES = ("full", "grid", "predicted", "passfail", "ladder", "thresholdout")
CORRECTED = "labels"  # says that labels of the test rows were corrected: equal predictions are then a new look
OTHER_TARGET = "other_target"  # says that the test rows are known, and another target of them is not
CATEGORIES = ("", "bug", CORRECTED, OTHER_TARGET, "new_data", "reviewer", "protocol", "other")


@dataclass(frozen=True)
class Justify:
    """The reason for a further look; it is stored in the ledger, and the same text serves once.

    Parameters
    ----------
    category : str
        One of `CATEGORIES`; empty where no reason is given.
    text : str
        The reason in words, 20 characters or more.

    Examples
    --------
    >>> Justify("bug", "the target column was shifted by one row").category
    'bug'
    """

    nested = True
    category: str = one_of(*CATEGORIES)
    text: str = plain("", help="in words, 20 characters or more; kept with your name")


@dataclass(frozen=True)
class Identity:
    """Settings of how rows are recognised.

    Parameters
    ----------
    key : str
        The name of the key that hashes rows.
    store : str
        What a ledger beside the home's own keeps of rows: `full`, `sketch`, or `digest_only`, which keeps hashes of none. The
        home's own ledger keeps hashes of all.

    Examples
    --------
    >>> Identity().store
    'full'
    """

    nested = True
    key: str = plain("user", help="the name of the key; guard.project names another one")
    store: str = one_of(FULL, "sketch", "digest_only", help="what ledgers beside the home's own keep of rows")


@dataclass(frozen=True)
class Policy:
    """The settings of the gate; the kinds off, warn, strict, ladder, thresholdout differ in defaults and refusals.

    Parameters
    ----------
    release : str
        What is shown of the score, and so what it costs: one of `RELEASES`.
    resolution : float or str
        `count` (the exact error count), `auto`, or a step in (0, 0.5].
    delta : float
        Probability in (0, 0.5] that any interval ever shown for these rows is wrong.
    max_looks : int, optional
        Looks that are allowed at one test set.
    max_halfwidth : float, optional
        The widest interval that a look may bring, as a half width in (0, 0.5].
    quota : float, optional
        Exact answers, or a half width below 1; then the ladder, then none.
    declared_space : int or str, optional
        The number of models declared beforehand; `auto` counts them in the plan.
    target : float, optional
        The score to be met, for `release=passfail`.
    tolerance : float, optional
        Of numbers: a row is off when its error exceeds it.
    beside : bool or tuple of float
        Of numbers: whether the study's measure (`mae`, `mse` or `rmse`, errors capped; `median_absolute_error`) is shown beside
        the count; or which quantiles of the absolute error are.
    cap : float, optional
        Of numbers: what an error counts at most, beside; or where the grid of quantiles ends.
    budget : int
        Thresholdout: answers that may differ from cross-validation, at least 1.
    sweep_test : bool
        Whether every job of a sweep opens the test set.
    remember : bool
        False: nothing is kept of this study.
    ledger : str
        `user`, `project`, or an SQLAlchemy address.
    project : str, optional
        The name of another key than the person's own.
    anchors : tuple of str
        Names of the memories outside the ledger.
    identity : Identity
        How rows are recognised.
    justify : Justify
        The reason for a further look.

    Examples
    --------
    >>> Policy(max_looks=3).release
    'predicted'
    """

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
    tolerance: float | None = number(
        None,
        least=0,
        help="numbers: a row is off when its error exceeds it; null: half of the median distance from the median",
    )
    beside: bool | tuple[float, ...] = plain(
        False, help="numbers: true shows the study's measure beside the count, errors capped; [0.5] the median of the errors"
    )
    cap: float | None = number(
        None, above=0, help="numbers: what an error counts at most beside; null: exceeded by a guess for one row in a hundred"
    )
    budget: int = whole(10, least=1, help="thresholdout: answers that may differ from cross-validation")
    sweep_test: bool = plain(False, help="open the test set in every job of a sweep; each counts as a look")
    remember: bool = plain(True, help="false: nothing is kept of this study, and that is said wherever its result stands")
    ledger: str = plain("user", help="user, project, or an SQLAlchemy URL")
    project: str | None = plain(None, help="another key than the person's own")
    anchors: tuple[str, ...] = plain(("state", "mlflow", "lockfile"))
    identity: Identity = field(default_factory=Identity)
    justify: Justify = field(default_factory=Justify)


# Whether a look may happen: a pure function of the policy and of what is asked.


SHORTEST, WORDS, LETTERS = 20, 4, 8  # characters, different words and different letters of a justification
COUNTED = ("G012",)  # a further look is what max_looks, the board and the budget limit: no veto besides
TO_DECLARE = ("G033",)  # rows that are known by another target: on with that reason alone


@dataclass(frozen=True)
class Verdict:
    """A policy's decision about a look.

    Parameters
    ----------
    decision : str
        `allow`, `flag` (allowed, but something is to be said) or `refuse`.
    reason : str
        Why; empty where there is nothing to say.

    Examples
    --------
    >>> Verdict("allow").reason
    ''
    """

    decision: Literal["allow", "flag", "refuse"]
    reason: str = ""


@dataclass(frozen=True)
class Question:
    """The facts that a policy judges.

    Parameters
    ----------
    look : int
        The look's index at these rows, 1 for the first.
    halfwidth : float or None
        The expected half width of its interval, in [0, 1].
    findings : tuple of Finding
        What was noticed before the look.
    used_texts : tuple of str
        Justifications that were used before.
    exhausted : int
        The budget that was sealed, once it is used up; else 0.

    Examples
    --------
    >>> Question(look=2, halfwidth=0.04).findings
    ()
    """

    look: int
    halfwidth: float | None
    findings: tuple[Finding, ...] = ()
    used_texts: tuple[str, ...] = ()
    exhausted: int = 0


def judge(policy: Policy, question: Question) -> Verdict:
    """Judge a look by a policy.

    A justification lifts the limit on looks and the veto of grave findings, never another refusal.

    Parameters
    ----------
    policy : Policy
        The settings in force.
    question : Question
        The look that is asked for.

    Returns
    -------
    Verdict
        The decision and its reason.

    Examples
    --------
    >>> from modelsel.guard.policy.strict import Strict
    >>> judge(Strict(), Question(look=1, halfwidth=0.04)).decision
    'allow'
    >>> judge(Strict(), Question(look=2, halfwidth=0.04)).decision
    'refuse'
    """
    if question.exhausted:
        return Verdict("refuse", f"all {question.exhausted} answers that may differ from cross-validation are used")
    if policy.max_halfwidth is not None and (question.halfwidth or 0.0) > policy.max_halfwidth:
        return Verdict("refuse", f"the interval could be ±{question.halfwidth:.3f} wide, "
                                 f"more than guard.max_halfwidth={policy.max_halfwidth:g}")  # fmt: skip
    objection = _objection(policy, question)
    if not objection:
        grave = at_least(question.findings, "medium")
        return Verdict("flag", grave[0].message) if grave else Verdict("allow")
    fault = _fault(policy, question.used_texts)
    return Verdict("refuse", f"{objection}; {fault}") if fault else Verdict("flag", f"justified: {policy.justify.text}")


def _objection(policy: Policy, question: Question) -> str:
    """Say why the policy objects to a look; empty where it does not."""
    reasons = []
    if policy.max_looks is not None and question.look > policy.max_looks:
        reasons.append(f"this would be look {question.look} of these rows, and guard.max_looks={policy.max_looks}")
    if policy.vetoes:
        grave = (finding for finding in at_least(question.findings, "high") if finding.code not in COUNTED)
        unsaid = (finding for finding in question.findings if finding.code in TO_DECLARE and not says_other_target(policy))
        reasons += [f"{finding.code}: {finding.message}" for finding in (*grave, *unsaid)]
    return "; ".join(reasons)


def says_other_target(policy: Policy) -> bool:
    """Say whether a policy declares, in words, that another target of known rows is tested."""
    return policy.justify.category == OTHER_TARGET and not _fault(policy, ())


def _fault(policy: Policy, used: tuple[str, ...]) -> str:
    """Say why a justification is not accepted; empty when it is."""
    text = policy.justify.text.strip()
    if not text or not policy.justify.category:
        return "say why: guard.justify.category=... guard.justify.text='...'"
    if len(text) < SHORTEST:
        return f"guard.justify.text needs {SHORTEST} characters or more"
    if not _says_something(text):
        return f"guard.justify.text is to say why in words: {WORDS} different ones or more"
    return "this justification was used before: each serves once" if text in used else ""


def _says_something(text: str) -> bool:
    """Different words, or letters of a script that sets no spaces between them.

    >>> _says_something("the target column was shifted"), _says_something("a" * 25), _says_something("ab ab ab ab ab ab ab")
    (True, False, False)
    """
    words = set(re.findall(r"[^\W\d_]{2,}", text.lower()))
    spaced = text.isascii() or len(words) > 1
    letters = {letter for letter in text.lower() if letter.isalpha()}
    return len(letters) >= LETTERS and (len(words) >= WORDS or not spaced)
