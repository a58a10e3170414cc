"""The command that serves the dashboard: where it listens, to whom, and how it ends."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from arena.operations.dashboard_server import FLAGS, end_on_signals
from arena.operations.listen_addresses import HOST, free_port
from tests.dashboard.serving import Served, a_free_port, knock, serving


def test_by_itself_it_serves_this_machine_alone_until_it_is_interrupted(season: Path) -> None:
    with serving(season) as dashboard:
        own = f"127.0.0.1:{dashboard.port}"
        with urllib.request.urlopen(f"{dashboard.address}/_stcore/health", timeout=10) as answer:
            assert answer.read() == b"ok"
        # A browser may still have the page of another version, whose style is another.
        known = {"Accept": "text/html", "If-None-Match": "*"}
        asked = urllib.request.Request(dashboard.address, headers=known)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            assert b"</style></head>" in answer.read()
        assert knock(dashboard.port, own, f"http://{own}") == 101
        assert knock(dashboard.port, own, "https://evil.example") == 403
        assert knock(dashboard.port, "evil.example", "http://evil.example") == 403
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection(("127.0.0.2", dashboard.port), timeout=5)
        # It sends each answer at once; asyncio's loop leaves Streamlit's socket to collect small ones.
        assert "/uvloop/" in dashboard.libraries() or not sys.platform.startswith("linux")
        check_ended(dashboard, signal.SIGINT)


def test_told_to_end_it_ends_before_anyone_has_come(tmp_path: Path) -> None:
    (tmp_path / "none.db").touch()
    with serving(tmp_path / "none.db") as dashboard:
        check_ended(dashboard, signal.SIGTERM)


def check_ended(dashboard: Served, by: signal.Signals) -> None:
    said = dashboard.end(by).splitlines()
    assert dashboard.process.returncode == 0
    assert said[-1] == "Dashboard stopped."
    assert by == signal.SIGINT or len(said) == 1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, dashboard.port), timeout=5)


def test_it_sends_nothing_home_and_shows_no_traces() -> None:
    assert "--browser.gatherUsageStats=false" in FLAGS
    assert "--client.showErrorDetails=type" in FLAGS


def test_a_port_that_is_taken_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, a_free_port()))
        taken.listen()
        port = taken.getsockname()[1]
        assert [f"Port {port} is taken; using {free_port(port)}."] == caplog.messages


def test_who_is_told_to_end_ends_the_server_though_the_interrupt_be_lost() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as server:
        try:
            told = end_on_signals(server)
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
            assert server.wait(timeout=10) == -signal.SIGTERM
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            server.kill()
    assert told == [signal.SIGINT]
