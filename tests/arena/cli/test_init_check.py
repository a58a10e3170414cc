"""`arena init` makes a folder in which `arena check` finds all well; mistakes end in exit status 1."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from arena.cli.check import summary
from arena.cli.init import make_folder
from arena.config import load
from arena.errors import ArenaError
from tests.arena.cli.test_main import ROOT, arena
from tests.arena.config_files import SMALL, write

WEDNESDAY = datetime(2026, 3, 4, 23, 59, tzinfo=UTC)


def test_init_then_check_works_in_a_new_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my arena" / "first"
    made = arena("init", str(folder))
    assert made.returncode == 0, made.stderr
    assert "arena check" in made.stdout
    assert sorted(path.name for path in folder.iterdir()) == [".env.example", ".gitignore", "config.yaml"]
    checked = arena("check", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    for word in ("demo/sharp", "realistic", "40 of simulator", "$10,000", "arena round\n"):
        assert word in checked.stdout


def test_check_lists_the_next_cohort_as_json() -> None:
    config = load(ROOT / "examples/demo.yaml")
    done = arena("check", "--json", "--config", "examples/demo.yaml")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["ok"] is True
    assert found["venue"] == "simulator"
    assert (found["rounds"], found["cohorts"]) == (config.cohorts.rounds, config.cohorts.count)
    assert found["first_start"] == "2026-01-04T00:00:00+00:00"
    assert found["rules"]["fill"] == "book"
    assert found["universe"] == config.markets.universe.model_dump(mode="json")
    assert found["agents"][-1] == {
        "name": "kelly", "kind": "kelly", "model": None, "of": ["sharp"], "settings": {"of": "sharp"},
    }  # fmt: skip


@pytest.mark.parametrize("flags", [["--config", "x.yaml", "check"], ["check", "--config", "x.yaml"]])
def test_check_tells_every_mistake_with_its_line_and_ends_in_status_1(
    tmp_path: Path, flags: list[str]
) -> None:
    write(tmp_path, SMALL.replace("rounds: 5", "rounds: five") + "extra: 1\n", "x.yaml")
    done = arena(*flags, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    known = "agents, ask, backup, budget, calls, cohorts, database, evidence, markets, run, seed, watch"
    assert done.stderr.splitlines() == [
        'x.yaml:4: cohorts.rounds: found "five", expected a whole number of at least 1',
        f"x.yaml:7: extra: unknown key. Known here: {known}",
    ]


def test_check_tells_mistakes_as_json_part_by_part(tmp_path: Path) -> None:
    write(tmp_path, SMALL.replace("market\n", "markte\n"))
    done = arena("check", "--json", cwd=tmp_path)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, done.stderr, error["code"]) == (1, "", "config")
    assert error["errors"] == [
        {
            "file": "config.yaml",
            "line": 6,
            "key": "agents[0].kind",
            "found": '"markte"',
            "meant": "market",
            "message": 'there is no kind "markte". Did you mean "market"?',
        }
    ]


def test_check_needs_the_keys_of_the_models_from_the_environment_or_the_env_file(tmp_path: Path) -> None:
    write(tmp_path, SMALL + "  - model: openai/some\n")
    missing = arena("check", cwd=tmp_path)
    assert missing.returncode == 1
    assert "config.yaml:7: agents[1].model: OPENAI_API_KEY is not set" in missing.stderr
    assert arena("check", cwd=tmp_path, env={"OPENAI_API_KEY": "canary"}).returncode == 0
    write(tmp_path, "OPENAI_API_KEY=canary\n", ".env")
    found = arena("check", cwd=tmp_path)
    assert found.returncode == 0
    assert "canary" not in found.stdout + found.stderr


def test_check_suggests_a_name_for_a_model_that_is_unknown(tmp_path: Path) -> None:
    write(tmp_path, SMALL + "  - model: openai/gpt-4oo-mini\n")
    found = arena("check", cwd=tmp_path, env={"OPENAI_API_KEY": "canary"})
    assert found.returncode == 0
    assert "is unknown to litellm: openai/gpt-4oo-mini." in found.stdout
    assert "Did you mean openai/gpt-4o-mini?" in found.stdout


def test_the_database_option_goes_before_the_config(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    url = "postgresql+psycopg://me:canary@db.example/arena"
    found = json.loads(arena("--database", url, "check", "--json", cwd=tmp_path).stdout)
    assert found["database"] == "postgresql+psycopg://me:***@db.example/arena"


def test_a_new_folders_world_starts_this_week(tmp_path: Path) -> None:
    make_folder(tmp_path, WEDNESDAY)
    config = load(tmp_path / "config.yaml")
    assert config.venue_settings.model_dump()["start"] == date(2026, 3, 1)
    assert summary(config, WEDNESDAY)["first_start"] == "2026-03-01T00:00:00+00:00"


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    write(tmp_path, "mine\n", ".gitignore")
    assert make_folder(tmp_path, WEDNESDAY) == (["config.yaml", ".env.example"], [".gitignore"])
    assert (tmp_path / ".gitignore").read_text("utf-8") == "mine\n"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ArenaError) as caught:
        make_folder(tmp_path, WEDNESDAY)
    assert caught.value.code == "exists"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_init_where_no_folder_can_be_made_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "a file", "taken")
    for folder in (path, path / "below"):
        with pytest.raises(ArenaError) as caught:
            make_folder(folder, WEDNESDAY)
        assert caught.value.code == "not_writable"
        assert str(path) in caught.value.message
