"""What if: a record's decisions under other rules or with other stakes, beside what was played."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arena.change import Change, in_words
from arena.chosen import numbered, of_agent
from arena.errors import ArenaError
from arena.store.frame import Connection
from arena.store.played import Played, read_played
from arena.store.read import StoredCohort, cohorts
from arena.turns import CLOSED, TOO_LATE
from portfolio.model import Rejection
from portfolio.rules import Rules
from portfolio.whatif import Outcome, Sizing, as_bet, replay

Moved = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a season comes to: its profit in millionths, how many wishes were filled, and which were not."""

    profit: int
    filled: int
    refused: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One entrant of one cohort, as played and under the change (None: it stated nothing to bet on).

    `exact` says that the record, played again by its own rules, gave its own ledger to the last hash.
    """

    agent: str
    cohort: int
    exact: bool
    played: Tally
    changed: Tally | None


@dataclass(frozen=True, slots=True)
class Report:
    """What was changed, in a sentence, and what it did to every entrant."""

    sentence: str
    rows: tuple[Row, ...]


def what_if(
    connection: Connection,
    change: Change,
    cohort: int | None = None,
    agent: str | None = None,
    moved: Moved = lambda _done, _whole: None,
) -> Report:
    """Play a record again under a change: one cohort or all, one agent or all. It is only read."""
    chosen = of_agent(numbered(cohorts(connection), cohort), agent)
    whole = sum(len(stored.entrant_ids) for stored in chosen)
    rows = list[Row]()
    for done, played in enumerate(_seasons(connection, chosen)):
        moved(done, whole)
        if agent in (None, played.agent):
            rows.append(_row(played, change))
    moved(whole, whole)
    if rows and all(row.changed is None for row in rows):
        who = "no agent here ever" if agent is None else f"{agent} never"
        words = f"{who} stated a probability, so there is nothing to bet on"
        raise ArenaError("nothing_stated", words, "--sizing flat needs no probabilities")
    return Report(in_words(change, [stored.cohort.rules for stored in chosen]), tuple(rows))


def _seasons(connection: Connection, chosen: Sequence[StoredCohort]) -> Iterator[Played]:
    for stored in chosen:
        yield from read_played(connection, stored, TOO_LATE)


def _row(played: Played, change: Change) -> Row:
    own, number = played.stored.cohort.rules, played.stored.cohort.number
    # Wishes that came too late are refused under any rules; a bet placed anew is none of them.
    late = (Rejection(TOO_LATE, CLOSED),) * played.shut
    before = _replayed(played, own, as_bet)
    exact, tally = before.entries == played.entries, _tally(before, late)
    if change.stakes == "quarter-kelly":
        if not played.stated:
            return Row(played.agent, number, exact, tally, None)
        late = ()
    after = _replayed(played, change.rules(own), change.sizing)
    return Row(played.agent, number, exact, tally, _tally(after, late))


def _replayed(played: Played, rules: Rules, sizing: Sizing) -> Outcome:
    opening = played.entries[0]
    return replay(opening.cash, opening.at, played.steps, rules, sizing)


def _tally(outcome: Outcome, late: tuple[Rejection, ...]) -> Tally:
    refused = [rejection for step in outcome.rejections for rejection in step]
    return Tally(outcome.profit, sum(len(fills) for fills in outcome.fills), (*refused, *late))
