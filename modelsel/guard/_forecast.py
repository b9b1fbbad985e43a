"""What one more look at a test set would cost, and how wide its interval would come out."""

from typing import Any

from modelsel.guard._history import History
from modelsel.statistics import prices
from modelsel.statistics.certificate import Standing, hoeffding, interval


def next_look(history: History, testset: str) -> dict[str, Any] | None:
    """Price and interval of an answer that agrees with the last cross-validation; None where nobody chose yet."""
    seal, looks = history.seals.get(testset), history.looks_at([testset])
    chosen = [entry.facts for entry in history.selections if entry.facts["testset"] == testset]
    rate = chosen[-1]["cv_error"] if chosen and chosen[-1]["cv_error"] is not None else chosen and chosen[-1]["cv_mean"]
    if seal is None or not chosen or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        return None
    n, terms = int(seal.facts["n"]), history.terms(testset)
    errors = round(n * rate)
    adaptive = sum(1 for look in looks if not look.facts.get("commit"))
    index = 1 + adaptive + len(history.commits_on([testset]))
    standing = Standing(index, sum(look.price for look in looks), seal.facts["space"])
    low, high = interval(errors, errors, n, standing.nats(terms["delta"]))
    price = prices.predicted(errors, n, rate, chosen[-1]["cv_rows"]) if terms["release"] == "predicted" else prices.full(n)
    return {"look": index, "price": price, "interval": [low, high]}


def budget(history: History, testset: str) -> dict[str, Any] | None:
    """How many more looks keep the half width within .05 and .10, by what is released; and the rows that would do better."""
    seal, looks = history.seals.get(testset), history.looks_at([testset])
    if seal is None:
        return None
    n, delta, spent = int(seal.facts["n"]), history.terms(testset)["delta"], sum(look.price for look in looks)
    costs = {
        "full": prices.full(n),
        "grid": prices.grid(100),
        "predicted": 1.1,
        "passfail": prices.PASS_OR_FAIL,
        "committed": 0.0,
    }
    left = {
        mode: {f"{width:g}": _more(n, len(looks), spent, price, width, delta) for width in (0.05, 0.1)}
        for mode, price in costs.items()
    }
    return {
        "left": left,
        "fresh": {str(rows): round(hoeffding(Standing(1, 0.0).nats(delta), rows), 4) for rows in (500, 2000, 10_000)},
    }


def _more(n: int, done: int, spent: float, price: float, width: float, delta: float, most: int = 1000) -> int:
    more = 0
    while more < most and hoeffding(Standing(done + more + 1, spent + more * price).nats(delta), n) <= width:
        more += 1
    return more
