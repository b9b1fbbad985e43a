"""`modelsel plan`: what a study would do and what it would cost. Fits none of the rows, opens nothing.

It writes nothing but, in this machine's cache, how long the probe took.
"""

import sys
from collections.abc import Sequence
from functools import partial

from modelsel.cli.application import application, take_verbose
from modelsel.cli.sweep import JobDone
from modelsel.config.compose import Config
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel plan`: print the first screen of a plan, and all of it with `-v`."""
    rest, verbose = take_verbose(words)
    return application("plan", rest, partial(print_plan, verbose=verbose), lambda sweep: OK)


def print_plan(config: Config, swept: bool, verbose: bool = False) -> JobDone:
    """Print the plan of one study."""
    from modelsel.dataset.files import tell_progress
    from modelsel.reporting.forecast import forecast

    for note in config.notes:
        print(note, file=sys.stderr)
    with tell_progress(partial(print, file=sys.stderr)):
        found = forecast(config)
    if swept:
        print(f"\n{config.name}")
    print(found.text if verbose else found.screen)
    return JobDone()
