"""Keys taken out of text before it is stored or shown."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
_LOOKS_SECRET = (
    re.compile(r"(?i)(\bauthorization\b['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",}]+"),
    re.compile(r"(?i)(\bbearer\s+)[^\s'\",}]{6,}"),
    re.compile(r"(?i)(\b(?:x-)?api[-_ ]?key(?:\s+provided)?['\"]?\s*[:=]\s*['\"]?)[^\s'\",}&]{6,}"),
    re.compile(r"(?i)([?&](?:key|api_key|token|access_token)=)[^&\s'\"]+"),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_A-Za-z0-9*.]{12,}"),
)


def secrets_in(environ: Mapping[str, str], *named: str) -> tuple[str, ...]:
    """The values in an environment that must appear nowhere, longest first, in every form they come back in.

    Secret is what its name says to be, and what is `named`.
    """
    found = {
        form
        for name, value in environ.items()
        if (name in named or _SECRET_NAME.search(name)) and len(value) >= _SHORTEST
        for form in _forms(value)
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _forms(secret: str) -> Iterator[str]:
    """A secret as it stands, and as JSON, a URL, a page, Python and a header of its own write it."""
    raw = secret.encode("utf-8", "surrogateescape")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(raw)
    yield quote(raw, safe="")
    yield escape(secret)
    yield repr(secret)[1:-1]
    yield b64encode(raw).decode().rstrip("=")


def without(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets.

    >>> without("my key is canary-key-1", ["canary-key-1"])
    'my key is [hidden]'
    """
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, nor anything else that looks like a key.

    >>> redacted("Incorrect API key provided: sk-abcd1234****wxyz. Authorization: Bearer abcdefgh")
    'Incorrect API key provided: [hidden] Authorization: [hidden]'
    """
    text = without(text, secrets)
    for pattern in _LOOKS_SECRET:
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return text
