"""`modelsel plan`: what a study would do and what it would cost. Fits none of the rows, opens nothing.

It writes nothing but, in this machine's cache, how long the probe took.
"""

import sys
from collections.abc import Sequence
from functools import partial

from modelsel.cli.application import application
from modelsel.cli.sweep import JobDone
from modelsel.config.compose import Config
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel plan`: print the cells and their cost."""
    return application("plan", words, print_plan, lambda sweep: OK)


def print_plan(config: Config, swept: bool) -> JobDone:
    """Print the plan of one study."""
    from modelsel.dataset.files import tell_progress
    from modelsel.reporting.forecast import forecast

    for note in config.notes:
        print(note, file=sys.stderr)
    with tell_progress(partial(print, file=sys.stderr)):
        found = forecast(config)
    if swept:
        print(f"\n{config.name}")
    print(found.text)
    return JobDone()
