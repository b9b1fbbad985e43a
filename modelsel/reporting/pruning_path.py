"""Cost-complexity pruning as a path: what each strength leaves of the tree grown on all development rows, and how it does.

    α_k, leaves, R(T_k) on the development rows; cross-validated score and standard error of the strength between α_k and α_k+1

Breiman, Friedman, Olshen and Stone 1984, section 3.4. The choice by the least score and by one standard error stand beside each
other; the least of many scores is optimistic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import cast

import numpy as np

from modelsel.core.facts import DocumentFacts
from modelsel.core.facts import facts as facts_of
from modelsel.core.spec import kind_of
from modelsel.core.types import Candidate, Floats, Scoreboard
from modelsel.learner.trees.path import TreePath, critical_strengths
from modelsel.pruner.unpruned import Unpruned
from modelsel.record.candidates import word
from modelsel.reporting.charts import Plot, Scale, label_of
from modelsel.reporting.roots import ROOTED, SQUARED, root, spread
from modelsel.reporting.show import SectionContext
from modelsel.reporting.words import is_known, score, settings
from modelsel.rule.base import BaseRule
from modelsel.rule.best import Best
from modelsel.rule.one_standard_error import OneStandardError
from modelsel.runner.families import path_of

TITLE = "The pruning path"
PATHS = 4  # shown, each at the price of growing one more tree; those of the best members first
LINES = 24
MILLION = 1e6
ALPHA = 10  # letters of a strength
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 940, 332, 60, 20, 44, 270


@facts_of
class TreeSize(DocumentFacts):
    """A tree on all development rows: its leaves and its training error."""

    leaves: int
    training: float


@facts_of
class PruningStep(TreeSize):
    """A strength of pruning: the critical strength and the one used, the cross-validated score and its standard error."""

    alpha: float
    used: float
    mean: float | None
    se: float | None


@facts_of
class StrengthPath(DocumentFacts):
    """A tree by strength: `weight` of the rows (none of numbers), the grown tree, steps and those that two rules choose."""

    title: str
    weight: float | None
    higher: bool = False
    grown: TreeSize
    steps: list[PruningStep]
    best: int | None
    one_standard_error: int | None


@facts_of
class PruningFacts(DocumentFacts):
    """The paths that are shown, and how many more there are."""

    measure: str
    paths: list[StrengthPath]
    more: int
    numbers: bool = False


def facts(studied: SectionContext) -> Mapping[str, object]:
    """Find the groups of candidates that differ in strength alone, and describe their paths."""
    groups = sorted(_groups(studied.selection.candidates), key=lambda members: float(_cost(studied, members).min()))
    if not groups:
        return {"reason": "no candidates that differ in the strength of cost_complexity alone"}
    numbers = studied.task.kind == "numbers"
    titles = _titles([studied.selection.candidates[members[0]] for members in groups], numbers)
    paths = [_path(studied, members, title) for title, members in list(zip(titles, groups, strict=True))[:PATHS]]
    squared = studied.measure == SQUARED
    paths = [path.but(steps=[*map(_as_root, path.steps)]) for path in paths] if squared else paths
    measure = ROOTED if squared else studied.measure
    return PruningFacts(measure=measure, paths=paths, more=len(groups) - len(paths), numbers=numbers)


def _as_root(step: PruningStep) -> PruningStep:
    """A step whose score is the root of its mean squared error, as its training error is."""
    return step.but(mean=root(step.mean), se=_spread(step.mean, step.se))


def _spread(mean: float | None, se: float | None) -> float | None:
    return None if mean is None or se is None else spread(mean, se)


def text(one: PruningFacts) -> str:
    """Write the section for the terminal."""
    one = PruningFacts.read(one)
    return "\n".join(_table(one.measure, path) for path in one.paths)


def html(one: PruningFacts) -> str:
    """Write the section for the page."""
    one = PruningFacts.read(one)
    said = (
        f"Leaves and training error are those of the tree on all development rows, cut at each strength; {one.measure} with "
        "one standard error to each side is cross-validated. The least of these scores is the least of many."
    )
    figures = "".join(_figure(one.measure, path) for path in one.paths)
    more = f"<p class='soft'>{one.more} more paths are not shown.</p>" if one.more else ""
    return f"<p class='soft'>{escape(said)}</p>{figures}{more}"


def _groups(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Group candidates that differ in alpha alone, at least two in a group."""
    groups: dict[object, list[int]] = {}
    for i, candidate in enumerate(candidates):
        pruner = getattr(candidate.learner, "pruner", None)
        if pruner is not None and kind_of(pruner) == "cost_complexity":
            twin = replace(candidate.learner, pruner=replace(pruner, alpha=0.0))
            groups.setdefault((twin, candidate.preparers), []).append(i)
    return [members for members in groups.values() if len(members) > 1]


def _titles(firsts: Sequence[Candidate], numbers: bool) -> list[str]:
    """Titles of the paths: the entry, what R is, and the settings in which they differ."""
    own = [{name: word(value) for name, value in one.parameters.items() if name != "pruner.alpha"} for one in firsts]
    names = [name for name in dict.fromkeys(name for each in own for name in each) if len({each.get(name) for each in own}) > 1]
    telling = [settings({name: each[name] for name in names if name in each}) for each in own]
    return [
        f"{one.entry}{f' ({told})' if told else ''}, R by {'squared error' if numbers else one.learner.pruner.impurity}"
        for one, told in zip(firsts, telling)
    ]


def _cost(studied: SectionContext, members: Sequence[int]) -> Floats:
    cost: Floats = studied.selection.board.cost[members]
    return cost


def _path(studied: SectionContext, members: Sequence[int], title: str) -> StrengthPath:
    """One row per strength, ascending."""
    candidates = studied.selection.candidates
    members = sorted(members, key=lambda i: float(candidates[i].learner.pruner.alpha))
    learners = [candidates[i].learner for i in members]
    path = cast(TreePath, path_of(candidates[members[0]], studied.task, studied.seed))
    first, unpruned = learners[0], [replace(learners[0], pruner=Unpruned())]
    critical = critical_strengths(path, first)
    training, weight = path.training_error(learners), float(studied.task.row_weights.sum())
    board = _part(studied.selection.board, members)
    sizes = zip(learners, path.complexity(learners), training, board.mean, board.se)
    grown = TreeSize(leaves=int(path.complexity(unpruned)[0]), training=float(path.training_error(unpruned)[0]))
    steps = [
        PruningStep(
            alpha=float(max((step for step in critical if step <= learner.pruner.strength), default=0.0)),
            used=float(learner.pruner.alpha), leaves=int(leaves), training=float(wrong), mean=float(mean), se=float(se),
        )
        for learner, leaves, wrong, mean, se in sizes
    ]  # fmt: skip
    return StrengthPath(
        title=title, weight=None if studied.task.kind == "numbers" else weight, higher=board.higher_is_better, grown=grown,
        steps=steps, best=_choice(Best(), board), one_standard_error=_choice(OneStandardError(), board),
    )  # fmt: skip


def _part(board: Scoreboard, members: Sequence[int]) -> Scoreboard:
    """Keep some candidates of a scoreboard."""
    rows = list(members)
    return replace(
        board, ids=tuple(board.ids[i] for i in rows), folds=board.folds[rows], mean=board.mean[rows], se=board.se[rows],
        complexity=board.complexity[rows], unit=tuple(board.unit[i] for i in rows), eligible=board.eligible[rows],
    )  # fmt: skip


def _choice(rule: BaseRule, board: Scoreboard) -> int | None:
    """Return the step that the rule takes; None where it cannot."""
    try:
        return int(rule.choose(board))
    except ValueError:
        return None


def _rules_choosing(path: StrengthPath, step: int) -> str:
    chosen = {"best": path.best, "one_standard_error": path.one_standard_error}
    return ", ".join(rule for rule, at in chosen.items() if at == step)


def _table(measure: str, path: StrengthPath) -> str:
    """Write a path as text."""
    errors = "" if path.weight is None else f"{'errors':>12}  "
    head = f"{'alpha':>{ALPHA}}  {'leaves':>6}  {errors}{'training':>8}  {measure:>8}  {'se':>6}  chosen by"
    lines = [head, "-" * len(head), f"{'unpruned':>{ALPHA}}  {_size(path.grown, path.weight)}"]
    shown = _lines(path)
    for i, step in shown:
        scores = f"{score(step.mean):>8}  {score(step.se, step.mean):>6}  {_rules_choosing(path, i)}"
        lines.append(f"{_strength(step.alpha):>{ALPHA}}  {_size(step, path.weight, step.mean)}  {scores}".rstrip())
    left_out = len(path.steps) - len(shown)
    return "\n".join([path.title, *lines, *([f"{left_out} more strengths are not shown"] if left_out else [])]) + "\n"


def _strength(alpha: float) -> str:
    """Write a strength with four decimals, or five digits where it is large.

    >>> _strength(0.0125), _strength(6965.5405), _strength(1234567.8)
    ('0.0125', '6965.5', '1.2346e+06')
    """
    return f"{alpha:.4f}" if alpha < 1000 else f"{alpha:.5g}"


def _size(tree: TreeSize, weight: float | None, mean: float | None = None) -> str:
    """Write leaves, errors and training error; of numbers (no weight) their root mean squared error."""
    if weight is None:
        return f"{tree.leaves:6d}  {score(tree.training, mean):>8}"
    wrong = f"{tree.training * weight:,.6g} of {weight:,.6g}"
    return f"{tree.leaves:6d}  {wrong:>12}  {tree.training:8.4f}"


def _lines(path: StrengthPath) -> list[tuple[int, PruningStep]]:
    """Evenly taken steps of a long path, the chosen ones among them."""
    steps = list(enumerate(path.steps))
    kept = set(np.linspace(0, len(steps) - 1, min(LINES, len(steps))).astype(int).tolist())
    kept |= {path.best, path.one_standard_error}
    return [(i, step) for i, step in steps if i in kept]


def _figure(measure: str, path: StrengthPath) -> str:
    """Draw a path, with its table below."""
    return (
        f"<h3>{escape(path.title)}</h3><figure class='wide' tabindex='0'>{draw(measure, path)}</figure>"
        f"<details open><summary>As a table</summary><pre>{escape(_table(measure, path))}</pre></details>"
    )


def draw(measure: str, path: StrengthPath) -> str:
    """Steps side by side, from the largest tree to the root: score with its error, training error beneath."""
    steps = path.steps
    plot = Plot(WIDTH, HEIGHT, f"{measure} and training error along the pruning path")
    across = Scale(-0.5, len(steps) - 0.5, LEFT, WIDTH - RIGHT)
    scored = [(i, step.mean, step.se) for i, step in enumerate(steps) if is_known(step.mean)]
    ends = [mean + side * (se if is_known(se) else 0.0) for _, mean, se in scored for side in (-1, 1)]
    up = Scale.of([*ends, *(step.training for step in steps)], BOTTOM, TOP, log=False)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    _labels(plot, across, steps)
    _limit(plot, up, path)
    plot.path([(across(i), up(step.training)) for i, step in enumerate(steps)], "trend dashed")
    plot.marks([(across(i), up(step.training)) for i, step in enumerate(steps)], 4, "training")
    for i, mean, se in scored:
        if is_known(se):
            plot.line(across(i), up(mean - se), across(i), up(mean + se), "bar s0")
    plot.path([(across(i), up(mean)) for i, mean, _ in scored], "trend")
    plot.marks([(across(i), up(mean)) for i, mean, _ in scored], 0)
    _choices(plot, across, path)
    return plot.svg()


def _labels(plot: Plot, across: Scale, steps: Sequence[PruningStep]) -> None:
    """Label the strengths and sizes below the axis."""
    every = -(-len(steps) // 14)
    for i in range(0, len(steps), every):
        plot.text(across(i), BOTTOM + 18, _short(steps[i].alpha), "tick", "middle")
        plot.text(across(i), BOTTOM + 33, str(steps[i].leaves), "tick", "middle")
    plot.text(LEFT - 16, BOTTOM + 18, "α", "label", "end")
    plot.text(LEFT - 16, BOTTOM + 33, "leaves", "label", "end")
    said = "solid: cross-validated, bars one standard error; dashed: training error"
    plot.text((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 54, said, "label", "middle")


def _limit(plot: Plot, up: Scale, path: StrengthPath) -> None:
    """One standard error above the least score."""
    if path.best is None:
        return
    best, sign = path.steps[path.best], -1 if path.higher else 1
    if is_known(best.mean) and is_known(best.se):
        level = up(best.mean + sign * best.se)
        plot.line(LEFT, level, WIDTH - RIGHT, level, "guide")


def _choices(plot: Plot, across: Scale, path: StrengthPath) -> None:
    """Upright strokes at what the rules choose, with their names above."""
    for place, (step, names) in enumerate(_by_step(path).items()):
        plot.line(across(step), TOP - 6, across(step), BOTTOM, "guide")
        side = "end" if across(step) > WIDTH - 200 else "start" if across(step) < LEFT + 120 else "middle"
        plot.text(across(step), TOP - 12 - 14 * place, names, "strong", side)


def _by_step(path: StrengthPath) -> dict[int, str]:
    return {step: _rules_choosing(path, step) for step in (path.best, path.one_standard_error) if step is not None}


def _short(alpha: float) -> str:
    """Write a strength below the axis, where there is room for seven letters.

    >>> _short(0.0125), _short(17912.0), _short(2091234.0)
    ('0.0125', '17,900', '2.09e+06')
    """
    return label_of(float(f"{alpha:.3g}")) if alpha < MILLION else f"{alpha:.3g}"
