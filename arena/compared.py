"""What a season's comparisons come to: who is ahead of the market and of whom, and whether that is chance."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from arena.belief import stated as probability
from arena.errors import ArenaError
from arena.frame import Ints, Stated, evidence
from arena.scoring.comparing.apart import apart
from arena.scoring.comparing.duel import Duel, duel
from arena.scoring.comparing.gain import Gain
from arena.scoring.comparing.gain import gains as gains_of
from arena.scoring.comparing.rows import Season, season
from arena.scoring.comparing.standings import standings
from arena.scoring.comparing.twins import Floor, noise

EARLY = "model released after the decision"
METHOD = "wild event bootstrap-t 1"
"""The way in which comparisons are made; another name makes what was kept under this one stale."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent against the market, and the places that it may hold; None where nothing can be said."""

    gain: Gain
    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Everyone against the market and against each other, the surest gain first.

    `sentence` says who leads and whether that means anything yet; `leader` is None as long as it doesn't.
    `ties` are runs of the board of which no two are told apart. `noise` is how far twins lie apart.
    """

    standings: tuple[Standing, ...] = ()
    ties: tuple[tuple[str, ...], ...] = ()
    state: str = "nothing"
    leader: str | None = None
    events_needed: int | None = None
    sentence: str = "Nothing is resolved yet, so nobody leads."
    noise: Floor | None = None

    def of(self, agent: str) -> Standing | None:
        """How an agent stands."""
        return next((one for one in self.standings if one.gain.agent == agent), None)


def compared(rows: Stated, families: Collection[Collection[str]] = (), seed: int = 0) -> Comparisons:
    """All comparisons of these rows; families are agents with the same settings."""
    known = season_of(rows)
    if not known.agents:
        return Comparisons()
    found = standings(known, families, seed)
    return Comparisons(
        standings=tuple(Standing(gain, *found.places[gain.agent]) for gain in found.gains),
        ties=tuple(group for group in found.groups if len(group) > 1),
        state=found.verdict.state,
        leader=found.verdict.leader,
        events_needed=found.verdict.events_needed,
        sentence=found.verdict.sentence,
        noise=noise(known, families),
    )


def gains(rows: Stated, seed: int = 0) -> list[Gain]:
    """Everyone against the market on these rows, for slices of a season."""
    return gains_of(season_of(rows), seed)


def fought(rows: Stated, one: str, other: str, seed: int = 0) -> Duel:
    """Two agents on the rows that both have; by way of the market where they have none in common."""
    known = season_of(rows)
    for name in (one, other):
        if name not in known.agents:
            mend = f"arena agents show {name} says how its turns went"
            raise ArenaError("no_answer", f"{name} has given no answer yet that could be compared", mend)
    found = duel(known, one, other, seed)
    return found if found.rows else apart(known, one, other, seed)


def season_of(rows: Stated) -> Season:
    """The rows that agents are compared on."""
    kept = evidence(rows)
    instant = kept.cohort * (kept.round.max(initial=0) + 1) + kept.round
    return season(
        kept.agents,
        kept.events,
        agent=kept.agent,
        instant=np.unique(instant, return_inverse=True)[1],
        market=kept.market,
        event=events_of(kept),
        forecast=probability(kept.forecast),
        reference=probability(kept.mid),
        outcome=kept.outcome,
    )


def events_of(rows: Stated) -> Ints:
    """The event of each row's market as it was shown last: a venue may have moved it."""
    newest = np.zeros(len(rows.markets), dtype=np.int64)
    order = np.argsort(rows.at, kind="stable")
    newest[rows.market[order]] = rows.event[order]
    return newest[rows.market]


def families_of(settings: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Agents that had the same settings in every cohort, as pairs of name and settings in order.

    >>> families_of([("ann", "A"), ("bob", "A"), ("cho", "B")])
    [('ann', 'bob')]
    """
    own: dict[str, list[str]] = defaultdict(list)
    for name, text in settings:
        own[name].append(text)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, texts in own.items():
        alike[tuple(texts)].append(name)
    return [tuple(names) for names in alike.values() if len(names) > 1]
