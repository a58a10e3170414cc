"""Who leads, and whether that means anything yet: one sentence over the board.

- Formula: an agent leads if its gain on the market is above 0 with p ≤ 0.05, and it is ahead of every other
  agent that can be judged, each with p ≤ 0.05: by their duel, or by way of the market (`apart`) where they
  have too few common events. These p-values are not adjusted for their number, because all must be small
  at once. Events still needed are those of `power` for every gap that is open, the largest of them, each
  found with a chance of 1 − 0.1/k where k gaps must all be found: then all are, with one of 90%.
- Direction: higher is better, of gains and gaps alike.
- Range: nobody, or one agent with those that say the same; in a season without skill somebody is named
  with a chance of at most 5%.
- Edge cases: under 20 effective events an agent is not judged, and holds nobody up. Agents that always say
  the market's price, or the leader's forecast, are no rivals, and neither are the leader's twins. Who is
  first without leading is named as such: the first on the board whom nobody beats. A gap that goes the
  wrong way gives no number of events.
- Source: Gutmann and Maymin (1987): to say that the best one of a sample is the best of all, each comparison
  with the others at its plain level is enough.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.scoring.comparing import _words as words
from arena.scoring.comparing.duel import Duel
from arena.scoring.comparing.events import ENOUGH
from arena.scoring.comparing.gain import Gain
from arena.scoring.comparing.power import still_needed
from arena.scoring.comparing.ranks import order
from arena.scoring.comparing.wild import LEVEL

State = Literal["nothing", "few", "behind", "open", "leads"]
"""Nothing is resolved, too little is, nobody is ahead of the market, someone is first, someone leads."""

_SURE = 0.9
"""The chance with which a leader should be named after as many events as are said to be needed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sentence, and what it says for programs. `ahead` is first on the board, whether it leads or not."""

    state: State
    leader: str | None
    ahead: str | None
    not_beaten: tuple[str, ...]
    events_needed: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class _Field:
    """Those who can be judged, and their duels from either side."""

    gains: dict[str, Gain]
    duels: dict[tuple[str, str], Duel]
    families: tuple[frozenset[str], ...]

    def rivals(self, agent: str) -> list[str]:
        """Whom it must beat to lead."""
        return [other for other in self.gains if other != agent and not self.alike(agent, other)]

    def alike(self, agent: str, other: str) -> bool:
        """Whether two are twins, or say the same."""
        known = self.duels.get((agent, other))
        twins = any({agent, other} <= family for family in self.families)
        return twins or (known is not None and known.same)

    def beats(self, agent: str, other: str) -> bool:
        """Whether it is ahead by more than chance, whatever else is compared."""
        known = self.duels.get((agent, other))
        if known is None or known.p is None or known.gap is None or known.p > LEVEL:
            return False
        return (known.gap > 0) is (known.a == agent)

    def open(self, agent: str) -> list[str]:
        """Whom it has not beaten, without the market."""
        return [other for other in self.rivals(agent) if not self.beats(agent, other)]


def lead(gains: Sequence[Gain], duels: Iterable[Duel], families: Iterable[Collection[str]] = ()) -> Verdict:
    """Who leads. `families` hold agents with the same settings; every pair has a duel."""
    players = [gain for gain in order(gains) if not gain.is_market]
    judged = [gain for gain in players if gain.reason is None]
    if not judged:
        return _too_early(players)
    known = {pair: one for one in duels for pair in ((one.a, one.b), (one.b, one.a))}
    field = _Field({g.agent: g for g in judged}, known, tuple(frozenset(family) for family in families))
    for gain in judged:
        if beats_market(gain) and not field.open(gain.agent):
            return _leads(gain, field, len(players) - len(judged))
    unbeaten = [g for g in judged if not any(field.beats(other, g.agent) for other in field.gains)]
    return _first((unbeaten or judged)[0], field, len(players) - len(judged))


def chance_each(gaps: int) -> float:
    """How surely each of some gaps must be found for all of them to be, nine times in ten.

    >>> chance_each(5)
    0.98
    """
    return 1 - (1 - _SURE) / gaps


def beats_market(gain: Gain) -> bool:
    """Whether it is closer to what happened than the market by more than chance."""
    return gain.skill is not None and gain.skill > 0 and gain.p is not None and gain.p <= LEVEL


def _too_early(players: Sequence[Gain]) -> Verdict:
    """Nobody can be judged."""
    ahead = next((gain for gain in players if gain.skill is not None), None)
    if ahead is None:
        return Verdict("nothing", None, None, (), None, "Nothing is resolved yet, so nobody leads.")
    most = max(gain.effective for gain in players)
    said = f"Nobody leads yet: the most that any agent has is {most:.1f} effective events, and {ENOUGH:.0f} "
    return Verdict("few", None, ahead.agent, (), None, f"{said}are the least from which anything follows.")


def _leads(gain: Gain, field: _Field, unjudged: int) -> Verdict:
    name, rivals = gain.agent, field.rivals(gain.agent)
    alike = [other for other in field.gains if other != name and field.alike(name, other)]
    them = "the other agent" if len(rivals) == 1 else f"each of {len(rivals)} others"
    said = f"{words.names([name, *alike])} {'lead' if alike else 'leads'} by more than chance would explain: "
    said += f"closer than the market by {words.span(gain)} over {gain.events} events"
    said += f", and closer than {them}." if rivals else "."
    return Verdict("leads", name, name, (), None, said + words.left_out(unjudged))


def _first(gain: Gain, field: _Field, unjudged: int) -> Verdict:
    """Someone is first on the board, and it isn't clear that this means anything."""
    unbeaten = (*(() if beats_market(gain) else ("the market",)), *field.open(gain.agent))
    found = f"{words.span(gain)} over {gain.events} events"
    if gain.skill is None or gain.skill <= 0:
        said = f"Nobody is ahead of the market: {gain.agent} is closest, at {found}."
        return Verdict("behind", None, gain.agent, unbeaten, None, said + words.left_out(unjudged))
    needed = _needed(gain, field)
    said = f"{gain.agent} is first, which says nothing yet: closer than the market by {found}, but not ahead "
    said += f"of {words.names(unbeaten)} by more than chance."
    said += "" if needed is None else f" With such gaps about {words.rough(needed)} more events would tell."
    return Verdict("open", None, gain.agent, unbeaten, needed, said + words.left_out(unjudged))


def _needed(gain: Gain, field: _Field) -> int | None:
    """Events until all that is open is told, with the chance that is wanted."""
    gaps = [] if beats_market(gain) else [(gain.skill, gain.error, gain.effective, gain.events)]
    for other in field.open(gain.agent):
        one = field.duels.get((gain.agent, other))
        if one is None or one.gap is None:
            return None
        gaps.append((one.gap if one.a == gain.agent else -one.gap, one.error, one.effective, one.events))
    chance = chance_each(len(field.rivals(gain.agent)) + 1)
    found = [
        None if not gap or gap < 0 or error is None else still_needed(gap, error, effective, events, chance)
        for gap, error, effective, events in gaps
    ]
    numbers = [number for number in found if number is not None]
    return max(numbers, default=None) if len(numbers) == len(found) else None
