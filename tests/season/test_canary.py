"""A key that every failure is full of is, after all of them, in no file and in no output."""

import json
import sqlite3
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.program.running import arena
from tests.provider.replies import BEHAVIOURS
from tests.provider.server import FaultyProvider, faulty

HEAD, TAIL = "cn4ry-h3ad", "t4il-z9x"
KEY = f'{HEAD}"\\+/={TAIL}'
HOME_KEY = "h0me-cn4ry-q7w8e9"
"""One from the environment, with all that is escaped somewhere, and one from the file .env."""
FOUND = (
    HEAD,
    TAIL,
    HOME_KEY,
    b64encode(KEY.encode()).decode()[:16],
    b64encode(HOME_KEY.encode()).decode()[:16],
)
SLOW = {"busy", "busy-odd", "busy-until", "429"}
"""Those that ask for more patience than a test has."""
PLAYED = {"plays", "fenced", "thinking", "text-numbers", "percentage", "cut-off", "half-filtered", "tools"}
UNUSABLE = {
    *(
        "good",
        "usage-echo",
        "usage-fraction",
        "usage-huge",
        "usage-text",
        "prose",
        "only-thinking",
        "two-objects",
        "10000-bets",
        "blank",
        "10-mb",
        "huge",
        "surrogate",
        *(
            "two-percentages",
            "unknown-ids",
            "nan",
            "1e999",
            "booleans",
            "duplicate-keys",
            "filtered",
            "no-thanks",
        ),
    ),
    *(
        "echo",
        "echo-everywhere",
        "cut",
        "silent",
        "formless",
        "schemaless",
    ),
    *("uncounted", "usage-null", "usage-empty", "usage-negative", "usage-half", "odd-names"),
    *("usage-fraction", "usage-echo", "usage-text"),
}
"""Whose answers are taken, if only in part, and whose say nothing that could be; all others have failed."""

CONFIG = """\
markets:
  venue: simulator
  show: 5
  simulator: {start: 2026-01-04, weeks: 8, markets: 60, events: 20}
cohorts: {rounds: 1, count: 2}
agents:
  - kind: market
"""


def agent(name: str, url: str, variable: str = "CANARY_AUTH_KEY") -> str:
    patience = "1s" if name == "hang" else "60s"
    where = f'base_url: "{url}", api_key_env: {variable}'
    return f'  - {{name: "{name}", model: "openai/{name}", {where}, timeout: {patience}}}\n'


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        server.script("401-at-home", BEHAVIOURS["401"])
        yield server


def an_arena(folder: Path, provider: FaultyProvider, models: Iterable[str]) -> None:
    """Write an arena in which all models but one have a fault, or repeat a key."""
    line_up = [agent(name, provider.url) for name in sorted(models)]
    line_up += [agent("401-at-home", provider.url, "HOME_API_KEY")]
    (folder / "config.yaml").write_text(CONFIG + "".join(line_up), "utf-8")
    (folder / ".env").write_text(f"HOME_API_KEY={HOME_KEY}\n", "utf-8")


def tellers(folder: Path) -> list[str]:
    """Return the files that hold a piece of a key, of any type."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".env")
    assert any(path.suffix == ".db" for path in files)
    return [path.name for path in files if any(piece.encode() in path.read_bytes() for piece in FOUND)]


def check(run: CompletedProcess[str], status: int = 0) -> None:
    """Check that it ended with this status, and showed nothing of a key."""
    assert run.returncode == status, run.stdout[-2000:] + run.stderr[-2000:]
    assert not [piece for piece in FOUND if piece in run.stdout + run.stderr]
    assert "Traceback" not in run.stdout + run.stderr


def test_no_key_is_in_any_file_or_output_after_a_run_full_of_failures(
    tmp_path: Path, provider: FaultyProvider, thorough: bool
) -> None:
    """The second round, told in words, is played by a few of the models; by all with THOROUGH=1."""
    an_arena(tmp_path, provider, set(BEHAVIOURS) - SLOW)
    first = arena(tmp_path, "run", "--round", "--json", CANARY_AUTH_KEY=KEY)
    check(first, 2)
    with closing(sqlite3.connect(tmp_path / "arena.db")) as reader:  # so that the second run leaves its log
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not thorough:
            an_arena(tmp_path, provider, {"401", "echo", "echo-everywhere", "plays"})
        check(arena(tmp_path, "run", "--round", CANARY_AUTH_KEY=KEY), 2)
        assert (tmp_path / "arena.db-wal").stat().st_size > 0
        assert tellers(tmp_path) == []
    check(arena(tmp_path, "board", "--json"))
    check(arena(tmp_path, "admin", "verify"))
    check(arena(tmp_path, "share", "export", "public"))
    check(arena(tmp_path, "admin", "restore", "public", "--database", "copy.db"))
    assert tellers(tmp_path) == []
    assert {call.key for call in provider.log} == {f"Bearer {KEY}", f"Bearer {HOME_KEY}"}, "they were sent"
    assert b"[hidden]" in (tmp_path / "arena.db").read_bytes(), "and came back"
    statuses = {turn["agent"]: turn["status"] for turn in json.loads(first.stdout)["rounds"][0]["turns"]}
    taken = {name for name, status in statuses.items() if status in ("played", "partly")}
    assert taken == {*PLAYED, "market"}
    assert {name for name, status in statuses.items() if status in ("malformed", "declined")} == UNUSABLE
