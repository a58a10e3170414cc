"""Texts of errors that may be shown and stored, even if the failing code is not our own."""

import os
from pathlib import Path

from agents.secrets import redact, secrets_in
from agents.text import one_line
from arena.errors import ArenaError
from markets.registry import EXTENSION
from markets.venue import VenueError

LIBRARY_WORDS = {"ConnectorException": "the database of the queue can't be reached"}
"""What has happened, by the class of a library's error that does not say so."""

OUR_PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")


def error_text(error: BaseException) -> str:
    """Return the message of an error on one line, without keys."""
    if isinstance(error, ArenaError | VenueError):
        return one_line(redact_keys(error.message))
    return one_line(redact_keys(unexpected_error_text(error)))


def unexpected_error_text(error: BaseException) -> str:
    """Return the class and the message of an error that was not expected.

    A library may wrap the error that it met in one that says nothing: then the first one's text follows. Our
    own errors say what they mean without their class.

    >>> unexpected_error_text(ZeroDivisionError("no such luck"))
    'ZeroDivisionError: no such luck'
    """
    class_name = type(error).__name__
    cause = first_cause(error)
    if class_name in LIBRARY_WORDS:
        return f"{LIBRARY_WORDS[class_name]} ({type(cause).__name__}: {cause})"

    package = type(error).__module__.partition(".")[0]
    if package in OUR_PACKAGES and str(error):
        return str(error)

    text = f"{class_name}: {error}"
    if cause is not error and str(cause) not in text:
        text += f" ({type(cause).__name__}: {cause})"
    return text


def code_place(error: BaseException) -> str:
    """Return the last file and line from beside the config that an error came through; empty without one.

    It is to be put in front of a message, such as `mine.py:14: `.
    """
    place = ""
    trace = error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith(EXTENSION):
            place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return place


def first_cause(error: BaseException) -> BaseException:
    """Return the first error in a chain of causes, which may be the error itself."""
    seen = [error]
    while error.__cause__ is not None and error.__cause__ not in seen:  # a chain may be a circle
        error = error.__cause__
        seen.append(error)
    return error


def type_text(error: BaseException) -> str:
    """Return the class names of an error and of its first cause, without messages.

    >>> type_text(ZeroDivisionError("anything"))
    'ZeroDivisionError'
    """
    cause = first_cause(error)
    class_name = type(error).__name__
    if class_name in LIBRARY_WORDS:
        return f"{LIBRARY_WORDS[class_name]} ({type(cause).__name__})"
    if cause is error:
        return class_name
    return f"{class_name} by {type(cause).__name__}"


def redact_keys(text: str) -> str:
    """Return a text without secrets of this process's environment or anything that looks like a key."""
    return redact(text, secrets_in(os.environ))
