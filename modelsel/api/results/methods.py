"""A paragraph for the methods section: what was compared, how it was judged, what the final number may claim."""

from modelsel.core.outcome import StudySummary, TaskFacts, TestResult, mean_size
from modelsel.record.folder import RunFolder
from modelsel.reporting.roots import ROOTED, outcome_as_read
from modelsel.reporting.verdict import unit_of
from modelsel.reporting.words import in_unit, interval, measure_beside, ordinal, percent, plural, score, shown_score, wrong


def methods(folder: RunFolder) -> str:
    """Scheme, number of candidates, correction, looks, interval, versions, in sentences to paste."""
    outcome = outcome_as_read(folder.outcome())
    return " ".join((*_rows(outcome), *_selection(outcome), *_estimate(outcome), _test(outcome), _version(outcome)))


def _rows(outcome: StudySummary) -> list[str]:
    """Say how many rows there were, and how many of them were sealed."""
    task = outcome.task
    sealed = f", {task.test_rows:,} were sealed for the final test" if task.test_rows else ", none were held back"
    return [
        f"Of the {task.rows:,} rows ({plural(int(task.features), 'feature')}, {_target(task)}), "
        f"{task.development_rows:,} were used to choose{sealed}."
    ]


def _target(task: TaskFacts) -> str:
    """Name what the target is."""
    if not task.of_numbers:
        return f"{len(task.classes)} classes"
    return f"a target that is a number{' in ' + str(task.measured_in) if task.measured_in else ''}"


def _selection(outcome: StudySummary) -> list[str]:
    """Say how many candidates were compared, on which folds, and which one the rule chose."""
    counts, scheme = outcome.candidates, outcome.scheme
    failed = counts.failed + counts.skipped
    unfinished = f" ({failed} of them did not finish)" if failed else ""
    winner = outcome.winner
    same = len(winner.indistinguishable)
    told = (
        f"; {plural(same, 'other candidate')} could not be told from it ({_told_apart(outcome)})" if same else ""
    )  # fmt: skip
    return [
        f"{plural(counts.distinct, 'candidate')} declared beforehand{unfinished} were compared by {_words(outcome.measure)} "
        f"on the same {plural(int(scheme.folds), 'fold')} ({_words(scheme.name)}, seed {outcome.seed}), and one was "
        f"chosen by the rule “{_words(outcome.rule)}”: {winner.name} with "
        f"{mean_size(winner.complexity.value, winner.complexity.name)}{told}."
    ]


def _told_apart(outcome: StudySummary) -> str:
    """Say by what the others were told from the winner; runs before the confidence set know of folds only."""
    if outcome.winner.every_best is None:
        return "paired differences over folds with the corrected resampled variance, Holm-adjusted, 5 %"
    return "the 95 % confidence set of a best candidate: max-t over a bootstrap of the rows, the fold models taken as given"


def _estimate(outcome: StudySummary) -> list[str]:
    """Say what cross-validation measured for the winner, and the same corrected for its having been chosen."""
    cv, corrected = outcome.winner.cv, outcome.winner.corrected
    error = score(cv.se, cv.mean)
    measure = f"{_words(outcome.measure)}{in_unit(outcome)}"
    said = [f"Its cross-validated {measure} was {score(cv.mean)} (standard error {error})"]
    if corrected:
        ends = interval((corrected.low, corrected.high))
        said[0] += (
            f"; corrected for having been chosen as the best ({corrected.method.upper()}), {score(corrected.mean)} {ends}"
            f"{f' ({corrected.caution})' if corrected.caution else ''}"
        )
    if nested := outcome.nested:
        ends = interval((nested.low, nested.high))
        said.append(f"Nested cross-validation of the whole selection gave {score(nested.mean)} {ends}")
    return [f"{sentence}." for sentence in said]


def _test(outcome: StudySummary) -> str:
    """Say what the look at the sealed rows gave, or why there was none."""
    result = outcome.test
    if not outcome.task.test_rows:
        return "No rows were sealed, so that there is no score on rows that took no part in the choice."
    if result is None:
        return "The sealed test rows have not been looked at."
    if result.refused:
        return f"A look at the sealed test rows was refused ({result.refused})."
    own = measure_beside(result, unit_of(outcome))
    return f"{_look(result, unit_of(outcome))}{_interval(result)}{'; ' if own else ''}{own}."


def _look(result: TestResult, unit: str) -> str:
    """Say what a look released, and which one it was."""
    errors = "" if result.errors is None else f" ({result.errors} of {plural(result.n, 'row')} {wrong(result, unit)})"
    which = "a replay of an earlier look" if result.repeated else f"the {ordinal(result.look)} look at these rows on record"
    scored = "it scored" if result.tolerance is None else f"the share of rows {wrong(result, unit)} was"
    return f"On the sealed test rows, {which} (policy {result.policy}), {scored} {shown_score(result)}{errors}"


def _interval(result: TestResult) -> str:
    """Say the certified interval of a look, or that there is none."""
    if not result.interval:
        flags = f" (flags {', '.join(result.flags)})" if result.flags else ""
        return f"; no interval is certified{flags}"
    return f", {percent(result.level)} interval {interval(result.interval)}, valid after all looks on record"


def _version(outcome: StudySummary) -> str:
    return f"Computed with modelsel {outcome.modelsel}; specification {outcome.spec_id}, data {outcome.task.fingerprint}."


def _words(name: str) -> str:
    return str(name).replace("_", " ").replace(ROOTED, "root mean squared error")
