"""Messages to the operator's webhook, and pings to an address that notices when they stop.

Messages hold no secrets, and are tried until they arrive, for a day at most. One may come twice, if the arena
was killed between sending it and writing that down; both have the same `id`. No round waits for a message.
The webhook's address is never shown, for it may be a secret.

Pings are a dead man's switch: one is sent after each step that went well, so that a service elsewhere gives
the alarm when none comes. If it does not answer, that is an incident, and nothing waits for it.
"""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from agents.secrets import redact, secrets_in
from agents.text import one_line
from arena.clock import sleep_unless_stopped
from arena.config.field_types import is_address
from arena.config.sections import WatchSection
from arena.errors import ArenaError
from arena.operations.wake import any_of
from arena.record.model.incident import MOST_TRIES, Incident, RecordedIncident, ping_failed
from arena.record.record import Record
from arena.record.write.operations import (
    add_incidents,
    drop_untold,
    end_incidents,
    read_untold,
    record_delivery,
)
from markets.venues.wire.http import retry_after

VERSION = 1
"""The version of the messages' form."""
LONGEST_TEXT = 500
LONG_WORD = 16
"""A part of an address's path of so many letters is taken for a secret."""
SAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Webhook:
    """The address that messages go to, and the secrets that none may hold. Only its name may be shown."""

    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Return the scheme and host of the address.

        >>> Webhook("https://ann:pass@hooks.example:444/T0/secret").name
        'https://hooks.example:444'
        """
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def webhook_of(watch: WatchSection, environ: Mapping[str, str]) -> Webhook | None:
    """Return the webhook of a config, None if it names none; raise `ArenaError` if the address is invalid."""
    name = watch.webhook_env or ""
    url = watch.webhook or environ.get(name, "")
    if not url and not name:
        return None
    if not url:
        raise ArenaError("no_webhook", f"{name} is not set: it should hold the webhook's address")
    if not is_address(url):
        raise ArenaError(
            "bad_webhook", "the webhook's address is invalid", "it begins with https:// or http://"
        )

    values = {f"part {number}": part for number, part in enumerate(_secret_parts(url))}
    values["url"] = url
    return Webhook(url, secrets_in({**environ, **values}, *values, name))


def _secret_parts(url: str) -> Iterator[str]:
    """Yield the parts of an address that messages may not hold either, if something repeats them."""
    parts = urlsplit(url)
    path = parts.path.strip("/")

    yield path
    yield parts.query
    yield parts.password or ""
    for _, value in parse_qsl(parts.query):
        yield value
    for word in path.split("/"):
        if len(word) >= LONG_WORD:
            yield word


def incident_message(incident: Incident) -> dict[str, Any]:
    """Return an incident as it is sent."""
    return {
        "version": VERSION,
        "id": f"{incident.kind}:{incident.subject}",
        "event": incident.kind,
        "at": incident.at.isoformat(),
        "text": incident.text,
        "data": dict(incident.data),
    }


def test_message(at: datetime) -> dict[str, Any]:
    """Return a message that is sent only to see whether messages arrive."""
    return {
        "version": VERSION,
        "id": "test",
        "event": "test",
        "at": at.isoformat(),
        "text": "test message from Paper Arena",
        "data": {},
    }


def message_bytes(message: Mapping[str, Any], secrets: tuple[str, ...]) -> bytes:
    r"""Return a message as bytes: JSON in ASCII, without markup and without secrets.

    >>> message_bytes({"text": "<b> & my-secret"}, ("my-secret",))
    b'{"text": "\\u003cb\\u003e \\u0026 [hidden]"}'
    """
    return json.dumps(_without_secrets(message, secrets)).translate(SAFE).encode()


def _without_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return a value of JSON whose texts are of one line, not too long, and without secrets."""
    if isinstance(value, str):
        return one_line(redact(value, secrets), LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {key: _without_secrets(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(item, secrets) for item in value]
    return value


TIMEOUT = 10.0
"""Seconds that the other side has to answer."""
LAST_TIMEOUT = 3.0
"""Seconds that it has for each message when the arena stops."""
EVERY = timedelta(seconds=15)
"""The time between two looks at what is to be sent."""
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
MOST_AT_ONCE = 20
HEADERS = {"Content-Type": "application/json", "User-Agent": "paper-arena"}

REPLY_WORDS = {
    "redirected": "answered with a redirect, which is not followed",
    "refused": "refused the message",
    "rate_limited": "is rate-limiting messages",
    "server_error": "has an internal error",
    "timeout": f"did not answer within {TIMEOUT:g} s",
    "unreachable": "can't be reached",
    "bad_url": "is not a valid address",
}
"""What went wrong, by the code of a reply."""
STATUS_CODES = {429: "rate_limited", 2: "arrived", 3: "redirected", 5: "server_error"}
"""The code of a reply by its status, or by the first digit of it."""


@dataclass(frozen=True, slots=True)
class WebhookReply:
    """How the other side answered a message; `wait` is how many seconds it asks to wait for the next."""

    code: str
    status: int | None = None
    wait: float | None = None

    @property
    def ok(self) -> bool:
        """Tell whether the message arrived."""
        return self.code == "arrived"

    @property
    def words(self) -> str:
        """Return what went wrong, as the end of a sentence."""
        status = f" (status {self.status})" if self.status else ""
        return f"{REPLY_WORDS[self.code]}{status}"


async def send(webhook: Webhook, message: Mapping[str, Any], seconds: float = TIMEOUT) -> WebhookReply:
    """Send a message once."""
    return await ask(webhook, "POST", seconds, message_bytes(message, webhook.secrets))


async def ask(
    webhook: Webhook, method: str, seconds: float = TIMEOUT, body: bytes | None = None
) -> WebhookReply:
    """Make one request and return its outcome; of the answer, only status and headers are read."""
    # These libraries would write the address into the log.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)

    client = httpx.AsyncClient(
        verify=_ssl_context(), timeout=seconds, headers=HEADERS, follow_redirects=False
    )
    try:
        async with (
            asyncio.timeout(seconds),
            client,
            client.stream(method, webhook.url, content=body) as answer,
        ):
            status = answer.status_code
            code = STATUS_CODES.get(status) or STATUS_CODES.get(status // 100, "refused")
            return WebhookReply(code, status, retry_after(answer.headers))
    except (TimeoutError, httpx.TimeoutException):
        return WebhookReply("timeout")
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        return WebhookReply("bad_url")
    except httpx.HTTPError:
        return WebhookReply("unreachable")


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the certificates that are trusted; to read them takes longer than to send a message."""
    return httpx.create_ssl_context()


async def send_due(record: Record, webhook: Webhook, now: datetime, seconds: float = TIMEOUT) -> list[str]:
    """Send what is due, until a message does not arrive; return what went wrong, as sentences."""
    for undelivered in read_untold(record.engine, now, MOST_AT_ONCE):
        reply = await send(webhook, incident_message(undelivered.incident), seconds)
        if not reply.ok:
            return [_put_off(record, webhook, undelivered, reply, now)]
        record_delivery(record.engine, undelivered.id, now, None)

    return []


def _put_off(
    record: Record, webhook: Webhook, undelivered: RecordedIncident, reply: WebhookReply, now: datetime
) -> str:
    """Record when a message that did not arrive is tried again; return this as a sentence."""
    pause = min(FIRST_PAUSE * 2 ** min(undelivered.tries, 16), LONGEST_PAUSE)
    if reply.wait is not None:
        pause = max(pause, min(timedelta(seconds=reply.wait), LONGEST_PAUSE))
    record_delivery(record.engine, undelivered.id, None, now + pause)

    is_last = undelivered.tries + 1 >= MOST_TRIES
    outcome = "giving up after a day of retries" if is_last else f"retrying in {pause}"
    kind = undelivered.incident.kind
    return f"the message {kind} was not delivered: {webhook.name} {reply.words}; {outcome}"


async def keep_sending(
    record: Record,
    webhook: Webhook | None,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Send messages as they come up, until `stop` is set; without a webhook, drop them.

    If the record can't be written, say so and try again.
    """
    while not stop.is_set():
        await _send_or_say(record, webhook, now(), say, TIMEOUT)
        await sleep_unless_stopped(EVERY, stop)

    await _send_or_say(record, webhook, now(), say, LAST_TIMEOUT)


async def _send_or_say(
    record: Record, webhook: Webhook | None, now: datetime, say: Callable[[str], None], seconds: float
) -> None:
    """Send what is due, and say what went wrong."""
    try:
        if webhook is None:
            drop_untold(record.engine)
            return
        for failure in await send_due(record, webhook, now, seconds):
            say(failure)
    except ArenaError as error:
        say(f"could not send messages: {error.message}")


PING = "ARENA_PING"
"""The environment variable with the address to ping. Anybody who knows it can ping, so it is no setting."""
PING_EVERY = timedelta(minutes=1)
"""The least time from one ping to the next."""
PING_PAUSES = (timedelta(seconds=5), timedelta(seconds=20))
"""The pauses before each of the tries after the first."""


def ping_of(environ: Mapping[str, str]) -> Webhook | None:
    """Return the address to ping, None if the environment has none; raise `ArenaError` if it is invalid."""
    url = environ.get(PING, "")
    if not url:
        return None
    if not is_address(url):
        raise ArenaError("no_ping", f"{PING} should hold the address to be pinged", "set it so, or unset it")
    return Webhook(url)


async def keep_pinging(
    record: Record,
    address: Webhook | None,
    good_step: asyncio.Event,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Ping after good steps until `stop` is set.

    The first ping that fails is said and becomes an incident, which the next one that arrives ends.
    """
    if address is None:
        return

    was_well = None
    while True:
        await any_of(good_step, stop)
        if not good_step.is_set():
            return
        good_step.clear()

        reply = await ping(address, stop)
        if reply.ok is not was_well and not stop.is_set():
            try:
                if reply.ok:
                    end_incidents(record.engine, "ping_failed", now())
                else:
                    incident = ping_failed(now(), address.name, reply.words)
                    add_incidents(record.engine, [incident], unless="ping@")
                    say(f"{address.name} was not pinged: it {reply.words}")
                was_well = reply.ok
            except ArenaError as error:
                say(f"a ping could not be recorded: {error.message}")

        await sleep_unless_stopped(PING_EVERY, stop)


async def ping(address: Webhook, stop: asyncio.Event) -> WebhookReply:
    """Ask at the address, several times until it answers well; return its last reply."""
    reply = await ask(address, "GET")

    for pause in PING_PAUSES:
        if reply.ok or stop.is_set():
            break
        await sleep_unless_stopped(pause, stop)
        reply = await ask(address, "GET")

    return reply
