"""The comparisons of a season: each agent with the market price, and every pair of agents."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
from pydantic import TypeAdapter

from arena.errors import ArenaError
from arena.record.model.columns import (
    Flags,
    Floats,
    ForecastColumns,
    Ints,
    answered_rows,
    evidence_rows,
    take_rows,
)
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.cohorts import (
    cohorts_of_agent,
    read_cohorts,
    read_min_coverage,
    read_newest_time,
    select_cohorts,
)
from arena.record.queries.forecasts import LineUpEntry, read_forecast_columns, read_line_ups
from arena.record.schema.database import Connection
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import func, select
from arena.record.write.rollups import scores_basis
from arena.scores.cache import CacheKind
from arena.scores.rules.comparisons.copies import find_copies
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.duel import duel as direct_duel
from arena.scores.rules.comparisons.duel_evidence import (
    DuelRows,
    PairEvidence,
    compare_pairs,
    compare_with_price,
    price_bars,
)
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.evidence import Evidence, EvidenceRows, evidence
from arena.scores.rules.comparisons.gain import Gain, gain_order
from arena.scores.rules.comparisons.gain import gains as gains_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duel
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.comparisons.twins import TwinNoise, twin_noise
from arena.scores.verdict import MIN_COVERAGE

EARLY_STAMP = "model released after the decision"
MARKET = "market"
"""The kind of agent that is the price itself."""
REFERENCES = frozenset({MARKET, "constant", "favourite", "kelly", "naive", "oracle", "random"})
"""Kinds of agents that others are measured by; they are in no pair themselves."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the markets that it was shown an agent answered: of all, and of the resolved ones.

    Early forecasts, from before a model's release, are not counted.
    """

    shown: int
    resolved: int
    answered: int
    answered_resolved: int

    @property
    def share(self) -> float | None:
        """Return the answered share of resolved markets; None if none has resolved."""
        if not self.resolved:
            return None
        return self.answered_resolved / self.resolved


CurvePoint = tuple[float, float]
"""Seconds since 1970, and the capital as a multiple of its start."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The gains of all ranked agents on the market, the surest first, and all pairs of entries.

    `coverage` is that of every agent, and `evidence` each agent's capital over time; `bars` are the capitals
    at which entries are told apart from the price. `copies` names whom an agent repeats, and `noise` is how
    far twins lie apart. `bars`, `pairs` and `against_price` are those of the whole record only: looking at
    every cohort by itself would add chances to be wrong.
    """

    gains: tuple[Gain, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    evidence: Mapping[str, tuple[CurvePoint, ...]] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)
    noise: TwinNoise | None = None
    pairs: tuple[PairEvidence, ...] = ()
    against_price: tuple[PairEvidence, ...] = ()
    bars: Mapping[str, float] = field(default_factory=dict)

    def of(self, agent: str) -> Gain | None:
        """Return the gain of a ranked agent on the market; None if it is not ranked."""
        return next((gain for gain in self.gains if gain.agent == agent), None)


FAILED_TURNS = select(func.count()).where(TurnRow.status == "failed").scalar_subquery()
TURNS_BASIS = select(func.max(TurnRow.id), FAILED_TURNS)


def turns_basis(connection: Connection) -> str:
    """Return a text that changes with every turn that is played or fails."""
    turn, failed = connection.execute(TURNS_BASIS).one()
    return f"turn {turn}, {failed} failed"


def scores_and_turns(connection: Connection, _: object) -> str:
    """Return a text that changes with every resolution, and with every turn that is played or fails."""
    return f"{scores_basis(connection)}; {turns_basis(connection)}"


COMPARISONS = CacheKind("comparisons", "evidence 8", TypeAdapter(Comparisons), scores_and_turns)
"""The comparisons of all cohorts together, or of one by its number: the slow part of a leaderboard."""


def compute_comparisons(connection: Connection, cohort: int | None = None) -> Comparisons:
    """Return all comparisons of a record or of one cohort as of now."""
    return compare_line_ups(
        read_forecast_columns(connection, cohort),
        read_line_ups(connection, cohort),
        read_newest_time(connection),
        read_min_coverage(connection, cohort),
        is_whole=cohort is None,
    )


def compare_line_ups(
    rows: ForecastColumns,
    line_ups: Sequence[LineUpEntry],
    as_of: datetime | None = None,
    min_coverage: float = MIN_COVERAGE,
    *,
    is_whole: bool = True,
) -> Comparisons:
    """Return all comparisons of these rows, by the agents of these line-ups. The market itself is not ranked.

    Pairs are decided on a whole record only: looking at every cohort by itself would add chances to be wrong.
    """
    as_of_seconds = np.inf if as_of is None else as_of.timestamp()
    market_agents = {entry.name for entry in line_ups if _agent_kind(entry) == MARKET}
    compared = compare_agents(
        _without_agents(rows, market_agents),
        twin_families(line_ups),
        sources=forecast_sources(line_ups),
        former_names_of=former_names(line_ups),
        as_of=as_of_seconds,
        min_coverage=min_coverage,
    )
    if not is_whole:
        return compared

    duel_rows = _duel_rows(rows, line_ups, as_of_seconds)
    quoted_duel_rows = _duel_rows(take_rows(rows, rows.quoted), line_ups, as_of_seconds)
    owners = agent_owners(line_ups)
    bars = price_bars(duel_rows, owners)
    return replace(
        compared,
        pairs=tuple(compare_pairs(duel_rows, owners)),
        against_price=tuple(compare_with_price(quoted_duel_rows, bars)),
        bars={entry: bar.capital for entry, bar in bars.items()},
    )


def _duel_rows(rows: ForecastColumns, line_ups: Sequence[LineUpEntry], as_of: float) -> DuelRows:
    """Return the rows that entries stated; a renamed agent is the same throughout.

    Rows of cohorts in which an agent was a reference are left out. A resolution after `as_of` is not known
    yet.
    """
    is_entry = ~_is_of_reference(rows, line_ups)
    stated = answered_rows(take_rows(rows, is_entry))
    newest_name_of = _newest_names(line_ups)

    # Rows under a former name are those of the agent under its newest name.
    current_agents = [stated.agents.index(newest_name_of.get(name, name)) for name in stated.agents]
    current_agent = np.array(current_agents, dtype=np.int64)

    return DuelRows(
        agents=stated.agents,
        agent=current_agent[stated.agent],
        instant=_decision_instants(stated),
        market=stated.market,
        story=stories_of(stated),
        made=stated.at.astype(np.float64),
        known=_known_times(stated, as_of),
        forecast=probability(stated.forecast),
        price=probability(stated.mid),
        payout=stated.payout,
    )


def _known_times(rows: ForecastColumns, as_of: float) -> Floats:
    """Return since when each row's resolution is known; infinity if that is after `as_of`."""
    return np.where(rows.known <= as_of, rows.known, np.inf)


def _is_of_reference(rows: ForecastColumns, line_ups: Sequence[LineUpEntry]) -> Flags:
    """Return which rows an agent stated in a cohort in which it was a reference."""
    places = {name: place for place, name in enumerate(rows.agents)}
    agent_count = len(places)
    references = [entry for entry in line_ups if _agent_kind(entry) in REFERENCES and entry.name in places]

    # A seat is an agent in a cohort, as one number.
    reference_seats = [entry.cohort * agent_count + places[entry.name] for entry in references]
    seats = rows.cohort * agent_count + rows.agent
    return np.isin(seats, reference_seats)


def _agent_kind(entry: LineUpEntry) -> str:
    """Return the kind of an agent in a line-up."""
    return entry.settings.partition(" ")[0]


def agent_owners(line_ups: Sequence[LineUpEntry]) -> dict[str, str]:
    """Return each agent's owner when it first played, by its newest name, so that no share of an error moves.

    >>> agent_owners([LineUpEntry(1, "ann", "A", "x"), LineUpEntry(2, "bob", "A")])
    {'bob': 'x'}
    """
    newest_name_of = _newest_names(line_ups)
    owners: dict[str, str] = {}
    for entry in sorted(line_ups, key=lambda entry: entry.cohort):
        name = newest_name_of.get(entry.name, entry.name)
        owners.setdefault(name, entry.owner)  # keeps the owner of its first cohort
    return owners


def compare_agents(
    rows: ForecastColumns,
    families: Collection[Collection[str]] = (),
    sources: Mapping[str, str] | None = None,
    former_names_of: Mapping[str, Collection[str]] | None = None,
    as_of: float = np.inf,
    min_coverage: float = MIN_COVERAGE,
) -> Comparisons:
    """Return all comparisons of these rows.

    `families` and `sources` are as in `copies`, `former_names_of` as in `former_names`. A resolution that
    counts only after `as_of`, in seconds since 1970, is not known yet.
    """
    coverage = coverages(rows)
    ranked = []
    unranked: set[str] = set()
    for name in rows.agents:
        if is_covered(coverage[name], min_coverage):
            ranked.append(name)
        else:
            unranked.add(name)

    season = season_forecasts(_without_agents(rows, unranked))
    gains_by_certainty = sorted(gains_of(season), key=gain_order)

    # The first of a group in line-up order is its head, as among the entries of duels.
    copies = find_copies(season, ranked, families, sources)
    former_names_of = former_names_of or {}
    curves = {}
    for name in ranked:
        curves[name] = _curve_points(evidence_of(rows, name, former_names_of.get(name, ()), as_of))

    return Comparisons(
        gains=tuple(gains_by_certainty),
        coverage=coverage,
        evidence=curves,
        copies=copies.of,
        noise=twin_noise(season, families),
    )


def expected_verdict(rows: ForecastColumns) -> datetime | None:
    """Return when enough of the events shown should have closed for a first verdict.

    None if too few were shown, or if enough have resolved.
    """
    resolved_events = np.unique(rows.story[np.isfinite(rows.known)])
    if resolved_events.size >= ENOUGH_EVENTS:
        return None

    # An event closes with the last of its markets; 0 is one that was not shown.
    closing_time = np.zeros(len(rows.stories), dtype=np.int64)
    np.maximum.at(closing_time, rows.story, rows.closes)
    closing_times = np.sort(closing_time[closing_time > 0])
    if closing_times.size < ENOUGH_EVENTS:
        return None

    enough_by = int(closing_times[int(ENOUGH_EVENTS) - 1])
    return datetime.fromtimestamp(enough_by, UTC)


def _without_agents(rows: ForecastColumns, names: Collection[str]) -> ForecastColumns:
    """Return the rows of the other agents, with only their names."""
    if not names:
        return rows

    agents = [name for name in rows.agents if name not in names]
    is_kept = np.array([name not in names for name in rows.agents], dtype=np.bool_)
    # The number of each kept agent among those that are kept.
    new_number = np.cumsum(is_kept) - 1
    kept_rows = take_rows(rows, is_kept[rows.agent])
    return replace(kept_rows, agents=tuple(agents), agent=new_number[kept_rows.agent])


def coverages(rows: ForecastColumns) -> dict[str, Coverage]:
    """Return every agent's coverage."""
    counted = evidence_rows(rows)
    resolved = counted.outcome >= 0

    def count(which: Flags) -> list[int]:
        counts: list[int] = np.bincount(counted.agent[which], minlength=len(rows.agents)).tolist()
        return counts

    shown = count(np.ones_like(resolved))
    shown_resolved = count(resolved)
    answered = count(counted.stated)
    answered_resolved = count(resolved & counted.stated)
    columns = zip(shown, shown_resolved, answered, answered_resolved, strict=True)
    return {name: Coverage(*counts) for name, counts in zip(rows.agents, columns, strict=True)}


def is_covered(coverage: Coverage | None, least: float = MIN_COVERAGE) -> bool:
    """Tell whether an agent answered enough of what has resolved to be ranked."""
    return coverage is not None and (coverage.share or 0.0) >= least


def evidence_of(rows: ForecastColumns, agent: str, former_names: Collection[str], as_of: float) -> Evidence:
    """Return an agent's evidence, from its forecasts under its own and former names."""
    own_numbers = [place for place, name in enumerate(rows.agents) if name == agent or name in former_names]
    is_own = np.isin(rows.agent, own_numbers)
    is_counted = is_own & rows.stated & rows.quoted & ~rows.early
    counted = take_rows(rows, is_counted)
    own_rows = EvidenceRows(
        story=stories_of(counted),
        market=counted.market,
        made=counted.at.astype(np.float64),
        known=_known_times(counted, as_of),
        forecast=probability(counted.forecast),
        price=probability(counted.mid),
        payout=counted.payout,
    )
    return evidence(own_rows)


MOST_POINTS = 400
"""The points of a curve that are cached, at most."""


def _curve_points(evidence_curve: Evidence) -> tuple[CurvePoint, ...]:
    """Return the curve, thinned if it is long; its last and highest points are kept."""
    size = evidence_curve.at.size
    places = np.linspace(0, size - 1, min(MOST_POINTS, size))
    kept_points = np.unique(places.astype(np.int64))
    if kept_points.size:
        highest = int(np.argmax(evidence_curve.capital))
        kept_points = np.union1d(kept_points, [highest])

    times = evidence_curve.at[kept_points].tolist()
    return tuple(zip(times, evidence_curve.capital[kept_points].tolist(), strict=True))


def gains(rows: ForecastColumns) -> list[Gain]:
    """Return everyone's gain on the market in these rows, for slices of a season."""
    return gains_of(season_forecasts(rows))


def compare_two(rows: ForecastColumns, agent: str, rival: str) -> Duel:
    """Compare two agents on their common rows; through the market if they have none."""
    season = season_forecasts(rows)
    for name in (agent, rival):
        if name not in season.agents:
            hint = f"arena show agent {name} shows how its turns went"
            raise ArenaError("no_answer", f"{name} has no forecasts to compare yet", hint)

    duel = direct_duel(season, agent, rival)
    if not duel.rows:
        duel = indirect_duel(season, agent, rival)
    return duel


def compute_duel(connection: Connection, agent: str, rival: str, cohort: int | None = None) -> Duel:
    """Compare two agents of a record, or of one of its cohorts."""
    cohorts = select_cohorts(read_cohorts(connection), cohort)
    for name in (agent, rival):
        cohorts_of_agent(cohorts, name)  # raises if it has never played
    return compare_two(read_forecast_columns(connection, cohort), agent, rival)


def season_forecasts(rows: ForecastColumns) -> SeasonForecasts:
    """Return the rows that agents are compared on, in which markets of one story are one event."""
    counted = evidence_rows(rows)
    return check_season(
        counted.agents,
        counted.stories,
        agent=counted.agent,
        instant=_decision_instants(counted),
        market=counted.market,
        event=stories_of(counted),
        forecast=probability(counted.forecast),
        reference=probability(counted.mid),
        outcome=counted.outcome,
    )


def _decision_instants(rows: ForecastColumns) -> Ints:
    """Return the numbers of rows' rounds among those of all cohorts, in order of time."""
    most_rounds = rows.round.max(initial=0) + 1
    cohort_and_round = rows.cohort * most_rounds + rows.round
    # Rounds of different cohorts at the same time are different instants.
    time_then_round = np.stack([rows.at, cohort_and_round])
    _, instants = np.unique(time_then_round, axis=1, return_inverse=True)
    return instants


def stories_of(rows: ForecastColumns) -> Ints:
    """Return the story of each row's market as it was last shown, because a venue may move it."""
    story_of_market = np.zeros(len(rows.markets), dtype=np.int64)
    oldest_first = np.argsort(rows.at, kind="stable")
    # Of several values for one index the last remains: the story of the newest row.
    story_of_market[rows.market[oldest_first]] = rows.story[oldest_first]
    return story_of_market[rows.market]


def twin_families(line_ups: Sequence[LineUpEntry]) -> list[tuple[str, ...]]:
    """Return groups of agents that had the same settings in every cohort."""
    settings_by_cohort = defaultdict(list)
    for entry in line_ups:
        settings_by_cohort[entry.name].append(entry.settings)

    names_by_settings = defaultdict(list)
    for name, own_settings in settings_by_cohort.items():
        names_by_settings[tuple(own_settings)].append(name)

    return [tuple(names) for names in names_by_settings.values() if len(names) > 1]


def former_names(line_ups: Sequence[LineUpEntry]) -> dict[str, set[str]]:
    """Return the names under which agents with the same settings played before.

    >>> former_names([LineUpEntry(1, "ann", "A"), LineUpEntry(1, "bob", "B"), LineUpEntry(2, "cho", "A")])
    {'cho': {'ann'}}
    """
    cohorts_of = defaultdict(set)
    settings_of = defaultdict(set)
    for entry in line_ups:
        cohorts_of[entry.name].add(entry.cohort)
        settings_of[entry.name].add(entry.settings)

    former_names_of = defaultdict(set)
    for name, own_cohorts in cohorts_of.items():
        for other, other_cohorts in cohorts_of.items():
            # An agent can have been renamed only if the other had stopped before it began.
            has_stopped_before = max(other_cohorts) < min(own_cohorts)
            if has_stopped_before and not settings_of[name].isdisjoint(settings_of[other]):
                former_names_of[name].add(other)
    return dict(former_names_of)


def _newest_names(line_ups: Sequence[LineUpEntry]) -> dict[str, str]:
    """Return the newest name of each renamed agent; a former name shared by twins is not mapped.

    >>> _newest_names([LineUpEntry(1, "ann", "A"), LineUpEntry(2, "bob", "A"), LineUpEntry(3, "cho", "A")])
    {'ann': 'cho', 'bob': 'cho'}
    """
    former_names_of = former_names(line_ups)
    all_former_names = set().union(*former_names_of.values())

    newest_name_of = {}
    for former_name in sorted(all_former_names):
        successors = {name for name, names in former_names_of.items() if former_name in names}

        # The newest is the one that all other successors are former names of.
        newest = [name for name in successors if successors - {name} <= former_names_of[name]]
        if len(newest) == 1:
            newest_name_of[former_name] = newest[0]
    return newest_name_of


def forecast_sources(line_ups: Sequence[LineUpEntry]) -> dict[str, str]:
    """Return the source agent of each agent that is told another's forecasts.

    >>> ann, bob = LineUpEntry(1, "ann", 'llm {"model": "m"}'), LineUpEntry(1, "bob", 'kelly {"of": "ann"}')
    >>> forecast_sources([ann, bob])
    {'bob': 'ann'}
    """
    sources = {}
    for entry in line_ups:
        _, _, settings = entry.settings.partition(" ")
        source = json.loads(settings).get("of")
        if isinstance(source, str):
            sources[entry.name] = source
    return sources
