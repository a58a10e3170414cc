"""The types of amounts, times, counts and addresses in a config, and their parsers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from arena.record.model.calendar import DAYS, SUNDAY, UNITS, WEEK, Cadence, written_duration
from markets.millionths import ONE, decimal, millionths

LONGEST = 3_650 * UNITS["d"]
BILLION = 1_000_000_000
MOST = 1_000_000


def error_expecting(meant: str, **more: str) -> PydanticCustomError:
    """Return the error that a validator raises for a value that is not what is `meant`.

    `words` is the whole message, `found` stands for a value that may be secret, and `at` names the key within
    a block.
    """
    return PydanticCustomError("meant", "{meant}", {"meant": meant, **more})


def seconds(text: object, least: int = 1) -> int:
    """Return the length of a duration in seconds.

    >>> seconds("120s"), seconds("15m"), seconds("2h"), seconds("60d"), seconds("0s", least=0)
    (120, 900, 7200, 5184000, 0)
    """
    match = _full_match(r"(\d{1,9})\s*([smhdw])", text)
    length = -1  # less than the least of any duration
    if match is not None:
        length = int(match[1]) * UNITS[match[2]]

    if length < least:
        raise error_expecting(DURATION)
    if length > LONGEST:
        raise error_expecting("a duration of at most 3650d")
    return length


def _full_match(pattern: str, value: object) -> re.Match[str] | None:
    """Match a whole value; return None if it is no text."""
    return re.fullmatch(pattern, value) if isinstance(value, str) else None


DURATION = 'a duration such as "120s", "15m", "2h" or "60d"'
START = 'a weekday and a time in UTC, such as "sun 00:00"'
EVERY = f'"weekly", "daily", "every 6 hours", "daily at 12:00", {START}, or {DURATION}'
CADENCE = f'{DURATION}, "every 6 hours", "daily at 12:00", {START}, or "off"'
SHORTEST = 10
"""The least number of seconds between two times of a job."""


CADENCE_WORDS = {"hourly": "1h", "daily": "1d", "weekly": "7d"}
UNIT_NAMES = {"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}


def short_cadence(text: object) -> object:
    """Return a cadence in words in its short form, and anything else as it is.

    >>> short_cadence("every 15 minutes"), short_cadence("every hour"), short_cadence("daily")
    ('15m', '1h', '1d')
    """
    if not isinstance(text, str):
        return text

    words = text.strip().lower()
    interval = re.fullmatch(rf"every\s+(?:(\d+)\s*)?({'|'.join(UNIT_NAMES)})s?", words)
    if interval is not None:
        return f"{interval[1] or 1}{UNIT_NAMES[interval[2]]}"
    return CADENCE_WORDS.get(words) or words.removeprefix("every ").strip()


@dataclass(frozen=True, slots=True)
class Start:
    """The instant of the week at which cohorts start, in UTC. Monday is day 0."""

    day: int
    time: time

    def on_or_after(self, at: datetime) -> datetime:
        """Return the first start that is not before an instant.

        >>> Start(6, time(0)).on_or_after(datetime(2026, 1, 5, tzinfo=UTC)).isoformat()
        '2026-01-11T00:00:00+00:00'
        """
        today = datetime.combine(at.astimezone(UTC).date(), self.time, UTC)
        start = today + timedelta(days=(self.day - today.weekday()) % 7)
        if start < at:
            start += timedelta(days=7)
        return start

    def __str__(self) -> str:
        return f"{DAYS[self.day]} {self.time:%H:%M}"


def start(text: object) -> Start:
    """Return a weekday and a time of day.

    >>> str(start("sun 00:00"))
    'sun 00:00'
    """
    pattern = rf"({'|'.join(DAYS)})\s+([01]\d|2[0-3]):([0-5]\d)"
    match = re.fullmatch(pattern, text.lower()) if isinstance(text, str) else None
    if match is None:
        raise error_expecting(START)
    return Start(DAYS.index(match[1]), time(int(match[2]), int(match[3])))


def cadence(text: object) -> Cadence:
    """Return the cadence of a job.

    >>> str(cadence("every 6 hours")), str(cadence("SUN 04:00")), str(cadence("daily at 12:00"))
    ('6h', 'sun 04:00', 'daily at 12:00')
    """
    return Cadence() if text == "off" else _cadence(text, SHORTEST, CADENCE)


def decision_cadence(text: object) -> Cadence:
    """Return the cadence of a cohort's decisions after its first round.

    >>> str(decision_cadence("weekly")), str(decision_cadence("every 15 minutes"))
    ('weekly', '15m')
    >>> str(decision_cadence("every day at 09:30"))
    'daily at 09:30'
    """
    return _cadence(text, 1, EVERY)


def seconds_kept(text: object) -> int | None:
    """Return for how many seconds something is kept; None, for ever, if that is `off`.

    >>> seconds_kept("90d"), seconds_kept("off")
    (7776000, None)
    """
    return None if text in ("off", None) else seconds(text)


def _cadence(text: object, least_seconds: int, meant: str) -> Cadence:
    """Return a cadence: daily at a time, at an interval of at least so many seconds, or weekly."""
    short = short_cadence(text)
    daily = _full_match(r"(?:daily|day) at ([01]\d|2[0-3]):([0-5]\d)", short)
    if daily is not None:
        time_of_day = timedelta(hours=int(daily[1]), minutes=int(daily[2]))
        return Cadence(timedelta(days=1), time_of_day)

    try:
        return Cadence(timedelta(seconds=seconds(short, least_seconds)))
    except PydanticCustomError:
        pass  # it may be a weekday

    try:
        since_sunday = start(short).on_or_after(SUNDAY) - SUNDAY
    except PydanticCustomError as error:
        raise error_expecting(meant) from error
    return Cadence(WEEK, since_sunday)


def as_plain(value: object, unit: str = "") -> Any:
    """Return a value as a config writes it; `unit` is what its numbers count.

    >>> as_plain(5_184_000, "seconds"), as_plain(50_000, "millionths"), as_plain(Cadence(WEEK))
    ('60d', 0.05, 'weekly')
    >>> as_plain(None), as_plain(False), as_plain(("a",)), as_plain(0.50), as_plain(20.0)
    (None, False, ['a'], 0.5, 20)
    """
    match value:
        case None | bool() | str():
            return value
        case int() | float() if unit == "seconds":
            return written_duration(int(value))
        case int() if unit == "millionths":
            return as_plain(float(decimal(value)))
        case int() | float():
            return int(value) if float(value).is_integer() else value
        case tuple() | list():
            return [as_plain(item) for item in value]
        case Mapping():
            return {key: as_plain(item) for key, item in value.items()}
        case BaseModel():
            return as_plain(value.model_dump(mode="json"))
    return str(value)


def millionths_reader(least: int, most: int, meant: str) -> Callable[[object], int]:
    """Return a function that reads a number into millionths, between two bounds in millionths."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise error_expecting(meant)
        if not float(decimal(least)) <= value <= float(decimal(most)):
            raise error_expecting(meant)

        exact = millionths(value)
        if float(decimal(exact)) != value:  # it has more decimals than millionths
            raise error_expecting(f"{meant}, with at most six decimals")
        return exact

    return read


def _described_type(words: str, unit: str = "") -> WithJsonSchema:
    """Describe a type for messages and for the list of keys: in words, and by what its numbers count."""
    return WithJsonSchema({"meant": words, "unit": unit})


_SPEND = "dollars, such as 0.50 or 20, from 0 to a billion"
_STAKE = "dollars, above 0 and at most a billion"
_PRICE = "dollars a share, such as 0.05, from 0 to 1"
_SHARE = "a part of the cash, such as 0.25, above 0 and at most 1"
_PART = "a part of the whole, such as 0.8, above 0 and at most 1"

Dollars = Annotated[
    int, PlainValidator(millionths_reader(0, BILLION * ONE, _SPEND)), _described_type(_SPEND, "millionths")
]
Stake = Annotated[
    int, PlainValidator(millionths_reader(1, BILLION * ONE, _STAKE)), _described_type(_STAKE, "millionths")
]
PriceGap = Annotated[
    int, PlainValidator(millionths_reader(0, ONE, _PRICE)), _described_type(_PRICE, "millionths")
]
Share = Annotated[
    int, PlainValidator(millionths_reader(1, ONE, _SHARE)), _described_type(_SHARE, "millionths")
]
Part = Annotated[int, PlainValidator(millionths_reader(1, ONE, _PART)), _described_type(_PART, "millionths")]
Seconds = Annotated[int, PlainValidator(seconds), _described_type(DURATION, "seconds")]
Wait = Annotated[int, PlainValidator(partial(seconds, least=0)), _described_type(DURATION, "seconds")]
Kept = Annotated[
    int | None, PlainValidator(seconds_kept), _described_type(f'{DURATION}, or "off"', "seconds")
]
Decisions = Annotated[Cadence, PlainValidator(decision_cadence), _described_type(EVERY)]
Weekly = Annotated[Start, PlainValidator(start), _described_type(START)]
When = Annotated[Cadence, PlainValidator(cadence), _described_type(CADENCE)]
Count = Annotated[int, Field(ge=1, le=MOST)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


ENDPOINT = 'an address and a port, such as 127.0.0.1:8780 or "[::1]:8780", or "off"'


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of this machine and a port; or none."""

    host: str = ""
    port: int = 0

    def __bool__(self) -> bool:
        return bool(self.host)

    def __str__(self) -> str:
        if not self:
            return "off"
        host = self.host
        if ":" in host:
            host = f"[{host}]"
        return f"{host}:{self.port}"


def _is_public(host: str) -> bool:
    """Tell whether a numeric address can be reached from other networks."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_unspecified or address.is_global


def endpoint(text: object) -> Endpoint:
    """Return the address and port at which to listen.

    >>> str(endpoint("127.0.0.1:8780")), str(endpoint("[::1]:8780")), bool(endpoint("off"))
    ('127.0.0.1:8780', '[::1]:8780', False)
    """
    if text == "off":
        return Endpoint()

    match = _full_match(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})", text)
    if match is None or not 0 < int(match[3]) < 2**16:
        raise error_expecting(ENDPOINT)

    numeric_host, host, port = match.groups()
    if numeric_host:
        try:
            host = str(ip_address(numeric_host))
        except ValueError as error:
            raise error_expecting(ENDPOINT) from error

    if _is_public(host):
        remedy = "Use 127.0.0.1, or an address in a private network"
        raise error_expecting(ENDPOINT, words=f"anyone can reach {host}, and there is no password. {remedy}")
    return Endpoint(host, int(port))


def is_address(text: str) -> bool:
    """Tell whether a text is the address of a web service.

    >>> is_address("https://example.org/hook?key=1"), is_address("example.org"), is_address("https://")
    (True, False, False)
    """
    if not text.isascii() or not text.isprintable() or " " in text:
        return False

    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _webhook(text: str) -> str:
    """Return the address of a webhook, or `$` and its variable; no message repeats the text."""
    if not is_address(text) and not re.fullmatch(rf"\${VARIABLE}", text):
        hint = "If it is secret, write `$` and the name of the environment variable that holds it"
        raise error_expecting(WEBHOOK, words=f"this is not {WEB}. {hint}", found="other text")
    return text


def _heads(value: object) -> str | list[str] | None:
    """Return where heads are published: a file, or a program with its arguments."""
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value

    # An earlier version took a block with one of these keys.
    for old_key in ("file", "command"):
        if isinstance(value, dict) and old_key in value:
            example = HEADS_EXAMPLES[old_key]
            words = f"`heads` takes the value of `{old_key}` itself: write `heads: {example}`"
            raise error_expecting(HEADS, words=words, at=old_key)
    raise error_expecting(HEADS)


VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
WEB = "an address that begins with https:// or http://"
WEBHOOK = f"{WEB}, or $NAME"
WebhookAddress = Annotated[str, AfterValidator(_webhook), _described_type(WEBHOOK)]
HEADS = "a file, or a list of a program and its arguments"
HEADS_EXAMPLES = {"file": "mounted/heads.jsonl", "command": "[./publish.sh, origin]"}
Heads = Annotated[str | list[str] | None, PlainValidator(_heads), _described_type(HEADS)]
Listen = Annotated[Endpoint, PlainValidator(endpoint), _described_type(ENDPOINT)]
