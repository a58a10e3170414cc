"""The addresses at which the dashboard and the desk listen: this machine only, unless behind a proxy."""

import errno
import logging
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from arena.errors import ArenaError

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
DASHBOARD_PORT = 8501
DESK_PORT = 8600
KEY_VARIABLE = "ARENA_KEY"
"""The environment variable that holds an agent's key at the desk."""
USUAL_PORTS = {"http": 80, "https": 443}
PORTS = 100
"""How many ports are tried, from the one that is wanted."""
PROXY_HINT = "omit --host; or add --behind-proxy once a proxy asks for a password (arena dashboard --help)"


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """The address at which a proxy shows the dashboard: its host, its port, and the path below it."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Return the origin that a browser sends for the page."""
        origin = f"{self.scheme}://{bracketed(self.host)}"
        return origin if self.port == USUAL_PORTS[self.scheme] else f"{origin}:{self.port}"


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen: a numeric address, a port, and the proxy's public address, if any."""

    address: str = HOST
    port: int = DASHBOARD_PORT
    behind_proxy: bool = False
    public: PublicAddress | None = None

    @property
    def url(self) -> str:
        """Return the dashboard's address on this machine."""
        path = f"/{self.public.path}" if self.public and self.public.path else ""
        return f"http://{bracketed(self.address)}:{self.port}{path}"


OPEN_DASHBOARD = ("other machines can reach {host}, and the dashboard has no password", PROXY_HINT)
OPEN_DESK = (
    "other machines can reach {host}, and keys and answers would pass unencrypted",
    "omit --host; or add --behind-proxy once a proxy encrypts (arena outside desk --help)",
)
"""What is wrong with an address that others can reach, and what to do instead."""


def listen_address(
    host: str, port: int, behind_proxy: bool, public: str | None, open_words: tuple[str, str]
) -> ListenAddress:
    """Return where to listen; raise `ArenaError` if others could connect without a password.

    A proxy asks at one port, so behind one no other is taken in its stead.
    """
    if public is not None and not behind_proxy:
        hint = "add --behind-proxy, or leave it out"
        raise ArenaError("no_proxy", "--public is the address of a proxy", hint, status=2)

    address = numeric_address(host)
    if not behind_proxy and not ip_address(address).is_loopback:
        message, hint = open_words
        raise ArenaError("open_to_others", message.format(host=host), hint, status=2)

    public_address = None if public is None else parse_public_address(public)
    tries = 1 if behind_proxy else PORTS
    free = free_port(port, address, tries)
    return ListenAddress(address, free, behind_proxy, public_address)


def numeric_address(host: str) -> str:
    """Return the numeric address of a host, so that its name can't later resolve to another.

    >>> numeric_address("localhost"), numeric_address("[::1]"), numeric_address("0.0.0.0")
    ('127.0.0.1', '::1', '0.0.0.0')
    """
    bare = host.removeprefix("[").removesuffix("]")
    if bare.lower().rstrip(".") == "localhost":
        return HOST
    with suppress(ValueError):
        return str(ip_address(bare))
    try:
        addresses = socket.getaddrinfo(host or "?", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ArenaError("no_host", f"the host {host!r} is unknown here", PROXY_HINT, status=2) from error
    addresses.sort(key=lambda address: address[0] != socket.AF_INET)
    return str(addresses[0][4][0])


def free_port(first: int, address: str = HOST, tries: int = PORTS) -> int:
    """Return the first port from here on that nobody listens at."""
    for port in range(first, min(first + tries, 65_536)):
        try:
            with socket.socket(_family(address)) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                message = f"{address} is no address of this machine"
                raise ArenaError("no_host", message, PROXY_HINT, status=2) from error
            continue
        if port != first:
            logger.warning("Port %d is taken; using %d.", first, port)
        return port
    which = f"no port from {first} on is" if tries > 1 else f"port {first} is not"
    raise ArenaError("no_port", f"{which} free", "name another with --port")


def is_listening(place: ListenAddress) -> bool:
    """Tell whether something listens at a port."""
    # Who listens at all addresses of the machine is asked at its own one.
    own_address = {"0.0.0.0": HOST, "::": "::1"}  # noqa: S104 - compared with, and never bound
    address = own_address.get(place.address, place.address)
    with socket.socket(_family(address)) as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, place.port)) == 0


def parse_public_address(text: str) -> PublicAddress:
    """Return the parts of a proxy's public address; raise `ArenaError` if it is none.

    >>> parse_public_address("https://arena.example.com/season/")
    PublicAddress(scheme='https', host='arena.example.com', port=443, path='season')
    """
    try:
        parts = urlsplit(text)
        port = parts.port or USUAL_PORTS.get(parts.scheme)
    except ValueError:
        parts = urlsplit("")
        port = None

    has_more = any((parts.query, parts.fragment, parts.username, parts.password))
    is_usual = parts.scheme in USUAL_PORTS and not has_more
    if not parts.hostname or port is None or not is_usual:
        hint = "write it as https://arena.example.com, with a path if there is one"
        raise ArenaError("bad_address", f"--public {text!r} is not a web address", hint, status=2)
    return PublicAddress(parts.scheme, parts.hostname, port, parts.path.strip("/"))


def bracketed(address: str) -> str:
    """Return an address as written in front of a port.

    >>> bracketed("::1"), bracketed("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{address}]" if ":" in address else address


def _family(address: str) -> socket.AddressFamily:
    """Return the kind of socket that an address needs."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET
