"""How long a provider asks to be left alone: by its headers, in words, or until a limit is reset.

Whether a limit is that of a whole day is read here too: nobody waits for the next day.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_EPOCH = re.compile(r"[0-9]{10}(?P<milliseconds>[0-9]{3})?")
_WAIT_IN_WORDS = re.compile(
    r"(?i)(?:try again (?:in|after)|retry (?:in|after)|wait(?: for)?|retrydelay\W{1,6})[: ]{0,2}"
    r"((?:\d{1,6}(?:\.\d{1,9})? ?[a-z]+[ ,]*(?:and )?)+)"
)
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) ?(?:(?P<milli>ms|msecs?|milliseconds?)"
    r"|([smhd])(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?)?)(?![a-z])"
)
_RESET = re.compile(r"(?:x-)?ratelimit-reset(?:-[a-z-]+)?|anthropic-ratelimit-[a-z-]+-reset")
_RESET_IN_BODY = re.compile(r"(?i)\"(x-ratelimit-reset)\"\W{1,6}([0-9]{10,13})\b")
_DAY = re.compile(r"(?i)\bper[ -]day\b|\bdaily\b|\b[rt]pd\b|byday\b")
_SHORTER = re.compile(r"(?i)\bper[ -]?(?:minute|min|second|sec|hour)\b|\b[rt]p[ms]\b")
_GOOGLE_DAY = re.compile(r"\"quotaId\"\W{1,6}\w*PerDay")


def retry_wait(error: BaseException, text: str) -> float | None:
    """Return for how many seconds a provider asks to be left alone, None where it doesn't say.

    `text` are the words of the error. What is stated for this refusal counts before what the headers say of
    limits that are used up: these are reset later than one more question may be put.
    """
    headers = _headers_of_refusal(error)
    stated_wait = _retry_after(headers) or wait_in_words(text)
    if stated_wait is not None:
        return stated_wait

    reset_in_body = _RESET_IN_BODY.search(text)
    if reset_in_body is not None:
        headers = {reset_in_body[1].lower(): reset_in_body[2], **headers}
    return max(_waits_for_resets(headers), default=None)


def is_limit_of_a_day(text: str, wait: float | None = None) -> bool:
    """Return whether a rate limit is counted by day, by its words and the wait that it states.

    A stated wait counts, but not beside a limit of Google's: that is of seconds, and then it refuses again.

    >>> is_limit_of_a_day("Rate limit exceeded: free-models-per-day")
    True
    >>> is_limit_of_a_day("Limit of 10 requests per minute, whatever your daily limit is")
    False
    """
    if _GOOGLE_DAY.search(text):
        return True
    return wait is None and bool(_DAY.search(text)) and not _SHORTER.search(text)


def wait_in_words(text: str) -> float | None:
    """Return the seconds to wait that an error states in words, None where it states none.

    >>> wait_in_words("Limit 100000. Please try again in 9m38.4s."), wait_in_words('"retryDelay": "38s"')
    (578.4, 38.0)
    >>> [wait_in_words(text) for text in ("Try again in 20 seconds", "Retry in 1h2m", "try again later")]
    [20.0, 3720.0, None]
    """
    stated = _WAIT_IN_WORDS.search(text)
    if stated is None:
        return None
    return _seconds_of_duration(stated[1])


def _seconds_of_duration(duration: str) -> float | None:
    """Return the seconds of a duration such as `1h 2m 3.5s`, None of anything else."""
    seconds = 0.0
    for part in _DURATION.finditer(duration.lower()):
        unit = 0.001 if part["milli"] else SECONDS[part[3]]
        seconds += float(part[1]) * unit
    return round(seconds, 3) or None


def _headers_of_refusal(error: BaseException) -> dict[str, str]:
    """Return the headers that a refusal came with, by their names in small letters."""
    response = getattr(error, "response", None)
    texts: dict[str, str] = {}
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        if not isinstance(headers, Mapping):
            continue
        for name, text in headers.items():
            if isinstance(text, str):
                texts[str(name).lower()] = text.strip()

    return texts


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait by Retry-After: a number of seconds, or a date. More than nine digits are no wait."""
    from markets.venues.wire.http import header_date  # with a client that takes time to load

    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if _NUMBER.fullmatch(value):
            return round(float(value) * unit, 6) or None
    return _seconds_until(header_date(headers.get("retry-after", "")), headers)


def _waits_for_resets(headers: Mapping[str, str]) -> Iterator[float]:
    """Yield the seconds until each limit is reset of which nothing remains, as far as that is known."""
    for name, value in headers.items():
        if not _RESET.fullmatch(name):
            continue

        # Without a count, the one reset that is named beside a refusal is that of the limit it met.
        remaining_if_unstated = "0" if name.endswith("-reset") else ""
        if headers.get(name.replace("reset", "remaining"), remaining_if_unstated) != "0":
            continue

        seconds = _seconds_until_reset(value, headers)
        if seconds is not None:
            yield seconds


def _seconds_until_reset(value: str, headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a limit is reset: a number, a duration, a date, or seconds since 1970."""
    if _NUMBER.fullmatch(value):
        return float(value) or None

    epoch = _EPOCH.fullmatch(value)
    if epoch is not None:
        seconds = float(value)
        if epoch["milliseconds"]:
            seconds /= 1000
        return _seconds_until(datetime.fromtimestamp(seconds, UTC), headers)

    try:
        reset_at = datetime.fromisoformat(value)
    except ValueError:
        return _seconds_of_duration(value)
    return _seconds_until(reset_at, headers)


def _seconds_until(instant: datetime | None, headers: Mapping[str, str]) -> float | None:
    """Return the seconds until an instant by the provider's own clock, None for none and one that is past."""
    from markets.venues.wire.http import header_date

    now = header_date(headers.get("date", ""))
    if instant is None or now is None:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    seconds = (instant - now).total_seconds()
    if seconds <= 0:
        return None
    return seconds
