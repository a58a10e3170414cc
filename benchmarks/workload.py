"""The reference's workload on disk: 7 agents, 500 markets, 3,500 bets, 20 snapshots, 500 resolutions.

Played twice: by the arena's own engine and record, and by a plain loop that does the least that such
a system must do (sums in floats, a row each, one transaction a step, no ledger, no hashes, no checks).
"""

import random
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agents.model import Decision
from arena.record.model.cohort import Cohort, Entrant, Turn
from arena.record.queries.cohorts import StoredCohort, read_resolutions, read_rounds
from arena.record.record import Record
from arena.record.write.cohorts import add_cohort, add_snapshot
from arena.record.write.resolutions import add_resolutions
from arena.record.write.turns import TurnUnderClaim, claim_turns
from arena.rounds.round import mark_cohort
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Resolution, Snapshot
from markets.universe import Universe
from portfolio.execute import execute_at
from portfolio.ledger import open_account, post, settle
from portfolio.matching import SnapshotOffers
from portfolio.model import Bet
from portfolio.rules import SEED

AGENTS, MARKETS, SNAPSHOTS = 7, 500, 20
START = datetime(2026, 1, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)
FREE = SEED.model_copy(update={"name": "workload", "min_bet": 0, "max_bet": ONE})
IDS = tuple(MarketId(f"bench:{number:03d}") for number in range(MARKETS))
STAKE = 10 * ONE


@dataclass(frozen=True, slots=True)
class Arena:
    """A record with a cohort in it, and the ids that writing needs."""

    record: Record
    stored: StoredCohort

    @property
    def names(self) -> list[str]:
        return list(self.stored.entrant_ids)


def prices(step: int) -> dict[MarketId, int]:
    """Return what every market costs at a step, the same on every run."""
    rng = random.Random(f"prices/{step}")
    return {market: rng.randint(5, 95) * 10_000 for market in IDS}


def sides(agent: int) -> dict[MarketId, bool]:
    """Return the markets on which an agent bets on YES."""
    rng = random.Random(f"sides/{agent}")
    return {market: rng.random() < 0.5 for market in IDS}


def payouts() -> dict[MarketId, int]:
    """Return how the markets end."""
    rng = random.Random("ends")
    return {market: rng.choice((0, ONE)) for market in IDS}


def snapshot(step: int) -> Snapshot:
    """Return all markets with their prices of a step."""
    at = START + step * HOUR
    costs = prices(step)
    ends = START + timedelta(days=30)
    pages = (Market(x, x, f"Does {x} happen?", "If it does.", "made up", START, ends) for x in IDS)
    return Snapshot(at, tuple(Listing(x, Quote(x.id, at, None, None, costs[x.id])) for x in pages))


def opened(path: Path) -> Arena:
    """Open a new record with a cohort of the workload's agents, and all its snapshots."""
    cohort = Cohort(
        number=1,
        starts_at=START,
        rounds=1,
        every=HOUR,
        bankroll=10_000 * ONE,
        rules=FREE,
        universe=Universe(show=MARKETS, per_event=1, closes_within=10**8, min_volume=0, max_spread=ONE // 10),
        seed=1,
        venue="simulator",
        venue_settings={},
        stamp="simulated",
        prompts={},
        entrants=tuple(Entrant(place, f"agent{place}", "constant", {}) for place in range(AGENTS)),
    )
    record = Record.open(str(path))
    record.write(
        add_cohort, cohort, {}, {x.name: open_account(cohort.bankroll, START) for x in cohort.entrants}
    )
    stored = record.cohorts()[0]
    for step in range(SNAPSHOTS + 1):
        record.write(add_snapshot, stored.id, 1, snapshot(step), 1 if step == 0 else None)
    return Arena(record, stored)


Decided = list[TurnUnderClaim]
"""Turns that are not yet written, each with its claim."""


def bet(arena: Arena) -> None:
    """Execute, post, write in one transaction and read back every agent's 500 bets."""
    for turn in decided(arena):  # a transaction each
        arena.record.add_turns(1, (1, 1), [turn], "bench")
    arena.record.holdings(arena.stored.id)


def decided(arena: Arena) -> Decided:
    """Return every agent's first-round decision."""
    record = arena.record
    stored = arena.stored
    stored_round = record.read(read_rounds, stored.id)[0]
    snapshot = record.snapshot(stored.id, stored_round.at)
    assert snapshot is not None
    offers = SnapshotOffers(snapshot[1], FREE)
    accounts = record.holdings(stored.id)
    keys = stored.entrant_ids
    tokens = record.write(claim_turns, stored_round.id, [*keys.values()], "bench", lambda _: False)
    turns: Decided = []
    for place, (name, key) in enumerate(keys.items()):
        account = accounts[name]
        bets = tuple(Bet(market, "YES" if yes else "NO", STAKE) for market, yes in sides(place).items())
        fills, refused = execute_at(offers, bets, (), account)
        assert not refused
        entries = post(fills, account, stored_round.at, f"fill:{stored_round.number}")
        turn = Turn(name, account.cash, Decision(bets=bets), tuple(fills), (), tuple(entries))
        turns.append(TurnUnderClaim(key, tokens[key], turn))
    return turns


def mark(arena: Arena) -> None:
    """Mark everyone's 500 lots at each of the 20 snapshots, read from the record and written to it."""
    for step in range(1, SNAPSHOTS + 1):
        mark_cohort(arena.stored, START + step * HOUR, arena.record)


def end(arena: Arena) -> None:
    """End all markets, and pay for every lot in one transaction."""
    at = START + (SNAPSHOTS + 1) * HOUR
    record = arena.record
    stored = arena.stored
    record.write(add_resolutions, [Resolution(market, 1, at, paid) for market, paid in payouts().items()], at)
    ends = record.read(read_resolutions, IDS, at)
    accounts = record.holdings(stored.id)
    record.add_entries({stored.entrant_ids[name]: settle(a, ends, at) for name, a in accounts.items()})


def plain_opened(path: Path) -> sqlite3.Connection:
    """Create the tables that a plain arena would have."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE account (agent INTEGER PRIMARY KEY, cash REAL)")
    base.execute("CREATE TABLE price (market TEXT PRIMARY KEY, price REAL)")
    base.execute("CREATE TABLE trade (agent INTEGER, market TEXT, yes INTEGER, shares REAL, amount REAL)")
    base.execute(
        "CREATE TABLE lot (agent INTEGER, market TEXT, yes INTEGER, shares REAL, cost REAL, value REAL,"
        " open INTEGER, PRIMARY KEY (agent, market))"
    )
    base.execute("CREATE TABLE worth (agent INTEGER, step INTEGER, total REAL)")
    base.executemany("INSERT INTO account VALUES (?, 10000)", [(agent,) for agent in range(AGENTS)])
    plain_prices(base, 0)
    return base


def plain_prices(base: sqlite3.Connection, step: int) -> None:
    """Write the prices of a step."""
    rows = [(market, price / ONE) for market, price in prices(step).items()]
    base.executemany("INSERT OR REPLACE INTO price VALUES (?, ?)", rows)


def plain_bet(base: sqlite3.Connection) -> None:
    """Place each bet in a transaction of its own: look up price and cash, write the trade and the lot."""
    for agent in range(AGENTS):
        for market, yes in sides(agent).items():
            base.execute("BEGIN IMMEDIATE")
            (cash,) = base.execute("SELECT cash FROM account WHERE agent = ?", (agent,)).fetchone()
            (price,) = base.execute("SELECT price FROM price WHERE market = ?", (market,)).fetchone()
            amount = STAKE / ONE
            shares = STAKE / ONE / (price if yes else 1 - price)
            base.execute("INSERT INTO trade VALUES (?, ?, ?, ?, ?)", (agent, market, yes, shares, amount))
            lot = (agent, market, yes, shares, amount, amount)
            base.execute("INSERT INTO lot VALUES (?, ?, ?, ?, ?, ?, 1)", lot)
            base.execute("UPDATE account SET cash = ? WHERE agent = ?", (cash - amount, agent))
            base.execute("COMMIT")


def plain_mark(base: sqlite3.Connection) -> None:
    """Value and update every open lot, in a transaction a snapshot."""
    for step in range(1, SNAPSHOTS + 1):
        plain_prices(base, step)
        base.execute("BEGIN IMMEDIATE")
        prices: Mapping[str, float] = dict(base.execute("SELECT market, price FROM price"))
        totals = dict(base.execute("SELECT agent, cash FROM account"))
        lots = base.execute("SELECT agent, market, yes, shares FROM lot WHERE open = 1").fetchall()
        for agent, market, yes, shares in lots:
            worth = shares * (prices[market] if yes else 1 - prices[market])
            totals[agent] += worth
            base.execute("UPDATE lot SET value = ? WHERE agent = ? AND market = ?", (worth, agent, market))
        base.executemany("INSERT INTO worth VALUES (?, ?, ?)", [(a, step, t) for a, t in totals.items()])
        base.execute("COMMIT")


def plain_end(base: sqlite3.Connection) -> None:
    """Close and pay each lot in a transaction of its own."""
    for market, paid in payouts().items():
        lots = base.execute("SELECT agent, yes, shares FROM lot WHERE market = ? AND open = 1", (market,))
        for agent, yes, shares in lots.fetchall():
            base.execute("BEGIN IMMEDIATE")
            base.execute("UPDATE lot SET open = 0 WHERE agent = ? AND market = ?", (agent, market))
            won = shares if bool(paid) == bool(yes) else 0
            base.execute("UPDATE account SET cash = cash + ? WHERE agent = ?", (won, agent))
            base.execute("COMMIT")
