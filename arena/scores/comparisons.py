"""What a season's comparisons come to: who is ahead of the market and of whom, and whether that is chance.

What came of a duel, in the words that the command line and the pages share.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from arena.errors import ArenaError, count_text
from arena.record.model.columns import ForecastColumns, Ints, evidence_rows
from arena.record.model.columns import stated_belief as probability
from arena.scores.rules.comparisons.duel import Duel, duel
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.gain import gains as gains_of
from arena.scores.rules.comparisons.indirect_duel import indirect_duel
from arena.scores.rules.comparisons.season_rows import SeasonForecasts, check_season
from arena.scores.rules.comparisons.standings import standings
from arena.scores.rules.comparisons.twins import TwinNoise, twin_noise

EARLY_STAMP = "model released after the decision"
COMPARISON_METHOD = "wild event bootstrap-t 1"
"""The way in which comparisons are made; another name makes what was kept under this one stale."""


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
    `ties` are runs of the board of which no two are told apart. `twin_noise` is how far twins lie apart.
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


def compare_agents(
    rows: ForecastColumns, families: Collection[Collection[str]] = (), seed: int = 0
) -> Comparisons:
    """All comparisons of these rows; families are agents with the same settings."""
    known = season_forecasts(rows)
    if not known.agents:
        return Comparisons()
    found = standings(known, families, seed)
    return Comparisons(
        standings=tuple(RankedGain(gain, *found.places[gain.agent]) for gain in found.gains),
        ties=tuple(group for group in found.groups if len(group) > 1),
        state=found.verdict.state,
        leader=found.verdict.leader,
        events_needed=found.verdict.events_needed,
        sentence=found.verdict.sentence,
        noise=twin_noise(known, families),
    )


def gains(rows: ForecastColumns, seed: int = 0) -> list[Gain]:
    """Everyone against the market on these rows, for slices of a season."""
    return gains_of(season_forecasts(rows), seed)


def compare_two(rows: ForecastColumns, one: str, other: str, seed: int = 0) -> Duel:
    """Two agents on the rows that both have; by way of the market where they have none in common."""
    known = season_forecasts(rows)
    for name in (one, other):
        if name not in known.agents:
            hint = f"arena agents show {name} says how its turns went"
            raise ArenaError("no_answer", f"{name} has given no answer yet that could be compared", hint)
    found = duel(known, one, other, seed)
    return found if found.rows else indirect_duel(known, one, other, seed)


def season_forecasts(rows: ForecastColumns) -> SeasonForecasts:
    """The rows that agents are compared on."""
    kept = evidence_rows(rows)
    instant = kept.cohort * (kept.round.max(initial=0) + 1) + kept.round
    return check_season(
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


EVEN_SENTENCE = "Nothing tells them apart: they always said the same."


def duel_sentences(found: Duel, needed: int | None) -> list[str]:
    """On what it rests, how large the gap is, and what that says: a sentence each."""
    if found.gap is None:
        return [f"Nothing can be said of {found.a} and {found.b}: {found.reason}."]
    if found.gap == 0:
        return [duel_basis(found), EVEN_SENTENCE]
    return [duel_basis(found), gap_sentence(found), duel_verdict(found, needed)]


def duel_basis(found: Duel) -> str:
    """On how much of what a duel rests."""
    on_rows = count_text(found.rows, "common forecast")
    how = on_rows if found.by == "rows" else "what each gains on the market, on its own rows"
    on = f"{count_text(found.markets, 'market')}, {count_text(found.events, 'event')}"
    return f"{found.a} against {found.b}, by {how}: {on} ({found.effective:.1f} effective)."


def gap_sentence(found: Duel) -> str:
    """Who was closer and by how much, and how far chance may account for it."""
    size = found.gap or 0.0
    said = f"{found.a if size > 0 else found.b} was closer by {abs(size):.4f} Brier points"
    if found.p is None:
        return f"{said}."
    span = "" if found.low is None else f", gap from {found.low:+.4f} to {found.high:+.4f}"
    return f"{said} ({p_value_text(found.p)}{span})."


def holm_sentence(found: Duel) -> str:
    """What the p-value of the one pair that was asked for becomes as one of all duels there are."""
    if found.adjusted is None or not found.gap:
        return ""
    winner = found.winner()
    held = "chance alone may explain it" if winner is None else f"{winner} is still the better one"
    return f"As one of all duels of the record, by Holm: {p_value_text(found.adjusted)}, {held}."


def p_value_text(p: float) -> str:
    """A p-value, which is never 0.

    >>> p_value_text(0.0312), p_value_text(0.0002)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def duel_verdict(found: Duel, needed: int | None) -> str:
    """Whether that is more than chance."""
    if found.reason:
        return f"That says nothing yet: {found.reason}."
    winner = found.winner()
    if winner is not None:
        return f"{winner} is the better one, by more than chance would explain."
    return "Chance alone may explain it." + (f" About {needed:,} more events would tell." if needed else "")
