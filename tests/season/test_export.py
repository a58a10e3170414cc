"""Seasons exported and imported by the command line, and held against a referee who has nothing else."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner, Result

from arena.cli.main import app
from arena.exports import referee
from arena.exports.restore import restore
from tests.arena.exports.bent_exports import bend_json, contents, exported, lines
from tests.builders import NOW
from tests.program.running import AGREES, arena_json, demo_config
from tests.records.full_record import build

REFEREE = Path(str(referee.__file__))
LINE_UP = """\
  - kind: oracle
  - kind: random
  - {name: sharp, model: demo/sharp, price: {input: 1.0, output: 4.0}}
"""


WIDE = """\
seed: 3
markets:
  venue: simulator
  show: 30
  per_event: 6
  strata: [price, category]
  simulator:
    start: 2026-01-04
    weeks: 8
    markets: 90
    events: 30
    exclusive_share: 0.4
    ladder_share: 0.3
    jump_rate: 0.03
    refund_share: 0.1
    fraction_share: 0.1
    delay_share: 0.3
    corrected_share: 0.3
    unquoted_rate: 0.1
cohorts: {rounds: 6, count: 2, keep_deciding: 2}
agents:
  - kind: constant
  - kind: random
  - kind: oracle
"""
"""A world with families, news, late, odd and corrected ends, and silence."""


def run(*words: object) -> Result:
    """Return what the command line answers, in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def told(*words: object, status: int = 0) -> Any:
    """Return what `arena … --json` answers."""
    answer = run(*words, "--json")
    assert answer.exit_code == status, answer.output
    return json.loads(answer.stdout)


def refereed(folder: Path) -> list[str]:
    """Return the differences that the referee finds."""
    return referee.referee(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("public")


@pytest.fixture(scope="module")
def small(folder: Path) -> Path:
    """Return the small record, whose every figure is on file, as JSON."""
    with closing(build(folder / "small.db", watched=True)):
        exported(folder / "small.db", folder / "small", "json")
    return folder / "small"


@pytest.fixture(scope="module")
def demo(folder: Path) -> Any:
    """Return four rounds of a small demo, in which a model is asked over HTTP."""
    config = demo_config(folder, LINE_UP, show=40, markets=150, events=55)
    words = ("--rounds", "4", "--database", "demo.db")
    return arena_json(folder, "demo", "--headless", *words, "--config", str(config))


def test_a_season_goes_out_and_comes_in_by_the_command_line(demo: Any, folder: Path) -> None:
    place = folder / "season.zip"
    old = folder / "demo.db"
    new = folder / "copy.db"
    out = told("share", "export", place, "--format", "parquet", "--database", old)
    assert out["state_hash"] == demo["state_hash"]
    assert out["rows"] == sum(file["rows"] for file in out["files"].values()) > 1_000
    back = told("admin", "restore", place, "--database", new)
    assert 1_000 < back.pop("rows") < out["rows"]  # what is worked out is not put back
    same = {"database": str(new), "export": str(place)}
    assert back == same | {"cohorts": demo["cohorts"], "state_hash": demo["state_hash"]}
    assert told("admin", "verify", "--database", new).items() >= AGREES.items()
    assert told("board", "--database", new)["leaderboard"] == demo["leaderboard"]
    assert told("admin", "restore", place, "--database", new, status=1)["error"]["code"] == "not_empty"
    there = told("share", "export", place, "--database", old, status=1)["error"]
    hint = "name another path, or add --force"
    assert there == {"code": "exists", "message": f"{place} already exists", "mend": hint}


def test_in_words_it_says_what_it_did_and_what_comes_next(demo: Any, folder: Path, tmp_path: Path) -> None:
    old = folder / "demo.db"
    done = run("share", "export", tmp_path / "words", "--cohort", "1", "--no-prompts", "--database", old)
    assert "words: 27 tables," in done.stdout
    assert "only a complete export with prompts can be made a record" in done.stdout
    done = run("admin", "restore", tmp_path / "words", "--database", tmp_path / "no.db")
    assert done.exit_code == 1
    assert "has cohorts 1 only: it can be read but not imported" in done.stderr
    assert "→ make a full export" in done.stderr
    assert not (tmp_path / "no.db").exists()
    done = run("share", "export", tmp_path / "whole", "--database", old)
    assert f"State hash {demo['state_hash']}" in done.stdout
    assert f"admin restore {tmp_path / 'whole'} --database copy.db" in done.stdout
    done = run("admin", "restore", tmp_path / "whole", "--database", tmp_path / "new.db")
    assert f"board --database {tmp_path / 'new.db'}" in done.stdout


def test_the_exported_leaderboard_is_that_of_the_command(demo: Any, folder: Path) -> None:
    exported(folder / "demo.db", folder / "board")
    for cohort, words in (("", ()), ("1", ("--cohort", "1"))):
        board = told("board", *words, "--database", folder / "demo.db")["leaderboard"]
        rows = [row for row in lines(folder / "board" / "leaderboard.csv") if row["cohort"] == cohort]
        known = {row["agent"]: row for row in board}
        assert sorted(row["agent"] for row in rows) == sorted(known)
        for row in rows:
            right = known[row["agent"]]
            names = [name for name in row if name not in ("cohort", "agent", "kind")]
            assert [float(row[name]) if row[name] else None for name in names] == [right[n] for n in names]


def test_the_referee_finds_no_difference_in_a_demo(demo: Any, folder: Path) -> None:
    """Alone with Python's own library, where nothing of the arena is to be found."""
    exported(folder / "demo.db", folder / "demo", "json")
    words = [sys.executable, "-I", str(REFEREE), str(folder / "demo")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    exported(folder / "demo.db", folder / "part", "json", cohorts=(1,), prompts=False)
    assert refereed(folder / "part") == []


def test_the_referee_finds_no_difference_where_there_are_refunds_halves_and_corrections(
    small: Path, folder: Path
) -> None:
    assert refereed(small) == []
    (folder / "wide.yaml").write_text(WIDE, "utf-8")
    arena_json(folder, "demo", "--headless", "--config", "wide.yaml", "--database", "wide.db")
    assert arena_json(folder, "admin", "verify", "--database", "wide.db")["ok"]
    exported(folder / "wide.db", folder / "wide", "json")
    entries = (folder / "wide" / "entries.jsonl").read_text("utf-8").splitlines()
    kinds = {json.loads(line)["kind"] for line in entries}
    assert kinds == {"deposit", "buy", "settle", "refund", "reverse"}
    assert refereed(folder / "wide") == []


@pytest.mark.parametrize(
    ("name", "place", "values", "said"),
    [
        ("entries", 2, {"balance": 1}, "entry (1, 'ann', 3): balance is 1 and should be 9500000000"),
        ("entries", 2, {"held": 0}, "entry (1, 'ann', 3): held is 0 and should be 354027414"),
        ("entries", 3, {"cost": -149_999_999}, "entry (1, 'ann', 4): cost is -149999999 and should be"),
        ("entries", 3, {"ref": "fill:1:0"}, "(1, 2, 'ann', 0), 'sell', 'sim:sun', 'YES') is not posted"),
        ("cohorts", 0, {"frozen": None}, "cash is 10000000000 and should be 10000000001"),
        ("fills", 0, {"amount": 300_000_001}, "fill (1, 1, 'ann', 0): amount is 300000001 and should be 3"),
        ("fill_levels", 0, {"fee": 0}, "level of fill (1, 1, 'ann', 0): fee is 0 and should be 1935200"),
        ("resolutions", 0, {"payout": 1_000_000}, "entry (1, 'ann', "),
        (
            "marks",
            1,
            {"value": 7},
            "mark (1, 'ann', '2026-01-11T12:00:00.000000Z'): value is 7 and should be",
        ),
        ("marks", 3, {"stale": 0}, "stale is 0 and should be 1"),
        ("quotes", 0, {"mid": 460_000}, "mark (1, 'ann', '2026-01-04T12:00:00.000000Z'): value is 480931725"),
        (
            "positions",
            0,
            {"received": 1},
            "position (1, 'ann', 'sim:rain', 'NO'): received is 1 and should be",
        ),
        (
            "forecasts",
            1,
            {"probability": 1},
            "score (1, 1, 'ann', 'sim:sun', 'stated', None): forecast is 0.6",
        ),
        ("scores", 0, {"brier": 0.1}, "score (1, 1, 'ann', 'sim:sun', 'stated', None): brier is 0.1 and"),
        ("scores", 5, {"reading": "said"}, "'said', None) is one too many"),
        ("leaderboard", 0, {"skill": 0.2}, "leaderboard (None, 'market'): skill is 0.2 and should be"),
        ("leaderboard", 1, {"turns": 4}, "leaderboard (None, 'ann'): turns is 4 and should be 6"),
        ("calls", 0, {"cost": 5}, "leaderboard (None, 'ann'): cost_usd is None and should be 0.000485"),
        ("turns", 0, {"status": "failed"}, "leaderboard (None, 'ann'): failed is 0 and should be 1"),
    ],
)
def test_the_referee_finds_what_was_changed(
    small: Path, tmp_path: Path, name: str, place: int, values: dict[str, Any], said: str
) -> None:
    bent = Path(shutil.copytree(small, tmp_path / "bent"))
    if name == "cohorts":
        frozen = json.loads((bent / "cohorts.jsonl").read_text("utf-8").split("\n")[0])["frozen"]
        values = {"frozen": frozen.replace('"bankroll":10000000000', '"bankroll":10000000001')}
    bend_json(bent, f"{name}.jsonl", place, **values)
    found = refereed(bent)
    assert any(said in line for line in found), found


def test_the_referee_knows_nothing_of_the_arena() -> None:
    text = REFEREE.read_text("utf-8")
    imported = {
        line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names)


def test_a_season_moves_from_one_database_to_the_other_and_back(
    new_database: Callable[[], str], small: Path, tmp_path: Path
) -> None:
    there = new_database()
    sent = restore(small, there)
    assert told("admin", "verify", "--database", there).items() >= AGREES.items()
    for form in ("csv", "parquet", "json"):
        back = exported(there, tmp_path / form, form)
        assert back.state_hash == sent.state_hash
    assert contents(tmp_path / "json") == contents(small)  # to the byte, from another database
    restore(tmp_path / "csv", str(tmp_path / "back.db"))
    assert exported(tmp_path / "back.db", tmp_path / "again", "json").files == sent.files
    refused = told("admin", "restore", small, "--database", there, status=1)
    assert "holds a record" in refused["error"]["message"]


def test_a_season_that_plays_on_a_server_is_exported_as_it_was(
    new_database: Callable[[], str], tmp_path: Path
) -> None:
    there = new_database()
    played: list[bool] = []
    with closing(build(there, weeks=3)) as record:
        before = exported(there, tmp_path / "before")

        def meanwhile(_done: int, _of: int) -> None:
            if not played:
                record.end(record.cohorts()[0].id, NOW)
                played.append(True)

        during = exported(there, tmp_path / "during", progress=meanwhile)
    assert played
    assert contents(tmp_path / "during") == contents(tmp_path / "before")
    assert during == before
    assert exported(there, tmp_path / "after") != before


def test_what_fails_leaves_a_server_as_it_was(
    new_database: Callable[[], str], small: Path, tmp_path: Path
) -> None:
    there = new_database()
    bent = Path(shutil.copytree(small, tmp_path / "bent"))
    (bent / "marks.jsonl").write_text("")
    refused = told("admin", "restore", bent, "--database", there, status=1)
    assert "marks.jsonl" in refused["error"]["message"]
    with psycopg.connect(there.replace("+psycopg", "")) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == []
        connection.execute("CREATE TABLE recipes (name text)")
    refused = told("admin", "restore", small, "--database", there, status=1)
    assert "holds something other than a record" in refused["error"]["message"]
