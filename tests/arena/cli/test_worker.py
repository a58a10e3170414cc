"""`arena run --worker` where there is nothing to work on."""

from pathlib import Path

import pytest

from tests.program.in_process import invoke
from tests.records.full_record import build

CONFIG = """\
markets: {venue: simulator}
agents: [{kind: market}]
"""


@pytest.mark.parametrize("there", [True, False], ids=["a record", "none yet"])
def test_on_a_file_it_says_so_at_once_and_makes_none(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(CONFIG, "utf-8")
    if there:
        build(tmp_path / "arena.db", 1).close()
    answer = invoke("run", "--worker")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "workers take their turns from PostgreSQL, and this record is a file" in answer.stderr
    assert "run.workers: false" in answer.stderr
    assert Path("arena.db").exists() == there
