"""`arena dashboard`: the record in a browser.

While a dashboard is open, what it shows is worked out again whenever it has become stale.
"""

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.dashboard_address import HOST, ListenAddress, answers, listen_address
from arena.cli.options import DEFAULT, Options, command
from arena.cli.output import progress
from arena.errors import ArenaError

FIRST, EVERY = 10.0, 30.0
"""Seconds until it is looked whether anything is stale, for the first page goes first, and then again."""


def wait_for(server: "subprocess.Popen[bytes]", address: str) -> int:
    """Wait until a server ends, and keep up meanwhile; its exit status.

    Where that can't be done it is said once, and the pages go on showing what was worked out last.
    """
    able, pause = True, FIRST
    while True:
        try:
            return server.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            able, pause = able and _tried(address), EVERY


def _tried(address: str) -> bool:
    """Work out what is stale; False where there is no use in trying again."""
    try:
        keep_up(address)
    except ArenaError as error:
        if error.code in ("no_record", "locked"):  # it may be made, or let go of, at any time
            return True
        words = "scores are not computed here, only shown as they were cached last"
        print(f"{words}: {error.message}; {error.hint}", file=sys.stderr)
        return False
    return True


def keep_up(address: str) -> None:
    """Work out what is stale, if anything is; a record that nobody has played in is left alone."""
    from arena.clock import now
    from arena.record.record import Record
    from arena.record.schema.database import open_read_only, reading
    from arena.scores.refresh import is_stale, refresh_cache

    with open_read_only(address) as engine, reading(engine) as connection:
        if not is_stale(connection):
            return
    record = Record.join(address)
    try:
        with progress("Computing scores") as moved:
            refresh_cache(record, now(), moved)
    finally:
        record.close()


PAGES = "arena.pages"
"""The group of entry points by which the pages' programs are known: pyproject.toml has them."""
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
    "--theme.light.primaryColor=#0072B2",
    "--theme.dark.primaryColor=#56B4E9",
)
"""How Streamlit is run: without telemetry, without its greeting, for which it asks a stranger for the
address of this machine, without its own CSV export, which would not quote what a spreadsheet takes for a
formula, and without a search for garbage after each page, which takes longer than most pages."""

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there: a proxy for all that the server itself would ask of the web. When a page from
elsewhere knocks, Streamlit asks a stranger for the address of this machine."""


@command("config", "database")
def dashboard(
    chosen: Options,
    host: Annotated[
        str, typer.Option(help="Where to listen: another than this machine only with --behind-proxy.")
    ] = HOST,
    port: Annotated[int, typer.Option(help="The port; the next free one if it is taken.")] = PORT,
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="A proxy that asks for a password stands in front; see below."),
    ] = False,
    public: Annotated[
        str | None,
        typer.Option("--public", metavar="URL", help="The proxy's address, as people type it."),
    ] = None,
) -> None:
    """Show the record in a browser until Ctrl-C: on this machine only, unless a proxy stands in front.

    The pages only read the record: it can be looked at while an arena plays. Scores that have become stale
    are computed beside, as by `arena run`, and kept in the record if it may be written.

    The dashboard has no password of its own, so it refuses to listen where other machines can reach it.
    With --behind-proxy it does: you say that nobody gets there but through a proxy, which asks for a password
    and encrypts. It then takes no other port than the one named. --public lets it answer at that address
    alone, and under its path if it has one. Caddy and nginx are such proxies.

    Example: arena dashboard --database .demo/demo.db

    Example: arena dashboard --behind-proxy --public https://arena.example.com
    """
    where = listen_address(host, port, behind_proxy, public)
    serve(chosen.record(), where, chosen.config or (None if chosen.database else DEFAULT))


def serve(address: str, where: ListenAddress, config: Path | None = None) -> None:
    """Run the dashboard on a record, whose config may be known, until it is stopped."""
    command = [*page_command("dashboard"), *listening(where), *FLAGS]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, it ends its server too
    server = subprocess.Popen(command, env=environment(address, config), stdout=subprocess.DEVNULL)
    told = end_with(server)
    try:
        while server.poll() is None and not answers(where):
            time.sleep(0.02)
        if server.poll() is None:
            print(f"\nDashboard: {_found_at(where)}  (Ctrl-C ends it)", flush=True)
        status = wait_for(server, address)
    except KeyboardInterrupt:
        status = 0
    if told:
        _end(server)
        print("Dashboard ended.")
    elif status:
        raise ArenaError("dashboard", f"the dashboard ended with status {status}", "its words are above")


def end_with(server: "subprocess.Popen[bytes]") -> list[int]:
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


def _found_at(where: ListenAddress) -> str:
    if where.public is None:
        return f"{where.url}, for a proxy" if where.behind_proxy else where.url
    return f"{where.url}, for the proxy at {where.public.origin}"


def environment(address: str, config: Path | None = None) -> dict[str, str]:
    """Ours, with record and config named, our own packages found first, and the web out of reach."""
    home = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    ours = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    shut = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), NOWHERE)
    named = {"ARENA_DATABASE": address, "ARENA_CONFIG": str(config or "")}
    return ours | shut | named | {"PYTHONPATH": path}


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def page_command(name: str) -> list[str]:
    """What starts a program of the pages, `dashboard` or `report`, in a process of its own.

    It is looked up by its name among the entry points of what is installed: nothing of it is imported here.
    """
    found = next(iter(entry_points(group=PAGES, name=name)), None)
    if found is None or find_spec(found.module.partition(".")[0]) is None:
        hint = "install paper-arena whole; after an update of its source, by `make setup`"
        raise ArenaError("no_dashboard", "the dashboard is not installed", hint)
    start = f"import sys; from {found.module} import {found.attr}; sys.exit({found.attr}())"
    return [sys.executable, "-c", start]
