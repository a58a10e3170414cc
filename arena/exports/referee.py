"""A referee that knows the rules and reads only an export: a second implementation, independent of the first.

It recomputes every entry, mark, position, score and line of the leaderboard by docs/money.md and
docs/scoring.md, with nothing but Python's standard library. `arena admin verify --referee` runs it, and so
can anyone with an export and this file alone: `python referee.py DIR`. DIR comes from `arena share export DIR
--format json`, and docs/data.md describes its columns. Dollars, shares, prices and probabilities are whole
millionths.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import fsum, isclose
from pathlib import Path
from types import SimpleNamespace as Row
from typing import Any

ONE = 1_000_000
SECOND = timedelta(seconds=1)
ENDINGS = ("settle", "refund", "reverse")
AGENT = ("cohort", "agent")
TURN = ("cohort", "round", "agent")
PRICE = "the price"
"""Stands for an agent's name: the market's price as a forecaster, with a line on each leaderboard."""
Key = tuple[Any, ...]
Values = dict[str, Any]


def parsed(text: str) -> Row:
    """Return a JSON text as an object with its fields as attributes."""
    value: Row = json.loads(text, object_hook=lambda fields: Row(**fields))
    return value


def total(rows: Iterable[Row], name: str, *kinds: str) -> int:
    """Return the sum of a field over all rows, or over those of some kinds."""
    result = 0
    for row in rows:
        if not kinds or row.kind in kinds:
            result += getattr(row, name)
    return result


def mean(values: Iterable[float | None]) -> Any:
    """Return the mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return fsum(known) / len(known)


class Referee:
    """The tables of an export by their keys, and the differences found in them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.differences: list[str] = []
        self.frozen: dict[int, Row] = {}
        self.cohorts = self.by("cohorts", "cohort")
        for (number,), row in self.cohorts.items():
            self.frozen[number] = parsed(row.frozen)
        self.entrants = self.by("entrants", *AGENT)
        self.rounds = self.by("rounds", "cohort", "round")
        self.turns = self.by("turns", *TURN)
        self.pages = self.by("market_pages", "market_id", "page")
        self.quotes = self.by("quotes", "market_id", "hash")
        self.snapshots = self.by("snapshots", "cohort", "at")
        self.listed = self.grouped("snapshot_items", "cohort", "at")
        self.ends = self.by("resolutions", "market_id", "version")
        self.newest_ends = self.by("resolutions", "market_id")
        self.fills = self.by("fills", *TURN, "fill")
        self.levels = self.grouped("fill_levels", *TURN, "fill")
        self.ledgers = self.grouped("entries", *AGENT)
        self.marks = self.grouped("marks", *AGENT)
        self.calls = self.grouped("calls", *AGENT)

    def grouped(self, name: str, *keys: str) -> dict[Key, list[Row]]:
        """Return the rows of a table grouped by some of their fields, in order."""
        groups = defaultdict(list)
        lines = (self.folder / f"{name}.jsonl").read_text("utf-8").split("\n")
        for line in lines[:-1]:
            row = parsed(line)
            group = tuple(getattr(row, key) for key in keys)
            groups[group].append(row)
        return groups

    def by(self, name: str, *keys: str) -> dict[Key, Row]:
        """Return the last row of a table for each value of some fields."""
        return {key: rows[-1] for key, rows in self.grouped(name, *keys).items()}

    def compare(self, what: str, found: Mapping[Key, Row], expected: Mapping[Key, Values]) -> None:
        """Note the differences between stored and expected rows; floats may differ by rounding."""
        for key in {**expected, **found}:
            if key not in found:
                self.differences.append(f"{what} {key} is missing")
            elif key not in expected:
                self.differences.append(f"{what} {key} is one too many")
            else:
                self.compare_row(f"{what} {key}", found[key], expected[key])

    def compare_row(self, what: str, row: Row, expected: Values) -> None:
        """Note the fields of a row that differ from the expected values."""
        for name, right in expected.items():
            value = getattr(row, name)
            are_floats = type(value) is type(right) is float
            near = are_floats and isclose(value, right, abs_tol=1e-9)
            if value != right and not near:
                self.differences.append(f"{what}: {name} is {value!r} and should be {right!r}")

    def hidden_rounds(self, cohort: int) -> int:
        """Return the number of first rounds in which a cohort hides prices and forecasts."""
        return getattr(self.frozen[cohort], "hidden", 0)

    def is_hidden(self, cohort: int) -> bool:
        """Tell whether a cohort's forecasts are still hidden: no later round has begun."""
        row = self.cohorts[(cohort,)]
        if row.ended_at or row.stopped_at:
            return False
        begun = max((number for of, number in self.rounds if of == cohort), default=0)
        return begun <= self.hidden_rounds(cohort)

    def check(self) -> list[str]:
        """Recompute everything, and return what differs in the export."""
        self.check_answers()
        self.check_outcomes()
        self.check_fills()
        self.check_ledgers()
        self.check_marks()
        beliefs = Beliefs(self)
        stated = {}
        for key, row in beliefs.rows.items():
            if key[2] != PRICE:
                stated[key] = vars(row)

        self.compare("score", self.by("scores", *TURN, "market_id", "reading", "fill"), stated)
        self.compare("leaderboard", self.by("leaderboard", *AGENT), beliefs.leaderboard())
        return self.differences

    def form_of(self, item: Row) -> Row | None:
        """Return the form of a snapshot item's question; None if it is a yes/no question."""
        text = getattr(self.pages[item.market_id, item.page], "form", "")
        return parsed(text) if text else None

    def check_answers(self) -> None:
        """Check that each question other than yes/no has answers of its own kind."""
        forms = {}
        for (cohort, at), items in self.listed.items():
            for item in items:
                forms[cohort, at, item.market_id] = self.form_of(item)

        for key, row in self.by("forecasts", *TURN, "market_id", "stage").items():
            at = self.rounds[key[:2]].at
            form = forms.get((row.cohort, at, row.market_id))
            if not is_answer(form, getattr(row, "distribution", "")):
                self.differences.append(f"forecast {key} is no answer to its question")

    def check_outcomes(self) -> None:
        """Check that questions other than yes/no pay nothing and resolve to one of their options, if any."""
        asked = defaultdict(list)
        for (market, _), page in self.pages.items():
            if getattr(page, "form", ""):
                asked[market].append(parsed(page.form))

        for (market, version), end in self.ends.items():
            answer = getattr(end, "answer", "")
            known = [form for form in asked[market] if answer in getattr(form, "options", [answer])]
            if (answer and not known) or (asked[market] and end.payout is not None):
                self.differences.append(f"resolution {(market, version)} is none of its question")

    def check_fills(self) -> None:
        """Check each fill and its levels: shares × price and a fee of rate · shares · p · (1 − p)."""
        for key, fill in self.fills.items():
            levels = self.levels[key]
            for level in levels:
                worth = level.shares * level.price
                # What is paid is rounded up, which is -(-a // b), and what is received is rounded down.
                fee = -(-fill.fee_rate * worth * (ONE - level.price) // ONE**3)
                if fill.action == "buy":
                    amount = -(-worth // ONE) + fee
                    # The last millionths of an order may buy nothing more.
                    amount += min(max(level.amount - amount, 0), 3)
                else:
                    received = worth // ONE
                    fee = min(fee, received)
                    amount = received - fee
                self.compare_row(f"level of fill {key}", level, {"fee": fee, "amount": amount})

            sums = {name: total(levels, name) for name in ("shares", "amount", "fee")}
            self.compare_row(f"fill {key}", fill, sums)

    def check_ledgers(self) -> None:
        """Check every account from its bankroll on, entry by entry; each fill is posted exactly once."""
        posted = Counter[Key]()
        for whose, ledger in self.ledgers.items():
            balance = 0
            lots = defaultdict[Key, tuple[int, int]](lambda: (0, 0))
            paid: dict[Key, tuple[int, int, int]] = {}
            for number, entry in enumerate(ledger, 1):
                lot = entry.market_id, entry.side
                if entry.kind in ("buy", "sell"):
                    posted[self.place_of(entry), entry.kind, *lot] += 1
                held, spent = lots[lot]
                cash, shares, cost = self.moved(entry, held, spent, paid)
                balance += cash
                held += shares
                lots[lot] = held, spent + cost
                realised = cash + cost
                if entry.kind == "deposit":
                    realised = 0

                right = {
                    "entry": number,
                    "cash": cash,
                    "shares": shares,
                    "cost": cost,
                    "balance": balance,
                    "held": held,
                    "realised": realised,
                }
                self.compare_row(f"entry {(*whose, number)}", entry, right)

        due = Counter[Key]()
        for place, fill in self.fills.items():
            due[place, fill.action, fill.market_id, fill.side] += 1
        for key in due | posted:
            if due[key] != posted[key]:
                self.differences.append(f"fill {key} is not posted as it is due")

    def place_of(self, entry: Row) -> Key:
        """Return the key of the fill that an entry refers to."""
        number, position = map(int, entry.ref.split(":")[1:])
        return entry.cohort, number, entry.agent, position

    def moved(
        self, entry: Row, shares: int, cost: int, paid: dict[Key, tuple[int, int, int]]
    ) -> tuple[int, int, int]:
        """Return what an entry moves in cash, shares and cost; its lot had `shares` at `cost` before."""
        lot = entry.market_id, entry.side
        if entry.kind == "deposit":
            return self.frozen[entry.cohort].bankroll, 0, 0
        if entry.kind == "buy":  # the amount paid, including the fee, is the cost of the shares
            fill = self.fills[self.place_of(entry)]
            return -fill.amount, fill.shares, fill.amount
        if entry.kind == "sell":  # releases its part of that cost, rounded up
            fill = self.fills[self.place_of(entry)]
            return fill.amount, -fill.shares, -cost * fill.shares // shares
        if entry.kind == "reverse":  # a correction takes back the payment, to the millionth
            cash, closed, released = paid.pop(lot)
            return -cash, -closed, -released

        # The payout is that of a YES share; without one it is a refund, which pays the cost back.
        version = int(entry.ref.split(":")[1])
        payout = self.ends[entry.market_id, version].payout
        if payout is None:
            received = cost
        elif entry.side == "YES":
            received = shares * payout // ONE
        else:
            received = shares * (ONE - payout) // ONE
        paid[lot] = received, -shares, -cost
        return paid[lot]

    def valued(self, cohort: int, at: str, lot: Key, rows: Sequence[Row]) -> Row:
        """Return a lot valued at a snapshot: at the mid, the last trade, or its cost; to sell, at the bid."""
        shares = total(rows, "shares")
        market, side = lot
        item = next((item for item in self.listed[cohort, at] if item.market_id == market), None)
        quote = None
        if item is not None:
            quote = self.quotes.get((market, item.quote_hash))

        price = None
        bid = None
        if quote is not None:
            price = quote.mid
            bid = quote.bid
            if price is None:
                price = quote.last
            if side == "NO":
                price = mirrored(price)
                bid = mirrored(quote.ask)

        value = Row(value=total(rows, "cost"), price=None, age=None)
        value.liquidation = shares * (bid or 0) // ONE
        value.stale = "no_price" if shares else ""
        if not shares or price is None:
            return value
        assert item is not None, "a price is that of an item"
        assert quote is not None, "a price is that of a quote"

        quoted_at = datetime.fromisoformat(item.quoted_at)
        past = datetime.fromisoformat(self.snapshots[cohort, at].taken_at) - quoted_at
        most = self.frozen[cohort].rules.max_quote_age * SECOND
        value.value = shares * price // ONE
        value.price = price
        value.age = max(past // SECOND, 0)
        value.stale = ""
        if past > most:
            value.stale = "old"
        if quote.mid is None:
            value.stale = "last_trade"
        return value

    def check_marks(self) -> None:
        """Check the marks, each the sum of a ledger by its time, and the positions at the newest mark."""
        positions: dict[Key, Values] = {}
        for whose, marks in self.marks.items():
            held: dict[Key, list[Row]] = {}
            now: dict[Key, Row] = {}
            for mark in marks:
                until = [entry for entry in self.ledgers[whose] if entry.at <= mark.at]
                held = defaultdict(list)
                for entry in until[1:]:  # after the bankroll
                    held[entry.market_id, entry.side].append(entry)

                now = {}
                for lot, rows in held.items():
                    now[lot] = self.valued(mark.cohort, mark.at, lot, rows)
                values = now.values()
                right = {
                    "cash": total(until, "cash"),
                    "cost": total(until, "cost"),
                    "realised": total(until, "realised"),
                    "value": total(values, "value"),
                    "liquidation": total(values, "liquidation"),
                    "age": max((lot.age or 0 for lot in values), default=0),
                    "stale": sum(lot.stale != "" for lot in values),
                }
                self.compare_row(f"mark {(*whose, mark.at)}", mark, right)

            for lot, rows in held.items():
                positions[*whose, *lot] = life_of(rows, now[lot])
        self.compare("position", self.by("positions", *AGENT, "market_id", "side"), positions)


def is_answer(form: Row | None, text: str) -> bool:
    """Tell whether a distribution fits a question: a chance for each option, or ascending quantiles."""
    if form is None or not text:
        return form is None and not text

    answer = parsed(text)
    try:
        if hasattr(form, "options"):
            chances = answer.chances
            return len(chances) == len(form.options) and min(chances) >= 0 and sum(chances) == ONE
        return has_its_range(form, answer.quantiles)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False


def has_its_range(form: Row, quantiles: Sequence[tuple[int, str]]) -> bool:
    """Tell whether quantiles ascend, within the bounds that are closed."""
    number = seconds_of if form.kind == "date" else float
    shares = [share for share, _ in quantiles]
    values = [number(value) for _, value in quantiles]
    is_above = getattr(form, "open_low", False) or number(form.low) <= values[0]
    is_below = getattr(form, "open_high", False) or values[-1] <= number(form.high)
    is_ascending = shares == sorted(set(shares)) and values == sorted(values)
    return is_above and is_below and is_ascending


def seconds_of(text: str) -> float:
    """Return a date or an instant as seconds; without a time zone it is in UTC."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return at.timestamp()


def mirrored(price: int | None) -> int | None:
    """Return the price of a NO share, given that of YES."""
    if price is None:
        return None
    return ONE - price


def life_of(rows: Sequence[Row], value: Row) -> Values:
    """Return a lot's totals over its life, and its value."""
    life: Values = {name: getattr(value, name) for name in ("value", "price", "age", "stale")}
    life["shares"] = total(rows, "shares")
    life["cost"] = total(rows, "cost")
    life["realised"] = total(rows, "realised")
    life["bought"] = total(rows, "shares", "buy")
    life["sold"] = -total(rows, "shares", "sell")
    life["settled"] = -total(rows, "shares", *ENDINGS)
    life["paid"] = -total(rows, "cash", "buy")
    life["received"] = total(rows, "cash", "sell", *ENDINGS)
    return life


class Beliefs:
    """Every forecast: the one stated on each market shown, and two readings of the size of each bet.

    `rows` are keyed by cohort, round, agent, market, reading and fill; `early` are the turns of models that
    may have known the outcome.
    """

    def __init__(self, export: Referee):
        self.export = export
        self.early: set[Key] = set()
        self.rows: dict[Key, Row] = {}
        self.played_by = dict(export.entrants)
        for key, row in sorted(export.by("replacements", *AGENT, "round").items()):
            self.played_by[key[:2]] = row
        self.forecasts = export.by("forecasts", *TURN, "market_id", "stage")
        self.second = export.by("second_quotes", *TURN, "market_id")
        for place, turn in export.turns.items():
            if not export.is_hidden(turn.cohort):
                self.add_stated(place, turn)
        for key, fill in export.fills.items():
            if fill.action == "buy":
                self.add_bet(key, fill)

    def add_stated(self, place: Key, turn: Row) -> None:
        """Add what a turn stated on each market; a skipped market agrees with the price, if it was shown."""
        export = self.export
        at = export.rounds[place[:2]].at
        settings = vars(parsed(self.played_by[place[::2]].settings))
        if (settings.get("released") or "") > at[:10]:
            self.early.add(place)

        for item in export.listed[turn.cohort, at]:
            if not item.shown or turn.status in ("out", "waiting"):  # these saw nothing
                continue
            market = item.market_id
            if self.export.form_of(item) is not None:
                continue  # only yes/no questions have a probability
            mid = self.mid_of(place, item)
            own = None
            if turn.status in ("played", "partly"):
                own = self.forecasts.get((*place, market, "final"))

            if own is not None:
                belief = own.probability
            elif settings.get("prices") == "hidden" or turn.round <= export.hidden_rounds(turn.cohort):
                belief = ONE // 2
            else:
                belief = mid
            event = export.pages[market, item.page].event_id
            row = self.scored(market, belief / ONE, mid, said=int(own is not None), event_id=event)
            self.rows.setdefault((*place, market, "stated", None), row)
            price = self.scored(market, mid / ONE, mid, said=1, event_id=event)
            self.rows.setdefault((*place[:2], PRICE, market, "stated", None), price)

    def mid_of(self, place: Key, item: Row) -> int:
        """Return the price that a forecast is compared with: the second one if there is any."""
        market = item.market_id
        for seen in (self.second.get((*place, market)), item):
            if seen is None:
                continue
            quote = self.export.quotes.get((market, seen.quote_hash))
            if quote is not None and quote.mid is not None:
                return int(quote.mid)
        return ONE // 2

    def add_bet(self, key: Key, fill: Row) -> None:
        """Add two readings of the size of a bet, which is a share of the largest possible bet."""
        levels = self.export.levels[key]
        most = fill.base * self.export.frozen[fill.cohort].rules.max_bet / ONE
        confidence = min(fill.wanted / most, 1.0)
        worth = sum(level.price * level.shares for level in levels)
        paid = worth / total(levels, "shares") / ONE
        if fill.side == "YES":
            price = paid
            beliefs = {"implied": confidence, "anchored": price + confidence * (1 - price)}
        else:
            price = 1 - paid
            beliefs = {"implied": 1 - confidence, "anchored": price * (1 - confidence)}
        for reading, belief in beliefs.items():
            row = self.scored(fill.market_id, belief, price=price, side=fill.side)
            self.rows[*key[:3], fill.market_id, reading, key[3]] = row

    def scored(self, market_id: str, forecast: float, mid: int | None = None, **more: Any) -> Row:
        """Return a forecast with its Brier score, (forecast − outcome)²; only YES and NO are scored."""
        end = self.export.newest_ends.get((market_id,))
        row = Row(**more, market_id=market_id, forecast=forecast, mid=mid, outcome="open")
        row.brier = None
        row.brier_market = None
        if end is None:
            return row

        row.outcome = {ONE: "YES", 0: "NO"}.get(end.payout, "unscored")
        if row.outcome != "unscored":
            outcome = end.payout / ONE
            row.brier = (forecast - outcome) ** 2
            if mid is not None:
                row.brier_market = (mid / ONE - outcome) ** 2
        return row

    def leaderboard(self) -> dict[Key, Values]:
        """Return the leaderboards of all cohorts and of each, with the price if no agent plays it."""
        board = {}
        numbers = list(self.export.frozen)
        for cohort in (None, *numbers):
            cohorts = numbers if cohort is None else [cohort]
            kinds = {}
            for (number, name), row in self.export.entrants.items():
                if number in cohorts:
                    kinds[name] = row.kind
            for name in kinds:
                board[cohort, name] = self.line(name, cohorts)
            if kinds and "market" not in kinds.values():
                board[cohort, "market"] = self.line(PRICE, cohorts)
        return board

    def readings_of(self, agent: str, cohorts: Collection[int]) -> dict[str, list[Row]]:
        """Return an agent's forecasts by reading; `counted` are the stated ones that count for its scores."""
        readings = defaultdict[str, list[Row]](list)
        for key, row in self.rows.items():
            cohort, _, name, _, reading, _ = key
            if cohort not in cohorts or name != agent:
                continue
            readings[reading].append(row)
            if reading == "stated" and key[:3] not in self.early:
                readings["counted"].append(row)
        return readings

    def line(self, agent: str, cohorts: Collection[int]) -> Values:
        """Return an agent's line on the leaderboard of some cohorts."""
        export = self.export
        readings = self.readings_of(agent, cohorts)
        stated = readings["stated"]
        counted = readings["counted"]
        bets = readings["implied"]
        ended = [row for row in stated if row.brier is not None]
        done = [row for row in counted if row.brier is not None]

        played = [(cohort, agent) for cohort in cohorts if (cohort, agent) in export.entrants]
        kind = "market"
        if played:
            kind = export.entrants[played[-1]].kind
        statuses = Counter(turn.status for key, turn in export.turns.items() if key[::2] in played)
        sold = [key for key, fill in export.fills.items() if fill.action == "sell" and key[:3:2] in played]

        coverage = None
        ranked = False
        if done:
            coverage = total(done, "said") / len(done)
            ranked = kind == "market" or coverage >= 0.8
        own = mean(by_market(done, "brier"))
        price = mean(by_market(done, "brier_market"))
        won = [float(row.side == row.outcome) for row in bets if row.brier is not None]

        line = Row(**self.money(played))
        line.kind = kind
        line.cohorts = len(played or cohorts)
        line.turns = statuses.total()
        line.malformed = statuses["malformed"] + statuses["declined"]
        line.failed = statuses["failed"]
        line.late = statuses["late"]
        line.bets = len(bets)
        line.sold = len(sold)
        line.resolved = len(done)
        line.early = len(ended) - len(done)
        line.unscored = sum(row.outcome == "unscored" for row in stated)
        line.brier_stated = own
        line.brier_market = price
        line.brier_implied = mean(row.brier for row in bets)
        line.brier_anchored = mean(row.brier for row in readings["anchored"])
        line.skill = None
        line.skill_ratio = None
        if ranked:
            line.skill = price - own
        if ranked and price:
            line.skill_ratio = 1 - own / price
        line.shown = len(counted)
        line.answered = total(counted, "said")
        line.win_rate = mean(won)
        line.cost_usd, line.cost_per_forecast = self.costs(played, total(stated, "said"))
        line.coverage = coverage
        line.events = len({row.event_id for row in done})
        return vars(line)

    def costs(self, played: Sequence[Key], forecasts: int) -> tuple[float | None, float | None]:
        """Return the cost of an agent's calls in dollars, in total and per forecast; None if unknown."""
        millionths = 0
        for whose in played:
            for call in self.export.calls[whose]:
                if call.cost is None:
                    return None, None
                millionths += call.cost

        cost = millionths / ONE
        if not forecasts:
            return cost, None
        return cost, cost / forecasts

    def money(self, played: Sequence[Key]) -> Values:
        """Return an agent's profit and return in the cohorts that were marked."""
        marks = self.export.marks
        given = 0
        worth = 0
        for cohort, agent in played:
            has_money = getattr(self.export.frozen[cohort].rules, "money", True)
            if marks[cohort, agent] and has_money:
                newest = marks[cohort, agent][-1]
                given += self.export.frozen[cohort].bankroll
                worth += newest.cash + newest.value

        if not given:
            return {"pnl": None, "return_pct": None}
        profit = worth - given
        return {"pnl": profit / ONE, "return_pct": 100 * profit / given}


def by_market(rows: Iterable[Row], name: str) -> Iterator[float | None]:
    """Yield the mean of a score on each market, so that each market has the same weight."""
    markets = defaultdict(list)
    for row in rows:
        markets[row.market_id].append(getattr(row, name))
    return map(mean, markets.values())


def referee(folder: Path) -> list[str]:
    """Return the differences between an export as JSON and its facts; an empty list if there are none."""
    return Referee(folder).check()


if __name__ == "__main__":
    sys.exit("\n".join(referee(Path(sys.argv[1]))) or None)
