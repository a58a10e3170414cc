"""The file of a record is deleted, moved or replaced under way; and what of it a power cut may take."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.operations.run import Run
from tests.opened_record import opened_record
from tests.program.rehearsal import clock_at, rehearse
from tests.provider.replies import GOOD, says
from tests.provider.server import faulty

CONFIG = """\
markets: {{venue: simulator, show: 3, simulator: {{start: 2026-01-04, weeks: 6, markets: 30, events: 10}}}}
cohorts: {{rounds: 2, count: 1, corrected_within: 8d}}
agents:
  - {{name: eve, model: openai/eve, base_url: "{url}", price: {{input: 1, output: 1}}}}
"""


def delete(file: Path) -> None:
    file.unlink()


def replace(file: Path) -> None:
    shutil.copy(file, file.with_name("other.db"))
    file.with_name("other.db").replace(file)


@pytest.mark.parametrize("change", [delete, replace])
def test_no_call_is_made_after_it_and_no_empty_file_is_left(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    file = tmp_path / "arena.db"
    with faulty() as server:
        server.script("eve", says(GOOD))
        (tmp_path / "config.yaml").write_text(CONFIG.format(url=server.url), "utf-8")
        clock_at(tmp_path)

        def meanwhile(_run: Run, event: object) -> None:
            if server.log and file.exists() and not done:
                change(file)
                done.append(len(server.log))

        done: list[int] = []
        with pytest.raises(ArenaError) as caught:
            rehearse(tmp_path, tell=meanwhile)
        assert (caught.value.code, done) == ("replaced", [len(server.log)])
    assert str(file) in caught.value.message
    assert file.exists() == (change is replace)


def test_an_answer_is_on_the_disk_before_it_is_used(tmp_path: Path) -> None:
    """What costs nothing to do again may be lost with the power; an answer was paid for."""

    def level(connection: Connection) -> int:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    with opened_record(tmp_path / "arena.db") as record:
        found = [record.write(level), record.write_answer(level), record.write_unfenced(level)]
    assert found == [1, 2, 1]
