"""Files with all prompts and answers are for their owner alone."""

import os
from pathlib import Path

from tests.program.running import arena_json
from tests.records.full_record import build_anew


def test_what_is_written_of_a_record_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        build_anew(tmp_path / "arena.db", weeks=1).close()
        arena_json(tmp_path, "admin", "backup", "backup.db", "--database", "arena.db")
        arena_json(tmp_path, "share", "export", "season.zip", "--database", "arena.db")
    finally:
        os.umask(before)
    modes = {
        name: (tmp_path / name).stat().st_mode & 0o077 for name in ("arena.db", "backup.db", "season.zip")
    }
    assert not any(modes.values()), modes
