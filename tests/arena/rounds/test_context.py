"""What agents are told beyond the snapshot: as it was known before the round, and as far as they want it."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agents.model import HISTORY_DAYS, Ask, Context, Decision, Forecast, View
from agents.prompts.context import results_facts
from arena.record.model.cohort import Cohort
from arena.rounds.round import play_round
from arena.rounds.told_history import SETTLED, read_new_ends, read_past_forecasts, read_price_history
from markets.model import Listing, MarketId, Quote
from tests.builders import NOW, RAIN, a_book, a_price, a_quote, a_resolution
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, week
from tests.records.little_world import WEEK, LittleVenue, a_cohort, a_world, begun
from tests.records.mixed_record import CUP, LAUNCH, SALES, build_mixed

SNOW = MarketId("sim:snow")
FOG = MarketId("sim:fog")
EVENT = f"{RAIN}:event"


@dataclass
class Diarist:
    """An agent that says something else each round, blind first, and remembers what it was shown."""

    views: list[View] = field(default_factory=list)

    async def __call__(self, view: View, ask: Ask) -> Decision:
        self.views.append(view)
        shown = [listing.market.id for listing in view.snapshot.shown]
        blind = (Forecast(market, 0.1 * view.round, "blind") for market in shown)
        return Decision((*blind, *(Forecast(market, 0.2 * view.round) for market in shown)))


def told(cohort: Cohort, **contexts: dict[str, bool] | None) -> Cohort:
    """Return the cohort, whose agents have this `context` among their settings, or none."""
    settings: dict[str, dict[str, Any]] = {
        name: {} if each is None else {"context": Context(**each).model_dump()}
        for name, each in contexts.items()
    }
    return replace(cohort, entrants=tuple(replace(e, settings=settings[e.name]) for e in cohort.entrants))


def keep(record: OpenedRecord, at: datetime, *listings: Listing) -> None:
    """Write a sync that finds these."""
    record.sync("little", listings, at, "simulated")


def said(view: View, market: str) -> list[tuple[str, float, int]]:
    return [(x.forecast.stage, x.forecast.probability, x.round) for x in view.past.get(MarketId(market), ())]


def test_an_agent_is_told_its_past_the_prices_of_then_and_how_it_ended(record: OpenedRecord) -> None:
    agents = {"ann": Diarist(), "bob": Diarist(), "old": Diarist()}
    off = {"history": False, "siblings": False, "past": False}
    stored = begun(record, told(a_cohort([*agents]), ann={}, bob=off, old=None))
    venue = LittleVenue()
    for number in (1, 2, 3):
        if number == 3:
            venue.mids |= {RAIN: 50}
            venue.endings.append(a_resolution("1", SNOW, at=NOW + WEEK + timedelta(days=1)))
        asyncio.run(play_round(stored, number, a_world(venue, agents), record))
    first, second, third = agents["ann"].views
    assert (first.history, first.past, first.ended) == ({}, {}, ())
    assert said(second, RAIN) == [("blind", 0.1, 1), ("final", 0.2, 1)]
    assert said(third, RAIN) == [("blind", 0.2, 2), ("final", 0.4, 2)], "the last one only"
    assert said(third, SNOW) == [], "it has ended"
    assert [(x.forecast.stage, x.forecast.probability, x.round, x.price, x.outcome) for x in third.ended] == [
        ("blind", 0.2, 2, 600_000, 1),
        ("final", 0.4, 2, 600_000, 1),
    ]
    assert third.ended[0].question == "Will sim:snow happen?"
    assert [quote.mid for quote in third.history[MarketId(RAIN)]] == [400_000], "and not 0.5, which is now"
    for name in ("bob", "old"):
        for view in agents[name].views:
            assert (view.history, view.siblings, view.past, view.ended) == ({}, None, {}, ())


def test_nothing_is_told_that_was_known_later_or_only_just_then(record: OpenedRecord) -> None:
    ann = Diarist()
    stored = begun(record, told(a_cohort(["ann"]), ann={}))
    times = {-40 * 24: "0.11", -49: "0.12", -2: "0.13", -0.5: "0.14", 1: "0.15", 200: "0.16"}
    for hours, mid in times.items():
        at = NOW + timedelta(hours=hours)
        late = [a_price("0.5", "sim:late", at=at, event_id=EVENT)] if hours == -0.5 else []
        over = [a_price("0.5", "sim:over", at=at, closes_at=NOW, event_id=EVENT)] if hours == -49 else []
        keep(record, at, a_price(mid, at=at), a_price(mid, FOG, at=at, event_id=EVENT), *late, *over)
    asyncio.run(play_round(stored, 1, a_world(LittleVenue(), {"ann": ann}), record))
    [view] = ann.views
    assert [quote.mid for quote in view.history[MarketId(RAIN)]] == [110_000, 120_000]
    assert view.siblings is not None
    assert [(x.market.id, x.mid) for x in view.siblings[EVENT]] == [(FOG, 130_000)]


def test_the_history_is_that_of_a_plain_list(record: OpenedRecord) -> None:
    draws = Random(5)
    quotes = defaultdict[str, list[Quote]](list)
    for number, hours in enumerate(sorted(draws.sample(range(-60 * 24, 48), 60))):
        at = NOW + timedelta(hours=hours)
        seen = draws.sample([f"sim:{n}" for n in range(20)], 4)
        keep(record, at, *(a_price(f"0.{10 + number}", market, at=at) for market in seen))
        for market in seen:
            quotes[market].append(a_quote(None, None, f"0.{10 + number}", at=at))
    found = record.read(read_price_history, [MarketId(market) for market in quotes], NOW)
    for market, every in quotes.items():
        last = [[q for q in every if q.at <= NOW - timedelta(days=days)][-1:] for days in HISTORY_DAYS]
        wanted = dict.fromkeys((q.at, q.mid) for one in last for q in one)
        assert [(q.at, q.mid) for q in found.get(MarketId(market), ())] == [*wanted]
    assert timedelta(days=HISTORY_DAYS[-1]) >= SETTLED


def test_who_is_asked_again_after_a_sync_is_asked_the_same(record: OpenedRecord) -> None:
    """A failed turn that is tried again: its paid answers are found by the words of their questions."""
    ann = Diarist()
    stored = begun(record, told(a_cohort(["ann"]), ann={}))
    venue = LittleVenue()
    asyncio.run(play_round(stored, 1, a_world(venue, {"ann": ann}), record))

    async def breaks(view: View, ask: Ask) -> Decision:
        ann.views.append(view)
        raise ValueError("not today")

    asyncio.run(play_round(stored, 2, a_world(venue, {"ann": breaks}), record))
    at = NOW + WEEK
    fog = a_book([("0.70", "9")], [("0.72", "9")], FOG, at=at, event_id=EVENT)
    keep(record, at, fog, a_price("0.33", at=at - timedelta(minutes=1)))
    asyncio.run(play_round(stored, 2, a_world(venue, {"ann": ann}), record))
    _, broken, again = ann.views
    assert again.round == broken.round == 2
    one, other = ((x.history, x.siblings, x.past, x.ended) for x in (broken, again))
    assert one == other


def test_of_a_question_of_another_kind_an_agent_is_told_its_answer_and_what_it_came_to(
    tmp_path: Path,
) -> None:
    """The corrected answer counts, and what was called off came to none."""
    record = build_mixed(tmp_path / "record.db")
    ends = record.read(read_new_ends, 1, week(0), week(3))
    assert {market: end.answer for market, end in ends.items()} == {
        CUP: 'Rot; "x"',
        SALES: "41.75",
        LAUNCH: "",
        SUN: "",
    }
    past = record.read(read_past_forecasts, 1, [2], {*ends}, week(3))[2]
    record.close()

    ended = [
        replace(
            each, answer=ends[each.forecast.market_id].answer, outcome=ends[each.forecast.market_id].outcome
        )
        for each in past
    ]
    *others, rain = results_facts(ended, True, "final")["results"]
    assert (rain["said"], rain["ended"], rain["brier"]) == ("0.6", "YES", pytest.approx(0.16))
    told = [line["question"].partition("You said:")[2] for line in others]
    for text, said, came_to in zip(
        told,
        ('Rot; "x" 86%, Blau 14%', "2026-03-01 (80%: 2025-12-01", "12.25 M€ (80%: 1 to 44)"),
        ('Rot; "x"', "", "41.75"),
        strict=True,
    ):
        answer, _, end = text.partition("It came to:")
        assert said in answer
        assert came_to in end
