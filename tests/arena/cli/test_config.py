"""`arena show config` prints what is in effect, with --all every key there is, and never a secret."""

import json
from pathlib import Path

from arena.config import load
from tests.arena.cli.test_main import arena
from tests.arena.config_files import SMALL, write

SECRET = "watch: {webhook: 'https://example.org/canary'}\ndatabase: postgresql+psycopg://me@db.example/x\n"


def test_what_it_prints_is_a_config_without_secrets(tmp_path: Path) -> None:
    write(tmp_path, SMALL + SECRET)
    shown = arena("show", "config", cwd=tmp_path).stdout
    assert "canary" not in shown
    assert "database: postgresql+psycopg://me@db.example/x" in shown.replace('"', "")
    found = json.loads(arena("show", "config", "--json", cwd=tmp_path).stdout)
    assert found["cohorts"]["rules"]["max_bet"] == 0.25
    assert found["watch"] == {"webhook": "***", "health": "off"}
    assert found["agents"] == [{"name": "market", "kind": "market"}]


def test_all_keys_are_printed_as_a_config_and_as_a_list(tmp_path: Path) -> None:
    load(write(tmp_path, arena("show", "config", "--all", cwd=tmp_path).stdout))
    rows = json.loads(arena("show", "config", "--all", "--json", cwd=tmp_path).stdout)
    [show] = [row for row in rows if row["key"] == "markets.show"]
    assert show == {
        "key": "markets.show",
        "name": "show",
        "takes": "a whole number from 1 to 1,000,000",
        "default": 40,
        "required": False,
        "meaning": "How many markets a round shows, the same to every agent.",
    }
