"""Tables made by rule in the likeness of published ones: their columns, levels, classes and gaps, and none of their rows.

`figures/likenesses.json` has the description of each with its origin.
"""

import csv
import json
import random
from pathlib import Path

from modelsel.dataset.tic_tac_toe import TicTacToe

DESCRIBED = json.loads((Path(__file__).parent / "figures" / "likenesses.json").read_text("utf-8"))
LEANING = 0.9  # chance that one of the first columns says the class
TELLING = 12


def write(name: str, folder: Path) -> Path:
    """Write the table into a folder; the same whenever it is made."""
    path = folder / f"{name}.csv"
    rows = _boards() if name == "tic_tac_toe" else _alike(name)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)
    return path


def _boards() -> list[list[str]]:
    """Endgames of tic-tac-toe, which are all there is of that table."""
    task = TicTacToe().read()
    columns = [[feature.levels[int(code)] for code in cells] for feature, cells in zip(task.features, task.values.T)]
    columns.append([task.classes[label] for label in task.target])
    return [[*(feature.name for feature in task.features), "Class"], *map(list, zip(*columns, strict=True))]


def _alike(name: str) -> list[list[str]]:
    """Head and rows of a table with the described columns, classes and gaps."""
    said, chance = DESCRIBED[name], random.Random(name)
    labels = [label for label, count in said["class_counts"].items() for _ in range(count)]
    chance.shuffle(labels)
    place = {label: code for code, label in enumerate(said["class_counts"])}
    columns = []
    for number, column in enumerate(said["columns"]):
        if column["name"] == said["target"]:
            columns.append(labels)
            continue
        cells = [_cell(column, place[label], number, chance) for label in labels]
        for gap in chance.sample(range(len(cells)), column["missing"]):
            cells[gap] = "?"
        columns.append(cells)
    return [[one["name"] for one in said["columns"]], *map(list, zip(*columns, strict=True))]


def _cell(column: dict, label: int, number: int, chance: random.Random) -> str:
    """A level or a number; in the first columns it mostly leans on the class, each in its own way."""
    telling = number < TELLING and chance.random() < LEANING
    if column["type"] != "nominal":
        return f"{chance.gauss(label * (number + 1) if telling else 0.0, 1.0):.3f}"
    levels = column["values"]
    return levels[label // len(levels) ** (number % 4) % len(levels)] if telling else chance.choice(levels)
