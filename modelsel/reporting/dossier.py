"""A checklist filled from a run's record: each item by its number, what the record answers, and where that stands.

Facts are sentences made of the files of a run, nothing else: what the record does not say is left to the author.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, Literal

from modelsel.core.outcome import StudySummary
from modelsel.guard.reporting.narrative import NOT_SHOWN
from modelsel.record.folder import RunFolder
from modelsel.reporting.checklists import Checklist, Item
from modelsel.reporting.text.roots import outcome_as_read
from modelsel.reporting.text.words import interval, percent, plural, score

State = Literal["answered", "in part", "ask the author", "does not apply"]
STUDY, DETAILS, CONFIG, CANDIDATES, EXPLANATION = (
    "study.json", "details.json", "config.yaml", "candidates.csv", "explanation.json",
)  # fmt: skip
SHOWN = 12  # features, entries or findings that a sentence names
DUPLICATES = ("DUPLICATE_ROWS", "REPEATED_IDS", "G030", "G031", "G032")
LEAKS = ("DETERMINES_TARGET", "EQUALS_TARGET", "ID_LIKE_COLUMN", "INDEX_COLUMN")
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
    items = tuple(_filled(item, record) for item in checklist.items)
    return Dossier(checklist.name, checklist.title, checklist.source, record.outcome.study, record.outcome.folder, items)


def _filled(item: Item, record: "Record") -> FilledItem:
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
        self.details: Mapping[str, Any] = folder.details()
        self.config: Mapping[str, Any] = folder.config()
        self.explanation: Mapping[str, Any] = folder.explanation()

    def fact(self, name: str) -> Fact | None:
        """A fact by its name."""
        make: Callable[[Record], Fact | None] = FACTS[name]
        return make(self)

    @property
    def parameters(self) -> Mapping[str, object]:
        """The settings of the chosen candidate that are set."""
        known = self.outcome.winner["parameters"]
        return {name: value for name, value in known.items() if name != "kind" and value is not None}

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """What is known of the development rows."""
        found: Mapping[str, object] = self.details.get("data", {})
        return found

    @cached_property
    def test_sets(self) -> list[Mapping[str, Any]]:
        """The audit of the sealed rows, as it stood when the study ended."""
        found: list[Mapping[str, object]] = self.details.get("audit", {}).get("test_sets", [])
        return found

    def findings(self, *begins: str) -> list[Mapping[str, Any]]:
        """Findings of the study, by the beginnings of their codes."""
        return [one for one in self.outcome.extra.get("findings", ()) if one["code"].startswith(begins or ("",))]


# Facts.


def _listed(settings: Mapping[str, object]) -> str:
    """Settings in words; without those that say nothing."""
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value not in (None, [], {}, ""))


def _said(found: list[Mapping[str, object]], otherwise: str) -> str:
    """What findings say, or that there is none."""
    return "; ".join(f"{one['code']}: {one['message']}" for one in found[:SHOWN]) or otherwise


def _data(record: Record) -> Fact:
    said = _listed(record.config["dataset"])
    return Fact(f"The table {record.outcome.task['name']} was read as {said}.", f"{CONFIG}, dataset")


def _fingerprint(record: Record) -> Fact:
    said = f"Its rows have the fingerprint {record.outcome.task['fingerprint']}, whatever the file is called."
    return Fact(said, f"{STUDY}, task.fingerprint")


def _software(record: Record) -> Fact:
    commit = record.details.get("commit")
    own = f"; the project's own code at commit {commit}" if commit else ""
    return Fact(f"Computed with modelsel {record.outcome.modelsel}{own}.", f"{STUDY}, modelsel; {DETAILS}, commit")


def _specification(record: Record) -> Fact:
    return Fact(f"The whole configuration has the identity {record.outcome.spec_id}.", f"{STUDY}, spec_id; {CONFIG}")


def _environment(record: Record) -> Fact | None:
    known = record.details.get("environment")
    said = ", ".join(f"{name} {value}" for name, value in known.items()) if known else ""
    return Fact(f"{said}.", f"{DETAILS}, environment") if said else None


def _seconds(record: Record) -> Fact:
    return Fact(f"The study took {record.outcome.seconds['total']:.0f} seconds.", f"{STUDY}, seconds")


def _files(record: Record) -> Fact:
    """Name the files of the run."""
    said = (
        f"{record.outcome.folder} has configuration, candidates, losses, journal, model and report; a page says what each is."
    )
    return Fact(said, "docs/run_files.md")


def _command(record: Record) -> Fact | None:
    words = record.details.get("command")
    return Fact(f"It was made by `{' '.join(words)}`, seed {record.outcome.seed}.", f"{DETAILS}, command") if words else None


def _replay(record: Record) -> Fact:
    said = f"`modelsel audit {record.outcome.folder}` recomputes the choice from the scores of all candidates."
    return Fact(said, f"{CANDIDATES}, {CONFIG}")


def _kind(record: Record) -> Fact:
    """Say what kind of study it is."""
    held = "development alone"
    if record.outcome.task["test_rows"]:
        held = "development, and evaluation on rows of the same table that were sealed"
    return Fact(f"A study of prediction by machine learning: {held}.", f"{STUDY}, task, test")


def _target(record: Record) -> Fact:
    """Name the target and what it is."""
    task = record.outcome.task
    name = record.config["dataset"].get("target") or "that of the table"
    what = f"a number{' in ' + str(task['measured_in']) if task.get('measured_in') else ''}"
    if "classes" in task:
        what = f"one of {len(task['classes'])} classes"
    return Fact(f"The target is {name}, {what}.", f"{CONFIG}, dataset.target; {STUDY}, task")


def _distribution(record: Record) -> Fact | None:
    """Tell the shares of the classes."""
    classes = record.data.get("classes")
    if not classes:
        return None
    total = sum(one["rows"] for one in classes)
    said = ", ".join(f"{one['name']} {one['rows']:,} ({one['rows'] / total:.1%})" for one in classes[:SHOWN])
    return Fact(f"Classes of the development rows: {said}.", f"{DETAILS}, data.classes")


def _rows(record: Record) -> Fact:
    task = record.outcome.task
    said = f"{task['rows']:,} rows: {task['development_rows']:,} to develop on, {task['test_rows']:,} sealed for the test."
    return Fact(said, f"{STUDY}, task")


def _suffices(record: Record) -> Fact | None:
    """Tell the bound for all candidates at once."""
    choices = next((one["choices"] for one in record.test_sets if one.get("choices")), None)
    if choices is None:
        return None
    many = f"With {choices['candidates']:,} candidates on {choices['rows']:,} rows"
    return Fact(f"{many} all error rates are within ±{choices['bound']:.3f} at once (95 %).", f"{DETAILS}, audit")


def _missing(record: Record) -> Fact | None:
    """Tell the gaps, by feature."""
    if "features" not in record.data:
        return None
    gaps = ", ".join(f"{one['name']} {one['missing']:.1%}" for one in record.data["features"][:SHOWN] if one["missing"])
    said = f"{record.data['missing']:.1%} of the cells of the development rows are missing{': ' if gaps else ''}{gaps}."
    return Fact(said, f"{DETAILS}, data.features")


def _missing_policy(record: Record) -> Fact:
    """Tell how the chosen candidate treats gaps."""
    own = {name: value for name, value in record.parameters.items() if name.split(".")[-1] in ("missing", "preparer", "steps")}
    how = _listed(own) or "by its own rule, which its page tells"
    said = f"The chosen {record.outcome.winner['learner']} treats missing values so: {how}."
    return Fact(said, f"{STUDY}, winner.parameters")


def _left_out(record: Record) -> Fact:
    said = _said(record.findings(*LEFT_OUT), "no finding says that a row or a column of the table was left out")
    return Fact(f"{_upper(said)}.", f"{STUDY}, findings")


def _excluded(record: Record) -> Fact | None:
    found = record.findings("ROWS_LEFT_OUT", "RARE_CLASS")
    return Fact(f"Rows left out: {_said(found, '')}.", f"{STUDY}, findings") if found else None


def _checks(record: Record) -> Fact:
    found = [one for one in record.findings() if not one["code"].startswith(("G0", "MSEL", "R0"))]
    said = _said(found, "nothing was found")
    return Fact(f"The table was checked for odd rows, columns and cells: {said}.", f"{STUDY}, findings; docs/findings.md")


def _preparation(record: Record) -> Fact:
    """Tell the preparation of the chosen candidate."""
    names = ("preparer", "steps", "encoding", "scale", "normalise")
    said = _listed({name: value for name, value in record.parameters.items() if name.startswith(names)}) or "none"
    how = "what is fitted of it is fitted within each fold, on its analysis rows alone"
    return Fact(f"Preparation in the chosen candidate: {said}; {how}.", f"{STUDY}, winner.parameters")


def _candidates(record: Record) -> Fact:
    """Count the candidates, by what became of them."""
    counts = record.outcome.candidates
    learners = ", ".join([*dict.fromkeys(row.label for row in record.folder.candidates())][:SHOWN])
    said = f"{counts['declared']:,} candidates were declared, {counts['distinct']:,} of them distinct ({learners})"
    ended = f"{counts['failed']} failed, {counts['skipped']} were skipped"
    return Fact(f"{said}; {ended}.", f"{STUDY}, candidates; {CANDIDATES}")


def _space(record: Record) -> Fact:
    entries = ", ".join([*record.config["space"]][:SHOWN])
    said = f"Every value of every hyper-parameter that was tried stands in the declared space ({entries})"
    return Fact(f"{said}, with its scores.", f"{CONFIG}, space; {CANDIDATES}")


def _folds(record: Record) -> Fact:
    scheme = record.outcome.scheme
    same = f"the same {plural(int(scheme['folds']), 'fold')} ({scheme['name']}, fingerprint {scheme['fingerprint']})"
    return Fact(f"All candidates were judged on {same} of the development rows.", f"{STUDY}, scheme")


def _fold_sizes(record: Record) -> Fact | None:
    """Tell the numbers of rows of the folds."""
    folds = record.details.get("folds")
    if not folds:
        return None
    fit, assess = ((min(folds[name]), max(folds[name])) for name in ("analysis", "assessment"))
    said = f"Folds fit on {fit[0]:,} to {fit[1]:,} rows and assess {assess[0]:,} to {assess[1]:,}."
    return Fact(said, f"{DETAILS}, folds")


def _split(record: Record) -> Fact:
    said = _listed(record.config["split"])
    told = "Test rows were set aside and sealed in the ledger before anything was chosen"
    return Fact(f"{told} ({said}).", f"{CONFIG}, split; `modelsel audit`")


def _rule(record: Record) -> Fact:
    rule, measure = (words.replace("_", " ") for words in (record.outcome.rule, record.outcome.measure))
    return Fact(f"The rule “{rule}”, by {measure}, was declared beforehand.", f"{STUDY}, rule, measure")


def _winner(record: Record) -> Fact:
    winner = record.outcome.winner
    said = f"Chosen: {winner.get('entry') or winner['learner']} {winner['id'][:8]} ({_listed(record.parameters)})."
    return Fact(said, f"{STUDY}, winner")


def _model(record: Record) -> Fact | None:
    if not record.folder.model.is_dir():
        return None
    return Fact("The fitted model is on record; `modelsel export` writes it for other systems.", "model/")


def _floor(record: Record) -> Fact | None:
    floors = record.outcome.extra.get("floor") or ()
    said = ", ".join(f"{one['learner']} {score(one['cv']['mean'])}" for one in floors)
    return Fact(f"On the same folds: {said}.", f"{STUDY}, floor") if said else None


def _looks(record: Record) -> Fact | None:
    """Count the looks."""
    if not record.test_sets:
        return None
    looks = [look for look in record.test_sets[0]["looks"] if not look["replay"]]
    codes = sorted({code for look in looks for code in look["flags"]})
    said = f"The ledger counted {plural(len(looks), 'look')} at the sealed rows when the study ended"
    return Fact(f"{said}{' (findings ' + ', '.join(codes) + ')' if codes else ''}.", f"{DETAILS}, audit")


def _duplicates(record: Record) -> Fact:
    said = _said(record.findings(*DUPLICATES), "none was found")
    return Fact(f"Copies, also between both sides, were looked for: {said}.", f"{STUDY}, findings")


def _units(record: Record) -> Fact | None:
    """Tell which rows belong together; None where each stands for itself."""
    task, groups = record.outcome.task, record.data.get("groups")
    if not task.get("unit") and not groups:
        return None
    said = f"Rows of one {task.get('unit') or 'group'} belong together ({task.get('units') or groups:,} of them)"
    return Fact(f"{said}; folds and the test keep each whole.", f"{STUDY}, task.unit; {DETAILS}, data.groups")


def _features(record: Record) -> Fact | None:
    """Name the features with their kinds."""
    features = record.data.get("features")
    if not features:
        return None
    count = int(record.outcome.task["features"])
    said = ", ".join(f"{one['name']} ({one['kind']})" for one in features[:SHOWN])
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    return Fact(
        f"{plural(count, 'feature')}: {said}{more}; quartiles or levels of each are on record.", f"{DETAILS}, data.features"
    )


def _leaks(record: Record) -> Fact:
    said = _said(record.findings(*LEAKS), "no column equals or settles the target, or looks like an id")
    return Fact(f"Columns were checked: {said}.", f"{STUDY}, findings")


def _measure(record: Record) -> Fact:
    said = f"Candidates were compared by {record.outcome.measure.replace('_', ' ')}."
    return Fact(said, f"{STUDY}, measure; docs/measures.md")


def _measures(record: Record) -> Fact | None:
    values = [(name, value) for name, value in (record.outcome.winner.get("measures") or {}).items() if value is not None]
    said = ", ".join(f"{name.replace('_', ' ')} {score(value)}" for name, value in values[:SHOWN])
    return Fact(f"Of the chosen one, cross-validated, also: {said}.", f"{STUDY}, winner.measures") if said else None


def _estimate(record: Record) -> Fact:
    """Tell the cross-validated score, and what it is after allowing for the choice."""
    cv, fixed = record.outcome.winner["cv"], record.outcome.winner.get("corrected")
    said = f"Cross-validated: {score(cv['mean'])}, standard error {score(cv['se'])}"
    if fixed:
        said += f"; {score(fixed['mean'])} {interval((fixed['low'], fixed['high']))} after allowing for the choice"
    return Fact(f"{said}.", f"{STUDY}, winner.cv, winner.corrected")


def _interval(record: Record) -> Fact | None:
    """Tell the score on the sealed rows, with its interval."""
    test = record.outcome.test
    if test is None or test.refused or test.score is None:
        return None
    ends = "no certified interval"
    if test.interval:
        ends = f"{percent(test.level)} interval {interval(test.interval)}, valid for all looks together"
    name = (test.measure or record.outcome.measure).replace("_", " ")
    return Fact(f"On {test.n:,} sealed rows: {name} {score(test.score)}, {ends}.", f"{STUDY}, test")


def _tests(record: Record) -> Fact:
    """Say which candidates cannot be told from the chosen one, and by what."""
    winner = record.outcome.winner
    how = "paired differences over folds, Holm-adjusted, 5 %"
    if winner.get("every_best") is not None:
        how = "a bootstrap of the rows, all candidates at once, the fold models taken as given, 95 %"
    same = plural(len(winner.get("indistinguishable", ())), "other candidate")
    return Fact(f"{_upper(same)} cannot be told from the chosen one ({how}).", f"{STUDY}, winner.indistinguishable")


def _imbalance(record: Record) -> Fact | None:
    """Tell the rarest class, and what was done about it."""
    classes = record.data.get("classes")
    if not classes:
        return None
    least = min(classes, key=lambda one: one["rows"])
    weights = "row weights were declared" if record.data.get("weighted") else "no row weights were declared"
    names = ("calibrator", "threshold", "class_weight", "costs")
    own = _listed({name: value for name, value in record.parameters.items() if name.split(".")[-1] in names})
    said = f"The rarest class is {least['name']} with {least['rows']:,} rows; {weights}{'; ' + own if own else ''}."
    return Fact(said, f"{DETAILS}, data.classes; {STUDY}, winner.parameters")


def _slices(record: Record) -> Fact | None:
    """Tell groups of rows with a higher error."""
    known = record.explanation.get("weak_slices")
    if not known or "slices" not in known:
        return None
    weak = [one for one in known["slices"] if one["adjusted"] < 0.05]
    said = "; ".join(f"{one['slice']}: {one['wrong']} of {one['rows']} wrong" for one in weak[:SHOWN])
    told = said or "none is worse than the rest beyond chance"
    return Fact(f"Groups of rows were searched for a higher error: {told}.", f"{EXPLANATION}, weak_slices")


def _output(record: Record) -> Fact:
    """Say what the model returns."""
    if "classes" not in record.outcome.task:
        return Fact("The model returns a number.", f"{STUDY}, task")
    threshold = record.parameters.get("threshold")
    how = f"threshold {threshold}" if threshold else "the class of the highest score, without a threshold of its own"
    return Fact(f"The model returns a class, and a score for each; the class by {how}.", f"{STUDY}, winner.parameters")


def _alike(record: Record) -> Fact | None:
    """Say how sealed rows differ from the others."""
    drawn = {"random": "drawn at random from one table", "group": "whole groups drawn at random from one table",
             "time": "the latest rows of one table"}.get(record.config["split"]["kind"])  # fmt: skip
    said = f"Sealed rows are {drawn}, with the columns, target and source of the development rows."
    return Fact(said, f"{CONFIG}, split") if drawn and record.outcome.task["test_rows"] else None


def _predictions(record: Record) -> Fact | None:
    """Say how sealed rows were predicted."""
    if record.outcome.test is None:
        return None
    said = "Sealed rows were predicted by the model fitted on all development rows, before a label was opened."
    return Fact(said, "model/; docs/architecture.md")


def _time(record: Record) -> Fact | None:
    column = record.config["dataset"].get("time")
    return Fact(f"Rows are ordered by {column}.", f"{CONFIG}, dataset.time") if column else None


def _declared(record: Record) -> Fact:
    sealed = next((one["sealed"].get("at") for one in record.test_sets if one.get("sealed")), None)
    when = f"; the test rows were sealed on {str(sealed)[:10]}" if sealed else ""
    return Fact(f"Space, folds, measure, rule and test stand in one file{when}.", f"{CONFIG}; {DETAILS}, audit")


def _when(record: Record) -> Fact | None:
    at = next((look["at"] for one in record.test_sets for look in one["looks"]), None)
    who = record.details.get("user") or "somebody"
    return Fact(f"Tested on {str(at)[:10]} by {who}.", f"{DETAILS}, audit, user") if at else None


def _limits(record: Record) -> Fact | None:
    return Fact(" ".join(NOT_SHOWN), "`modelsel audit`") if record.outcome.task["test_rows"] else None


def _findings(record: Record) -> Fact:
    found = [one for one in record.findings() if one["severity"] in ("medium", "high", "critical")]
    return Fact(f"Findings of weight: {_said(found, 'none')}.", f"{STUDY}, findings")


_MAKERS: tuple[Callable[[Record], Fact | None], ...] = (
    _data, _fingerprint, _software, _specification, _environment, _seconds, _files, _command, _replay, _kind, _target,
    _distribution, _rows, _suffices, _missing, _missing_policy, _left_out, _excluded, _checks, _preparation, _candidates,
    _space, _folds,
    _fold_sizes, _split, _rule, _winner, _model, _floor, _looks, _duplicates, _units, _features, _leaks, _measure, _measures,
    _estimate, _interval, _tests, _imbalance, _slices, _output, _alike, _predictions, _time, _declared, _when, _limits,
    _findings,
)  # fmt: skip
FACTS: Mapping[str, Callable[[Record], Fact | None]] = {made.__name__.removeprefix("_"): made for made in _MAKERS}
