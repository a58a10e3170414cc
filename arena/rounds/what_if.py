"""What if: a record's decisions under other rules or with other stakes, beside what was played."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from arena.errors import ArenaError
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, select_cohorts
from arena.record.queries.decisions import EntrantSeason, read_entrant_seasons
from arena.record.schema.database import Connection
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
        """The rules in place of a cohort's own."""
        return changed_rules(self.start_from or own, self.values)

    @property
    def sizing(self) -> Sizing:
        """How the stakes are found."""
        return {"as-bet": as_recorded, "flat": flat_stake(self.stake), "quarter-kelly": kelly_stake}[
            self.stakes
        ]


def change_in_words(change: Change, own: Sequence[Rules]) -> str:
    """What is other than it was in cohorts with these rules, in one sentence.

    >>> from portfolio.rules import REALISTIC
    >>> change_in_words(Change(values={"max_bet": 100_000}, stakes="flat"), [REALISTIC])
    'Changed: max bet 10% instead of 25%; every bet $100.00.'
    """
    parts = [_difference(name, change, own) for name in Rules.model_fields if name != "name"]
    parts = [part for part in (*parts, _stakes(change)) if part]
    return f"Changed: {'; '.join(parts)}." if parts else "Nothing changed."


def _difference(name: str, change: Change, own: Sequence[Rules]) -> str:
    pairs = [(getattr(change.rules(rules), name), getattr(rules, name)) for rules in own]
    changed = [(new, old) for new, old in pairs if new != old]
    if not changed:
        return ""
    before = " or ".join(dict.fromkeys(_value(name, old) for _, old in changed))
    return f"{name.replace('_', ' ')} {_value(name, changed[0][0])} instead of {before}"


def _value(name: str, value: Any) -> str:
    if name.startswith("max_of_volume"):
        return "no limit" if value is None else percent(value)
    if name == "max_bet":
        return percent(value)
    if name == "max_quote_age":
        return f"{value:,} s"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return dollars(value) if isinstance(value, int) else str(value)


def _stakes(change: Change) -> str:
    match change.stakes:
        case "as-bet":
            return ""
        case "flat":
            return f"every bet {dollars(change.stake)}"
        case "quarter-kelly":
            return "new bets at a quarter of the Kelly stake on the stated probabilities, and no sales"


OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class WhatIfTotals:
    """What a season comes to: its profit in millionths, how many orders were filled, and which were not."""

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
    """What was changed, in a sentence, and what it did to every entrant."""

    sentence: str
    rows: tuple[WhatIfEntry, ...]


def what_if(
    connection: Connection,
    change: Change,
    cohort: int | None = None,
    agent: str | None = None,
    moved: OnProgress = lambda _done, _whole: None,
) -> WhatIfReport:
    """Play a record again under a change: one cohort or all, one agent or all. It is only read."""
    chosen = cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), agent)
    whole = sum(len(stored.entrant_ids) for stored in chosen)
    rows = list[WhatIfEntry]()
    seasons = (read_entrant_seasons(connection, stored, CLOSED_CODE) for stored in chosen)
    for done, played in enumerate(chain.from_iterable(seasons)):
        moved(done, whole)
        if agent in (None, played.agent):
            rows.append(_row(played, change))
    moved(whole, whole)
    if rows and all(row.changed is None for row in rows):
        who = "no agent has" if agent is None else f"{agent} never"
        words = f"{who} stated a probability, so there is nothing to bet on"
        raise ArenaError("nothing_stated", words, "--sizing flat needs no probabilities")
    return WhatIfReport(change_in_words(change, [stored.cohort.rules for stored in chosen]), tuple(rows))


def _row(played: EntrantSeason, change: Change) -> WhatIfEntry:
    own, number = played.stored.cohort.rules, played.stored.cohort.number
    # Orders that came too late are refused under any rules; a bet placed anew is none of them.
    late = (Rejection(CLOSED_CODE, CLOSED_WORDS),) * played.shut
    before = _replayed(played, own, as_recorded)
    exact, tally = before.entries == played.entries, _tally(before, late)
    if change.stakes == "quarter-kelly":
        if not played.stated:
            return WhatIfEntry(played.agent, number, exact, tally, None)
        late = ()
    after = _replayed(played, change.rules(own), change.sizing)
    return WhatIfEntry(played.agent, number, exact, tally, _tally(after, late))


def _replayed(played: EntrantSeason, rules: Rules, sizing: Sizing) -> WhatIfOutcome:
    opening = played.entries[0]
    return replay(opening.cash, opening.at, played.steps, rules, sizing)


def _tally(outcome: WhatIfOutcome, late: tuple[Rejection, ...]) -> WhatIfTotals:
    refused = [rejection for step in outcome.rejections for rejection in step]
    return WhatIfTotals(outcome.profit, sum(len(fills) for fills in outcome.fills), (*refused, *late))
