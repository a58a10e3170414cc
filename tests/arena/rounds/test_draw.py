"""What a round shows: a draw that anyone can repeat from the record, and all that is held."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

from arena.cohorts.cohort import seed_for
from arena.record.model.cohort import Cohort
from arena.rounds.round import play_round
from markets.model import Snapshot
from markets.universe import Universe, draw
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter
from markets.venues.simulator import Settings, venue
from tests.builders import NOW, RAIN, listed, usd
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleVenue, a_cohort, a_world, begun, says
from tests.rows import frozen_text, thawed

SEASON = Settings(markets=120, events=30, exclusive_share=0.3, ladder_share=0.3)
RULE = Universe(
    show=9,
    per_event=2,
    closes_within=60 * 86_400,
    min_volume=usd(1_000),
    max_spread=usd("0.04"),
    min_price=usd("0.05"),
    max_price=usd("0.95"),
    not_categories=("weather",),
    strata=("price", "category"),
)


def a_simulated_cohort() -> Cohort:
    starts_at = datetime(2026, 1, 11, tzinfo=UTC)
    return replace(a_cohort(["bob"]), starts_at=starts_at, universe=RULE, seed=77)


def snapshot(record: OpenedRecord, cohort: Cohort, number: int) -> Snapshot:
    found = record.snapshot(record.cohorts()[-1].id, cohort.calendar.time(number))
    assert found is not None
    return found[1]


def test_the_rule_survives_being_frozen() -> None:
    assert thawed(frozen_text(a_simulated_cohort())).universe == RULE


def test_a_rule_frozen_before_it_had_more_keys_is_read_as_it_was_meant() -> None:
    frozen = json.loads(frozen_text(a_cohort(["bob"])))
    keys = ("show", "per_event", "closes_within", "min_volume", "max_spread")
    old = {key: frozen["universe"][key] for key in keys}
    assert thawed(json.dumps(frozen | {"universe": old})).universe == a_cohort(["bob"]).universe


def test_anyone_can_repeat_the_draws_of_a_record(record: OpenedRecord) -> None:
    """From the frozen cohort and the venue's list in any order, without what was played."""
    stored = begun(record, a_simulated_cohort())
    world = a_world(venue(SEASON), {"bob": says("0.5")})
    drawn = set()
    for number in (1, 2, 3):
        asyncio.run(play_round(stored, number, world, record))
        frozen = record.cohorts()[-1].cohort
        at = frozen.calendar.time(number)
        seed = seed_for(frozen.seed, "draw", number)
        offered = asyncio.run(listed(venue(SEASON), at))
        Random(number).shuffle(offered)
        shown = snapshot(record, frozen, number).shown
        assert [x.market.id for x in shown] == [x.market.id for x in draw(offered, frozen.universe, seed, at)]
        assert len(shown) == RULE.show
        assert not any(x.market.category == "weather" for x in shown)
        drawn.add(tuple(x.market.id for x in shown))
    assert len(drawn) == 3


class RepeatingVenue(LittleVenue):
    """A venue whose catalogue has every market twice, as one whose pages overlap."""

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        catalogue = await super().catalogue(at, wanted)
        return replace(catalogue, listings=[*catalogue.listings, *catalogue.listings])


def test_a_market_that_a_venue_lists_twice_is_shown_once(record: OpenedRecord) -> None:
    stored = begun(record, a_cohort(["bob"]))
    asyncio.run(play_round(stored, 1, a_world(RepeatingVenue(), {"bob": says("0.5")}), record))
    shown = snapshot(record, stored.cohort, 1).shown
    assert [listing.market.id for listing in shown] == [RAIN, "sim:snow"]


def test_what_is_held_is_seen_though_the_rule_no_longer_lets_it_in(record: OpenedRecord) -> None:
    cheap = a_cohort(["ann"]).universe.model_copy(update={"max_price": usd("0.70")})
    cohort = replace(a_cohort(["ann"]), universe=cheap)
    stored = begun(record, cohort)
    little = LittleVenue()
    world = a_world(little, {"ann": says("0.7", ("500", RAIN))})
    asyncio.run(play_round(stored, 1, world, record))
    assert [x.market.id for x in snapshot(record, cohort, 1).shown] == [RAIN, "sim:snow"]
    little.mids[RAIN] = 90
    asyncio.run(play_round(stored, 2, world, record))
    later = snapshot(record, cohort, 2)
    assert [x.market.id for x in later.shown] == ["sim:snow"]
    assert [(x.market.id, x.mid) for x in later.held] == [(RAIN, usd("0.90"))]
    assert later.held[0].quote is not None
    assert later.held[0].quote.at == NOW + WEEK


def test_what_is_held_and_drawn_stands_in_the_snapshot_once(record: OpenedRecord) -> None:
    cohort = a_cohort(["ann"])
    stored = begun(record, cohort)
    world = a_world(LittleVenue(), {"ann": says("0.7", ("500", RAIN))})
    for number in (1, 2):
        asyncio.run(play_round(stored, number, world, record))
    later = snapshot(record, cohort, 2)
    assert [x.market.id for x in later.shown] == [RAIN, "sim:snow"]
    assert later.held == ()
