"""A password that is typed goes into the environment at once; everything after that sees a reference to it.

`tracking.uri=postgresql://me:pa55@db/x` becomes `tracking.uri=${oc.env:MODELSEL_TRACKING_URI}`, so that neither Hydra's notes
of a sweep, nor config.yaml, nor a message holds it. Worker processes inherit the variable.
"""

import os
import re
from collections.abc import MutableMapping

from modelsel.config.sources.references import SECRET_PLACES

_PASSWORD = re.compile(r"[a-zA-Z][\w+.-]*://[^\s/@'\"]*:[^\s/@'\"]+@")


def holds_secret(value: str) -> bool:
    """True for an address with a password in it.

    >>> holds_secret("postgresql://me:pa55@db/x"), holds_secret("http://host:5000")
    (True, False)
    """
    return _PASSWORD.search(value) is not None


def variable(key: str) -> str:
    """Return the environment variable of a setting.

    >>> variable("tracking.uri")
    'MODELSEL_TRACKING_URI'
    """
    return f"MODELSEL_{re.sub(r'[^A-Za-z0-9]+', '_', key).upper()}"


def reference(key: str, value: str, environment: MutableMapping[str, str] | None = None) -> str | None:
    """Put a secret value into the environment and return what stands for it; None where there is no secret."""
    if key not in SECRET_PLACES or not holds_secret(value):
        return None
    (os.environ if environment is None else environment)[variable(key)] = value
    return f"${{oc.env:{variable(key)}}}"
