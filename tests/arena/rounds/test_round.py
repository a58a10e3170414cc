"""A round from settling to marks: what it writes, and what it leaves alone when played again."""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest

from agents.model import Agent, Ask, Call, Decision, Forecast, Prompt, View
from arena.calls import recorded_ask
from arena.errors import ArenaError
from arena.record.queries.cohorts import (
    read_retried_turns,
    read_taken_at,
)
from arena.rounds.round import mark_cohort, play_round, track_cohort
from arena.rounds.season import play_time
from arena.rounds.turns import play_turns
from arena.verify import verify
from markets.model import Listing, MarketId, Resolution
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, VenueError
from portfolio.model import Bet, Lot
from tests.builders import NOW, RAIN, a_bet, a_resolution, listed, usd
from tests.opened_record import OpenedRecord, beat_every
from tests.records.little_world import (
    WEEK,
    LittleModel,
    LittleVenue,
    a_cohort,
    a_plan,
    a_world,
    asks,
    begun,
    begun_live,
    breaks,
    hash_of,
    live,
    open_round,
    play,
    says,
    turns_of,
)

BUYER = says("0.7", ("500", RAIN))


def test_a_round_is_settled_shown_played_and_marked(record: OpenedRecord) -> None:
    agents = {"ann": BUYER, "bob": says("0.5")}
    stored = begun(record, a_cohort(["ann", "bob"]))
    report = play(stored, 1, a_world(LittleVenue(), agents), record)
    assert report.done
    assert [turn.entrant for turn in report.turns] == ["ann", "bob"]
    accounts = record.holdings(stored.id)
    assert accounts["ann"].cash == usd(9_500)
    assert accounts["ann"].lots[RAIN, "YES"].shares == usd(500) * 10**6 // usd("0.41")
    assert accounts["bob"].cash == usd(10_000)
    assert record.rounds(stored.id)[0].done


def test_played_again_it_changes_nothing_and_asks_nobody(record: OpenedRecord) -> None:
    model = LittleModel()
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann", "eve"]))
    world = a_world(venue, {"ann": BUYER, "eve": asks}, model)
    play(stored, 1, world, record)
    before = hash_of(record)
    counts = record.fact_counts()
    venue.mids[RAIN] = 90
    again = play(stored, 1, world, record)
    assert (again.turns, again.done) == ((), True)
    assert (hash_of(record), record.fact_counts()) == (before, counts)
    assert (model.asked, venue.looks) == (1, 1)


def test_what_ended_is_paid_before_anyone_decides(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": BUYER})
    play(stored, 1, world, record)
    shares = record.holdings(stored.id)["ann"].lots[RAIN, "YES"].shares
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    report = play(stored, 2, world, record)
    assert turns_of(report)["ann"].cash == usd(9_500) + shares
    assert not record.holdings(stored.id)["ann"].lots


def test_how_a_market_ended_is_learnt_though_nobody_bet_on_it(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["bob"]))
    world = a_world(venue, {"bob": says("0.5")})
    play(stored, 1, world, record)
    venue.endings.append(a_resolution("0", at=NOW + timedelta(days=3)))
    play(stored, 2, world, record)
    assert [known.payout for known in record.resolutions([RAIN], NOW + WEEK)] == [0]


def test_a_held_market_the_venue_is_silent_about_keeps_its_last_price_and_is_stale(
    record: OpenedRecord,
) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": BUYER})
    play(stored, 1, world, record)
    venue.silent.add(RAIN)
    report = play(stored, 2, world, record)
    assert report.done
    found = record.snapshot(stored.id, NOW + WEEK)
    assert found is not None
    (held,) = found[1].held
    assert (held.market.id, held.mid) == (RAIN, usd("0.40"))
    assert held.quote is not None
    assert held.quote.at == NOW
    assert _marks(record)[-1] == ("ann", 1, 7 * 24 * 60 * 60)


def test_a_held_market_that_has_a_quote_without_a_price_keeps_its_last_price(record: OpenedRecord) -> None:
    """Held or on offer again, it does not fall to what it cost."""

    class Priceless(LittleVenue):
        def _listing(self, market: str, at: datetime) -> Listing:
            listing = super()._listing(market, at)
            if at == NOW or listing.quote is None:
                return listing
            return replace(listing, quote=replace(listing.quote, mid=None, last=None, bid=None, bids=()))

    venue = Priceless(mids={RAIN: 30, "sim:snow": 60})
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": says("0.7", ("310", RAIN))})
    play(stored, 1, world, record)
    play(stored, 2, world, record)
    assert _totals(record) == [("ann", usd(9_990)), ("ann", usd(9_990))]
    assert _marks(record)[-1] == ("ann", 1, 7 * 24 * 60 * 60)


def test_an_impossible_ending_is_not_kept_and_keeps_no_other_from_being_paid(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": says("0.7", ("500", RAIN), ("500", "sim:snow"))})
    play(stored, 1, world, record)
    then = NOW + timedelta(days=3)
    venue.endings += [
        a_resolution("1.2", at=then),
        a_resolution("1", version=0, at=then),
        a_resolution("0", "sim:snow", at=then),
        a_resolution("1", "sim:unasked", at=then),
    ]
    venue.tells_all = True
    play(stored, 2, world, record)
    assert [known.market_id for known in record.resolutions([RAIN, MarketId("sim:snow")], NOW + WEEK)] == [
        "sim:snow"
    ]
    assert list(record.holdings(stored.id)["ann"].lots) == [(RAIN, "YES")]


def test_a_held_market_the_venue_is_silent_about_has_the_newest_price_ever_seen(record: OpenedRecord) -> None:
    """A sync between the rounds has seen it at 0.45."""
    venue = LittleVenue()
    stored = begun_live(record, "ann")
    play(stored, 1, a_world(venue, {"ann": BUYER}), record)
    venue.mids[RAIN] = 45
    between = NOW + timedelta(days=3)
    record.sync("sim", asyncio.run(listed(venue, between)), between)
    venue.silent.add(RAIN)
    play(stored, 2, a_world(venue, {"ann": BUYER}, now=NOW + WEEK), record)
    found = record.snapshot(stored.id, NOW + WEEK)
    assert found is not None
    (held,) = found[1].held
    assert held.quote is not None
    assert (held.mid, held.quote.at) == (usd("0.45"), between)
    assert _marks(record)[-1] == ("ann", 1, 4 * 24 * 60 * 60)


def _totals(record: OpenedRecord) -> list[tuple[str, int]]:
    """Return everyone's worth, mark by mark."""
    query = "SELECT e.name, m.cash + m.value FROM mark m JOIN entrant e ON e.id = m.entrant_id ORDER BY m.at"
    with record.reading() as connection:
        return [(name, total) for name, total in connection.exec_driver_sql(query)]


def _marks(record: OpenedRecord) -> list[tuple[str, int, int]]:
    """Return who held how many stale lots, and the oldest price's age, mark by mark."""
    query = "SELECT e.name, m.stale, m.age FROM mark m JOIN entrant e ON e.id = m.entrant_id ORDER BY m.at"
    with record.reading() as connection:
        return [(name, stale, age) for name, stale, age in connection.exec_driver_sql(query)]


def test_a_turn_is_written_as_it_ends_though_an_earlier_one_in_the_line_up_still_waits(
    record: OpenedRecord,
) -> None:
    """What bob has is in the record before ann has answered, and the report is in line-up order."""
    written = list[str]()

    async def waits(view: View, ask: Ask) -> Decision:
        while not written:
            await asyncio.sleep(0.001)
            statuses = record.turn_statuses(1)
            written.extend(name for name, key in stored.entrant_ids.items() if key in statuses)
        return Decision()

    stored = begun(record, a_cohort(["ann", "bob", "eve", "kelly"], kelly="ann"))
    agents = {"ann": waits, "bob": says("0.6"), "eve": says("0.4"), "kelly": says("0.5")}
    world = a_world(LittleVenue(), agents)
    report = asyncio.run(asyncio.wait_for(play_round(stored, 1, world, record), 10))
    assert written == ["bob", "eve"]
    assert [turn.entrant for turn in report.turns] == ["ann", "bob", "eve", "kelly"]


def test_those_made_from_others_see_what_these_stated(record: OpenedRecord) -> None:
    seen: list[tuple[Forecast, ...]] = []

    async def follows(view: View, ask: Ask) -> Decision:
        seen.append(view.stated["ann"])
        return Decision(view.stated["ann"])

    stored = begun(record, a_cohort(["kim", "ann"], kim="ann"))
    report = play(stored, 1, a_world(LittleVenue(), {"kim": follows, "ann": says("0.7")}), record)
    assert [turn.entrant for turn in report.turns] == ["ann", "kim"]
    assert [forecast.millionths for forecast in seen[0]] == [usd("0.7")] * 2


def test_those_made_from_one_that_failed_wait_for_it_to_be_tried_again(record: OpenedRecord) -> None:
    async def follows(view: View, ask: Ask) -> Decision:
        return Decision(view.stated["eve"])

    model = LittleModel(down=1)
    stored = begun(record, a_cohort(["kim", "eve"], kim="eve"))
    world = a_world(LittleVenue(), {"kim": follows, "eve": asks}, model)
    first = play(stored, 1, world, record)
    assert [(turn.entrant, turn.decision.note) for turn in first.turns] == [
        ("eve", "refused"),
        ("kim", "eve failed"),
    ]
    second = play(stored, 1, world, record)
    assert [(turn.entrant, turn.decision.status) for turn in second.turns] == [
        ("eve", "played"),
        ("kim", "played"),
    ]


def test_those_made_from_one_that_has_played_since_it_failed_are_played_before_the_next_round(
    record: OpenedRecord,
) -> None:
    """The process that tried the round again ended between the two turns."""

    async def follows(view: View, ask: Ask) -> Decision:
        return Decision(view.stated["eve"])

    stored = begun(record, a_cohort(["kim", "eve"], kim="eve"))
    world = a_world(LittleVenue(), {"kim": follows, "eve": asks}, LittleModel(down=1))
    play(stored, 1, world, record)
    [round_1] = record.rounds(stored.id)
    assert record.read(read_retried_turns, stored, round_1.id) == set(), "eve is still away"

    async def retry_eve() -> None:
        async for _ in play_turns(stored, round_1, world, record, late=False, again=True, only=["eve"]):
            pass

    asyncio.run(retry_eve())
    assert record.read(read_retried_turns, stored, round_1.id) == {stored.entrant_ids["kim"]}
    [progress] = record.progress()
    assert (progress.rounds[0].failed, progress.rounds[0].retried) == (1, 1)

    play(stored, 2, world, record)
    assert {*record.turn_statuses(round_1.id).values()} == {"played"}


def test_those_made_from_one_that_another_process_plays_wait_for_it(record: OpenedRecord) -> None:
    stored = begun(record, a_cohort(["kim", "ann"], kim="ann"))
    world = a_world(LittleVenue(), {"kim": says("0.5"), "ann": BUYER})
    open_round(stored, world, record)
    stored_round = record.rounds(stored.id)[0]
    record.claim(stored_round.id, [stored.entrant_ids["ann"]], "elsewhere/1/x")
    report = play(stored, 1, world, record)
    assert (report.turns, report.waiting) == ((), ("kim", "ann"))
    with pytest.raises(ArenaError, match="another process plays kim, ann in round 1"):
        play(stored, 2, world, record)
    assert len(record.rounds(stored.id)) == 1


def test_agents_that_break_cheat_or_are_gone_have_failed_and_stop_nobody(record: OpenedRecord) -> None:
    async def forger(view: View, ask: Ask) -> Decision:
        lots: Any = view.holdings.lots
        lots[RAIN, "YES"] = Lot(usd(10**6), 0)
        return Decision()

    async def thief(view: View, ask: Ask) -> Decision:
        settled: Any = view.holdings.settled
        settled.clear()
        return Decision()

    async def says_nothing(view: View, ask: Ask) -> Decision:
        return cast(Decision, None)

    bad = {"bug": breaks, "forger": forger, "thief": thief, "nil": says_nothing}
    stored = begun(record, a_cohort([*bad, "gone", "ann"]))
    report = play(stored, 1, a_world(LittleVenue(), {**bad, "ann": BUYER}), record)
    assert report.done
    failed = {turn.entrant: turn.decision.note for turn in report.turns if turn.decision.status == "failed"}
    assert failed.keys() == {*bad, "gone"}
    assert (failed["bug"], failed["gone"]) == ("ZeroDivisionError: no such luck", "KeyError: 'gone'")
    assert "NoneType" in failed["nil"]
    accounts = record.holdings(stored.id)
    assert [name for name, account in accounts.items() if account.lots] == ["ann"]


def test_a_failed_turn_is_tried_again_and_its_calls_are_kept(record: OpenedRecord) -> None:
    model = LittleModel(down=1)
    stored = begun(record, a_cohort(["eve", "ann"]))
    world = a_world(LittleVenue(), {"eve": asks, "ann": BUYER}, model)
    first = play(stored, 1, world, record)
    assert (first.failed, record.rounds(stored.id)[0].done) == (("eve",), False)
    assert len(_marks(record)) == 2
    second = play(stored, 1, world, record)
    assert [(turn.entrant, turn.decision.status) for turn in second.turns] == [("eve", "played")]
    assert record.rounds(stored.id)[0].done
    assert play(stored, 1, world, record).turns == ()
    assert (model.asked, record.fact_counts()["calls"], record.fact_counts()["turns"]) == (2, 2, 2)


def test_a_failed_turn_stays_failed_once_the_next_round_has_come(record: OpenedRecord) -> None:
    model = LittleModel(down=1)
    stored = begun(record, a_cohort(["eve"]))
    world = a_world(LittleVenue(), {"eve": asks}, model)
    play(stored, 1, world, record)
    play(stored, 2, world, record)
    assert [stored_round.done for stored_round in record.rounds(stored.id)] == [True, True]
    assert play(stored, 1, world, record).turns == ()
    assert model.asked == 2


@pytest.mark.parametrize(("time_passes", "status"), [(True, "late"), (False, "played")])
def test_a_round_left_unplayed_is_over_when_the_next_one_comes(
    record: OpenedRecord, time_passes: bool, status: str
) -> None:
    """Its prices are past, except in a world that waits: there it is played first."""
    model = LittleModel()
    cohort = a_cohort(["eve"])
    stored = begun(record, live(cohort) if time_passes else cohort)
    world = a_world(LittleVenue(), {"eve": asks}, model)
    open_round(stored, world, record)
    play(stored, 2, world, record)
    assert [stored_round.done for stored_round in record.rounds(stored.id)] == [True, True]
    assert list(record.turn_statuses(record.rounds(stored.id)[0].id).values()) == [status]
    assert model.asked == 1 + (not time_passes)


def test_marks_are_of_their_time_though_they_are_made_later(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": BUYER})
    play(stored, 1, world, record)
    mark_cohort(stored, NOW, record)
    before = _totals(record)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    play(stored, 2, world, record)
    mark_cohort(stored, NOW, record)
    assert _totals(record)[:1] == before


def test_a_correction_takes_back_what_was_paid(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": BUYER})
    play(stored, 1, world, record)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    play(stored, 2, world, record)
    venue.endings.append(a_resolution("0", version=2, at=NOW + timedelta(days=10)))
    play(stored, 3, world, record)
    assert record.holdings(stored.id)["ann"].cash == usd(9_500)


def test_what_an_agent_makes_up_is_refused_and_the_rest_stands(record: OpenedRecord) -> None:
    async def makes_up(view: View, ask: Ask) -> Decision:
        good = view.snapshot.shown[0].market.id
        stated = (
            Forecast(good, 0.7, reason="odd \x00 words"),
            Forecast(good, 0.8),
            Forecast(MarketId("sim:nowhere"), 0.5),
            Forecast(view.snapshot.shown[1].market.id, millionths=7 * 10**6),
        )
        wild = Bet(good, "YES", cast(int, float("nan")))
        return Decision(stated, (wild, a_bet("60", "YES", good)))

    stored = begun(record, a_cohort(["mad"]))
    turn = turns_of(play(stored, 1, a_world(LittleVenue(), {"mad": makes_up}), record))["mad"]
    assert [forecast.millionths for forecast in turn.decision.forecasts] == [usd("0.7")]
    assert [refused.code for refused in turn.rejections] == ["bad_forecast"] * 3 + ["bad_order"]
    assert len(turn.fills) == 1


def test_when_the_disk_is_full_the_round_stops_with_a_clear_word_and_goes_on_later(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        recorded_ask, "DATABASE_WAITS", (0.01, 0.02)
    )  # it is waited for room, two minutes long otherwise

    async def long_winded(prompt: Prompt) -> Call:
        return Call(prompt, "word " * 500_000, cost=5)

    stored = begun(record, a_cohort(["eve"]))
    world = a_world(LittleVenue(), {"eve": asks}, long_winded)
    open_round(stored, world, record)
    with record.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 20
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ArenaError, match="disk is full"):
        play(stored, 1, world, record)
    assert (record.fact_counts()["calls"], record.fact_counts()["turns"]) == (0, 0)
    with record.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert play(stored, 1, world, record).done


def test_a_live_turn_is_not_played_on_prices_that_are_history(record: OpenedRecord) -> None:
    model = LittleModel(down=1)
    stored = begun_live(record, "eve", "ann")
    soon = a_world(LittleVenue(), {"eve": asks, "ann": BUYER}, model, now=NOW + timedelta(hours=1))
    play(stored, 1, soon, record)
    late = replace(soon, now=lambda: NOW + timedelta(hours=8))
    assert play(stored, 1, late, record).turns == ()
    assert model.asked == 1


def test_a_live_market_is_traded_at_the_price_of_the_moment_and_the_snapshot_says_when(
    record: OpenedRecord,
) -> None:
    """The machine woke up ten minutes late: the prices are those of then, neither old nor of the future."""
    seen = NOW + timedelta(minutes=10)
    stored = begun_live(record, "ann")
    turn = turns_of(play(stored, 1, a_world(LittleVenue(), {"ann": BUYER}, now=seen), record))["ann"]
    assert [fill.quote_at for fill in turn.fills] == [seen]
    found = record.snapshot(stored.id, NOW)
    assert found is not None
    assert (found[1].at, found[1].seen_at) == (NOW, seen)
    assert _marks(record) == [("ann", 0, 0)]
    late = a_world(LittleVenue(silent={RAIN}), {"ann": BUYER}, now=seen + WEEK + timedelta(minutes=1))
    play(stored, 2, late, record)
    assert _marks(record)[-1] == ("ann", 1, 7 * 24 * 60 * 60 + 60)


def test_a_live_turn_that_was_missed_is_late_and_not_asked(record: OpenedRecord) -> None:
    model = LittleModel()
    stored = begun_live(record, "eve")
    world = a_world(LittleVenue(), {"eve": asks}, model)
    open_round(stored, world, record)
    late = replace(world, now=lambda: NOW + timedelta(hours=7))
    decision = turns_of(play(stored, 1, late, record))["eve"].decision
    assert (decision.status, decision.note, model.asked) == ("late", "not played in time", 0)
    assert record.read(verify) == []


def test_a_live_round_that_is_begun_late_is_played_on_the_prices_of_then_and_has_its_whole_time(
    record: OpenedRecord,
) -> None:
    model = LittleModel(down=1)
    stored = begun_live(record, "eve")
    begins = NOW + timedelta(hours=30)
    for passed, asked in ((0, 1), (6, 2)):
        at = begins + timedelta(hours=passed)
        report = play(stored, 1, a_world(LittleVenue(), {"eve": asks}, model, now=at), record)
        assert (report.at, model.asked) == (NOW, asked)
    assert record.read(read_taken_at, stored.id, NOW) == begins
    assert record.rounds(stored.id)[0].done


def test_who_can_bet_no_more_and_holds_nothing_is_out_and_not_asked(record: OpenedRecord) -> None:
    model = LittleModel()
    stored = begun(record, a_cohort(["eve"], bankroll=100))
    report = play(stored, 1, a_world(LittleVenue(), {"eve": asks}, model), record)
    assert (turns_of(report)["eve"].decision.status, model.asked) == ("out", 0)


def test_a_turn_that_another_process_holds_is_left_to_it(record: OpenedRecord) -> None:
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(LittleVenue(), {"ann": BUYER})
    open_round(stored, world, record)
    stored_round = record.rounds(stored.id)[0]
    ann = stored.entrant_ids["ann"]
    record.claim(stored_round.id, [ann], "elsewhere/1/x")
    for hours in (0, 5):  # whatever the arena's clock says
        waiting = play(stored, 1, replace(world, now=partial(NOW.__add__, timedelta(hours=hours))), record)
        assert (waiting.turns, waiting.waiting, waiting.done) == ((), ("ann",), False)
    record.release(stored_round.id, [ann])
    assert play(stored, 1, world, record).done


def test_a_claim_is_renewed_for_as_long_as_an_agent_thinks(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat_every(timedelta(milliseconds=5), monkeypatch)
    seen: list[Any] = []

    async def thinks(view: View, ask: Ask) -> Decision:
        async with asyncio.timeout(20):
            while len(set(seen)) < 3:
                await asyncio.sleep(0.005)
                with record.reading() as connection:
                    seen.append(connection.exec_driver_sql("SELECT beat FROM claim").scalar_one())
        return Decision()

    stored = begun(record, a_cohort(["ann"]))
    assert play(stored, 1, a_world(LittleVenue(), {"ann": thinks}), record).done
    assert len(set(seen)) == 3


def test_a_turn_taken_over_meanwhile_is_not_written_twice(record: OpenedRecord) -> None:
    stored = begun(record, a_cohort(["ann"]))
    venue = LittleVenue()

    def taken_over_by_another() -> Agent:
        async def decide(view: View, ask: Ask) -> Decision:
            stored_round = record.rounds(stored.id)[0]
            record.claim(stored_round.id, [stored.entrant_ids["ann"]], "x/1/y", gone=True)
            return await BUYER(view, ask)

        return decide

    report = play(stored, 1, a_world(venue, {"ann": taken_over_by_another()}), record)
    assert (report.turns, report.waiting) == ((), ("ann",))
    assert record.fact_counts()["fills"] == 0
    assert not record.decide_nothing(stored.entrant_ids["ann"], 1)


def test_a_tracked_cohort_is_settled_and_marked_but_decides_nothing(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(venue, {"ann": BUYER})
    play(stored, 1, world, record)
    venue.endings.append(a_resolution("0", at=NOW + timedelta(days=3)))
    asyncio.run(track_cohort(stored, NOW + WEEK, world, record))
    asyncio.run(track_cohort(stored, NOW + WEEK, world, record))
    assert record.holdings(stored.id)["ann"].lots == {}
    assert len(record.rounds(stored.id)) == 1
    assert len(_marks(record)) == 2


class Down(LittleVenue):
    """A venue that is down from the second week on."""

    def fails(self, at: datetime) -> None:
        if at >= NOW + WEEK:
            raise VenueError("unreachable", "little.example gave no answer", "try later")

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        self.fails(at)
        return await super().catalogue(at, wanted)

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        self.fails(at)
        return await super().listings(at, markets)

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        self.fails(at)
        return await super().resolutions(at, markets)


def test_cohorts_that_decide_at_one_time_share_a_look_at_the_catalogue(record: OpenedRecord) -> None:
    venue = LittleVenue()
    world = a_world(venue, {"ann": BUYER})
    first = begun(record, a_cohort(["ann"]))
    play(first, 1, world, record)
    second = begun(record, replace(a_cohort(["ann"]), number=2, starts_at=NOW + WEEK))
    play(first, 2, world, record)
    play(second, 1, world, record)
    assert venue.looks == 2
    snapshots = [record.snapshot(stored.id, NOW + WEEK) for stored in (first, second)]
    assert [len(found[1].shown) for found in snapshots if found] == [2, 2]


def asides(record: OpenedRecord) -> list[tuple[str, str, int]]:
    with record.reading() as connection:
        return [tuple(x) for x in connection.exec_driver_sql("SELECT kind, code, times FROM set_aside")]


def test_where_asking_again_is_of_no_use_a_round_is_played_without_the_venue(record: OpenedRecord) -> None:
    """Nothing is on offer, and what is held is worth what it last was: an outage marks nothing to 0."""
    stored = begun(record, a_cohort(["ann"]))
    world = a_world(Down(), {"ann": BUYER})
    play(stored, 1, world, record)
    report = play(stored, 2, world, record)
    assert (report.done, turns_of(report)["ann"].fills) == (True, ())
    found = record.snapshot(stored.id, NOW + WEEK)
    assert found is not None
    assert found[1].shown == ()
    assert _totals(record)[0] == _totals(record)[1]
    assert _marks(record)[-1] == ("ann", 1, 7 * 24 * 60 * 60)
    assert asides(record) == [("page", "unreachable", 3)]


def test_a_live_venue_that_is_down_is_asked_again_while_there_is_time(record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    venue = Down()
    at = NOW + WEEK
    play(stored, 1, a_world(venue, {"ann": BUYER}), record)
    before = hash_of(record)
    with pytest.raises(
        ArenaError, match=r"cohort 1 was not played: little\.example gave no answer"
    ) as caught:
        play(stored, 2, a_world(venue, {"ann": BUYER}, now=at), record)
    assert caught.value.code == "unreachable"
    assert caught.value.hint == "try later; `arena run --round --at 2026-01-11T12:00Z` tries again"
    assert hash_of(record) == before
    better = a_world(LittleVenue(), {"ann": BUYER}, now=at + timedelta(hours=1))
    assert play(stored, 2, better, record).done
    again = a_world(venue, {"ann": BUYER}, now=at + WEEK + timedelta(hours=7))
    with pytest.raises(ArenaError, match="cohort 1 was not played") as caught:
        play(stored, 3, again, record)
    assert caught.value.hint == "try later", "it is too late for `arena run --round`"
    assert len(record.rounds(stored.id)) == 2


def test_where_one_cohorts_venue_is_down_the_others_are_played_all_the_same(record: OpenedRecord) -> None:
    class Down(LittleVenue):
        async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
            raise VenueError("unreachable", "little.example gave no answer", "try later")

    down = Down()
    up = LittleVenue()
    first = live(a_cohort(["ann"]))
    second = live(replace(a_cohort(["ann"]), number=2))
    begun(record, first)
    begun(record, second)
    world = a_world(up, {"ann": says("0.7")})
    world = replace(world, venue=lambda cohort: down if cohort.number == 1 else up)
    plan = a_plan(5, 1, first=NOW - WEEK, nobody_starts=True)
    with pytest.raises(ArenaError, match=r"cohort 1 was not played: little\.example") as caught:
        asyncio.run(play_time(NOW, plan, world, record))
    assert caught.value.status == 2
    assert [len(record.rounds(stored.id)) for stored in record.cohorts()] == [0, 1]
