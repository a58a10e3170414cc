"""Secrets that must never appear: keys of the environment, anything like one, and addresses with one."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
_PARAMETER = (
    r"[\w.-]{0,80}(?:key|token|secret|passw(?:or)?d|pwd|credential|signature)[\w.-]{0,80}"
    r"|sig|auth|pass|code|jwt|session"
)
_SECRET_PATHS = (
    r"hooks\.slack\.com/(?:services|workflows|triggers)/",
    r"discord(?:app)?\.com/api/webhooks/",
    r"api\.telegram\.org/(?:file/)?bot",
    r"webhook\.office\.com/webhookb2/",
    r"hc-ping\.com/",
    r"maker\.ifttt\.com/(?:use|trigger)/",
    r"hooks\.zapier\.com/hooks/catch/",
    r"chat\.googleapis\.com/v1/spaces/",
)
"""Addresses whose path is the credential: whoever knows it may post there."""
_LOOKS_SECRET = (
    re.compile(r"(?i)(\bauthorization\b['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",}]+"),
    re.compile(r"(?i)(\bbearer\s+)[^\s'\",}]{6,}"),
    re.compile(r"(?i)(\b(?:x-)?api[-_ ]?key(?:\s+provided)?['\"]?\s*[:=]\s*['\"]?)[^\s'\",}&]{6,}"),
    re.compile(rf"(?i)([?&#;](?:{_PARAMETER})=)[^&#\s'\"<>]+"),
    re.compile(r"(?i)(\b(?:https?|wss?|ftp)://)[^/?#\s'\"<>]+(?=@)"),
    re.compile(r"(?i)(\b[a-z][a-z0-9+.-]{0,30}://[^/?#\s'\"<>:@]*:)(?!\*+@)[^/?#\s'\"<>]+(?=@)"),
    re.compile(rf"(?i)((?:{'|'.join(_SECRET_PATHS)}))[^/?#\s'\"<>][^?#\s'\"<>]*"),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_A-Za-z0-9*.]{12,}"),
)


def secrets_in(environ: Mapping[str, str], *named: str) -> tuple[str, ...]:
    """Return the secret values of an environment in every form that may come back, longest first.

    Secret is what its name says to be, and what is `named`.
    """
    forms = set[str]()
    for name, value in environ.items():
        is_secret = name in named or _SECRET_NAME.search(name)
        if is_secret and len(value) >= _SHORTEST:
            forms.update(_secret_forms(value))

    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _secret_forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as JSON, a URL, HTML, Python and a header encode it."""
    raw = secret.encode("utf-8", "surrogateescape")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(raw)
    yield quote(raw, safe="")
    yield escape(secret)
    yield repr(secret)[1:-1]
    yield b64encode(raw).decode().rstrip("=")


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text without these secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without these secrets, or anything else that looks like a key."""
    text = remove_secrets(text, secrets)
    for pattern in _LOOKS_SECRET:
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return text


_RANDOM = re.compile(r"[0-9a-f]{32,}|(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9_+=~]{20,}")
"""A random token: a long run of digits and letters in both cases."""


def credential_in(address: str, bare: bool = False) -> str:
    """Return which part of an address may be a credential, in words, or "".

    A `bare` address is one of a server, which has neither a query string nor a fragment.

    >>> credential_in("https://ann:pass@host/v1"), credential_in("postgresql://ann@host/arena")
    ('a user name or password before the @', '')
    >>> credential_in("https://host/rss?topic=news"), credential_in("https://host/rss?topic=news", bare=True)
    ('', 'a query string')
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # an invalid address is reported where it is read
        return ""

    user, at, _ = parts.netloc.rpartition("@")
    if at and (user.partition(":")[2] or parts.scheme in ("http", "https", "ws", "wss", "ftp")):
        return "a user name or password before the @"

    for words, text in (("a query string", parts.query), ("a fragment", parts.fragment)):
        values = [value for _, value in parse_qsl(text)] or [text]
        looks_secret = redact(f"?{text}") != f"?{text}" or any(map(_RANDOM.fullmatch, values))
        if text and (bare or looks_secret):
            return words

    if redact(address) != address or any(map(_RANDOM.fullmatch, parts.path.split("/"))):
        return "a path that is a secret by itself"
    return ""


def without_credentials(value: Any) -> Any:
    """Return plain data without credentials in its addresses; a server's lose their query string.

    >>> without_credentials({"base_url": "https://ann:pass@host/v1?x=1", "p": 0.5})
    {'base_url': 'https://[hidden]@host/v1?[hidden]', 'p': 0.5}
    """
    if isinstance(value, Mapping):
        members = {}
        for key, item in value.items():
            if key in SERVER_KEYS and isinstance(item, str):
                members[key] = re.sub(r"([?#]).+", rf"\1{HIDDEN}", redact(item))
            else:
                members[key] = without_credentials(item)
        return members

    if isinstance(value, list | tuple):
        return [without_credentials(item) for item in value]
    if isinstance(value, str) and "://" in value:
        return redact(value)
    return value


SERVER_KEYS = ("base_url", "book_url", "url", "webhook")
"""Settings that are a server's address and nothing else."""
