"""A minimal world for tests: a venue with scripted prices, and agents of a few lines."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from agents.model import Agent, Ask, Call, CallError, Decision, Forecast, Message, Prompt, View
from arena.calls.rate_limit import RateLimiter
from arena.calls.reservations import CallReservations
from arena.cohorts.schedule import Plan
from arena.record.model.calendar import Cadence
from arena.record.model.cohort import Cohort, Entrant, RoundReport, Turn
from arena.record.model.incident import RecordedIncident
from arena.record.model.lease import holder_name
from arena.record.model.reservation import Budget, Scope
from arena.record.queries.cohorts import StoredCohort
from arena.record.write.sync import VenueSource
from arena.rounds.round import play_round, take_snapshot
from arena.rounds.settlement import settle_cohort
from arena.rounds.world import Player, World
from markets.model import Listing, MarketId, Resolution
from markets.universe import Universe
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter, Venue
from portfolio.rules import REALISTIC, Rules
from tests.builders import NOW, RAIN, a_bet, a_book, usd
from tests.opened_record import OpenedRecord

WEEK = timedelta(weeks=1)
RULES = REALISTIC.model_copy(update={"fill": "quote", "fee": "none"})


@dataclass
class LittleVenue:
    """Markets at prices of its own, without those in `silent`; with `tells_all` all ends are told."""

    mids: dict[str, int] = field(default_factory=lambda: {RAIN: 40, "sim:snow": 60})
    endings: list[Resolution] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    closes_at: datetime = NOW + 10 * WEEK
    looks: int = 0
    tells_all: bool = False
    closed: bool = False

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        self.looks += 1
        return Catalogue([self._listing(market, at) for market in self.mids if market not in self.silent])

    async def listings(self, at: datetime, markets: Collection[MarketId]) -> list[Listing]:
        return [self._listing(market, at) for market in markets if market not in self.silent]

    async def resolutions(self, at: datetime, markets: Collection[MarketId]) -> list[Resolution]:
        asked = [x for x in self.endings if self.tells_all or x.market_id in markets]
        return [ending for ending in asked if ending.known_at <= at]

    async def close(self) -> None:
        self.closed = True

    def _listing(self, market: str, at: datetime) -> Listing:
        mid = self.mids[market]
        bid = (f"0.{mid - 1}", "10000")
        ask = (f"0.{mid + 1}", "10000")
        return a_book([bid], [ask], market, at=at, closes_at=self.closes_at)


def says(probability: str, *bets: tuple[str, str]) -> Agent:
    """Return an agent that states one probability and buys YES: `says("0.7", ("500", RAIN))`."""

    async def decide(view: View, ask: Ask) -> Decision:
        shown = [listing.market.id for listing in view.snapshot.shown]
        wanted = tuple(a_bet(amount, "YES", market) for amount, market in bets if view.round == 1)
        return Decision(tuple(Forecast(market, millionths=usd(probability)) for market in shown), wanted)

    return decide


async def asks(view: View, ask: Ask) -> Decision:
    """Ask the model once and decide nothing, or raise its error."""
    call = await ask(Prompt((Message("user", f"round {view.round}"),), view.seed))
    return Decision(status="failed", note=call.error.code) if call.error else Decision()


async def breaks(view: View, ask: Ask) -> Decision:
    """Raise an error, as an agent with a bug."""
    raise ZeroDivisionError("no such luck")


@dataclass
class LittleModel:
    """Answers every question, except the first `down` of them."""

    down: int = 0
    asked: int = 0

    async def __call__(self, prompt: Prompt) -> Call:
        self.asked += 1
        if self.asked <= self.down:
            return Call(prompt, None, cost=0, error=CallError("refused", "not today", retry=False))
        return Call(prompt, f"answer {self.asked}", cost=5)


def a_world(
    venue: Venue,
    agents: Mapping[str, Agent],
    model: Callable[[Prompt], Awaitable[Call]] | None = None,
    now: datetime = NOW,
) -> World:
    """Return the doors, with this venue and these agents behind them."""
    answer = model or LittleModel()
    return World(
        venue=lambda cohort: venue,
        player=lambda cohort, entrant: Player(agents[entrant.name], answer, lambda prompt: 0),
        now=lambda: now,
        holder=holder_name(),
        code_version="test",
    )


def a_cohort(names: Sequence[str], rules: Rules = RULES, bankroll: int = 10_000, **of: str) -> Cohort:
    """Return a cohort of these agents that decides weekly from NOW; `kelly="ann"` bets ann's forecasts."""
    return Cohort(
        number=1,
        starts_at=NOW,
        rounds=5,
        every=WEEK,
        bankroll=usd(bankroll),
        rules=rules,
        universe=Universe(show=9, per_event=9, closes_within=10**8, min_volume=0, max_spread=usd("0.10")),
        seed=1,
        venue="little",
        venue_settings={},
        stamp="simulated",
        prompts={},
        entrants=tuple(
            Entrant(place, name, "little", {"of": of[name]} if name in of else {})
            for place, name in enumerate(names)
        ),
    )


def a_plan(
    rounds: int = 2,
    count: int | None = 2,
    keep: int = 5,
    every: timedelta = WEEK,
    first: datetime = NOW,
    nobody_starts: bool = False,
) -> Plan:
    """Return cohorts of ann alone, of which one starts each week from `first` on, if any may start."""

    def freeze(number: int, at: datetime) -> tuple[Cohort, dict[str, str]]:
        assert not nobody_starts, "nobody starts in this test"
        shape = replace(a_cohort(["ann"]), number=number, starts_at=at)
        return replace(shape, rounds=rounds, every=every), {}

    return Plan(first, Cadence(every), rounds, count, keep, freeze)


def begun(record: OpenedRecord, cohort: Cohort) -> StoredCohort:
    """Return the cohort, started in the record."""
    record.start(cohort)
    return record.cohorts()[-1]


def begun_live(record: OpenedRecord, *names: str, **of: str) -> StoredCohort:
    """Return a cohort of these agents at a live venue, started in the record."""
    return begun(record, live(a_cohort(names, RULES, 10_000, **of)))


def live(cohort: Cohort) -> Cohort:
    """Return the same cohort at a venue where time is real."""
    return replace(cohort, stamp="live")


def as_stored(cohort: Cohort, ended_at: datetime | None = None, **stood: datetime | None) -> StoredCohort:
    """Return a cohort as it would be in a record, without one: paused, stopped or ended if a test says so."""
    ids = {entrant.name: place for place, entrant in enumerate(cohort.entrants, 1)}
    return StoredCohort(cohort.number, cohort, ids, ended_at, **stood)


def a_source(venue: str = "little", stamp: str = "live") -> VenueSource:
    """Return a venue by the name that it has in a config."""
    return VenueSource(venue, stamp)


def with_players(world: World, change: Callable[[Player, str], Player]) -> World:
    """Return a world whose players are changed, each with its agent's name in hand."""
    players = world.player
    return replace(world, player=lambda cohort, entrant: change(players(cohort, entrant), entrant.name))


def open_round(stored: StoredCohort, world: World, record: OpenedRecord) -> None:
    """Play the first round up to its snapshot, as a process leaves it that is killed there."""

    async def look() -> None:
        await settle_cohort(stored, NOW, world, record)
        record.keep_snapshot(stored.id, 1, await take_snapshot(stored, NOW, world, record, 1), 1)

    asyncio.run(look())


def turns_of(report: RoundReport) -> dict[str, Turn]:
    """Return the turns that a round has brought, by agent."""
    return {turn.entrant: turn for turn in report.turns}


def play(stored: StoredCohort, number: int, world: World, record: OpenedRecord) -> RoundReport:
    """Play a round, and return its report."""
    return asyncio.run(play_round(stored, number, world, record))


def incidents_of(record: OpenedRecord) -> list[RecordedIncident]:
    """Return all incidents of a record, oldest first."""
    return record.incidents(99)[::-1]


def hash_of(record: OpenedRecord) -> str:
    """Return the hash of all that a record holds."""
    return record.state_hash()


def reservations_within(
    record: OpenedRecord, limits: Mapping[Scope, int], limiter: RateLimiter | None = None
) -> CallReservations:
    """Return what reserves money for calls within these limits, and room by a limiter."""
    return CallReservations(Budget(limits=limits), limiter or RateLimiter(), record)
