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


def sum_of(rows: Iterable[Row], name: str, *kinds: str) -> int:
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
        self.cohorts = self.last_rows("cohorts", "cohort")
        for (number,), row in self.cohorts.items():
            self.frozen[number] = parsed(row.frozen)
        self.entrants = self.last_rows("entrants", *AGENT)
        self.rounds = self.last_rows("rounds", "cohort", "round")
        self.turns = self.last_rows("turns", *TURN)
        self.pages = self.last_rows("market_pages", "market_id", "page")
        self.quotes = self.last_rows("quotes", "market_id", "hash")
        self.snapshots = self.last_rows("snapshots", "cohort", "at")
        self.listed = self.rows_by_key("snapshot_items", "cohort", "at")
        self.resolutions = self.last_rows("resolutions", "market_id", "version")
        self.newest_resolutions = self.last_rows("resolutions", "market_id")
        self.fills = self.last_rows("fills", *TURN, "fill")
        self.levels = self.rows_by_key("fill_levels", *TURN, "fill")
        self.ledgers = self.rows_by_key("entries", *AGENT)
        self.marks = self.rows_by_key("marks", *AGENT)
        self.calls = self.rows_by_key("calls", *AGENT)

    def rows_by_key(self, name: str, *keys: str) -> dict[Key, list[Row]]:
        """Return the rows of a table grouped by some of their fields, in order."""
        groups = defaultdict(list)
        lines = (self.folder / f"{name}.jsonl").read_text("utf-8").split("\n")
        for line in lines[:-1]:
            row = parsed(line)
            group = tuple(getattr(row, key) for key in keys)
            groups[group].append(row)
        return groups

    def last_rows(self, name: str, *keys: str) -> dict[Key, Row]:
        """Return the last row of a table for each value of some fields."""
        return {key: rows[-1] for key, rows in self.rows_by_key(name, *keys).items()}

    def compare(self, table: str, found: Mapping[Key, Row], expected: Mapping[Key, Values]) -> None:
        """Note the differences between stored and expected rows; floats may differ by rounding."""
        for key in {**expected, **found}:
            if key not in found:
                self.differences.append(f"{table} {key} is missing")
            elif key not in expected:
                self.differences.append(f"{table} {key} is one too many")
            else:
                self.compare_row(f"{table} {key}", found[key], expected[key])

    def compare_row(self, what: str, row: Row, expected: Values) -> None:
        """Note the fields of a row that differ from the expected values."""
        for name, expected_value in expected.items():
            value = getattr(row, name)
            are_floats = type(value) is type(expected_value) is float
            is_close = are_floats and isclose(value, expected_value, abs_tol=1e-9)
            if value != expected_value and not is_close:
                self.differences.append(f"{what}: {name} is {value!r} and should be {expected_value!r}")

    def hidden_rounds(self, cohort: int) -> int:
        """Return the number of first rounds in which a cohort hides prices and forecasts."""
        return getattr(self.frozen[cohort], "hidden", 0)

    def is_hidden(self, cohort: int) -> bool:
        """Tell whether a cohort's forecasts are still hidden: no later round has begun."""
        row = self.cohorts[(cohort,)]
        is_over = row.ended_at or row.stopped_at
        if is_over:
            return False

        newest_round = max((number for of, number in self.rounds if of == cohort), default=0)
        return newest_round <= self.hidden_rounds(cohort)

    def check(self) -> list[str]:
        """Recompute everything, and return what differs in the export."""
        self.check_answers()
        self.check_outcomes()
        self.check_fills()
        self.check_ledgers()
        self.check_marks()

        beliefs = Beliefs(self)
        agents_forecasts = {}
        for key, row in beliefs.rows.items():
            agent = key[2]
            if agent != PRICE:
                agents_forecasts[key] = vars(row)

        scores = self.last_rows("scores", *TURN, "market_id", "reading", "fill")
        self.compare("score", scores, agents_forecasts)
        self.compare("leaderboard", self.last_rows("leaderboard", *AGENT), beliefs.leaderboard())
        return self.differences

    def question_form_of(self, item: Row) -> Row | None:
        """Return the form of a snapshot item's question; None if it is a yes/no question."""
        text = getattr(self.pages[item.market_id, item.page], "form", "")
        return parsed(text) if text else None

    def check_answers(self) -> None:
        """Check that each question other than yes/no has answers of its own kind."""
        forms = {}
        for (cohort, at), items in self.listed.items():
            for item in items:
                forms[cohort, at, item.market_id] = self.question_form_of(item)

        for key, row in self.last_rows("forecasts", *TURN, "market_id", "stage").items():
            at = self.rounds[key[:2]].at
            form = forms.get((row.cohort, at, row.market_id))
            if not is_answer(form, getattr(row, "distribution", "")):
                self.differences.append(f"forecast {key} is no answer to its question")

    def check_outcomes(self) -> None:
        """Check that questions other than yes/no pay nothing and resolve to one of their options, if any."""
        forms_by_market = defaultdict(list)
        for (market, _), page in self.pages.items():
            if getattr(page, "form", ""):
                forms_by_market[market].append(parsed(page.form))

        for (market, version), resolution in self.resolutions.items():
            answer = getattr(resolution, "answer", "")
            fitting_forms = [
                form for form in forms_by_market[market] if answer in getattr(form, "options", [answer])
            ]
            if (answer and not fitting_forms) or (forms_by_market[market] and resolution.payout is not None):
                self.differences.append(f"resolution {(market, version)} is none of its question")

    def check_fills(self) -> None:
        """Check each fill and its levels: shares × price and a fee of rate · shares · p · (1 − p)."""
        for key, fill in self.fills.items():
            levels = self.levels[key]
            for level in levels:
                value = level.shares * level.price
                # What is paid is rounded up, which is -(-a // b), and what is received is rounded down.
                fee = -(-fill.fee_rate * value * (ONE - level.price) // ONE**3)
                if fill.action == "buy":
                    amount = -(-value // ONE) + fee
                    # The last millionths of an order may buy nothing more.
                    amount += min(max(level.amount - amount, 0), 3)
                else:
                    received = value // ONE
                    fee = min(fee, received)
                    amount = received - fee
                self.compare_row(f"level of fill {key}", level, {"fee": fee, "amount": amount})

            expected = {name: sum_of(levels, name) for name in ("shares", "amount", "fee")}
            self.compare_row(f"fill {key}", fill, expected)

    def check_ledgers(self) -> None:
        """Check every account from its bankroll on, entry by entry; each fill is posted exactly once."""
        posted = Counter[Key]()
        for account, ledger in self.ledgers.items():
            balance = 0
            lots = defaultdict[Key, tuple[int, int]](lambda: (0, 0))
            settlements: dict[Key, tuple[int, int, int]] = {}
            for number, entry in enumerate(ledger, 1):
                lot = entry.market_id, entry.side
                if entry.kind in ("buy", "sell"):
                    posted[self.fill_key_of(entry), entry.kind, *lot] += 1

                held, spent = lots[lot]
                cash, shares, cost = self.movement_of(entry, held, spent, settlements)
                balance += cash
                held += shares
                lots[lot] = held, spent + cost
                realised = cash + cost
                if entry.kind == "deposit":
                    realised = 0

                expected = {
                    "entry": number,
                    "cash": cash,
                    "shares": shares,
                    "cost": cost,
                    "balance": balance,
                    "held": held,
                    "realised": realised,
                }
                self.compare_row(f"entry {(*account, number)}", entry, expected)

        due = Counter[Key]()
        for fill_key, fill in self.fills.items():
            due[fill_key, fill.action, fill.market_id, fill.side] += 1
        for key in due | posted:
            if due[key] != posted[key]:
                self.differences.append(f"fill {key} is not posted as it is due")

    def fill_key_of(self, entry: Row) -> Key:
        """Return the key of the fill that an entry refers to."""
        number, position = map(int, entry.ref.split(":")[1:])
        return entry.cohort, number, entry.agent, position

    def movement_of(
        self, entry: Row, held_shares: int, held_cost: int, settlements: dict[Key, tuple[int, int, int]]
    ) -> tuple[int, int, int]:
        """Return what an entry moves in cash, shares and cost.

        Before it, the lot had `held_shares` at `held_cost`. `settlements` has the last settlement of each
        lot, and is kept up to date.
        """
        lot = entry.market_id, entry.side
        if entry.kind == "deposit":
            return self.frozen[entry.cohort].bankroll, 0, 0
        if entry.kind == "buy":  # the amount paid, including the fee, is the cost of the shares
            fill = self.fills[self.fill_key_of(entry)]
            return -fill.amount, fill.shares, fill.amount
        if entry.kind == "sell":  # releases its part of that cost, rounded up
            fill = self.fills[self.fill_key_of(entry)]
            return fill.amount, -fill.shares, -held_cost * fill.shares // held_shares
        if entry.kind == "reverse":  # a correction takes back the payment, to the millionth
            cash, closed_shares, released_cost = settlements.pop(lot)
            return -cash, -closed_shares, -released_cost

        # The payout is that of a YES share; without one it is a refund, which pays the cost back.
        version = int(entry.ref.split(":")[1])
        payout = self.resolutions[entry.market_id, version].payout
        if payout is None:
            received = held_cost
        elif entry.side == "YES":
            received = held_shares * payout // ONE
        else:
            received = held_shares * (ONE - payout) // ONE
        settlements[lot] = received, -held_shares, -held_cost
        return settlements[lot]

    def value_of_lot(self, cohort: int, at: str, lot: Key, rows: Sequence[Row]) -> Row:
        """Return a lot valued at a snapshot: at the mid, the last trade, or its cost; to sell, at the bid."""
        shares = sum_of(rows, "shares")
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
                price = price_of_no(price)
                bid = price_of_no(quote.ask)

        value = Row(value=sum_of(rows, "cost"), price=None, age=None)
        value.liquidation = shares * (bid or 0) // ONE
        value.stale = "no_price" if shares else ""
        if not shares or price is None:
            return value
        assert item is not None, "a price is that of an item"
        assert quote is not None, "a price is that of a quote"

        quoted_at = datetime.fromisoformat(item.quoted_at)
        age = datetime.fromisoformat(self.snapshots[cohort, at].taken_at) - quoted_at
        oldest_allowed = self.frozen[cohort].rules.max_quote_age * SECOND
        value.value = shares * price // ONE
        value.price = price
        value.age = max(age // SECOND, 0)
        value.stale = ""
        if age > oldest_allowed:
            value.stale = "old"
        if quote.mid is None:
            value.stale = "last_trade"
        return value

    def check_marks(self) -> None:
        """Check the marks, each the sum of a ledger by its time, and the positions at the newest mark."""
        positions: dict[Key, Values] = {}
        for account, marks in self.marks.items():
            entries_by_lot: dict[Key, list[Row]] = {}
            value_by_lot: dict[Key, Row] = {}
            for mark in marks:
                entries_until = [entry for entry in self.ledgers[account] if entry.at <= mark.at]
                entries_by_lot = defaultdict(list)
                for entry in entries_until[1:]:  # after the bankroll
                    entries_by_lot[entry.market_id, entry.side].append(entry)

                value_by_lot = {}
                for lot, entries in entries_by_lot.items():
                    value_by_lot[lot] = self.value_of_lot(mark.cohort, mark.at, lot, entries)
                values = value_by_lot.values()
                expected = {
                    "cash": sum_of(entries_until, "cash"),
                    "cost": sum_of(entries_until, "cost"),
                    "realised": sum_of(entries_until, "realised"),
                    "value": sum_of(values, "value"),
                    "liquidation": sum_of(values, "liquidation"),
                    "age": max((lot.age or 0 for lot in values), default=0),
                    "stale": sum(lot.stale != "" for lot in values),
                }
                self.compare_row(f"mark {(*account, mark.at)}", mark, expected)

            for lot, entries in entries_by_lot.items():
                positions[*account, *lot] = lot_totals(entries, value_by_lot[lot])
        self.compare("position", self.last_rows("positions", *AGENT, "market_id", "side"), positions)


def is_answer(form: Row | None, text: str) -> bool:
    """Tell whether a distribution fits a question: a chance for each option, or ascending quantiles."""
    if form is None or not text:
        return form is None and not text

    answer = parsed(text)
    try:
        if hasattr(form, "options"):
            chances = answer.chances
            return len(chances) == len(form.options) and min(chances) >= 0 and sum(chances) == ONE
        return quantiles_fit_range(form, answer.quantiles)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False


def quantiles_fit_range(form: Row, quantiles: Sequence[tuple[int, str]]) -> bool:
    """Tell whether quantiles ascend, within the bounds that are closed."""
    parse = seconds_of if form.kind == "date" else float
    shares = [share for share, _ in quantiles]
    values = [parse(value) for _, value in quantiles]
    is_above = getattr(form, "open_low", False) or parse(form.low) <= values[0]
    is_below = getattr(form, "open_high", False) or values[-1] <= parse(form.high)
    is_ascending = shares == sorted(set(shares)) and values == sorted(values)
    return is_above and is_below and is_ascending


def seconds_of(text: str) -> float:
    """Return a date or an instant as seconds; without a time zone it is in UTC."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return at.timestamp()


def price_of_no(price: int | None) -> int | None:
    """Return the price of a NO share, given that of YES."""
    if price is None:
        return None
    return ONE - price


def lot_totals(rows: Sequence[Row], value: Row) -> Values:
    """Return a lot's totals over its life, and its value."""
    values = {name: getattr(value, name) for name in ("value", "price", "age", "stale")}
    return values | {
        "shares": sum_of(rows, "shares"),
        "cost": sum_of(rows, "cost"),
        "realised": sum_of(rows, "realised"),
        "bought": sum_of(rows, "shares", "buy"),
        "sold": -sum_of(rows, "shares", "sell"),
        "settled": -sum_of(rows, "shares", *ENDINGS),
        "paid": -sum_of(rows, "cash", "buy"),
        "received": sum_of(rows, "cash", "sell", *ENDINGS),
    }


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
        for key, row in sorted(export.last_rows("replacements", *AGENT, "round").items()):
            self.played_by[key[:2]] = row
        self.forecasts = export.last_rows("forecasts", *TURN, "market_id", "stage")
        self.second = export.last_rows("second_quotes", *TURN, "market_id")
        for place, turn in export.turns.items():
            if not export.is_hidden(turn.cohort):
                self.add_stated(place, turn)
        for key, fill in export.fills.items():
            if fill.action == "buy":
                self.add_bet(key, fill)

    def add_stated(self, place: Key, turn: Row) -> None:
        """Add what a turn stated on each market; a skipped market agrees with the price, if it was shown."""
        export = self.export
        round_key = place[:2]
        agent_key = place[::2]
        at = export.rounds[round_key].at
        settings = vars(parsed(self.played_by[agent_key].settings))
        is_early = (settings.get("released") or "") > at[:10]
        if is_early:
            self.early.add(place)

        for item in export.listed[turn.cohort, at]:
            if not item.shown or turn.status in ("out", "waiting"):  # these saw nothing
                continue
            market = item.market_id
            if export.question_form_of(item) is not None:
                continue  # only yes/no questions have a probability

            mid = self.mid_of(place, item)
            own_forecast = None
            if turn.status in ("played", "partly"):
                own_forecast = self.forecasts.get((*place, market, "final"))

            saw_no_price = settings.get("prices") == "hidden" or turn.round <= export.hidden_rounds(
                turn.cohort
            )
            if own_forecast is not None:
                belief = own_forecast.probability
            elif saw_no_price:
                belief = ONE // 2
            else:
                belief = mid
            event = export.pages[market, item.page].event_id
            said = int(own_forecast is not None)
            row = self.scored(market, belief / ONE, mid, said=said, event_id=event)
            self.rows.setdefault((*place, market, "stated", None), row)
            price = self.scored(market, mid / ONE, mid, said=1, event_id=event)
            self.rows.setdefault((*round_key, PRICE, market, "stated", None), price)

    def mid_of(self, place: Key, item: Row) -> int:
        """Return the price that a forecast is compared with: the second one if there is any."""
        market = item.market_id
        for quoted in (self.second.get((*place, market)), item):
            if quoted is None:
                continue
            quote = self.export.quotes.get((market, quoted.quote_hash))
            if quote is not None and quote.mid is not None:
                return int(quote.mid)
        return ONE // 2

    def add_bet(self, key: Key, fill: Row) -> None:
        """Add two readings of the size of a bet, which is a share of the largest possible bet."""
        levels = self.export.levels[key]
        largest_bet = fill.base * self.export.frozen[fill.cohort].rules.max_bet / ONE
        confidence = min(fill.wanted / largest_bet, 1.0)
        value = sum(level.price * level.shares for level in levels)
        average_price = value / sum_of(levels, "shares") / ONE
        if fill.side == "YES":
            price = average_price
            beliefs = {"implied": confidence, "anchored": price + confidence * (1 - price)}
        else:
            price = 1 - average_price
            beliefs = {"implied": 1 - confidence, "anchored": price * (1 - confidence)}

        *turn_key, fill_number = key
        for reading, belief in beliefs.items():
            row = self.scored(fill.market_id, belief, price=price, side=fill.side)
            self.rows[*turn_key, fill.market_id, reading, fill_number] = row

    def scored(self, market_id: str, forecast: float, mid: int | None = None, **more: Any) -> Row:
        """Return a forecast with its Brier score, (forecast − outcome)²; only YES and NO are scored."""
        resolution = self.export.newest_resolutions.get((market_id,))
        row = Row(**more, market_id=market_id, forecast=forecast, mid=mid, outcome="open")
        row.brier = None
        row.brier_market = None
        if resolution is None:
            return row

        row.outcome = {ONE: "YES", 0: "NO"}.get(resolution.payout, "unscored")
        if row.outcome != "unscored":
            outcome = resolution.payout / ONE
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
        stated_and_ended = [row for row in stated if row.brier is not None]
        scored = [row for row in counted if row.brier is not None]

        played = [(cohort, agent) for cohort in cohorts if (cohort, agent) in export.entrants]
        kind = "market"
        if played:
            kind = export.entrants[played[-1]].kind
        # Of a turn's or fill's key, the first and the third part are the cohort and the agent.
        statuses = Counter(turn.status for key, turn in export.turns.items() if key[::2] in played)
        sold = [key for key, fill in export.fills.items() if fill.action == "sell" and key[:3:2] in played]

        coverage = None
        ranked = False
        if scored:
            coverage = sum_of(scored, "said") / len(scored)
            ranked = kind == "market" or coverage >= 0.8
        own_brier = mean(by_market(scored, "brier"))
        price_brier = mean(by_market(scored, "brier_market"))
        won = [float(row.side == row.outcome) for row in bets if row.brier is not None]

        skill = None
        skill_ratio = None
        if ranked:
            skill = price_brier - own_brier
        if ranked and price_brier:
            skill_ratio = 1 - own_brier / price_brier
        cost, cost_per_forecast = self.costs(played, sum_of(stated, "said"))

        return self.money(played) | {
            "kind": kind,
            "cohorts": len(played or cohorts),
            "turns": statuses.total(),
            "malformed": statuses["malformed"] + statuses["declined"],
            "failed": statuses["failed"],
            "late": statuses["late"],
            "bets": len(bets),
            "sold": len(sold),
            "resolved": len(scored),
            "early": len(stated_and_ended) - len(scored),
            "unscored": sum(row.outcome == "unscored" for row in stated),
            "brier_stated": own_brier,
            "brier_market": price_brier,
            "brier_implied": mean(row.brier for row in bets),
            "brier_anchored": mean(row.brier for row in readings["anchored"]),
            "skill": skill,
            "skill_ratio": skill_ratio,
            "shown": len(counted),
            "answered": sum_of(counted, "said"),
            "win_rate": mean(won),
            "cost_usd": cost,
            "cost_per_forecast": cost_per_forecast,
            "coverage": coverage,
            "events": len({row.event_id for row in scored}),
        }

    def costs(self, played: Sequence[Key], forecasts: int) -> tuple[float | None, float | None]:
        """Return the cost of an agent's calls in dollars, in total and per forecast; None if unknown."""
        millionths = 0
        for account in played:
            for call in self.export.calls[account]:
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
        bankrolls = 0
        worth = 0
        for cohort, agent in played:
            has_money = getattr(self.export.frozen[cohort].rules, "money", True)
            if marks[cohort, agent] and has_money:
                newest = marks[cohort, agent][-1]
                bankrolls += self.export.frozen[cohort].bankroll
                worth += newest.cash + newest.value

        if not bankrolls:
            return {"pnl": None, "return_pct": None}
        profit = worth - bankrolls
        return {"pnl": profit / ONE, "return_pct": 100 * profit / bankrolls}


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
