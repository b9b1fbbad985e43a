"""Knobs of an experiment: `experiment.NAME`, values that its file names once and its settings refer to (`${experiment.NAME}`).

They are data without a schema: the settings that refer to them check the value. What no setting refers to is unknown.
"""

import re
from collections.abc import Iterator, Mapping

from modelsel.config.suggest import near
from modelsel.core.errors import Problem

EXPERIMENT = "experiment"
_KNOB = re.compile(r"\$\{\s*experiment\.(\w+)\s*\}")


def unknown(settings: Mapping[str, object]) -> Iterator[Problem]:
    """Knobs that nothing refers to, in settings whose references have not been followed.

    >>> settings = {"experiment": {"scale": 1, "size": 2}, "dataset": {"scale": "${experiment.scale}"}}
    >>> [problem.what for problem in unknown(settings)]
    ["unknown setting 'size'"]
    """
    knobs = settings.get(EXPERIMENT)
    used = set(_KNOB.findall(repr({key: value for key, value in settings.items() if key != EXPERIMENT})))
    for name in knobs if isinstance(knobs, Mapping) else ():
        if name not in used:
            yield Problem("MSEL-203", f"unknown setting {name!r}", f"{EXPERIMENT}.{name}", near(str(name), used))
