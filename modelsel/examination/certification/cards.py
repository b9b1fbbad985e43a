"""The claims of a certificate as cards that other systems read: CycloneDX 1.6 (model card) and Hugging Face (README.md)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def cards(kind: str, name: str, claims: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """`card.cdx.json` and `README.md`, by name."""
    lines = [*_lines(claims)]
    return {
        "card.cdx.json": json.dumps(_cyclonedx(name, lines), indent=1, ensure_ascii=False).encode(),
        "README.md": _hugging_face(kind, name, lines).encode(),
    }


def _lines(claims: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A line per number that was shown."""
    for claim in claims:
        if claim.get("answers") is not None:
            for one in (one for one in claim["answers"] if one["score"] is not None):
                yield {
                    "who": one["name"][:12],
                    "metric": "score at the close",
                    **one,
                    "delta": claim["delta"],
                    "look": claim["look"],
                }
        elif claim.get("score") is not None:
            yield {"who": claim.get("asker", ""), **claim}


def _cyclonedx(name: str, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write the claims as a CycloneDX model card."""
    metrics = []
    for line in lines:
        metric: dict[str, Any] = {"type": line["metric"], "value": f"{line['score']:.6g}", "slice": _slice(line)}
        if line["interval"]:
            low, high = line["interval"]
            metric["confidenceInterval"] = {"lowerBound": f"{low:.6f}", "upperBound": f"{high:.6f}"}
        metrics.append(metric)
    card = {"quantitativeAnalysis": {"performanceMetrics": metrics}}
    component = {"type": "machine-learning-model", "name": name, "bom-ref": "model", "modelCard": card}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
            "version": 1, "components": [component]}  # fmt: skip


def _slice(line: Mapping[str, Any]) -> str:
    return f"sealed test rows, look {line['look']}" + (f", {line['who']}" if line["who"] else "")


def _hugging_face(kind: str, name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """Metadata (YAML that is JSON, which YAML allows) and a table."""
    metrics = [
        {"type": line["metric"], "name": f"{line['metric']} ({_slice(line)})", "value": line["score"],
         **({"args": {"interval": list(line["interval"]), "level": 1 - line["delta"]}} if line["interval"] else {})}
        for line in lines
    ]  # fmt: skip
    result = {
        "task": {"type": "tabular-classification"},
        "dataset": {"name": name, "type": name, "split": "test"},
        "metrics": metrics,
    }
    metadata = {"tags": ["modelsel"], "model-index": [{"name": name, "results": [result]}]}
    rows = "".join(
        f"| {_cell(line['who'] or name)} | {line['metric']} | {line['score']:.6g} | {_limits(line)} |\n" for line in lines
    )
    head = f"# {_cell(name)}\n\nScores of a sealed test set ({kind}), with intervals that hold after all looks on record.\n\n"
    table = f"| of | measure | score | interval |\n|---|---|---|---|\n{rows}"
    return f"---\n{json.dumps(metadata, indent=1)}\n---\n\n{head}{table}\nCheck them: `modelsel verify certificate.zip`.\n"


def _limits(line: Mapping[str, Any]) -> str:
    return f"[{line['interval'][0]:.4f}, {line['interval'][1]:.4f}] ({1 - line['delta']:.0%})" if line["interval"] else "none"


def _cell(text: str) -> str:
    return "".join(" " if sign in "|\n\r<>`" else sign for sign in text)
