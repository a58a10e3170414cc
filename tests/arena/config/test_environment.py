"""Secrets that stand in files of their own, which variables name."""

from pathlib import Path

from arena.config.environment import secrets_in_files
from tests.program.running import arena_json

CONFIG = "markets: {venue: polymarket}\nagents: [{name: a, model: openai/gpt-6-sol}]\n"


def test_a_secret_may_stand_in_a_file_that_a_variable_names(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("canary-key\n", "utf-8")
    here = {"OPENAI_API_KEY_FILE": str(tmp_path / "key"), "SSL_CERT_FILE": "/nowhere"}
    assert secrets_in_files(here) == {"OPENAI_API_KEY": "canary-key"}
    assert secrets_in_files(here | {"OPENAI_API_KEY": "set"}) == {}


def test_the_program_reads_them_and_says_which_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "key").write_text("canary-key\n", "utf-8")
    waits, plays = (
        arena_json(tmp_path, "check", OPENAI_API_KEY="", OPENAI_API_KEY_FILE=file)["missing_keys"]
        for file in ("", str(tmp_path / "key"))
    )
    assert (waits, plays) == ({"a": "OPENAI_API_KEY"}, {})
    gone = arena_json(tmp_path, "check", status=1, OPENAI_API_KEY="", OPENAI_API_KEY_FILE="gone")
    assert gone["error"]["code"] == "no_secret"
