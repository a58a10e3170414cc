"""What goes out to the operator: messages to a webhook, and pings to an address that misses them.

Messages are without secrets, and tried until they arrive, for a day at most. One may come twice, when the
arena was killed between sending it and noting that: its `id` is the same then. Nothing of this holds a round
up, and nothing tells the webhook's address, which may be a secret.

Pings are the dead man's switch: an address elsewhere hears of good steps, so that somebody notices when none
comes. That it does not answer is an incident, and nothing waits for it.
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
"""Of the messages' form."""
LONGEST_TEXT = 500
LONG_WORD = 16
"""A word of so many letters in the path of an address is no word: it is a secret."""
SAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where messages go, and what may appear in none of them. Its name is all that may be shown of it."""

    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Whom the messages go to, without the path.

        >>> Webhook("https://ann:pass@hooks.example:444/T0/secret").name
        'https://hooks.example:444'
        """
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def webhook_of(watch: WatchSection, environ: Mapping[str, str]) -> Webhook | None:
    """The webhook of a config; None where it names none."""
    name = watch.webhook_env or ""
    url = watch.webhook or environ.get(name, "")
    if not url:
        if name:
            raise ArenaError("no_webhook", f"{name} is not set: it should hold the webhook's address")
        return None
    if not is_address(url):
        raise ArenaError(
            "bad_webhook", "the webhook's address is invalid", "it begins with https:// or http://"
        )
    parted = {f"part {number}": part for number, part in enumerate(_parts(url))}
    return Webhook(url, secrets_in({**environ, **parted, "url": url}, "url", *parted, name))


def _parts(url: str) -> Iterator[str]:
    """What of an address must not be told either, should somebody repeat it."""
    parts = urlsplit(url)
    path = parts.path.strip("/")
    yield from (path, parts.query, parts.password or "", *(value for _, value in parse_qsl(parts.query)))
    yield from (word for word in path.split("/") if len(word) >= LONG_WORD)


def incident_message(incident: Incident) -> dict[str, Any]:
    """An incident as it is sent."""
    return {
        "version": VERSION,
        "id": f"{incident.kind}:{incident.subject}",
        "event": incident.kind,
        "at": incident.at.isoformat(),
        "text": incident.text,
        "data": dict(incident.data),
    }


def test_message(at: datetime) -> dict[str, Any]:
    """A message that only says that messages arrive."""
    words = "test message from Paper Arena"
    return {
        "version": VERSION,
        "id": "test",
        "event": "test",
        "at": at.isoformat(),
        "text": words,
        "data": {},
    }


def message_bytes(said: Mapping[str, Any], secrets: tuple[str, ...]) -> bytes:
    r"""A message as bytes: ASCII in which nothing is markup, and without secrets.

    >>> message_bytes({"text": "<b> & my-secret"}, ("my-secret",))
    b'{"text": "\\u003cb\\u003e \\u0026 [hidden]"}'
    """
    return json.dumps(_clean(said, secrets)).translate(SAFE).encode()


def _clean(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return one_line(redact(value, secrets), LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {key: _clean(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, secrets) for item in value]
    return value


TIMEOUT, LAST_WORD = 10.0, 3.0
"""Seconds that the other side has to answer, and has when the arena stops."""
EVERY = timedelta(seconds=15)
"""Between two looks at what is to be told."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
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
"""What went wrong, by its code."""
STATUS_CODES = {429: "rate_limited", 2: "arrived", 3: "redirected", 5: "server_error"}
"""What a status or its class means."""


@dataclass(frozen=True, slots=True)
class WebhookReply:
    """How the other side took a message; `wait` is for how many seconds it wants to be left alone."""

    code: str
    status: int | None = None
    wait: float | None = None

    @property
    def ok(self) -> bool:
        """Whether it arrived."""
        return self.code == "arrived"

    @property
    def words(self) -> str:
        """What went wrong, in words."""
        return REPLY_WORDS[self.code] + (f" (status {self.status})" if self.status else "")


async def send(webhook: Webhook, said: Mapping[str, Any], seconds: float = TIMEOUT) -> WebhookReply:
    """Send a message once."""
    return await ask(webhook, "POST", seconds, message_bytes(said, webhook.secrets))


async def ask(
    webhook: Webhook, method: str, seconds: float = TIMEOUT, body: bytes | None = None
) -> WebhookReply:
    """Ask once at an address. What the other side answers is not read beyond its status."""
    for name in ("httpx", "httpcore"):  # they would log the address
        logging.getLogger(name).setLevel(logging.WARNING)
    client = httpx.AsyncClient(verify=_trusted(), timeout=seconds, headers=HEADERS, follow_redirects=False)
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
def _trusted() -> ssl.SSLContext:
    """Whose word counts for who the other side is: to read that takes longer than a message."""
    return httpx.create_ssl_context()


async def send_due(record: Record, webhook: Webhook, now: datetime, seconds: float = TIMEOUT) -> list[str]:
    """Send what is to be sent now, until one does not arrive; the message, in words."""
    for told in read_untold(record.engine, now, MOST_AT_ONCE):
        reply = await send(webhook, incident_message(told.incident), seconds)
        if not reply.ok:
            return [_put_off(record, webhook, told, reply, now)]
        record_delivery(record.engine, told.id, now, None)
    return []


def _put_off(
    record: Record, webhook: Webhook, told: RecordedIncident, reply: WebhookReply, now: datetime
) -> str:
    """Note that a message did not arrive, and say when it is tried again, if it is."""
    pause = min(FIRST_PAUSE * 2 ** min(told.tries, 16), LONGEST_PAUSE)
    if reply.wait is not None:
        pause = max(pause, min(timedelta(seconds=reply.wait), LONGEST_PAUSE))
    record_delivery(record.engine, told.id, None, now + pause)
    last = told.tries + 1 >= MOST_TRIES
    then = "giving up after a day of retries" if last else f"retrying in {pause}"
    return f"the message {told.incident.kind} was not delivered: {webhook.name} {reply.words}; {then}"


async def keep_sending(
    record: Record,
    webhook: Webhook | None,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Send messages as they come up, until told to stop; without a webhook, let them go.

    A record that can't be written just then is told of, and tried again.
    """
    while not stop.is_set():
        await _send_or_say(record, webhook, now(), say, TIMEOUT)
        await sleep_unless_stopped(EVERY, stop)
    await _send_or_say(record, webhook, now(), say, LAST_WORD)


async def _send_or_say(
    record: Record, webhook: Webhook | None, now: datetime, say: Callable[[str], None], seconds: float
) -> None:
    try:
        if webhook is None:
            drop_untold(record.engine)
            return
        for words in await send_due(record, webhook, now, seconds):
            say(words)
    except ArenaError as error:
        say(f"could not send messages: {error.message}")


PING = "ARENA_PING"
"""The environment variable with the address: whoever knows it can ping, so it is no setting."""
PING_EVERY = timedelta(minutes=1)
"""From one ping to the next, at least."""
PING_PAUSES = (timedelta(seconds=5), timedelta(seconds=20))
"""Before each of the tries after the first."""


def ping_of(environ: Mapping[str, str]) -> Webhook | None:
    """The address to be pinged; None where the environment has none."""
    if not (url := environ.get(PING, "")):
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
    """Ping after good steps, until told to stop. The first failure is told, and that it is over is noted."""
    was_well = None
    while address is not None:
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
                    told = ping_failed(now(), address.name, reply.words)
                    add_incidents(record.engine, [told], unless="ping@")
                    say(f"{address.name} was not pinged: it {reply.words}")
                was_well = reply.ok
            except ArenaError as error:
                say(f"a ping could not be recorded: {error.message}")
        await sleep_unless_stopped(PING_EVERY, stop)


async def ping(address: Webhook, stop: asyncio.Event) -> WebhookReply:
    """Ask at the address, a few times at most; how it answered last."""
    reply = await ask(address, "GET")
    for pause in PING_PAUSES:
        if reply.ok or stop.is_set():
            break
        await sleep_unless_stopped(pause, stop)
        reply = await ask(address, "GET")
    return reply
