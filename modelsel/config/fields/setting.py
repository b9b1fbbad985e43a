"""One override of a learner's setting, as typed: `pruner.confidence=0.1` to its dotted name and its value."""

from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from modelsel.core.errors import ConfigurationError, Problem


def setting(override: str) -> tuple[str, Any]:
    """Name and value, read by Hydra's parser; ConfigurationError when it is no `name=value`.

    >>> setting("pruner.confidence=0.1")
    ('pruner.confidence', 0.1)
    """
    try:
        parsed = OverridesParser.create().parse_override(override)
        if parsed.is_sweep_override() or parsed.is_delete():
            raise ValueError("one value is due")
        return str(parsed.key_or_group), parsed.value()
    except (HydraException, ValueError) as error:
        fix = "write name=value, for example pruner.confidence=0.1"
        raise ConfigurationError(Problem("MSEL-209", f"{override!r} cannot be read", "overrides", fix)) from error
