"""What agents were asked, said, wanted and got, turn by turn."""

from arena.store.export.paths import (
    ITS_ENTRANT,
    ITS_FILL,
    ITS_ROUND,
    ITS_TURN,
    PLACE,
    PLACE_ORDER,
    PLACES,
    in_cohorts,
    of_turn,
    placed,
)
from arena.store.export.sheet import CHANCE, COUNT, DOLLARS, FLAG, JSON, PRICE, SHARE, SHARES, facts, field
from arena.store.export.worlds import HASH, MARKET_ID
from arena.store.tables import CALL, FILL, FORECAST, LEVEL, REJECTION, TURN

WHOSE = {"parents": (ITS_ROUND, ITS_ENTRANT), "some": in_cohorts}
PART = {"parents": (ITS_TURN,), "some": in_cohorts}
ATTEMPT = (
    *PLACE,
    field(CALL.c.stage, "blind, before prices were shown, or final"),
    field(CALL.c.sample, "which of the samples of an answer, from 1"),
    field(CALL.c.attempt, "counts the attempts at it, from 1"),
)
ATTEMPTED = [*PLACES, "stage", "sample", "attempt"]

CALLS = facts(
    "calls",
    "Attempts to get an answer from a model, in the order of coming. `call_texts` has the words.",
    CALL,
    (
        *ATTEMPT,
        field(CALL.c.prompt_hash, "the SHA-256 of the messages and the seed"),
        field(CALL.c.seed, "the seed that was sent along"),
        field(CALL.c.finish, "why the answer ended, as the provider says"),
        field(CALL.c.model, "the model, as the provider reports it"),
        field(CALL.c.fingerprint, "the provider's fingerprint of the model"),
        field(CALL.c.rung, "how a form was asked of the answer: schema, json or prompt"),
        field(CALL.c.tokens_in, "tokens of the question", COUNT),
        field(CALL.c.tokens_out, "tokens of the answer", COUNT),
        field(CALL.c.cost, "what it cost", DOLLARS, "unknown, which is not 0"),
        field(CALL.c.worst, "what it could have cost at most", DOLLARS, "unknown"),
        field(CALL.c.latency_ms, "how long it took", "milliseconds"),
        field(CALL.c.error_code, "why there was no answer, for programs", "", "there was one"),
        field(CALL.c.error_retry, "whether it was worth another attempt", FLAG),
        field(CALL.c.made_at, "when it ended, by the clock"),
        field(CALL.c.hash, HASH.format("its place, what was asked and what was answered")),
    ),
    ATTEMPTED,
    path=placed(CALL),
    order=(*PLACE_ORDER, CALL.c.id),
    rest="call_texts",
    **WHOSE,
)
CALL_TEXTS = facts(
    "call_texts",
    "What was asked and answered, word for word: for each row of `calls` one, in the same order.",
    CALL,
    (
        *ATTEMPT,
        field(CALL.c.messages, "the messages that were sent, with their roles", JSON),
        field(CALL.c.reply, "the answer", "", "there was none"),
        field(CALL.c.error_message, "why there was none, in words", "", "there was one"),
    ),
    ATTEMPTED,
    path=placed(CALL),
    order=(*PLACE_ORDER, CALL.c.id),
    bulk=50,
    wordy=True,
    **WHOSE,
)
TURNS = facts(
    "turns",
    "Each agent's part of each round.",
    TURN,
    (
        *PLACE,
        field(TURN.c.verdict, "played, malformed (no answer could be read), failed, or out"),
        field(TURN.c.note, "why it is not played, or nothing"),
        field(TURN.c.cash, "the cash before it", DOLLARS),
        field(TURN.c.wishes, "bets and sales as they were asked for", JSON),
        field(TURN.c.code_version, "the version of the arena that played it"),
        field(TURN.c.hash, HASH.format("the turn, its forecasts and its rejections")),
    ),
    [*PLACES],
    path=placed(TURN),
    order=PLACE_ORDER,
    **WHOSE,
)
FORECASTS = facts(
    "forecasts",
    "Probabilities of YES as agents stated them. The three readings of a belief, scored, are in `scores`.",
    FORECAST,
    (
        *PLACE,
        field(FORECAST.c.market_id, MARKET_ID),
        field(FORECAST.c.stage, "blind, before prices were shown, or final: that one is scored"),
        field(FORECAST.c.probability, "the probability of YES", CHANCE),
        field(FORECAST.c.reason, "why, in the agent's words"),
    ),
    [*PLACES, "market_id", "stage"],
    path=of_turn(FORECAST),
    order=(*PLACE_ORDER, FORECAST.c.market_id, FORECAST.c.stage),
    **PART,
)
REJECTIONS = facts(
    "rejections",
    "Wishes that were not granted, and items of answers that made no sense.",
    REJECTION,
    (
        *PLACE,
        field(REJECTION.c.position, "the place among those of the turn, from 0"),
        field(REJECTION.c.code, "why, for programs"),
        field(REJECTION.c.message, "why, in words"),
        field(REJECTION.c.market_id, "the market, where it is known"),
    ),
    [*PLACES, "position"],
    path=of_turn(REJECTION),
    order=(*PLACE_ORDER, REJECTION.c.position),
    **PART,
)
FILLS = facts(
    "fills",
    "What agents got for their bets and sales.",
    FILL,
    (
        *PLACE,
        field(FILL.c.position, "the place among those of the turn, from 0", name="fill"),
        field(FILL.c.market_id, MARKET_ID),
        field(FILL.c.side, "YES or NO"),
        field(FILL.c.action, "buy or sell"),
        field(FILL.c.shares, "how many shares", SHARES),
        field(FILL.c.amount, "all the cash that moved, fee included: paid, or received for a sale", DOLLARS),
        field(FILL.c.fee, "the fee in it", DOLLARS),
        field(FILL.c.wanted, "what was asked for: dollars for a bet, shares for a sale", "millionths"),
        field(FILL.c.base, "the cash that caps and confidence are measured by", DOLLARS),
        field(FILL.c.quote_at, "when the quote was true on which it was done"),
        field(FILL.c.quote_hash, "that quote, as in `quotes`"),
        field(FILL.c.fee_rate, "the fee: rate · shares · p · (1 − p) for each level, rounded up", SHARE),
        field(FILL.c.left, "what of the wish was not filled, and why, or nothing"),
        field(FILL.c.reason, "why it was wished for, in the agent's words"),
        field(FILL.c.hash, HASH.format("the fill and its levels")),
    ),
    [*PLACES, "fill"],
    path=of_turn(FILL),
    order=(*PLACE_ORDER, FILL.c.position),
    **PART,
)
LEVELS = facts(
    "fill_levels",
    "The prices at which parts of a fill were done.",
    LEVEL,
    (
        *PLACE,
        field(FILL.c.position, "the fill's place in its turn", name="fill"),
        field(LEVEL.c.position, "the level's place in the fill, from 0", name="level"),
        field(LEVEL.c.price, "what a share of the fill's side cost here", PRICE),
        field(LEVEL.c.shares, "how many shares", SHARES),
        field(LEVEL.c.amount, "the cash that moved here, fee included", DOLLARS),
        field(LEVEL.c.fee, "the fee in it", DOLLARS),
    ),
    [*PLACES, "fill", "level"],
    path=of_turn(FILL).join(LEVEL, LEVEL.c.fill_id == FILL.c.id),
    order=(*PLACE_ORDER, FILL.c.position, LEVEL.c.position),
    parents=(ITS_FILL,),
    some=in_cohorts,
)
