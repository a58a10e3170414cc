"""The verdict of a season: who forecasts better than whom and than the market price, in figures and words.

It is computed once, when a round ends or a file is scored. Terminal, pages, reports and exports only render
it, and never word such a sentence themselves.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from typing import Any, Literal

from arena.errors import NaturalKey, count_text, natural_key
from arena.record.model import cohort
from arena.scores.rules._columns import highest_first
from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.duel_evidence import MOST_ENTRIES, PairEvidence
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from markets.millionths import ONE

MIN_COVERAGE = cohort.MIN_COVERAGE / ONE
"""The share of what was shown and has resolved that an agent must have answered to be ranked."""
GUARANTEE = (
    "Each “better than” holds however often one looks: the chance that any of them is wrong is at most 5% "
    "among agents, and at most 5% against the price."
)
"""The guarantee that goes with every “better than”."""
RANK_ORDER = "Sorted by rank, then by the lower end of the interval."
INTERVAL_ORDER = "Sorted by the lower end of the interval."
"""The order of a board with ranks, and of one without."""
_NOT_YET = f"nothing is ranked before {ENOUGH_EVENTS:.0f} events have resolved."
EARLY_ORDERS = {
    True: f"Provisional, sorted by profit: {_NOT_YET}",
    False: f"Provisional, sorted by names: {_NOT_YET}",
}
"""The order of a board while nothing is ranked: with money, and without."""
EARLY_BRIER_ORDER = f"Provisional, in the order of the Brier score: {_NOT_YET}"
"""The same of a board of all kinds of questions."""
_NAMED = 3
"""The number of names that are listed; further ones are counted."""
_MOST_COPIES = 4
"""More copies than these are counted, not named."""
_ROUNDING = 1e-12
"""Skills that differ by no more than this are equal."""

Standing = Literal["better", "worse", "open", "none"]
"""An agent's standing against the market price: better, worse, undecided, or not compared."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent as input to the verdict.

    `why_not` is the reason why it is not ranked; it `is_waiting` if nothing of its has resolved. `copies` is
    the agent, or the price, that it repeats. `skill` is its mean score, higher being better, and `skill_low`
    the lower end of its interval.
    """

    agent: str
    is_reference: bool = False
    why_not: str | None = None
    copies: str | None = None
    skill: float | None = None
    skill_low: float | None = None
    is_waiting: bool = False

    @property
    def is_entry(self) -> bool:
        """Tell whether the agent has a rank of its own."""
        return not self.is_reference and self.why_not is None and self.copies is None


@dataclass(frozen=True, slots=True)
class SeasonState:
    """The progress of a season, which the verdict reports while there is nothing to compare.

    `expected` is when a first verdict may come, by the closing days of the markets shown. `order` is what the
    order goes by if everything resolved is numeric, which has no Brier score.
    """

    turns: int = 0
    unanswered_turns: int = 0
    resolved_events: int = 0
    expected: datetime | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """The verdict on one agent.

    `rank_low` and `rank_high` are the first and last rank that the decided pairs allow among `entries`; both
    are None if it is not ranked. `better_than`, `worse_than` and `untold` name the other entries. `sentence`
    is about them, `price_sentence` about the market price.
    """

    agent: str
    rank_low: int | None
    rank_high: int | None
    entries: int
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]
    untold: tuple[str, ...]
    copies: str | None
    price: Standing
    sentence: str
    price_sentence: str

    @property
    def guarantee(self) -> str:
        """Return the guarantee; an empty text if nothing is decided about the agent."""
        if self.better_than or self.worse_than or self.price in ("better", "worse"):
            return GUARANTEE
        return ""

    @property
    def row_fields(self) -> dict[str, Any]:
        """Return the fields that a row of scores takes from the verdict, by their names there."""
        return {
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            "better_than": self.better_than,
            "worse_than": self.worse_than,
            "price": self.price,
            "verdict": self.sentence,
            "price_verdict": self.price_sentence,
        }

    @property
    def rank_text(self) -> str:
        """Return its possible ranks, such as "1–3"."""
        return rank_text(self.rank_low, self.rank_high)

    @property
    def better_text(self) -> str:
        """Return how many of the other entries it is better than, such as "2 of 4"; empty without others."""
        if self.rank_low is None or self.entries < 2:
            return ""
        return better_text(self.better_than, self.entries)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on two agents.

    `since` is the time of the first look that decided it; until then it is None, and `better` is the one
    closer so far. `by` is the mean Brier gain on common rows, `coverage` the share of rows that are common,
    and `weeks_more` how many more weeks a decision takes at this pace: infinity if the gap is too small.
    """

    better: str
    worse: str
    by: float
    since: str | None
    coverage: float
    weeks_more: float | None = None
    note: str | None = None

    @property
    def sentence(self) -> str:
        """Return the sentence on who forecasts better, or on when that may be decided."""
        if self.since is None:
            return f"{self.better} and {self.worse} cannot be told apart yet ({pace_text(self.weeks_more)})."
        on = f", {self.note}" if self.note else ""
        return f"{self.better} forecasts better than {self.worse}{_since_text([self])}{on}."


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who is better than whom.

    `agents` are in the order of the board; `pairs` are those of entries, decided ones first. `leader` is
    better than every other entry. `sentence` is the headline, and `guarantee` its certainty if anything is
    decided.
    """

    sentence: str = "Nothing has resolved yet, so there is nothing to compare."
    guarantee: str = ""
    leader: str | None = None
    agents: tuple[AgentVerdict, ...] = ()
    pairs: tuple[PairVerdict, ...] = ()

    def of(self, agent: str) -> AgentVerdict | None:
        """Return the verdict on an agent; None if there is none."""
        return next((verdict for verdict in self.agents if verdict.agent == agent), None)

    def pair(self, agent: str, rival: str) -> PairVerdict | None:
        """Return the verdict on two entries; None if they have nothing in common."""
        return next((pair for pair in self.pairs if {pair.better, pair.worse} == {agent, rival}), None)

    @property
    def told(self) -> tuple[PairVerdict, ...]:
        """Return the pairs that are decided."""
        return tuple(pair for pair in self.pairs if pair.since is not None)


PAIR_KEYS = ("better", "worse", "by", "since", "coverage", "note")
"""The fields of a decided pair in JSON."""


def verdict_data(verdict: Verdict | None) -> dict[str, Any]:
    """Return the parts of a verdict that are not in rows of scores as JSON: sentences, leader, decided pairs.

    Without a verdict all fields are null or empty.
    """
    if verdict is None:
        return {"sentence": None, "guarantee": None, "leader": None, "pairs": []}

    return {
        "sentence": verdict.sentence,
        "guarantee": verdict.guarantee,
        "leader": verdict.leader,
        "pairs": [_pair_data(pair) for pair in verdict.told],
    }


def _pair_data(pair: PairVerdict) -> dict[str, Any]:
    """Return a decided pair as JSON."""
    return {key: getattr(pair, key) for key in PAIR_KEYS}


def _iso_time(at: float) -> str:
    """Return seconds since 1970 as an ISO date and time."""
    return datetime.fromtimestamp(at, UTC).isoformat()


def make_verdict(
    candidates: Sequence[Candidate],
    pairs: Sequence[PairEvidence],
    against_price: Sequence[PairEvidence] | None,
    state: SeasonState = SeasonState(),
    time_text: Callable[[float], str] = _iso_time,
) -> Verdict:
    """Return the verdict on agents, given the evidence of each pair and of each against the price.

    Agents are ordered by their possible ranks, then by the lower end of their skill's interval. References,
    copies and agents that answered too little have no rank, and come last. Without a price, nothing is said
    about it.
    """
    all_pairs = [_pair_verdict(pair, time_text) for pair in pairs]
    entry_names = {candidate.agent for candidate in candidates if candidate.is_entry}
    pairs_of_entries = [pair for pair in all_pairs if {pair.better, pair.worse} <= entry_names]
    price_pair_of: dict[str, PairVerdict] | None = None
    if against_price is not None:
        price_pair_of = {_agent_of(pair): _pair_verdict(pair, time_text) for pair in against_price}

    agents: list[AgentVerdict] = []
    for candidate in candidates:
        agent = _agent_verdict(candidate, entry_names, pairs_of_entries)
        if price_pair_of is not None:
            agent = _with_price(agent, price_pair_of.get(agent.agent))
        agents.append(agent)
    candidate_of = {candidate.agent: candidate for candidate in candidates}
    agents.sort(key=lambda verdict: _board_order(verdict, candidate_of[verdict.agent]))

    entries = [verdict for verdict in agents if verdict.rank_low is not None]
    leader = None
    if len(entries) > 1 and entries[0].rank_high == 1:
        leader = entries[0].agent
    headline = _headline(entries, pairs_of_entries, price_pair_of, candidates, state)

    return Verdict(
        sentence=" ".join([headline, *_candidate_notes(candidates), *_notes_on_many(entries)]),
        guarantee=max((entry.guarantee for entry in entries), default=""),
        leader=leader,
        agents=tuple(agents),
        pairs=tuple(all_pairs),
    )


def _pair_verdict(pair: PairEvidence, time_text: Callable[[float], str]) -> PairVerdict:
    """Return a pair with the time of its decision as text."""
    since = None if pair.since is None else time_text(pair.since)
    return PairVerdict(pair.better, pair.worse, pair.by, since, pair.coverage, pair.weeks_more, pair.note)


def _agent_of(pair: PairEvidence) -> str:
    """Return the agent of a pair whose other side is the price."""
    if pair.better == PRICE:
        return pair.worse
    return pair.better


def _board_order(verdict: AgentVerdict, candidate: Candidate) -> tuple[bool, int, float, float, NaturalKey]:
    """Return a sort key: the best ranks first, then the highest lower end of the skill, then names."""
    has_rank = verdict.rank_low is not None and verdict.rank_high is not None
    ranks = (verdict.rank_low or 0) + (verdict.rank_high or 0)
    return (
        not has_rank,
        ranks,
        highest_first(candidate.skill_low),
        highest_first(candidate.skill),
        natural_key(verdict.agent),
    )


@dataclass(frozen=True, slots=True)
class _OwnPairs:
    """The pairs of one agent: those in which it is better, worse, or undecided."""

    better: list[PairVerdict] = field(default_factory=list)
    worse: list[PairVerdict] = field(default_factory=list)
    open: list[PairVerdict] = field(default_factory=list)

    @classmethod
    def of(cls, agent: str, pairs: Sequence[PairVerdict]) -> "_OwnPairs":
        """Return the pairs that contain an agent."""
        own = cls()
        for pair in pairs:
            if agent not in (pair.better, pair.worse):
                continue
            if pair.since is None:
                own.open.append(pair)
            elif pair.better == agent:
                own.better.append(pair)
            else:
                own.worse.append(pair)
        return own


def _agent_verdict(candidate: Candidate, entry_names: set[str], pairs: Sequence[PairVerdict]) -> AgentVerdict:
    """Return the verdict on an agent among the entries of these names."""
    own_pairs = _OwnPairs.of(candidate.agent, pairs)
    better_than = tuple(pair.worse for pair in own_pairs.better)
    worse_than = tuple(pair.better for pair in own_pairs.worse)
    verdict = AgentVerdict(
        agent=candidate.agent,
        rank_low=None,
        rank_high=None,
        entries=len(entry_names),
        better_than=better_than,
        worse_than=worse_than,
        untold=(),
        copies=candidate.copies,
        price="none",
        sentence=_no_rank_sentence(candidate),
        price_sentence="",
    )
    if not candidate.is_entry:
        return verdict

    untold = tuple(sorted(entry_names - {candidate.agent, *better_than, *worse_than}, key=natural_key))
    return replace(
        verdict,
        rank_low=1 + len(worse_than),
        rank_high=len(entry_names) - len(better_than),
        untold=untold,
        sentence=_rivals_sentence(own_pairs, untold),
    )


def _with_price(verdict: AgentVerdict, price: PairVerdict | None) -> AgentVerdict:
    """Return an agent's verdict with its standing against the market price, if it is an entry."""
    if verdict.rank_low is None:
        return verdict
    if price is None:
        sentence = "None of its forecasts has been compared with the market price."
        return replace(verdict, price_sentence=sentence)
    if price.since is None:
        sentence = f"Cannot be told apart from the market price yet ({pace_text(price.weeks_more)})."
        return replace(verdict, price="open", price_sentence=sentence)

    standing: Standing = "worse"
    if price.better == verdict.agent:
        standing = "better"
    sentence = f"{standing.capitalize()} than the market price{_since_text([price])}."
    return replace(verdict, price=standing, price_sentence=sentence)


def _no_rank_sentence(candidate: Candidate) -> str:
    """Return the sentence on why an agent has no rank."""
    if candidate.is_reference:
        return "A reference to compare agents with; it is not ranked."
    if candidate.copies is not None:
        return f"It copies {candidate.copies}, so it is not ranked separately."
    return f"Not ranked: {candidate.why_not}."


def _rivals_sentence(own_pairs: _OwnPairs, untold: Sequence[str]) -> str:
    """Return the sentence on whom an agent is better and worse than, and which rivals are undecided."""
    rival_count = len(own_pairs.better) + len(own_pairs.worse) + len(untold)
    if not rival_count:
        return "There is no other entry to compare it with."
    if not own_pairs.better and not own_pairs.worse and not own_pairs.open:
        return "No forecast in common with the others has been compared yet."

    parts = []
    if own_pairs.better:
        names = [pair.worse for pair in own_pairs.better]
        parts.append(f"better than {_rivals_text(names, rival_count)}{_since_text(own_pairs.better)}")
    if own_pairs.worse:
        names = [pair.better for pair in own_pairs.worse]
        parts.append(f"worse than {_rivals_text(names, rival_count)}{_since_text(own_pairs.worse)}")
    if untold:
        pace = soonest_text(own_pairs.open, several=len(untold) > 1)
        parts.append(f"cannot be told apart from {_rivals_text(untold, rival_count, 'any')} yet ({pace})")
    return _as_sentence("; ".join(parts))


def _headline(
    entries: Sequence[AgentVerdict],
    pairs: Sequence[PairVerdict],
    price_pair_of: Mapping[str, PairVerdict] | None,
    candidates: Sequence[Candidate],
    state: SeasonState,
) -> str:
    """Return the first sentences: who is better than whom, and whether anyone beats the price."""
    players = [candidate for candidate in candidates if not candidate.is_reference]
    if not players:
        which = "Only references have" if candidates else "No agent has"
        return f"{which} played yet."
    if state.turns and state.turns == state.unanswered_turns:
        turns = count_text(state.turns, "turn")
        return f"No agent gave a usable answer in {turns}, so nothing is compared: arena status says why."
    if state.order is not None:
        return _order_sentence(players, state.order)
    if not state.resolved_events:
        return f"Nothing has resolved yet, so there is nothing to compare.{_expected_sentence(state)}"
    if not entries:
        return _nobody_sentence(players)
    if len(entries) == 1:
        return f"{entries[0].agent}: {_lower_first(entries[0].price_sentence or entries[0].sentence)}"

    best = _best_agents(entries, candidates)
    leader = _leader_sentence(entries, pairs, best, state)
    if price_pair_of is None:
        return leader
    return f"{leader} {_price_sentence(entries, price_pair_of, best[0])}"


def _best_agents(entries: Sequence[AgentVerdict], candidates: Sequence[Candidate]) -> list[str]:
    """Return the first entry if it is better than another, else those with the highest skill.

    The first row has the highest lower end of an interval, and need not be among them.
    """
    names = {entry.agent for entry in entries}
    skills = {own.agent: own.skill for own in candidates if own.agent in names and own.skill is not None}
    if entries[0].better_than or not skills:
        return [entries[0].agent]

    highest = max(skills.values())
    # Skills that differ only by rounding are equal.
    best = {name for name, skill in skills.items() if highest - skill <= _ROUNDING}
    return [entry.agent for entry in entries if entry.agent in best]


def _leader_sentence(
    entries: Sequence[AgentVerdict],
    pairs: Sequence[PairVerdict],
    best_agents: Sequence[str],
    state: SeasonState,
) -> str:
    """Return the sentence on the first entry and those it is better than, or on the best so far."""
    first = entries[0]
    if not first.better_than:
        several = len(entries) > 2
        pace = soonest_text(pairs, several=several)
        so_far = f"{_names_with_verb(best_agents, 'forecasts', 'forecast')} best so far, which may be chance."
        subject = "No two agents can" if several else f"{first.agent} and {entries[1].agent} cannot"
        return f"{subject} be told apart yet ({pace}). {so_far}{_expected_sentence(state)}"

    sentence = f"{first.agent} forecasts better than {_rivals_text(first.better_than, len(entries) - 1)}"
    if first.untold:
        own_pairs = _OwnPairs.of(first.agent, pairs)
        pace = soonest_text(own_pairs.open, several=len(first.untold) > 1)
        sentence += f", and cannot be told apart from {list_names(first.untold)} yet ({pace})"
    return f"{sentence}."


def _price_sentence(
    entries: Sequence[AgentVerdict], price_pair_of: Mapping[str, PairVerdict], agent: str
) -> str:
    """Return the sentence on which entries are better than the market price; if none is, on this agent."""
    better = [entry.agent for entry in entries if entry.price == "better"]
    worse = [entry.agent for entry in entries if entry.price == "worse"]
    if not price_pair_of:
        return "None of their forecasts has been compared with the market price."
    if better == [entries[0].agent] and entries[0].better_than:
        return "It is better than the market price, too."
    if better:
        return f"{_names_with_verb(better, 'forecasts', 'forecast')} better than the market price."
    if len(worse) == len(entries):
        return "The market price is better than each of them."

    best_pair = price_pair_of.get(agent)
    so_far = f"{agent}: {pace_text(None if best_pair is None else best_pair.weeks_more)}"
    if best_pair is not None and best_pair.better != agent:
        so_far = f"{agent} is behind it so far"
    sentence = f"None has been shown to beat the market price yet ({so_far})."
    if worse:
        sentence += f" The price is better than {list_names(worse)}."
    return sentence


def _order_sentence(players: Sequence[Candidate], order: str) -> str:
    """Return the sentence on what the order goes by if nobody has a Brier score."""
    if len(players) == 1:
        return "Numbers have no Brier score, so there is nothing to compare."
    return f"Numbers have no Brier score, so no two forecasters can be told apart: the order goes by {order}."


def _nobody_sentence(players: Sequence[Candidate]) -> str:
    """Return the sentence on why none of these agents has a rank."""
    if all(player.copies == PRICE for player in players):
        return "Every agent copies the market price, so there is nothing to compare."
    return "No agent has answered enough to be compared."


def _expected_sentence(state: SeasonState) -> str:
    """Return the sentence on when enough events may have resolved, if the markets' closing days tell."""
    if state.expected is None:
        return ""
    return (
        f" A verdict takes {ENOUGH_EVENTS:.0f} resolved events or more, by about {day_text(state.expected)}."
    )


def _candidate_notes(candidates: Sequence[Candidate]) -> list[str]:
    """Return sentences on who copies whom, and on how many are not ranked."""
    copies_of: dict[str, list[str]] = {}
    for candidate in candidates:
        if candidate.copies is not None and not candidate.is_reference:
            copies_of.setdefault(candidate.copies, []).append(candidate.agent)

    notes = []
    copy_count = sum(map(len, copies_of.values()))
    if copy_count > _MOST_COPIES:
        notes.append(f"{count_text(copy_count, 'agent')} copy others.")
    else:
        for original, names in copies_of.items():
            notes.append(f"{_names_with_verb(names, 'copies', 'copy')} {original}.")

    players = [candidate for candidate in candidates if not candidate.is_reference]
    unranked = [player for player in players if player.why_not is not None]
    # Where nobody is ranked the headline says so.
    if len(unranked) == len(players):
        return notes

    waiting = [player.agent for player in unranked if player.is_waiting]
    if waiting:
        notes.append(f"{_names_with_verb(waiting, 'has', 'have')} no result yet.")
    if len(unranked) > len(waiting):
        too_little = count_text(len(unranked) - len(waiting), "agent")
        notes.append(f"{too_little} answered too little to be ranked.")
    return notes


def _notes_on_many(entries: Sequence[AgentVerdict]) -> list[str]:
    """Return a sentence that not all entries are compared, if there are too many."""
    if len(entries) <= MOST_ENTRIES:
        return []
    return [f"Only the first {MOST_ENTRIES} entries are compared with one another."]


def duel_sentences(duel: Duel, verdict: Verdict) -> list[str]:
    """Return the sentences on the basis of a comparison, the size of the gap, and who is better."""
    if duel.gap is None:
        return [f"No comparison of {duel.a} and {duel.b}: {duel.reason}."]
    if duel.same:
        return [duel_basis(duel), EVEN_SENTENCE]
    return [duel_basis(duel), gap_sentence(duel), duel_verdict(duel.a, duel.b, verdict)]


EVEN_SENTENCE = "Their forecasts are identical."


def duel_basis(duel: Duel) -> str:
    """Return the sentence on the forecasts, markets and events behind a comparison."""
    common = count_text(duel.rows, "common forecast")
    how = f"on {common}" if duel.by == "rows" else "by the skill of each on its own markets"
    markets = count_text(duel.markets, "market")
    events = count_text(duel.events, "event")
    return f"{duel.a} against {duel.b}, {how}: {markets}, {events} ({duel.effective:.1f} effective)."


def gap_sentence(duel: Duel) -> str:
    """Return the sentence on who was closer and by how much, with the interval at this look."""
    gap = duel.gap or 0.0
    sentence = f"{duel.a} and {duel.b} were equally close"
    if abs(gap) > _ROUNDING:
        # The one that was closer is named first.
        if gap < 0:
            duel = duel.reversed()
        sentence = f"{duel.a} was closer by {abs(gap):.4f} Brier points"

    if duel.low is None or duel.high is None:
        return f"{sentence}; no interval yet: {duel.reason}."
    return f"{sentence} (95% CI at this look: {duel.low:+.4f} to {duel.high:+.4f})."


def duel_verdict(agent: str, rival: str, verdict: Verdict) -> str:
    """Return the sentence on which of two is better, or on why that is undecided."""
    pair = verdict.pair(agent, rival)
    if pair is not None:
        return pair.sentence
    for name in (agent, rival):
        agent_verdict = verdict.of(name)
        if agent_verdict is not None and agent_verdict.rank_low is None:
            return f"{name}: {_lower_first(agent_verdict.sentence)}"
    return f"{agent} and {rival} cannot be told apart yet ({pace_text(None)})."


def rank_text(low: int | None, high: int | None) -> str:
    """Return an agent's possible ranks; an empty text if it has none.

    >>> rank_text(1, 3), rank_text(2, 2), rank_text(None, None)
    ('1–3', '2', '')
    """
    if low is None:
        return ""
    return f"{low}" if low == high else f"{low}–{high}"


def better_text(better_than: Sequence[str], entries: int) -> str:
    """Return how many of the other entries an agent is better than.

    >>> better_text(["ann", "bob"], 5)
    '2 of 4'
    """
    return f"{len(better_than)} of {entries - 1}"


def is_early(events: Iterable[int]) -> bool:
    """Tell whether too few events have resolved for a board with ranks, by the events of each row.

    >>> is_early([0, 19]), is_early([0, 20]), is_early([])
    (True, False, True)
    """
    return max(events, default=0) < ENOUGH_EVENTS


def profit_order(
    agent: str, profit: float | None, is_reference: bool
) -> tuple[bool, bool, float, NaturalKey]:
    """Return the sort key of an agent on a board without ranks; references come last, in their order."""
    if is_reference:
        return True, False, 0.0, ("", "")
    return False, profit is None, -(profit or 0.0), natural_key(agent)


def brier_order(agent: str, brier: float | None) -> tuple[bool, float, str]:
    """Return the sort key of an agent on a board of all kinds without ranks."""
    return brier is None, brier or 0.0, agent


def pace_text(weeks: float | None) -> str:
    """Return how long a decision would take at this pace, if the season went on.

    >>> pace_text(None), pace_text(inf)
    ('too early to say when', 'likely never: the gap is too small')
    >>> pace_text(0.4), pace_text(5.6), pace_text(33)
    ('would take about one more week', 'would take about 6 more weeks', 'would take about 30 more weeks')
    """
    if weeks is None:
        return "too early to say when"
    if weeks == inf:
        return "likely never: the gap is too small"
    whole_weeks = max(round(weeks), 1)
    if whole_weeks == 1:
        return "would take about one more week"
    if whole_weeks >= 20:
        # A pace is a guess: many weeks are told in tens.
        whole_weeks = round(weeks / 10) * 10
    return f"would take about {whole_weeks} more weeks"


def soonest_text(pairs: Iterable[PairVerdict], *, several: bool) -> str:
    """Return when the first of some pairs would be decided at this pace.

    >>> far = PairVerdict("ann", "bob", 0.001, None, 1.0, weeks_more=inf)
    >>> near = PairVerdict("ann", "cy", 0.01, None, 1.0, weeks_more=9.0)
    >>> soonest_text([far, near], several=True), soonest_text([far, far], several=True)
    ('the first would take about 9 more weeks', 'likely never: the gaps are too small')
    """
    weeks = [pair.weeks_more for pair in pairs if pair.weeks_more is not None]
    soonest = min(weeks, default=None)
    if not several or soonest is None:
        return pace_text(soonest)
    if soonest == inf:
        return "likely never: the gaps are too small"
    return f"the first {pace_text(soonest)}"


def list_names(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are.

    >>> list_names(["ann", "bob"]), list_names(["ann", "bob", "cho", "dan", "eve"])
    ('ann and bob', 'ann, bob, cho and 2 others')
    """
    shown = list(names)
    if len(names) > _NAMED + 1:
        shown = [*names[:_NAMED], f"{len(names) - _NAMED} others"]
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _names_with_verb(names: Sequence[str], one: str, several: str) -> str:
    """Return names with a verb that agrees in number.

    >>> _names_with_verb(["ann"], "copies", "copy"), _names_with_verb(["ann", "bob"], "copies", "copy")
    ('ann copies', 'ann and bob copy')
    """
    verb = one if len(names) == 1 else several
    return f"{list_names(names)} {verb}"


def _rivals_text(names: Sequence[str], rivals: int, every: Literal["each", "any"] = "each") -> str:
    """Return the names, or that they are all others.

    >>> _rivals_text(["ann", "bob", "cho"], 3), _rivals_text(["ann", "bob"], 2), _rivals_text(["ann"], 3)
    ('each of the 3 others', 'ann and bob', 'ann')
    """
    if len(names) == rivals and rivals > 2:
        return f"{every} of the {rivals} others"
    return list_names(names)


def _since_text(pairs: Sequence[PairVerdict]) -> str:
    """Return since when all of these pairs have been decided; the pairs are in the order of decisions."""
    last = pairs[-1].since
    if last is None:
        return ""
    try:
        return f" since {day_text(datetime.fromisoformat(last))}"
    except ValueError:  # a file may have numbers for times, or no times at all
        return ""


def day_text(at: datetime) -> str:
    """Return a day in words.

    >>> day_text(datetime(2026, 3, 12))
    '12 March 2026'
    """
    return f"{at.day} {at:%B %Y}"


def _as_sentence(text: str) -> str:
    """Return a text as a sentence: with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def _lower_first(text: str) -> str:
    """Return a sentence with a lower-case first letter, to follow a colon."""
    return f"{text[:1].lower()}{text[1:]}"


def duel_data(duel: Duel, verdict: Verdict) -> dict[str, Any]:
    """Return a duel as JSON: the figures of this look, and the verdict on the pair.

    `weeks_more` is null if it is too early to say, and if a decision is unlikely ever.
    """
    data: dict[str, Any] = asdict(duel)
    del data["p"]
    data["pair"] = None
    data["sentence"] = duel_verdict(duel.a, duel.b, verdict)

    pair = verdict.pair(duel.a, duel.b)
    if pair is not None:
        never = pair.since is None and pair.weeks_more == inf
        data["pair"] = asdict(pair) | {"told": pair.since is not None, "never": never}
        if never:
            data["pair"]["weeks_more"] = None
    return data
