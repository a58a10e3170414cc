"""`arena dashboard`: the record in a browser."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import ConfigFile, Database, options
from arena.errors import ArenaError

HOST = "127.0.0.1"
PORTS = 100
PORT = 8501
PATIENCE = 10

FLAGS = (
    f"--server.address={HOST}",
    f"--server.allowedHosts={HOST}",
    "--server.allowedHosts=localhost",
    "--server.headless=true",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
    "--client.toolbarMode=viewer",
    "--client.disableDataExport=true",
    "--client.showErrorDetails=type",
    "--client.showErrorLinks=false",
    "--logger.level=warning",
    "--theme.light.primaryColor=#0072B2",
    "--theme.dark.primaryColor=#56B4E9",
)
"""How Streamlit is run: for this machine alone, without telemetry, and without its own CSV export,
which would not quote what a spreadsheet takes for a formula."""


def dashboard(
    context: typer.Context,
    port: Annotated[int, typer.Option(help="The port; the next free one if it is taken.")] = PORT,
    config: ConfigFile = None,
    database: Database = None,
) -> None:
    """Show the record in a browser, on this machine only, until Ctrl-C.

    The record is opened read-only: it can be looked at while an arena plays.

    Example: arena dashboard --database .demo/demo.db
    """
    chosen = options(context, config, database)
    serve(chosen.record(), free_port(port))


def free_port(first: int) -> int:
    """The first port from here on that nobody listens at."""
    for port in range(first, min(first + PORTS, 65_536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise ArenaError("no_port", f"no port from {first} on is free", "name another with --port")


def serve(address: str, port: int) -> None:
    """Run the dashboard until it is stopped."""
    command = [sys.executable, "-m", "streamlit", "run", str(page()), f"--server.port={port}", *FLAGS]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, it ends its server too
    server = subprocess.Popen(command, env=_environment(address), stdout=subprocess.DEVNULL)
    try:
        while server.poll() is None and not _answers(port):
            time.sleep(0.1)
        if server.poll() is None:
            print(f"\nDashboard: http://{HOST}:{port}  (Ctrl-C ends it)", flush=True)
        status = server.wait()
    except KeyboardInterrupt:
        _end(server)
        print("Dashboard ended.")
        return
    if status:
        raise ArenaError("dashboard", f"the dashboard ended with status {status}", "its words are above")


def _environment(address: str) -> dict[str, str]:
    """Ours, with the record named, and our own packages found first."""
    home = str(page().parent.parent)
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return os.environ | {"ARENA_DATABASE": address, "PYTHONPATH": path}


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def page() -> Path:
    """The file that Streamlit runs."""
    found = importlib.util.find_spec("dashboard")
    if found is None or found.origin is None:
        raise ArenaError("no_dashboard", "the dashboard is not installed", "install paper-arena whole")
    return Path(found.origin).parent / "app.py"
