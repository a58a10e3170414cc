"""What the page of an agent asks of the record."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from arena.cohorts.diff import AgentSetup, agent_setup, setting_in_words, setup_differences
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.agents import (
    AccountSpan,
    CallSums,
    EntrantEquity,
    read_account_spans,
    read_action_counts,
    read_call_sums,
    read_equity_at,
    read_rejection_counts,
    read_stage_counts,
    read_status_counts,
)
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_prompts
from arena.record.queries.market_history import read_event_questions, read_questions
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, RankedAgent
from arena.scores.positions import Position, positions
from arena.scores.profiles.detailed_profile import PROFILE, DetailedProfile
from dashboard.model import PnlPoint
from dashboard.source import RecordSource, ask, cached
from markets.millionths import ONE

INSTANTS = 200
"""How many instants of its whole life an agent's curve is asked for at most."""
MARKED_AT = attrgetter("at")


@dataclass(frozen=True, slots=True)
class AgentCohort:
    """An agent in one cohort: how it is set up, what was changed, how its turns ended, and what it has made.

    `pnl` is None before the first mark. `statuses` counts turns, `refused` orders.
    """

    cohort: int
    starts_at: datetime
    ended: bool
    bankroll: int
    pnl: int | None
    bets: int
    sales: int
    forecasts: int
    statuses: dict[str, int]
    refused: dict[str, int]
    setup: AgentSetup
    changed: tuple[str, ...]
    answers: tuple[CallSums, ...]


@dataclass(frozen=True, slots=True)
class AgentPage:
    """An agent over all its cohorts, oldest first."""

    name: str
    stays: tuple[AgentCohort, ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """An open position, and the cohort that it is held in."""

    cohort: int
    position: Position


@dataclass(frozen=True, slots=True)
class AgentEvidence:
    """How a ranked agent stands: its evidence as pairs of seconds since 1970 and capital, and the bar."""

    standing: RankedAgent
    bar: float
    points: tuple[tuple[float, float], ...]


@cached
def agent_page(record: RecordSource, name: str) -> AgentPage:
    """All that the record itself says of an agent."""
    return ask(record, lambda connection: _read_agent(connection, name))


@cached
def equity_curves(
    record: RecordSource, names: tuple[str, ...], instants: int = INSTANTS
) -> dict[str, tuple[PnlPoint, ...]]:
    """What all accounts of each of these agents together had made, over time: each as last marked by then."""
    return ask(record, lambda connection: _read_curves(connection, names, instants))


@cached
def profile(record: RecordSource, name: str) -> CacheEntry[DetailedProfile] | None:
    """What was worked out of it last."""
    return ask(record, lambda connection: PROFILE.read(connection, name))


@cached
def agent_evidence(record: RecordSource, name: str) -> AgentEvidence | None:
    """How it stands by the comparisons that were cached last; None where it is not ranked."""
    entry = ask(record, COMPARISONS.read)
    standing = None if entry is None else entry.value.of(name)
    if entry is None or standing is None:
        return None
    return AgentEvidence(standing, entry.value.bar, entry.value.evidence.get(name, ()))


@cached
def holdings(record: RecordSource, name: str) -> tuple[Holding, ...]:
    """What it holds now, as last marked, the newest cohort first and in it the largest position."""
    return ask(record, lambda connection: _read_holdings(connection, name))


@cached
def texts(record: RecordSource, hashes: tuple[str, ...]) -> dict[str, str]:
    """The texts of prompts, by hash."""
    return ask(record, lambda connection: read_prompts(connection, hashes))


def _read_agent(connection: Connection, name: str) -> AgentPage:
    chosen = _chosen(connection, name)
    last = [(span.entrant_id, span.last_at) for span in read_account_spans(connection, _ids(chosen, name))]
    newest = {one.entrant_id: one.total for one in read_equity_at(connection, last)}
    return AgentPage(name, _stays(connection, name, chosen, newest))


def _chosen(connection: Connection, name: str) -> list[StoredCohort]:
    return [stored for stored in read_cohorts(connection) if name in stored.entrant_ids]


def _ids(chosen: Sequence[StoredCohort], name: str) -> list[int]:
    return [stored.entrant_ids[name] for stored in chosen]


def _read_curves(
    connection: Connection, names: Collection[str], instants: int
) -> dict[str, tuple[PnlPoint, ...]]:
    stored = read_cohorts(connection)
    given = {
        name: {one.entrant_ids[name]: one.cohort.bankroll for one in stored if name in one.entrant_ids}
        for name in names
    }
    ids = [id for mine in given.values() for id in mine]
    worth = defaultdict[int, list[EntrantEquity]](list)
    for one in read_equity_at(connection, _wanted(read_account_spans(connection, ids), instants)):
        worth[one.entrant_id].append(one)
    return {
        name: _curve(name, [one for id in mine for one in worth[id]], mine) for name, mine in given.items()
    }


def _wanted(spans: Sequence[AccountSpan], instants: int) -> list[tuple[int, datetime]]:
    """Evenly spaced instants of the whole time, for each account those at which it was open."""
    if not spans:
        return []
    first, last = min(s.first_at for s in spans), max(s.last_at for s in spans)
    step = (last - first) / (instants - 1)
    grid = [first + step * place for place in range(instants - 1)]
    return [(s.entrant_id, at) for s in spans for at in (*_within(grid, s), s.last_at)]


def _within(grid: Sequence[datetime], span: AccountSpan) -> Sequence[datetime]:
    return grid[bisect_left(grid, span.first_at) : bisect_right(grid, span.last_at)]


def _curve(name: str, worth: Sequence[EntrantEquity], given: dict[int, int]) -> tuple[PnlPoint, ...]:
    """The sum of what all accounts had made, at the instants at which one of them was marked."""
    made: dict[int, int] = {}
    points = list[PnlPoint]()
    total = money = 0
    for at, marks in groupby(sorted(worth, key=MARKED_AT), MARKED_AT):
        for one in marks:
            bankroll = given[one.entrant_id]
            gain = one.total - bankroll
            money += 0 if one.entrant_id in made else bankroll
            total += gain - made.get(one.entrant_id, 0)
            made[one.entrant_id] = gain
        points.append(PnlPoint(name, at, total / ONE, 100 * total / money))
    return tuple(points)


def _stays(
    connection: Connection, name: str, chosen: Sequence[StoredCohort], newest: dict[int, int]
) -> tuple[AgentCohort, ...]:
    ids = _ids(chosen, name)
    statuses, actions = read_status_counts(connection, ids), read_action_counts(connection, ids)
    refused, stages = read_rejection_counts(connection, ids), read_stage_counts(connection, ids)
    answers = read_call_sums(connection, ids)
    setups = [_setup(stored, name) for stored in chosen]
    found = list[AgentCohort]()
    for place, (stored, key) in enumerate(zip(chosen, ids, strict=True)):
        before, acted = setups[max(place - 1, 0)], actions.get(key, {})
        found.append(
            AgentCohort(
                cohort=stored.cohort.number,
                starts_at=stored.cohort.starts_at,
                ended=stored.ended_at is not None,
                bankroll=stored.cohort.bankroll,
                pnl=newest[key] - stored.cohort.bankroll if key in newest else None,
                bets=acted.get("buy", 0),
                sales=acted.get("sell", 0),
                forecasts=stages.get(key, {}).get("final", 0),
                statuses=statuses.get(key, {}),
                refused=refused.get(key, {}),
                setup=setups[place],
                changed=tuple(
                    setting_in_words(k, *v) for k, v in setup_differences(before, setups[place]).items()
                ),
                answers=tuple(one for one in answers if one.entrant_id == key),
            )
        )
    return tuple(found)


def _setup(stored: StoredCohort, name: str) -> AgentSetup:
    return agent_setup(stored.cohort, next(e for e in stored.cohort.entrants if e.name == name))


def _read_holdings(connection: Connection, name: str) -> tuple[Holding, ...]:
    stored = [one for one in read_cohorts(connection) if one.ended_at is None and name in one.entrant_ids]
    return tuple(
        Holding(one.cohort.number, position)
        for one in reversed(stored)
        for position in _held(connection, one, name)
    )


def _held(connection: Connection, stored: StoredCohort, name: str) -> Collection[Position]:
    marked = read_marked_cohort(connection, stored.id, name)
    if marked is None:
        return []
    age = timedelta(seconds=stored.cohort.rules.max_quote_age)
    return [position for position in positions(marked, age) if position.lot.shares]


@cached
def questions(record: RecordSource, market_ids: tuple[str, ...]) -> dict[str, str]:
    """What these markets ask."""
    return ask(record, lambda connection: read_questions(connection, market_ids))


@cached
def events(record: RecordSource, event_ids: tuple[str, ...]) -> dict[str, str]:
    """What these events are about, by the question of one of their markets."""
    return ask(record, lambda connection: read_event_questions(connection, event_ids))
