"""The first page is short: verdict, what to worry about, leaderboard; the rest is folded, and everything is in the contents."""

import re
from dataclasses import replace

from modelsel.reporting import page

FIRST = ["verdict", "findings", "leaderboard"]


def test_all_but_the_first_three_sections_are_folded_and_in_the_contents(small, recorded):
    html = page.render(recorded(small.finished()))
    sections = re.findall(r'<section id="(\w+)"( class="folded"><details>)?', html)
    assert [name for name, folded in sections if not folded] == FIRST
    contents = html[html.index("<nav") : html.index("</nav>")]
    assert re.findall(r'href="#(\w+)"', contents) == [name for name, _ in sections]


def test_low_findings_are_folded_and_grave_ones_stand(small, recorded):
    study = small.finished()
    low = {"code": "LOW", "severity": "low", "message": "a small thing", "do": ""}
    worried = replace(study, outcome=study.outcome.but(findings=(*study.outcome.findings, low)))
    html = page.render(recorded(worried))
    part = html[html.index('<section id="findings"') : html.index('<section id="leaderboard"')]
    first, folded = part.split("<details>")
    assert "3 of 5 test rows were looked at before" in first
    assert "a small thing" not in first
    assert "2 findings of low severity" in folded
    assert "a small thing" in folded


def test_beside_each_finding_stands_what_prints_its_page(small, recorded):
    html = page.render(recorded(small.finished()))
    part = html[html.index('<section id="findings"') : html.index('<section id="leaderboard"')]
    codes = [finding["code"] for finding in small.finished().outcome.findings]
    assert codes
    assert sorted(re.findall(r"<code>modelsel explain (\w+)</code>", part)) == sorted(codes)


def test_a_slice_that_stands_is_something_to_worry_about(small, recorded):
    line = {"slice": "width > 1", "rows": 20, "wrong": 15, "rate": 0.75, "low": 0.5, "high": 0.9, "p": 0.001, "adjusted": 0.002}
    explained = {"weak_slices": {"rows": 50, "wrong": 20, "slices": [line]}}
    html = page.render(recorded(replace(small.finished(), explained=explained)))
    assert "More errors where width &gt; 1: 75 %, and 40 % of all rows that tested it" in html
    doubtful = {"weak_slices": {"rows": 50, "wrong": 20, "slices": [{**line, "adjusted": 0.2}]}}
    assert "More errors where" not in page.render(recorded(replace(small.finished(), explained=doubtful)))


def test_printing_unfolds(small, recorded):
    html = page.render(recorded(small.finished()))
    assert "beforeprint" in html
    assert "details-content { content-visibility: visible" in html
