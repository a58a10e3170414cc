"""Standings: all comparisons of a season together, as a leaderboard shows them.

Duels that lack common events are made good by way of the market for the leading sentence alone. The same rows
and seed give the same digits, whatever the order of rows.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.scores.rules.comparisons.copies import Copies, find_copies
from arena.scores.rules.comparisons.duel import Duel, duels
from arena.scores.rules.comparisons.evidence import Evidence
from arena.scores.rules.comparisons.gain import Gain, gains
from arena.scores.rules.comparisons.indirect_duel import indirect_duels
from arena.scores.rules.comparisons.lead import LeadStatement, Verdict, lead, verdicts
from arena.scores.rules.comparisons.ranks import Places, groups, order, places
from arena.scores.rules.comparisons.season_rows import SeasonForecasts


@dataclass(frozen=True, slots=True)
class Standings:
    """A season's comparisons; `gains` in the order of the board, `duels` as far as they were wanted."""

    gains: tuple[Gain, ...]
    verdicts: Mapping[str, Verdict]
    duels: tuple[Duel, ...]
    places: Places
    groups: tuple[tuple[str, ...], ...]
    copies: Copies
    lead: LeadStatement


def sureness(gain: Gain, verdict: Verdict) -> dict[str, Any]:
    """How sure a gain is, by the names that rows of scores have for it."""
    return {
        "skill_low": gain.low,
        "skill_high": gain.high,
        "skill_p": gain.p,
        "skill_low_by_week": gain.low_by_week,
        "verdict": verdict.name,
        "evidence": verdict.evidence,
        "copies": verdict.copies,
        "events_effective": gain.effective,
        "weeks": gain.weeks,
        "reason": gain.reason,
    }


def standings(
    season: SeasonForecasts,
    evidence: Mapping[str, Evidence],
    bar: float,
    families: Iterable[Collection[str]] = (),
    seed: int = 0,
    sources: Mapping[str, str] | None = None,
    unranked: int = 0,
    *,
    pairs: bool = True,
) -> Standings:
    """Everyone against the market and against each other; the season's agents are those that are ranked.

    `bar` is the evidence that proves an entry; `families` and `sources` are as in `copies`. Without `pairs`
    only those duels are fought that decide who leads.
    """
    board = order(gains(season, seed))
    names = [gain.agent for gain in board]
    copies = find_copies(season, names, families, sources)
    judged = [gain.agent for gain in board if gain.reason is None]
    fought = duels(season, judged, seed) if pairs else []
    known = {frozenset((one.a, one.b)): one for one in fought}

    def duel_of(a: str, b: str) -> Duel | None:
        pair = frozenset((a, b))
        found = known.get(pair) or duels(season, (a, b), seed)[0]
        if found.p is None:
            found = indirect_duels(season, [(a, b)], seed)[0]
        known[pair] = found
        return found

    found = verdicts(board, evidence, copies, bar)
    return Standings(
        gains=tuple(board),
        verdicts=found,
        duels=tuple(fought),
        places=places(names, fought),
        groups=tuple(groups(names, fought)),
        copies=copies,
        lead=lead(board, found, duel_of, copies, bar, unranked),
    )
