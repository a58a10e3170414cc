"""A round killed before any statement, and around any call, goes on as if nothing had happened."""

import asyncio
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from agents.model import Call, Prompt
from arena.cohorts.freeze import plan_of
from arena.config import Config, load
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.world import Player, World
from arena.verify import verify
from tests.opened_record import OpenedRecord
from tests.records.little_world import with_players

CONFIG = """\
markets:
  venue: simulator
  show: 4
  simulator: {start: 2026-01-04, weeks: 3, markets: 12, events: 4}
cohorts: {rounds: 2, count: 1}
budget: {day: 5}
agents:
  - {name: sharp, model: demo/sharp, price: {input: 1.0, output: 4.0}}
  - {kind: kelly, of: sharp}
"""


class Killed(BaseException):
    """What no code of ours can catch."""


@dataclass
class Fate:
    """Counts the moments at which a process can die, and lets it die at one of them."""

    left: int = 0
    moments: list[str] = field(default_factory=list)
    asked: Counter[Prompt] = field(default_factory=Counter)

    def moment(self, what: str) -> None:
        """One more moment: a statement, a commit, or what lies before or after a call."""
        self.moments.append(what)
        if len(self.moments) == self.left:
            raise Killed

    def places(self, all_of_them: bool) -> list[int]:
        """Where to die, counted from 1: each, or every fifth that writes and every hundredth that reads."""
        every = enumerate(self.moments, 1)
        return [n for n, what in every if all_of_them or n % (100 if what.startswith("SELECT") else 5) == 0]


@dataclass
class Machine:
    """One record at one address, on which processes live and die; what they had in memory dies with them."""

    config: Config
    fate: Fate = field(default_factory=Fate)
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = OpenedRecord.at(self.config.database).engine
        event.listen(self.engine, "before_cursor_execute", self._statement)
        event.listen(self.engine, "commit", lambda _: self.fate.moment("commit"))

    def _statement(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        self.fate.moment(statement)

    def play(self, fate: Fate, number: int = 1) -> None:
        """A round of the cohort, by default the second, as a process that knows nothing of an earlier one."""
        self.fate, record = fate, OpenedRecord(self.engine)

        async def play_round_once() -> None:
            async with open_world(self.config, record) as world:
                plan = plan_of(self.config, world.now(), record.begun())
                watched = watched_players(world, fate)
                await play_time(plan.decision_times()[number], plan, watched, record)

        try:
            asyncio.run(play_round_once())
        finally:
            self.fate = Fate()
            self.engine.dispose()

    def begin_with(self, other: "Machine") -> None:
        """Put the record of another one in place of this one's."""
        self.engine.dispose()
        other.engine.dispose()
        shutil.copy(other.config.database, self.config.database)

    def questions(self) -> list[Prompt]:
        """Those that have an answer in the record."""
        record = OpenedRecord(self.engine)
        [stored] = record.cohorts()
        rounds = [stored_round.id for stored_round in record.rounds(stored.id)]
        ids = list(stored.entrant_ids.values())
        calls = [
            call
            for stored_round in rounds
            for made in record.calls(stored_round, ids).values()
            for call in made
        ]
        return [call.prompt for call in calls if call.error is None]

    def what_is_there(self, verified: bool = True) -> dict[str, Any]:
        """What a round leaves, and whether the record agrees with itself."""
        record = OpenedRecord(self.engine)
        with record.reading() as connection:
            money = connection.exec_driver_sql("SELECT count(*), sum(cash), sum(value) FROM mark").one()
            lines = connection.exec_driver_sql("SELECT count(*), count(DISTINCT market_id) FROM entry").one()
            found = {"hash": record.state_hash(), "money": tuple(money), "entries": tuple(lines)}
            return found | {"differences": verify(connection) if verified else []}


def watched_players(world: World, fate: Fate) -> World:
    """A world with minds whose calls go out as ever, with a moment before each and one after it."""

    def watched(found: Player, _name: str) -> Player:
        async def ask(prompt: Prompt) -> Call:
            fate.moment("a question goes out")
            fate.asked[prompt] += 1
            call = await found.ask(prompt)
            fate.moment("an answer is there")
            return call

        return replace(found, ask=ask)

    return with_players(world, watched)


def test_killed_at_any_statement_or_call_it_ends_in_the_same_record(tmp_path: Path, thorough: bool) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    config = load(tmp_path / "config.yaml")
    begun, whole, broken = (
        Machine(replace(config, database=str(tmp_path / name))) for name in ("begun.db", "whole.db", "b.db")
    )
    begun.play(Fate(), 0)
    whole.begin_with(begun)
    unbroken = Fate()
    whole.play(unbroken)
    wanted, answered = whole.what_is_there(), whole.questions()
    assert wanted["differences"] == []
    assert wanted["entries"][1] > 2, "nothing was bought"
    assert unbroken.asked
    for left in unbroken.places(thorough):
        broken.begin_with(begun)
        with pytest.raises(Killed):
            broken.play(Fate(left))
        stored, again = broken.questions(), Fate()
        broken.play(again)
        where = f"killed at moment {left}: {unbroken.moments[left - 1]}"
        assert broken.what_is_there(thorough or left % 5 == 0) == wanted, where
        assert not set(stored) & set(again.asked), f"{where}: a stored answer was asked for again"
        assert sorted(broken.questions(), key=repr) == sorted(answered, key=repr), where
