"""Release all answers of an exam when it is closed: each answer's count at its own index, and verdicts of pairs, in one look.

Each answer's predictions were fixed at index t, when s nats were spent, so its count is tested at level δ w_t e^−s, whatever is
shown besides (the nodes of the tree are the same). Where nothing was shown before, k answers share the level of the one index
of the close: δ w_t e^−s / k. Where a study declared a space of models for these rows, half of δ is that space's, as at every
look. A later answer j is compared with each of the j − 1 before it by an exact sign test of the rows on which one is right and
the other wrong, on a share of δ of its own:

    j differs from i   iff   P(Bin(b + c, 1/2) ≤ min(b, c)) ≤ δ' w_t e^−s / (2 (j − 1))

b and c are not shown: at the threshold one row of them would tell that row's label.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Codes, Floats
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import PreparedLook
from modelsel.guard.checks.terms import terms_for
from modelsel.guard.history.entries import as_facts, who
from modelsel.guard.identity.requests import Handed
from modelsel.guard.release.labels import truth
from modelsel.guard.release.mechanisms import Counts, ReleaseMechanism
from modelsel.guard.release.score_grid import ScoreGridRelease, bounds_of
from modelsel.statistics.reuse.certificate import index_weight

CLOSING = "closing"  # in place of a measure
VERDICTS = ("cannot be told apart", "fewer errors", "more errors")


def closing(ask: PreparedLook, position: LookContext, handed: Sequence[Handed], delta: float, share: float) -> dict[str, Any]:
    """The intent: which answers will be shown, and where each stands."""
    standing = position.standing
    alone = -log(index_weight(standing.look)) + standing.spent + log(max(1, len(handed)))
    whole = bool(position.rows.all()) and position.certified
    answers = [
        {"name": one.name, "base": alone if one.base is None else one.base, "certified": one.certified and whole}
        for one in handed
    ]  # fmt: skip
    n = len(position.rows)
    channels = len(handed) * _channel(ask, n).worst + len(handed) * (len(handed) - 1) / 2 * log(len(VERDICTS))
    return {
        **who(), "testset": position.digest, "train": ask.subject.train, "metric": CLOSING, "config": {},
        "spec_id": ask.request.sealing.spec_id, "predictions": "", "study": ask.request.sealing.study, "justify": None,
        "folder": ask.request.sealing.folder, "n": n, "n_clean": int(position.clean.sum()), "certified": position.certified,
        "look": standing.look, "spent": standing.spent, "space": standing.space, "worst": channels,
        "delta": min(delta, terms_for(position)["delta"]), "share": share,
        "release": CLOSING, "policy": kind_of(ask.policy), "flags": as_facts(()), "charged": list(position.charged),
        "seen": {}, "answers": answers, "counted": ask.counted,
    }  # fmt: skip


def closed(
    ask: PreparedLook, facts: Mapping[str, Any], handed: Sequence[Handed], labels: tuple[tuple[str, ...], Codes, Floats | None]
) -> dict[str, Any]:
    """Release the error counts of all answers and verdicts of pairs, with their price."""
    n, price, shown, wrong = int(facts["n"]), 0.0, [], []
    channel, rows = _channel(ask, n), np.ones(int(facts["n"]), bool)
    halved = log(2) if facts.get("space") is not None else 0.0
    for one, stated in zip(handed, facts["answers"], strict=True):
        released = channel.release(truth(ask.request.sealing.measure, one.outputs, labels, rows))
        nats = log(2 * channel.numbers / facts["delta"]) + halved + stated["base"]
        limits = released.interval(n, nats) if stated["certified"] else None
        price += released.price
        shown.append({"name": one.name, "score": released.score, "errors": released.errors, "interval": limits})
        wrong.append(one.outputs.predicted[0] != labels[1])
    verdicts = _verdicts(facts, wrong) if ask.counted and facts["certified"] else []
    price += len(verdicts) * log(len(VERDICTS))
    return {"price": price, "answers": shown, "verdicts": verdicts}


def _verdicts(facts: Mapping[str, Any], wrong: Sequence[Any]) -> list[dict[str, Any]]:
    """Compare every two answers by the sign test on the rows where one of them errs."""

    from scipy.stats import binom

    found = []
    for first, later in combinations(range(len(wrong)), 2):
        better, worse = int((wrong[first] & ~wrong[later]).sum()), int((wrong[later] & ~wrong[first]).sum())
        level = facts["share"] * exp(-facts["answers"][later]["base"]) / (2 * later)
        p = binom.cdf(min(better, worse), better + worse, 0.5)
        alike = p > level or better == worse
        said = VERDICTS[0 if alike else 1 if better > worse else 2]
        names = [facts["answers"][place]["name"] for place in (later, first)]
        found.append({"answer": names[0], "beside": names[1], "says": said})
    return found


def _channel(ask: PreparedLook, n: int) -> ReleaseMechanism:
    """Choose the release of closing: exact counts, or scores on a grid."""
    if ask.counted:
        return Counts(n, None)
    measure = ask.request.sealing.measure
    return ScoreGridRelease(kind_of(measure), n, n, bounds_of(measure), None, None)
