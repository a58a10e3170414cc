"""Replay of a round's turns: decided, filled at the round's prices, and sealed.

An agent decides by what it was shown (`answers`), and its forecasts, orders and rejections must come out the
same. Turns that can't be decided again are counted: those of custom code, of files, and of agents that know
the simulator's truth. So are turns whose answers an earlier reader parsed; the turn's hash alone checks what
they decided. A reader's version never decreases from one round to the next, so no newer turn can pass for an
older one.

The orders of every turn are executed again, and each fill with its levels and each refusal must come out the
same.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import combinations
from operator import attrgetter, itemgetter
from types import SimpleNamespace

from agents.answers.parse import READER_VERSION
from agents.model import DECIDED_STATUSES, USABLE_STATUSES, Call, Decision, Forecast, Given, View
from arena.cohorts.cohort import forecast_sources, seed_for
from arena.cohorts.hidden_rounds import LEFT_OUT_WORDS, is_left_out, refused_orders, view_of_round
from arena.record.model.cohort import Cohort, Entrant
from arena.record.schema.codec import orders_of, orders_text
from arena.record.write.listings import PRICE_FIELDS, quote_of
from arena.verify.checks.answers import ANSWERED, RULES, PossibleDecision, decisions_of
from arena.verify.checks.questions import check_answers
from arena.verify.checks.seals import check_seal
from arena.verify.differences import Difference, Found, fault_text
from arena.verify.reader import RecordReader, Row, compare_by, compare_in_order, instant
from markets.hashes import canonical, plain_value
from markets.model import Listing, Quote, Snapshot
from portfolio.execute import execute_at, is_out
from portfolio.ledger import post
from portfolio.marks import mark_all
from portfolio.matching import SnapshotOffers, WorseOffers
from portfolio.model import Entry, Fill, Holdings, Mark, Rejection

BY_AGENT = "its agent decides so again"
BY_MARKET = "the orders come to that at the round's prices"
SEALS_FILL = "it seals the fill and each fill_level of it"
SEALS_TURN = "it seals the turn, each forecast, each rejection and each second_quote in it"
EARLIER_READERS = "turns of an earlier reader, checked by hash only"
CLOSED_CODE = "closed_since"
CLOSED = "the market has closed since the snapshot was taken"
LONGEST = timedelta(days=1)
"""No turn is retried for longer than this."""
NO_TIME = timedelta()

PRICES = ", ".join(f"quote.{name} AS price_{name}" for name in (*PRICE_FIELDS, "book", "hash"))
OF_TURNS = {
    "forecast": "SELECT part.* FROM forecast AS part",
    "rejection": "SELECT part.* FROM rejection AS part",
    "fill": "SELECT part.* FROM fill AS part",
    "second_quote": f"""SELECT part.*, {PRICES} FROM second_quote AS part
        LEFT JOIN quote ON quote.id = part.quote_id""",
}
"""The rows that belong to turns, by table."""
LEVELS = """SELECT fill_level.* FROM fill_level JOIN fill ON fill.id = fill_level.fill_id
    JOIN turn ON turn.id = fill.turn_id WHERE turn.round_id = :round ORDER BY fill_id, fill_level.position"""
DECIDED = ", ".join(f"'{status}'" for status in sorted(DECIDED_STATUSES))
READERS = f"""SELECT turn.reader, round.cohort_id AS cohort, min(round.at) AS first, max(round.at) AS last
    FROM turn JOIN round ON round.id = turn.round_id WHERE turn.status IN ({DECIDED})
    GROUP BY turn.reader, round.cohort_id ORDER BY turn.reader, round.cohort_id"""
"""The first and the last round of each reader's turns in each cohort."""
READ_SO = f"""SELECT turn.* FROM turn JOIN round ON round.id = turn.round_id WHERE round.cohort_id = :cohort
    AND turn.reader = :reader AND round.at = :at AND turn.status IN ({DECIDED}) ORDER BY turn.id"""


def check_readers(facts: RecordReader) -> Found:
    """Yield turns with an older reader than an earlier round: of their cohort, or of any a day before."""
    for older, newer in combinations(facts.rows("turn", READERS), 2):
        if older["reader"] == newer["reader"]:
            continue

        # The older reader's last round must not be later than the newer one's first round.
        overlap = instant(older["last"]) - instant(newer["first"])
        if overlap > LONGEST or (overlap > NO_TIME and older["cohort"] == newer["cohort"]):
            cohort = older["cohort"]
            expected = f"{newer['reader']} or more"
            for turn in facts.rows("turn", READ_SO, cohort=cohort, reader=older["reader"], at=older["last"]):
                yield turn.differs("reader", expected, "a turn of an earlier round has a newer reader")


@dataclass
class StoredTurn:
    """The rows of a turn; `levels` are those of the round's fills, by the fills' ids."""

    row: Row
    forecasts: list[Row]
    rejections: list[Row]
    fills: list[Row]
    second_quotes: list[Row]
    levels: Mapping[int, list[Row]]
    failed_before: bool

    @property
    def has_earlier_reader(self) -> bool:
        """Tell whether an earlier version parsed its answers, whose notes may be worded differently."""
        return bool(self.row["reader"] < READER_VERSION)


@dataclass
class PlayedRound:
    """A round with everything that its turns depend on; agents and accounts are keyed by id."""

    facts: RecordReader
    cohort: Cohort
    row: Row
    snapshot: Snapshot
    agents: Mapping[int, Entrant]
    accounts: Mapping[int, Holdings]
    calls: Mapping[int, Sequence[Call]]
    stated: Mapping[str, tuple[Forecast, ...]]
    texts: Mapping[str, str]
    runner: asyncio.Runner
    offers: SnapshotOffers = field(init=False)
    marks: Mapping[int, Mark] = field(init=False)
    entries: dict[int, list[Entry]] = field(default_factory=dict)
    """The entries of the replayed fills, by entrant."""
    statuses: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.offers = SnapshotOffers(self.snapshot, self.cohort.rules)
        self.marks = mark_all(self.accounts, self.snapshot, self.cohort.rules.quote_age)

    def check(self) -> Found:
        """Replay every turn and yield the differences."""
        forms = {listing.market.id: listing.market.form for listing in self.snapshot}
        for turn in _read_turns(self.facts, self.row["id"]):
            entrant_id = turn.row["entrant_id"]
            self.statuses[entrant_id] = turn.row["status"]
            agent = self.agents.get(entrant_id)
            yield from _check_turn_seal(turn, "" if agent is None else agent.replaced_hash)
            yield from check_answers(turn.forecasts, forms)
            if agent is None:
                continue
            try:
                yield from self._check_turn(turn, agent, self.accounts[entrant_id])
            except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
                yield turn.row.differs("orders", "what can be played again", fault_text(error))

    def _check_turn(self, turn: StoredTurn, agent: Entrant, account: Holdings) -> Found:
        """Yield the differences between a turn and its replay."""
        row = turn.row
        yield from row.compare({"cash": account.cash}, "it is the balance before its fills")
        left_out = is_left_out(self.cohort, self.row["number"], agent)
        if left_out and row["status"] in DECIDED_STATUSES:
            yield row.differs("status", "out", LEFT_OUT_WORDS)
        if row["status"] == "out" and not left_out and not is_out(account, self.cohort.rules):
            yield row.differs("status", "played", "its account can pay for a bet, or holds something")

        is_filled_at_answer = self.cohort.stamp == "live" and self.cohort.rules.fill_at == "answer"
        needs_second_quotes = is_filled_at_answer and agent.kind != "market" and bool(self.snapshot.shown)
        if needs_second_quotes and row["status"] in USABLE_STATUSES and not turn.second_quotes:
            why = "its rules fill at the prices of when the answer is in, and there are none"
            yield row.differs("status", "failed", why)

        fills, refused = self._execute_orders(turn, account)
        ref_prefix = f"fill:{self.row['number']}"
        self.entries[row["entrant_id"]] = post(fills, account, self.snapshot.at, ref_prefix)
        yield from _compare_fills(turn, fills)
        yield from self._check_decision(turn, agent, refused)

    def _execute_orders(self, turn: StoredTurn, account: Holdings) -> tuple[list[Fill], list[Rejection]]:
        """Return the fills and rejections of a turn's orders.

        Only a live turn can say which markets had closed by the time of its answer.
        """
        bets, sales = orders_of(turn.row["orders"])
        closed_markets: set[str] = set()
        if self.cohort.stamp == "live":
            closed_markets = {row["market_id"] for row in turn.rejections if row["code"] == CLOSED_CODE}

        ordered_markets = map(attrgetter("market_id"), (*bets, *sales))
        refused_as_closed = [
            Rejection(CLOSED_CODE, CLOSED, market) for market in ordered_markets if market in closed_markets
        ]
        open_bets = [bet for bet in bets if bet.market_id not in closed_markets]
        open_sales = [sale for sale in sales if sale.market_id not in closed_markets]
        if self.cohort.hides(self.row["number"]):
            return [], [*refused_as_closed, *refused_orders((*open_sales, *open_bets))]

        fills, refused = execute_at(self._offers_for(turn), open_bets, open_sales, account)
        return fills, [*refused_as_closed, *refused]

    def _offers_for(self, turn: StoredTurn) -> SnapshotOffers:
        """Return the prices that a turn could trade at: the second ones if there are any."""
        if not turn.second_quotes:
            return self.offers

        quotes = {row["market_id"]: _second_quote(row) for row in turn.second_quotes}
        first_snapshot = self.snapshot
        taken_at = instant(turn.second_quotes[0]["taken_at"])
        shown = _with_second_quotes(first_snapshot.shown, quotes)
        held = _with_second_quotes(first_snapshot.held, quotes)
        second_snapshot = Snapshot(first_snapshot.at, shown, held, taken_at)

        # A turn that failed before and was tried again is filled at the worse of both prices.
        if turn.failed_before:
            return WorseOffers(self.offers, second_snapshot, first_snapshot)
        return SnapshotOffers(second_snapshot, self.cohort.rules, first_snapshot)

    def _check_decision(self, turn: StoredTurn, agent: Entrant, refused: Sequence[Rejection]) -> Found:
        """Yield the differences between a turn and its likeliest decision."""
        row = turn.row
        is_decided = row["status"] in DECIDED_STATUSES
        if is_decided and not 0 <= row["reader"] <= READER_VERSION:
            yield row.differs("reader", f"0 to {READER_VERSION}", "there was no other reader")
        if is_decided and turn.has_earlier_reader:
            self.facts.unproved[EARLIER_READERS] += 1
            return

        if not is_decided or agent.kind not in RULES | ANSWERED:
            if is_decided:
                self.facts.unproved[f"turns of the kind {agent.kind}"] += 1
            # The market's refusals come last, after rejections of the answer itself.
            first_refused = len(turn.rejections) - len(refused)
            yield from _compare_refusals(turn, turn.rejections[first_refused:], refused)
            return

        # The likeliest decision comes first: if none fits, its differences tell the most.
        differences_by_decision: list[list[Difference]] = []
        for possible in self._decisions(turn, agent):
            own_differences = [*_compare_decision(turn, possible, refused)]
            if not own_differences:
                return
            differences_by_decision.append(own_differences)
        if differences_by_decision:
            yield from differences_by_decision[0]

    def _decisions(self, turn: StoredTurn, agent: Entrant) -> Iterator[PossibleDecision]:
        """Yield the possible decisions of an agent, given what it was shown."""
        entrant_id = turn.row["entrant_id"]
        round_number = self.row["number"]
        prompts = agent.prompts or self.cohort.prompts
        view = View(
            snapshot=self.snapshot,
            holdings=self.accounts[entrant_id],
            mark=self.marks[entrant_id],
            rules=self.cohort.rules,
            seed=seed_for(self.cohort.seed, round_number, agent.name),
            round=round_number,
            rounds=self.cohort.rounds,
            stated={source: self.stated.get(source, ()) for source in forecast_sources(agent.settings)},
        )
        view = view_of_round(self.cohort, view)
        given = Given(prompts={name: self.texts[key] for name, key in prompts.items()})
        calls = self.calls.get(entrant_id, ())
        return decisions_of(agent.kind, agent.settings, given, view, calls, self.runner)


def _read_turns(facts: RecordReader, round_id: int) -> list[StoredTurn]:
    """Return the turns of a round with their rows of other tables."""
    parts: dict[str, dict[int, list[Row]]] = {}
    for table, query in OF_TURNS.items():
        parts[table] = defaultdict(list)
        of_round = f"{query} JOIN turn ON turn.id = part.turn_id WHERE turn.round_id = :round"
        if table in ("rejection", "fill"):
            of_round = f"{of_round} ORDER BY part.turn_id, part.position"
        for row in facts.rows(table, of_round, round=round_id):
            parts[table][row["turn_id"]].append(row)

    levels_by_fill = defaultdict[int, list[Row]](list)
    for row in facts.rows("fill_level", LEVELS, round=round_id):
        levels_by_fill[row["fill_id"]].append(row)

    attempts = "SELECT * FROM attempt WHERE round_id = :round"
    failed_entrants = facts.column("entrant_id", "attempt", attempts, round=round_id)
    turns = []
    turns_of_round = "SELECT * FROM turn WHERE round_id = :round ORDER BY entrant_id"
    for row in facts.rows("turn", turns_of_round, round=round_id):
        turn = StoredTurn(
            row,
            forecasts=parts["forecast"][row["id"]],
            rejections=parts["rejection"][row["id"]],
            fills=parts["fill"][row["id"]],
            second_quotes=parts["second_quote"][row["id"]],
            levels=levels_by_fill,
            failed_before=row["entrant_id"] in failed_entrants,
        )
        turns.append(turn)
    return turns


def _check_turn_seal(turn: StoredTurn, new_settings_hash: str) -> Found:
    """Yield the difference if a turn's hash does not cover the turn and its rows of other tables."""
    row = turn.row
    content = row.without("id", "round_id", "entrant_id", "status", "orders", "code_version", "hash")
    # The hashed text keeps the former names of these two columns.
    content |= row.facts.natural_key(row) | {"verdict": row["status"], "wishes": row["orders"]}
    if row["repaired"] == "[]":
        del content["repaired"]
    if not row["reader"]:
        del content["reader"]
    if new_settings_hash:
        content["settings"] = new_settings_hash

    content["rejections"] = list(map(itemgetter("code", "message", "market_id"), turn.rejections))
    forecasts = []
    for forecast in turn.forecasts:
        values = itemgetter("market_id", "stage", "probability", "reason")(forecast)
        if forecast["distribution"]:
            values = (*values, forecast["distribution"])
        forecasts.append(values)
    content["forecasts"] = sorted(forecasts)
    if turn.second_quotes:
        second_quotes = map(
            itemgetter("market_id", "price_hash", "quoted_at", "taken_at"), turn.second_quotes
        )
        content["second_quotes"] = sorted(second_quotes)
    yield from check_seal(row, content, SEALS_TURN)


def _with_second_quotes(
    listings: Sequence[Listing], quotes: Mapping[str, Quote | None]
) -> tuple[Listing, ...]:
    """Return the listings that were quoted a second time, with the prices of that time."""
    repriced = []
    for listing in listings:
        market_id = listing.market.id
        if market_id in quotes:
            repriced.append(replace(listing, quote=quotes[market_id]))
    return tuple(repriced)


def _second_quote(row: Row) -> Quote | None:
    """Return the quote that was read after an answer; None if there was none any more."""
    if row["price_hash"] is None:
        return None
    prices = SimpleNamespace(**{name: row[f"price_{name}"] for name in (*PRICE_FIELDS, "book")})
    return quote_of(prices, instant(row["quoted_at"]))  # type: ignore[arg-type]


def _compare_fills(turn: StoredTurn, fills: Sequence[Fill]) -> Found:
    """Yield the fills and levels that differ from the replayed ones."""
    expected_fills = []
    for index, fill in enumerate(fills):
        stored_left = turn.fills[index]["left"] if index < len(turn.fills) else ""
        if turn.has_earlier_reader and bool(stored_left) == bool(fill.left):
            # The reason why some was left is in the words of the version that filled it.
            expected_fills.append(replace(fill, left=stored_left))
        else:
            expected_fills.append(fill)

    key = turn.row.key
    expected_values = [plain_value(fill) for fill in expected_fills]
    expected_levels = [fill.pop("levels") for fill in expected_values]
    yield from compare_in_order(turn.fills, expected_values, "fill", f"{key}, fill", "shares", BY_MARKET)
    for index, row in enumerate(turn.fills):
        level_rows = turn.levels.get(row["id"], [])
        sealed_content = row.without("id", "turn_id", "position", "hash")
        sealed_content["levels"] = [level.without("fill_id", "position") for level in level_rows]
        yield from check_seal(row, sealed_content, SEALS_FILL)
        if index < len(expected_fills):
            level_name = f"{key}, fill {index}, level"
            yield from compare_in_order(
                level_rows, expected_levels[index], "fill_level", level_name, "shares", BY_MARKET
            )


def _compare_decision(turn: StoredTurn, possible: PossibleDecision, refused: Sequence[Rejection]) -> Found:
    """Yield the differences between a turn and a decision, with missing and unused answers."""
    decision = possible.decision
    if decision is None:
        key = f"{turn.row.key}, {possible.missing}"
        yield Difference("call", key, "reply", None, "an answer", "the turn was decided by it")
        return

    expected = {
        "status": decision.status,
        "note": decision.note,
        "orders": orders_text(decision),
        "repaired": canonical(decision.repaired),
    }
    yield from turn.row.compare(expected, BY_AGENT)
    yield from _compare_forecasts(turn, decision)
    yield from _compare_refusals(turn, turn.rejections, [*decision.rejections, *refused])
    for question in possible.unused:
        key = f"{turn.row.key}, {question.stage}, sample {question.sample}"
        yield Difference("call", key, "reply", "an answer", None, "its agent had no such question")


def _compare_forecasts(turn: StoredTurn, decision: Decision) -> Found:
    """Yield the forecasts that differ from those decided."""
    expected = []
    for forecast in decision.forecasts:
        values = {
            "market_id": forecast.market_id,
            "stage": forecast.stage,
            "probability": forecast.millionths,
            "reason": forecast.reason,
            "distribution": forecast.distribution,
        }
        expected.append(values)
    parent = f"{turn.row.key},"
    key_columns = ("market_id", "stage")
    yield from compare_by(key_columns, turn.forecasts, expected, "forecast", parent, "probability", BY_AGENT)


def _compare_refusals(turn: StoredTurn, rows: Sequence[Row], expected: Sequence[Rejection]) -> Found:
    """Yield the rejections that differ from the expected ones."""
    name = f"{turn.row.key}, rejection"
    why = "the agent's answer and the market's rules say so"
    yield from compare_in_order(rows, map(plain_value, expected), "rejection", name, "message", why)
