"""What `arena run` and `arena check` refuse together: the message names both, and nothing is done."""

from pathlib import Path

import pytest

from tests.program.in_process import invoke

CONFIG = """\
markets: {venue: simulator, simulator: {start: 2026-01-04, weeks: 2, markets: 6, events: 3}}
cohorts: {rounds: 1, count: 1}
agents: [{kind: market}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(CONFIG, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run --round --worker", "--round and --worker can't be combined"),
        ("run --once --list", "--once and --list can't be combined"),
        ("run --once --round", "--once and --round can't be combined"),
        ("run --worker --sync", "--worker and --sync can't be combined"),
        ("run --at 2026-01-04", "--at needs --round or --sync"),
        ("run --at-once 3", "--at-once needs --worker"),
        ("run --no-ends", "--no-ends needs --sync"),
        ("run --once --at 2026-01-04", "--at and --once can't be combined"),
        ("run --round --at-once 3", "--at-once and --round can't be combined"),
        ("run --round --no-ends", "--no-ends and --round can't be combined"),
        ("run --round --clock time", "--clock and --round can't be combined"),
        ("run --worker --log json", "--log and --worker can't be combined"),
        ("run --worker --at 2026-01-04", "--at and --worker can't be combined"),
        ("run --sync --leave-failed", "--leave-failed and --sync can't be combined"),
        ("run --sync --quiet", "--quiet and --sync can't be combined"),
        ("run --list --baselines", "--baselines and --list can't be combined"),
        ("run --list --trust-extensions", "--trust-extensions and --list can't be combined"),
        ("check past --live", "--live can't be combined with DIR"),
        ("check past --model ann", "--model can't be combined with DIR"),
        ("check past --columns agent", "--columns can't be combined with DIR"),
        ("check --model ann", "--venue, --model and --record need --live"),
        ("status --incidents --test-webhook", "--incidents and --test-webhook can't be combined"),
        ("status --limit 3", "--limit needs --incidents"),
        ("status --test-webhook --clock time", "--clock and --test-webhook can't be combined"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(words: str, message: str, folder: Path) -> None:
    answer = invoke(*words.split())
    assert (answer.exit_code, answer.stdout) == (64, "")
    assert answer.stderr.startswith(message)
    assert [path.name for path in folder.iterdir()] == ["config.yaml"]


def test_each_mode_does_its_work(folder: Path) -> None:
    listed = invoke("run", "--list")
    assert "decision (UTC)" in listed.stdout
    assert not (folder / "arena.db").exists()
    synced = invoke("run", "--sync", "--at", "2026-01-01", "--no-ends")
    assert synced.exit_code == 0, synced.stderr
    assert synced.stdout.startswith("simulator at 2026-01-01 00:00:00 UTC: ")
    played = invoke("run", "--round", "--at", "2026-01-04")
    assert played.exit_code == 0, played.stderr
    assert played.stdout.startswith("Cohort 1, round 1, 2026-01-04 00:00 UTC\n")
    rest = invoke("run", "--once")
    assert rest.exit_code == 0, rest.stderr
    assert "Stopped: " in rest.stdout


def test_a_folder_that_is_no_recording_is_told(folder: Path) -> None:
    answer = invoke("check", str(folder))
    assert answer.exit_code == 1
    assert "Fix all of them before using it." in answer.stdout
