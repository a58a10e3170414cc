"""A record, its backups and its exports are for their owner alone: they have all prompts and answers."""

import os
from pathlib import Path

from tests.program.running import arena_json
from tests.records.full_record import build_anew


def test_what_is_written_of_a_record_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        build_anew(tmp_path / "arena.db", weeks=1).close()
        arena_json(tmp_path, "db", "backup", "backup.db", "--database", "arena.db")
        arena_json(tmp_path, "export", "season.zip", "--database", "arena.db")
    finally:
        os.umask(before)
    files = [path for path in tmp_path.iterdir() if path.suffix in (".db", ".zip") or "-wal" in path.name]
    assert {path.suffix for path in files} >= {".db", ".zip"}
    assert {path.name: path.stat().st_mode & 0o077 for path in files if path.stat().st_mode & 0o077} == {}
