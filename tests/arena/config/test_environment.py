"""Secrets that stand in files of their own, which variables name."""

from pathlib import Path

import pytest

from arena.config.environment import environment, secrets_in_files
from arena.config.errors import ConfigErrors
from tests.program.running import arena, arena_json

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


def test_the_check_remarks_on_keys_that_others_can_read(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    env = tmp_path / ".env"
    env.write_text("OPENAI_API_KEY=canary-key\n", "utf-8")
    env.chmod(0o640)
    assert arena_json(tmp_path, "check")["readable_env"] == ".env"
    assert "chmod 600 .env" in arena(tmp_path, "check").stdout
    env.chmod(0o600)
    assert arena_json(tmp_path, "check")["readable_env"] is None


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP", "PATH"),
        *("BASH_ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND", "HOME", "XDG_CONFIG_HOME", "ARENA_TRUST_EXTENSIONS"),
    ],
)
def test_what_would_choose_the_code_that_is_run_is_no_variable_of_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY=sk-1\nexport {name}=theirs\n", "utf-8")
    with pytest.raises(ConfigErrors, match=rf"\.env:2: {name} can't be set here"):
        environment(tmp_path, {})


def test_keys_addresses_and_options_of_a_library_are_variables_of_a_folder(tmp_path: Path) -> None:
    lines = [
        "OPENAI_API_KEY=sk-1",
        "PGPASSWORD=two",
        "GITLAB_TOKEN=three",
        "LDAP_KEY=four",
        "HTTPS_PROXY=http://127.0.0.1:1",
    ]
    (tmp_path / ".env").write_text("\n".join(lines), "utf-8")
    assert environment(tmp_path, {}) == dict(line.split("=", 1) for line in lines)
