"""Faults of the record during a call, raised past the agent's own error handling."""

from collections.abc import Iterator
from contextlib import contextmanager

from arena.errors import ArenaError

UNAVAILABLE_CODES = frozenset({"unreachable", "locked", "disk_full", "disk_error", "read_only"})
"""Errors of a database that can't be reached or written to just now, which may pass."""


class NotKept(BaseException):  # no agent's `except Exception` may hide it
    """The record has failed and may not store an answer, so no more calls may be made."""

    def __init__(self, fault: Exception):
        super().__init__(str(fault))
        self.fault = fault


@contextmanager
def raise_past_agent() -> Iterator[None]:
    """Raise every error of the block as `NotKept`, past the agent that asked."""
    try:
        yield
    except Exception as error:
        raise NotKept(error) from error


def is_unavailable(error: Exception) -> bool:
    """Tell whether an error says that the database is unavailable and may come back."""
    return isinstance(error, ArenaError) and error.code in UNAVAILABLE_CODES
