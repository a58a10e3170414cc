"""What cohorts froze and were shown: line-ups, prompts, snapshots, rounds and the articles in them."""

from sqlalchemy import exists

from arena.exports.market_tables import HASH, MARKET_ID
from arena.exports.table import (
    AGENT,
    COHORT_NUMBER,
    COUNT,
    FLAG,
    ITS_COHORT,
    ITS_GATHERING,
    ITS_PAGE,
    ITS_QUOTE,
    ITS_ROUND,
    ITS_SNAPSHOT,
    JSON,
    ROUND_NUMBER,
    fact_table,
    field,
    in_cohorts,
    of_cohort,
    of_round,
)
from arena.record.schema.tables import (
    COHORT,
    ENTRANT,
    EVIDENCE,
    GATHERING,
    ITEM,
    PROMPT,
    QUOTE,
    ROUND,
    SNAPSHOT,
    VERSION,
)

PROMPTS = fact_table(
    "prompts",
    "Templates of prompts as cohorts froze them, by the hash of their text.",
    PROMPT,
    (
        field(PROMPT.c.hash, "the SHA-256 of the text as JSON; `frozen` of a cohort names it"),
        field(PROMPT.c.text, "the template"),
    ),
    ["hash"],
    order=(PROMPT.c.hash,),
    some=lambda numbers: exists().where(in_cohorts(numbers), COHORT.c.frozen.contains(PROMPT.c.hash)),
    wordy=True,
)
COHORTS = fact_table(
    "cohorts",
    "Starts with fresh bankrolls: all that must not change while a cohort plays.",
    COHORT,
    (
        COHORT_NUMBER,
        field(COHORT.c.starts_at, "when its first round is decided"),
        field(COHORT.c.ended_at, "its last snapshot, once nothing is open", empty="it goes on"),
        field(COHORT.c.paused_at, "since when it waits for its operator", empty="it is not paused"),
        field(
            COHORT.c.stopped_at,
            "from when on it decides no more and is only tracked",
            empty="it was not stopped",
        ),
        field(
            COHORT.c.frozen,
            "rules, universe, schedule, bankroll, line-up with all settings, and prompts by hash",
            JSON,
        ),
        field(COHORT.c.hash, "the SHA-256 of `frozen`"),
    ),
    ["cohort"],
    order=(COHORT.c.number,),
    some=in_cohorts,
    bulk=50,
)
ENTRANTS = fact_table(
    "entrants",
    "The line-up of each cohort: every agent has an account of its own in each.",
    ENTRANT,
    (
        COHORT_NUMBER,
        field(ENTRANT.c.position, "its place in the line-up, from 0"),
        AGENT,
        field(ENTRANT.c.kind, "its kind, such as llm, market or random"),
        field(ENTRANT.c.settings, "every setting, as it was frozen", JSON),
    ),
    ["cohort", "agent"],
    path=of_cohort(ENTRANT),
    order=(COHORT.c.number, ENTRANT.c.position),
    parents=(ITS_COHORT,),
    some=in_cohorts,
)
SNAPSHOTS = fact_table(
    "snapshots",
    "Instants at which a cohort looked at its markets, to decide or to value what it holds.",
    SNAPSHOT,
    (
        COHORT_NUMBER,
        field(SNAPSHOT.c.at, "the time that it is for"),
        field(SNAPSHOT.c.taken_at, "when the markets were really looked at: ages of prices count from then"),
        field(SNAPSHOT.c.hash, HASH.format("cohort, both times, and every place of the snapshot")),
    ),
    ["cohort", "at"],
    path=of_cohort(SNAPSHOT),
    order=(COHORT.c.number, SNAPSHOT.c.at),
    parents=(ITS_COHORT,),
    some=in_cohorts,
)
LISTED = (
    of_cohort(SNAPSHOT)
    .join(ITEM, ITEM.c.snapshot_id == SNAPSHOT.c.id)
    .join(VERSION, ITEM.c.version_id == VERSION.c.id)
    .outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
)
NO_QUOTE = "it had no quote"
ITEMS = fact_table(
    "snapshot_items",
    "The markets in each snapshot, with the page and the quote that were true then.",
    ITEM,
    (
        COHORT_NUMBER,
        field(SNAPSHOT.c.at, "the time of the snapshot"),
        field(ITEM.c.position, "the market's place in it, from 0"),
        field(ITEM.c.market_id, MARKET_ID),
        field(VERSION.c.version, "which of its pages, as in `market_pages`", name="page"),
        field(
            QUOTE.c.at, "which of its quotes, as in `quotes`: since when it stood", "", NO_QUOTE, "quote_at"
        ),
        field(QUOTE.c.hash, "which of its quotes, as in `quotes`: its hash", "", NO_QUOTE, "quote_hash"),
        field(ITEM.c.quoted_at, "when that quote was last found true", "", NO_QUOTE),
        field(ITEM.c.shown, "whether it was on offer; else it was only held", FLAG),
    ),
    ["cohort", "at", "position"],
    path=LISTED,
    order=(COHORT.c.number, SNAPSHOT.c.at, ITEM.c.position),
    parents=(ITS_SNAPSHOT, ITS_PAGE, ITS_QUOTE),
    some=in_cohorts,
)
ROUNDS = fact_table(
    "rounds",
    "Decision times of cohorts. A round's agents all see the snapshot of the same time.",
    ROUND,
    (
        COHORT_NUMBER,
        ROUND_NUMBER,
        field(ROUND.c.at, "when it is decided; the snapshot of its cohort with that time is the one shown"),
        field(ROUND.c.done, "whether every turn and mark is in", FLAG),
    ),
    ["cohort", "round"],
    path=of_cohort(ROUND),
    order=(COHORT.c.number, ROUND.c.number),
    parents=(ITS_COHORT, ITS_SNAPSHOT),
    some=in_cohorts,
)
GATHERINGS = fact_table(
    "gatherings",
    "That articles were gathered for a round, how many were found, and why some were dropped.",
    GATHERING,
    (
        COHORT_NUMBER,
        ROUND_NUMBER,
        field(GATHERING.c.found, "how many were found", COUNT),
        field(GATHERING.c.dropped, "how many of them were not shown, by reason", JSON),
        field(GATHERING.c.hash, HASH.format("the round, the counts, and what was shown")),
    ),
    ["cohort", "round"],
    path=of_round(GATHERING),
    order=(COHORT.c.number, ROUND.c.number),
    parents=(ITS_ROUND,),
    some=in_cohorts,
)
EVIDENCES = fact_table(
    "evidence",
    "Which articles a round showed for which market, the newest first.",
    EVIDENCE,
    (
        COHORT_NUMBER,
        ROUND_NUMBER,
        field(EVIDENCE.c.position, "the place among all of the round, from 0"),
        field(EVIDENCE.c.market_id, MARKET_ID),
        field(EVIDENCE.c.article, "the article, as in `articles`"),
        field(EVIDENCE.c.fetched_at, "when it was fetched"),
    ),
    ["cohort", "round", "position"],
    path=of_round(GATHERING).join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id),
    order=(COHORT.c.number, ROUND.c.number, EVIDENCE.c.position),
    parents=(ITS_GATHERING,),
    some=in_cohorts,
)
