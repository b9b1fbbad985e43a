"""The closing words of a study: who won, what its score is worth, which look at the test rows this was, where to read on."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from modelsel.core.outcome import FindingFacts, FitsFacts, FloorFacts, ScoreFacts, StudySummary, TestResult, mean_size
from modelsel.core.types import Finding
from modelsel.guard.reporting.report import AuditReport, NextLook
from modelsel.record.candidates import Row, varied_parameters
from modelsel.record.documents import OptimalFacts
from modelsel.record.folder import RunFolder
from modelsel.reporting.roots import outcome_as_read, rows_as_read
from modelsel.reporting.screen import Part, group, screen
from modelsel.reporting.terminal import duration
from modelsel.reporting.words import (
    decimals_of,
    extra_width,
    in_unit,
    interval,
    is_known,
    measure_beside,
    next_best,
    number,
    ordinal,
    percent,
    plural,
    score,
    setting_name,
    settings,
    shown_score,
    with_sign,
    wrong,
)

GRAVE = ("medium", "high", "critical")
LABEL = 17
WIDTH = 110  # of the whole text
FEW_FOLDS = 3  # a paired t of two degrees of freedom tells nearly nothing apart


def verdict(folder: RunFolder, here: Path | None = None) -> str:
    """The whole closing text of a recorded study; `brief` is its first screen.

    Paths are relative to `here` (the working directory) where they can be.
    """
    recorded, details = folder.outcome(), folder.details()
    outcome, rows = outcome_as_read(recorded), rows_as_read(recorded, folder.candidates())
    higher = bool(details.higher_is_better)
    lines = [
        ("", [headline(outcome)]),
        ("rows", sampled(outcome)),
        ("winner", [*winner(outcome, rows), *filter(None, [simpler(recorded, folder.candidates(), higher)])]),
        ("ensemble", ensembles(outcome)),
        ("cross-validated", cross_validated(outcome)),
        ("floor", list(filter(None, [sentence(outcome, higher)]))),
        ("test", test(outcome, details.audited, folder)),
        ("size", [said for one in folder.explanation().optimal for said in size_sentences(one, one.entry)]),
        ("findings", findings(outcome)),
        ("ledger", ledger(outcome, details.audited)),
        ("report", [relative_path(folder.report, here)]),
        ("browse", browse(folder.config())),
        ("time", [f"{duration(float(outcome.seconds.get('total', 0)))}, {fits(outcome.fits)}"]),
    ]
    return "\n".join(block for label, words in lines if words for block in _lines(label, words)) + "\n"


def brief(folder: RunFolder, here: Path | None = None) -> str:
    """The closing text on one screen: what is wrong, what was chosen, its worth, what may be quoted, where the rest is."""
    outcome = outcome_as_read(folder.outcome())
    first, *_ = winner(outcome, rows_as_read(folder.outcome(), folder.candidates()))
    found = [Finding.read(one) for one in outcome.findings]
    graver = [one for one in found if one.severity in GRAVE]
    lines = [
        ("rows", sampled(outcome)),
        ("winner", [first]),
        ("alike", [alike(outcome)]),
        *_worth(outcome),
        ("floor", [NO_BETTER if only_guesses(outcome, bool(folder.details().higher_is_better)) else ""]),
        ("test", _say_test(outcome, folder)),
        ("to quote", [quotable(outcome)]),
        ("report", [relative_path(folder.report, here)]),
    ]
    parts = [Part(label, tuple(filter(None, said)), extra=label == "alike") for label, said in lines]
    explain = f"; `modelsel explain {group(graver)[0].first.code}` tells of the gravest finding" if graver else ""
    return screen((), graver, parts, f"-v prints the rest{explain}", LABEL, headline(outcome)) + "\n"


def sampled(outcome: StudySummary) -> list[str]:
    """Say that the study is of a sample, where it is: what is found is said of these rows."""
    return [one["message"] for one in outcome.findings if one["code"] == "SAMPLED"]


def _say_test(outcome: StudySummary, folder: RunFolder) -> list[str]:
    """Say what the test showed and which look it was, or why it stayed closed and what opens it."""
    said = test(outcome, None, folder)
    return [said[0], *_which_look(outcome.test)] if outcome.test is not None else said


def quotable(outcome: StudySummary) -> str:
    """Say which number may be quoted as what the winner is worth on new rows, and with what beside it."""
    result = outcome.test
    corrected = outcome.winner.corrected
    estimate = "the corrected score with its interval" if corrected else "no score: the cross-validated one is the best of many"
    if result is None or result.refused:
        return f"{estimate}; nothing was tested, so say that it comes from the rows that chose"
    against = [one for one in outcome.findings if one.severity in ("high", "critical") and one.code in result.flags]
    codes = ", ".join(dict.fromkeys(one.code for one in against))
    if result.interval is None and against:
        return f"not the test score as one of unseen rows ({codes}); {estimate}, which comes from the rows that chose"
    if result.interval is None:
        return "the test score alone: it has no certified interval"
    if against:
        return f"the test score only with its interval, and with what {codes} says"
    if result.read_as:
        return f"the test's interval, which holds whatever is done with the answer; the score beside it is {result.read_as}"
    which = "" if result.replay else f", as of the {ordinal(result.look)} look at these rows"
    return f"the test score with its interval{which}; it holds whatever is done with the answer"


def alike(outcome: StudySummary) -> str:
    """Say how many candidates cannot be told from the winner, and where it is for want of folds and not of rows."""
    same, folds = len(outcome.winner.indistinguishable), int(outcome.scheme.folds or 0)
    if not same:
        return ""
    over_folds = outcome.winner.every_best is None  # of a measure that is not a mean over rows, or of an older version
    if over_folds and 1 < folds <= FEW_FOLDS:
        return f"{folds} folds are too few to tell {plural(same, 'other candidate')} from it"
    return f"the data cannot tell {plural(same, 'other candidate')} from it"


def _which_look(result: TestResult | None) -> list[str]:
    """Say which look a released answer was."""
    return [look(result).split(",")[0]] if result is not None and not result.refused else []


def _worth(outcome: StudySummary) -> list[tuple[str, list[str]]]:
    """Write the corrected score with its interval and what weakens it, the cross-validated one, and the nested estimate."""
    corrected, (plain, *_) = outcome.winner.corrected, cross_validated(outcome)
    told = []
    if corrected:
        words = f"{score(corrected.mean)} {interval((corrected.low, corrected.high))}, for having picked the best"
        told = [("corrected score", [words, corrected.caution])]
    return [*told, ("cross-validated", [plain, *say_nested(outcome)])]


def headline(outcome: StudySummary) -> str:
    """Say how many candidates were compared, and how."""
    counts = outcome.candidates
    unfinished = {"failed": counts.failed, "skipped": counts.skipped, "dropped": counts.dropped}
    beside = [f"{count} {name}" for name, count in unfinished.items() if count]
    others = f" ({', '.join(beside)})" if beside else ""
    compared = f"{plural(counts.ok, 'candidate')} compared{others}"
    return f"{outcome.study}: {compared} by {outcome.measure}{in_unit(outcome)}, {outcome.scheme.name}, rule {outcome.rule}"


def winner(outcome: StudySummary, table: Sequence[Row]) -> list[str]:
    """The winner by name, what tells it from the rest of its entry, who cannot be told from it, and how far the next is."""
    won = outcome.winner
    telling = settings(dict(setting_name(*one) for one in varied_parameters(table).get(won.id, {}).items()))
    size = mean_size(won.complexity.value, won.complexity.name)
    equal = alike(outcome)
    first = f"{won.name} {won.id[:8]}: {f'{telling}; ' if telling else ''}{size}"
    return list(filter(None, (first, equal, next_best(outcome, table))))


def ensembles(outcome: StudySummary) -> list[str]:
    """Say of each ensemble what it is the mean of, and what picking it is worth."""
    said = []
    for one in outcome.ensembles:
        parts = sorted(one.members, key=lambda member: -member.times)
        told = ", ".join(f"{part.times} × {part.entry} {part.id[:8]}" for part in parts)
        own = one.corrected
        worth = f"; {score(own.mean)} {interval((own.low, own.high))}, picked anew in each resample" if own else ""
        said.append(f"{one.entry} {one.id[:8]} is the mean of {told}{worth}")
    return said


def simpler(recorded: StudySummary, table: Sequence[Row], higher_is_better: bool) -> str:
    """Say what the one-standard-error rule would choose in place of the best, and what that costs; empty where it is the best.

    It moves among candidates whose size is counted in the winner's unit. Nothing is said where another rule chose, or one
    standard error is not known. The study is read as it was recorded: the rule knows no roots.
    """
    rows = [row for row in table if row.rank]
    won = next((row for row in rows if row.id == recorded.winner.id), None)
    if recorded.rule != "best" or won is None or not (is_known(won.se) and is_known(won.complexity)):
        return ""
    sign = -1.0 if higher_is_better else 1.0
    limit = sign * won.mean + won.se + 1e-12 * max(1.0, abs(won.mean))
    near = [row for row in rows if row.unit == won.unit and sign * row.mean <= limit and is_known(row.complexity)]
    one = min(near, key=lambda row: (row.complexity, sign * row.mean))
    if one.complexity >= won.complexity:
        return ""
    sizes = f"{number(round(one.complexity, 1))} {won.unit} instead of {number(round(won.complexity, 1))}"
    now, then = (row.mean for row in rows_as_read(recorded, [won, one]))
    change = f"{outcome_as_read(recorded).measure} {with_sign(then - now, decimals_of(now))}"
    return f"rule=one_standard_error would choose {one.label} {one.id[:8]}: {sizes}, {change} (compared within {won.unit})"


def cross_validated(outcome: StudySummary) -> list[str]:
    """Mean and standard error, and the estimate that allows for having picked the best."""
    cv, corrected = outcome.winner.cv, outcome.winner.corrected
    caveat = "" if corrected else ", optimistic: it is the best of many"
    lines = [f"{score(cv.mean)} ± {score(cv.se, cv.mean)}{caveat}"]
    if corrected and corrected.method == "bbc":  # the nested estimate has a line of its own
        ends = interval((corrected.low, corrected.high))
        lines.append(f"{score(corrected.mean)} {ends} after allowing for the choice ({corrected.method.upper()})")
        lines += [corrected.caution] if corrected.caution else []
    if never := outcome.winner.never_out_of_bag:
        lines.append(f"{plural(never, 'row')} never out of bag, judged by the class shares of all rows")
    return [*lines, *say_nested(outcome)]


def say_nested(outcome: StudySummary) -> list[str]:
    """Write the estimate by nested cross-validation, where there is one."""
    if not (found := outcome.nested):
        return []
    ends, folds = interval((found.low, found.high)), len(found.scores)
    how = "approximate" if found.method == "nested" else found.label
    same = f"the same winner in {percent(found.agreement)} of {folds} outer folds"
    return [f"{score(found.mean)} {ends} by nested cross-validation, {how}; {same}"]


def grave(outcome: StudySummary) -> list[str]:
    """The flags of the look but those that only inform."""
    harmless = {finding.code for finding in outcome.findings if finding.severity == "info"}
    return [flag for flag in (outcome.test.flags if outcome.test else ()) if flag not in harmless]


def test(outcome: StudySummary, audit: AuditReport | None, folder: RunFolder) -> list[str]:
    """The released answer with its interval, which look it was, and what the next one would cost."""
    result, flags = outcome.test, grave(outcome)
    if not outcome.task.test_rows:
        many = outcome.candidates.ok
        shown = (
            f"the score above is the best of {many:,} on assessment rows"
            if many > 1
            else "the score above is on assessment rows"
        )
        return [f"no rows are sealed (split=none): {shown}", _trace(outcome)]
    if result is None and (closed := outcome.closed):
        return [f"left closed (final_test=auto): {closed.reason}", f"mend it, or `{closed.open}` opens it as it is"]
    if result is None:
        return [f"not opened; `modelsel test {folder.path.parent.name}` opens it"]
    if result.refused:
        return [f"refused: {result.refused}"]
    lines = [
        say_score(result, outcome.findings, unit_of(outcome)) + _blocks(outcome),
        *filter(None, [measure_beside(result, unit_of(outcome)), extra_width(result)]),
        look(result),
    ]
    if audit is not None and (upcoming := audit.next):
        lines.append(further(upcoming))
    return [*lines, *([f"flags: {', '.join(flags)}"] if flags else [])]


def _blocks(outcome: StudySummary) -> str:
    """The range of the winner's scores over blocks of development rows, where rows in time have no interval."""
    folds = [value for value in outcome.winner.cv.folds if value is not None]
    in_time = any(str(one.message) == "not certified: rows in time" for one in outcome.findings)
    if not in_time or outcome.scheme.name != "time_split" or len(folds) < 2:
        return ""
    return f"; over {len(folds)} blocks of development rows it ranged from {score(min(folds))} to {score(max(folds))}"


def _trace(outcome: StudySummary) -> str:
    """Describe the trace in the ledger of a choice without sealed rows."""
    codes = {finding.code for finding in outcome.findings}
    if "G005" in codes:
        return "a published experiment: not in the ledger"
    return "nothing of it is in the ledger" if "G004" in codes else "in the ledger: all rows chose, and cannot be a test later"


def unit_of(outcome: StudySummary) -> str:
    """The unit of the target, empty where none is declared."""
    return outcome.task.measured_in or ""


def say_score(result: TestResult, found: Sequence[FindingFacts] = (), unit: str = "") -> str:
    """Say the released score with its interval; `unit` is the target's."""
    errors = "" if result.errors is None else f", {result.errors:,} of {plural(result.n, 'row')} {wrong(result, unit)}"
    ends = f", {percent(result.level)} interval {interval(result.interval)}" if result.interval else f", {_withheld(found)}"
    grouped = result.interval is not None and result.unit != "rows" and result.units is not None
    units = units_in_words(result.unit)
    apart = f" over {plural(result.n, 'row')} in {result.units} {units}; for {units} of these sizes" if grouped else ""
    return f"{shown_score(result)}{errors}{ends}{apart}{_say_cap(result)}"


def _say_cap(result: TestResult) -> str:
    """Say the cap of a loss, and how many rows lost more; empty without a cap."""
    if result.cap is None or result.above is None:
        return ""
    beyond = f"{result.above.rows:,} of {plural(result.n, 'row')} lost more"
    return f"; a row counts at most {number(result.cap)}, and {beyond}, {interval(result.above.interval)} of all"


def units_in_words(unit: str) -> str:
    """The plural name of units, from the names of their columns.

    >>> [units_in_words(unit) for unit in ("groups", "patient_id", "day", "shop, day")]
    ['groups', 'patients', 'days', 'combinations of shop and day']
    """
    if unit == "groups":
        return unit
    if "," in unit:
        return f"combinations of {' and '.join(unit.split(', '))}"
    bare = re.sub(r"[ _-]?(id|ID|Id)$", "", unit) or unit
    return bare if bare.endswith("s") else f"{bare}s"


def _withheld(found: Sequence[FindingFacts]) -> str:
    """Say that there is no certified interval, and why where rows are not independent."""
    said = (one.message for one in found if one.code == "G052")
    return next((message for message in said if message.startswith("not certified: ")), "no certified interval")


def look(result: TestResult) -> str:
    """Say which look this was, and its price."""
    if result.repeated:
        return "a replay of an answer that was given before: no new look"
    if result.policy == "off" or "G003" in result.flags:
        return "shown without a guard: later looks at these rows pay for it" if "G004" not in result.flags else "not remembered"
    spent = f", {number(result.spent)} nats spent before it" if result.spent else ""
    late = ", computed before by a run that did not finish, shown first now" if result.unseen else ""
    return f"{ordinal(result.look)} look at these rows{late}, price {number(result.price)} nats{spent} (guard {result.policy})"


def findings(outcome: StudySummary) -> list[str]:
    """List findings of medium severity and above, with what to do, and the command that prints the page of the gravest."""
    graver = [f for f in outcome.findings if f.severity in GRAVE]
    said = [f"{f.code} ({f.severity}): {f.message}{'; ' + f.do if f.do else ''}" for f in graver]
    if not graver:
        return []
    gravest = max(graver, key=lambda f: GRAVE.index(f.severity))
    return [*said, f"what a code means: `modelsel explain {gravest.code}`"]


def ledger(outcome: StudySummary, audit: AuditReport | None) -> list[str]:
    """Name the ledger, where a look was made."""
    url = None if audit is None else audit.ledger.url
    return [str(url)] if url and outcome.test is not None else []


def browse(config: Mapping[str, Any]) -> list[str]:
    """Name the command that shows MLflow's pages, where there is tracking."""
    tracking = config.get("tracking") or {}
    return [] if tracking.get("kind", "off") == "off" else ["modelsel ui"]


def fits(counts: FitsFacts) -> str:
    """Write how many fits were needed instead of how many.

    >>> fits(FitsFacts(needed=131, naive=1291))
    '131 fits instead of 1,291'
    """
    return f"{plural(counts.needed, 'fit')} instead of {counts.naive:,}"


def relative_path(path: Path, here: Path | None = None) -> str:
    """The path from where the person stands, if it lies beneath."""
    here = (here or Path.cwd()).resolve()
    return str(path.resolve().relative_to(here)) if path.resolve().is_relative_to(here) else str(path)


def further(upcoming: NextLook) -> str:
    """Say what one more look would cost, and how the quota lets its answer be shown.

    >>> further(NextLook(look=4, interval=None, price=0.0, release="closed"))
    'a further look would show nothing: the quota is used up'
    """
    if upcoming.release == "closed":
        return "a further look would show nothing: the quota is used up"
    cost = f"a further look would cost {number(upcoming.price)} nats"
    if upcoming.release == "ladder":
        return f"{cost} and show the board, which moves for a model better by 1/{upcoming.steps} (guard.quota)"
    return f"{cost}{_say_next_interval(upcoming.interval)}"


def _say_next_interval(ends: Sequence[float] | None) -> str:
    return f"; the same score would then read {interval(ends)}" if ends else ""


def _lines(label: str, words: Iterable[str]) -> Iterable[str]:
    """Indent lines behind their label."""
    if not label:
        return [*words, ""]
    indent = " " * (LABEL + 2)
    return [
        fill(text, WIDTH, initial_indent=f"  {label if i == 0 else '':<{LABEL}}", subsequent_indent=indent,
             break_long_words=False, break_on_hyphens=False)
        for i, text in enumerate(words)
    ]  # fmt: skip


# The floor as people read it: what guessing costs on the same folds, beside what was chosen.

MEANING = {
    "majority": "always the most common class", "prior_draw": "a class drawn by its share",
    "mean": "always the mean", "median": "always the median",
}  # fmt: skip


@dataclass(frozen=True)
class BaselineLine:
    """A learner that looks at no feature, and its cross-validated score; `reason` says why there is none."""

    id: str
    learner: str
    is_candidate: bool
    mean: float  # NaN where it has no score
    se: float
    reason: str

    @classmethod
    def of(cls, said: FloorFacts) -> "BaselineLine":
        cv = said.cv or ScoreFacts(mean=math.nan, se=math.nan)
        return cls(said.id, said.learner, bool(said.candidate), cv.mean, math.nan if cv.se is None else cv.se, said.reason)

    @property
    def has_score(self) -> bool:
        return math.isfinite(self.mean)

    @property
    def name(self) -> str:
        return self.learner.replace("_", " ")

    @property
    def words(self) -> str:
        return self.name + (f" {score(self.mean)} ± {score(self.se, self.mean)}" if self.has_score else f": {self.reason}")


def lines(outcome: StudySummary) -> list[BaselineLine]:
    """Every line of the floor on record."""
    return [BaselineLine.of(said) for said in outcome.floor]


def unlisted_floor(outcome: StudySummary) -> list[BaselineLine]:
    """List the scores of the floor that the space does not list: they stand beside the candidates."""
    return [line for line in lines(outcome) if line.has_score and not line.is_candidate]


def sentence(outcome: StudySummary, higher_is_better: bool) -> str:
    """All lines with their scores, and whether the winner is any better; empty where no floor is on record."""
    said = ", ".join(line.words for line in lines(outcome))
    return f"{said}: {NO_BETTER}" if only_guesses(outcome, higher_is_better) else said


NO_BETTER = "the winner is no better than guessing"


def only_guesses(outcome: StudySummary, higher_is_better: bool) -> bool:
    """Say whether a learner of the floor does as well as the winner."""
    sign = -1 if higher_is_better else 1
    costs = [sign * line.mean for line in lines(outcome) if line.has_score]
    return bool(costs) and not sign * outcome.winner.cv.mean < min(costs)


# What is said of a tree beside the best of its size: in training and out of fold, never one without the other.


def size_sentences(one: OptimalFacts, called: str) -> list[str]:
    """Say whether a tree of this size could do better; a reason where it is not known."""
    if one.failed:
        return [f"{called}: not known, a fit failed ({one.failed})"]
    held = f", held to {plural(one.depth, 'level')}," if one.whole else ""
    size = f"{called}{held} with {_leaves(one.leaves)} of depth {one.depth}"
    return [f"{size}: {in_training(one)}; {unseen(one)}"]


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count} leaves"


def in_training(one: OptimalFacts) -> str:
    """Say how many training errors the tree has, and the best of its size."""
    own, best, bound = map(score, (one.training.grown, one.training.optimal, one.training.bound))
    if one.unlike:
        why = f"which is not a bound for it: {one.unlike}"
        return f"{own} wrong in training, and {best} of the best trees of two sides per test, {why}"
    if one.proven:
        same = one.training.grown <= one.training.optimal + 1e-9
        return f"{own} wrong in training, " + (
            "and no tree of this size has less" if same else f"{best} of the best of this size"
        )
    if one.training.optimal < one.training.grown - 1e-9:
        return f"{own} wrong in training, {best} of the best that was found; no tree of this size has less than {bound}"
    return f"{own} wrong in training, and none better was found; no tree of this size has less than {bound}"


def unseen(one: OptimalFacts) -> str:
    """Say what both get wrong on rows that they did not see, and whether the folds tell them apart."""
    own = one.out_of_fold
    told = f"out of fold {score(own.grown)} against {score(own.optimal)} of the best trees"
    if own.difference is None:
        return told
    ends = own.difference.low, own.difference.high
    change = f"{with_sign(own.difference.mean)} {interval(ends)}"
    if ends[0] <= 0 <= ends[1]:
        return f"{told} ({change}): the folds cannot tell them apart"
    return f"{told} ({change}): {'it pays' if ends[1] < 0 else 'it does not pay'}"


def proven_folds(one: OptimalFacts) -> str:
    """Say in how many folds the search came to its end.

    >>> proven_folds(OptimalFacts.read({"out_of_fold": {"ended": 3, "folds": 4}}))
    '3 of 4'
    """
    own = one.out_of_fold
    return f"{own.ended} of {own.folds}"


def deeper(one: OptimalFacts) -> str:
    """Say what the whole tree does where it is deeper than what was searched; empty where it is not."""
    whole = one.whole
    if whole is None:
        return ""
    return (
        f"The tree itself has {_leaves(whole.leaves)} of depth {whole.depth}: {score(whole.training)} wrong in "
        f"training, {score(whole.out_of_fold)} out of fold."
    )
