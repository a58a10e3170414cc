"""Errors of calls: why there is no answer, and which part of a question a server doesn't accept.

Errors are known by the names of their classes and by their HTTP status, so that no client library has to be
imported for it.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from agents.llm.waits import is_limit_of_a_day, retry_wait
from agents.model import CallError, ErrorCode
from agents.secrets import redact
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
_NO_CONNECTION = re.compile(r"(?:litellm\.)?InternalServerError: \w+ - Cannot connect to host ")
"""How the library begins its text on some providers where there was no connection: it drops the causes."""
_TOO_LONG = re.compile(r"(?i)context[ _](?:length|window)|maximum context|prompt is too long|too many tokens")
_FILTERED = re.compile(r"(?i)content[ _](?:filter|policy|management)|flagged|moderation")
_PAYMENT = re.compile(
    r"(?i)credit balance|insufficient[ _](?:credit|fund|balance)|payment[ _]required|out of credit|billing"
)
_QUOTA = re.compile(r"(?i)insufficient_quota|exceeded your current quota")
_A_MINUTE = re.compile(r"(?i)resource_exhausted|retrydelay|per ?minute|retry in")
"""Texts of a quota that soon refills: Google says of both that the current quota is exceeded."""
_GARBLED = re.compile(
    r"(?i)expecting (?:value|property name|'.' delimiter)|unterminated string|extra data|codec can't decode"
    r"|invalid response|jsondecodeerror|payload is not completed|midstream|stream ended before"
    r"|provider returned (?:'choices'|a response)"
)
_NO_MODEL = re.compile(
    r"(?i)model_not_found|no such model|not a valid model|model\b[^.]{0,80}(?:does not exist|not found)"
)
_FORM = re.compile(
    r"(?i)response_?(?:format|mime)|json[ _-]?(?:object|mode)|output_(?:format|config)|grammar|schema"
    r"|structured output|constrained|guided|outlines"
)
_LIBRARY_WORDS = re.compile(r"(?:(?:litellm\.)?\w*(?:Error|Exception)(?::| -) )+(?=.)")
"""How the library begins its texts: with the names of its classes, often several."""
_LIBRARY_REST = re.compile(r" ssl:(?:<[^>]*>|default|None)|\.? Handle with `litellm\.\w+`\.?")
"""What the library adds of itself: an object with its address, and its own class for callers to catch."""
_SEED = re.compile(r"(?i)\bseed\b")
_TOKENS_KEY = re.compile(r"(?i)max_completion_tokens")
_MISREAD = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Errors of reading what is no answer; the library makes up a status of 500 for them."""
_NEVER_ARRIVED = ("ClientConnectorError", "ConnectionRefusedError", "ConnectTimeout", "ConnectError")
_NAMED: dict[str, tuple[ErrorCode, bool]] = {
    "ContextWindowExceededError": ("too_long", False),
    "ContentPolicyViolationError": ("filtered", False),
    "Timeout": ("timeout", True),
    "TimeoutError": ("timeout", True),
    "TimeoutException": ("timeout", True),
    "TransportError": ("other", True),
    "RateLimitError": ("rate_limit", True),
}


def call_error(error: BaseException, secrets: Iterable[str] = ()) -> CallError:
    """Return the error as it is recorded: its code, its text without keys, and whether to try again."""
    without_trace = str(error)[:MOST_READ].partition("Traceback (most recent call last)")[0]
    text = without_trace or type(error).__name__
    code, retry = _error_code(error, text)
    if code == "other" and (_never_arrived(error) or _NO_CONNECTION.match(text)):
        code = "unreachable"

    wait = retry_wait(error, text) if retry else None
    if code == "rate_limit" and is_limit_of_a_day(text, wait):
        code = "quota"
        retry = False
        wait = None

    class_names = _LIBRARY_WORDS.match(text)
    if class_names is not None:
        text = text[class_names.end() :]
    text = _LIBRARY_REST.sub("", text)
    return CallError(code, one_line(redact(text, secrets), MOST_WORDS), retry, wait)


def is_uncharged(error: BaseException, code: ErrorCode) -> bool:
    """Return whether a call can't have been charged for: it was refused, or never arrived.

    An answer that was lost or can't be read may have to be paid for all the same.
    """
    return code not in ("timeout", "other") or _never_arrived(error)


def _never_arrived(error: BaseException) -> bool:
    """Return whether there was no connection; one that was reset had sent the question already."""
    causes = set[str]()
    for cause in _error_and_causes(error):
        causes.update(ancestor.__name__ for ancestor in type(cause).__mro__)
    return not causes.isdisjoint(_NEVER_ARRIVED) and "ConnectionResetError" not in causes


def _is_misread(error: BaseException) -> bool:
    """Return whether a server sent what can't be read, rather than an error."""
    causes = list(_error_and_causes(error))
    refused = any(type(cause).__name__ == "HTTPStatusError" for cause in causes)
    return not refused and any(isinstance(cause, _MISREAD) for cause in causes)


def _error_and_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that it was raised from."""
    yielded: list[BaseException] = []
    while error is not None and error not in yielded:
        yield error
        yielded.append(error)
        error = error.__cause__ or error.__context__


def http_status(error: BaseException, code: ErrorCode) -> int | None:
    """Return the status that a server answered with; None if none did, though the library makes one up."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and code not in ("timeout", "other", "unreachable", "no_key"):
        return status
    return None


def refused_part(error: CallError, status: int | None, sent: Collection[str]) -> str | None:
    """Return the part for which a server may have refused a question: `seed`, `max_tokens`, `form` or None.

    `sent` are those of the three that it was sent with. The text is read for the first two; any 400, 404 or
    422 that is not about money, size, content or the model may be about the form.
    """
    if error.code not in ("refused", "overloaded") or status is None:
        return None

    if status < 500 and "seed" in sent and _SEED.search(error.message):
        return "seed"
    if status < 500 and "max_tokens" in sent and _TOKENS_KEY.search(error.message):
        return "max_tokens"

    may_be_form = status in (400, 404, 422) and not _NO_MODEL.search(error.message)
    if "form" in sent and (may_be_form or _FORM.search(error.message)):
        return "form"
    return None


def _error_code(error: BaseException, text: str) -> tuple[ErrorCode, bool]:
    """Return the code of an error, and whether another attempt may help."""
    status = getattr(error, "status_code", None)
    if status in (400, 402, 403, 429):
        money_code = _money_code(status, text)
        if money_code is not None:
            return money_code, False

    for ancestor in type(error).__mro__:
        if ancestor.__name__ in _NAMED:
            return _NAMED[ancestor.__name__]

    if _NO_KEY.search(text):
        return "no_key", False
    is_client_error = isinstance(status, int) and 400 <= status < 500
    if not is_client_error and (_UNREACHED.search(text) or _GARBLED.search(text) or _is_misread(error)):
        return "other", True
    if isinstance(status, int):
        return _code_of_status(status, text)
    return "other", False


def _money_code(status: int, text: str) -> ErrorCode | None:
    """Return the code of an error that is about money, None of any other."""
    if status == 429:
        if _QUOTA.search(text) and not _A_MINUTE.search(text):
            return "quota"
        return None
    if status == 402 or _PAYMENT.search(text):
        return "payment"
    return None


def _code_of_status(status: int, text: str) -> tuple[ErrorCode, bool]:
    """Return the code for a status, and whether another attempt may help."""
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 413 or (status == 400 and _TOO_LONG.search(text)):
        return "too_long", False

    if 400 <= status < 500:
        if _FILTERED.search(text):
            return "filtered", False
        if status in (401, 403):
            return "auth", False
        return "refused", False

    if status >= 500:
        return "overloaded", True
    return "other", True
