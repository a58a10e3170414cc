"""The price that one is judged by: that of the moment at which one could last look."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from agents import registry
from agents.model import Agent, Ask, Decision, Forecast, View
from arena.rounds.round import take_snapshot
from arena.rounds.worker import play_job
from arena.rounds.world import World
from arena.scores.leaderboard import read_scores
from arena.verify import verify
from markets.model import Listing, MarketId
from markets.venue import VenueError
from tests.builders import NOW, RAIN, a_bet, a_resolution, usd
from tests.opened_record import OpenedRecord, a_turn_job
from tests.records.little_world import (
    WEEK,
    LittleModel,
    LittleVenue,
    a_cohort,
    a_world,
    asks,
    begun,
    begun_live,
    play,
    says,
    turns_of,
    with_players,
)

HOUR = timedelta(hours=1)
SNOW = MarketId("sim:snow")


@dataclass
class Afternoon:
    """A venue whose prices move while agents think, and a clock."""

    venue: LittleVenue
    at = NOW

    def moves(self, **mids: int) -> None:
        """Move the prices an hour later."""
        self.at += HOUR
        self.venue.mids |= {f"sim:{name}": mid for name, mid in mids.items()}

    def world(self, agents: Mapping[str, Agent], outside: Collection[str] = (), down: int = 0) -> World:
        """Return the world of a round, with a second look for those in `outside`."""
        world = a_world(self.venue, agents, LittleModel(down))
        world = with_players(world, lambda player, name: replace(player, looks_outside=name in outside))
        return replace(world, now=lambda: self.at)


def buys_late(afternoon: Afternoon) -> Agent:
    """State the live price of an hour later, and buy rain."""

    async def decide(view: View, ask: Ask) -> Decision:
        afternoon.moves(rain=45, snow=70)
        mids = afternoon.venue.mids
        said = tuple(Forecast(x.market.id, mids[x.market.id] / 100) for x in view.snapshot.shown)
        return Decision(said, (a_bet(100, "YES", RAIN),))

    return decide


def thinks(afternoon: Afternoon, hours: int) -> Agent:
    """Ask the model, and answer after this many hours."""

    async def decide(view: View, ask: Ask) -> Decision:
        await asks(view, ask)
        afternoon.at += hours * HOUR
        return await says("0.9", ("100", RAIN))(view, ask)

    return decide


async def asks_and_buys(view: View, ask: Ask) -> Decision:
    """Ask the model, which may have no answer, and buy rain."""
    decision = await asks(view, ask)
    return decision if decision.status == "failed" else Decision(bets=(a_bet(100, "YES", RAIN),))


def test_who_copies_the_live_price_at_its_deadline_has_skill_0(record: OpenedRecord) -> None:
    afternoon = Afternoon(LittleVenue())
    stored = begun_live(record, "ann", "bob", "kim", kim="ann")
    agents = {"ann": buys_late(afternoon), "bob": says("0.5", ("100", RAIN)), "kim": says("0.5")}
    turns = turns_of(play(stored, 1, afternoon.world(agents, outside=["ann"]), record))
    assert [(fill.quote_at, fill.levels[0].price) for fill in turns["ann"].fills] == [
        (NOW + HOUR, usd("0.46"))
    ]
    assert [(fill.quote_at, fill.levels[0].price) for fill in turns["bob"].fills] == [(NOW, usd("0.41"))]
    afternoon.venue.endings += [a_resolution("1", market, at=NOW + HOUR) for market in (RAIN, SNOW)]
    afternoon.at = NOW + WEEK
    play(stored, 2, afternoon.world({**agents, "ann": says("0.5")}), record)
    stated = record.forecasts()
    first = stated.round == 1
    mids = {
        name: stated.mid[first & (stated.agent == place)].tolist() for place, name in enumerate(stated.agents)
    }
    later = [usd("0.45"), usd("0.70")]
    shown = [usd("0.40"), usd("0.60")]
    assert mids == {"ann": later, "bob": shown, "kim": later}  # kim is made from ann, who looks outside
    skills = {row.agent: row.skill for row in record.read(read_scores)}
    assert skills["ann"] == 0
    assert skills["bob"] != 0


@pytest.mark.parametrize(
    ("stamp", "pretended", "mid", "price"),
    [
        ("live", False, 60, "0.61"),
        ("live", False, 20, "0.41"),
        ("simulated", True, 60, "0.61"),
        ("simulated", False, 60, "0.41"),
        ("replay", True, 60, "0.41"),
    ],
)
def test_what_is_tried_again_is_filled_at_the_worse_price_where_the_venue_can_be_asked(
    stamp: str, pretended: bool, mid: int, price: str, record: OpenedRecord
) -> None:
    afternoon = Afternoon(LittleVenue())
    agents = {"eve": asks_and_buys, "ann": says("0.5", ("100", RAIN))}
    stored = begun(record, replace(a_cohort(["eve", "ann"]), stamp=stamp))
    world = replace(afternoon.world(agents, down=1), pretended=pretended)
    first = turns_of(play(stored, 1, world, record))
    assert [fill.levels[0].price for fill in first["ann"].fills] == [usd("0.41")]
    afternoon.moves(rain=mid)
    (fill,) = turns_of(play(stored, 1, world, record))["eve"].fills
    assert fill.levels[0].price == usd(price)
    assert record.read(verify) == []


@pytest.mark.parametrize("by_worker", [False, True])
def test_what_a_restart_has_left_over_is_filled_at_the_price_of_then(
    by_worker: bool, record: OpenedRecord
) -> None:
    afternoon = Afternoon(LittleVenue())
    stored = begun_live(record, "ann")
    world = afternoon.world({"ann": says("0.5", ("100", RAIN))})
    snapshot = asyncio.run(take_snapshot(stored, NOW, world, record, 1))
    record.keep_snapshot(stored.id, 1, snapshot, 1)
    afternoon.moves(rain=60)

    async def dispatch(*given: object) -> Collection[str]:
        again = given[-1] is True
        told = list[tuple[str, str]]()
        job = a_turn_job("ann", again=again)
        await play_job(job, lambda *said: told.append(said), world, record)
        assert told == [("ann", "played")]
        return []

    (fill,) = turns_of(play(stored, 1, replace(world, dispatch=dispatch if by_worker else None), record))[
        "ann"
    ].fills
    assert (fill.quote_at, fill.levels[0].price) == (NOW + HOUR, usd("0.61"))


def test_a_turn_that_is_taken_over_from_a_worker_is_filled_at_the_price_of_then(record: OpenedRecord) -> None:
    """Its round was begun just now, but nobody knows when the worker before had asked."""
    afternoon = Afternoon(LittleVenue())
    stored = begun_live(record, "ann")
    world = afternoon.world({"ann": says("0.5", ("100", RAIN))})
    snapshot = asyncio.run(take_snapshot(stored, NOW, world, record, 1))
    record.keep_snapshot(stored.id, 1, snapshot, 1)
    record.claim(1, [1], "elsewhere.invalid/1/x")
    record.release(1, [1])
    afternoon.moves(rain=60)

    told = list[tuple[str, str]]()
    job = a_turn_job("ann")
    asyncio.run(play_job(job, lambda *said: told.append(said), world, record))

    assert told == [("ann", "played")]
    [fill] = record.fills(1)
    assert (fill.quote_at, fill.levels[0].price) == (NOW + HOUR, usd("0.61"))


def test_without_a_price_of_then_nothing_is_traded_and_nothing_is_proven(record: OpenedRecord) -> None:
    afternoon = Afternoon(LittleVenue())
    stored = begun_live(record, "ann")

    async def knows(view: View, ask: Ask) -> Decision:
        afternoon.venue.silent.add(RAIN)
        return await says("0.9", ("100", RAIN))(view, ask)

    turn = turns_of(play(stored, 1, afternoon.world({"ann": knows}, outside=["ann"]), record))["ann"]
    assert [refused.code for refused in turn.rejections] == ["no_quote"]
    stated = record.forecasts()
    assert stated.mid.tolist() == [usd("0.40"), usd("0.60")]
    assert stated.quoted.tolist() == [False, True]


def test_an_answer_after_its_window_is_late_and_states_and_trades_nothing(record: OpenedRecord) -> None:
    afternoon = Afternoon(LittleVenue())
    stored = begun_live(record, "ann", "bob")
    agents = {"ann": thinks(afternoon, 7), "bob": says("0.5")}
    ann = turns_of(play(stored, 1, afternoon.world(agents, down=0), record))["ann"]
    note = "answered 7 h after its prices, and a turn has 6 h"
    assert (ann.decision, ann.fills, ann.second) == (Decision(status="late", note=note), (), None)
    assert len(record.calls(1, [1])[1]) == 1, "it was paid"
    afternoon.venue.endings += [a_resolution("1", market, at=afternoon.at) for market in (RAIN, SNOW)]
    afternoon.at = NOW + WEEK
    play(stored, 2, afternoon.world({**agents, "ann": says("0.5")}), record)
    (row,) = (row for row in record.read(read_scores) if row.agent == "ann")
    assert (row.turns, row.failed, row.late, row.retried, row.ranked, row.coverage) == (2, 0, 1, 0, False, 0)
    assert record.read(verify) == []


def test_what_closes_while_an_agent_thinks_is_not_traded(record: OpenedRecord) -> None:
    afternoon = Afternoon(LittleVenue(closes_at=NOW + HOUR))
    stored = begun_live(record, "ann")
    turn = turns_of(play(stored, 1, afternoon.world({"ann": thinks(afternoon, 2)}), record))["ann"]
    assert [refused.code for refused in turn.rejections] == ["closed_since"]
    assert (turn.decision.status, turn.fills) == ("played", ())
    assert record.read(verify) == []


def test_where_the_venue_is_down_when_the_answer_is_in_the_turn_is_tried_again(record: OpenedRecord) -> None:
    class NoRoute(LittleVenue):
        async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
            if self.silent:
                raise VenueError("unreachable", "no route")
            return await super().listings(at, markets)

    afternoon = Afternoon(NoRoute())
    stored = begun_live(record, "ann")

    async def knows(view: View, ask: Ask) -> Decision:
        if afternoon.at == NOW:
            afternoon.venue.silent.add(SNOW)
        return await says("0.9", ("100", RAIN))(view, ask)

    world = afternoon.world({"ann": knows}, outside=["ann"])
    decision = turns_of(play(stored, 1, world, record))["ann"].decision
    assert (decision.status, decision.note) == ("failed", "no prices of when it had answered: no route")
    afternoon.venue.silent.clear()
    afternoon.moves(rain=60)
    assert [fill.levels[0].price for fill in turns_of(play(stored, 1, world, record))["ann"].fills] == [
        usd("0.61")
    ]


def test_of_the_kinds_here_those_look_outside_that_run_other_code() -> None:
    assert [name for name in registry.kinds() if registry.kind(name).looks_outside] == [
        "command", "outside", "python"
    ]  # fmt: skip
