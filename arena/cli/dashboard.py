"""`arena dashboard`: the record in a browser.

While it is open, what it shows is computed anew whenever it has become stale.
"""

import errno
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from arena.cli.options import DEFAULT, Options, command, flag, option
from arena.cli.output import progress
from arena.errors import ArenaError
from arena.operations.page_programs import page_command, page_environment

FIRST, EVERY = 10.0, 30.0
"""Seconds until it is looked whether anything is stale, for the first page goes first, and then again."""
HOST = "127.0.0.1"
PORTS = 100
HINT = "omit --host; or add --behind-proxy once a proxy asks for a password (arena dashboard --help)"
PORT = 8501
PATIENCE = 10

FLAGS = (
    "--server.headless=true",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
    "--client.toolbarMode=viewer",
    "--client.disableDataExport=true",
    "--client.showErrorDetails=type",
    "--client.showErrorLinks=false",
    "--logger.level=warning",
    "--logger.hideWelcomeMessage=true",
    "--runner.postScriptGC=false",
    "--runner.magicEnabled=false",
)
"""How Streamlit is run: without telemetry, without its greeting, for which it asks a stranger for the
address of this machine, without its own CSV export, which would not quote what a spreadsheet takes for a
formula, without a search for garbage after each page, which takes longer than most pages, and without showing
what stands alone in the file that it runs, as docstrings do."""


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


@command("config", "database")
def dashboard(
    chosen: Options,
    host: str = option("Where to listen: this machine, unless --behind-proxy.", "HOST", default=HOST),
    port: int = option("The port, or the next free one.", default=PORT),
    behind_proxy: bool = flag("Only a proxy with encryption and a password reaches it; --port is exact."),
    public: str | None = option("The proxy's public address.", "URL"),
) -> None:
    """Show the record in a browser until Ctrl-C, on this machine only unless behind a proxy.

    Pages only read the record. Outdated scores are computed in the background and saved if the record is
    writable.

    It has no password. With --public it answers only at that address and path.

    Example: arena dashboard --database .demo/demo.db

    Example: arena dashboard --behind-proxy --public https://arena.example.com
    """
    where = listen_address(host, port, behind_proxy, public)
    address = chosen.record()
    if chosen.database and "://" not in address and not Path(address).exists():
        from arena.record.schema.database import NoRecord

        raise NoRecord(address)
    serve(address, where, chosen.config or (None if chosen.database else DEFAULT))


def serve(address: str, where: ListenAddress, config: Path | None = None) -> None:
    """Run the dashboard on a record, whose config may be known, until it is stopped."""
    command = [*page_command("dashboard"), *listening(where), *FLAGS]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, it ends its server too
    server = subprocess.Popen(command, env=page_environment(address, config), stdout=subprocess.DEVNULL)
    told = end_with(server)
    try:
        while server.poll() is None and not answers(where):
            time.sleep(0.02)
        if server.poll() is None:
            whom = f", for the proxy at {where.public.origin}" if where.public else ", for a proxy"
            print(f"\nDashboard: {where.url}{whom * where.behind_proxy}  (Ctrl-C ends it)", flush=True)
        status = wait_for(server, address)
    except KeyboardInterrupt:
        status = 0
    if told:
        server.terminate()
        try:
            server.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        print("Dashboard stopped.")
    elif status:
        raise ArenaError("dashboard", f"the dashboard exited with status {status}", "its error is above")


def wait_for(server: subprocess.Popen[bytes], address: str) -> int:
    """Wait until a server ends, and keep up meanwhile; its exit status.

    Where that can't be done it is said once, and the pages go on showing what was worked out last.
    """
    able, pause = True, FIRST
    while True:
        try:
            return server.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            pause = EVERY
        try:
            if able:
                keep_up(address)
        except ArenaError as error:
            able = error.code in ("no_record", "locked")  # it may be made, or let go of, at any time
            if not able:
                words = "scores are not recomputed here, only shown as last cached"
                print(f"{words}: {error.message}; {error.hint}", file=sys.stderr)


def keep_up(address: str) -> None:
    """Work out what is stale, if anything is; a record that nobody has played in is left alone."""
    from arena.clock import now
    from arena.record.record import Record
    from arena.record.schema.database import open_read_only, reading
    from arena.scores.refresh import is_stale, refresh_cache

    with open_read_only(address) as engine, reading(engine) as connection:
        if not is_stale(connection):
            return
    with closing(Record.join(address)) as record, progress("Computing scores") as moved:
        refresh_cache(record, now(), moved)


def end_with(server: subprocess.Popen[bytes]) -> list[int]:
    """From now on who is told to end ends the server too; the signals that have come.

    Not by the exception alone: raised while Python clears away in the midst of something, it is lost.
    """
    told = list[int]()

    def end(number: int, _: object) -> None:
        told.append(number)
        server.terminate()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return told


def listening(where: ListenAddress) -> list[str]:
    """Where Streamlit listens, and for whom: a page from elsewhere is refused, by any name that it uses."""
    said = {"server.address": [where.address], "server.port": [str(where.port)]}
    if where.behind_proxy:
        said["server.enableWebsocketCompression"] = ["true"]
    own = dict.fromkeys([where.address, HOST, "localhost"])
    if where.public is not None:
        said["server.allowedHosts"] = [where.public.host, *own]
        said["server.corsAllowedOrigins"] = [where.public.origin]
        said["server.baseUrlPath"] = [where.public.path]
        said["browser.serverAddress"] = [where.public.host]
        said["browser.serverPort"] = [str(where.public.port)]
    elif not where.behind_proxy:
        said["server.allowedHosts"] = list(own)
    return [f"--{name}={value}" for name, values in said.items() for value in values]


OPEN_WORDS = "other machines can reach {host}, and the dashboard has no password", HINT


def listen_address(
    host: str, port: int, behind_proxy: bool, public: str | None, open_words: tuple[str, str] = OPEN_WORDS
) -> ListenAddress:
    """Where to listen, as it was asked for; refused where others could come without a password.

    A proxy asks at one port, so behind one no other is taken in its stead.
    """
    if public is not None and not behind_proxy:
        raise ArenaError(
            "no_proxy", "--public is the address of a proxy", "add --behind-proxy, or leave it out", status=2
        )
    address = numbers(host)
    if not behind_proxy and not ip_address(address).is_loopback:
        words, hint = open_words
        raise ArenaError("open_to_others", words.format(host=host), hint, status=2)
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
    with suppress(ValueError):
        return str(ip_address(bare))
    try:
        found = socket.getaddrinfo(host or "?", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ArenaError("no_host", f"the host {host!r} is unknown here", HINT, status=2) from error
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
                raise ArenaError(
                    "no_host", f"{address} is no address of this machine", HINT, status=2
                ) from error
            continue
        if port != first:
            print(f"Port {first} is taken; using {port}.", file=sys.stderr)
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
        hint = "write it as https://arena.example.com, with a path if there is one"
        raise ArenaError("bad_address", f"--public {text!r} is not a web address", hint, status=2)
    return PublicAddress(parts.scheme, parts.hostname, port, parts.path.strip("/"))


def bracketed(address: str) -> str:
    """An address as it stands in front of a port.

    >>> bracketed("::1"), bracketed("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{address}]" if ":" in address else address


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
