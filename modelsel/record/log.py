"""study.log: what the study did and when, a line each, secrets left out."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from modelsel.record.folder import RunFolder
from modelsel.record.redact import RedactingFilter

LOGGER = logging.getLogger("modelsel")  # what people should hear: warnings
STUDY = logging.getLogger("modelsel.study")  # what goes to study.log alone
FORM = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def log_study(folder: RunFolder) -> Iterator[logging.Logger]:
    """A logger for the run's study.log, which also gets every warning of modelsel and the error that ends the study.

    Warnings are heard as before: by whatever handlers a person has set up, else on stderr.
    """
    handler = logging.FileHandler(folder.log, encoding="utf-8")
    handler.setFormatter(logging.Formatter(FORM))
    handler.addFilter(RedactingFilter(folder.redactor))
    heard = [] if LOGGER.hasHandlers() or logging.lastResort is None else [logging.lastResort]
    STUDY.propagate = False
    STUDY.setLevel(logging.INFO)
    with _attach(LOGGER, handler, *heard), _attach(STUDY, handler):
        try:
            yield STUDY
        except BaseException as error:
            STUDY.error("ended by %s: %s", type(error).__name__, error)
            raise
        finally:
            handler.close()


@contextmanager
def _attach(logger: logging.Logger, *handlers: logging.Handler) -> Iterator[None]:
    """Attach handlers to a logger for a while."""
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
