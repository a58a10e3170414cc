"""Checks of the webhook's address. It may be a secret in itself, so no message shows it."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from arena.config.document import Document
from arena.config.endpoint import WEB
from arena.config.keys import VARIABLE


def check_watch(document: Document) -> None:
    """Note an address that is none, a name that names no variable, and two of them at once.

    They are read as they stand, so that they are told of together with mistakes elsewhere.
    """
    address, name = _text(document, "webhook"), _text(document, "webhook_env")
    if address and not is_address(address):
        words = f"this is no {WEB[3:]}. Where it is a secret, webhook_env names the variable that holds it"
        document.add(("watch", "webhook"), "other text", WEB, words)
    if not name:
        return
    key = ("watch", "webhook_env")
    if not re.fullmatch(VARIABLE, name):
        document.add(key, "other text", "the name of an environment variable (not the address itself)")
    if address:
        document.add(key, "webhook too", "one of the two", "webhook says already where. Take one of them out")


def check_variable(document: Document, environ: Mapping[str, str]) -> None:
    """Note a variable that holds no address."""
    name = _text(document, "webhook_env")
    if not re.fullmatch(VARIABLE, name) or is_address(environ.get(name, "")):
        return
    found = f"{name} is {'no address' if environ.get(name) else 'not set'}"
    words = f"{found}: it should hold {WEB}. Set it, or write it into .env"
    document.add(("watch", "webhook_env"), found, f"{name} set to {WEB}", words)


def _text(document: Document, key: str) -> str:
    """What a key of the section says; of what is no text the section's own check tells."""
    found = document.get("watch", key)
    return found if isinstance(found, str) else ""


def is_address(text: str) -> bool:
    """Whether a text is the address of a web service.

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
