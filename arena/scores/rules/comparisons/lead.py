"""Who leads, and whether that means anything yet: one sentence over the board.

- Formula: an agent leads if its gain on the market is above 0 with p ≤ 0.05, and it is ahead of every other
  agent that can be judged, each with p ≤ 0.05: by their duel, or by way of the market (`indirect_duel`)
  where they have too few common events. These p-values are not adjusted for their number, because all must
  be small at once. Events still needed are those of `power` for every gap that is open, the largest of
  them, each found with a chance of 1 − 0.1/k where k gaps must all be found: then all are, with one of 90%.
- Direction: higher is better, of gains and gaps alike.
- Range: nobody, or one agent with those that say the same; in a season without skill somebody is named
  with a chance of at most 5%.
- Edge cases: under 20 effective events an agent is not judged, and holds nobody up. Agents that always say
  the market's price, or the leader's forecast, are no rivals, and neither are the leader's twins. An agent
  that bets on another's forecasts has no skill of its own and is passed over. Who is first without leading
  beyond chance is named with what is within chance: the first on the board whom nobody beats. A gap that
  goes the wrong way gives no number of events.
- Source: Gutmann and Maymin (1987): to say that the best one of a sample is the best of all, each comparison
  with the others at its plain level is enough.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import Literal

from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.power import missing_events
from arena.scores.rules.comparisons.ranks import order
from arena.scores.rules.comparisons.wild_bootstrap import LEVEL

_NAMED = 3


def list_names(of: Sequence[str]) -> str:
    """Some of the names, and how many more.

    >>> list_names(["ann", "bob"]), list_names(["ann", "bob", "cho", "dan", "eve"])
    ('ann and bob', 'ann, bob, cho and 2 others')
    """
    names = list(of if len(of) <= _NAMED + 1 else of[:_NAMED])
    parts = names if len(names) == len(of) else [*names, f"{len(of) - len(names)} others"]
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])


def gain_text(gain: Gain) -> str:
    """A gain with its interval and what it rests on."""
    interval = f"95% CI {gain.low:.4f} to {gain.high:.4f}, {gain.events} events"
    return f"{gain.skill:.4f} Brier points ({interval})"


def round_up(number: int) -> str:
    """Up to two digits that count.

    >>> round_up(7), round_up(321), round_up(12345)
    ('7', '330', '13,000')
    """
    unit: int = 10 ** max(int(log10(max(number, 1))) - 1, 0)
    return f"{ceil(number / unit) * unit:,}"


def unjudged_text(agents: int) -> str:
    """That so many can't be judged."""
    if not agents:
        return ""
    who = "One agent has" if agents == 1 else f"{agents} agents have"
    return f" {who} too few events to be judged."


LeadState = Literal["nothing", "few", "behind", "open", "leads"]
"""Nothing is resolved, too little is, nobody is ahead of the market, someone is first, someone leads."""

_SURE = 0.9
"""The chance with which a leader should be named after as many events as are said to be needed."""


@dataclass(frozen=True, slots=True)
class LeadStatement:
    """The sentence, and what it says for programs. `ahead` is first on the board, whether it leads or not."""

    state: LeadState
    leader: str | None
    ahead: str | None
    not_beaten: tuple[str, ...]
    events_needed: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class _Contenders:
    """Those who can be judged, and their duels from either side."""

    gains: dict[str, Gain]
    duels: dict[tuple[str, str], Duel]
    families: tuple[frozenset[str], ...]

    def rivals(self, agent: str) -> list[str]:
        """Whom it must beat to lead."""
        return [other for other in self.gains if other != agent and not self.alike(agent, other)]

    def alike(self, agent: str, other: str) -> bool:
        """Whether two are twins, or say the same."""
        duel = self.duels.get((agent, other))
        twins = any({agent, other} <= family for family in self.families)
        return twins or (duel is not None and duel.same)

    def beats(self, agent: str, other: str) -> bool:
        """Whether it is ahead by more than chance, whatever else is compared."""
        duel = self.duels.get((agent, other))
        return duel is not None and duel.p is not None and duel.p <= LEVEL and self.gap(agent, other) > 0

    def gap(self, agent: str, other: str) -> float:
        """By how much it is closer than another one, as far as anyone knows."""
        known = self.duels.get((agent, other))
        if known is None or known.gap is None:
            return 0.0
        return known.gap if known.a == agent else -known.gap

    def open(self, agent: str) -> list[str]:
        """Whom it has not beaten, without the market."""
        return [other for other in self.rivals(agent) if not self.beats(agent, other)]


def lead(
    gains: Sequence[Gain],
    duels: Iterable[Duel],
    families: Iterable[Collection[str]] = (),
    sources: Mapping[str, str] | None = None,
) -> LeadStatement:
    """Who leads. `families` hold agents with the same settings; every pair has a duel.

    `sources` has, for agents that are told another's forecasts, whose.
    """
    by_pair = {pair: one for one in duels for pair in ((one.a, one.b), (one.b, one.a))}
    copied = {pair for pair in (sources or {}).items() if pair in by_pair and by_pair[pair].same}
    copies = {agent for agent, _ in copied}
    players = [gain for gain in order(gains) if not gain.is_market and gain.agent not in copies]
    judged = [gain for gain in players if gain.reason is None]
    if not judged:
        return _too_early(players)
    field = _Contenders(
        {g.agent: g for g in judged}, by_pair, tuple(frozenset(family) for family in families)
    )
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


def _too_early(players: Sequence[Gain]) -> LeadStatement:
    """Nobody can be judged."""
    ahead = next((gain for gain in players if gain.skill is not None), None)
    if ahead is None:
        return LeadStatement("nothing", None, None, (), None, "Nothing is resolved yet, so nobody leads.")
    most = max(gain.effective for gain in players)
    sentence = f"Too early to rank: {most:.1f} effective events at most; {ENOUGH_EVENTS:.0f} are needed."
    return LeadStatement("few", None, ahead.agent, (), None, sentence)


def _leads(gain: Gain, field: _Contenders, unjudged: int) -> LeadStatement:
    name, rivals = gain.agent, field.rivals(gain.agent)
    alike = [other for other in field.gains if other != name and field.alike(name, other)]
    verbs, whose = ("lead and beat", "their") if alike else ("leads and beats", "its")
    sentence = f"{list_names([name, *alike])} {verbs} the market by {gain_text(gain)}"
    them = "the other agent" if len(rivals) == 1 else f"each of the {len(rivals)} other agents"
    sentence += f"; {whose} lead over {them} is significant." if rivals else "."
    return LeadStatement("leads", name, name, (), None, sentence + unjudged_text(unjudged))


def _first(gain: Gain, field: _Contenders, unjudged: int) -> LeadStatement:
    """Someone is first on the board, and not all of that is beyond chance."""
    name, sure, rivals = gain.agent, beats_market(gain), field.open(gain.agent)
    unbeaten = (*(() if sure else ("the market",)), *rivals)
    if gain.skill is None or gain.skill <= 0:
        sentence = f"No agent beats the market: {name} is closest, at {gain_text(gain)}."
        return LeadStatement("behind", None, name, unbeaten, None, sentence + unjudged_text(unjudged))
    needed = _needed(gain, field)
    sentence = f"{name} {'leads and beats' if sure else 'is ahead of'} the market by {gain_text(gain)}"
    ahead = all(field.gap(name, other) > 0 for other in rivals)
    over = f"its {'lead over' if ahead else 'gap to'} {list_names(rivals)}" if rivals else ""
    if sure:
        sentence += f"; {over} is within chance."
    else:
        sentence += f", which is within chance{f', as is {over}' if over else ''}."
    sentence += "" if needed is None else f" About {round_up(needed)} more events would settle it."
    return LeadStatement("open", None, name, unbeaten, needed, sentence + unjudged_text(unjudged))


def _needed(gain: Gain, field: _Contenders) -> int | None:
    """Events until all that is open is told, with the chance that is wanted."""
    gaps = [] if beats_market(gain) else [(gain.skill, gain.error, gain.effective, gain.events)]
    for other in field.open(gain.agent):
        one = field.duels.get((gain.agent, other))
        if one is None or one.gap is None:
            return None
        gaps.append((field.gap(gain.agent, other), one.error, one.effective, one.events))
    chance = chance_each(len(field.rivals(gain.agent)) + 1)
    counts = [
        None if not gap or gap < 0 or error is None else missing_events(gap, error, effective, events, chance)
        for gap, error, effective, events in gaps
    ]
    numbers = [number for number in counts if number is not None]
    return max(numbers, default=None) if len(numbers) == len(counts) else None
