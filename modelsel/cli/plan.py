"""`modelsel plan`: what a study would do and what it would cost. Fits few of the development rows, opens nothing.

It writes nothing but, with `--write FILE`, how the table is to be read.
"""

import shlex
import sys
from collections.abc import Sequence
from functools import partial

from modelsel.cli.application import application, take_verbose
from modelsel.cli.sweep import JobDone
from modelsel.config.compose import Config
from modelsel.core.errors import OK, ConfigurationError, Problem

WRITE = "--write"


def main(words: Sequence[str]) -> int:
    """Run `modelsel plan`: print the first screen of a plan, and all of it with `-v`."""
    shown, verbose = take_verbose(words)
    rest, path = _split_write(shown)
    show = partial(print_plan, verbose=verbose)
    if not path:
        return application("plan", rest, show, lambda sweep: OK)
    from modelsel.api.commands.settle import compose_surely

    found: list[Config] = []

    def keep(config: Config, _swept: bool) -> JobDone:
        found.append(config)
        return JobDone()

    code, reasons = compose_surely(lambda more: application("plan", [*rest, *more], keep, lambda sweep: OK))
    for config in found[:1]:  # of a sweep the first: its jobs are of one table
        said, settled = _write(config, path, shlex.join(["modelsel", "plan", *words]), reasons)
        show(settled, False)
        print(said)
    return code


def _write(config: Config, path: str, command: str, reasons: dict[str, str]) -> tuple[str, Config]:
    """Say all that is sure of a table, and write it; what was written, and the study as it is then."""
    from modelsel.api.commands.settle import settle, write_settings
    from modelsel.dataset.files import tell_progress

    with tell_progress(partial(print, file=sys.stderr)):
        settled = settle(config, reasons)
    said = write_settings(settled, path, command)
    if settled.error is not None:
        print(said)
        raise settled.error
    return said, settled.config


def _split_write(words: Sequence[str]) -> tuple[list[str], str]:
    """The words without `--write FILE`, and that file."""
    rest, path = list(words), ""
    for place, word in enumerate(words):
        if word == WRITE or word.startswith(f"{WRITE}="):
            given = word.partition("=")[2] if "=" in word else "".join(words[place + 1 : place + 2])
            path, rest = given, [*words[:place], *words[place + (1 if "=" in word else 2) :]]
    if path != "" or rest == list(words):
        return rest, path
    raise ConfigurationError(Problem("MSEL-251", f"{WRITE} needs a file", "`modelsel plan`", f"write {WRITE} t.yaml"))


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
