"""Who leads, and whether that means anything: a verdict on every agent.

- Formula: an agent is *ahead* of the market if the lower end of its gain's 95% interval, by event, is
  above 0. It is *proven* if the lower end by weeks of resolution is above 0 too, over at least 8 weeks,
  and its evidence has reached the bar at any time (`evidence`, `entries`). It is *close* (too close to call)
  if its interval holds 0, *behind* if all of it is below 0, else *none*. The leader is the one that is
  proven and ahead of every other entry in a duel with p ≤ 0.05. Duels need no adjustment, as all must be
  significant at once. Events still needed are the most that `power` has for any of k open gaps, each found
  with a chance of 1 − 0.1/k.
- Direction: higher gains and gaps are better.
- Range: nobody leads, or one agent with its copies.
- Edge cases: an agent with too little for an interval (`events`) is not judged, and holds nobody up. Who
  copies the price can't be ahead of it, and has no verdict. A gap that goes the wrong way gives no number of
  events, and neither does one that would take more than 10,000: that cannot be told.
- Source: Gutmann and Maymin (1987) for testing the best against each other at the plain level.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import Literal

from arena.errors import count_text, times_text
from arena.record.model import cohort
from arena.scores.rules.comparisons.copies import PRICE, Copies
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.evidence import BAR, Evidence
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.power import missing_events
from arena.scores.rules.comparisons.weeks import ENOUGH_WEEKS
from arena.scores.rules.comparisons.wild_bootstrap import LEVEL
from markets.millionths import ONE

MIN_COVERAGE = cohort.MIN_COVERAGE / ONE
"""The share of what was shown and has resolved that an agent must have answered to be ranked."""
_NAMED = 3
_SURE = 0.9
"""The chance with which a leader should be named after as many events as are said to be needed."""
MOST_EVENTS = 10_000
"""More events than these are not foreseen: whether they would tell cannot be told."""
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

VerdictName = Literal["proven", "ahead", "close", "behind", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of an agent.

    `evidence` is its capital, `reached` when that came up to the bar, if ever.
    """

    name: VerdictName
    evidence: float
    reached: float | None
    copies: str | None


@dataclass(frozen=True, slots=True)
class LeadStatement:
    """The sentence, who leads by it, how many events are still needed, and the bar for evidence."""

    sentence: str
    leader: str | None = None
    events_needed: int | None = None
    bar: float = BAR


DuelOf = Callable[[str, str], Duel | None]


def verdicts(
    gains: Sequence[Gain], evidence: Mapping[str, Evidence], copies: Copies, bar: float
) -> dict[str, Verdict]:
    """The verdict on each ranked agent."""
    found = {}
    for gain in gains:
        capital = evidence[gain.agent]
        reached = capital.reached(bar)
        copied = copies.of.get(gain.agent)
        name = "none" if copied == PRICE else _verdict(gain, reached is not None)
        found[gain.agent] = Verdict(name, capital.now, reached, copied)
    return found


def _verdict(gain: Gain, is_reached: bool) -> VerdictName:
    if gain.low is None or gain.high is None:
        return "none"
    if gain.high < 0:
        return "behind"
    if gain.low <= 0:
        return "close"
    return "proven" if is_reached and gain.low_by_week is not None and gain.low_by_week > 0 else "ahead"


def lead(
    gains: Sequence[Gain],
    found: Mapping[str, Verdict],
    duel_of: DuelOf,
    copies: Copies,
    bar: float = BAR,
    unranked: int = 0,
) -> LeadStatement:
    """Who leads, by the gains of the ranked agents in the order of the board."""
    players = [gain for gain in gains if gain.agent not in copies.of]
    judged = [gain for gain in players if gain.reason is None]
    unjudged = len(players) - len(judged) if judged else 0
    notes = _notes(gains, copies, unjudged, unranked)
    if not judged:
        return LeadStatement(_too_early(gains, players, unranked) + notes, bar=bar)
    field = _Field(judged, found, duel_of)
    proven, ahead = (
        [gain for gain in judged if found[gain.agent].name == name] for name in ("proven", "ahead")
    )
    if proven:
        stated = _best_of(proven, field)
    elif ahead:
        stated = LeadStatement(_ahead(ahead, found[ahead[0].agent], bar))
    else:
        stated = _unproven(judged, field)
    return LeadStatement(stated.sentence + notes, stated.leader, stated.events_needed, bar)


@dataclass(frozen=True, slots=True)
class _Field:
    """Those who can be judged, and their duels."""

    judged: Sequence[Gain]
    verdicts: Mapping[str, Verdict]
    duel_of: DuelOf

    def gap(self, agent: str, other: str) -> float | None:
        """By how much it is closer than another one, as far as anyone knows."""
        duel = self.duel_of(agent, other)
        if duel is None or duel.gap is None:
            return None
        return duel.gap if duel.a == agent else -duel.gap

    def beats(self, agent: str, other: str) -> bool:
        """Whether it is ahead by more than chance, whatever else is compared."""
        duel = self.duel_of(agent, other)
        significant = duel is not None and duel.p is not None and duel.p <= LEVEL
        return significant and (self.gap(agent, other) or 0.0) > 0

    def open(self, agent: str) -> list[str]:
        """Whom it has not beaten."""
        others = [gain.agent for gain in self.judged if gain.agent != agent]
        return [other for other in others if not self.beats(agent, other)]

    def best(self, among: Sequence[Gain]) -> Gain:
        """The only one of these that can be ahead of all others, if any is."""
        first = among[0]
        for gain in among[1:]:
            if (self.gap(gain.agent, first.agent) or 0.0) > 0:
                first = gain
        return first

    def needed(self, gain: Gain, rivals: Sequence[str]) -> int | None:
        """Events until every open gap is told, with the chance that is wanted; None where no number tells."""
        gaps = [] if (gain.low or 0.0) > 0 else [(gain.skill, gain.error, gain.effective, gain.events)]
        for other in rivals:
            duel = self.duel_of(gain.agent, other)
            if duel is None:
                return None
            gaps.append((self.gap(gain.agent, other), duel.error, duel.effective, duel.events))
        chance = chance_each(len(self.judged))
        counts = [
            None
            if not gap or gap < 0 or error is None
            else missing_events(gap, error, effective, events, chance)
            for gap, error, effective, events in gaps
        ]
        numbers = [count for count in counts if count is not None and count <= MOST_EVENTS]
        return max(numbers, default=None) if len(numbers) == len(counts) else None


def chance_each(gaps: int) -> float:
    """How surely each of some gaps must be found for all of them to be, nine times in ten.

    >>> chance_each(5)
    0.98
    """
    return 1 - (1 - _SURE) / gaps


def _best_of(proven: Sequence[Gain], field: _Field) -> LeadStatement:
    best = field.best(proven)
    name, rivals = best.agent, field.open(best.agent)
    if not rivals:
        others = len(field.judged) - 1
        them = "the other agent" if others == 1 else f"each of the {others} others"
        sentence = f"{name} leads, and it is proven: it beats the market by {gain_text(best)}"
        return LeadStatement(sentence + (f" and {them}." if others else "."), name)
    needed = field.needed(best, rivals)
    if len(proven) == 1:
        sentence = f"{name} is proven to beat the market, by {gain_text(best)}. Whether it is better than "
        sentence += f"{list_names(rivals)} is too close to call."
    else:
        sentence = f"{_count(len(proven), 'agent')} are proven to beat the market. Which of them is best is "
        sentence += f"too close to call: {name} leads by {gain_text(best)}."
    return LeadStatement(sentence + _needed_text(needed), None, needed)


def _ahead(ahead: Sequence[Gain], verdict: Verdict, bar: float) -> str:
    """Somebody is ahead, and nobody is proven."""
    first, missing = ahead[0], missing_text(ahead[0], verdict, bar)
    if len(ahead) == 1:
        return f"{first.agent} is ahead of the market by {gain_text(first)}, not yet proven: {missing}."
    several = f"{_count(len(ahead), 'agent')} are ahead of the market, none of them proven yet"
    return f"{several}: {first.agent} leads by {gain_text(first)}; {missing}."


def missing_text(gain: Gain, verdict: Verdict, bar: float) -> str:
    """What an agent that is ahead still lacks to be proven."""
    if gain.weeks < ENOUGH_WEEKS:
        return f"too early, {gain.weeks} of {ENOUGH_WEEKS} weeks"
    if verdict.reached is None:
        return f"its evidence is {times_text(verdict.evidence)}, and proof takes {times_text(bar)}"
    return "its evidence is enough, but compared week by week its lead may be chance"


def _unproven(judged: Sequence[Gain], field: _Field) -> LeadStatement:
    """Nobody is ahead: someone may be, or all are behind."""
    first = judged[0]
    name, skill = first.agent, first.skill or 0.0
    if field.verdicts[name].name == "behind":
        nearest = max(judged, key=lambda gain: gain.skill or 0.0)
        closest = ", the closest," if len(judged) > 1 else ""
        gap, low, high = (None if x is None else -x for x in (nearest.skill, nearest.high, nearest.low))
        loss = gain_text(replace(nearest, skill=gap, low=low, high=high))
        return LeadStatement(f"No agent beats the market: {nearest.agent}{closest} is behind by {loss}.")
    so_far = f"{gain_text(first, '+')}."
    if len(judged) == 1:
        sentence = f"{name} is too close to the market to call: {so_far}"
    else:
        sentence = f"Nobody is ahead of the market yet: {name}, the first, is too close to call at {so_far}"
    if skill <= 0:
        return LeadStatement(sentence)
    needed = field.needed(first, [])
    return LeadStatement(sentence + _needed_text(needed), None, needed)


def _too_early(gains: Sequence[Gain], players: Sequence[Gain], unranked: int) -> str:
    """Nobody can be judged."""
    if not gains:
        return "Nobody leads." if unranked else "Nothing is resolved yet, so nobody leads."
    if all(gain.skill is None for gain in gains):
        return "Nothing is resolved yet, so nobody leads."
    if not players:
        return "Every ranked agent copies the price, so nobody leads."
    nearest = max(players, key=lambda gain: gain.effective)
    return f"Too early to rank: {nearest.reason}."


MOST_COPIES = 4
"""More copies are counted, not named."""


def _notes(gains: Sequence[Gain], copies: Copies, unjudged: int, unranked: int) -> str:
    """Who copies whom, and how many are left out."""
    by_head: dict[str, list[str]] = {}
    for gain in gains:
        if gain.agent in copies.of:
            by_head.setdefault(copies.of[gain.agent], []).append(gain.agent)
    copied = sum(map(len, by_head.values()))
    notes = [
        f"{list_names(names)} {'copies' if len(names) == 1 else 'copy'} {head}."
        for head, names in by_head.items()
    ]
    if copied > MOST_COPIES:
        notes = [f"{_count(copied, 'agent')} copy others."]
    if unjudged:
        notes.append(
            f"{_count(unjudged, 'agent')} {'has' if unjudged == 1 else 'have'} too few events to judge."
        )
    if unranked:
        notes.append(f"{_count(unranked, 'agent')} answered too little to be ranked.")
    return "".join(f" {note}" for note in notes)


def list_names(of: Sequence[str]) -> str:
    """Some of the names, and how many more.

    >>> list_names(["ann", "bob"]), list_names(["ann", "bob", "cho", "dan", "eve"])
    ('ann and bob', 'ann, bob, cho and 2 others')
    """
    names = list(of if len(of) <= _NAMED + 1 else of[:_NAMED])
    parts = names if len(names) == len(of) else [*names, f"{len(of) - len(names)} others"]
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]])


def _count(number: int, noun: str) -> str:
    """So many of something, at the beginning of a sentence.

    >>> _count(1, "agent"), _count(3, "agent"), _count(12, "agent")
    ('One agent', 'Three agents', '12 agents')
    """
    word = _WORDS[number].capitalize() if number < len(_WORDS) else f"{number:,}"
    return f"{word} {noun}" + ("" if number == 1 else "s")


def gain_text(gain: Gain, sign: str = "") -> str:
    """A gain with its interval and what it rests on."""
    skill, low, high = (f"{x or 0:{sign}.4f}" for x in (gain.skill, gain.low, gain.high))
    return f"{skill} (95% CI {low} to {high}, {count_text(gain.events, 'event')})"


def round_up(number: int) -> str:
    """Up to two digits that count.

    >>> round_up(7), round_up(321), round_up(12345)
    ('7', '330', '13,000')
    """
    unit: int = 10 ** max(int(log10(max(number, 1))) - 1, 0)
    return f"{ceil(number / unit) * unit:,}"


def _needed_text(needed: int | None) -> str:
    if needed is None:
        return " How many more events it would take cannot be told."
    return f" About {round_up(needed)} more events would tell."
