"""Why a call brought no answer: what providers and libraries raise, told apart.

Errors are known by the names of their classes and by their HTTP status, so that no client
library has to be imported for it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from agents.model import CallError, ErrorCode
from agents.redact import redacted
from agents.text import one_line

MOST_WORDS = 500
MOST_READ = 20_000
_NO_KEY = re.compile(
    r"(?i)missing credentials|api_key client option must be set|no api key|missing .{0,40}api[ _-]?key"
    r"|api[ _-]?key .{0,40}(?:missing|not set|not found|required)"
)
_UNREACHED = re.compile(
    r"(?i)connection error|cannot connect|connection refused|connection reset|server disconnected"
)
_TOO_LONG = re.compile(r"(?i)context[ _](?:length|window)|maximum context|prompt is too long|too many tokens")
_FILTERED = re.compile(r"(?i)content[ _](?:filter|policy|management)")
_GARBLED = re.compile(
    r"(?i)expecting (?:value|property name|'.' delimiter)|unterminated string|extra data|codec can't decode"
    r"|invalid response|jsondecodeerror"
)
_NEVER_ARRIVED = ("ClientConnectorError", "ConnectionRefusedError", "ConnectTimeout")
_NAMED: dict[str, tuple[ErrorCode, bool]] = {
    "ContextWindowExceededError": ("too_long", False),
    "ContentPolicyViolationError": ("filtered", False),
    "Timeout": ("timeout", True),
    "TimeoutError": ("timeout", True),
    "RateLimitError": ("rate_limit", True),
}


def fault(error: BaseException, secrets: Iterable[str] = ()) -> CallError:
    """The error as it is recorded: its code, its words without keys, and whether to try again.

    >>> fault(TimeoutError("no answer after 5 s"))
    CallError(code='timeout', message='no answer after 5 s', retry=True, wait=None)
    """
    said = str(error)[:MOST_READ].partition("Traceback (most recent call last)")[0] or type(error).__name__
    code, retry = _kind(error, said)
    wait = _wait(error) if retry else None
    return CallError(code, one_line(redacted(said, secrets), MOST_WORDS), retry, wait)


def is_free(error: BaseException, code: ErrorCode) -> bool:
    """Whether nobody can have charged for a call: it was turned down, or never arrived.

    What was answered into the void, or can't be read, may have been paid for all the same.
    """
    return code not in ("timeout", "other") or any(
        type(cause).__name__ in _NEVER_ARRIVED for cause in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


def _wait(error: BaseException) -> float | None:
    """For how many seconds the provider asks to be left alone, by its Retry-After."""
    for headers in _headers(error):
        said = headers.get("retry-after")
        if isinstance(said, str) and said.strip():
            return _seconds(said.strip(), headers.get("date"))
    return None


def _headers(error: BaseException) -> Iterator[Mapping[str, Any]]:
    """The headers of the answer that an error was made from, wherever its client keeps them."""
    response = getattr(error, "response", None)
    for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
        if isinstance(headers, Mapping):
            yield {str(name).lower(): value for name, value in headers.items()}


def _seconds(said: str, date: object) -> float | None:
    """Seconds as they stand, or from the server's own clock to the moment that it names."""
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", said):
        return float(said)
    try:
        until, now = parsedate_to_datetime(said), parsedate_to_datetime(str(date))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):  # neither form, or one moment with a zone and one without
        return None


def _kind(error: BaseException, said: str) -> tuple[ErrorCode, bool]:
    for name in (cls.__name__ for cls in type(error).__mro__):
        if name in _NAMED:
            return _NAMED[name]
    if _NO_KEY.search(said):
        return "no_key", False
    if _UNREACHED.search(said) or _GARBLED.search(said):
        return "other", True
    status = getattr(error, "status_code", None)
    return _by_status(status, said) if isinstance(status, int) else ("other", False)


def _by_status(status: int, said: str) -> tuple[ErrorCode, bool]:
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 413 or (status == 400 and _TOO_LONG.search(said)):
        return "too_long", False
    if 400 <= status < 500:
        return ("filtered" if _FILTERED.search(said) else "refused"), False
    return ("overloaded", True) if status >= 500 else ("other", True)
