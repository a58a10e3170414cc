"""Where the arena listens, and where it sends messages: addresses as a config writes them."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from arena.config.units import unmeant

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
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def endpoint(text: object) -> Endpoint:
    """Where to listen.

    >>> str(endpoint("127.0.0.1:8780")), str(endpoint("[::1]:8780")), bool(endpoint("off"))
    ('127.0.0.1:8780', '[::1]:8780', False)
    """
    if text == "off":
        return Endpoint()
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})", str(text))
    if not isinstance(text, str) or match is None or not 0 < int(match[3]) < 2**16:
        raise unmeant(ENDPOINT)
    if match[1] and not _is_address(match[1]):
        raise unmeant(ENDPOINT)
    return Endpoint(match[1] or match[2], int(match[3]))


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


WEB = "an address that begins with https:// or http://"
WebAddress = Annotated[str, Field(min_length=1), WithJsonSchema({"meant": WEB})]
Listen = Annotated[Endpoint, PlainValidator(endpoint), WithJsonSchema({"meant": ENDPOINT})]
