"""Why a call brought no answer, told apart, and what of a question a server will not take.

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
_TOO_LONG = re.compile(r"(?i)context[ _](?:length|window)|maximum context|prompt is too long|too many tokens")
_FILTERED = re.compile(r"(?i)content[ _](?:filter|policy|management)|flagged|moderation")
_PAYMENT = re.compile(
    r"(?i)credit balance|insufficient[ _](?:credit|fund|balance)|payment[ _]required|out of credit|billing"
)
_QUOTA = re.compile(r"(?i)insufficient_quota|exceeded your current quota")
_A_MINUTE = re.compile(r"(?i)resource_exhausted|retrydelay|per ?minute|retry in")
"""Words of a quota that is soon there again: Google says of both that the current quota is exceeded."""
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
_SEED = re.compile(r"(?i)\bseed\b")
_TOKENS_KEY = re.compile(r"(?i)max_completion_tokens")
_MISREAD = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What reading an answer that is none raises, for which the library makes up a status of 500."""
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
    """The error as it is recorded: its code, its words without keys, and whether to try again."""
    text = str(error)[:MOST_READ].partition("Traceback (most recent call last)")[0] or type(error).__name__
    code, retry = _error_code(error, text)
    if code == "other" and _never_arrived(error):
        code = "unreachable"
    wait = retry_wait(error, text) if retry else None
    if code == "rate_limit" and is_limit_of_a_day(text, wait):
        code = "quota"
        retry = False
        wait = None
    return CallError(code, one_line(redact(text, secrets), MOST_WORDS), retry, wait)


def is_uncharged(error: BaseException, code: ErrorCode) -> bool:
    """Whether nobody can have charged for a call: it was turned down, or never arrived.

    What was answered into the void, or can't be read, may have been paid for all the same.
    """
    return code not in ("timeout", "other") or _never_arrived(error)


def _never_arrived(error: BaseException) -> bool:
    """Whether no connection came about. One that was reset is wrapped alike, but the question was sent."""
    causes = {type(cause).__name__ for cause in _causes(error)}
    return not causes.isdisjoint(_NEVER_ARRIVED) and "ConnectionResetError" not in causes


def _is_misread(error: BaseException) -> bool:
    """Whether a server sent what can't be read, rather than an error."""
    refused = "HTTPStatusError" in {type(cause).__name__ for cause in _causes(error)}
    return not refused and any(isinstance(cause, _MISREAD) for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


def http_status(error: BaseException, code: ErrorCode) -> int | None:
    """The status that a server answered with; None where none did, though the library makes one up."""
    status = getattr(error, "status_code", None)
    answered = isinstance(status, int) and code not in ("timeout", "other", "unreachable", "no_key")
    return status if answered else None


def refused_part(error: CallError, status: int | None, sent: Collection[str]) -> str | None:
    """What of a question a server may have turned it down for: `seed`, `max_tokens` or `form`; else None.

    `sent` are those of the three that it was sent with. Words are read only for the first two: whatever else
    a 400, 404 or 422 says that is not about money, size or content may be about the form.
    """
    if error.code not in ("refused", "overloaded") or status is None:
        return None
    about_form = False
    if status < 500:
        if "seed" in sent and _SEED.search(error.message):
            return "seed"
        if "max_tokens" in sent and _TOKENS_KEY.search(error.message):
            return "max_tokens"
        about_form = status in (400, 404, 422) and not _NO_MODEL.search(error.message)
    if status >= 500 or not about_form:
        about_form = _FORM.search(error.message) is not None
    return "form" if about_form and "form" in sent else None


def _error_code(error: BaseException, text: str) -> tuple[ErrorCode, bool]:
    status = getattr(error, "status_code", None)
    if status in (400, 402, 403, 429) and (money := _money(status, text)) is not None:
        return money, False
    for name in (cls.__name__ for cls in type(error).__mro__):
        if name in _NAMED:
            return _NAMED[name]
    if _NO_KEY.search(text):
        return "no_key", False
    told = isinstance(status, int) and 400 <= status < 500
    if not told and (_UNREACHED.search(text) or _GARBLED.search(text) or _is_misread(error)):
        return "other", True
    return _by_status(status, text) if isinstance(status, int) else ("other", False)


def _money(status: int, text: str) -> ErrorCode | None:
    if status == 429:
        return "quota" if _QUOTA.search(text) and not _A_MINUTE.search(text) else None
    return "payment" if status == 402 or _PAYMENT.search(text) else None


def _by_status(status: int, text: str) -> tuple[ErrorCode, bool]:
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 413 or (status == 400 and _TOO_LONG.search(text)):
        return "too_long", False
    if 400 <= status < 500:
        if _FILTERED.search(text):
            return "filtered", False
        return ("auth" if status in (401, 403) else "refused"), False
    return ("overloaded", True) if status >= 500 else ("other", True)
