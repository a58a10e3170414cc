"""Standings: all comparisons of a season together, as a leaderboard shows them.

- Formula: the gains of all agents in the order of their lower bounds, all duels with Holm's correction, the
  places that agents may hold, tie groups, and who leads; each as its own module says. Duels that lack common
  events are made good by way of the market for the leading sentence alone.
- Direction: higher is better, of gains and gaps; lower of places.
- Range: see `gain`, `duel` and `ranks`.
- Edge cases: the same rows and seed give the same digits, whatever the order of rows.
- Source: each part names its own.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from arena.scores.rules.comparisons.duel import Duel, duels
from arena.scores.rules.comparisons.gain import Gain, gains
from arena.scores.rules.comparisons.indirect_duel import indirect_duels
from arena.scores.rules.comparisons.lead import LeadStatement, lead
from arena.scores.rules.comparisons.ranks import Places, groups, order, places
from arena.scores.rules.comparisons.season_rows import SeasonForecasts


@dataclass(frozen=True, slots=True)
class Standings:
    """A season's comparisons; `gains` in the order of the board."""

    gains: tuple[Gain, ...]
    duels: tuple[Duel, ...]
    places: Places
    groups: tuple[tuple[str, ...], ...]
    lead: LeadStatement


def standings(
    season: SeasonForecasts,
    families: Iterable[Collection[str]] = (),
    seed: int = 0,
    sources: Mapping[str, str] | None = None,
) -> Standings:
    """Everyone against the market and against each other; `families` and `sources` as in `lead`."""
    board = order(gains(season, seed))
    fought = duels(season, [gain.agent for gain in board if gain.reason is None], seed)
    missing = [(one.a, one.b) for one in fought if one.p is None]
    judged = [one for one in fought if one.p is not None]
    names = [gain.agent for gain in board]
    return Standings(
        gains=tuple(board),
        duels=tuple(fought),
        places=places(names, fought),
        groups=tuple(groups(names, fought)),
        lead=lead(board, [*judged, *indirect_duels(season, missing, seed)], families, sources),
    )
