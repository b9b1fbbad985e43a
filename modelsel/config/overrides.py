"""Read typed overrides by Hydra's own parser before Hydra composes, so that all problems are reported at once.

Each override is checked against the groups and options of `conf/`, and put so that Hydra takes it: a key is set whether or not
a file mentions it (`++key`), and the name of a part becomes its `kind`, so that settings beneath it stay beside it. Values and
keys are checked after composition, when it is known which kinds they belong to.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches

from hydra.core.override_parser.types import Glob, Override, QuotedString
from hydra.errors import HydraException

from modelsel.config.build import LEARNER
from modelsel.config.expand import SPACE
from modelsel.config.folders import Folders
from modelsel.config.grammar import override_parser
from modelsel.config.loader import GROUPS
from modelsel.config.references import reference
from modelsel.config.schema import class_of, kinds, plugin_kinds, slots
from modelsel.config.settings import RENAMED, RootSettings
from modelsel.config.suggest import near, near_option
from modelsel.core.errors import Problem

OUTER, EXPERIMENT = "outer", "experiment"
COMPOSED = GROUPS  # the root's defaults list
PARTS = tuple(group for group in GROUPS if group != EXPERIMENT)
ROLES = ("target", "weights", "groups", "unit", "id")  # of a data set's columns, which Python takes by keyword
ALIKE = 0.75  # of a setting of a part, which is one of many, and what was typed
NUMBERS = {"split": "test", "scheme": "folds"}  # what a bare number after the group's name is meant for
HYDRA = (
    "hydra.mode", "hydra.verbose", "hydra/launcher", "hydra/sweeper", "hydra.launcher.", "hydra.sweeper.",
    "hydra.sweep.dir", "hydra.sweep.subdir",
)  # fmt: skip
LISTS = {f"dataset.{name}" for name in ("ignore", "nominal", "numeric", "text", "coerce", "missing_in", "dates", "missing")}
INSTEAD = {"hydra.run.dir": "runs", "hydra.job.name": "name"}  # ours, which do what is meant


@dataclass(frozen=True)
class Typed:
    """Overrides as they go to Hydra, what is wrong with others, which were Hydra's own, and which are swept."""

    lines: tuple[str, ...]
    problems: tuple[Problem, ...]
    swept: tuple[str, ...] = ()

    @property
    def hydra(self) -> tuple[str, ...]:
        return tuple(line for line in self.lines if line.lstrip("+~").startswith(("hydra.", "hydra/")))


def read_overrides(overrides: Iterable[str], folders: Folders, sweep: bool = False) -> Typed:
    """Parse and check all overrides; those with a problem are left out of `lines`. Several values need a `sweep`."""
    good: list[Override] = []
    problems: list[Problem] = []
    for text in join_column_lists(overrides):
        found = _parse_override(text, folders)
        wrong = [found] if isinstance(found, Problem) else list(_problems(found, folders, sweep))
        problems.extend(wrong)
        if not wrong and isinstance(found, Override):
            good.append(found)
    keys = {override.key_or_group for override in good}
    if SPACE in keys and any(key.split(".")[0] == LEARNER for key in keys):
        problems.append(Problem("MSEL-244", "both a space and a learner are given", f"{SPACE}=, {LEARNER}=",
                                "learner=NAME is a space of one entry: give one of them"))  # fmt: skip
    lines = (line for override in good for line in _for_hydra(override, keys, folders))
    swept = (override.key_or_group for override in good if override.is_sweep_override())
    return Typed(tuple(lines), tuple(problems), tuple(swept))


def join_column_lists(overrides: Iterable[str]) -> list[str]:
    """Lists of columns that are typed more than once as one list of all: each was proposed by itself, and all hold.

    >>> join_column_lists(['dataset.ignore=["a"]', "seed=1", 'dataset.ignore=["b c"]', "dataset.ignore=d"])
    ['dataset.ignore=["a","b c",d]', 'seed=1']
    """
    kept: dict[str, list[str]] = {}
    for text in overrides:
        key, sign, value = text.partition("=")
        kept.setdefault(key if sign and key in LISTS else f" {len(kept)}", []).append(value if sign and key in LISTS else text)
    return [line for key, found in kept.items() for line in (_one_list(key, found) if key in LISTS else found)]


def _one_list(key: str, values: Sequence[str]) -> list[str]:
    """Return the overrides of a list of columns, put together where each of them can be read as a list."""
    lines = [f"{key}={value}" for value in values]
    if len(values) == 1:
        return lines
    try:
        parsed = [override_parser().parse_override(line) for line in lines]
    except (HydraException, TypeError, ValueError):
        return lines
    found = [] if any(one.is_sweep_override() for one in parsed) else [one.value() for one in parsed]
    if not found or any(isinstance(value, dict) or value is None for value in found):
        return lines
    items = [text.strip()[1:-1] if isinstance(value, list) else text for text, value in zip(values, found, strict=True)]
    return [f"{key}=[{','.join(item for item in items if item.strip())}]"]


def _parse_override(text: str, folders: Folders) -> Override | Problem:
    """Parse an override; what Hydra refuses becomes a problem."""
    try:
        return override_parser().parse_override(text)
    except (HydraException, TypeError, ValueError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return Problem("MSEL-245", f"cannot be read ({reason})", repr(text), _remedy(text, folders.options("dataset")))


def _remedy(text: str, known: Sequence[str] = ()) -> str:
    """Guess how to mend an override that cannot be parsed."""
    if text in known:
        return f"write dataset={text}"
    if text.startswith("-"):
        return "options stand before overrides; see --help"
    if "=" not in text:
        if counted := next((fix for fix in (_suggest_folds(group, text) for group in PARTS) if fix), ""):
            return counted
        return f"write {text}=VALUE; a table is named first: FILE TARGET, then overrides (in Python: data=FILE, target=NAME)"
    if "null" in text:
        return "write no limit as none: choice(none, 3, 5)"
    key, _, value = text.partition("=")
    if missing := _unclosed_brackets(value):
        return f"close the bracket: '{text}{missing}'"
    return f"""quote it: "{key}='{value}'\""""


def _unclosed_brackets(value: str) -> str:
    """Return the brackets that a value leaves open.

    >>> _unclosed_brackets("[a,{kind: b"), _unclosed_brackets("[a]"), _unclosed_brackets("a]")
    ('}]', '', '')
    """
    missing: list[str] = []
    for sign in value:
        if sign in "[{(":
            missing.append({"[": "]", "{": "}", "(": ")"}[sign])
        elif sign in "]})" and (not missing or missing.pop() != sign):
            return ""
    return "".join(reversed(missing))


def _suggest_folds(group: str, name: str) -> str:
    """Suggest a part and its number of folds for a name such as `kfold5`; empty where it is not one."""
    part, folds = name.rstrip("0123456789").rstrip("_-"), re.sub(r".*\D", "", name)
    known = folds and part in kinds(group) and "folds" in _settings(group)
    return f"write {group}={part} {group}.folds={folds}" if known else ""


def _problems(override: Override, folders: Folders, sweep: bool) -> Iterator[Problem]:
    """Yield the reasons why an override is not taken."""
    key = override.key_or_group
    if override.is_sweep_override() and not sweep:
        yield Problem("MSEL-246", "several values for one study", override.input_line or key,
                      f"-m runs a study for each; a list is written {key}=[a,b], a text with commas in quotes")  # fmt: skip
    first, *rest = re.split(r"[./]", key)
    if any(part.startswith("_") for part in (first, *rest)) or _code(override.value()):
        yield Problem("MSEL-232", "names that start with an underscore are not settings", override.input_line or key,
                      "a part is chosen by its kind, never by a dotted path")  # fmt: skip
    elif first == "hydra":
        yield from _hydra(override)
    elif override.package is not None:
        yield Problem(
            "MSEL-241", "a group keeps its place in the configuration", override.input_line or key, f"write {key}=NAME"
        )
    elif not rest and first in COMPOSED:
        yield from _options(override, folders)
    elif first not in (*COMPOSED, *root_keys(), *RENAMED):
        yield _unknown_setting(first, folders)


def _hydra(override: Override) -> Iterator[Problem]:
    """Yield a problem where an override changes a setting of Hydra's that is not open."""
    key = override.key_or_group
    if not any(key == name or (name[-1] in "./" and key.startswith(name)) for name in HYDRA):
        fix = "modelsel takes hydra.mode, hydra/launcher, hydra/sweeper with their settings, hydra.sweep.dir and .subdir"
        fix = f"write {INSTEAD[key]}={override.get_value_string()}" if key in INSTEAD else fix
        yield Problem("MSEL-242", "this setting of Hydra's is not open", key, fix)


def _options(override: Override, folders: Folders) -> Iterator[Problem]:
    """Unknown names of options; a whole group written out is data and is checked after composition."""
    group = override.key_or_group
    known, sweeping = folders.options(group), override.is_sweep_override()
    if override.is_delete():
        if group == EXPERIMENT:  # it needs none
            return
        yield Problem("MSEL-243", f"a study needs a {group}", override.input_line or group, near("", known))
    for name in _chosen_names(override):
        if isinstance(name, str) and name not in known and (sweeping or name not in plugin_kinds(group)):
            yield Problem(
                "MSEL-201", f"unknown {group} {name!r}", override.input_line or group, _near_option(group, name, known)
            )
        elif not isinstance(name, str | dict) and not (group == EXPERIMENT and name is None):
            fix = _suggest_number(group, name) or f"a study has one {group}: {near('', known)}"
            yield Problem("MSEL-206", f"{_word(name)} is not a name of a {group}", override.input_line or group, fix)


def _suggest_number(group: str, value: object) -> str:
    """Suggest the setting that a bare number is meant for: a share to seal, a number of folds."""
    field = NUMBERS.get(group)
    return f"did you mean {group}.{field}={value}?" if field and type(value) in (int, float) else ""


def _near_option(group: str, name: str, known: Sequence[str]) -> str:
    if name in kinds(group):
        return f"it has no file: write conf/{group}/{name}.yaml"
    return _suggest_folds(group, name) or near_option(group, name, known)


def _chosen_names(override: Override) -> Iterator[object]:
    """Return the names that an override chooses, one or several."""
    value: object = override.value()
    if isinstance(value, Glob):
        return iter(())
    if override.is_choice_sweep():
        return (item.text if isinstance(item, QuotedString) else item for item in override.sweep_iterator())
    return iter((value,)) if not override.is_sweep_override() and not override.is_delete() else iter(())


def _unknown_setting(name: str, folders: Folders) -> Problem:
    """Describe an unknown setting: a learner's, a part's, or the nearest that there is."""
    if name == "sweep":
        fix = "what is swept is said by a space: conf/space/NAME.yaml, or several values of one setting with -m"
        return Problem("MSEL-202", "'sweep' is not a setting of a study", name, fix)
    if name in folders.groups():
        fix = f"it belongs to a learner: learner.{name}=..., or a space's sweep"
        return Problem("MSEL-202", f"{name!r} is not a setting of a study", name, fix)
    if home := home_of(name):
        return Problem("MSEL-202", f"{name!r} is not a setting of a study", name, f"write {home}=...")
    return Problem("MSEL-202", f"unknown setting {name!r}", name, near_setting(name))


def near_setting(name: str, also: Collection[str] = ()) -> str:
    """Suggest the setting of a study that was meant, or that of a part; `also` are words that only Python takes.

    >>> near_setting("mesure"), near_setting("taget"), near_setting("dta", ["data"])
    ("did you mean 'measure'?", "did you mean 'dataset.target' (in Python target=)?", "did you mean 'data'?")
    """
    words = {*COMPOSED, *root_keys(), *RENAMED, *also}
    parts = {setting for group in PARTS for setting in _settings(group)} - words
    best = "".join(get_close_matches(name.lower(), sorted(words | parts), 1, cutoff=ALIKE))
    in_python = f" (in Python {best}=)" if best in ROLES else ""
    return f"did you mean {home_of(best)!r}{in_python}?" if best in parts else near(name, words)


def home_of(name: str) -> str:
    """Return where a setting of this name is set; empty where there is none.

    >>> home_of("folds"), home_of("seed"), home_of("nothing")
    ('scheme.folds', 'seed', '')
    """
    if name in (*COMPOSED, *root_keys()):
        return name
    return next((f"{group}.{name}" for group in PARTS if name in _settings(group)), "")


def _settings(group: str) -> set[str]:
    """All that can be set of the parts of a group."""
    classes = [class_of(group, kind) for kind in kinds(group)]
    return {name for one in classes if is_dataclass(one) for name in slots(one)}


def root_keys() -> tuple[str, ...]:
    """The root's own keys."""
    return (*(field.name for field in fields(RootSettings)), SPACE, LEARNER, OUTER)


def _for_hydra(override: Override, keys: Collection[str], folders: Folders) -> Iterator[str]:
    """The override as Hydra takes it without objection. A plug-in has no file: its name is put where one would be."""
    line = override.input_line or ""
    key, value = override.key_or_group, None if override.is_sweep_override() else override.value()
    if key.startswith("hydra") or override.is_delete():
        yield line
    elif key in COMPOSED and isinstance(value, str) and value not in folders.options(key):
        yield from (f"~{key}", f"+{key}.kind={value}")
    elif key in COMPOSED:
        yield line.lstrip("+")
    elif isinstance(value, str) and (put_away := reference(key, value)):
        yield f"++{key}={put_away}"
    else:
        beneath = any(other.startswith(f"{key}.") for other in keys)
        yield f"++{key}{'.kind' if beneath else ''}={override.get_value_string()}"


def _code(value: object) -> bool:
    """True where a value has a key that starts with an underscore."""
    if isinstance(value, dict):
        return any(str(key).startswith("_") or _code(item) for key, item in value.items())
    return isinstance(value, list) and any(_code(item) for item in value)


def _word(value: object) -> str:
    return f"the truth value {str(value).lower()}" if isinstance(value, bool) else repr(value)
