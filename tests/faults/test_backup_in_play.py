"""Backups of a record while another process plays in it: each is good, and of a state that was committed."""

import subprocess
from itertools import pairwise
from pathlib import Path
from time import sleep

import pytest

from arena.record.files import copy as copying
from arena.record.files.integrity import RecordContent, examine_file
from arena.verify.content import verified_content
from tests.faults.little import write_config
from tests.opened_record import backed_up, new_record
from tests.program.command_line import ROOT, environment
from tests.program.forked import quick_program
from tests.rows import state_of


def wait_for_more(log: Path, writer: "subprocess.Popen[str]") -> None:
    """Until the other process has committed something since, or has come to its end."""
    known = len(committed(log))
    for _ in range(2_000):
        if len(committed(log)) > known or writer.poll() is not None:
            return
        sleep(0.005)


def test_every_backup_made_in_play_is_a_state_that_was_committed(
    tmp_path: Path, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four of them, fifty with THOROUGH=1, each copied so slowly that the others write in the midst of it."""
    times = 50 if thorough else 4
    write_config(tmp_path, *((16, 12) if thorough else (5, 3)))
    monkeypatch.setattr(copying, "PAGES", 16)
    new_record(tmp_path / "season.db")
    log = tmp_path / "committed"
    log.write_text(f"{state_of(tmp_path / 'season.db')}\n", "utf-8")
    words = [*quick_program("tests.faults.little"), str(tmp_path), str(log)]
    found, written_meanwhile = list[RecordContent](), 0
    with subprocess.Popen(words, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        for number in range(times):
            if writer.poll() is None:
                writer.stdin.write("go on\n")
                writer.stdin.flush()
                wait_for_more(log, writer)
            before = committed(log)
            made = backed_up(tmp_path / "season.db", tmp_path / f"{number}.db", lambda *_: sleep(0.005))
            assert made.content.state_hash in committed(log), number
            assert examine_file(made.path, verified_content) == made.content
            written_meanwhile += len(committed(log)) > len(before)
            found.append(made.content)
        writer.stdin.close()
        assert writer.wait() == 0
    assert written_meanwhile > 0
    assert len({content.state_hash for content in found}) > times // 4
    for earlier, later in pairwise(found):
        assert all(later.counts[key] >= count for key, count in earlier.counts.items())


def committed(log: Path) -> list[str]:
    """The state hashes that the writer has announced; each is committed then, or about to be."""
    return log.read_text("utf-8").splitlines()
