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

from arena.cli.dashboard import FLAGS, HOST, end_with, free_port
from tests.dashboard.serving import a_free_port, serving


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_ends_and_leaves_nobody_at_the_port(season: Path, by: signal.Signals) -> None:
    with serving(season) as dashboard:
        said = dashboard.end(by)
        assert dashboard.process.returncode == 0
        assert said.strip() == "Dashboard stopped."
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, dashboard.port), timeout=5)


def test_it_listens_to_this_machine_alone_and_answers_once_it_has_said_so(season: Path) -> None:
    with serving(season) as dashboard:
        health = f"{dashboard.address}/_stcore/health"
        with urllib.request.urlopen(health, timeout=10) as answer:
            assert answer.read() == b"ok"
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection(("127.0.0.2", dashboard.port), timeout=5)


def test_it_sends_nothing_home_and_shows_no_traces() -> None:
    assert "--browser.gatherUsageStats=false" in FLAGS
    assert "--client.showErrorDetails=type" in FLAGS


def test_a_port_that_is_taken_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, a_free_port()))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"Port {port} is taken; using {free_port(port)}.\n" == capsys.readouterr().err


def test_who_is_told_to_end_ends_the_server_though_the_interrupt_be_lost() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as server:
        try:
            told = end_with(server)
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
            assert server.wait(timeout=10) == -signal.SIGTERM
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            server.kill()
    assert told == [signal.SIGINT]
