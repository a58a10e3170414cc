"""A referee who knows the rules and has nothing but an export: `python tests/referee.py DIR`.

DIR is from `arena share export DIR --format json`; docs/data.md has its columns. Every entry, mark,
position, score
and line of the leaderboard is worked out again by docs/money.md and docs/scoring.md; differences are told.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from math import fsum, isclose
from pathlib import Path
from types import SimpleNamespace as Row
from typing import Any

# fmt: off
ONE, SECOND = 1_000_000, timedelta(seconds=1)  # dollars, shares, prices, probabilities are whole millionths
Key = tuple[Any, ...]
FOLDER, DIFFERENCES, POSTED = Path(sys.argv[1]), list[str](), Counter[Key]()
parsed = partial(json.loads, object_hook=lambda found: Row(**found))
def grouped(name: str, *keys: str) -> dict[Key, list[Row]]:
    found = defaultdict(list)
    for row in map(parsed, (FOLDER / f"{name}.jsonl").read_text("utf-8").split("\n")[:-1]):
        found[tuple(getattr(row, key) for key in keys)].append(row)
    return found
def by(name: str, *keys: str) -> dict[Key, Row]:
    return {key: rows[-1] for key, rows in grouped(name, *keys).items()}
def total(rows: Iterable[Row], name: str, *kinds: str) -> int:
    return sum(getattr(row, name) for row in rows if not kinds or row.kind in kinds)
def compare(what: str, found: Mapping[Any, Row], expected: Mapping[Any, Mapping[str, Any]]) -> None:
    """What the export says against what it should; a float may differ in its last digits."""
    for key in {**expected, **found}:
        if key not in expected or key not in found:
            DIFFERENCES.append(f"{what} {key} {'is missing' if key in expected else 'is one too many'}")
        for name, right in expected.get(key, {}).items() if key in found else ():
            x = getattr(found[key], name)
            if x != right and not (type(x) is type(right) is float and isclose(x, right, abs_tol=1e-9)):
                DIFFERENCES.append(f"{what} {key}: {name} is {x!r} and should be {right!r}")

AGENT, TURN = ("cohort", "agent"), ("cohort", "round", "agent")
FROZEN = {number: parsed(row.frozen) for (number,), row in by("cohorts", "cohort").items()}
ENTRANTS, ROUNDS, TURNS = by("entrants", *AGENT), by("rounds", "cohort", "round"), by("turns", *TURN)
PAGES, QUOTES = by("market_pages", "market_id", "page"), by("quotes", "market_id", "hash")
TAKEN, LISTED = by("snapshots", "cohort", "at"), grouped("snapshot_items", "cohort", "at")
ENDS, NEWEST = by("resolutions", "market_id", "version"), by("resolutions", "market_id")
FILLS, LEVELS = by("fills", *TURN, "fill"), grouped("fill_levels", *TURN, "fill")
LEDGERS, MARKS, CALLS = (grouped(name, *AGENT) for name in ("entries", "marks", "calls"))
# A fill moves shares × price and a fee, rate · shares · p · (1 − p); what is paid is rounded up: -(-a // b).
for key, fill in FILLS.items():
    for level in LEVELS[key]:
        worth, buys = level.shares * level.price, fill.action == "buy"
        fee = -(-fill.fee_rate * worth * (ONE - level.price) // ONE**3)
        fee = fee if buys else min(fee, worth // ONE)
        amount = -(-worth // ONE) + fee if buys else worth // ONE - fee
        amount += min(max(level.amount - amount, 0), 3 * buys)  # the last millionths may buy nothing more
        compare("level of fill", {key: level}, {key: {"fee": fee, "amount": amount}})
    compare("fill", {key: fill}, {key: {x: total(LEVELS[key], x) for x in ("shares", "amount", "fee")}})
def moved(entry: Row, shares: int, cost: int, paid: dict[Key, tuple[int, ...]]) -> tuple[int, ...]:
    """What an entry moves in cash, shares and cost, by the fact behind it; its lot was `shares` at `cost`."""
    lot, ref = (entry.market_id, entry.side), [int(part) for part in entry.ref.split(":")[1:]]
    if entry.kind == "deposit":
        return FROZEN[entry.cohort].bankroll, 0, 0
    if entry.kind in ("buy", "sell"):
        place = entry.cohort, ref[0], entry.agent, ref[1]
        fill, POSTED[place, entry.kind, *lot] = FILLS[place], POSTED[place, entry.kind, *lot] + 1
        if entry.kind == "buy":  # what was paid, fee and all, is what the shares cost
            return -fill.amount, fill.shares, fill.amount
        return fill.amount, -fill.shares, -cost * fill.shares // shares  # its part of that, rounded up
    if entry.kind == "reverse":  # a correction takes back what was paid, to the millionth
        return tuple(-value for value in paid.pop(lot))
    payout = ENDS[lot[0], ref[0]].payout  # of a YES share; none is a refund, which pays the cost back
    share = payout if payout is None or lot[1] == "YES" else ONE - payout
    paid[lot] = (cost if share is None else shares * share // ONE, -shares, -cost)
    return paid[lot]
# Every account from its bankroll on, entry by entry; each fill is posted once.
for whose, ledger in LEDGERS.items():
    balance, lots, paid = 0, defaultdict[Key, tuple[int, int]](lambda: (0, 0)), dict[Key, tuple[int, ...]]()
    for number, entry in enumerate(ledger, 1):
        lot = entry.market_id, entry.side
        cash, shares, cost = moved(entry, *lots[lot], paid)
        balance, lots[lot] = balance + cash, (lots[lot][0] + shares, lots[lot][1] + cost)
        right = {"cash": cash, "shares": shares, "cost": cost, "balance": balance, "held": lots[lot][0]}
        right |= {"entry": number, "realised": 0 if entry.kind == "deposit" else cash + cost}
        compare("entry", {(*whose, number): entry}, {(*whose, number): right})
DUE = Counter((key, fill.action, fill.market_id, fill.side) for key, fill in FILLS.items())
DIFFERENCES += [f"fill {key} is not posted as it is due" for key in DUE | POSTED if DUE[key] != POSTED[key]]
def valued(cohort: int, at: str, lot: Key, rows: list[Row]) -> Row:
    """A lot at a snapshot: at the mid, else the last trade, else its cost; to sell, at what somebody bids."""
    shares, items = total(rows, "shares"), [item for item in LISTED[cohort, at] if item.market_id == lot[0]]
    quote = QUOTES.get((lot[0], items[0].quote_hash)) if items else None
    quote, yes = quote or Row(bid=None, ask=None, mid=None, last=None), lot[1] == "YES"
    prices = quote.last if quote.mid is None else quote.mid, quote.bid if yes else quote.ask
    price, bid = (x if yes or x is None else ONE - x for x in prices)
    found = Row(value=total(rows, "cost"), liquidation=shares * (bid or 0) // ONE, price=None, age=None)
    found.stale = "no_price" if shares else ""
    if shares and price is not None:
        past = datetime.fromisoformat(TAKEN[cohort, at].taken_at) - datetime.fromisoformat(items[0].quoted_at)
        found.value, found.price, found.age = shares * price // ONE, price, max(past // SECOND, 0)
        old = "old" if past > FROZEN[cohort].rules.max_quote_age * SECOND else ""
        found.stale = "last_trade" if quote.mid is None else old
    return found
# A mark is a ledger added up until then; a position, at the newest, is a lot with all that it ever moved.
positions, ends = dict[Key, dict[str, Any]](), ("settle", "refund", "reverse")
for whose, marks in MARKS.items():
    held, now = defaultdict[Key, list[Row]](list), dict[Key, Row]()
    for mark in marks:
        until, held = [x for x in LEDGERS[whose] if x.at <= mark.at], defaultdict[Key, list[Row]](list)
        for entry in until[1:]:  # after the bankroll
            held[entry.market_id, entry.side].append(entry)
        now = {lot: valued(mark.cohort, mark.at, lot, rows) for lot, rows in held.items()}
        right = {name: total(until, name) for name in ("cash", "cost", "realised")}
        right |= {name: total(now.values(), name) for name in ("value", "liquidation")}
        right["age"] = max((lot.age or 0 for lot in now.values()), default=0)
        right["stale"] = sum(lot.stale != "" for lot in now.values())
        compare("mark", {(*whose, mark.at): mark}, {(*whose, mark.at): right})
    for lot, rows in held.items():
        life = {name: total(rows, name) for name in ("shares", "cost", "realised")}
        life |= {name: getattr(now[lot], name) for name in ("value", "price", "age", "stale")}
        life |= {"bought": total(rows, "shares", "buy"), "sold": -total(rows, "shares", "sell")}
        life |= {"settled": -total(rows, "shares", *ends), "paid": -total(rows, "cash", "buy")}
        positions[*whose, *lot] = life | {"received": total(rows, "cash", "sell", *ends)}
compare("position", by("positions", *AGENT, "market_id", "side"), positions)
def scored(market_id: str, forecast: float, mid: int | None = None, **more: Any) -> Row:
    """A belief with its Brier score, (forecast − outcome)²; only YES and NO are scored."""
    end = NEWEST.get((market_id,))
    outcome = "open" if end is None else {ONE: "YES", 0: "NO"}.get(end.payout, "unscored")
    brier, market = (None if end is None or outcome == "unscored" or p is None
                     else (p - end.payout / ONE) ** 2 for p in (forecast, mid if mid is None else mid / ONE))
    more |= {"market_id": market_id, "forecast": forecast, "mid": mid, "outcome": outcome}
    return Row(**more, brier=brier, brier_market=market)
# Every belief: what was stated on each market shown, and what the size of each bet says, read in two ways.
SAID, PRICE = by("forecasts", *TURN, "market_id", "stage"), object()
AGAIN = by("second_quotes", *TURN, "market_id")  # once the answer was in: these prices count
PLAYED_BY = ENTRANTS | {key[:2]: row for key, row in sorted(by("replacements", *AGENT, "round").items())}
EARLY, beliefs = set[Key](), dict[Key, Row]()
for place, turn in TURNS.items():
    told = vars(parsed(PLAYED_BY[place[::2]].settings))  # a skip agrees with the price, if that was shown
    EARLY |= {place} if (told.get("released") or "") > ROUNDS[place[:2]].at[:10] else set()
    for item in LISTED[turn.cohort, ROUNDS[place[:2]].at]:
        if item.shown and turn.status not in ("out", "waiting"):  # others saw nothing
            market, later = item.market_id, AGAIN.get((*place, item.market_id))
            seen = [QUOTES.get((market, x.quote_hash)) for x in (later, item) if x is not None]
            mid = next((quote.mid for quote in seen if quote is not None and quote.mid is not None), ONE // 2)
            own = SAID.get((*place, market, "final")) if turn.status in ("played", "partly") else None
            belief = own.probability if own else ONE // 2 if told.get("prices") == "hidden" else mid
            for name, p, said in ((turn.agent, belief, int(own is not None)), (PRICE, mid, 1)):
                found = scored(market, p / ONE, mid, said=said, event_id=PAGES[market, item.page].event_id)
                beliefs.setdefault((*place[:2], name, market, "stated", None), found)
for key, fill in FILLS.items():
    if fill.action == "buy":
        c = min(fill.wanted / (fill.base * FROZEN[fill.cohort].rules.max_bet / ONE), 1.0)
        levels, yes = LEVELS[key], fill.side == "YES"
        own = sum(level.price * level.shares for level in levels) / total(levels, "shares") / ONE
        p = own if yes else 1 - own
        implied, anchored = (c, p + c * (1 - p)) if yes else (1 - c, p * (1 - c))
        for reading, belief in (("implied", implied), ("anchored", anchored)):
            found = scored(fill.market_id, belief, price=p, side=fill.side)
            beliefs[*key[:3], fill.market_id, reading, key[3]] = found
stated = {key: vars(belief) for key, belief in beliefs.items() if key[2] != PRICE}
compare("score", by("scores", *TURN, "market_id", "reading", "fill"), stated)
def mean(values: Iterable[float | None]) -> Any:
    known = [value for value in values if value is not None]  # what has no score doesn't count
    return fsum(known) / len(known) if known else None

def line(agent: object, cohorts: Collection[int]) -> dict[str, Any]:
    mine = [(key, x) for key, x in beliefs.items() if key[0] in cohorts and key[2] == agent]
    stated, bets, anchored = ([x for k, x in mine if k[4] == n] for n in ("stated", "implied", "anchored"))
    ended = [(x, key[:3] in EARLY) for key, x in mine if key[4] == "stated" and x.brier is not None]
    done, said, markets = [x for x, early in ended if not early], total(stated, "said"), defaultdict(list)
    counted = [x for key, x in mine if key[4] == "stated" and key[:3] not in EARLY]
    coverage = total(done, "said") / len(done) if done else None
    for x in done:
        markets[x.market_id].append(x)
    own, price = (mean(mean(getattr(x, name) for x in some) for some in markets.values())
                  for name in ("brier", "brier_market"))
    played = [(cohort, agent) for cohort in cohorts if (cohort, agent) in ENTRANTS]
    kind = ENTRANTS[played[-1]].kind if played else "market"
    ranked = (kind == "market" and coverage is not None) or (coverage or 0) >= 0.8
    statuses = [turn.status for key, turn in TURNS.items() if key[::2] in played]
    costs = [call.cost for whose in played for call in CALLS[whose]]
    cost = None if None in costs else sum(costs) / ONE
    marked = [whose for whose in played if MARKS[whose]]
    given = sum(FROZEN[cohort].bankroll for cohort, _ in marked)
    pnl = sum(MARKS[whose][-1].cash + MARKS[whose][-1].value for whose in marked) - given
    sold = [key for key, fill in FILLS.items() if fill.action == "sell" and key[:3:2] in played]
    return {
        "kind": kind, "cohorts": len(played or cohorts),
        "turns": len(statuses), "malformed": sum(v in ("malformed", "declined") for v in statuses),
        "failed": statuses.count("failed"), "late": statuses.count("late"),
        "bets": len(bets), "sold": len(sold), "resolved": len(done), "early": len(ended) - len(done),
        "unscored": [x.outcome for x in stated].count("unscored"), "brier_stated": own, "brier_market": price,
        "brier_implied": mean(x.brier for x in bets), "brier_anchored": mean(x.brier for x in anchored),
        "skill": price - own if ranked else None, "shown": len(counted), "answered": total(counted, "said"),
        "skill_ratio": 1 - own / price if price and ranked else None,
        "pnl": pnl / ONE if marked else None, "return_pct": 100 * pnl / given if given else None,
        "win_rate": mean(float(x.side == x.outcome) for x in bets if x.brier is not None), "cost_usd": cost,
        "cost_per_forecast": None if cost is None or not said else cost / said,
        "coverage": coverage, "events": len({x.event_id for x in done}),
    }
# The leaderboard of all cohorts, and of each. Where nobody plays the price, it has a line of its own.
board = dict[Key, dict[str, Any]]()
for cohort, some in [(None, list(FROZEN)), *((number, [number]) for number in FROZEN)]:
    kinds = {name: entrant.kind for (number, name), entrant in ENTRANTS.items() if number in some}
    board |= {(cohort, name): line(name, some) for name in kinds}
    board |= {(cohort, "market"): line(PRICE, some)} if kinds and "market" not in kinds.values() else {}
compare("leaderboard", by("leaderboard", *AGENT), board)
sys.exit("\n".join(DIFFERENCES) or None)
