"""Turns: what they were sealed with, the cash before them, and what may be behind them.

Calls of models: what was asked and answered, for whom, and that no attempt is missing.

Forecasts: probabilities for markets of the round.
"""

from collections.abc import Collection
from itertools import groupby
from operator import itemgetter
from typing import Any

from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.turn import AttemptRow, CallRow
from arena.record.schema.typed import columns_of
from arena.verify.checks.ledgers import LedgerSums
from arena.verify.checks.markets import check_quoted
from arena.verify.cohort import ONE, CheckedRound, CheckedTurn
from arena.verify.differences import Found, Row, check_numbers
from arena.verify.hashes import check_hash, json_in, sha256_of, without
from arena.verify.reader import RecordReader, RowPart, rows_of, rows_query

QUESTION = ("round_id", "entrant_id", "stage", "sample")
ATTEMPT = RowPart(CallRow, *QUESTION, "attempt")
ADDED_TO_CALLS = dict.fromkeys(("tokens_reasoning", "tokens_cached", "tokens_cache_write"), 0) | {
    "thinking": "", "citations": "[]", "host": "", "status": None,
}  # fmt: skip
"""Columns that a call's hash covers only where they say something: earlier versions don't have them."""
ATTEMPTS = rows_query(CallRow, ATTEMPT, order=columns_of(CallRow, ATTEMPT.names), again=True)


FAILURES = rows_of(AttemptRow)
PLACED_FAILURES = rows_query(
    AttemptRow,
    RowPart(AttemptRow, "round_id", "entrant_id", "number"),
    order=(AttemptRow.round_id, AttemptRow.entrant_id, AttemptRow.number),
    again=True,
)


def check_attempts(facts: RecordReader) -> Found:
    """Failures of turns that are not as they were kept, of strangers, or with one missing."""
    for row in facts.rows(FAILURES):
        content = without(row, "id", "round_id", "entrant_id", "hash") | place_of(facts, row)
        yield from check_hash(row, content, "it seals what the row says")
        yield from of_the_cohort(facts, row)
    for _, rows in groupby(facts.rows(PLACED_FAILURES), key=itemgetter("round_id", "entrant_id")):
        yield from check_numbers(rows, "number", 1)


def check_calls(facts: RecordReader) -> Found:
    """Calls of strangers or of other words than were sealed, and attempts that leave a gap."""
    for row in facts.new(CallRow):
        silent = [name for name, value in ADDED_TO_CALLS.items() if row[name] == value]
        content = without(row, "id", "round_id", "entrant_id", "hash", *silent)
        content |= place_of(facts, row)
        for found in check_hash(row, content, "it seals what was asked and answered, and when"):
            if row["hash"] != sha256_of(without(Row(content), "made_at")):  # so earlier versions sealed it
                yield found
        asked = {"messages": json_in(row["messages"]), "seed": row["seed"]}
        yield from check_hash(row, asked, "it is the hash of messages and seed", "prompt_hash")
        yield from of_the_cohort(facts, row)
    if facts.verified.number:
        return  # the heads say how many calls a round has
    for _, rows in groupby(facts.rows(ATTEMPTS), key=itemgetter(*QUESTION)):
        yield from check_numbers(rows, "attempt", 1)


def place_of(facts: RecordReader, row: Row) -> dict[str, Any]:
    """Cohort, round and entrant as the hashes of calls and turns have them."""
    cohort, number, name = facts.place(row) or (None, None, None)
    return {"cohort": cohort, "round": number, "entrant": name}


def of_the_cohort(facts: RecordReader, row: Row) -> Found:
    """A call or a turn of an entrant whose cohort the round isn't of."""
    round_row, entrant = (facts.find(RoundRow, row["round_id"]), facts.find(EntrantRow, row["entrant_id"]))
    if round_row is not None and entrant is not None and round_row["cohort_id"] != entrant["cohort_id"]:
        yield row.differs("entrant_id", "one of the cohort", "nobody else plays its rounds")


EMPTY = {
    "played": (),
    "partly": (),
    "malformed": ("fill", "second_quote"),
    "declined": ("fill", "second_quote"),
    "out": ("fill", "second_quote", "forecast"),
    "failed": ("fill", "second_quote", "forecast", "rejection"),
    "late": ("fill", "second_quote", "forecast", "rejection"),
    "waiting": ("fill", "second_quote", "forecast", "rejection"),
}
"""Statuses, and the tables in which turns of that status have no row."""


def check_turn(
    facts: RecordReader,
    turn: CheckedTurn,
    orders: Any,
    number: int,
    books: LedgerSums | None,
    settings: str | None = None,
) -> Found:
    """A turn of a stranger, with a wrong cash, or with more behind it than its status allows.

    `settings` is the hash of those that it was played by, where they replaced the frozen ones.
    """
    row = turn.row
    yield from _sealed(facts, turn, settings)
    yield from of_the_cohort(facts, row)
    if books is not None:
        yield from row.check({"cash": (books.cash[number], "it is the balance before its fills")})
    if not _are_orders(orders):
        yield row.differs("orders", "bets and sales", "it is JSON of two lists")
    if row["status"] not in EMPTY:
        yield row.differs("status", " or ".join(EMPTY), "there is no other")
    behind = {
        "fill": turn.fills,
        "second_quote": turn.second,
        "forecast": turn.forecasts,
        "rejection": turn.rejections,
    }
    for table in EMPTY.get(row["status"], ()):
        if behind[table]:
            yield row.differs("status", "played", f"there is a {table} of it")
    yield from check_numbers(turn.rejections, "position", 0)


def _sealed(facts: RecordReader, turn: CheckedTurn, settings: str | None) -> Found:
    row = turn.row
    said = [[f["market_id"], f["stage"], f["probability"], f["reason"]] for f in turn.forecasts]
    refused = [[r["code"], r["message"], r["market_id"]] for r in turn.rejections]
    content = without(row, "id", "round_id", "entrant_id", "code_version", "hash") | place_of(facts, row)
    # The text that is hashed has kept the names that these two columns had first.
    content["verdict"] = content.pop("status")
    content["wishes"] = content.pop("orders")
    if row["repaired"] == "[]":
        del content["repaired"]
    if not row["reader"]:
        del content["reader"]
    content |= {"forecasts": sorted(said), "rejections": refused}
    if settings is not None:
        content["settings"] = settings
    if turn.second:
        seen = [(row, quote and quote["hash"]) for row, quote in turn.second]
        content["second_quotes"] = sorted(
            [row["market_id"], price_hash, row["quoted_at"], row["taken_at"]] for row, price_hash in seen
        )
    why = "it seals the turn, each forecast, each rejection and each second_quote in it"
    yield from check_hash(row, content, why)


def check_second_quotes(shown: CheckedRound, turn: CheckedTurn) -> Found:
    """Second quotes of a market that was not in the snapshot, or from before it; see `check_quoted`.

    Where the rules fill at the prices of when an answer is in, every usable turn has them.
    """
    second, frozen = turn.second, shown.cohort.frozen
    entrant = shown.cohort.entrants.get(turn.row["entrant_id"])
    wanted = frozen is not None and (frozen.fill_at, frozen.stamp) == ("answer", "live")
    wanted = wanted and turn.row["status"] in ("played", "partly")
    wanted = wanted and entrant is not None and entrant["kind"] != "market"
    if wanted and not second and any(item["shown"] for item, *_ in shown.places):
        why = "its rules fill at the prices of when the answer is in, and there are none"
        yield turn.row.differs("status", "failed", why)
    for row, quote in second:
        if row["market_id"] not in shown.by_market:
            yield row.differs("market_id", "one of the snapshot", "nobody was shown others")
        if row["taken_at"] < shown.seen_at:
            late = f"{shown.seen_at} or later"
            yield row.differs("taken_at", late, "the snapshot came first")
        if row["taken_at"] != second[0][0]["taken_at"]:
            yield row.differs("taken_at", second[0][0]["taken_at"], "all were read together")
        if row["quoted_at"] is not None and row["quoted_at"] > row["taken_at"]:
            yield row.differs("quoted_at", f"{row['taken_at']} or before", "it was known then")
        market, at = (quote["market_id"], quote["at"]) if quote else (None, None)
        yield from check_quoted(row, market, at)


def _are_orders(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), list) for name in ("bets", "sales"))


def check_forecasts(forecasts: list[Row], there: Collection[str]) -> Found:
    """Forecasts that are no probability, or of a market that was not in the round's snapshot."""
    for row in forecasts:
        if not 0 <= row["probability"] <= ONE:
            yield row.differs("probability", f"0 to {ONE}", "it is a probability")
        if row["market_id"] not in there:
            why = "nobody was asked for others"
            yield row.differs("market_id", "one of the snapshot", why)
        if row["stage"] not in ("blind", "final"):
            yield row.differs("stage", "blind or final", "there is no other")
