"""Softened trees on the page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from modelsel.reporting.experiments.softening import tables
from modelsel.reporting.experiments.softening.drawn import key, scatter, sizes

TAGS = {"reproduced": "winner-tag", "in part": "medium", "not reproduced": "high"}


def html(one: Mapping[str, Any]) -> str:
    """Write the section for the page."""
    return "".join(_parts(one))


def _parts(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield its parts: findings, tables, charts, choices."""
    yield f"<p>{escape(' '.join(tables.said(one)))}</p>"
    yield f"<h3>Fourteen published findings</h3>{''.join(map(_finding, one['findings']))}"
    yield f"<h3>Sizes and areas of the hard trees</h3>{_table(tables.overview(one))}"
    for kind in one["kinds"]:
        yield f"<h3>{escape(tables.NAMES[kind])}: per training set</h3>{_table(tables.per_set(one, kind))}"
        yield f"<h3>{escape(tables.NAMES[kind])}: what each softening does</h3>{_table(tables.methods(one, kind))}"
        yield f"<h3>{escape(tables.NAMES[kind])}: area against size</h3>{_sizes(one['kinds'][kind])}"
    yield f"<h3>Best hard tree against best softened tree, per training set</h3>{_scatter(one['kinds'])}"
    if one["choices"]:
        yield f"<h3>The paper’s choice beside an honest one</h3><p>{escape(tables.price_of_peeking(one))}</p>"
        yield _table(tables.choices(one))


def _finding(each: Mapping[str, Any]) -> str:
    """Write a finding with its verdict."""
    tag = TAGS.get(each["verdict"], "info")
    return (
        f"<div class='finding'><div><span class='tag {tag}'>{escape(each['verdict'])}</span></div><div><p>({each['number']}) "
        f"{escape(each['sentence'])}</p><p class='soft'>{escape(each['figures'])}</p></div></div>"
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th{' class=n' if j else ''}>{escape(cell)}</th>" for j, cell in enumerate(rows[0]))
    body = "".join(_row(row) for row in rows[1:])
    return f"<div class='scroll' tabindex='0'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _row(row: Sequence[str]) -> str:
    soft = " class='soft'" if row[0] == "published" else ""
    cells = "".join(f"<td{' class=n' if j else ''}>{escape(cell)}</td>" for j, cell in enumerate(row))
    return f"<tr{soft}>{cells}</tr>"


def _scatter(kinds: Mapping[str, Any]) -> str:
    """Draw best hard against best softened trees."""
    drawn = {name: kind for name, kind in kinds.items() if all(each["soft"] is not None for each in kind["best"])}
    if not drawn:
        return "<p class='soft'>No softening was asked for.</p>"
    keys = "".join(
        key(series, escape(f"{tables.NAMES[name]}, softened by {kind['softened_by']}"))
        for series, (name, kind) in enumerate(drawn.items())
    )
    return f"<div class='keys'>{keys}</div><figure class='panel' style='max-width:34rem'>{scatter(drawn)}</figure>"


def _sizes(kind: Mapping[str, Any]) -> str:
    names = [name for name in ("hard", "DR(1)", "auc") if all(tree[name] is not None for tree in kind["each"])]
    keys = "".join(key(series, escape(name)) for series, name in enumerate(names))
    return f"<div class='keys'>{keys}</div><figure class='wide' tabindex='0'>{sizes(kind['each'])}</figure>"
