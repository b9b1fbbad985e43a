"""The page of an exam: its terms, the board, how to ask. No script, nothing from elsewhere; every text is escaped."""

from collections.abc import Iterator
from html import escape
from typing import Any

from modelsel.examination.server.service import ExamService

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "body{color:CanvasText;background:Canvas}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}td,th{border-bottom:1px solid #8886;padding:.35rem .6rem;"
    "text-align:left;vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.i{white-space:nowrap;font-variant-numeric:tabular-nums}"
    ":root{color-scheme:light dark}h2{margin-top:2.2rem}pre{background:#8882;padding:.8rem;overflow-x:auto;border-radius:4px}"
    ".scroll{overflow-x:auto}.quiet{opacity:.75}"
)
SHOWN = {
    "full": "the exact number of errors, with an interval",
    "grid": "the score rounded to a step, with an interval",
    "predicted": "the exact number of errors, with an interval; an answer that its forecast foresaw costs little",
    "ladder": "a board that moves only for an answer that is better by a step",
    "better": "one bit: better than the best so far by a step, or not; scores at the close",
    "passfail": "whether the error rate meets the target",
    "closed": "nothing before the exam is closed",
    "thresholdout": "your error on the development rows, unless the questions say otherwise; no interval",
}


def page(service: ExamService, address: str) -> str:
    """The whole page, as it stands now."""
    terms, state, lines = service.terms, service.state(), service.board()
    title = escape(terms["name"])
    body = "".join((_terms(terms, state), _board(lines, state["state"]), _asking(terms, address)))
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'><title>{title}</title>"
    return (
        f"<!doctype html><html lang='en'><head>{head}<style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )


def _terms(terms: Any, state: Any) -> str:
    """Write the terms of the exam as a table of HTML."""
    limits, policy = terms["per_asker"], terms["policy"]
    looks = "no limit" if limits["looks"] is None else f"{limits['looks']}"
    nats = "" if limits["nats"] is None else f", and {limits['nats']:g} nats"
    facts = [
        ("state", state["state"]), ("questions", f"{terms['rows']['questions']:,}"),
        ("development rows", f"{terms['rows']['development']:,}"), ("to predict", terms["columns"]["target"]),
        ("classes", ", ".join(terms["classes"])), ("measure", terms["measure"]["kind"]),
        ("shown", SHOWN[policy["release"]]), ("answers per asker", looks + nats),
        ("anything shown is wrong", f"with probability {policy['delta']:g} at most: intervals {policy['intervals']:g}, "
                                    f"verdicts {policy['verdicts']:g}"),
        ("so far", f"{state['answers']} answers, {state['spent']:.2f} nats spent by all askers together"),
    ]  # fmt: skip
    if state["next"]:
        facts.append(("the next interval", f"at most ±{state['next']['half']:.3f} wide, whoever asks"))
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in facts)
    notes = "".join(f"<p class='quiet'>{escape(note[:1].upper() + note[1:])}.</p>" for note in terms["notes"])
    return f"<h2>Terms</h2><div class='scroll'><table>{rows}</table></div>{notes}"


def _board(lines: Any, state: str) -> str:
    """Write the board as a table of HTML."""
    if not lines:
        return "<h2>Board</h2><p>Nobody has handed in an answer.</p>"
    head = "<tr><th class='n'>#</th><th>asker</th><th class='n'>score</th><th>interval</th><th>beside the line above</th></tr>"
    rows = "".join(_line(place, line) for place, line in enumerate(lines, 1))
    why = (
        "Verdicts are of paired tests." if state == "closed" else "Only released intervals are compared while the exam is open."
    )
    return f"<h2>Board</h2><div class='scroll'><table>{head}{rows}</table></div><p class='quiet'>{why}</p>"


def _line(place: int, line: Any) -> str:
    """Write one line of the board."""
    limits = f"[{line['interval'][0]:.4f}, {line['interval'][1]:.4f}]" if line["interval"] else ""
    score = f"{line['score']:.4f}" if line["score"] is not None else line["said"]
    beside = {None: "", "fewer errors": "the line above is better"}.get(line["beside"], line["beside"])
    cells = [("n", str(place)), ("", line["asker"]), ("n", score), ("i", limits), ("", beside)]
    return "<tr>" + "".join(f"<td class='{kind}'>{escape(str(text))}</td>" for kind, text in cells) + "</tr>"


def _asking(terms: Any, address: str) -> str:
    return "<h2>How to ask</h2>" + "".join(
        f"<p>{escape(said)}</p><pre>{escape(code)}</pre>" for said, code in _ways(terms, address.rstrip("/"))
    )


def _ways(terms: Any, address: str) -> Iterator[tuple[str, str]]:
    """Yield each way of handing in an answer, with an example."""
    token, target = terms["columns"]["token"], terms["columns"]["target"]
    said = "Ask the examiner for a token. Predict the questions, and hand in a CSV file with a line per question:"
    yield said, f"{token},prediction\n…,{terms['classes'][0]}"
    sent = f'curl -H "Authorization: Bearer $TOKEN" \\\n  --data-binary @answer.csv \\\n  {address}/answers'
    yield "By the command line:", f"curl -O {address}/questions\n{sent}"
    asked = f"exam = modelsel.exam({address!r}, token=token)\nlearn(exam.development, {target!r})\n"
    yield "In Python:", f"import modelsel\n\n{asked}exam.answer(predict(exam.questions), name='mine')"
    yield "As an agent, by the Model Context Protocol (with the token as bearer):", f"{address}/mcp"
