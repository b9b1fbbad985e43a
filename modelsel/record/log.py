"""study.log: what the study did and when, a line each, secrets left out."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from modelsel.record.folder import RunFolder
from modelsel.record.redact import RedactingFilter

LOGGER = logging.getLogger("modelsel")
FORM = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def logged(folder: RunFolder) -> Iterator[logging.Logger]:
    """Everything said to the logger `modelsel` in between also goes to the run's study.log; an error that ends it, too."""
    handler = logging.FileHandler(folder.log, encoding="utf-8")
    handler.setFormatter(logging.Formatter(FORM))
    handler.addFilter(RedactingFilter(folder.redactor))
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield LOGGER
    except BaseException as error:
        LOGGER.error("ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        handler.close()
