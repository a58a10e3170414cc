"""What cohorts froze, and what they were shown: line-ups, prompts, snapshots, rounds and their articles."""

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint

from arena.record.schema.fields import (
    COUNT,
    FLAG,
    JSON,
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


class PromptRow(TableRow, table=True):
    """Templates of prompts as cohorts froze them, by the hash of their text."""

    hash: str = text_field("the SHA-256 of the text as JSON", primary_key=True)
    text: str = text_field("the template")


class CohortRow(TableRow, table=True):
    """Starts with fresh bankrolls: all that must not change while a cohort plays.

    All that may change is whether it is paused, stopped or ended.
    """

    id: int = id_field()
    number: int = whole_field("the cohort's number", unique=True)
    starts_at: datetime = time_field("when its first round is decided")
    frozen: str = text_field(
        "rules, universe, schedule, bankroll, line-up with all settings, and prompts by hash", JSON
    )
    hash: str = text_field("the SHA-256 of `frozen`")
    ended_at: datetime | None = time_field("its last snapshot, once nothing is open", empty="it goes on")
    paused_at: datetime | None = time_field("since when it is paused", empty="it is not")
    stopped_at: datetime | None = time_field("since when it is only tracked", empty="it was not stopped")


class EntrantRow(TableRow, table=True):
    """The line-up of each cohort: every agent has an account of its own in each."""

    __table_args__ = (
        UniqueConstraint("cohort_id", "name"),
        UniqueConstraint("cohort_id", "position"),
        STRICT,
    )

    id: int = id_field()
    cohort_id: int = parent_field("cohort.id")
    position: int = whole_field("its place in the line-up, from 0")
    name: str = text_field("the agent's name in the line-up")
    kind: str = text_field("its kind, such as llm, market or random")
    settings: str = text_field("every setting, frozen", JSON)
    address: str | None = text_field(
        "where the server of its model was then: it is asked there once the config names it no more",
        hashed=False,
        empty="its model is not at a server of one's own, or nothing says where that was",
    )


class ReplacementRow(TableRow, table=True):
    """Settings that agents took from the config in place of frozen ones, before their first good turn."""

    __table_args__ = (UniqueConstraint("entrant_id", "round"), STRICT)

    id: int = id_field()
    entrant_id: int = parent_field("entrant.id")
    round: int = whole_field("the round from which on they count")
    at: datetime = time_field("when they were taken", hashed=False)
    before: str = text_field("the SHA-256 of the settings they replace, as JSON")
    settings: str = text_field("every setting from then on", JSON)
    prompts: str = text_field("the prompts they name, by hash", JSON)
    hash: str = hash_field("cohort, agent, and all columns but ids")


class SnapshotRow(TableRow, table=True):
    """Instants at which a cohort looked at its markets, to decide or to value what it holds."""

    __table_args__ = (UniqueConstraint("cohort_id", "at"), STRICT)

    id: int = id_field()
    cohort_id: int = parent_field("cohort.id")
    at: datetime = time_field("the time that it is for")
    taken_at: datetime = time_field("when the markets were read; prices are aged from then")
    catalogue: str = text_field(
        "the hash of the sync that a live round's markets were drawn from", hashed=False, added=("",)
    )
    hash: str = hash_field("cohort, both times, and every place")


class SnapshotItemRow(TableRow, table=True):
    """The markets in each snapshot, with the page and the quote that were true then."""

    __table_args__ = (
        Index("ix_snapshot_item_market_id", "market_id"),
        Index("ix_snapshot_item_quote_id", "quote_id"),
        STRICT,
    )

    snapshot_id: int = parent_field("snapshot.id", primary_key=True)
    position: int = whole_field("its place, from 0", primary_key=True)
    market_id: str = market_field()
    version_id: int = parent_field("market_version.id")
    quote_id: int | None = parent_field("quote.id", empty="it had no quote")
    quoted_at: datetime | None = time_field("when that quote was last found true", empty="it had no quote")
    shown: int = whole_field("whether it was on offer, not only held", FLAG)


class RoundRow(TableRow, table=True):
    """Decision times of cohorts. A round's agents all see the snapshot of the same time.

    It is `done` once every turn and mark is in.
    """

    __table_args__ = (UniqueConstraint("cohort_id", "number"), UniqueConstraint("cohort_id", "at"), STRICT)

    id: int = id_field()
    cohort_id: int = parent_field("cohort.id")
    number: int = whole_field("the round's number in its cohort, from 1")
    at: datetime = time_field("when it is decided")
    snapshot_id: int = parent_field("snapshot.id")
    done: int = whole_field("whether every turn and mark is in", FLAG, default=0)


class GatheringRow(TableRow, table=True):
    """Searches for a round's articles: how many were found, and why some were dropped."""

    __table_args__ = (UniqueConstraint("round_id"), STRICT)

    id: int = id_field()
    round_id: int = parent_field("round.id")
    found: int = whole_field("how many were found", COUNT)
    dropped: str = text_field("how many were not shown, by reason, and the verdicts on texts", JSON)
    hash: str = hash_field("the round, the counts, and what was shown")


class EvidenceRow(TableRow, table=True):
    """Which articles a round showed for which market, the newest first."""

    gathering_id: int = parent_field("gathering.id", primary_key=True)
    position: int = whole_field("its place in the round, from 0", primary_key=True)
    market_id: str = market_field()
    article: str = text_field("the article, as in `articles`", foreign_key="article.hash")
    fetched_at: datetime = time_field("when it was fetched")


class ToolResultRow(TableRow, table=True):
    """What tools told the models of a round. Equal requests are told the same."""

    __table_args__ = (UniqueConstraint("round_id", "key"), STRICT)

    id: int = id_field()
    round_id: int = parent_field("round.id")
    agent: str = text_field("whose own it is; nothing for what all are told")
    tool: str = text_field("the tool")
    request: str = text_field("what it was given, as JSON or as it came")
    text: str = text_field("what it told")
    sources: str = text_field("the articles in it: address, date, and hash of the words", JSON)
    withheld: str = text_field("how many others were withheld, by reason, and the verdicts on texts", JSON)
    fetched_at: datetime = time_field("when it was asked, by the clock", hashed=False)
    key: str = text_field("the SHA-256 of agent, tool and request", hashed=False)
    hash: str = hash_field("cohort, round, and all columns but ids")
