"""A checklist filled from a run's record: each item by its number, what the record answers, and where that stands.

Facts are sentences made of the files of a run, nothing else: what the record does not say is left to the author.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import islice
from typing import Literal

from modelsel.core.outcome import FindingFacts, StudySummary
from modelsel.guard.reporting.page import NOT_SHOWN
from modelsel.guard.reporting.report import TestSetReport
from modelsel.record.documents import DataFacts
from modelsel.record.folder import RunFolder
from modelsel.reporting.checklists import Checklist, Item
from modelsel.reporting.roots import outcome_as_read
from modelsel.reporting.words import interval, percent, plural, score, shown_score

State = Literal["answered", "in part", "ask the author", "does not apply"]
STUDY, DETAILS, CONFIG, CANDIDATES, EXPLANATION = (
    "study.json", "details.json", "config.yaml", "candidates.csv", "explanation.json",
)  # fmt: skip
SHOWN = 12  # features, entries or findings that a sentence names
DUPLICATES = ("DUPLICATE_ROWS", "REPEATED_IDS", "G030", "G031", "G032")
LEAKS = ("DETERMINES_TARGET", "EQUALS_TARGET", "ID_LIKE_COLUMN", "INDEX_COLUMN")
OTHERS = ("G0", "MSEL", "R0")  # codes of what is found elsewhere than in the table
GRAVE = ("medium", "high", "critical")
LEFT_OUT = ("ROWS_LEFT_OUT", "RARE_CLASS", "ALL_MISSING_COLUMN", "CONSTANT_COLUMN", "TIME_COLUMN")


@dataclass(frozen=True)
class Fact:
    """A sentence, and where in the record it stands."""

    text: str
    where: str


@dataclass(frozen=True)
class FilledItem:
    """An item with what the record answers; `author`: what is left to say."""

    number: str
    asks: str
    state: State
    facts: tuple[Fact, ...]
    author: str


@dataclass(frozen=True)
class Dossier:
    """A filled checklist.

    Parameters
    ----------
    checklist : str
        `reforms`, `tripod-ai` or `model-card`.
    title : str
        Its name.
    source : str
        Where its items come from.
    study : str
        The study.
    folder : str
        The run.
    items : tuple of FilledItem
        In their order.

    Examples
    --------
    >>> Dossier("reforms", "REFORMS", "Kapoor et al. 2024", "wine-trees", "runs/wine-trees/1", ()).share
    0.0
    """

    checklist: str
    title: str
    source: str
    study: str
    folder: str
    items: tuple[FilledItem, ...]

    @property
    def share(self) -> float:
        """The share of the items that apply to which the record has an answer, whole or in part."""
        apply = [one for one in self.items if one.state != "does not apply"]
        return sum(one.state in ("answered", "in part") for one in apply) / max(1, len(apply))

    def markdown(self) -> str:
        """The dossier as Markdown: a section for each item."""
        head = f"# {self.title}: {self.study}\n\n{self._head()}\n"
        return head + "".join(f"\n## {one.number}. {_upper(one.asks)}\n\n{_markdown(one)}" for one in self.items)

    def html(self) -> str:
        """The dossier as one page without scripts or outside references."""
        rows = "".join(_row(one) for one in self.items)
        table = f"<table><thead><tr><th>item</th><th>asks for</th><th>the record</th></tr></thead><tbody>{rows}</tbody></table>"
        head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{escape(self.title)}</title>"
        body = f"<h1>{escape(self.title)}: {escape(self.study)}</h1><p>{escape(self._head())}</p>{table}"
        return f"<!doctype html><html lang='en'><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>\n"

    def _head(self) -> str:
        states = [one.state for one in self.items]
        told = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        return f"{plural(len(self.items), 'item')} ({self.source}): {told}. Run: {self.folder}"

    def __str__(self) -> str:
        return self.markdown()


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "body{color:CanvasText;background:Canvas}"
    ":root{color-scheme:light dark}td,th{border-bottom:1px solid #8886;padding:.4rem .6rem;text-align:left;vertical-align:top}"
    "p{margin:.2rem 0}small{opacity:.7}.ask{font-style:italic}"
)


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def _markdown(one: FilledItem) -> str:
    """An item's answer as Markdown."""
    lines = [f"{fact.text} *({fact.where})*" for fact in one.facts]
    if one.state == "does not apply":
        lines.append(f"Does not apply: {one.author}.")
    elif one.author:
        lines.append(f"**Ask the author:** {one.author}.")
    return "\n\n".join(lines) + "\n"


def _row(one: FilledItem) -> str:
    """Write an item as a row of the page."""
    told = "".join(f"<p>{escape(fact.text)} <small>({escape(fact.where)})</small></p>" for fact in one.facts)
    if one.state == "does not apply":
        told += f"<p class='ask'>Does not apply: {escape(one.author)}.</p>"
    elif one.author:
        told += f"<p class='ask'>Ask the author: {escape(one.author)}.</p>"
    return f"<tr><td>{escape(one.number)}</td><td>{escape(one.asks)}</td><td>{told}</td></tr>"


def dossier(folder: RunFolder, checklist: Checklist) -> Dossier:
    """Fill a checklist from a run's record."""
    record = Record(folder)
    items = tuple(_fill(item, record) for item in checklist.items)
    return Dossier(checklist.name, checklist.title, checklist.source, record.outcome.study, record.outcome.folder, items)


def _fill(item: Item, record: "Record") -> FilledItem:
    """One item, as far as the record goes."""
    if item.never or (item.needs and record.fact(item.needs) is None):
        why = item.never or f"the study declares no {item.needs}"
        return FilledItem(item.number, item.asks, "does not apply", (), why)
    facts = tuple(fact for name in item.facts if (fact := record.fact(name)) is not None)
    author = item.author or ("" if facts else "the record says nothing of it")
    state: State = "ask the author" if not facts else "in part" if item.author else "answered"
    return FilledItem(item.number, item.asks, state, facts, author)


class Record:
    """The facts of a run, each made when it is asked for; None where the record does not say."""

    def __init__(self, folder: RunFolder) -> None:
        """Read the files of a run."""
        self.folder = folder
        self.outcome: StudySummary = outcome_as_read(folder.outcome())
        self.details = folder.details()
        self.config = folder.config()
        self.explanation = folder.explanation()

    def fact(self, name: str) -> Fact | None:
        """A fact by its name; None where the record does not say."""
        where, sentence = FACTS[name]
        text = sentence(self)
        return None if text is None else Fact(text, where)

    @property
    def tested(self) -> bool:
        """Say whether rows were sealed for a test."""
        return bool(self.outcome.task.test_rows)

    @property
    def parameters(self) -> Mapping[str, object]:
        """The settings of the chosen candidate that are set."""
        known = self.outcome.winner.parameters
        return {name: value for name, value in known.items() if name != "kind" and value is not None}

    @property
    def data(self) -> DataFacts:
        """The facts about the development rows; in runs of older versions some or all are missing."""
        return self.details.data

    @property
    def findings(self) -> Sequence[FindingFacts]:
        """The findings of the study."""
        return self.outcome.findings

    @cached_property
    def test_sets(self) -> Sequence[TestSetReport]:
        """The audit of the sealed rows, as it stood when the study ended."""
        audit = self.details.audited
        return audit.test_sets if audit is not None else ()

    def sentences(self, *begins: str) -> str:
        """The messages of findings, by the beginnings of their codes."""
        return _texts(one for one in self.outcome.findings if one.code.startswith(begins))

    def settings(self, *names: str) -> str:
        """Settings of the chosen candidate by the last part of their names, in words."""
        return _list_settings({name: value for name, value in self.parameters.items() if name.split(".")[-1] in names})


# What the record says, in sentences; None where it does not say.


def _list_settings(settings: Mapping[str, object]) -> str:
    """Settings in words; without those that say nothing."""
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value not in (None, [], {}, ""))


def _texts(findings: Iterable[FindingFacts]) -> str:
    """Return the texts of findings."""
    return "; ".join(f"{one.code}: {one.message}" for one in islice(findings, SHOWN))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _software(record: Record) -> str:
    commit = record.details.commit
    own = f"; the project's own code at commit {commit}" if commit else ""
    return f"Computed with modelsel {record.outcome.modelsel}{own}."


def _environment(record: Record) -> str | None:
    known = record.details.environment
    said = ", ".join(f"{name} {value}" for name, value in known.items()) if known else ""
    return f"{said}." if said else None


def _command(record: Record) -> str | None:
    words = record.details.command
    return f"It was made by `{' '.join(words)}`, seed {record.outcome.seed}." if words else None


def _target(record: Record) -> str:
    """Name the target and what it is."""
    task = record.outcome.task
    name = record.config["dataset"].get("target") or "that of the table"
    what = f"a number{' in ' + str(task.measured_in) if task.measured_in else ''}"
    if not task.of_numbers:
        what = f"one of {len(task.classes)} classes"
    return f"The target is {name}, {what}."


def _distribution(record: Record) -> str | None:
    """Tell the shares of the classes."""
    classes = record.data.classes
    if not classes:
        return None
    total = sum(one.rows for one in classes)
    said = ", ".join(f"{one.name} {one.rows:,} ({one.rows / total:.1%})" for one in classes[:SHOWN])
    return f"Classes of the development rows: {said}."


def _suffices(record: Record) -> str | None:
    """Tell the bound for all candidates at once."""
    choices = next((one.choices for one in record.test_sets if one.choices), None)
    if choices is None:
        return None
    many = f"With {choices.candidates:,} candidates on {choices.rows:,} rows"
    return f"{many} all error rates are within ±{choices.bound:.3f} at once (95 %)."


def _tell_gaps(record: Record) -> str | None:
    """Tell the gaps, by feature."""
    if not record.data.features:
        return None
    gaps = ", ".join(f"{one.name} {one.missing:.1%}" for one in record.data.features[:SHOWN] if one.missing)
    return f"{record.data.missing:.1%} of the cells of the development rows are missing{': ' if gaps else ''}{gaps}."


def _preparation(record: Record) -> str:
    """Tell the preparation of the chosen candidate."""
    names = ("preparer", "steps", "encoding", "scale", "normalise")
    said = _list_settings({name: value for name, value in record.parameters.items() if name.startswith(names)}) or "none"
    how = "what is fitted of it is fitted within each fold, on its analysis rows alone"
    return f"Preparation in the chosen candidate: {said}; {how}."


def _candidates(record: Record) -> str:
    """Count the candidates, by what became of them."""
    counts = record.outcome.candidates
    learners = ", ".join([*dict.fromkeys(row.label for row in record.folder.candidates())][:SHOWN])
    said = f"{counts.declared:,} candidates were declared, {counts.distinct:,} of them distinct ({learners})"
    ended = f"{counts.failed} failed, {counts.skipped} were skipped"
    return f"{said}; {ended}."


def _fold_sizes(record: Record) -> str | None:
    """Tell the numbers of rows of the folds."""
    folds = record.details.folds
    if folds is None:
        return None
    fit, assess = ((min(rows), max(rows)) for rows in (folds.analysis, folds.assessment))
    return f"Folds fit on {fit[0]:,} to {fit[1]:,} rows and assess {assess[0]:,} to {assess[1]:,}."


def _floor(record: Record) -> str | None:
    floors = record.outcome.floor
    said = ", ".join(f"{one.learner} {score(one.cv.mean)}" for one in floors if one.cv)
    return f"On the same folds: {said}." if said else None


def _looks(record: Record) -> str | None:
    """Count the looks."""
    if not record.test_sets:
        return None
    looks = [look for look in record.test_sets[0].looks if not look.replay]
    codes = sorted({code for look in looks for code in look.flags})
    said = f"The ledger counted {plural(len(looks), 'look')} at the sealed rows when the study ended"
    return f"{said}{' (findings ' + ', '.join(codes) + ')' if codes else ''}."


def _units(record: Record) -> str | None:
    """Tell which rows belong together; None where each stands for itself."""
    task, groups = record.outcome.task, record.data.groups
    if not task.unit and not groups:
        return None
    said = f"Rows of one {task.unit or 'group'} belong together ({task.units or groups:,} of them)"
    return f"{said}; folds and the test keep each whole."


def _features(record: Record) -> str | None:
    """Name the features with their kinds."""
    features = record.data.features
    if not features:
        return None
    count = int(record.outcome.task.features)
    said = ", ".join(f"{one.name} ({one.kind})" for one in features[:SHOWN])
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    return f"{plural(count, 'feature')}: {said}{more}; quartiles or levels of each are on record."


def _measures(record: Record) -> str | None:
    values = [(name, value) for name, value in (record.outcome.winner.measures or {}).items() if value is not None]
    said = ", ".join(f"{name.replace('_', ' ')} {score(value)}" for name, value in values[:SHOWN])
    return f"Of the chosen one, cross-validated, also: {said}." if said else None


def _estimate(record: Record) -> str:
    """Tell the cross-validated score, and what it is after allowing for the choice."""
    cv, fixed = record.outcome.winner.cv, record.outcome.winner.corrected
    said = f"Cross-validated: {score(cv.mean)}, standard error {score(cv.se)}"
    if fixed:
        said += f"; {score(fixed.mean)} {interval((fixed.low, fixed.high))} after allowing for the choice"
    return f"{said}."


def _interval(record: Record) -> str | None:
    """Tell the score on the sealed rows, with its interval."""
    test = record.outcome.test
    if test is None or test.refused or test.released is None:
        return None
    ends = "no certified interval"
    if test.interval:
        ends = f"{percent(test.level)} interval {interval(test.interval)}, valid for all looks together"
    name = (test.measure or record.outcome.measure).replace("_", " ")
    return f"On {test.n:,} sealed rows: {name} {shown_score(test)}, {ends}."


def _tests(record: Record) -> str:
    """Say which candidates cannot be told from the chosen one, and by what."""
    winner = record.outcome.winner
    how = "paired differences over folds, Holm-adjusted, 5 %"
    if winner.every_best is not None:
        how = "a bootstrap of the rows, all candidates at once, the fold models taken as given, 95 %"
    same = plural(len(winner.indistinguishable), "other candidate")
    return f"{_upper(same)} cannot be told from the chosen one ({how})."


def _imbalance(record: Record) -> str | None:
    """Tell the rarest class, and what was done about it."""
    classes = record.data.classes
    if not classes:
        return None
    least = min(classes, key=lambda one: one.rows)
    weights = "row weights were declared" if record.data.weighted else "no row weights were declared"
    own = record.settings("calibrator", "threshold", "class_weight", "costs")
    return f"The rarest class is {least.name} with {least.rows:,} rows; {weights}{'; ' + own if own else ''}."


def _slices(record: Record) -> str | None:
    """Tell groups of rows with a higher error."""
    known = record.explanation.weak_slices
    if not known:
        return None
    weak = [one for one in known.slices if one.adjusted is not None and one.adjusted < 0.05]
    said = "; ".join(f"{one.slice}: {one.wrong:,} of {one.rows:,} wrong" for one in weak[:SHOWN])
    told = said or "none is worse than the rest beyond chance"
    return f"Groups of rows were searched for a higher error: {told}."


def _output(record: Record) -> str:
    """Say what the model returns."""
    if record.outcome.task.of_numbers:
        return "The model returns a number."
    threshold = record.parameters.get("threshold")
    how = f"threshold {threshold}" if threshold else "the class of the highest score, without a threshold of its own"
    return f"The model returns a class, and a score for each; the class by {how}."


def _alike(record: Record) -> str | None:
    """Say how sealed rows differ from the others."""
    drawn = {"random": "drawn at random from one table", "group": "whole groups drawn at random from one table",
             "time": "the latest rows of one table"}.get(record.config["split"]["kind"])  # fmt: skip
    said = f"Sealed rows are {drawn}, with the columns, target and source of the development rows."
    return said if drawn and record.tested else None


def _tell_declaration(record: Record) -> str:
    sealed = next((one.sealed.at for one in record.test_sets if one.sealed), None)
    when = f"; the test rows were sealed on {str(sealed)[:10]}" if sealed else ""
    return f"Space, folds, measure, rule and test stand in one file{when}."


def _when(record: Record) -> str | None:
    at = next((look.at for one in record.test_sets for look in one.looks), None)
    who = record.details.user or "somebody"
    return f"Tested on {str(at)[:10]} by {who}." if at else None


Sentence = Callable[[Record], str | None]
FACTS: Mapping[str, tuple[str, Sentence]] = {  # by the names of `reporting/checklists.py`: where it stands, what it says
    "data": (f"{CONFIG}, dataset",
             lambda run: f"The table {run.outcome.task.name} was read as {_list_settings(run.config['dataset'])}."),
    "fingerprint": (
        f"{STUDY}, task.fingerprint",
        lambda run: f"Its rows have the fingerprint {run.outcome.task.fingerprint}, whatever the file is called."),
    "software": (f"{STUDY}, modelsel; {DETAILS}, commit", _software),
    "specification": (f"{STUDY}, spec_id; {CONFIG}",
                      lambda run: f"The whole configuration has the identity {run.outcome.spec_id}."),
    "environment": (f"{DETAILS}, environment", _environment),
    "seconds": (f"{STUDY}, seconds", lambda run: f"The study took {run.outcome.seconds['total']:.0f} seconds."),
    "files": (
        "docs/run_files.md",
        lambda run: f"{run.outcome.folder} has configuration, candidates, losses, journal, model and report; a page says "
                    "what each is."),
    "command": (f"{DETAILS}, command", _command),
    "replay": (
        f"{CANDIDATES}, {CONFIG}",
        lambda run: f"`modelsel audit {run.outcome.folder}` recomputes the choice from the scores of all candidates."),
    "kind": (
        f"{STUDY}, task, test",
        lambda run: "A study of prediction by machine learning: development"
                    f"{', and evaluation on rows of the same table that were sealed' if run.tested else ' alone'}."),
    "target": (f"{CONFIG}, dataset.target; {STUDY}, task", _target),
    "distribution": (f"{DETAILS}, data.classes", _distribution),
    "rows": (
        f"{STUDY}, task",
        lambda run: "{rows:,} rows: {development_rows:,} to develop on, {test_rows:,} sealed for the test."
                    .format_map(run.outcome.task)),
    "suffices": (f"{DETAILS}, audit", _suffices),
    "missing": (f"{DETAILS}, data.features", _tell_gaps),
    "missing_policy": (
        f"{STUDY}, winner.parameters",
        lambda run: f"The chosen {run.outcome.winner.learner} treats missing values so: "
                    f"{run.settings('missing', 'preparer', 'steps') or 'by its own rule, which its page tells'}."),
    "left_out": (
        f"{STUDY}, findings",
        lambda run: f"{run.sentences(*LEFT_OUT) or 'No finding says that a row or a column of the table was left out'}."),
    "excluded": (
        f"{STUDY}, findings",
        lambda run: f"Rows left out: {said}." if (said := run.sentences("ROWS_LEFT_OUT", "RARE_CLASS")) else None),
    "checks": (
        f"{STUDY}, findings; docs/findings.md",
        lambda run: "The table was checked for odd rows, columns and cells: "
                    f"{_texts(one for one in run.findings if not one.code.startswith(OTHERS)) or 'nothing was found'}."),
    "preparation": (f"{STUDY}, winner.parameters", _preparation),
    "candidates": (f"{STUDY}, candidates; {CANDIDATES}", _candidates),
    "space": (
        f"{CONFIG}, space; {CANDIDATES}",
        lambda run: "Every value of every hyper-parameter that was tried stands in the declared space "
                    f"({', '.join([*run.config['space']][:SHOWN])}), with its scores."),
    "folds": (
        f"{STUDY}, scheme",
        lambda run: f"All candidates were judged on the same {plural(int(run.outcome.scheme.folds), 'fold')} "
                    "({name}, fingerprint {fingerprint}) of the development rows.".format_map(run.outcome.scheme)),
    "fold_sizes": (f"{DETAILS}, folds", _fold_sizes),
    "split": (
        f"{CONFIG}, split; `modelsel audit`",
        lambda run: "Test rows were set aside and sealed in the ledger before anything was chosen "
                    f"({_list_settings(run.config['split'])})."),
    "rule": (
        f"{STUDY}, rule, measure",
        lambda run: f"The rule “{_words(run.outcome.rule)}”, by {_words(run.outcome.measure)}, was declared beforehand."),
    "winner": (
        f"{STUDY}, winner",
        lambda run: f"Chosen: {run.outcome.winner.name} "
                    f"{run.outcome.winner.id[:8]} ({_list_settings(run.parameters)})."),
    "model": (
        "model/",
        lambda run: "The fitted model is on record; `modelsel export` writes it for other systems."
        if run.folder.model.is_dir() else None),
    "floor": (f"{STUDY}, floor", _floor),
    "looks": (f"{DETAILS}, audit", _looks),
    "duplicates": (
        f"{STUDY}, findings",
        lambda run: f"Copies, also between both sides, were looked for: {run.sentences(*DUPLICATES) or 'none was found'}."),
    "units": (f"{STUDY}, task.unit; {DETAILS}, data.groups", _units),
    "features": (f"{DETAILS}, data.features", _features),
    "leaks": (
        f"{STUDY}, findings",
        lambda run: "Columns were checked: "
                    f"{run.sentences(*LEAKS) or 'no column equals or settles the target, or looks like an id'}."),
    "measure": (f"{STUDY}, measure; docs/measures.md",
                lambda run: f"Candidates were compared by {_words(run.outcome.measure)}."),
    "measures": (f"{STUDY}, winner.measures", _measures),
    "estimate": (f"{STUDY}, winner.cv, winner.corrected", _estimate),
    "interval": (f"{STUDY}, test", _interval),
    "tests": (f"{STUDY}, winner.indistinguishable", _tests),
    "imbalance": (f"{DETAILS}, data.classes; {STUDY}, winner.parameters", _imbalance),
    "slices": (f"{EXPLANATION}, weak_slices", _slices),
    "output": (f"{STUDY}, task, winner.parameters", _output),
    "alike": (f"{CONFIG}, split", _alike),
    "predictions": (
        "model/; docs/architecture.md",
        lambda run: "Sealed rows were predicted by the model fitted on all development rows, before a label was opened."
        if run.outcome.test else None),
    "time": (
        f"{CONFIG}, dataset.time",
        lambda run: f"Rows are ordered by {run.config['dataset']['time']}." if run.config["dataset"].get("time") else None),
    "declared": (f"{CONFIG}; {DETAILS}, audit", _tell_declaration),
    "when": (f"{DETAILS}, audit, user", _when),
    "limits": ("`modelsel audit`", lambda run: " ".join(NOT_SHOWN) if run.tested else None),
    "findings": (
        f"{STUDY}, findings",
        lambda run: f"Findings of weight: {_texts(one for one in run.findings if one.severity in GRAVE) or 'none'}."),
}  # fmt: skip
