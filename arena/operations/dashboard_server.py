"""Serves the dashboard on a record, and recomputes stale scores while it is open."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from arena.errors import ArenaError
from arena.operations.listen_addresses import HOST, ListenAddress, is_listening
from arena.operations.page_programs import page_command, page_environment

logger = logging.getLogger(__name__)

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


def serve_dashboard(
    address: str,
    where: ListenAddress,
    config: Path | None,
    say: Callable[[str], None],
    refresh: Callable[[], None],
) -> None:
    """Run the dashboard on a record until it is stopped.

    `say` is told when it is open and when it has stopped; `refresh` computes the scores that are stale.
    """
    command = [*page_command("dashboard"), *streamlit_options(where), *FLAGS]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, it ends its server too
    server = subprocess.Popen(command, env=page_environment(address, config), stdout=subprocess.DEVNULL)
    signals = end_on_signals(server)
    try:
        while server.poll() is None and not is_listening(where):
            time.sleep(0.02)
        if server.poll() is None:
            say(f"\nDashboard: {where.url}{_proxy_text(where)}  (Ctrl-C ends it)")
        status = _refresh_until_ended(server, refresh)
    except KeyboardInterrupt:
        status = 0

    if signals:
        server.terminate()
        try:
            server.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        say("Dashboard stopped.")
    elif status:
        raise ArenaError("dashboard", f"the dashboard exited with status {status}", "its error is above")


def _proxy_text(where: ListenAddress) -> str:
    """Return in words the proxy that the dashboard is behind, if any."""
    if not where.behind_proxy:
        return ""
    return f", for the proxy at {where.public.origin}" if where.public else ", for a proxy"


def _refresh_until_ended(server: subprocess.Popen[bytes], refresh: Callable[[], None]) -> int:
    """Wait for a server to end, keeping scores fresh meanwhile, and return its exit status.

    Where that can't be done it is said once, and the pages go on showing what was worked out last.
    """
    can_refresh = True
    pause = FIRST
    while True:
        try:
            return server.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            pause = EVERY
        try:
            if can_refresh:
                refresh()
        except ArenaError as error:
            can_refresh = error.code in ("no_record", "locked")  # this may pass at any time
            if not can_refresh:
                words = "scores are not recomputed here, only shown as last cached"
                logger.warning("%s: %s; %s", words, error.message, error.hint)


def end_on_signals(server: subprocess.Popen[bytes]) -> list[int]:
    """End the server when this process is told to end, and return the signals received.

    Not by the exception alone: raised while Python clears away in the midst of something, it is lost.
    """
    signals = []

    def end(number: int, _: object) -> None:
        """Note a signal, and end the server."""
        signals.append(number)
        server.terminate()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return signals


def streamlit_options(where: ListenAddress) -> list[str]:
    """Return Streamlit's options for its address and its allowed hosts and origins."""
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

    arguments = []
    for name, values in options.items():
        arguments += [f"--{name}={value}" for value in values]
    return arguments
