"""`python -m benchmarks.experiments NAME [overrides]`: a published experiment, with what its findings are read off.

The study itself is `modelsel run experiment=NAME`; here it has shows that the package does not have. Any other words are a
command line of `modelsel` in which these shows are known: `run dataset=iris show=[gains,tree]`, `report RUN`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from modelsel.cli.dispatch import main
from modelsel.config.settings import SHOWS

FOLDER = Path(__file__).parents[2] / "conf" / "experiment"
OWN = {
    "concept": "benchmarks.experiments.concept",
    "gains": "benchmarks.experiments.gains",
    "soft_trees": "benchmarks.experiments.soft_trees",
    "tree": "benchmarks.experiments.final_tree",
}
SHOWN = {
    "balloons": "show=[gains,tree,concept]",
    "play_tennis": "show=[gains,tree,concept]",
    "soft_trees": "show=[soft_trees]",
}


def names() -> list[str]:
    """The published experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def command(words: Sequence[str]) -> list[str]:
    """The words of `modelsel` for an experiment; those of another command stay."""
    if words[0] not in names():
        return [*words]
    own = [SHOWN[words[0]]] if words[0] in SHOWN else []
    return ["run", f"experiment={words[0]}", *own, *words[1:]]


def run(words: Sequence[str]) -> int:
    """Run an experiment, or another command."""
    SHOWS.update(OWN)
    return main(command(words))


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(f"{__doc__}\nExperiments: {', '.join(names())}")
    sys.exit(run(sys.argv[1:]))
