"""Serves the dashboard on a record, and computes scores anew while it is open and they become stale."""

import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from arena.cli.addresses import HOST, ListenAddress, answers
from arena.cli.output import progress
from arena.errors import ArenaError
from arena.operations.page_programs import page_command, page_environment

FIRST = 10.0
EVERY = 30.0
"""Seconds until it is looked whether anything is stale, for the first page goes first, and then again."""
PATIENCE = 10
"""Seconds that the server has to end."""

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
            print(f"\nDashboard: {where.url}{_proxy_text(where)}  (Ctrl-C ends it)", flush=True)
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


def _proxy_text(where: ListenAddress) -> str:
    """Say for which proxy the dashboard is, if it is for one."""
    if not where.behind_proxy:
        return ""
    return f", for the proxy at {where.public.origin}" if where.public else ", for a proxy"


def wait_for(server: subprocess.Popen[bytes], address: str) -> int:
    """Return the exit status of a server once it has ended; meanwhile its scores are kept fresh.

    Where that can't be done it is said once, and the pages go on showing what was worked out last.
    """
    able = True
    pause = FIRST
    while True:
        try:
            return server.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            pause = EVERY
        try:
            if able:
                refresh_scores(address)
        except ArenaError as error:
            able = error.code in ("no_record", "locked")  # it may be made, or let go of, at any time
            if not able:
                words = "scores are not recomputed here, only shown as last cached"
                print(f"{words}: {error.message}; {error.hint}", file=sys.stderr)


def refresh_scores(address: str) -> None:
    """Compute the scores that are stale, if any are; a record that nobody has played in is left alone."""
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
    """End the server when this process is told to end, and return the signals that have come.

    Not by the exception alone: raised while Python clears away in the midst of something, it is lost.
    """
    told = list[int]()

    def end(number: int, _: object) -> None:
        """Note a signal, and end the server."""
        told.append(number)
        server.terminate()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return told


def listening(where: ListenAddress) -> list[str]:
    """Return the options that say where Streamlit listens, and for whom: a page from elsewhere is refused."""
    options = {"server.address": [where.address], "server.port": [str(where.port)]}
    if where.behind_proxy:
        options["server.enableWebsocketCompression"] = ["true"]

    own = dict.fromkeys([where.address, HOST, "localhost"])
    if where.public is not None:
        options["server.allowedHosts"] = [where.public.host, *own]
        options["server.corsAllowedOrigins"] = [where.public.origin]
        options["server.baseUrlPath"] = [where.public.path]
        options["browser.serverAddress"] = [where.public.host]
        options["browser.serverPort"] = [str(where.public.port)]
    elif not where.behind_proxy:
        options["server.allowedHosts"] = list(own)
    return [f"--{name}={value}" for name, values in options.items() for value in values]
