"""Who holds a claim, and whether they still live."""

import os
import socket
import subprocess
import sys

from arena.lease import holder, is_gone


def test_every_holder_has_a_name_of_its_own() -> None:
    assert holder() != holder()


def test_a_process_that_ended_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(f"{socket.gethostname()}/{ended.pid}/x")


def test_a_live_process_is_not_gone() -> None:
    assert not is_gone(f"{socket.gethostname()}/{os.getppid()}/x")


def test_an_earlier_process_with_our_number_is_gone() -> None:
    assert is_gone(f"{socket.gethostname()}/{os.getpid()}/x")


def test_of_another_machine_nothing_is_known() -> None:
    assert not is_gone("elsewhere.invalid/1/x")
