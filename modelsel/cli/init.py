"""`modelsel init [DIR]`: a small `conf/` for a project of one's own, searched before the package's by `--config-dir DIR`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from modelsel.cli.arguments import Arguments
from modelsel.core.errors import OK, ConfigurationError, Problem, StoreError

SCHEMAS = ".schema"  # the folder of what editors check files by; a name with a dot is no group
STARTER = {
    "dataset/mine.yaml": """\
# yaml-language-server: $schema=../.schema/dataset.json
# Your data: a CSV file with a header. `dataset=mine` takes this file; `modelsel plan` shows what it makes of the columns.
kind: csv
path: data/mine.csv      # relative to where the command is typed
target: class            # the column to predict
features: {}             # name: numeric | nominal | ordered | ignore; what is not named is inferred, and said
missing: ["", "?"]       # cells that count as missing; NA is a level unless it is listed
""",
    "space/mine.yaml": """\
# yaml-language-server: $schema=../.schema/space.json
# What may be chosen. `space=mine` takes this file. An entry is a learner (a name of conf/learner) and what to vary:
# choice(a, b), range(start, stop), or a YAML list; no limit is written none. A list of mappings is their union.
tree:
  learner: cart
  sweep:
    - {criterion: "choice(gini, entropy)", pruner: unpruned, max_depth: "choice(2, 4, 8, none)"}
    - {pruner: reduced_error, pruner.share: "choice(0.2, 0.3)"}
knn:
  learner: knn
  sweep: {k: "range(1, 22, 2)", vote: "choice(uniform, inverse)"}
naive_bayes:
  learner: naive_bayes
""",
    "experiment/first.yaml": """\
# @package _global_
# yaml-language-server: $schema=../.schema/experiment.json
# A frozen study: `experiment=first` sets all of this at once; what is typed after it still wins.
defaults:
  - override /dataset: mine
  - override /scheme: stratified_kfold
space: mine
scheme:
  folds: 10
split:
  test: 0.3              # sealed until the winner is chosen; the seed of the study does not move it
""",
}


def main(words: Sequence[str]) -> int:
    """Run `modelsel init`: write the starter files and print their paths."""
    parser = Arguments("init")
    parser.add_argument("folder", metavar="DIR", nargs="?", default="conf", help="default: conf")
    folder = Path(parser.parse_args(words).folder)
    for path in started(folder):
        print(path)
    print(f"next: put your data into {folder}/dataset/mine.yaml, then", file=sys.stderr)
    print(f"  modelsel plan --config-dir {folder} experiment=first", file=sys.stderr)
    return OK


def started(folder: Path) -> list[Path]:
    """Write the starter, and return its files. Raises ConfigurationError where some are there already."""
    if there := [name for name in STARTER if (folder / name).exists()]:
        raise ConfigurationError(
            Problem("MSEL-253", f"{', '.join(there)} is there already", str(folder), "nothing was written; name another folder")
        )
    try:
        for name, text in STARTER.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        _schemas(folder / SCHEMAS)
    except OSError as error:
        raise StoreError(
            Problem("MSEL-605", f"cannot be written ({error.strerror})", str(folder), "choose another folder")
        ) from error
    return [folder / name for name in STARTER]


def _schemas(folder: Path) -> None:
    """Write a JSON schema per group, by which editors complete and check the files of `conf/`."""
    from modelsel.manual.editor import schemas

    folder.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (folder / f"{name}.json").write_text(json.dumps(schema, indent=1) + "\n", "utf-8")
