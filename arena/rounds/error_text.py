"""Texts of errors that may be shown and kept, whoever wrote the code that failed."""

import os

from agents.secrets import redact, secrets_in
from agents.text import one_line
from arena.errors import ArenaError
from markets.venue import VenueError


def error_text(error: BaseException) -> str:
    """Return what went wrong, on one line and without keys."""
    if isinstance(error, ArenaError | VenueError):
        return one_line(redact_keys(error.message))
    return one_line(redact_keys(unexpected_error_text(error)))


def unexpected_error_text(error: BaseException) -> str:
    """Return the class and the message of an error that was not expected.

    >>> unexpected_error_text(ZeroDivisionError("no such luck"))
    'ZeroDivisionError: no such luck'
    """
    return f"{type(error).__name__}: {error}"


def redact_keys(text: str) -> str:
    """Return a text without the secrets of this process's environment, and without what looks like a key."""
    return redact(text, secrets_in(os.environ))
