"""A program is run as told: what it reads, writes and sees, and how it is ended."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.model import ProgramResult
from agents.programs import MOST_OUTPUT, run_program

NO_SECRETS: Mapping[str, str] = {}


def ran(
    folder: Path, code: str, text: str = "", seconds: float = 20.0, held: Mapping[str, str] = NO_SECRETS
) -> ProgramResult:
    """Return the result of a Python program."""
    words = (sys.executable, "-S", "-c", code)
    environ = {"PATH": os.environ["PATH"], **held}
    return asyncio.run(run_program(folder, environ, words, text, seconds, ("MY_KEY",)))


def test_it_reads_its_input_and_its_output_is_read_beside_its_complaints(tmp_path: Path) -> None:
    code = (
        "import os, sys; t = sys.stdin.read(); sys.stderr.write('n' * 9_000 + 'end')\n"
        "print(t[::-1], os.getcwd())"
    )
    done = ran(tmp_path, code, "äb" * 100_000)
    assert (done.status, done.fault) == (0, "")
    assert done.output == f"{'bä' * 100_000} {tmp_path}\n"
    assert (len(done.complaint), done.complaint[-3:]) == (4_000, "end")


def test_it_sees_the_variables_named_and_what_it_says_of_secrets_is_hidden(tmp_path: Path) -> None:
    code = "import os; print(sorted(os.environ), os.environ.get('MY_KEY'))"
    held = {"MY_KEY": "canary-123456", "OTHER_KEY": "canary-654321"}
    done = ran(tmp_path, code, held=held)
    assert "MY_KEY" in done.output
    assert "OTHER_KEY" not in done.output
    assert "canary" not in done.output


def test_who_does_not_read_may_answer_all_the_same(tmp_path: Path) -> None:
    assert ran(tmp_path, "print(1)", "x" * 1_000_000).output == "1\n"


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import time; time.sleep(60)", "no answer within 0.5 seconds"),
        (f"import sys; sys.stdout.write('x' * {MOST_OUTPUT + 1})", "it wrote more than 4,000,000 bytes"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "its output is not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_a_fault_in_words(tmp_path: Path, code: str, fault: str) -> None:
    done = ran(tmp_path, code, seconds=0.5 if "sleep" in code else 20)
    assert (done.output, done.fault) == ("", fault)
    assert done.timed_out == ("sleep" in code)


def test_a_program_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    done = asyncio.run(run_program(tmp_path, {}, ("no/such",), "", 1.0))
    assert done.fault == "no/such can't be started: No such file or directory"


def test_all_that_it_started_is_ended_with_it(tmp_path: Path) -> None:
    child = "import time, pathlib; time.sleep(1.5); pathlib.Path('late').touch()"
    started = f"subprocess.Popen([sys.executable, '-S', '-c', {child!r}], stdout=2)"
    code = f"import subprocess, sys; {started}; print(1)"
    assert ran(tmp_path, code).output == "1\n"
    time.sleep(2.0)
    assert not (tmp_path / "late").exists()
