"""The comparisons of a season: who is ahead of the market and of whom, and whether that is chance.

The sentences on a duel are those that the command line and the pages share.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import TypeAdapter

from arena.errors import ArenaError, count_text
from arena.record.model.columns import ForecastColumns, Ints, evidence_rows
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
from arena.record.queries.forecasts import read_forecast_columns, read_line_ups
from arena.record.schema.database import Connection
from arena.scores.cache import CacheKind
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.duel import duel as direct_duel
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.gain import gains as gains_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duel
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.comparisons.standings import standings
from arena.scores.rules.comparisons.twins import TwinNoise, twin_noise
from markets.garbage_collection import gc_paused

EARLY_STAMP = "model released after the decision"


@dataclass(frozen=True, slots=True)
class RankedGain:
    """One agent against the market, and the places that it may hold; None where nothing can be said."""

    gain: Gain
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Everyone against the market and against each other, the surest gain first.

    `sentence` says who leads and whether that means anything yet; `leader` is None as long as it doesn't.
    `ties` are runs of the leaderboard of which nothing separates any two. `noise` is how far twins lie apart.
    """

    standings: tuple[RankedGain, ...] = ()
    ties: tuple[tuple[str, ...], ...] = ()
    state: str = "nothing"
    leader: str | None = None
    events_needed: int | None = None
    sentence: str = "Nothing is resolved yet, so nobody leads."
    noise: TwinNoise | None = None

    def of(self, agent: str) -> RankedGain | None:
        """How an agent stands."""
        return next((one for one in self.standings if one.gain.agent == agent), None)


COMPARISONS = CacheKind("comparisons", "wild event bootstrap-t 2", TypeAdapter(Comparisons))
"""The comparisons of all cohorts together, or of one by its number: what takes long of a leaderboard."""


def compute_comparisons(connection: Connection, cohort: int | None = None) -> Comparisons:
    """All comparisons of a record or of one cohort as of now."""
    return compare_line_ups(read_forecast_columns(connection, cohort), read_line_ups(connection, cohort))


def compare_line_ups(rows: ForecastColumns, settings: Sequence[tuple[str, str]]) -> Comparisons:
    """All comparisons of these rows, by agents of these names and settings."""
    return compare_agents(rows, twin_families(settings), sources=forecast_sources(settings))


def compare_agents(
    rows: ForecastColumns,
    families: Collection[Collection[str]] = (),
    seed: int = 0,
    sources: Mapping[str, str] | None = None,
) -> Comparisons:
    """All comparisons of these rows; `families` and `sources` as in `lead`."""
    season = season_forecasts(rows)
    if not season.agents:
        return Comparisons()
    ranked = standings(season, families, seed, sources)
    return Comparisons(
        standings=tuple(RankedGain(gain, *ranked.places[gain.agent]) for gain in ranked.gains),
        ties=tuple(group for group in ranked.groups if len(group) > 1),
        state=ranked.lead.state,
        leader=ranked.lead.leader,
        events_needed=ranked.lead.events_needed,
        sentence=ranked.lead.sentence,
        noise=twin_noise(season, families),
    )


def gains(rows: ForecastColumns, seed: int = 0) -> list[Gain]:
    """Everyone against the market on these rows, for slices of a season."""
    return gains_of(season_forecasts(rows), seed)


def compare_two(rows: ForecastColumns, one: str, other: str, seed: int = 0) -> Duel:
    """Two agents on the rows that both have; by way of the market where they have none in common."""
    season = season_forecasts(rows)
    for name in (one, other):
        if name not in season.agents:
            hint = f"arena agents show {name} says how its turns went"
            raise ArenaError("no_answer", f"{name} has no forecasts to compare yet", hint)
    duel = direct_duel(season, one, other, seed)
    return duel if duel.rows else indirect_duel(season, one, other, seed)


@gc_paused()
def compute_duel(connection: Connection, one: str, other: str, cohort: int | None = None) -> Duel:
    """The same from a record, or from one cohort of it."""
    for name in (one, other):
        cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), name)
    return compare_two(read_forecast_columns(connection, cohort), one, other)


def season_forecasts(rows: ForecastColumns) -> SeasonForecasts:
    """The rows that agents are compared on."""
    counted = evidence_rows(rows)
    instant = counted.cohort * (counted.round.max(initial=0) + 1) + counted.round
    return check_season(
        counted.agents,
        counted.events,
        agent=counted.agent,
        instant=np.unique(instant, return_inverse=True)[1],
        market=counted.market,
        event=events_of(counted),
        forecast=probability(counted.forecast),
        reference=probability(counted.mid),
        outcome=counted.outcome,
    )


def events_of(rows: ForecastColumns) -> Ints:
    """The event of each row's market as it was shown last: a venue may have moved it."""
    newest = np.zeros(len(rows.markets), dtype=np.int64)
    order = np.argsort(rows.at, kind="stable")
    newest[rows.market[order]] = rows.event[order]
    return newest[rows.market]


def twin_families(settings: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Agents that had the same settings in every cohort, as pairs of name and settings in order.

    >>> twin_families([("ann", "A"), ("bob", "A"), ("cho", "B")])
    [('ann', 'bob')]
    """
    own: dict[str, list[str]] = defaultdict(list)
    for name, text in settings:
        own[name].append(text)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, texts in own.items():
        alike[tuple(texts)].append(name)
    return [tuple(names) for names in alike.values() if len(names) > 1]


def forecast_sources(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Whose forecasts each agent is told, of those that are told another's, by name and settings.

    >>> forecast_sources([("ann", 'llm {"model": "m"}'), ("bob", 'kelly {"of": "ann"}')])
    {'bob': 'ann'}
    """
    told = ((name, json.loads(text.partition(" ")[2]).get("of")) for name, text in settings)
    return {name: of for name, of in told if isinstance(of, str)}


EVEN_SENTENCE = "Their forecasts are identical."


def duel_sentences(duel: Duel, needed: int | None) -> list[str]:
    """On what it rests, how large the gap is, and what that says: a sentence each."""
    if duel.gap is None:
        return [f"No comparison of {duel.a} and {duel.b}: {duel.reason}."]
    if duel.gap == 0:
        return [duel_basis(duel), EVEN_SENTENCE]
    return [duel_basis(duel), gap_sentence(duel), duel_conclusion(duel, needed)]


def duel_basis(duel: Duel) -> str:
    """On how much of what a duel rests."""
    on_rows = count_text(duel.rows, "common forecast")
    how = on_rows if duel.by == "rows" else "the skill of each on its own markets"
    on = f"{count_text(duel.markets, 'market')}, {count_text(duel.events, 'event')}"
    return f"{duel.a} against {duel.b}, by {how}: {on} ({duel.effective:.1f} effective)."


def gap_sentence(duel: Duel) -> str:
    """Who was closer and by how much, and how far chance may account for it."""
    size = duel.gap or 0.0
    sentence = f"{duel.a if size > 0 else duel.b} was closer by {abs(size):.4f} Brier points"
    if duel.p is None:
        return f"{sentence}."
    span = "" if duel.low is None else f", gap from {duel.low:+.4f} to {duel.high:+.4f}"
    return f"{sentence} ({p_value_text(duel.p)}{span})."


def holm_sentence(duel: Duel) -> str:
    """What the p-value of the one pair that was asked for becomes as one of all duels there are."""
    if duel.adjusted is None or not duel.gap:
        return ""
    winner = duel.winner()
    conclusion = "chance may explain it" if winner is None else f"{winner} is still better"
    return f"As one of all duels of the record, by Holm: {p_value_text(duel.adjusted)}, {conclusion}."


def p_value_text(p: float) -> str:
    """A p-value, which is never 0.

    >>> p_value_text(0.0312), p_value_text(0.0002)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def duel_conclusion(duel: Duel, needed: int | None) -> str:
    """Whether that is more than chance."""
    if duel.reason:
        return f"Too early to tell: {duel.reason}."
    winner = duel.winner()
    if winner is not None:
        return f"{winner} is better, by more than chance."
    return "Chance may explain it." + (f" About {needed:,} more events would settle it." if needed else "")
