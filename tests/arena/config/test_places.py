"""What a config says of workers, backups and messages is held against what can be, all at once."""

from pathlib import Path

from arena.config import load
from tests.arena.config_files import SMALL, told, write

WORKERS = "run: {workers: true}\n"
SERVER = "postgresql+psycopg://arena@127.0.0.1/arena"


def test_workers_need_a_record_on_a_server(tmp_path: Path) -> None:
    (words,) = told(tmp_path, WORKERS + SMALL, beside=True)
    assert words.startswith("config.yaml:1: run.workers: workers need a record on PostgreSQL, and this")
    assert "remove `workers`" in words
    assert load(write(tmp_path, f"database: {SERVER}\n{WORKERS}{SMALL}"), beside=True).run.workers


def test_the_record_that_counts_is_the_one_that_was_named(tmp_path: Path) -> None:
    path = write(tmp_path, WORKERS + SMALL)
    assert load(path, beside=True, database=SERVER).database == SERVER
    assert load(path).run.workers, "who only reads a copy in a file needs no workers"


def test_backups_can_not_go_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", "utf-8")
    for folder in ("taken", "taken/deeper"):
        (words,) = told(tmp_path, f"backup: {{folder: {folder}}}\n{SMALL}", beside=True)
        assert words == (
            "config.yaml:1: backup.folder: "
            f"{tmp_path / 'taken'} is a file. Name another folder, or move the file"
        )


def test_a_webhook_that_is_none_is_told_of_with_all_other_mistakes(tmp_path: Path) -> None:
    text = SMALL.replace("rounds: 5", "rounds: none") + "watch: {webhook: nowhere}\n"
    rounds, webhook = told(tmp_path, text, environ={})
    assert rounds.startswith("config.yaml:4: cohorts.rounds: ")
    assert webhook.startswith("config.yaml:7: watch.webhook: this is not an address")
    assert "nowhere" not in webhook, "it may be a secret"
