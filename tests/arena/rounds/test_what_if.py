"""What if, on a record that was really played: the same ledgers by the same rules, and figures by hand."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.model import Agent, Ask, Decision, Forecast, View
from arena.errors import ArenaError
from arena.record.model.cohort import Cohort
from arena.rounds.entrant_seasons import read_entrant_seasons
from arena.rounds.round import play_round, take_snapshot, track_cohort
from arena.rounds.settlement import settle_cohort
from arena.rounds.turns import CLOSED_CODE
from arena.rounds.what_if import Change, WhatIfEntry, WhatIfReport, what_if
from markets.model import Listing, MarketId
from markets.venue import QuarantinedRecord
from portfolio.rules import SEED
from portfolio.sizing import quarter_kelly
from tests.builders import NOW, RAIN, a_bet, a_listing, a_resolution, a_sale, usd
from tests.opened_record import OpenedRecord
from tests.records.little_world import (
    WEEK,
    LittleVenue,
    a_cohort,
    a_world,
    begun,
    begun_live,
    hash_of,
    says,
)

SNOW = MarketId("sim:snow")
BUYER = says("0.7", ("500", RAIN))
AS_IT_WAS = Change()
NO_ANSWER = QuarantinedRecord("sim", "", "page", "timeout", "no answer")
"""Why a simulated venue tells an end later than it is known."""


async def trader(view: View, ask: Ask) -> Decision:
    """Buy both markets, sell part of one and all of the other, ask for too much, and buy once more."""
    moves = {
        1: Decision(bets=(a_bet(400), a_bet(300, "NO", SNOW), a_bet(200))),
        2: Decision(sales=(a_sale("333.333333"), a_sale(side="NO", market=SNOW), a_sale("7", "NO"))),
        3: Decision(bets=(a_bet(9_000, "NO", SNOW),)),
        4: Decision(bets=(a_bet(250, "NO", SNOW),)),
    }
    return moves.get(view.round, Decision())


async def bettor(view: View, ask: Ask) -> Decision:
    """Bet a quarter of the Kelly stake on each stated probability."""
    beliefs = {listing.market.id: usd("0.55") for listing in view.snapshot.shown}
    forecasts = tuple(Forecast(market, millionths=p) for market, p in beliefs.items())
    return Decision(forecasts, quarter_kelly(beliefs, view.holdings, view.snapshot, view.rules))


def play(
    record: OpenedRecord, cohort: Cohort, agents: Mapping[str, Agent], venue: LittleVenue, *rounds: int
) -> int:
    """Play rounds of a cohort, which begins with the first one, and return its id."""
    stored = begun(record, cohort) if 1 in rounds else record.cohorts()[cohort.number - 1]
    for number in rounds:
        asyncio.run(play_round(stored, number, a_world(venue, agents), record))
    return stored.id


def report(record: OpenedRecord, change: Change = AS_IT_WAS, **which: Any) -> WhatIfReport:
    return record.read(what_if, change, **which)


def row(record: OpenedRecord, change: Change = AS_IT_WAS, **which: Any) -> WhatIfEntry:
    (only,) = report(record, change, **which).rows
    return only


def then(found: WhatIfEntry) -> int:
    assert found.changed is not None
    return found.changed.profit


def test_by_its_own_rules_a_season_is_the_same_ledger(record: OpenedRecord) -> None:
    """With sales in shares, refusals, an ending told late, a correction, and a week of settling only."""
    venue = LittleVenue()
    agents = {"ann": BUYER, "tom": trader, "kim": bettor}
    cohort = a_cohort(["ann", "tom", "kim"])
    play(record, cohort, agents, venue, 1)
    venue.mids = {RAIN: 55, SNOW: 45}
    stored = record.cohort(play(record, cohort, agents, venue, 2))
    record.quarantine([NO_ANSWER], NOW + WEEK)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    play(record, cohort, agents, venue, 3)
    venue.endings += [a_resolution("0.5", version=2, at=NOW + timedelta(days=16)),
                      a_resolution("0", SNOW, at=NOW + timedelta(days=26))]  # fmt: skip
    play(record, cohort, agents, venue, 4)
    asyncio.run(track_cohort(stored, NOW + 4 * WEEK, a_world(venue, agents), record))
    kinds = {kind for ledger in _ledgers(record).values() for kind in ledger}
    assert kinds == {"deposit", "buy", "sell", "settle", "reverse"}
    before = hash_of(record)
    found = report(record)
    assert found.sentence == "Nothing changed."
    assert [(x.agent, x.exact, x.played == x.changed) for x in found.rows] == [
        (name, True, True) for name in ("ann", "tom", "kim")
    ]
    assert {x.agent: x.played.profit for x in found.rows} == _profits(record)
    assert [refused.code for refused in found.rows[1].played.refused] == ["not_held", "over_cap"]
    assert hash_of(record) == before


def _ledgers(record: OpenedRecord) -> dict[str, list[str]]:
    query = "SELECT e.name, y.kind FROM entry y JOIN entrant e ON e.id = y.entrant_id ORDER BY y.number"
    found: dict[str, list[str]] = {}
    with record.reading() as connection:
        for name, kind in connection.exec_driver_sql(query):
            found.setdefault(name, []).append(kind)
    return found


def _profits(record: OpenedRecord) -> dict[str, int]:
    """Return everyone's profit by the last mark, as the record keeps it."""
    query = "SELECT e.name, m.cash + m.value FROM mark m JOIN entrant e ON e.id = m.entrant_id ORDER BY m.at"
    with record.reading() as connection:
        return {name: total - usd(10_000) for name, total in connection.exec_driver_sql(query)}


def test_at_the_mid_a_bet_saves_half_the_spread_on_every_share(record: OpenedRecord) -> None:
    play(record, a_cohort(["ann"]), {"ann": says("0.7", ("410", RAIN))}, LittleVenue(), 1)
    found = row(record, Change(values={"fill": "mid"}))
    # at the ask of 0.41: 1,000 shares, a cent over the mid of 0.40
    assert (found.played.profit, then(found)) == (-usd(10), 0)


def test_quarter_kelly_of_what_was_stated_is_what_a_quarter_kelly_bettor_has(record: OpenedRecord) -> None:
    venue = LittleVenue()
    agents = {"kim": bettor, "ann": says("0.55", ("60", RAIN)), "mum": trader}
    play(record, a_cohort(list(agents)), agents, venue, 1, 2)
    kim, ann, mum = report(record, Change(stakes="quarter-kelly")).rows
    assert kim.played == kim.changed == ann.changed
    assert ann.played.profit == -usd(60) + usd(60) * 40 // 41
    assert mum.changed is None


def test_only_the_final_word_of_a_turn_that_was_played_is_bet_on(record: OpenedRecord) -> None:
    async def blind_first(view: View, ask: Ask) -> Decision:
        final = await bettor(view, ask)
        blind = tuple(Forecast(x.market_id, 0.9, "blind") for x in final.forecasts)
        return replace(final, forecasts=blind + final.forecasts)

    async def malformed(view: View, ask: Ask) -> Decision:
        return Decision((await bettor(view, ask)).forecasts, status="malformed")

    agents = {"kim": blind_first, "mal": malformed}
    play(record, a_cohort(["kim", "mal"]), agents, LittleVenue(), 1)
    kim, mal = report(record, Change(stakes="quarter-kelly")).rows
    assert kim.changed == kim.played
    assert kim.played.filled == 2
    assert mal.changed is None


def test_where_nothing_was_stated_quarter_kelly_has_nothing_to_bet_on(record: OpenedRecord) -> None:
    play(record, a_cohort(["mum"]), {"mum": trader}, LittleVenue(), 1)
    for agent, who in (("mum", "mum never"), (None, "no agent has")):
        with pytest.raises(ArenaError, match=f"{who} stated a probability"):
            report(record, Change(stakes="quarter-kelly"), agent=agent)


def test_wishes_that_came_too_late_stay_too_late(record: OpenedRecord) -> None:
    venue = LittleVenue(closes_at=NOW + timedelta(hours=2))
    stored = begun_live(record, "ann")
    later = a_world(venue, {"ann": BUYER}, now=NOW + timedelta(hours=3))
    asyncio.run(play_round(stored, 1, later, record))
    for change in (AS_IT_WAS, Change(stakes="flat"), Change(values={"fill": "mid"})):
        found = row(record, change)
        assert found.changed is not None
        assert (found.exact, found.changed.filled) == (True, 0)
        assert [refused.code for refused in found.changed.refused] == ["closed_since"]
    anew = row(record, Change(stakes="quarter-kelly"))
    assert anew.changed is not None
    # Snow closes with rain: nothing that it stated of either could still be bet on.
    assert (anew.changed.filled, anew.changed.refused) == (0, ())


def test_nothing_is_paid_in_another_history_before_it_was_learnt(record: OpenedRecord) -> None:
    """The venue tells in the third week what was over in the first: until then nobody could know."""
    venue = LittleVenue()
    stake = Change(values={"max_bet": usd("0.50")})
    agents = {"ann": says("0.7", ("4100", RAIN))}
    play(record, a_cohort(["ann"]), agents, venue, 1, 2)
    record.quarantine([NO_ANSWER], NOW + WEEK)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    assert then(row(record, stake)) == -usd(100)  # bought at 0.41, and worth 0.40 still
    play(record, a_cohort(["ann"]), agents, venue, 3)
    found = row(record, stake)
    assert (found.exact, then(found)) == (True, usd(10_000) - usd(4_100))
    with record.reading() as connection:
        ((_, steps),) = [
            (x.agent, x.steps) for x in read_entrant_seasons(connection, record.cohorts()[0], CLOSED_CODE)
        ]
    assert [len(step.resolutions) for step in steps] == [0, 0, 1]


def test_what_was_settled_for_a_time_that_is_not_played_yet_is_no_difference(record: OpenedRecord) -> None:
    venue = LittleVenue()
    stored = record.cohort(play(record, a_cohort(["ann"]), {"ann": BUYER}, venue, 1))
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    asyncio.run(settle_cohort(stored, NOW + WEEK, a_world(venue, {"ann": BUYER}), record))
    assert _ledgers(record)["ann"] == ["deposit", "buy", "settle"]
    assert row(record).exact
    asleep = a_world(venue, {"ann": BUYER})
    snapshot = asyncio.run(take_snapshot(stored, NOW + WEEK, asleep, record, 2))
    record.keep_snapshot(stored.id, 1, snapshot, 2)
    half = row(record)
    assert (half.exact, half.played.profit) == (True, _profits(record)["ann"])
    play(record, a_cohort(["ann"]), {"ann": BUYER}, venue, 2)
    assert row(record).exact


def test_what_only_this_history_holds_at_the_end_ends_as_it_did_later(record: OpenedRecord) -> None:
    agents = {"ann": says("0.7", ("4100", RAIN))}
    venue = LittleVenue()
    first = replace(a_cohort(["ann"]), rounds=1)
    cohort_id = play(record, first, agents, venue, 1)
    record.end(cohort_id, NOW)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=10)))
    second = replace(first, number=2, starts_at=NOW + 2 * WEEK)
    play(record, second, {"ann": says("0.7")}, venue, 1)
    found = row(record, Change(values={"max_bet": usd("0.50")}), cohort=1)
    assert (found.exact, found.played.profit) == (True, 0)
    assert then(found) == usd(10_000) - usd(4_100)


def test_a_correction_that_came_after_the_end_is_paid_here_too(record: OpenedRecord) -> None:
    venue = LittleVenue()
    first = replace(a_cohort(["ann"]), rounds=2)
    cohort_id = play(record, first, {"ann": BUYER}, venue, 1)
    venue.endings.append(a_resolution("1", at=NOW + timedelta(days=3)))
    play(record, first, {"ann": BUYER}, venue, 2)
    record.end(cohort_id, NOW + WEEK)
    venue.endings.append(a_resolution("0", version=2, at=NOW + timedelta(days=10)))
    play(record, replace(first, number=2, starts_at=NOW + 2 * WEEK), {"ann": says("0.7")}, venue, 1)
    assert len(record.resolutions([RAIN], NOW + 2 * WEEK)) == 2
    found = row(record, cohort=1)
    assert (found.exact, found.played) == (True, found.changed)
    assert found.played.profit == -usd(500)


class WithoutBooks(LittleVenue):
    """A venue that knows a bid and an ask, and nothing of how much is behind them."""

    def _listing(self, market: str, at: datetime) -> Listing:
        bid = f"0.{self.mids[market] - 1}"
        ask = f"0.{self.mids[market] + 1}"
        return a_listing(bid, ask, market=market, at=at, closes_at=self.closes_at)


def test_a_rule_that_needs_books_says_how_many_bets_it_refuses_where_there_are_none(
    record: OpenedRecord,
) -> None:
    play(record, a_cohort(["ann"]), {"ann": BUYER}, WithoutBooks(), 1)
    found = row(record, Change(values={"fill": "book"}))
    assert (found.exact, found.played.filled, found.played.refused) == (True, 1, ())
    assert found.changed is not None
    assert [x.message for x in found.changed.refused] == [
        "the quote has no order book, which these rules need to fill orders"
    ]


def test_it_says_what_was_changed(record: OpenedRecord) -> None:
    play(record, a_cohort(["ann"]), {"ann": BUYER}, LittleVenue(), 1)
    change = Change(SEED, {"min_bet": usd(10), "max_quote_age": 3600}, "flat", usd(75))
    assert report(record, change).sentence == (
        "Changed: fill mid instead of quote; min bet $10.00 instead of $50.00; "
        "base running instead of start; merge no instead of yes; "
        "max quote age 3,600 s instead of 900 s; every bet $75.00."
    )


@pytest.mark.parametrize(
    ("which", "message", "hint"),
    [
        ({"cohort": 7}, "there is no cohort 7 here", "cohorts: 1"),
        ({"agent": "zed"}, "there is no agent 'zed' in cohort 1", "agents: ann, tom"),
        ({"agent": "zed", "cohort": 1}, "there is no agent 'zed' in cohort 1", "agents: ann, tom"),
    ],
)
def test_who_or_what_is_not_there_is_named(
    record: OpenedRecord, which: dict[str, Any], message: str, hint: str
) -> None:
    begun(record, a_cohort(["ann", "tom"]))
    with pytest.raises(ArenaError, match=message) as caught:
        report(record, **which)
    assert caught.value.hint == hint


def test_a_record_in_which_nobody_has_played_yet_has_only_bankrolls(record: OpenedRecord) -> None:
    begun(record, a_cohort(["ann"]))
    found = row(record)
    assert (found.exact, found.played.profit, found.played.filled, found.played.refused) == (True, 0, 0, ())
