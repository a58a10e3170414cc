"""What agents were asked, answered, ordered and got, turn by turn."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from arena.record.schema.fields import (
    CHANCE,
    COUNT,
    DOLLARS,
    FLAG,
    JSON,
    PRICE,
    SHARE,
    SHARES,
    STRICT,
    TableRow,
    hash_field,
    id_field,
    market_field,
    parent_field,
    text_field,
    time_field,
    whole_field,
)


class CallRow(TableRow, table=True):
    """Attempts to get an answer from a model, in the order of coming. `call_texts` has the words."""

    __table_args__ = (
        UniqueConstraint("round_id", "entrant_id", "stage", "sample", "attempt"),
        Index("ix_call_entrant_id", "entrant_id", "cost", "worst"),
        Index("ix_call_made_at", "made_at", "cost", "worst"),
        Index("ix_call_round_id", "round_id", "cost", "worst"),
        STRICT,
    )

    id: int = id_field()
    round_id: int = parent_field("round.id")
    entrant_id: int = parent_field("entrant.id")
    stage: str = text_field("blind, before prices were shown, final, or judge, of a text")
    sample: int = whole_field("which of the samples of an answer, from 1")
    attempt: int = whole_field("counts the attempts at it, from 1", hashed=False)
    messages: str = text_field("the messages sent, with roles", JSON)
    prompt_hash: str = text_field("the SHA-256 of the messages and the seed", hashed=False)
    seed: int = whole_field("the seed sent along")
    reply: str | None = text_field("the answer", empty="there was none")
    thinking: str = text_field("what it thought before, as far as shown", hashed=False, added=("",))
    citations: str = text_field("the sources it names", JSON, hashed=False, added=("[]",))
    finish: str = text_field("why the answer ended, says the provider")
    model: str = text_field("the model, says the provider")
    fingerprint: str = text_field("the provider's fingerprint of the model")
    host: str = text_field("who served it, where the provider passes questions on", hashed=False, added=("",))
    rung: str = text_field("how the format was asked for: schema, json or prompt", hashed=False)
    tokens_in: int = whole_field("tokens of the question", COUNT, hashed=False)
    tokens_out: int = whole_field("tokens of the answer", COUNT, hashed=False)
    tokens_reasoning: int = whole_field("those for thinking", COUNT, hashed=False, added=(0,))
    tokens_cached: int = whole_field("of the question, from a cache", COUNT, hashed=False, added=(0,))
    tokens_cache_write: int = whole_field("of the question, put in a cache", COUNT, hashed=False, added=(0,))
    cost: int | None = whole_field("what it cost", DOLLARS, empty="unknown, which is not 0", hashed=False)
    worst: int | None = whole_field("the most it could cost", DOLLARS, empty="unknown", hashed=False)
    latency_ms: int = whole_field("how long it took", "milliseconds", hashed=False)
    status: int | None = whole_field("the status of HTTP", empty="unknown", hashed=False, added=(None,))
    error_code: str | None = text_field(
        "why there was no answer, for programs", empty="there was one", hashed=False
    )
    error_message: str | None = text_field(
        "why there was none, in words", empty="there was one", hashed=False
    )
    error_retry: int = whole_field("whether it was worth another attempt", FLAG, default=0, hashed=False)
    made_at: datetime = time_field("when it ended, by the clock", hashed=False)
    hash: str = hash_field("its place, what was asked and answered, and when")


class TurnRow(TableRow, table=True):
    """Each agent's part of each round."""

    __table_args__ = (UniqueConstraint("round_id", "entrant_id"), Index("ix_turn_status", "status"), STRICT)

    id: int = id_field()
    round_id: int = parent_field("round.id")
    entrant_id: int = parent_field("entrant.id")
    status: str = text_field(
        "played, partly (less than was asked for), malformed (no answer could be read), declined (the model "
        "refused), failed, late (after its window), out, or waiting for a key",
        former="verdict",
    )
    note: str = text_field("why it is not played, or nothing")
    cash: int = whole_field("the cash before it", DOLLARS)
    orders: str = text_field("bets and sales, as submitted", JSON, former="wishes")
    repaired: str = text_field("repairs of answers of another form", JSON, hashed=False, added=("[]",))
    reader: int = whole_field(
        "the version of the code that read its answers; 0 is unknown",
        hashed=False,
        added=(0,),
    )
    code_version: str = text_field("the version of the arena that played it", hashed=False)
    hash: str = hash_field("the turn, forecasts, rejections and second quotes")


class AttemptRow(TableRow, table=True):
    """Failures of turns, also of those that then succeeded."""

    __table_args__ = (UniqueConstraint("round_id", "entrant_id", "number"), STRICT)

    id: int = id_field()
    round_id: int = parent_field("round.id")
    entrant_id: int = parent_field("entrant.id")
    number: int = whole_field("counts the turn's failures, from 1")
    note: str = text_field("why it failed")
    at: datetime | None = time_field("when, by the clock", empty="not kept")
    code_version: str = text_field("the version of the arena that played it")
    hash: str = hash_field("cohort, round, agent, and all columns but ids")


class SecondQuoteRow(TableRow, table=True):
    """Prices read after an answer, for turns filled and scored at them.

    Those are the turns of agents that can look outside, those that were played later or tried again, and all
    under rules with `fill_at: answer`: one row for each market that the turn was shown.
    """

    __table_args__ = (Index("ix_second_quote_quote_id", "quote_id"), STRICT)

    turn_id: int = parent_field("turn.id", primary_key=True)
    market_id: str = market_field(primary_key=True)
    quote_id: int | None = parent_field("quote.id", empty="it had no price any more")
    quoted_at: datetime | None = time_field(
        "when that quote was last found true", empty="it had no price any more"
    )
    taken_at: datetime = time_field("when the markets were read again")


class ForecastRow(TableRow, table=True):
    """Probabilities of YES as agents stated them. The three readings of a belief, scored, are in `scores`."""

    __table_args__ = (CheckConstraint("probability BETWEEN 0 AND 1000000"), STRICT)

    turn_id: int = parent_field("turn.id", primary_key=True)
    market_id: str = market_field(primary_key=True)
    stage: str = text_field("blind, before prices were shown, or final, which is scored", primary_key=True)
    probability: int = whole_field("the probability of YES", CHANCE)
    reason: str = text_field("why, in the agent's words")
    distribution: str = text_field(
        "the answer to a question that isn't of yes or no, as JSON: chances of its options, or quantiles; "
        "the probability is 0 then",
        added=("",),
    )


class RejectionRow(TableRow, table=True):
    """Rejected orders, and items of answers that made no sense."""

    turn_id: int = parent_field("turn.id", primary_key=True)
    position: int = whole_field("the place among those of the turn, from 0", primary_key=True)
    code: str = text_field("why, for programs")
    message: str = text_field("why, in words")
    market_id: str = text_field("the market, where it is known")


class FillRow(TableRow, table=True):
    """What agents got for their bets and sales.

    One row for each order that was granted at least in part.
    """

    __table_args__ = (
        UniqueConstraint("turn_id", "position"),
        CheckConstraint("shares > 0 AND amount >= 0 AND fee >= 0"),
        STRICT,
    )

    id: int = id_field()
    turn_id: int = parent_field("turn.id")
    position: int = whole_field("the place among those of the turn, from 0")
    market_id: str = market_field()
    side: str = text_field("YES or NO")
    action: str = text_field("buy or sell")
    shares: int = whole_field("how many", SHARES)
    amount: int = whole_field("the cash paid, or received for a sale, fee included", DOLLARS)
    fee: int = whole_field("the fee in it", DOLLARS)
    wanted: int = whole_field("what was asked for, of dollars to bet or shares to sell", "millionths")
    base: int = whole_field("the cash that caps and confidence rest on", DOLLARS)
    quote_at: datetime = time_field("the time of its quote")
    quote_hash: str = text_field("that quote, as in `quotes`", hashed=False)
    fee_rate: int = whole_field("rate · shares · p · (1 − p) a level, rounded up", SHARE)
    left: str = text_field("what was not filled, and why, or nothing")
    reason: str = text_field("the agent's reason")
    hash: str = hash_field("the fill and its levels")


class FillLevelRow(TableRow, table=True):
    """The prices at which parts of a fill were done."""

    fill_id: int = parent_field("fill.id", primary_key=True)
    position: int = whole_field("its place in the fill, from 0", primary_key=True)
    price: int = whole_field("what a share cost here", PRICE)
    shares: int = whole_field("how many", SHARES)
    amount: int = whole_field("the cash, fee included", DOLLARS)
    fee: int = whole_field("the fee in it", DOLLARS)
