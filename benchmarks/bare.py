"""A year of cohorts over a recording, as a minimal arena plays it: one file, floats, sqlite3.

It reads the same bundle, starts the same weekly cohorts, shows as many markets by the same rule, lets the
same line-up bet by the same reasoning, fills at the same half-spread with the same fee, and keeps a row of
everything that the arena keeps, one transaction a turn. It has no classes, no checks, no hashes, no claims,
no views, no plug-ins, and can't go on where it stopped.
"""

import csv
import json
import random
import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from markets.bundle import rows

BANKROLL = 10_000.0
LEAST = 50.0
MOST = 0.25
HALF_SPREAD = 0.01
FRESH = timedelta(days=7)
OF_VOLUME = 0.02
DECISIONS = 5
REACH = 0.03 + 1e-9
SPREAD = 0.05 + 1e-9
"""A decision's part of a market's volume, such decisions in a cohort, a book's reach, the widest spread."""
ROUNDS = 5
SHOW = 40
PER_EVENT = 2
WITHIN = timedelta(days=60)
WEEK = timedelta(weeks=1)
TABLES = {
    "item": "cohort, at, market, version, quoted_at, bid, ask, mid, volume, shares, book, shown",
    "turn": "cohort, at, agent, cash, wishes",
    "forecast": "turn, market, probability",
    "fill": "turn, market, side, shares, amount, fee",
    "level": "fill, price, shares, amount, fee",
    "entry": "cohort, agent, at, ref, market, side, cash, shares, balance, held",
    "mark": "cohort, agent, at, cash, value, cost, stale",
    "resolution": "market, version, known_at, payout",
}

Row = tuple[Any, ...]
Bet = tuple[str, str, float]
Quotes = Mapping[str, Any]


@dataclass
class BareWorld:
    """What the files say: pages, prices and ends by market, each with the time from which it counts."""

    pages: dict[str, tuple[list[datetime], list[Any]]]
    prices: dict[str, tuple[list[datetime], list[Any]]]
    ends: dict[str, tuple[datetime, float | None]]


@dataclass
class BareAccount:
    """Cash, shares with their cost by market and side, and what was traded by market."""

    cash: float = BANKROLL
    lots: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    traded: dict[str, float] = field(default_factory=lambda: defaultdict(float))


@dataclass
class BareCohort:
    """One start with fresh bankrolls."""

    number: int
    starts_at: datetime
    accounts: list[BareAccount]
    over: bool = False


def known(history: tuple[list[datetime], list[Any]], at: datetime) -> Any:
    """Return the newest value by then, if there is one."""
    place = bisect_right(history[0], at)
    return history[1][place - 1] if place else None


def read(folder: Path) -> BareWorld:
    """Read what this benchmark needs of the recording."""
    pages = defaultdict[str, Any](lambda: ([], []))
    prices = defaultdict[str, Any](lambda: ([], []))
    with (folder / "markets.jsonl").open(encoding="utf-8") as file:
        for page in map(json.loads, file):
            page["open"], page["close"] = map(datetime.fromisoformat, (page["open"], page["close"]))
            _add(pages[f"{page['venue']}:{page['id']}"], datetime.fromisoformat(page["seen"]), page)
    with (folder / "books.jsonl").open(encoding="utf-8") as file:
        books = {(book["id"], book["at"]): book for book in map(json.loads, file)}
    with (folder / "prices.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            at = datetime.fromisoformat(row["date"])
            book = books[row["id"], row["date"]]
            figures = (float(row[name] or 0) for name in ("bid", "ask", "prob_yes", "volume"))
            quote = (at, *figures, _thinner_side(book), json.dumps([book["bids"], book["asks"]]))
            _add(prices[f"{row['venue']}:{row['id']}"], at, quote)
    with (folder / "resolutions.csv").open(encoding="utf-8", newline="") as file:
        ends = {row["market"]: (datetime.fromisoformat(row["known_at"]), _payout(row["payout"]))
                for row in csv.DictReader(file)}  # fmt: skip
    return BareWorld(pages, prices, ends)


def _add(history: tuple[list[datetime], list[Any]], at: datetime, what: Any) -> None:
    history[0].append(at)
    history[1].append(what)


def _thinner_side(book: Mapping[str, Any]) -> float:
    """Return the shares near the best price, on the side that has fewer."""
    levels = ([(float(price), float(n)) for price, n in book[side]] for side in ("bids", "asks"))
    near = [sum(n for price, n in side if abs(price - side[0][0]) <= REACH) for side in levels if side]
    return min(near, default=0.0)


def _payout(text: str) -> float | None:
    return None if text == rows.REFUND else float(text)


def play(folder: Path, database: Path, agents: Sequence[tuple[str, float]], weeks: int) -> Counter[str]:
    """Play the whole season into a new database, and count its rows of each kind."""
    world = read(folder)
    base = sqlite3.connect(database, isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = NORMAL")
    for table, columns in TABLES.items():
        base.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {columns})")
    season = BareSeason(base, world, agents)
    first = min(times[0] for times, _ in world.prices.values())
    last = max(times[-1] for times, _ in world.prices.values())
    for week in range(weeks):
        at = first + week * WEEK
        season.cohorts.append(BareCohort(week + 1, at, [BareAccount() for _ in agents]))
        for cohort in season.cohorts:
            season.visit(cohort, at, decides=at - cohort.starts_at < ROUNDS * WEEK)
    for cohort in season.cohorts:
        season.visit(cohort, max(last, *(at for at, _ in world.ends.values())), decides=False)
    base.close()
    return season.count


@dataclass
class BareSeason:
    """The loop's state: the database, the world, who plays, and how many rows were written."""

    base: sqlite3.Connection
    world: BareWorld
    agents: Sequence[tuple[str, float]]
    cohorts: list[BareCohort] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    told: set[str] = field(default_factory=set)

    def put(self, table: str, lines: Sequence[Row]) -> int:
        """Insert rows into a table, and return the id of the last one."""
        if not lines:
            return 0
        self.count[table] += len(lines)
        marks = ", ".join("?" * len(lines[0]))
        self.base.executemany(f"INSERT INTO {table} VALUES (NULL, {marks})", lines)
        return self.count[table]

    def visit(self, cohort: BareCohort, at: datetime, decides: bool) -> None:
        """Settle, look, let everyone play, mark."""
        if cohort.over:
            return
        self.base.execute("BEGIN")
        self.settle(cohort, at)
        shown = self.draw(cohort, at) if decides else {}
        held = sorted({market for account in cohort.accounts for market, _ in account.lots} - set(shown))
        quotes = shown | {market: known(self.world.prices[market], at) for market in held}
        stamp = at.isoformat()
        self.put("item", [(cohort.number, stamp, market, bisect_right(self.world.pages[market][0], at),
                           quote[0].isoformat(), *quote[1:], market in shown)
                          for market, quote in quotes.items()])  # fmt: skip
        self.base.execute("COMMIT")
        if decides:
            for agent in range(len(self.agents)):
                self.turn(cohort, agent, at, stamp, shown)
        self.base.execute("BEGIN")
        self.put("mark", [(cohort.number, agent, stamp, *worth(account, quotes, at))
                          for agent, account in enumerate(cohort.accounts)])  # fmt: skip
        self.base.execute("COMMIT")
        last = at >= cohort.starts_at + (ROUNDS - 1) * WEEK
        cohort.over = last and not any(account.lots for account in cohort.accounts)

    def settle(self, cohort: BareCohort, at: datetime) -> None:
        """Pay what has ended."""
        for agent, account in enumerate(cohort.accounts):
            for market, side in list(account.lots):
                known_at, payout = self.world.ends.get(market, (None, None))
                if known_at is None or known_at > at:
                    continue
                if market not in self.told:
                    self.told.add(market)
                    self.put("resolution", [(market, 1, known_at.isoformat(), payout)])
                shares, cost = account.lots.pop((market, side))
                paid = cost
                if payout is not None:
                    paid = shares * (payout if side == "YES" else 1 - payout)
                account.cash += paid
                self.put("entry", [(cohort.number, agent, at.isoformat(), "resolution:1", market, side, paid,
                                    -shares, account.cash, 0)])  # fmt: skip

    def draw(self, cohort: BareCohort, at: datetime) -> dict[str, Any]:
        """Draw the markets on offer in a round, a few of each event."""
        offered = []
        for market, pages in self.world.pages.items():
            page = known(pages, at)
            quote = known(self.world.prices[market], at)
            if page is None or quote is None or not page["open"] <= at < page["close"] <= at + WITHIN:
                continue
            end = self.world.ends.get(market)
            if at - quote[0] <= FRESH and quote[2] - quote[1] <= SPREAD and (end is None or end[0] > at):
                offered.append((market, page["event"], quote))
        random.Random(f"{cohort.number}/{at}").shuffle(offered)
        shown = dict[str, Any]()
        of_event = Counter[str]()
        for market, event, quote in offered:
            if len(shown) < SHOW and of_event[event] < PER_EVENT:
                of_event[event] += 1
                shown[market] = quote
        return shown

    def turn(self, cohort: BareCohort, agent: int, at: datetime, stamp: str, shown: Quotes) -> None:
        """Play one entrant's part of a round, in one transaction."""
        account, (kind, p) = cohort.accounts[agent], self.agents[agent]
        dice = random.Random(f"{cohort.number}/{at}/{agent}")
        beliefs = {market: {"market": quote[3], "constant": p, "random": dice.random()}[kind]
                   for market, quote in shown.items()}  # fmt: skip
        throws = thrown(dice, account, shown) if kind == "random" else []
        bets = kelly(beliefs, account, shown) if kind == "constant" else throws
        self.base.execute("BEGIN")
        wishes = json.dumps([{"market": m, "side": s, "amount": a, "reason": kind} for m, s, a in bets])
        turn = self.put("turn", [(cohort.number, stamp, agent, account.cash, wishes)])
        self.put("forecast", [(turn, market, belief) for market, belief in beliefs.items()])
        for bet in bets:
            if LEAST <= bet[2] <= MOST * account.cash:
                self.fill(cohort, agent, stamp, turn, bet, shown[bet[0]])
        self.base.execute("COMMIT")

    def fill(self, cohort: BareCohort, agent: int, stamp: str, turn: int, bet: Bet, quote: Any) -> None:
        """Fill a bet at half a spread from the mid, within room, level and entry."""
        market, side, amount = bet
        account = cohort.accounts[agent]
        price = pays(side, quote)
        room = min(OF_VOLUME * quote[4], DECISIONS * OF_VOLUME * quote[4] - account.traded[market])
        amount = min(amount, room, quote[5] * price)
        if amount <= 0:
            return
        account.traded[market] += amount
        rate = known(self.world.pages[market], quote[0])["fee_rate"]
        each = float(rate) * price * (1 - price)
        shares = amount / (price + each)
        account.cash -= amount
        lot = account.lots.setdefault((market, side), [0.0, 0.0])
        lot[0], lot[1] = lot[0] + shares, lot[1] + amount
        fill = self.put("fill", [(turn, market, side, shares, amount, shares * each)])
        self.put("level", [(fill, price, shares, amount, shares * each)])
        self.put("entry", [(cohort.number, agent, stamp, f"fill:{turn}", market, side, -amount, shares,
                            account.cash, lot[0])])  # fmt: skip


def pays(side: str, quote: Any) -> float:
    """Return what a share of a side costs."""
    mid: float = quote[3] if side == "YES" else 1 - quote[3]
    return mid + HALF_SPREAD


def kelly(beliefs: Mapping[str, float], account: BareAccount, shown: Quotes) -> list[Bet]:
    """Return a quarter-Kelly bet for every edge, best first, while the cash lasts."""
    edges = []
    for market, belief in beliefs.items():
        if (market, "YES") in account.lots or (market, "NO") in account.lots:
            continue
        for side, chance in (("YES", belief), ("NO", 1 - belief)):
            price = pays(side, shown[market])
            if price < min(chance, 1):
                edges.append((price - chance, market, side, (chance - price) / (1 - price)))
    bets = []
    left = account.cash
    for _, market, side, share in sorted(edges):
        stake = min(account.cash * share / 4, account.cash * MOST, left)
        if stake >= LEAST:
            bets.append((market, side, stake))
            left -= stake
    return bets


def thrown(dice: random.Random, account: BareAccount, shown: Quotes) -> list[Bet]:
    """Return a few of the smallest bets, on random markets."""
    most = min(3, int(account.cash / LEAST)) if MOST * account.cash >= LEAST else 0
    markets = sorted(shown, key=lambda _: dice.random())[:most]
    return [(market, "YES" if dice.random() < 0.5 else "NO", LEAST) for market in markets]


def worth(account: BareAccount, quotes: Quotes, at: datetime) -> Row:
    """Return cash, value, cost and the number of stale prices."""
    value = account.cash
    cost = 0.0
    stale = 0
    for (market, side), (shares, paid) in account.lots.items():
        quote = quotes[market]
        value += shares * (quote[3] if side == "YES" else 1 - quote[3])
        cost = cost + paid
        stale = stale + (at - quote[0] > FRESH)
    return account.cash, value, cost, stale
