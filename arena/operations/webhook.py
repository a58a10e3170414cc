"""Messages to the operator's webhook, and pings to an address that notices their absence.

Messages hold no secrets, and are sent until they arrive, for a day at most. One may arrive twice, when the
arena was killed between sending it and recording that; its `id` is the same then. Nothing of this delays a
round, and the webhook's address, which may be a secret, is never shown.

Pings are a dead man's switch: an address elsewhere is asked after good steps, so that somebody notices when
no ping comes. If it does not answer, that is an incident, and nothing waits for it.
"""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from agents.secrets import redact, secrets_in
from agents.text import one_line
from arena.clock import sleep_unless_stopped
from arena.config.field_types import is_address
from arena.config.sections import WatchSection
from arena.errors import ArenaError
from arena.operations.health import COMMANDS, HealthReason, Status
from arena.operations.wake import any_of
from arena.record.model.incident import MOST_LISTED, MOST_TRIES, Incident, RecordedIncident, ping_failed
from arena.record.record import Record
from arena.record.write.operations import (
    LONGEST_REST,
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
"""A word of so many letters in the path of an address is taken for a secret."""
SAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Webhook:
    """The address of messages, and the secrets that none may contain. Only its name may be shown."""

    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Return scheme, host and port of the address, which are no secrets.

        >>> Webhook("https://ann:pass@hooks.example:444/T0/secret").name
        'https://hooks.example:444'
        """
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def webhook_of(watch: WatchSection, environ: Mapping[str, str]) -> Webhook | None:
    """Return the webhook of a config, None if it has none.

    Raise `ArenaError` if its environment variable is not set, or the address is invalid.
    """
    if watch.webhook is None:
        return None

    name = watch.webhook_variable or ""
    url = environ.get(name, "") if name else watch.webhook
    if not url:
        raise ArenaError("no_webhook", f"{name} is not set: it should hold the webhook's address")
    if not is_address(url):
        hint = "it begins with https:// or http://"
        raise ArenaError("bad_webhook", "the webhook's address is invalid", hint)

    # The address and its parts are hidden like the secrets of the environment.
    parts = {f"part {number}": part for number, part in enumerate(_secret_parts(url))}
    values = {**environ, **parts, "url": url}
    return Webhook(url, secrets_in(values, "url", *parts, name))


def _secret_parts(url: str) -> Iterator[str]:
    """Yield the parts of an address that must not be shown if the other side repeats them."""
    address = urlsplit(url)
    path = address.path.strip("/")
    yield path
    yield address.query
    yield address.password or ""

    for _, value in parse_qsl(address.query):
        yield value
    for word in path.split("/"):
        if len(word) >= LONG_WORD:
            yield word


def incident_message(incident: Incident, reason: HealthReason | None = None) -> dict[str, Any]:
    """Return the message about an incident, with its `reason` in the status if it is ongoing."""
    cause = incident.data.get("message")
    since = incident.at
    next_try = None
    waits = ""
    command = COMMANDS.get(incident.kind, "").format(incident.data.get("agent", ""))
    if reason is not None:
        cause = reason.cause or cause
        since = reason.since or since
        next_try = reason.next_try
        waits = reason.waits
        command = reason.command
    return {
        "version": VERSION,
        "id": f"{incident.kind}:{incident.subject}",
        "event": incident.kind,
        "at": incident.at.isoformat(),
        "text": incident.text,
        "cause": cause or None,
        "since": since.isoformat(),
        "next_try": None if next_try is None else next_try.isoformat(),
        "waits": waits or None,
        "command": f"arena {command}" if command else None,
        "data": dict(incident.data),
    }


def message_groups(
    untold: Sequence[RecordedIncident], reasons: Sequence[HealthReason]
) -> Iterator[tuple[list[RecordedIncident], HealthReason | None]]:
    """Yield the incidents that are told in one message, the oldest first, and the reason they are part of.

    Fifty agents that fail for one reason are one message.
    """
    groups: dict[object, list[RecordedIncident]] = {}
    reason_by_group = {}
    for recorded in untold:
        reason = _explaining_reason(recorded, reasons)

        # Incidents of agents with the same reason share a message; any other has one of its own.
        key: object = recorded.id
        if reason is not None and "agent" in recorded.incident.data:
            key = (recorded.incident.kind, reason.code, reason.about)
        groups.setdefault(key, []).append(recorded)
        reason_by_group[key] = reason

    for key, group in groups.items():
        yield group, reason_by_group[key]


def _explaining_reason(recorded: RecordedIncident, reasons: Sequence[HealthReason]) -> HealthReason | None:
    """Return the reason that explains an incident; of several, one with all their causes."""
    own_reasons = [reason for reason in reasons if recorded.id in reason.incidents]
    if not own_reasons:
        return None
    if len(own_reasons) == 1:
        return own_reasons[0]

    causes = [f"{reason.text}, {reason.cause}" for reason in own_reasons]
    return replace(own_reasons[0], cause="; ".join(causes))


def _group_message(group: Sequence[RecordedIncident], reason: HealthReason | None) -> dict[str, Any]:
    """Return the message about incidents that are told together."""
    message = incident_message(group[0].incident, reason)
    if len(group) > 1 and reason is not None:
        agents = [recorded.incident.data.get("agent") for recorded in group]
        message["text"] = reason.text
        message["data"] |= {"agents": agents[:MOST_LISTED], "count": len(group)}
    return message


def test_message(at: datetime) -> dict[str, Any]:
    """Return a test message."""
    return {
        "version": VERSION,
        "id": "test",
        "event": "test",
        "at": at.isoformat(),
        "text": "test message from Paper Arena",
        "data": {},
    }


def message_bytes(message: Mapping[str, Any], secrets: tuple[str, ...]) -> bytes:
    r"""Return a message as bytes: ASCII without markup and without secrets.

    >>> message_bytes({"text": "<b> & my-secret"}, ("my-secret",))
    b'{"text": "\\u003cb\\u003e \\u0026 [hidden]"}'
    """
    return json.dumps(_without_secrets(message, secrets)).translate(SAFE).encode()


def _without_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    """Return a value of a message with its texts on one line, shortened and without secrets."""
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
"""Seconds that it has to answer when the arena stops."""
EVERY = timedelta(seconds=15)
"""How often to look for what is to be sent."""
FIRST_PAUSE = timedelta(seconds=30)
MOST_AT_ONCE = 20
"""So many messages are sent at a time."""
MOST_TOGETHER = 500
"""So many incidents are looked at together; those of one reason are one message."""
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
"""What went wrong, in words, by the code of a reply."""
STATUS_CODES = {429: "rate_limited", 2: "arrived", 3: "redirected", 5: "server_error"}
"""The code of a reply by its status, or by the first digit of it."""


@dataclass(frozen=True, slots=True)
class WebhookReply:
    """The reply to a message; `wait` is for how many seconds the other side wants to be left alone."""

    code: str
    status: int | None = None
    wait: float | None = None

    @property
    def ok(self) -> bool:
        """Tell whether the message arrived."""
        return self.code == "arrived"

    @property
    def words(self) -> str:
        """Return the failure in words."""
        text = REPLY_WORDS[self.code]
        return f"{text} (status {self.status})" if self.status else text


async def send(webhook: Webhook, message: Mapping[str, Any], seconds: float = TIMEOUT) -> WebhookReply:
    """Send a message once, and return the reply."""
    return await ask(webhook, "POST", seconds, message_bytes(message, webhook.secrets))


async def ask(
    webhook: Webhook, method: str, seconds: float = TIMEOUT, body: bytes | None = None
) -> WebhookReply:
    """Make one request to an address, and return the reply. Only the status of the answer is read."""
    for name in ("httpx", "httpcore"):  # they would log the address
        logging.getLogger(name).setLevel(logging.WARNING)

    client = httpx.AsyncClient(
        verify=_trusted_certificates(), timeout=seconds, headers=HEADERS, follow_redirects=False
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
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates: to read them takes 18 ms of CPU, more than to send a message."""
    return httpx.create_ssl_context()


async def send_due(
    record: Record,
    webhook: Webhook,
    now: datetime,
    seconds: float = TIMEOUT,
    read_status: Callable[[], Status] | None = None,
) -> list[str]:
    """Send due messages until one fails; return the failure in words, in a list of one, or an empty list.

    `read_status` returns the status, which says why something goes on and when it is tried again.
    """
    untold = read_untold(record.engine, now, MOST_TOGETHER)
    if not untold:
        return []

    reasons: Sequence[HealthReason] = ()
    if read_status is not None:
        status = await asyncio.to_thread(read_status)
        reasons = status.reasons
    for group, reason in islice(message_groups(untold, reasons), MOST_AT_ONCE):
        reply = await send(webhook, _group_message(group, reason), seconds)
        if not reply.ok:
            failures = [_record_undelivered(record, webhook, recorded, reply, now) for recorded in group]
            return failures[:1]  # one message failed, whatever it was about
        for recorded in group:
            record_delivery(record.engine, recorded.id, now, None)

    return []


def _record_undelivered(
    record: Record, webhook: Webhook, recorded: RecordedIncident, reply: WebhookReply, now: datetime
) -> str:
    """Record that a message did not arrive, and return in words when it is sent again, if it is."""
    pause = min(FIRST_PAUSE * 2 ** min(recorded.tries, 16), LONGEST_REST)
    if reply.wait is not None:
        pause = max(pause, min(timedelta(seconds=reply.wait), LONGEST_REST))
    record_delivery(record.engine, recorded.id, None, now + pause)

    gives_up = recorded.tries + 1 >= MOST_TRIES
    then = "giving up after a day of retries" if gives_up else f"retrying in {pause}"
    return f"the message {recorded.incident.kind} was not delivered: {webhook.name} {reply.words}; {then}"


@dataclass
class RecordTrouble:
    """An incident of a record that can't be used, kept in memory: nothing can be written to it just now.

    It is sent once, unless it could be `written` after all.
    """

    incident: Incident | None = None
    reason: HealthReason | None = None
    is_written: bool = False
    is_sent: bool = False

    def forget(self) -> None:
        """Forget the incident: the record can be used again."""
        self.incident = None
        self.reason = None
        self.is_written = False
        self.is_sent = False


async def keep_sending(
    record: Record,
    webhook: Webhook | None,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
    read_status: Callable[[], Status] | None = None,
    record_trouble: RecordTrouble | None = None,
) -> None:
    """Send messages as they come, and once more when told to stop; drop them without a webhook.

    If the record can't be used just then, that is reported, and tried again. What `record_trouble` holds was
    not written to it, and is sent all the same.
    """
    trouble = record_trouble or RecordTrouble()
    while not stop.is_set():
        await _send_or_report(record, webhook, now(), say, TIMEOUT, read_status)
        await _send_unwritten(webhook, trouble, say, TIMEOUT)
        await sleep_unless_stopped(EVERY, stop)

    await _send_or_report(record, webhook, now(), say, LAST_TIMEOUT, read_status)
    await _send_unwritten(webhook, trouble, say, LAST_TIMEOUT)


async def _send_or_report(
    record: Record,
    webhook: Webhook | None,
    now: datetime,
    say: Callable[[str], None],
    seconds: float,
    read_status: Callable[[], Status] | None,
) -> None:
    """Send or drop due messages, and report a failure."""
    try:
        if webhook is None:
            drop_untold(record.engine)
            return
        for message in await send_due(record, webhook, now, seconds, read_status):
            say(message)
    except ArenaError as error:
        say(f"could not send messages: {error.message}")


async def _send_unwritten(
    webhook: Webhook | None, trouble: RecordTrouble, say: Callable[[str], None], seconds: float
) -> None:
    """Send the incident of a record to which it could not be written."""
    incident = trouble.incident
    is_done = trouble.is_written or trouble.is_sent
    if webhook is None or incident is None or is_done:
        return

    reply = await send(webhook, incident_message(incident, trouble.reason), seconds)
    trouble.is_sent = reply.ok
    if not reply.ok:
        say(f"the message {incident.kind} was not delivered: {webhook.name} {reply.words}")


PING = "ARENA_PING"
"""The environment variable with the address. Anybody who knows it can ping, so it is not in the config."""
PING_EVERY = timedelta(minutes=1)
"""At least so long from one ping to the next."""
PING_PAUSES = (timedelta(seconds=5), timedelta(seconds=20))
"""The pauses before the tries after the first."""


def ping_of(environ: Mapping[str, str]) -> Webhook | None:
    """Return the address to be pinged, None if the environment has none."""
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
    """Ping after good steps, until told to stop. Record the first failure, and when pings arrive again."""
    arrived_before = None

    while address is not None:
        await any_of(good_step, stop)
        if not good_step.is_set():
            return

        good_step.clear()
        reply = await ping(address, stop)
        if reply.ok is not arrived_before and not stop.is_set():
            try:
                if reply.ok:
                    end_incidents(record.engine, "ping_failed", now())
                else:
                    incident = ping_failed(now(), address.name, reply.words)
                    add_incidents(record.engine, [incident], unless="ping@")
                    say(incident.text)
                arrived_before = reply.ok
            except ArenaError as error:
                say(f"a ping could not be recorded: {error.message}")

        await sleep_unless_stopped(PING_EVERY, stop)


async def ping(address: Webhook, stop: asyncio.Event) -> WebhookReply:
    """Ping an address, a few times if it does not answer, and return its last reply."""
    reply = await ask(address, "GET")

    for pause in PING_PAUSES:
        if reply.ok or stop.is_set():
            break
        await sleep_unless_stopped(pause, stop)
        reply = await ask(address, "GET")

    return reply
