"""`arena study replay`: a season over a recording, by the command line."""

import csv
import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest

from tests.bundles import simulated
from tests.program.running import AGREES, agents_of, arena, arena_json, loaded
from tests.rows import rows_in

DEMO_FIELDS = {
    "database", "seed", "seconds", "state_hash", "cohorts", "rounds", "turns", "entries", "calls",
    "decision_times", "markets", "events", "fills", "settlements", "leaderboard",
}  # fmt: skip
TIMELESS = {"seconds", "database", "new_turns"}
CONFIG = """\
seed: 7
markets:
  venue: simulator
  min_volume: 0
cohorts:
  rounds: 3
  decide: daily
  bankroll: 5000
  rules: {from: realistic, min_bet: 20}
agents:
  - {kind: constant, name: third, p: 0.33}
  - {kind: kelly, of: third}
  - {kind: random, bets: 1}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working folder with a recording of nine weeks in `spring`."""
    folder = tmp_path_factory.mktemp("replay")
    simulated(folder / "spring")
    return folder


@pytest.fixture(scope="module")
def season(folder: Path) -> Any:
    """Return the recording played as it comes, once for this file."""
    return arena_json(folder, "study", "replay", "spring")


def test_a_column_that_there_is_not_is_refused_before_anything_is_played(
    folder: Path, tmp_path: Path
) -> None:
    for words in (("demo", "--headless"), ("study", "replay", str(folder / "spring"))):
        done = arena(tmp_path, *words, "--columns", "wins")
        assert (done.returncode, "there is no column 'wins'" in done.stderr) == (64, True)
    assert list(tmp_path.iterdir()) == []


def lasting(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in TIMELESS}


def decided(database: Path, until: str) -> list[tuple[Any, ...]]:
    """Return every snapshot and turn up to a day, by their hashes."""
    turns = """SELECT cohort.number, round.number, entrant.name, turn.hash, snapshot.hash
        FROM turn JOIN round ON round.id = turn.round_id JOIN cohort ON cohort.id = round.cohort_id
        JOIN entrant ON entrant.id = turn.entrant_id JOIN snapshot ON snapshot.id = round.snapshot_id
        WHERE substr(round.at, 1, 10) <= ? ORDER BY 1, 2, 3"""
    return rows_in(database, turns, until)


def entrants(database: Path) -> list[str]:
    """Return the line-up of the first cohort."""
    rows = rows_in(database, "SELECT name FROM entrant WHERE cohort_id = 1 ORDER BY position")
    return [name for (name,) in rows]


def test_it_says_what_the_demo_says_and_what_it_is_worth(season: Any) -> None:
    assert set(season) >= DEMO_FIELDS
    assert season["stamp"] == "replay"
    assert season["notice"] == "replay: not evidence of skill"
    assert season["database"] == "replay-spring.db"
    assert season["new_turns"] == season["turns"] == 3 * season["rounds"]
    assert season["start"] == "2026-01-04T00:00:00+00:00"


def test_the_null_agents_play_weekly_cohorts_and_everything_is_settled(season: Any) -> None:
    assert set(agents_of(season["leaderboard"])) == {"market", "constant", "random"}
    assert season["cohorts"] == season["decision_times"] >= 8
    assert season["settlements"] > 20
    assert season["open"] == {"positions": 0, "stale": 0}
    assert agents_of(season["leaderboard"])["market"]["skill"] == 0


def test_the_record_verifies_and_its_cohorts_are_stamped(season: Any, folder: Path) -> None:
    assert arena_json(folder, "admin", "verify", "--database", season["database"]).items() >= AGREES.items()
    with closing(sqlite3.connect(folder / season["database"])) as connection:
        frozen = [json.loads(text) for (text,) in connection.execute("SELECT frozen FROM cohort")]
    assert {cohort["stamp"] for cohort in frozen} == {"replay"}
    assert {cohort["venue_settings"]["content"] for cohort in frozen} == {season["bundle"]}
    assert str(folder) not in json.dumps(frozen)


def test_the_same_hash_in_another_place_hash_seed_and_time_zone(
    season: Any, folder: Path, tmp_path: Path, thorough: bool
) -> None:
    """In a process with hashes of its own with THOROUGH=1: tests/season/test_demo.py has one always."""
    (tmp_path / "elsewhere").mkdir()
    for file in (folder / "spring").iterdir():
        (tmp_path / "elsewhere" / file.name).write_bytes(file.read_bytes())
    where: dict[str, Any] = {"TZ": "Pacific/Auckland"} | ({"PYTHONHASHSEED": "5"} if thorough else {})
    again = arena_json(tmp_path, "study", "replay", "elsewhere", **where)
    assert lasting(again) == lasting(season)


def test_playing_it_again_says_that_it_is_done(season: Any, folder: Path) -> None:
    again = arena_json(folder, "study", "replay", "spring")
    assert lasting(again) == lasting(season)
    assert again["new_turns"] == 0
    said = arena(folder, "study", "replay", "spring")
    assert "It was already complete; nothing was played again." in said.stdout
    assert "replay: not evidence of skill" in said.stdout
    assert f"State hash {season['state_hash']}" in said.stdout


def test_killed_or_stopped_in_the_middle_it_goes_on_to_the_same_end(
    season: Any, folder: Path, tmp_path: Path, thorough: bool
) -> None:
    chance = Random("when to stop")
    database = tmp_path / "stopped.db"
    words = ["study", "replay", str(folder / "spring"), "--database", str(database)]
    signals = [signal.SIGINT, signal.SIGKILL] * (5 if thorough else 1)
    statuses = []
    for how in signals:
        size = database.stat().st_size if database.exists() else 0
        run = loaded().start(tmp_path, *words)
        while run.runs and _written(database) <= size:
            sleep(0.01)
        sleep(chance.uniform(0, 0.1 * season["seconds"]))
        run.signal(how)
        statuses.append(run.wait())
    assert statuses[:2] == [130, -signal.SIGKILL]
    assert lasting(arena_json(tmp_path, *words)) == lasting(season)


def _written(database: Path) -> int:
    """Return how much a process has written into a record, including its log."""
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def test_the_days_bound_what_is_played_and_more_of_it_can_be_played_later(
    folder: Path, tmp_path: Path
) -> None:
    words = ["study", "replay", str(folder / "spring"), "--database", "part.db", "--start", "2026-01-14"]
    part = arena_json(tmp_path, *words, "--end", "2026-02-01", "--agents", "random,market")
    assert (part["cohorts"], part["decision_times"]) == (3, 3)
    assert part["start"] == "2026-01-18T00:00:00+00:00"
    assert part["end"] == "2026-02-01T00:00:00+00:00"
    assert entrants(tmp_path / "part.db") == ["random", "market"]
    [(latest,)] = rows_in(tmp_path / "part.db", "SELECT max(known_at) FROM resolution")
    assert latest < "2026-02-01"
    before = decided(tmp_path / "part.db", "2026-02-01")
    more = arena_json(tmp_path, *words, "--end", "2026-02-15", "--agents", "random,market")
    assert more["turns"] > more["new_turns"] > 0
    assert decided(tmp_path / "part.db", "2026-02-01") == before
    assert arena_json(tmp_path, "admin", "verify", "--database", "part.db")["ok"]


def test_the_cohorts_rules_and_agents_of_a_config_play(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    found = arena_json(tmp_path, "study", "replay", str(folder / "spring"), "--end", "2026-01-20")
    assert found["seed"] == 7
    assert entrants(tmp_path / "replay-spring.db") == ["third", "kelly", "random"]
    cohort = json.loads(rows_in(tmp_path / "replay-spring.db", "SELECT frozen FROM cohort")[0][0])
    assert (cohort["rounds"], cohort["bankroll"], cohort["venue"]) == (3, 5_000_000_000, "recorded")
    assert (cohort["rules"]["fill"], cohort["rules"]["min_bet"]) == ("spread", 20_000_000)
    mixed = ["--end", "2026-01-12", "--agents", "market,third,constant", "--database", "mixed.db"]
    arena_json(tmp_path, "study", "replay", str(folder / "spring"), *mixed)
    assert entrants(tmp_path / "mixed.db") == ["market", "third", "constant"]


def test_prices_after_a_day_change_nothing_that_was_decided_up_to_it(folder: Path, tmp_path: Path) -> None:
    """Looking ahead would show: from a day on all prices are thrown anew."""
    day = "2026-02-01"
    found = []
    for name in ("one", "two"):
        _with_prices_thrown_from(day, folder / "spring", tmp_path / name)
        arena_json(tmp_path, "study", "replay", name, "--end", "2026-02-09")
        found.append(tmp_path / f"replay-{name}.db")
    until = [decided(database, day) for database in found]
    assert len(until[0]) >= 30
    assert until[0] == until[1]
    assert decided(found[0], "2026-02-08") != decided(found[1], "2026-02-08")


def _with_prices_thrown_from(day: str, source: Path, folder: Path) -> None:
    """Make a copy without books, with all prices known after a day drawn by the seed of its name."""
    folder.mkdir()
    for name in ("markets.jsonl", "resolutions.csv"):
        (folder / name).write_bytes((source / name).read_bytes())
    with (source / "prices.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    luck = Random(folder.name)
    for row in rows:
        row.update(bid="", ask="")
        if row["date"] > f"{day}T00:00:00.000000Z":
            row.update(prob_yes=f"0.{luck.randrange(10**6):06}")
    with (folder / "prices.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
