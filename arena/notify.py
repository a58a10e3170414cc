"""Messages to the operator's webhook: from the record, tried until they arrive, for a day at most.

A message may come twice, when the arena was killed between sending it and noting that: its `id` is the same
then. Nothing of this holds a round up, and nothing tells the webhook's address, which may be a secret.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import httpx

from arena.errors import ArenaError
from arena.incidents import Told
from arena.messages import Webhook, message, packed
from arena.store.incidents import MOST_TRIES, let_go, to_tell, tried
from arena.store.record import Record
from markets.wire.patience import retry_after

TIMEOUT, LAST_WORD = 10.0, 3.0
"""Seconds that the other side has to answer, and has when the arena stops."""
EVERY = 15.0
"""Seconds between two looks at what is to be told."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MOST_AT_ONCE = 20
HEADERS = {"Content-Type": "application/json", "User-Agent": "paper-arena"}

SAID = {
    "redirected": "answered with a redirect, which is not followed",
    "refused": "refused the message",
    "rate_limited": "wants fewer messages",
    "server_error": "has trouble of its own",
    "timeout": f"did not answer within {TIMEOUT:g} s",
    "unreachable": "can't be reached",
    "bad_url": "is no address of a service",
}
"""What went wrong, by its code."""


@dataclass(frozen=True, slots=True)
class Reply:
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
        return SAID[self.code] + (f" (status {self.status})" if self.status else "")


async def send(webhook: Webhook, said: Mapping[str, Any], seconds: float = TIMEOUT) -> Reply:
    """Send a message once. What the other side answers is not read beyond its status."""
    for name in ("httpx", "httpcore"):  # they would log the address
        logging.getLogger(name).setLevel(logging.WARNING)
    body = packed(said, webhook.secrets)
    client = httpx.AsyncClient(verify=_trusted(), timeout=seconds, headers=HEADERS, follow_redirects=False)
    try:
        async with (
            asyncio.timeout(seconds),
            client,
            client.stream("POST", webhook.url, content=body) as answer,
        ):
            return Reply(_code(answer.status_code), answer.status_code, retry_after(answer.headers))
    except (TimeoutError, httpx.TimeoutException):
        return Reply("timeout")
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        return Reply("bad_url")
    except httpx.HTTPError:
        return Reply("unreachable")


@cache
def _trusted() -> ssl.SSLContext:
    """Whose word counts for who the other side is: to read that takes longer than a message."""
    return httpx.create_ssl_context()


def _code(status: int) -> str:
    """What a status means."""
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return "rate_limited"
    classes = {2: "arrived", 3: "redirected", 5: "server_error"}
    return classes.get(status // 100, "refused")


async def tell(record: Record, webhook: Webhook, now: datetime, seconds: float = TIMEOUT) -> list[str]:
    """Send what is to be sent now, until one does not arrive; what there is to say of it, in words."""
    for told in to_tell(record.engine, now, MOST_AT_ONCE):
        reply = await send(webhook, message(told.incident), seconds)
        if not reply.ok:
            return [_put_off(record, webhook, told, reply, now)]
        tried(record.engine, told.id, now, None)
    return []


def _put_off(record: Record, webhook: Webhook, told: Told, reply: Reply, now: datetime) -> str:
    """Note that a message did not arrive, and say when it is tried again, if it is."""
    pause = min(FIRST_PAUSE * 2 ** min(told.tries, 16), LONGEST_PAUSE)
    if reply.wait is not None:
        pause = max(pause, min(timedelta(seconds=reply.wait), LONGEST_PAUSE))
    tried(record.engine, told.id, None, now + pause)
    last = told.tries + 1 >= MOST_TRIES
    then = "nobody will hear of it: it was tried for a day" if last else f"it is sent again in {pause}"
    return f"the message {told.incident.kind} did not arrive: {webhook.name} {reply.words}; {then}"


async def telling(
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
        await _tell_or_say(record, webhook, now(), say, TIMEOUT)
        try:
            async with asyncio.timeout(EVERY):
                await stop.wait()
        except TimeoutError:
            continue
    await _tell_or_say(record, webhook, now(), say, LAST_WORD)


async def _tell_or_say(
    record: Record, webhook: Webhook | None, now: datetime, say: Callable[[str], None], seconds: float
) -> None:
    try:
        if webhook is None:
            let_go(record.engine)
            return
        for words in await tell(record, webhook, now, seconds):
            say(words)
    except ArenaError as error:
        say(f"messages could not be sent: {error.message}")
