"""An address is followed, not frozen; one with a credential is refused, and one in an older record hidden."""

import json
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from arena.config import load
from arena.config.errors import ConfigErrors
from markets.hashes import canonical, digest
from tests.program.running import arena
from tests.provider.server import faulty
from tests.rows import rows_in, state_of

CANARY = "c4nary-0f-4ddr3sses"
CONFIG = """\
markets:
  venue: simulator
  show: 5
  simulator: {{start: 2026-01-04, weeks: 8, markets: 60, events: 20}}
cohorts: {{rounds: 3, count: 1}}
agents:
  - kind: market
{agents}
"""
TURNS = """SELECT round.number, entrant.name, turn.status, turn.note FROM turn
    JOIN round ON round.id = turn.round_id JOIN entrant ON entrant.id = turn.entrant_id ORDER BY 1, 2"""
AGENT = '  - {{name: {name}, model: openai/plays, base_url: "{url}"}}\n'
PLACES = {
    "agents[1].base_url": "agents: [{{kind: market}}, {{name: a, model: openai/x, base_url: '{}'}}]",
    "ask.base_url": "ask: {{base_url: '{}'}}",
    "database": "database: '{}'",
    "markets.polymarket.url": "markets: {{venue: polymarket, polymarket: {{url: '{}'}}}}",
    "evidence.gdelt.url": "evidence: {{from: gdelt, gdelt: {{url: '{}'}}}}",
    "watch.webhook": "watch: {{webhook: '{}'}}",
    "agents[1].feeds[0]": "agents: [{{kind: market}}, {{kind: mine, feeds: ['{}']}}]",
    "agents[1].extra.callback": "agents: [{{kind: market}}, {{model: openai/x, extra: {{callback: '{}'}}}}]",
}


@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize(
    "address",
    [
        f"https://ann:{CANARY}@host.example/v1",
        f"https://{CANARY}@host.example/v1",
        f"https://host.example/v1?key={CANARY}",
        f"https://host.example/v1#token={CANARY}",
        f"https://hooks.slack.com/services/T0/B0/{CANARY}",
        f"postgresql+psycopg://ann:{CANARY}@host.example/arena",
    ],
)
def test_a_credential_in_an_address_is_refused_and_not_repeated(
    tmp_path: Path, key: str, address: str
) -> None:
    kinds = tmp_path / "extensions"
    kinds.mkdir()
    (kinds / "mine.py").write_text(
        "from agents.model import KindSettings\nclass Own(KindSettings):\n    feeds: list[str]\n"
        "from agents.registry import AgentKind\nKIND = AgentKind('mine', Own, lambda s, g: None)\n"
    )
    block = PLACES[key].format(address)
    rest = [x for x in ("markets: {venue: simulator}", "agents: [{kind: market}]") if x[:7] != block[:7]]
    (tmp_path / "config.yaml").write_text("\n".join([block, *rest]) + "\n")
    with pytest.raises(ConfigErrors) as refused:
        load(tmp_path / "config.yaml", {}, beside=True)
    assert CANARY not in json.dumps(refused.value.as_dict())
    lines = [each.line for each in refused.value.errors if each.key == key and "this address" in each.message]
    assert lines == [1]
    if key == "database":
        said = arena(tmp_path, "check")
        assert (said.returncode, CANARY in said.stdout + said.stderr) == (1, False)


def test_an_ordinary_address_is_taken(tmp_path: Path) -> None:
    addresses = {
        "database": "postgresql+psycopg://ann@host.example/arena?sslmode=require",
        "ask": {"base_url": "https://team.openai.azure.com/openai/deployments/gpt-4o-mini-2024-07-18"},
        "watch": {"webhook": "https://host.example/hook"},
        "markets": {"venue": "polymarket", "polymarket": {"url": "http://127.0.0.1:8000/gamma"}},
        "agents": [{"model": "openai/x", "extra": {"callback": "https://host.example/rss?topic=news"}}],
    }
    (tmp_path / "config.yaml").write_text(json.dumps(addresses))
    assert load(tmp_path / "config.yaml", {}).database == addresses["database"]


def write(folder: Path, *agents: tuple[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    blocks = "".join(AGENT.format(name=name, url=url) for name, url in agents)
    (folder / "config.yaml").write_text(CONFIG.format(agents=blocks))
    return folder


def test_a_moved_server_is_followed_by_a_running_cohort_and_no_address_is_in_a_hash(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(faulty()) for _ in range(2))
        moved = write(tmp_path / "moved", ("a", first.url), ("b", first.url))
        assert arena(moved, "run", "--round").returncode == 0
        write(moved, ("a", second.url))  # b is in no config any more, and is asked where it was
        assert arena(moved, "run", "--round").returncode == 0
        first_calls = len(first.log)
        stayed = write(tmp_path / "stayed", ("a", second.url), ("b", second.url))
        for _ in range(2):
            assert arena(stayed, "run", "--round").returncode == 0
        assert first_calls == 3
        assert {status for _, _, status, _ in rows_in(moved / "arena.db", TURNS)} == {"played"}
        assert rows_in(moved / "arena.db", TURNS) == rows_in(stayed / "arena.db", TURNS)
        assert state_of(moved / "arena.db") == state_of(stayed / "arena.db")
        data = (moved / "arena.db").read_bytes()
        assert b'"base_url":"server 1"' in data
    write(moved, ("a", "http://127.0.0.1:9/v1"))
    assert arena(moved, "run", "--round").returncode == 2
    third = [row for row in rows_in(moved / "arena.db", TURNS) if row[0] == 3]
    failed = {name: note for _, name, status, note in third if status == "failed"}
    assert "asked at http://127.0.0.1:9/v1" in failed["a"]
    assert first.url in failed["b"]


def test_what_an_older_record_holds_of_a_credential_leaves_it_nowhere(tmp_path: Path, thorough: bool) -> None:
    """Told in words or in JSON by turns, and in both with THOROUGH=1."""
    with faulty() as server:
        old = write(tmp_path / "old", ("a", server.url))
        assert arena(old, "run", "--round").returncode == 0
        with closing(sqlite3.connect(old / "arena.db")) as record, record:
            dropped = record.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in dropped:
                record.execute(f"DROP TRIGGER {name}")
            host = server.url.removeprefix("http://")
            for table, column in (("cohort", "frozen"), ("entrant", "settings")):
                change = f'"http://ann:{CANARY}@{host}?key={CANARY}"'
                record.execute(
                    f"UPDATE {table} SET {column} = replace({column}, '\"server 1\"', ?)", (change,)
                )
            (frozen,) = record.execute("SELECT frozen FROM cohort").fetchone()
            assert CANARY in frozen == canonical(json.loads(frozen))
            record.execute("UPDATE cohort SET hash = ?", (digest(frozen),))
        assert arena(old, "run", "--round").returncode == 0
    doors = (
        ["show", "agent", "a"], ["show", "cohort", "1"], ["show", "cohort", "1", "next"], ["status"],
        ["admin", "verify"], ["board"], ["check"], ["share", "report", "-o", "report.html"],
        ["share", "export", "public"],
        ["admin", "restore", "public", "--database", "copy.db"], ["admin", "verify", "--database", "copy.db"],
    )  # fmt: skip
    for place, door in enumerate(doors):
        forms = [[]] if door[1:2] in (["report"], ["export"], ["restore"]) else [["--json"], []]
        for form in forms if thorough else forms[place % len(forms) :][:1]:
            said = arena(old, *door, *form)
            tampered = door == ["admin", "verify"]  # by the hand of this test
            assert said.returncode == 0 or tampered, said.stdout + said.stderr
            assert CANARY not in said.stdout + said.stderr, door
    files = [path for path in old.rglob("*") if path.is_file() and not path.name.startswith("arena.db")]
    assert len(files) > 20
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]
