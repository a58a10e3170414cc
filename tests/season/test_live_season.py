"""Four live weeks at Polymarket's wire: bought from the book, vanished, disputed, paid, and corrected."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.model import Ask, Decision, Forecast, View
from arena.record.model.cohort import RoundReport
from arena.rounds.round import play_round
from arena.verify import verify
from markets.model import MarketId
from markets.venues.polymarket import Settings, venue
from portfolio.rules import REALISTIC
from tests.builders import NOW, a_bet, usd
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, a_cohort, a_world, begun, live
from tests.venue_server.polymarket import CLOB, GAMMA, a_book_end, an_end, rain_and_snow
from tests.venue_server.server import VenueServer

RAIN = MarketId("polymarket:1001")
SNOW = MarketId("polymarket:1002")
LATER = "2026-12-31T00:00:00Z"


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    opened = OpenedRecord.at(tmp_path / "arena.db")
    yield opened
    assert opened.read(verify) == []
    opened.close()


async def buyer(view: View, _ask: Ask) -> Decision:
    """Bet $100 on rain and $100 against snow, once."""
    said = tuple(Forecast(x.market.id, 0.5) for x in view.snapshot.shown)
    bets = (a_bet(100, market=RAIN), a_bet(100, "NO", SNOW)) if view.round == 1 else ()
    return Decision(said, bets)


def play(number: int, url: str, record: OpenedRecord) -> RoundReport:
    """Play a round half a minute after its time."""
    [stored] = record.cohorts()
    at = stored.cohort.calendar.time(number)

    async def played() -> RoundReport:
        asides: list[Any] = []
        settings = Settings.model_validate(
            {"url": f"{url}{GAMMA}", "book_url": f"{url}{CLOB}", "per_second": 1000}
        )
        polymarket = venue(settings, asides.append)
        world = a_world(polymarket, {"ann": buyer}, now=at + timedelta(seconds=30))
        try:
            return await play_round(stored, number, replace(world, quarantined=asides), record)
        finally:
            await polymarket.close()

    return asyncio.run(played())


def test_four_weeks(venue: VenueServer, record: OpenedRecord) -> None:
    wire = rain_and_snow(endDate=LATER)
    url = wire.serve(venue)
    universe = a_cohort(["ann"]).universe.model_copy(update={"closes_within": 10**9})
    cohort = replace(a_cohort(["ann"], REALISTIC), rounds=5, venue="polymarket", universe=universe)
    stored = begun(record, live(cohort))
    (turn,) = play(1, url, record).turns
    rain, snow = turn.fills
    # Asks of rain: 50.5 at 0.42, then 0.43. A bid for snow at 0.40 sells NO at 0.60. The fee: 0.04·p·(1 − p).
    assert [level.price for level in rain.levels] == [usd("0.42"), usd("0.43")]
    assert [level.price for level in snow.levels] == [usd("0.60")]
    first = usd("50.5") * 42 // 100 + rain.levels[0].fee
    assert (rain.levels[0].shares, rain.levels[0].amount) == (usd("50.5"), first)
    assert abs(snow.shares - usd(100) * 10**6 // (usd("0.60") + 9_600)) <= 2  # the fee is rounded
    assert rain.amount == snow.amount == usd(100)

    # The page of rain is gone, and how snow ended is disputed: both stay held, at their last prices.
    disputed = an_end(
        "1002", umaResolutionStatus="disputed", umaResolutionStatuses='["proposed", "disputed"]'
    )
    wire.markets = [disputed]
    wire.books = []
    play(2, url, record)
    account = record.holdings(stored.id)["ann"]
    assert account.cash == usd(9_800)
    assert set(account.lots) == {(RAIN, "YES"), (SNOW, "NO")}

    # Rain is found again among the closed ones, and snow was even.
    wire.markets = [an_end("1001"), an_end("1002", "0.5", "0.5")]
    wire.ends = [a_book_end("1001"), a_book_end("1002", None, half=True)]
    play(3, url, record)
    account = record.holdings(stored.id)["ann"]
    paid = rain.shares + snow.shares // 2
    assert (account.cash, dict(account.lots)) == (usd(9_800) + paid, {})

    # The venue takes its word on rain back.
    wire.markets[0] = an_end("1001", "0", "1")
    wire.ends[0] = a_book_end("1001", "No")
    play(4, url, record)
    account = record.holdings(stored.id)["ann"]
    assert account.cash == usd(9_800) + snow.shares // 2
    ends = record.resolutions([RAIN, SNOW], NOW + 3 * WEEK)
    assert [(end.market_id, end.version, end.payout) for end in ends] == [
        (RAIN, 1, usd(1)),
        (RAIN, 2, 0),
        (SNOW, 1, usd("0.5")),
    ]
    with record.reading() as connection:
        aside = connection.exec_driver_sql("SELECT DISTINCT record, kind FROM set_aside").all()
    assert ("1002", "resolution") in [tuple(row) for row in aside]
