"""A season over a recording, at the recording's own times, with the recording as its venue."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.model import model_settings
from agents.model_table.cost import own_search
from agents.registry import kind
from agents.research.none import Settings as NothingToSet
from arena.cohorts.freeze import plan_of
from arena.cohorts.schedule import Plan, scheduled_start
from arena.config import AgentConfig, Config
from arena.config.sections import (
    BackupSection,
    BudgetSection,
    CallsSection,
    CohortsSection,
    EvidenceSection,
    MarketsSection,
    PublishSection,
    RunSection,
    ScoresSection,
    WatchSection,
)
from arena.errors import ArenaError
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import read_newest_time
from arena.record.record import Record
from arena.rounds.evidence import recorded_lookups
from arena.rounds.open_world import open_dispatch, open_world
from arena.rounds.round import track_cohort
from arena.rounds.season import end_cohort_if_over, open_cohorts, play_until_answered
from arena.rounds.settlement import settle_ended, venue_error
from arena.rounds.world import World
from arena.scores.positions import positions
from arena.scores.rules import brier
from markets.bundle import Bundle, read
from markets.garbage_collection import gc_seldom
from markets.millionths import ONE
from markets.registry import UnknownExtension
from markets.venue import VenueError
from markets.venues.recorded import Settings

VENUE = "recorded"
NULL_AGENTS = ("market", "constant", "random")
MISSING_CONFIG = Path("config.yaml")
"""Where a config would lie if there was one: what it names is looked for beside it."""

FreezeCohort = Callable[[int, datetime], tuple[Cohort, dict[str, str]]]


@dataclass(frozen=True, slots=True)
class Replay:
    """A season to be played over a recording: cohorts decide until `decides_until`, and it ends at `ends_at`.

    `learnt` are the times at which it becomes known how some market ended.
    """

    config: Config
    plan: Plan
    decides_until: datetime
    ends_at: datetime
    learnt: tuple[datetime, ...]

    def times(self) -> tuple[list[datetime], list[datetime]]:
        """Return the decision times, then the later ones at which open positions are settled and marked.

        The later ones are weekly, without weeks in which nothing was learnt, and the last is the very end.
        Raise `ArenaError` if no cohort decides.
        """
        decisions = self.plan.decision_times(self.decides_until)
        if not decisions:
            message = (
                f"no cohort starts: the first could start on {self.plan.first:%Y-%m-%d}, "
                f"but the last price is from {self.decides_until:%Y-%m-%d}"
            )
            raise ArenaError("nothing_to_replay", message, "choose other dates with --start and --end")

        last_decision = decisions[-1]
        if self.ends_at <= last_decision:
            return decisions, []

        later = {self.ends_at}
        for learnt_at in self.learnt:
            weeks = -((last_decision - learnt_at) // WEEK)  # rounded up
            settled_at = last_decision + weeks * WEEK
            if last_decision < settled_at < self.ends_at:
                later.add(settled_at)
        return decisions, sorted(later)


def open_recording(folder: Path) -> Bundle:
    """Return the recording in a folder; raise `ArenaError` if it is faulty or holds no price."""
    try:
        bundle = read(folder)
    except VenueError as error:
        raise venue_error(error) from error

    if bundle.last_price is None:
        raise ArenaError("no_price", f"{folder} holds no price", "a replay needs prices, in prices.csv")
    return bundle


def arrange_replay(
    folder: Path,
    bundle: Bundle,
    base: Config | None = None,
    agents: Sequence[str] = (),
    start: date | None = None,
    end: date | None = None,
) -> Replay:
    """Return the season over a recording: a config's cohorts and agents, or weekly ones and null agents.

    It begins with the first price and ends when everything recorded is known, unless days bound it: no
    cohort starts before `start`, and nothing is played after the first moment of `end`.
    """
    assert bundle.first_price is not None
    assert bundle.last_price is not None
    starts_from = bundle.first_price
    if start is not None:
        starts_from = _midnight(start)
    ends_at = max(bundle.last_price, bundle.last_end or bundle.last_price)
    if end is not None:
        ends_at = _midnight(end)

    config = _replay_config(folder, bundle, base, agents, starts_from)
    plan = plan_of(config, starts_from)
    learnt = set[datetime]()
    for record in bundle.markets.values():
        learnt.update(resolution.known_at for resolution in record.ends)
    return Replay(
        config=config,
        plan=replace(plan, freeze=_with_recorded_data(plan.freeze, bundle)),
        decides_until=min(ends_at, bundle.last_price),
        ends_at=ends_at,
        learnt=tuple(sorted(learnt)),
    )


DAY_SECONDS = 86_400


def _midnight(day: date) -> datetime:
    """Return the first moment of a day."""
    return datetime.combine(day, time(), UTC)


def _replay_config(
    folder: Path, bundle: Bundle, base: Config | None, agents: Sequence[str], starts_from: datetime
) -> Config:
    """Return the config of a replay: the base's own with the recording as its venue, or one of defaults."""
    line_up = replay_agents(agents, base)
    if base is None:
        base = Config(
            file=MISSING_CONFIG,
            database="",
            seed=1,
            markets=MarketsSection(venue=VENUE),
            venue_settings=NothingToSet(),
            cohorts=CohortsSection(),
            budget=BudgetSection(),
            agents=line_up,
            prompts={},
            calls=CallsSection(),
            evidence=EvidenceSection(),
            evidence_settings=NothingToSet(),
            backup=BackupSection(),
        )

    # No time passes in a replay, so orders are filled at the snapshot's prices. A recording has no books:
    # the rules for live markets, which need them, give way to those for recordings.
    changes: dict[str, object] = {"fill_at": None}
    if base.cohorts.rules_block.start_from == "realistic":
        changes["start_from"] = "replay"
    rules_block = base.cohorts.rules_block.model_copy(update=changes)
    cohort_changes = {"first": base.cohorts.start.on_or_after(starts_from).date(), "rules_block": rules_block}

    # A market must be on offer for as long as the rules allow its price to be old, in whole days.
    max_age_days = -(-rules_block.rules.max_quote_age // DAY_SECONDS)  # rounded up
    days = max(Settings().price_days, max_age_days)
    return replace(
        base,
        markets=base.markets.model_copy(update={"venue": VENUE}),
        venue_settings=Settings(path=folder.resolve(), content=bundle.content, price_days=days),
        cohorts=base.cohorts.model_copy(update=cohort_changes),
        agents=line_up,
        # What a config says of its live season does not hold for a replay.
        season=None,
        scores=ScoresSection(),
        heads=None,
        publish=PublishSection(),
        run=RunSection(),
        watch=WatchSection(),
    )


def _with_recorded_data(freeze: FreezeCohort, bundle: Bundle) -> FreezeCohort:
    """Return a `freeze` whose universes do not require what a recording may lack: two sides, or volumes."""
    changes: dict[str, object] = {"price_only": True}
    quotes = chain.from_iterable(record.quotes for record in bundle.markets.values())
    if not any(quote.volume for quote in quotes):
        changes["min_volume"] = 0

    def frozen(number: int, at: datetime) -> tuple[Cohort, dict[str, str]]:
        cohort, texts = freeze(number, at)
        return replace(cohort, universe=cohort.universe.model_copy(update=changes)), texts

    return frozen


def replay_agents(names: Sequence[str], base: Config | None) -> tuple[AgentConfig, ...]:
    """Return the agents of these names: from the config, or kinds with their defaults; without names, all.

    Raise `ArenaError` for an agent that doesn't exist, that needs the forecasts of one which doesn't play,
    or whose provider would search today's web.
    """
    configured = {} if base is None else {agent.name: agent for agent in base.agents}
    agents = {}
    for name in names or configured or NULL_AGENTS:
        agents[name] = configured.get(name) or _agent_of_kind(name, base)

    for agent in agents.values():
        model = model_settings(agent.settings)
        search_option = own_search(model) if model is not None else ""
        if search_option:
            message = (
                f"{agent.name} can't play a replay: with {search_option} its provider searches today's web"
            )
            raise ArenaError("own_search", message, "remove it, and give it tools: [search, read]")

        for name in agent.of:
            if name not in agents:
                message = f"{agent.name} needs the forecasts of {name}, which doesn't play"
                raise ArenaError("no_agent", message, f"add {name} to --agents")

    return tuple(agents.values())


def _agent_of_kind(name: str, base: Config | None) -> AgentConfig:
    """Return an agent of a kind with the kind's defaults; raise `ArenaError` for an unknown kind."""
    try:
        default = kind(name, () if base is None else base.extensions("kinds"))
        return AgentConfig(name, default.name, default.settings(), 0)
    except UnknownExtension as error:
        hint = f"kinds: {', '.join(error.known)}"
        if base is not None and base.agents:
            hint = f"agents of the config: {', '.join(agent.name for agent in base.agents)}; {hint}"
        raise ArenaError("no_agent", f"there is no agent {name!r} and no such kind", hint) from error
    except ValidationError as error:
        message = f"the kind {name} needs settings that have no default"
        hint = "define it under agents in a config, and give --config"
        raise ArenaError("no_agent", message, hint) from error


NOTICE = "replay: not evidence of skill"
"""The notice beside every result: how the markets ended was known when the replay was played."""
PRICE_AHEAD = timedelta(days=8)
"""How long before a market's end the price was known that the market itself is scored by."""


async def play_replay(
    replay: Replay,
    world: World,
    record: Record,
    played: Callable[[int, int], None],
    tell: Callable[[str], None] = print,
) -> None:
    """Play every decision time in order; then settle and mark open positions until all of them have ended.

    `played` is called after each time with how many times are done and how many there are.
    """
    decisions, later = replay.times()
    newest = record.read(read_newest_time) or decisions[0]

    with gc_seldom():
        for number, at in enumerate((*decisions, *later), 1):
            # An older time is over, and must not be played with what has become known since.
            if at >= newest:
                if number <= len(decisions):
                    await play_until_answered(at, replay.plan, world, record, tell)
                else:
                    await _settle_open_cohorts(at, world, record)
            played(number, len(decisions) + len(later))


async def _settle_open_cohorts(at: datetime, world: World, record: Record) -> None:
    """Settle and mark open cohorts at a time without decisions, and end those that are over."""
    for stored in open_cohorts(record):
        await track_cohort(stored, at, world, record)
        end_cohort_if_over(stored, at, False, record)
    await settle_ended(at, world, record)


def check_same_replay(record: Record, replay: Replay, address: str) -> None:
    """Raise `ArenaError` for a record that holds anything but this replay."""
    for stored in record.cohorts():
        cohort = stored.cohort
        planned, _ = replay.plan.freeze(cohort.number, cohort.starts_at)
        # The hash is of the config's text: a comment in it may have changed since, and the season not.
        planned = replace(planned, config_hash=cohort.config_hash)

        if cohort != planned or scheduled_start(record.begun()) != replay.plan.first:
            message = f"{address} already holds another season"
            raise ArenaError("not_empty", message, "name another record with --database, or delete this one")


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Where a season over a recording is kept, and how its turns are played.

    `recorded` is the record from which `search` and `read` answer; None where they answer live.
    """

    address: str
    workers: bool = False
    recorded: str | None = None
    leave_failed: bool = False


async def play_in_world(
    season: Replay,
    record: Record,
    request: ReplayRequest,
    played: Callable[[int, int], None],
    tell: Callable[[str], None],
) -> None:
    """Play a season in a world, as a request says.

    `played` is called after each decision time with how many are done and how many there are, and `tell` with
    a line on what is waited for, and on who plays the turns.
    """

    def tell_alone(alone: bool) -> None:
        message = "workers are running"
        if alone:
            message = "no worker is running: turns are played here until one starts"
        tell(message)

    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(open_world(season.config, record))
        world = replace(world, leaves_failed=request.leave_failed)
        if request.recorded is not None:
            world = replace(world, recorded=stack.enter_context(recorded_lookups(request.recorded)))
        if request.workers:
            dispatch = open_dispatch(replace(season.config, database=request.address), tell_alone)
            world = replace(world, dispatch=await stack.enter_async_context(dispatch))
        await play_replay(season, world, record, played, tell)


def count_open_positions(record: Record) -> dict[str, int]:
    """Return the counts of open positions at the end, and of those with only a stale price."""
    counts = Counter(positions=0, stale=0)

    with record.reading() as connection:
        for stored in record.cohorts():
            marked = read_marked_cohort(connection, stored.id, None)
            if marked is None:
                continue
            for position in positions(marked, stored.cohort.rules.quote_age):
                if position.lot.shares:
                    counts["positions"] += 1
                    counts["stale"] += position.stale != ""

    return dict(counts)


def market_brier(bundle: Bundle) -> dict[str, Any]:
    """Return the Brier score of the recorded prices themselves, and the number of markets it covers.

    Each market that ended YES or NO counts once, by the last price that was known eight days before its
    end was: for what bears dates, one dated at least eight days before.
    """
    prices = []
    outcomes = []

    for record in bundle.markets.values():
        if not record.ends:
            continue

        # The last end is the one that counts; the first one is when it became known.
        outcome = record.ends[-1].outcome
        quote = record.quote(record.ends[0].known_at - PRICE_AHEAD)
        if outcome is not None and quote is not None and quote.mid is not None:
            prices.append(quote.mid / ONE)
            outcomes.append(outcome)

    score = brier.score(prices, outcomes) if prices else None
    return {"brier_market": score, "brier_market_markets": len(prices)}
