"""Recorded decisions under other rules or with other stakes, compared with what was played."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from arena.errors import ArenaError
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.rounds.entrant_seasons import EntrantSeason, read_entrant_seasons
from arena.rounds.turns import CLOSED_CODE, CLOSED_WORDS
from markets.millionths import ONE
from portfolio.model import Rejection
from portfolio.money import dollars, percent
from portfolio.rules import Rules, changed_rules
from portfolio.whatif import Sizing, WhatIfOutcome, as_recorded, flat_stake, kelly_stake, replay

Stakes = Literal["as-bet", "flat", "quarter-kelly"]


@dataclass(frozen=True, slots=True)
class Change:
    """The rules to start from (None: each cohort's own), values changed in them, and how much is bet."""

    start_from: Rules | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    stakes: Stakes = "as-bet"
    stake: int = 100 * ONE

    def rules(self, own: Rules) -> Rules:
        """Return the rules that replace a cohort's own."""
        return changed_rules(self.start_from or own, self.values)

    @property
    def sizing(self) -> Sizing:
        """Return the function that decides how much is bet."""
        if self.stakes == "flat":
            return flat_stake(self.stake)
        return kelly_stake if self.stakes == "quarter-kelly" else as_recorded


def change_in_words(change: Change, own: Sequence[Rules]) -> str:
    """Return one sentence on what is different from how cohorts with these rules were played.

    >>> from portfolio.rules import REALISTIC
    >>> change_in_words(Change(values={"max_bet": 100_000}, stakes="flat"), [REALISTIC])
    'Changed: max bet 10% instead of 25%; every bet $100.00.'
    """
    parts = [_rule_difference_in_words(name, change, own) for name in Rules.model_fields if name != "name"]
    parts.append(_stakes_in_words(change))

    differences = "; ".join(filter(None, parts))
    return f"Changed: {differences}." if differences else "Nothing changed."


def _rule_difference_in_words(name: str, change: Change, own: Sequence[Rules]) -> str:
    """Return in words how a rule differs from those of the cohorts; empty if it doesn't."""
    old_values = []
    new_values = []
    for rules in own:
        old = getattr(rules, name)
        new = getattr(change.rules(rules), name)
        if new != old:
            old_values.append(_rule_value_in_words(name, old))
            new_values.append(_rule_value_in_words(name, new))

    if not new_values:
        return ""
    old_text = " or ".join(dict.fromkeys(old_values))
    return f"{name.replace('_', ' ')} {new_values[0]} instead of {old_text}"


def _rule_value_in_words(name: str, value: Any) -> str:
    """Return the value of a rule in words."""
    if name.startswith("max_of_volume"):
        return "no limit" if value is None else percent(value)
    if name == "max_bet":
        return percent(value)
    if name == "max_quote_age":
        return f"{value:,} s"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return dollars(value) if isinstance(value, int) else str(value)


def _stakes_in_words(change: Change) -> str:
    """Return in words how the stakes differ from those that were bet; empty if they don't."""
    match change.stakes:
        case "as-bet":
            return ""
        case "flat":
            return f"every bet {dollars(change.stake)}"
        case "quarter-kelly":
            return "new bets at a quarter of the Kelly stake on the stated probabilities, and no sales"


@dataclass(frozen=True, slots=True)
class WhatIfTotals:
    """The totals of a season: profit in millionths, how many orders were filled, and which were refused."""

    profit: int
    filled: int
    refused: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class WhatIfEntry:
    """One entrant of one cohort, as played and under the change (None: it stated nothing to bet on).

    `exact` says that the record, played again by its own rules, gave its own ledger to the last hash.
    """

    agent: str
    cohort: int
    exact: bool
    played: WhatIfTotals
    changed: WhatIfTotals | None


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """What was changed, in a sentence, and the totals of every entrant."""

    sentence: str
    rows: tuple[WhatIfEntry, ...]


def sum_entries(rows: Sequence[WhatIfEntry]) -> tuple[WhatIfTotals, WhatIfTotals | None]:
    """Return the totals of these entrants together, as played and under the change.

    The latter are None if one of them stated nothing to bet on.
    """
    played = _sum_totals([row.played for row in rows])
    changed = [row.changed for row in rows if row.changed is not None]
    if len(changed) < len(rows):
        return played, None
    return played, _sum_totals(changed)


def _sum_totals(totals: Sequence[WhatIfTotals]) -> WhatIfTotals:
    """Return the totals of several seasons together."""
    profit = 0
    filled = 0
    refused: list[Rejection] = []
    for total in totals:
        profit += total.profit
        filled += total.filled
        refused += total.refused
    return WhatIfTotals(profit, filled, tuple(refused))


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """How often a reason refused an order, as played and under the change, with an example of its words."""

    code: str
    refused: int
    refused_then: int
    example: str


def count_refusals(rows: Sequence[WhatIfEntry]) -> list[RefusalCount]:
    """Return how often each reason refused an order of these entrants, the most frequent first."""
    played: list[Rejection] = []
    changed: list[Rejection] = []
    for row in rows:
        played += row.played.refused
        if row.changed is not None:
            changed += row.changed.refused

    examples: dict[str, str] = {}
    for refusal in (*played, *changed):
        examples.setdefault(refusal.code, refusal.message)
    played_counts = Counter(refusal.code for refusal in played)
    changed_counts = Counter(refusal.code for refusal in changed)
    both_counts = played_counts + changed_counts
    return [
        RefusalCount(code, played_counts[code], changed_counts[code], examples[code])
        for code, _ in both_counts.most_common()
    ]


def what_if(
    connection: Connection,
    change: Change,
    cohort: int | None = None,
    agent: str | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _whole: None,
) -> WhatIfReport:
    """Replay the seasons of a record under a change, of one cohort or all and one agent or all.

    The record is only read. `on_progress` is called with how many entrants are done and how many there are.
    Raise `ArenaError` if bets shall follow stated probabilities and none was stated.
    """
    chosen = cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), agent)
    whole = sum(len(stored.entrant_ids) for stored in chosen)
    rules = []
    rows = []
    done = 0

    for stored in chosen:
        rules.append(stored.cohort.rules)
        for season in read_entrant_seasons(connection, stored, CLOSED_CODE):
            on_progress(done, whole)
            done += 1
            if agent in (None, season.agent):
                rows.append(_played_and_changed(season, change))
    on_progress(whole, whole)

    if rows and all(row.changed is None for row in rows):
        subject = "no agent has" if agent is None else f"{agent} never"
        message = f"{subject} stated a probability, so there is nothing to bet on"
        raise ArenaError("nothing_stated", message, "--sizing flat needs no probabilities")

    return WhatIfReport(change_in_words(change, rules), tuple(rows))


def _played_and_changed(season: EntrantSeason, change: Change) -> WhatIfEntry:
    """Play an entrant's season again by its own rules and under a change, and return the totals of both.

    `exact` says whether its own rules lead to the ledger that is recorded. The changed totals are None if
    bets are placed by stated probabilities and the entrant never stated one.
    """
    cohort = season.stored.cohort
    # Orders on markets that had closed are refused under any rules, and left out of the recorded steps.
    late_refusals = (Rejection(CLOSED_CODE, CLOSED_WORDS),) * season.late_orders
    own = _replayed(season, cohort.rules, as_recorded)
    exact = own.entries == season.entries
    own_totals = _totals_of(own, late_refusals)

    bets_by_forecasts = change.stakes == "quarter-kelly"
    if bets_by_forecasts and not season.stated:
        return WhatIfEntry(season.agent, cohort.number, exact, own_totals, None)

    changed = _replayed(season, change.rules(cohort.rules), change.sizing)
    # Bets by forecasts take the place of all recorded orders, late ones included.
    changed_totals = _totals_of(changed, () if bets_by_forecasts else late_refusals)
    return WhatIfEntry(season.agent, cohort.number, exact, own_totals, changed_totals)


def _replayed(season: EntrantSeason, rules: Rules, sizing: Sizing) -> WhatIfOutcome:
    """Play an entrant's season again from its opening balance."""
    opening = season.entries[0]
    return replay(opening.cash, opening.at, season.steps, rules, sizing)


def _totals_of(outcome: WhatIfOutcome, late_refusals: tuple[Rejection, ...]) -> WhatIfTotals:
    """Return the totals of a season, with the orders that came too late among the refused."""
    filled = sum(map(len, outcome.fills))
    refused = (*chain.from_iterable(outcome.rejections), *late_refusals)
    return WhatIfTotals(outcome.profit, filled, refused)
