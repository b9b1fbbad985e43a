"""The page: whole, small, without network, in the agreed order, and safe with any name."""

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pytest

from modelsel.record.redact import Redactor
from modelsel.reporting import page

ORDER = [
    "verdict",
    "findings",
    "leaderboard",
    "folds",
    "slices",
    "pairs",
    "model",
    "data",
    "looks",
    "again",
    "bounds",
    "limits",
]
VOID = {"meta", "br", "input", "link", "img", "hr", "path", "line", "rect", "circle"}


class Checker(HTMLParser):
    """Every element is closed in order; ids are unique; what is linked to is there."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.text, self.loads = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.loads += [values[name] for name in ("src", "srcset", "action", "data") if name in values]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    assert checker.loads == []
    return checker


@pytest.mark.parametrize("state", ["finished", "untested", "refused", "replayed"])
def test_the_sections_stand_in_the_agreed_order(state, small, recorded):
    study = small.finished() if state == "finished" else getattr(small, state)(small.finished())
    html = page.render(recorded(study))
    checked(html)
    assert re.findall(r'<section id="(\w+)"', html) == ORDER


def test_the_page_fetches_nothing_and_needs_no_script(small, recorded):
    html = page.render(recorded(small.finished()))
    for word in ("http://", "https://", "@import", "url(", "localStorage", "fetch(", "XMLHttp", "cookie"):
        assert word not in html.replace('xmlns="http://www.w3.org/2000/svg"', ""), word
    without = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert "0.1500" in without
    assert "cart" in without


def test_a_real_study_is_small_and_whole(finished, recorded):
    html = page.render(recorded(finished))
    checker = checked(html)
    assert len(html.encode()) < 150_000
    text = " ".join(checker.text)
    assert "1st look" in text
    assert "area 0.9" in text
    assert html.count("<svg") >= 8


def _apart(se: str, turn: int) -> str:
    """Another standard error, so that the row ties with none of its copies."""
    return str(float(se) + turn * 1e-6) if se else se


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [1_000, 12_000])
def test_a_thousand_candidates_stay_below_a_megabyte_and_more_do_too(wanted, finished, recorded):
    selection = finished.selection
    times = wanted // len(selection.candidates) + 1
    folder = recorded(finished)
    with (folder.path / "candidates.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))

    def copy(line: dict[str, str], turn: int) -> dict[str, str]:
        return {**line, "id": f"{turn:08x}{line['id'][8:]}", "se": _apart(line["se"], turn)} if turn else line

    many = [copy(line, turn) for turn in range(times) for line in lines]
    assert len(many) >= wanted
    text = StringIO(newline="")
    table = csv.DictWriter(text, list(lines[0]))
    table.writeheader()
    table.writerows(many)
    folder._write("candidates.csv", text.getvalue())  # with its sum, as the study writes it
    assert len(selection.candidates) * times == len(folder.candidates())
    html = page.render(folder)
    checked(html)
    assert len(html.encode()) < 1_000_000
    assert html.count("<tr class=") >= min(wanted, 1000)
    assert ("more rows are in candidates.csv" in html) == (len(many) > 1000)


HOSTILE = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(1)>{{ 7*7 }}&amp;"


def test_names_cannot_write_on_the_page(small, recorded):
    study = small.finished()
    task = replace(study.task, name=HOSTILE, classes=(HOSTILE, "b"),
                   features=tuple(replace(f, name=f"{HOSTILE}{i}") for i, f in enumerate(study.task.features)))  # fmt: skip
    outcome = study.outcome.but(task={**study.outcome.task, "name": HOSTILE, "classes": [HOSTILE, "b"]}, study=HOSTILE,
                      findings=({"code": HOSTILE, "severity": "low", "message": HOSTILE, "do": HOSTILE},),
                      failures=({"id": study.outcome.failures[0]["id"], "status": "error", "reason": HOSTILE},))  # fmt: skip
    selection = replace(study.selection, reasons=("", "", "", HOSTILE))
    html = page.render(recorded(replace(study, task=task, outcome=outcome, selection=selection, command=(HOSTILE,))))
    checker = checked(html)
    assert html.count("<script") == 1
    assert "<img" not in html
    assert HOSTILE in "".join(checker.text)


def test_secrets_are_not_on_the_page(small, recorded):
    folder = recorded(replace(small.finished(), command=("modelsel", "run", "x=canary-77")))
    assert "canary-77" in page.render(folder)
    assert "canary-77" not in page.render(replace(folder, redactor=Redactor(("canary-77",))))


def test_the_page_is_a_function_of_the_record(finished, recorded):
    folder = recorded(finished)
    first = page.write(folder).read_bytes()
    assert page.write(folder).read_bytes() == first


def test_the_nested_estimate_stands_beside_the_corrected_one(small, recorded):
    nested = {"mean": 0.1711, "low": 0.1, "high": 0.2, "label": "approximate", "agreement": 0.5, "scores": [0.1, 0.2]}
    study = small.finished()
    folder = recorded(replace(study, outcome=study.outcome.but(nested=nested)))
    assert "0.1711" in page.render(folder)
    assert "0.1711" not in page.render(recorded(study))


def test_more_classes_than_a_matrix_holds_are_listed(small, recorded):
    study = small.finished()
    names = [f"class {i}" for i in range(40)]
    outcome = study.outcome.but(task={**study.outcome.task, "classes": names})
    html = page.render(recorded(replace(study, outcome=outcome)))
    checked(html)
    assert 'class="matrix"' not in html


def test_why_there_is_no_training_error_is_said_where_it_is_missing(small, recorded):
    study = small.finished()
    assert "No training error: k-NN would search" in page.render(recorded(study))
    known = replace(study.selection, means={"training_error": np.array([0.1, 0.0, 0.1, np.nan])})
    assert "No training error" not in page.render(recorded(replace(study, selection=known)))
