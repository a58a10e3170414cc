"""Where the dashboard listens: for this machine alone or, behind a proxy, wherever it is told to."""

import errno
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from arena.errors import ArenaError

HOST = "127.0.0.1"
PORTS = 100
HINT = "leave --host out; or add --behind-proxy once a proxy asks for a password (arena dashboard --help)"


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """The address at which a proxy shows the dashboard: its host, its port, and the path below it."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """What a browser says that a page comes from."""
        usual = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{bracketed(self.host)}" + (f":{self.port}" if self.port != usual else "")


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen: an address by its numbers, a port, and who comes there: a proxy, by what address."""

    address: str = HOST
    port: int = 8501
    behind_proxy: bool = False
    public: PublicAddress | None = None

    @property
    def url(self) -> str:
        """Where the dashboard is found from this machine."""
        path = f"/{self.public.path}" if self.public and self.public.path else ""
        return f"http://{bracketed(self.address)}:{self.port}{path}"


def listen_address(host: str, port: int, behind_proxy: bool, public: str | None) -> ListenAddress:
    """Where to listen, as it was asked for; refused where others could come without a password.

    A proxy asks at one port, so behind one no other is taken in its stead.
    """
    if public is not None and not behind_proxy:
        raise ArenaError(
            "no_proxy", "--public is the address of a proxy", "add --behind-proxy, or leave it out", status=2
        )
    address = numbers(host)
    if not behind_proxy and not ip_address(address).is_loopback:
        what = f"other machines can reach {host}, and the dashboard asks nobody for a password"
        raise ArenaError("open_to_others", what, HINT, status=2)
    found = free_port(port, address, 1 if behind_proxy else PORTS)
    return ListenAddress(address, found, behind_proxy, None if public is None else published(public))


def numbers(host: str) -> str:
    """A host by its numbers, so that nobody can make it mean another one later.

    >>> numbers("localhost"), numbers("[::1]"), numbers("0.0.0.0")
    ('127.0.0.1', '::1', '0.0.0.0')
    """
    bare = host.removeprefix("[").removesuffix("]")
    if bare.lower().rstrip(".") == "localhost":
        return HOST
    try:
        return str(ip_address(bare))
    except ValueError:
        return _looked_up(host)


def _looked_up(host: str) -> str:
    try:
        found = socket.getaddrinfo(host or "?", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ArenaError("no_host", f"{host!r} is no host that is known here", HINT, status=2) from error
    return str(min(found, key=lambda one: one[0] != socket.AF_INET)[4][0])


def free_port(first: int, address: str = HOST, tries: int = PORTS) -> int:
    """The first port from here on that nobody listens at."""
    for port in range(first, min(first + tries, 65_536)):
        try:
            with socket.socket(_family(address)) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise ArenaError("no_host", f"{address} is not of this machine", HINT, status=2) from error
            continue
        return port
    which = f"no port from {first} on is" if tries > 1 else f"port {first} is not"
    raise ArenaError("no_port", f"{which} free", "name another with --port")


def answers(place: ListenAddress) -> bool:
    """Whether someone listens there."""
    every = {"0.0.0.0": HOST, "::": "::1"}  # noqa: S104 - compared with, and never bound
    with socket.socket(_family(place.address)) as probe:
        probe.settimeout(1)
        return probe.connect_ex((every.get(place.address, place.address), place.port)) == 0


def published(text: str) -> PublicAddress:
    """The address of a proxy, taken apart.

    >>> published("https://arena.example.com/season/")
    PublicAddress(scheme='https', host='arena.example.com', port=443, path='season')
    """
    try:
        parts = urlsplit(text)
        known = {"http": 80, "https": 443}.get(parts.scheme)
        port = parts.port or known
    except ValueError:
        known = port = None
        parts = urlsplit("")
    more = parts.query or parts.fragment or parts.username or parts.password
    if not parts.hostname or port is None or known is None or more:
        hint = "write it like https://arena.example.com, with a path if there is one"
        raise ArenaError("bad_address", f"--public {text!r} is no address of a page", hint, status=2)
    return PublicAddress(parts.scheme, parts.hostname, port, parts.path.strip("/"))


def bracketed(address: str) -> str:
    """An address as it stands in front of a port.

    >>> bracketed("::1"), bracketed("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{address}]" if ":" in address else address


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
