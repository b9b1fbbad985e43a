"""Numbers as people read them, the same in the terminal and on the page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from modelsel.core.outcome import StudySummary, TestResult
from modelsel.record.candidates import Row
from modelsel.statistics.bounds import clopper_pearson

MANY = 1e3  # from which a score is written without decimals


def is_known(value: float | None) -> TypeGuard[float]:
    """A record holds null where there is no number.

    >>> is_known(0.0), is_known(None), is_known(float("nan"))
    (True, False, False)
    """
    return value is not None and math.isfinite(value)


def score(value: float | None, beside: float | None = None) -> str:
    """Write a score with four decimals below 10; a dash where there is none. A standard error has the decimals of the score.

    >>> score(0.04093567), score(None), score(123.456), score(-0.5), score(478751673.2), score(1.3989, beside=29.6)
    ('0.0409', '–', '123.5', '−0.5000', '478,751,673', '1.4')
    """
    if value is None or not is_known(value):
        return "–"
    return minus(
        f"{value:,.{decimals}f}"
        if (decimals := decimals_of(value if beside is None else beside)) == 0
        else f"{value:.{decimals}f}"
    )


def decimals_of(value: float) -> int:
    """Return how many decimals a score of this size is written with; four where there is none.

    >>> decimals_of(0.04), decimals_of(123.456), decimals_of(4e8)
    (4, 1, 0)
    """
    return 4 if not abs(value) >= 10 else 1 if abs(value) < MANY else 0


def with_sign(value: float | None, decimals: int = 4) -> str:
    """Write a difference with its sign; a dash where there is none.

    >>> with_sign(0.05), with_sign(-0.05, 2), with_sign(1251.4, 0), with_sign(None)
    ('+0.0500', '−0.05', '+1,251', '–')
    """
    return "–" if value is None or not is_known(value) else minus(f"{value:+,.{decimals}f}")


def minus(digits: str) -> str:
    """Put the typographic minus in the place of a hyphen that begins a number or stands before its exponent.

    >>> minus("-0.5"), minus("1e-09")
    ('−0.5', '1e−09')
    """
    return digits.replace("-", "−")


def p_value(value: float | None) -> str:
    """Write a p-value with four decimals, or its upper bound.

    >>> p_value(0.0321), p_value(1e-9)
    ('0.0321', '< 0.0001')
    """
    return "< 0.0001" if value is not None and value < 0.0001 else score(value)


def interval(ends: Sequence[float] | None, beside: float | None = None) -> str:
    """Write an interval, both ends with the decimals of the larger one (or of a score beside it); a dash where there is none.

    >>> interval((77999.4, 109021.7)), interval((8.1234, 12.5)), interval((0.1, 0.25)), interval((-0.5, 3.2), beside=20.0)
    ('[77,999, 109,022]', '[8.1, 12.5]', '[0.1000, 0.2500]', '[−0.5, 3.2]')
    """
    if ends is None:
        return "–"
    larger = max(map(abs, ends)) if beside is None else beside
    return f"[{score(ends[0], larger)}, {score(ends[1], larger)}]"


def number(value: float | None) -> str:
    """Write a number for people, with thousands separated.

    >>> number(12.0), number(12.34567), number(-1234567.0), number(2526.4), number(0.00001234)
    ('12', '12.35', '−1,234,567', '2,526', '1.234e−05')
    """
    if value is None or not math.isfinite(value):
        return "–"
    whole = (value == round(value) and abs(value) < 1e15) or abs(value) >= 1e4
    return minus(f"{value:,.0f}" if whole else f"{value:,.4g}")


def with_unit(value: float, unit: str = "") -> str:
    """Write a quantity in its unit.

    >>> with_unit(12345.6, "euro"), with_unit(0.5)
    ('12,346 euro', '0.5')
    """
    return f"{number(value)} {unit}".strip()


IN_UNITS = ("root mse", "rmse", "mae", "median_absolute_error", "pinball")  # measures in the unit of the target


def in_unit(outcome: StudySummary) -> str:
    """The unit of a study's scores, as it stands behind the measure's name; empty where they have none."""
    unit = outcome.task.measured_in
    return f" in {unit}" if unit and outcome.measure in IN_UNITS else ""


def wrong(result: TestResult, unit: str = "") -> str:
    """The word for the rows that a test counts: they are wrong, or off by more than so much."""
    return "wrong" if result.tolerance is None else f"off by more than {with_unit(result.tolerance, unit)}"


def measure_beside(result: TestResult, unit: str = "") -> str:
    """The study's own measure beside the share of rows that are off, by its root where it is squared; empty without one."""
    said = result.beside
    if not said:
        return ""
    if said["measure"] == "error_quantiles":
        return _quantiles(said["quantiles"], said["cap"], result.level, unit)
    squared = said["measure"] == "mse"
    name = "root mean squared error" if squared else "mean absolute error"

    def shown(value: float) -> str:
        return score(math.sqrt(max(value, 0.0)) if squared else value)

    ends = said["interval"]
    limits = (
        "no certified interval" if ends is None else f"{percent(result.level)} interval [{shown(ends[0])}, {shown(ends[1])}]"
    )
    value = f"{shown(said['score'])} {unit}".strip()
    above = said.get("above")  # not in records of earlier versions
    more = f"; {above['rows']:,} of {plural(result.n, 'row')} above that, {interval(above['interval'])} of all" if above else ""
    return f"{name} {value}, {limits}, each error counted at most {with_unit(said['cap'], unit)}{more}"


def _quantiles(said: Sequence[Mapping[str, Any]], end: float, level: float, unit: str) -> str:
    """What so many rows are off by at most, with intervals whose ends lie on a grid.

    >>> half = {"q": 0.5, "value": 2.1, "interval": (1.8, 2.6)}
    >>> _quantiles([half, {"q": 0.9, "value": 9.1, "interval": (7.5, None)}], 10.0, 0.95, "mm")
    'half of the rows are within 2.1 mm, 95 % interval [1.8, 2.6]; 90 % of the rows within 9.1 mm, [7.5, above 10]'
    """

    def edge(value: float | None) -> str:
        return f"above {number(end)}" if value is None else number(value)

    parts: list[str] = []
    for one in said:
        low, high = one["interval"]
        verb, what = ("are ", f"{percent(level)} interval ") if not parts else ("", "")
        value = f"no error up to {number(end)}" if one["value"] is None else with_unit(one["value"], unit)
        rows = "half" if one["q"] == 0.5 else percent(one["q"])
        parts.append(f"{rows} of the rows {verb}within {value}, {what}[{edge(low)}, {edge(high)}]")
    return "; ".join(parts)


def ordinal(count: int) -> str:
    """Write an ordinal number.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun in the right number.

    >>> plural(1, "candidate"), plural(1200, "look")
    ('1 candidate', '1,200 looks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.95), percent(0.0012), percent(1)
    ('95 %', '0.12 %', '100 %')
    """
    return f"{100 * share:.3g} %"


def brief(value: str) -> str:
    """A parameter as a label: long decimals to four digits.

    >>> brief("0.3187276291558383"), brief("gini"), brief("0.25"), brief("1e-09")
    ('0.3187', 'gini', '0.25', '1e-09')
    """
    if len(value) <= 7 or "." not in value:
        return value
    try:
        return f"{float(value):.4g}"
    except ValueError:
        return value


def setting_name(name: str, value: str) -> tuple[str, str]:
    """Write a setting as people write it in a space, where that is another word.

    >>> setting_name("decision.at", "none"), setting_name("decision.at", "0.3"), setting_name("k", "3")
    (('threshold', 'path'), ('threshold', '0.3'), ('k', '3'))
    """
    if name != "decision.at":
        return name, value
    return "threshold", "path" if value == "none" else value


def settings(parameters: Mapping[str, str]) -> str:
    """Write settings as `name=value`, separated by commas.

    >>> settings({"k": "3", "vote": "inverse"})
    'k=3, vote=inverse'
    """
    return ", ".join(f"{name}={brief(value)}" for name, value in parameters.items())


# Distance of a candidate from the winner: the difference of their means with its standard error, which is not that of a mean.
#
# Scores of two candidates on the same folds rise and fall together, so that their difference is known better than either.


def difference_to_winner(row: Row, winner: Row) -> str:
    """Mean less the winner's, with the standard error of the difference; empty for the winner and without a mean.

    >>> row = Row("b", "", "knn", "ok", 2, 0.3, 0.05, 1.0, "", 0.0, "", (), {}, difference_se=0.02)
    >>> winner = Row("a", "", "cart", "ok", 1, 0.25, 0.05, 1.0, "", 0.0, "", (), {})
    >>> difference_to_winner(row, winner), difference_to_winner(winner, winner)
    ('+0.0500 ± 0.0200', '')
    """
    if row.id == winner.id or not is_known(row.mean):
        return ""
    beside = f" ± {score(row.difference_se, winner.mean)}" if is_known(row.difference_se) else ""
    return f"{with_sign(row.mean - winner.mean, decimals_of(winner.mean))}{beside}"


def next_best(outcome: StudySummary, table: Sequence[Row]) -> str:
    """The best of the other entries of the space against the winner; of its own entry where there is no other."""
    won = next((row for row in table if row.id == outcome.winner.id), None)
    ranked = sorted((row for row in table if row.rank and won is not None and row.id != won.id), key=lambda row: row.rank)
    if won is None or not ranked:
        return ""
    near = next((row for row in ranked if row.label != won.label), ranked[0])
    which = "best of the others" if near.label == won.label else f"best of {near.label}"
    error = f", standard error of the difference {score(near.difference_se, won.mean)}" if is_known(near.difference_se) else ""
    return f"{which}: {outcome.measure} {with_sign(near.mean - won.mean, decimals_of(won.mean))} against it{error}"


# The extra width of an interval that holds for more than one look, compared with one of this look alone.


def shown_score(result: TestResult) -> str:
    """The score of a look, and what it is where it is not exact; a step outside its interval is no score.

    >>> told = {"errors": None, "n": 120, "look": 2, "replay": False, "price": 1.0, "spent": 4.0, "level": 0.95,
    ...         "policy": "ladder", "release": "ladder", "interval": (0.0026, 0.0575)}
    >>> shown_score(TestResult(score=None, step=0.0, read_as="a step of the ladder", **told))
    'not shown as a point (a step of the ladder: 0.0000)'
    """
    if result.step is not None:
        return f"not shown as a point ({result.read_as}: {score(result.step)})"
    return f"{score(result.score)}{f' ({result.read_as})' if result.read_as else ''}"


EXACT = ("full", "predicted")  # releases that show the count


def extra_width(result: TestResult) -> str:
    """The extra width of an interval beside a single test's; empty where no errors were counted or nothing is certified."""
    if result.interval is None or result.errors is None or result.repeated or result.release not in EXACT:
        return ""
    low, high = clopper_pearson(result.errors, result.n, result.level)
    wider = (result.interval[1] - result.interval[0]) / (high - low) - 1
    share = f"{100 * wider:.0f} % wider than for a single test (why: `modelsel explain interval`)"
    return f"valid for all looks at these rows together; {share}"
