"""Plain rules for single rows: what a column may hold, and what must be there for a row to stand on.

The database looks for the rows that break a rule. Whatever follows from other rows by the rules of the game
is played again instead (`replay`), and what rows are sealed with is in `seals`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Integer

from agents.model import USABLE_STATUSES
from arena.record.schema.dialects import UtcTime
from arena.record.schema.tables import METADATA
from arena.verify.differences import Found
from arena.verify.reader import UNREADABLE, RecordReader

LAST_ID = 2**53
"""After the last of all numbers a database chooses any, and none is new to those who read on."""
NEW = {
    "market_version": ("id", "market_version"), "snapshot": ("id", "snapshot"), "call": ("id", "call"),
    "snapshot_item": ("snapshot_id", "snapshot"), "turn": ("round_id", "round"),
    "evidence": ("gathering_id", "gathering"),
}  # fmt: skip
"""By table the number by which its rows are new, and of what; other tables are looked at in their turn."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What must hold of the rows of a table, in SQL, and the column that is wrong where it doesn't."""

    table: str
    column: str
    holds: str
    expected: str | None
    why: str

    def broken(self, facts: RecordReader, among: str = "true") -> Found:
        """Yield the rows that break it, among those for which a condition holds."""
        wrong = f"SELECT * FROM {self.table} WHERE {among} AND ({self.holds}) IS NOT TRUE"
        for row in facts.rows(self.table, wrong):
            yield row.differs(self.column, self.expected, self.why)


def _counted(table: str, column: str, first: int, *group: str) -> Rule:
    """Return the rule that the rows of a group are counted from a first number without a gap."""
    same = "".join(f" AND other.{name} = {table}.{name}" for name in group)
    before = f"SELECT 1 FROM {table} AS other WHERE other.{column} = {table}.{column} - 1{same}"
    holds = f"{column} = {first} OR EXISTS ({before})"
    return Rule(table, column, holds, "one more than another", "there is no gap")


def _among(table: str, column: str, *known: str) -> Rule:
    """Return the rule that a column holds one of some texts."""
    listed = ", ".join(f"'{value}'" for value in known)
    return Rule(table, column, f"{column} IN ({listed})", " or ".join(known), "there is no other")


def _at_least(table: str, column: str, least: int) -> Rule:
    """Return the rule that a number is not below another, where there is one."""
    return Rule(table, column, f"coalesce({column}, {least}) >= {least}", f"{least} or more", "it counts")


def _without(table: str, *statuses: str) -> Rule:
    """Return the rule that turns of these statuses have no row of a table behind them."""
    listed = ", ".join(f"'{status}'" for status in statuses)
    behind = f"EXISTS (SELECT 1 FROM {table} WHERE turn_id = turn.id)"
    holds = f"status NOT IN ({listed}) OR NOT {behind}"
    return Rule("turn", "status", holds, "played", f"there is a {table} of it")


def _quoted(table: str) -> list[Rule]:
    """Return the rules for a market with its quote: a place in a snapshot, or a second quote."""
    its_quote = f"SELECT 1 FROM quote WHERE quote.id = {table}.quote_id AND"
    other = f"EXISTS ({its_quote} quote.market_id <> {table}.market_id)"
    untimely = f"EXISTS ({its_quote} quote.at > {table}.quoted_at)"
    return [
        Rule(table, "quote_id", f"NOT {other}", "one of its own market", "a price is one of its market"),
        Rule(
            table,
            "quoted_at",
            f"NOT {untimely}",
            "no time before its quote",
            "a price is true from when it was first seen",
        ),
        Rule(
            table,
            "quoted_at",
            "(quote_id IS NULL) = (quoted_at IS NULL)",
            "a time for a quote",
            "each comes with the other",
        ),
    ]


def _same_cohort(table: str) -> Rule:
    """Return the rule that a round is played by the agents of its own cohort."""
    holds = f"""NOT EXISTS (SELECT 1 FROM round JOIN entrant ON entrant.cohort_id <> round.cohort_id
        WHERE round.id = {table}.round_id AND entrant.id = {table}.entrant_id)"""
    return Rule(table, "entrant_id", holds, "one of the cohort", "nobody else plays its rounds")


def _shown_to_turn(table: str) -> Rule:
    """Return the rule that a turn is about markets of its round's snapshot."""
    holds = f"""EXISTS (SELECT 1 FROM turn JOIN round ON round.id = turn.round_id
        JOIN snapshot_item AS item ON item.snapshot_id = round.snapshot_id
        WHERE turn.id = {table}.turn_id AND item.market_id = {table}.market_id)"""
    return Rule(table, "market_id", holds, "one of the snapshot", "nobody was shown others")


UNANSWERED = ("failed", "late", "waiting")
COUNTS_OF_CALLS = (
    "sample", "tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached", "tokens_cache_write", "cost",
    "worst",
)  # fmt: skip
SEEN = "a snapshot or a sync saw it then"
LAST_SYNC = "(SELECT max(at) FROM sync)"
RULES = [
    # Markets, their pages and prices, and how they ended.
    Rule("market", "first_seen_at", """EXISTS (SELECT 1 FROM sync WHERE sync.at = first_seen_at)
        OR EXISTS (SELECT 1 FROM snapshot_item AS item JOIN snapshot ON snapshot.id = item.snapshot_id
        WHERE item.market_id = market.id AND snapshot.taken_at = first_seen_at)""", "such a time", SEEN),
    Rule("market_version", "at", """EXISTS (SELECT 1 FROM sync WHERE sync.at = market_version.at)
        OR EXISTS (SELECT 1 FROM snapshot_item AS item JOIN snapshot ON snapshot.id = item.snapshot_id
        WHERE item.market_id = market_version.market_id AND item.version_id = market_version.id
        AND snapshot.taken_at = market_version.at)""", "such a time", SEEN),
    Rule("market", "first_seen_at", """NOT EXISTS (SELECT 1 FROM market_version AS page
        WHERE page.market_id = market.id AND page.version = 1 AND page.at <> first_seen_at)""",
        "the time of its first page", "its first page was seen then"),
    Rule("market", "id", "EXISTS (SELECT 1 FROM market_version AS page WHERE page.market_id = market.id)",
        "that of a page", "a market was seen because it had one"),
    _counted("market_version", "version", 1, "market_id"),
    # Of markets in snapshots prices are read in between too, once they were first seen.
    Rule("quote", "at", f"""quote.at <= {LAST_SYNC}
        OR EXISTS (SELECT 1 FROM snapshot_item WHERE quote_id = quote.id AND quoted_at = quote.at)
        OR (NOT EXISTS (SELECT 1 FROM snapshot_item WHERE quote_id = quote.id AND quoted_at < quote.at)
        AND EXISTS (SELECT 1 FROM snapshot_item AS item JOIN market ON market.id = item.market_id
        WHERE item.market_id = quote.market_id AND market.first_seen_at <= quote.at))""",
        "such a time", SEEN),
    Rule("resolution", "payout", "payout IS NULL OR payout BETWEEN 0 AND 1000000", "0 to 1000000, or nothing",
        "a share pays 0 to 1"),
    _at_least("resolution", "version", 1),
    _among("set_aside", "kind", "article", "market", "page", "quote", "resolution"),
    _at_least("set_aside", "times", 1),
    Rule("set_aside", "first_seen_at", "first_seen_at <= last_seen_at", "no later than it was seen last",
        "it was seen last after that"),
    _counted("prune", "number", 1),
    _at_least("prune", "quotes", 1),
    Rule("prune", "older_than", "older_than <= at", "no later than its own time", "it had passed"),
    _counted("sync", "number", 1, "venue"),
    _among("sync", "stamp", "live", "replay", "simulated"),
    Rule("sync", "at", """NOT EXISTS (SELECT 1 FROM sync AS other WHERE other.venue = sync.venue
        AND other.number = sync.number - 1 AND other.at >= sync.at)""", "later than the one before",
        "syncs follow one another"),
    _counted("benchmark_file", "version", 1, "kind", "name"),
    _among("benchmark_file", "kind", "questions", "resolutions"),
    # What cohorts were shown.
    _counted("cohort", "number", 1),
    Rule("snapshot", "taken_at", "taken_at >= at", "its own time or later", "nobody looks before the time"),
    Rule("snapshot", "catalogue", """catalogue = '' OR EXISTS (SELECT 1 FROM sync
        WHERE sync.hash = catalogue AND sync.at < taken_at)""", "the hash of an earlier sync",
        "a live round is drawn from what a sync has seen"),
    _counted("snapshot_item", "position", 0, "snapshot_id"),
    Rule("snapshot_item", "shown", "shown IN (0, 1)", "0 or 1", "a market is on offer or it is not"),
    Rule("snapshot_item", "version_id", """NOT EXISTS (SELECT 1 FROM market_version AS page
        WHERE page.id = version_id AND page.market_id <> snapshot_item.market_id)""", "one of its own market",
        "a page is one of its market"),
    *_quoted("snapshot_item"),
    Rule("round", "done", "done IN (0, 1)", "0 or 1", "a round is done or it is not"),
    Rule("round", "snapshot_id", """NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.id = snapshot_id
        AND (snapshot.cohort_id <> round.cohort_id OR snapshot.at <> round.at))""", "its own",
        "agents see the snapshot of their round's time"),
    _counted("evidence", "position", 0, "gathering_id"),
    # Calls, failures and turns.
    *(_same_cohort(table) for table in ("call", "attempt", "turn")),
    _counted("call", "attempt", 1, "round_id", "entrant_id", "stage", "sample"),
    _counted("attempt", "number", 1, "round_id", "entrant_id"),
    *(_at_least("call", column, 0) for column in COUNTS_OF_CALLS),
    Rule("call", "error_message", "(error_code IS NULL) = (error_message IS NULL)", "words for a code",
        "each comes with the other"),
    Rule("call", "error_retry", "error_retry = 0 OR (error_retry = 1 AND error_code IS NOT NULL)", "0, or 1",
        "a failure was worth another attempt or not"),
    _among("turn", "status", *USABLE_STATUSES, "malformed", "declined", "out", *UNANSWERED),
    _without("fill", "malformed", "declined", "out", *UNANSWERED),
    _without("second_quote", "malformed", "declined", "out", *UNANSWERED),
    _without("forecast", "out", *UNANSWERED),
    _without("rejection", *UNANSWERED),
    _among("forecast", "stage", "blind", "final"),
    Rule("forecast", "probability", "probability BETWEEN 0 AND 1000000", "0 to 1000000",
        "it is a probability"),
    _shown_to_turn("forecast"),
    _shown_to_turn("second_quote"),
    Rule("second_quote", "taken_at", """NOT EXISTS (SELECT 1 FROM turn JOIN round ON round.id = turn.round_id
        JOIN snapshot ON snapshot.id = round.snapshot_id
        WHERE turn.id = turn_id AND snapshot.taken_at > second_quote.taken_at)""", "later than the snapshot",
        "the snapshot came first"),
    Rule("second_quote", "taken_at", """NOT EXISTS (SELECT 1 FROM second_quote AS other
        WHERE other.turn_id = second_quote.turn_id AND other.taken_at <> second_quote.taken_at)""",
        "that of the others", "all were read together"),
    Rule("second_quote", "quoted_at", "quoted_at IS NULL OR quoted_at <= taken_at",
        "no later than it was read", "it was known then"),
    *_quoted("second_quote"),
    _counted("rejection", "position", 0, "turn_id"),
    _counted("fill", "position", 0, "turn_id"),
    _counted("fill_level", "position", 0, "fill_id"),
    # Texts that are kept for what names them, and what would keep heads from leaving the machine.
    Rule("article", "hash", "hash IN (SELECT article FROM evidence)", None, "no evidence names it"),
    Rule("prompt", "hash", """EXISTS (SELECT 1 FROM cohort WHERE frozen LIKE '%' || prompt.hash || '%')
        OR EXISTS (SELECT 1 FROM replacement WHERE prompts LIKE '%' || prompt.hash || '%')""", None,
        "no cohort names it"),
    Rule("head", "at", """NOT EXISTS (SELECT 1 FROM round JOIN cohort ON cohort.id = round.cohort_id
        WHERE cohort.number = head.cohort AND round.number = head.round AND round.at <> head.at)""",
        "that of its round", "a round is over at its own time"),
    Rule("publication", "number", "number <= (SELECT coalesce(max(number), 0) FROM head)", "that of a head",
        "there is no later one"),
]  # fmt: skip


def _rules_of_tables() -> Iterator[Rule]:
    """Yield the rules that rows are counted from 1, and that every row is there to which others refer."""
    for table in METADATA.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            holds = f"id BETWEEN 1 AND {LAST_ID}"
            yield Rule(table.name, "id", holds, f"1 to {LAST_ID}", "rows are counted from 1")
        for key in sorted(table.foreign_keys, key=lambda key: str(key.parent.name)):
            yield _referring(table.name, key.parent.name, key.column.table.name, key.column.name)
    yield _referring("entry", "market_id", "market", "id", "entry.market_id <> ''")


def _referring(table: str, column: str, parent: str, name: str, where: str = "true") -> Rule:
    """Return the rule that a row refers to one that is there.

    Values are looked for once each: of a price's market there are thousands of rows.
    """
    known = f"SELECT 1 FROM {parent} AS parent WHERE parent.{name} = named.value"
    values = f"SELECT DISTINCT {column} AS value FROM {table} WHERE {column} IS NOT NULL AND {where}"
    lost = f"SELECT value FROM ({values}) AS named WHERE NOT EXISTS ({known})"
    holds = f"{column} IS NULL OR {column} NOT IN ({lost})"
    return Rule(table, column, holds, f"the {name} of a {parent}", "it refers to one")


RULES_OF_TABLES = list(_rules_of_tables())


def _rules_of_instants() -> Iterator[Rule]:
    """Yield the rules that instants are some; PostgreSQL sees to that itself."""
    form = "????-??-??T??:??:??.??????Z"
    for table in METADATA.sorted_tables:
        for column in table.c:
            if isinstance(column.type, UtcTime):
                name = column.name
                holds = f"{name} IS NULL OR ({name} GLOB '{form}' AND julianday({name}) NOTNULL)"
                yield Rule(table.name, name, holds, "an instant in UTC", UNREADABLE)


RULES_OF_INSTANTS = list(_rules_of_instants())


def check_rows(facts: RecordReader) -> Found:
    """Yield the rows that break a rule: all of them if it is the rule's turn, else those that are new."""
    for place, rule in enumerate(RULES):
        if facts.is_in_part(place):
            yield from rule.broken(facts)
        elif rule.table in NEW:
            column, table = NEW[rule.table]
            yield from rule.broken(facts, f"{rule.table}.{column} > {facts.after(table)}")
    yield from _check_in_turn(facts, RULES_OF_TABLES)


def _check_in_turn(facts: RecordReader, rules: Sequence[Rule]) -> Found:
    """Yield the rows that break one of the rules whose turn it is."""
    for place, rule in enumerate(rules):
        if facts.is_in_part(place):
            yield from rule.broken(facts)


def check_texts(facts: RecordReader) -> Found:
    """Yield the instants that are none."""
    if facts.connection.dialect.name == "sqlite":
        yield from _check_in_turn(facts, RULES_OF_INSTANTS)
