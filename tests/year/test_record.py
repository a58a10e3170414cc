"""The year that benchmarks write is a record like any other."""

from pathlib import Path

from tests.program.running import arena_json
from tests.year.record import make_of, size


def test_a_made_up_year_agrees_with_itself(tmp_path: Path) -> None:
    make_of(tmp_path / "year.db", size(0.0002, agents=2))
    assert arena_json(tmp_path, "admin", "verify", "--all", "--database", "year.db")["differences"] == []
