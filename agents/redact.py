"""Keys taken out of text before it is stored or shown."""

import re
from collections.abc import Iterable, Mapping

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


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values in an environment that must appear nowhere, longest first."""
    found = {
        value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


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
