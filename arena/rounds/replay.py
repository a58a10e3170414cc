"""A season over a recording, at the recording's own times: the same core with another venue."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
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
)
from arena.errors import ArenaError
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import Cohort
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import read_newest_time
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.rounds.round import track_cohort
from arena.rounds.season import end_cohort_if_over, open_cohorts, play_until_answered
from arena.rounds.settlement import settle_ended, venue_error
from arena.rounds.world import World
from arena.scores.positions import merge_positions, positions
from arena.scores.rules import brier
from markets.bundle import Bundle, Recording, read
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
    """A season to be played over a recording: cohorts decide until an instant, and later it is over.

    `learnt` are the times at which it becomes known how some market ended.
    """

    config: Config
    plan: Plan
    decides_until: datetime
    ends_at: datetime
    learnt: tuple[datetime, ...]

    def times(self) -> tuple[list[datetime], list[datetime]]:
        """The decision times, then those at which what is still open is looked at.

        These are weekly, as far as something was learnt in the week before, and the last is the very end.
        """
        decisions = self.plan.decision_times(self.decides_until)
        if not decisions:
            first, last = f"{self.plan.first:%Y-%m-%d}", f"{self.decides_until:%Y-%m-%d}"
            message = f"no cohort starts: the first could start on {first}, but the last price is from {last}"
            raise ArenaError("nothing_to_replay", message, "choose other dates with --start and --end")
        newest = decisions[-1]
        weeks = {-((newest - at) // WEEK) for at in self.learnt if newest < at <= self.ends_at}
        later = [newest + week * WEEK for week in sorted(weeks)]
        until = [at for at in later if at < self.ends_at]
        return decisions, [*until, self.ends_at] if self.ends_at > newest else []


def open_recording(folder: Path) -> Bundle:
    """The recording in a folder, with a price in it at least."""
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
    """The season over a recording: cohorts and agents of a config, else weekly ones and the null agents.

    It begins with the first price and ends when all that is recorded is known, unless days say otherwise:
    no cohort starts before `start`, and nothing is played after the first moment of `end`.
    """
    assert bundle.first_price is not None
    assert bundle.last_price is not None
    known_until = max(bundle.last_price, bundle.last_end or bundle.last_price)
    first = bundle.first_price if start is None else _midnight(start)
    ends_at = known_until if end is None else _midnight(end)
    config = _config(folder, bundle, base, agents, first)
    plan = plan_of(config, first)
    return Replay(
        config,
        replace(plan, freeze=_with_recorded_data(plan.freeze, bundle)),
        min(ends_at, bundle.last_price),
        ends_at,
        tuple(sorted({end.known_at for record in bundle.markets.values() for end in record.ends})),
    )


DAY_SECONDS = 86_400


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _config(
    folder: Path, bundle: Bundle, base: Config | None, agents: Sequence[str], first: datetime
) -> Config:
    """The config of the replay: that of the arena with another venue, and rules for records without books."""
    cohorts = CohortsSection() if base is None else base.cohorts
    begins = cohorts.start.on_or_after(first).date()
    # Rules for live markets, which have books, give way to those for records without. No time passes, so the
    # snapshot's prices count.
    without_books = {"start_from": "replay"} if cohorts.rules_block.start_from == "realistic" else {}
    rules_block = cohorts.rules_block.model_copy(update=without_books | {"fill_at": None})
    days = max(Settings().price_days, -(-rules_block.rules.max_quote_age // DAY_SECONDS))
    return Config(
        file=MISSING_CONFIG if base is None else base.file,
        database="" if base is None else base.database,
        seed=1 if base is None else base.seed,
        markets=(
            MarketsSection(venue=VENUE) if base is None else base.markets.model_copy(update={"venue": VENUE})
        ),
        venue_settings=Settings(path=folder.resolve(), content=bundle.content, price_days=days),
        cohorts=cohorts.model_copy(update={"first": begins, "rules_block": rules_block}),
        budget=BudgetSection() if base is None else base.budget,
        backup=BackupSection() if base is None else base.backup,
        calls=CallsSection() if base is None else base.calls,
        agents=replay_agents(agents, base),
        prompts={} if base is None else base.prompts,
        evidence=EvidenceSection() if base is None else base.evidence,
        evidence_settings=NothingToSet() if base is None else base.evidence_settings,
        hash="" if base is None else base.hash,
        code=None if base is None else base.code,
    )


def _with_recorded_data(freeze: FreezeCohort, bundle: Bundle) -> FreezeCohort:
    """A universe that asks for nothing that a recording may lack: two sides, or how much was traded."""
    traded = any(quote.volume for record in bundle.markets.values() for quote in record.quotes)
    changes: dict[str, object] = {"price_only": True} | ({} if traded else {"min_volume": 0})

    def frozen(number: int, at: datetime) -> tuple[Cohort, dict[str, str]]:
        cohort, texts = freeze(number, at)
        return replace(cohort, universe=cohort.universe.model_copy(update=changes)), texts

    return frozen


def replay_agents(names: Sequence[str], base: Config | None = None) -> tuple[AgentConfig, ...]:
    """The agents of these names: from the config, or kinds as they stand. Without names, all."""
    configured = {} if base is None else {agent.name: agent for agent in base.agents}
    wanted = dict.fromkeys(names or configured or NULL_AGENTS)
    agents = {name: configured.get(name) or _agent_of_kind(name, base, configured) for name in wanted}
    for agent in agents.values():
        model = model_settings(agent.settings)
        if model is not None and (option := own_search(model)):
            message = f"{agent.name} can't play a replay: with {option} its provider searches today's web"
            raise ArenaError("own_search", message, "remove it, and give it tools: [search, read]")
        missing = [name for name in agent.of if name not in agents]
        if missing:
            message = f"{agent.name} needs the forecasts of {missing[0]}, which doesn't play"
            raise ArenaError("no_agent", message, f"add {missing[0]} to --agents")
    return tuple(agents.values())


def _agent_of_kind(
    name: str, base: Config | None, configured: Sequence[str] | dict[str, AgentConfig]
) -> AgentConfig:
    try:
        default = kind(name, () if base is None else base.extensions("kinds"))
        return AgentConfig(name, default.name, default.settings(), 0)
    except UnknownExtension as error:
        others = f"agents of the config: {', '.join(configured)}; " if configured else ""
        message = f"there is no agent {name!r} and no such kind"
        raise ArenaError("no_agent", message, f"{others}kinds: {', '.join(error.known)}") from error
    except ValidationError as error:
        message = f"the kind {name} needs settings that have no default"
        raise ArenaError(
            "no_agent", message, "define it under agents in a config, and give --config"
        ) from error


NOTICE = "replay: not evidence of skill"
"""What is said with every result: how it ended was known when it was played."""
PRICE_AHEAD = timedelta(days=8)
"""How long before a market's end the price was known that the market itself is scored by."""


async def play_replay(
    replay: Replay,
    world: World,
    record: Record,
    played: Callable[[int, int], None],
    tell: Callable[[str], None] = print,
) -> None:
    """Every decision time in turn; then what is open is looked at until it has ended or all is known."""
    decisions, later = replay.times()
    newest = record.read(read_newest_time) or decisions[0]
    with gc_seldom():
        for number, at in enumerate((*decisions, *later), 1):
            if at >= newest:  # what is older is over, and must not be looked at with what is known since
                if number <= len(decisions):
                    await play_until_answered(at, replay.plan, world, record, tell)
                else:
                    for stored in open_cohorts(record):
                        await track_cohort(stored, at, world, record)
                        end_cohort_if_over(stored, at, False, record)
                    await settle_ended(at, world, record)
            played(number, len(decisions) + len(later))


def check_same_replay(record: Record, replay: Replay, address: str) -> None:
    """Refuse a record in which anything else than this replay was played."""
    for stored in record.cohorts():
        cohort = stored.cohort
        planned = replay.plan.freeze(cohort.number, cohort.starts_at)[0]
        if scheduled_start(record.begun()) != replay.plan.first or cohort != replace(
            planned, config_hash=cohort.config_hash
        ):
            message = f"{address} already holds another season"
            raise ArenaError("not_empty", message, "name another record with --database, or delete this one")


def count_open_positions(record: Record) -> dict[str, int]:
    """How many positions are open at the end, and how many of them have no price that is good any more."""
    counts = Counter(positions=0, stale=0)
    with reading(record.engine) as connection:
        for stored in record.cohorts():
            marked = read_marked_cohort(connection, stored.id, None)
            lots = positions(marked, stored.cohort.rules.quote_age) if marked else []
            whole = merge_positions("all", [lot for lot in lots if lot.lot.shares])
            counts.update(positions=whole.held, stale=whole.stale)
    return dict(counts)


def market_brier(bundle: Bundle) -> dict[str, Any]:
    """The Brier score of the recorded prices themselves, and over how many markets it is.

    Each market that ended YES or NO counts once, by the last price that was known eight days before its
    end was: for what bears dates, one dated at least eight days before.
    """
    rows = [row for record in bundle.markets.values() if (row := _price_and_outcome(record)) is not None]
    score = (
        brier.score([price / ONE for price, _ in rows], [outcome for _, outcome in rows]) if rows else None
    )
    return {"brier_market": score, "brier_market_markets": len(rows)}


def _price_and_outcome(record: Recording) -> tuple[int, int] | None:
    end = record.ends[-1] if record.ends else None
    quote = record.quote(record.ends[0].known_at - PRICE_AHEAD) if end else None
    if end is None or end.outcome is None or quote is None or quote.mid is None:
        return None
    return quote.mid, end.outcome
