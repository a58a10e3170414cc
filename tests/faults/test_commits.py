"""The answer to a commit is lost, whether or not it took effect: done again, everything is there once."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from agents.model import Call, Message, Prompt
from arena.cohorts.freeze import plan_of
from arena.config import Config, load
from arena.errors import ArenaError
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.world import Player, World
from arena.verify import verify
from tests.faults.test_every_statement import CONFIG, Fate, watched_players
from tests.opened_record import OpenedRecord, opened_record
from tests.records.little_world import with_players
from tests.rows import hash_seen, only_reads

PROMPT = Prompt((Message("user", "?"),))


@dataclass
class Cuts:
    """Cuts the connection at one commit of a record, before or after it takes effect."""

    record: OpenedRecord
    left: int = 0
    takes_effect: bool = False
    code: str = "unreachable"
    commits: int = 0
    cut: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        event.listen(self.record.engine, "commit", self._commit)

    def _commit(self, connection: Connection) -> None:
        if only_reads(connection):
            return
        self.commits += 1
        if self.commits != self.left:
            return
        self.cut.append(self.commits)
        driver = connection.connection.dbapi_connection
        assert driver is not None
        if self.takes_effect and connection.dialect.name == "sqlite":
            driver.cursor().execute("COMMIT")
        elif self.takes_effect:
            driver.commit()
        raise ArenaError(self.code, "the connection was cut at a commit")


async def play_until_done(config: Config, world: World, record: OpenedRecord) -> None:
    """Play the first round of the season, again where the record was away."""
    for _ in range(3):
        try:
            plan = plan_of(config, world.now(), record.begun())
            await play_time(plan.decision_times()[0], plan, world, record)
        except ArenaError as error:
            if error.code != "unreachable":
                raise
        else:
            return


def played(config: Config, left: int = 0, takes_effect: bool = False) -> tuple[Cuts, dict[str, object]]:
    """Play a round in which one commit is cut; return what came of it."""
    fate = Fate()
    with opened_record(config.database) as record:
        cuts = Cuts(record, left, takes_effect)

        async def go() -> None:
            async with open_world(config, record) as world:
                watched = watched_players(world, fate)
                await play_until_done(config, watched, record)
                watched.reservations.renew()  # as the next heartbeat does

        asyncio.run(go())
        with record.reading() as connection:
            left_over = connection.exec_driver_sql("SELECT count(*) FROM reservation").scalar_one()
            calls = connection.exec_driver_sql("SELECT count(*) FROM call").scalar_one()
            found = {"hash": hash_seen(connection), "differences": verify(connection)}
    asked: Counter[Prompt] = fate.asked
    return cuts, found | {"asked": asked, "calls": calls, "reservations": left_over}


def test_cut_off_at_any_commit_a_round_is_played_once_and_nothing_stays_reserved(
    database: str,
    tmp_path: Path,
    thorough: bool,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.calls.recorded_ask.DATABASE_WAITS", (0.0,) * 3)
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    config = replace(load(tmp_path / "config.yaml"), database=database)
    unbroken, wanted = played(config)
    assert (wanted["differences"], wanted["reservations"], wanted["calls"]) == ([], 0, 1)
    is_server = "://" in database

    def fresh(number: int) -> str:
        if not is_server:
            return str(tmp_path / f"{number}.db")
        new_record: Callable[[], str] = request.getfixturevalue("new_server_record")
        return new_record()

    every = 3 if is_server and not thorough else 1
    for left in range(1, unbroken.commits + 1, every):
        for takes_effect in (False, True):
            address = fresh(2 * left + takes_effect)
            cuts, found = played(replace(config, database=address), left, takes_effect)
            assert cuts.cut == [left]
            assert found == wanted, f"commit {left}, which {'took' if takes_effect else 'took no'} effect"


def test_what_a_cut_commit_has_reserved_is_given_back_when_its_process_ends(tmp_path: Path) -> None:
    """Its round failed, and no heartbeat came after that."""
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    config = load(tmp_path / "config.yaml")

    async def play_once(record: OpenedRecord) -> None:
        async with open_world(config, record) as world:
            cuts = Cuts(record, takes_effect=True, code="disk_error")
            plan = plan_of(config, world.now(), record.begun())

            def cut_soon(made: Player, _name: str) -> Player:
                def worst_case(prompt: Prompt) -> int | None:
                    cuts.left = cuts.commits + 1  # the next commit reserves this call
                    return made.worst_case(prompt)

                return replace(made, worst_case=worst_case)

            await play_time(plan.decision_times()[0], plan, with_players(world, cut_soon), record)

    with opened_record(config.database) as record:
        with pytest.raises(ArenaError, match="cut at a commit"):
            asyncio.run(play_once(record))
        with record.reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM reservation").scalar_one() == 0


@pytest.mark.parametrize("takes_effect", [False, True])
def test_a_call_without_a_reservation_that_is_kept_again_is_there_once(
    takes_effect: bool, record: OpenedRecord
) -> None:
    cuts = Cuts(record, 1, takes_effect)
    call = Call(PROMPT, "yes", cost=0)
    with pytest.raises(ArenaError, match="cut at a commit"):
        record.add_call(1, 1, 1, call)
    record.add_call(1, 1, 1, call)
    assert cuts.cut == [1]
    with record.reading() as connection:
        assert connection.exec_driver_sql("SELECT attempt, reply FROM call").all() == [(1, "yes")]
