"""Messages as a webhook gets them, and whose they are: what may appear in none of them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agents.redact import redacted, secrets_in
from agents.text import one_line
from arena.config import Watch
from arena.config.webhook import is_address
from arena.errors import ArenaError
from arena.incidents import Incident

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


def webhook_of(watch: Watch, environ: Mapping[str, str]) -> Webhook | None:
    """The webhook of a config; None where it names none."""
    name = watch.webhook_env or ""
    url = watch.webhook or environ.get(name, "")
    if not url:
        if name:
            raise ArenaError("no_webhook", f"{name} is not set: it should hold the webhook's address")
        return None
    if not is_address(url):
        raise ArenaError("bad_webhook", "the webhook's address is none", "it begins with https:// or http://")
    parted = {f"part {number}": part for number, part in enumerate(_parts(url))}
    return Webhook(url, secrets_in({**environ, **parted, "url": url}, "url", *parted, name))


def _parts(url: str) -> Iterator[str]:
    """What of an address must not be told either, should somebody repeat it."""
    parts = urlsplit(url)
    path = parts.path.strip("/")
    yield from (path, parts.query, parts.password or "", *(value for _, value in parse_qsl(parts.query)))
    yield from (word for word in path.split("/") if len(word) >= LONG_WORD)


def message(incident: Incident) -> dict[str, Any]:
    """An incident as it is sent."""
    return {
        "version": VERSION,
        "id": f"{incident.kind}:{incident.subject}",
        "event": incident.kind,
        "at": incident.at.isoformat(),
        "text": incident.text,
        "data": dict(incident.data),
    }


def trial_message(at: datetime) -> dict[str, Any]:
    """A message that only says that messages arrive."""
    words = "messages of the arena arrive here"
    return {
        "version": VERSION,
        "id": "test",
        "event": "test",
        "at": at.isoformat(),
        "text": words,
        "data": {},
    }


def packed(said: Mapping[str, Any], secrets: tuple[str, ...]) -> bytes:
    r"""A message as bytes: ASCII in which nothing is markup, and without secrets.

    >>> packed({"text": "<b> & my-secret"}, ("my-secret",))
    b'{"text": "\\u003cb\\u003e \\u0026 [hidden]"}'
    """
    return json.dumps(_clean(said, secrets)).translate(SAFE).encode()


def _clean(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return one_line(redacted(value, secrets), LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {key: _clean(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, secrets) for item in value]
    return value
