"""Decide whether a look may happen: a pure function of the policy and of what is asked."""

import re
from dataclasses import dataclass
from typing import Literal

from modelsel.core.types import Finding
from modelsel.guard.findings.base import at_least
from modelsel.guard.policy.base import Policy

SHORTEST, WORDS, LETTERS = 20, 4, 8  # characters, different words and different letters of a justification
COUNTED = ("G012",)  # a further look is what max_looks, the board and the budget limit: no veto besides


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
        reasons += [f"{finding.code}: {finding.message}" for finding in grave]
    return "; ".join(reasons)


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
