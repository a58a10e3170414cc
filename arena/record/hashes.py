"""Hashes of what a record says: one of all of it, and for each round of a cohort one of all until then.

Both are the SHA-256 over lines of canonical JSON, each ended by a new line, from one walk over the facts in
the order of natural keys. Row ids don't count, so a record that was copied elsewhere has the same hashes.
What follows from the rest or doesn't matter is left out: the clock, latencies, attempts, costs, claims,
which articles were dropped, the code's version, marks and the hashes in the record.

The state hash is the same for a season however often it was broken off. The hash of the config file in what
a cohort froze is no part of it: a comment there, or how many calls are made at once, changes nothing. Nor
are credentials in addresses: no export has them. Of the answers to one question, also put again with what
was wrong, the last good one counts.

The heads of a cohort fix what was frozen, seen and decided up to a round, and nothing later, so they can be
published before anyone knows how the markets end. A round has a head once it is over. Of the answers to one
question only the first counts: one that comes late, from a worker that was given up, was paid for and is
kept, but nobody decided by it.

Databases sort numbers and instants alike, but not texts, so rows are sorted by numbers in SQL, and those of
one turn, or of a market, by text here. Of a whole record only the pages of markets, as hashes, and the
resolutions are held in memory.

Head 0 is the SHA-256 of the canonical JSON (keys sorted, no white space, UTF-8, instants as
2026-01-04T00:00:00.000000Z) of ["cohort", number, SHA-256 of the frozen text as a JSON string]. The head of
a round is the SHA-256 over these lines, each the canonical JSON of a list that begins with the line's kind,
in the order of the places that come first:

- `head`: the head of the round before, or head 0;
- `round`: number, time;
- `seen`: place, market, on offer or only held, when the price was true, bid, ask, mid, last, volume, book,
  hash of the page: of event, question, rules, category, opening, closing, tick, fee rate and fewest shares,
  then story, slug, event's slug and tags, without those at its end that are empty;
- `evidence`: place, market, source, url, title, text, published, date as given;
- `turn`: the agent's place and name, how the turn ended, note, cash before, orders;
- `answer`: the agent's place, stage, sample, hash of the question (the object with `messages` and `seed`),
  answer, how it finished, model, fingerprint; of several good ones to a question the first;
- `forecast`: the agent's place, market, stage, probability, reason;
- `rejection`: the agent's place, its own place, code, words, market;
- `fill`: the agent's place, its own place, and all that it says;
- `level`: the agent's place, the fill's, its own, price, shares, amount, fee;
- `entry`: the agent's place, number in the ledger, and all that it says, later than the round before;
- `replacement`: the agent's place and name, SHA-256 of the settings until then, new settings, hashes of
  prompts;
- `second_quote`: the agent's place, market, when the price was true, when it was read, bid, ask, mid, last,
  volume, book;
- `tool`: agent (empty: all), tool, request, text, sources, withheld.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, bindparam

from arena.record.queries.cohorts import StoredRound, read_rounds
from arena.record.schema.codec import published_text
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    EvidenceRow,
    GatheringRow,
    PromptRow,
    ReplacementRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
    ToolResultRow,
)
from arena.record.schema.fields import TableRow, hashed_columns
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.turn import (
    CallRow,
    FillLevelRow,
    FillRow,
    ForecastRow,
    RejectionRow,
    SecondQuoteRow,
    TurnRow,
)
from arena.record.schema.typed import AnySelect, Condition, col, columns_of, select
from arena.record.schema.world import ArticleRow, MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.calls import prompt_hash
from markets.hashes import ADDED_TO_PAGES, canonical, digest

FactLine = list[Any]
Facts = dict[str, Iterator[FactLine]]
"""Facts by kind."""
Values = Mapping[str, Any]
"""The values for the conditions of a scope, by name."""
CONFIG_HASH = re.compile(r'"config_hash":"[0-9a-f]{64}",')
"""As canonical JSON has it; within a text of somebody's the quotes would be escaped."""

ROUND_KEY = (CohortRow.number, RoundRow.number)
TURN_KEY = (*ROUND_KEY, EntrantRow.position)
"""What a turn or a call is known by, as numbers."""
BY_TURN = itemgetter(slice(len(TURN_KEY)))
BY_MARKET_AND_VERSION = itemgetter(slice(2))
BY_TEXT = {"forecast": len(TURN_KEY), "second_quote": len(TURN_KEY), "tool": len(ROUND_KEY)}
"""Kinds whose lines are sorted by text too, behind so many numbers that they have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Which facts are walked over, as conditions on the snapshots, the rounds and the entries they are of."""

    snapshots: tuple[Condition, ...] = ()
    rounds: tuple[Condition, ...] = ()
    entries: tuple[Condition, ...] = ()

    def of_rounds(self, columns: Iterable[Any], *rows: type[TableRow]) -> AnySelect:
        """Return the query for rows that belong to rounds."""
        query = select(*ROUND_KEY, *columns).from_joined(*rows, RoundRow, CohortRow)
        return query.where(*self.rounds)

    def of_entrants(self, row: type[TurnRow | CallRow], *columns: Any) -> AnySelect:
        """Return the query for rows that belong to entrants in rounds."""
        query = select(*TURN_KEY, *columns).from_joined(row, EntrantRow, RoundRow, CohortRow)
        return query.where(*self.rounds)

    def of_turns(self, row: type[ForecastRow | RejectionRow | SecondQuoteRow | FillRow]) -> AnySelect:
        """Return the query for rows that belong to turns."""
        return self.of_entrants(TurnRow, *hashed_columns(row)).join(row, row.turn_id == TurnRow.id)


WHOLE = Scope()
"""All facts."""
OF_SNAPSHOT = SnapshotRow.id == bindparam("snapshot")
OF_ROUND = RoundRow.id == bindparam("round")
OF_COHORT = EntrantRow.cohort_id == bindparam("cohort")
UNTIL_ROUND = col(EntryRow.at) <= bindparam("at")
FIRST_ROUND = Scope((OF_SNAPSHOT,), (OF_ROUND,), (OF_COHORT, UNTIL_ROUND))
"""What the first round of a cohort adds: its snapshot, itself, and the cohort's entries until then."""
SINCE_ROUND_BEFORE = col(EntryRow.at) > bindparam("before")
LATER_ROUND = Scope((OF_SNAPSHOT,), (OF_ROUND,), (OF_COHORT, UNTIL_ROUND, SINCE_ROUND_BEFORE))


def state_hash(connection: Connection) -> str:
    """Return the hash of the record's content, in hexadecimal."""
    facts = _facts(connection, WHOLE)
    rounds = select(*ROUND_KEY, RoundRow.at).join(CohortRow, RoundRow.cohort_id == CohortRow.id)

    parts: dict[str, Iterable[FactLine]] = {
        "cohort": _cohort_lines(connection),
        "prompt": sorted(_rows(connection, select(PromptRow.text))),
        "snapshot": facts.pop("snapshot"),
        "round": _rows(connection, rounds.order_by(*ROUND_KEY)),
    }
    parts |= facts
    parts["call"] = _last_answers(facts["call"])
    parts["resolution"] = _resolution_lines(connection)
    return _hash_lines([kind, *line] for kind, lines in parts.items() for line in lines)


def fact_lines(connection: Connection) -> Facts:
    """Return the facts of the record by kind, in the order of natural keys."""
    key = (CohortRow.number, MarkRow.at, EntrantRow.position)
    figures = (MarkRow.cash, MarkRow.value, MarkRow.liquidation, MarkRow.cost, MarkRow.stale)
    marks = select(*key, *figures).from_joined(MarkRow, EntrantRow, CohortRow).order_by(*key)

    facts = _facts(connection, WHOLE)
    facts["resolution"] = iter(_resolution_lines(connection))
    facts["mark"] = _rows(connection, marks)
    return facts


def round_heads(connection: Connection, cohort_id: int) -> dict[int, str]:
    """Return the head of each finished round of a cohort, and under 0 that of what it froze."""
    query = select(CohortRow.number, CohortRow.frozen).where(CohortRow.id == cohort_id)
    number, frozen = connection.execute(query).one()
    head = digest(["cohort", number, digest(frozen)])

    heads = {0: head}
    previous_round: StoredRound | None = None
    for stored_round in read_rounds(connection, cohort_id):
        if not stored_round.done:
            break
        head = _hash_lines(_head_lines(connection, cohort_id, stored_round, previous_round, head))
        heads[stored_round.number] = head
        previous_round = stored_round
    return heads


def _hash_lines(lines: Iterable[FactLine]) -> str:
    """Return the SHA-256 over lines, each as canonical JSON with a newline."""
    sha256 = hashlib.sha256()
    for line in lines:
        sha256.update(f"{canonical(line)}\n".encode())
    return sha256.hexdigest()


def _head_lines(
    connection: Connection,
    cohort_id: int,
    stored_round: StoredRound,
    previous_round: StoredRound | None,
    previous_head: str,
) -> Iterator[FactLine]:
    """Yield the head before, and all that a round adds, naming its cohort and number only once."""
    yield ["head", previous_head]
    yield ["round", stored_round.number, stored_round.at]

    scope = FIRST_ROUND
    values: dict[str, Any] = {
        "cohort": cohort_id,
        "snapshot": stored_round.snapshot_id,
        "round": stored_round.id,
        "at": stored_round.at,
    }
    if previous_round is not None:
        scope = LATER_ROUND
        values["before"] = previous_round.at

    facts = _facts(connection, scope, values)
    yield from _seen_lines(facts.pop("snapshot"))
    for kind, lines in facts.items():
        if kind == "call":
            yield from _first_answers(lines)
        else:
            # Lines begin with the number of the cohort, and all but entries with that of the round.
            repeated = 1 if kind == "entry" else 2
            for line in lines:
                yield [kind, *line[repeated:]]


def _seen_lines(items: Iterable[FactLine]) -> Iterator[FactLine]:
    """Yield the line of what was seen, if the snapshot shows anything."""
    for _, _, position, market_id, page, *price in items:
        if position is not None:
            yield ["seen", position, market_id, *price, page]


def _facts(connection: Connection, scope: Scope, values: Values | None = None) -> Facts:
    """Return the facts of a scope by kind, each preceded by the numbers that it belongs to.

    These are the numbers of the cohort, the round and the entrant, as far as a kind has them.
    """
    facts = {"snapshot": _snapshot_lines(connection, scope, values)}
    for kind, query in _fact_queries(scope).items():
        lines = _rows(connection, query, values)
        if kind == "forecast":
            lines = map(_without_empty_last, lines)
        facts[kind] = _sorted_within_groups(lines, BY_TEXT[kind]) if kind in BY_TEXT else lines
    return facts


def _sorted_within_groups(lines: Iterable[FactLine], key_length: int) -> Iterator[FactLine]:
    """Yield lines sorted in full, given lines sorted only by their first values."""
    for _, group in groupby(lines, key=itemgetter(slice(key_length))):
        yield from sorted(group)


@cache
def _fact_queries(scope: Scope) -> dict[str, AnySelect]:
    """Return the queries for the facts of each kind but snapshots.

    They are made once: for each round anew, the heads of the demo's cohorts take 20% longer.
    """
    article = (EvidenceRow.position, EvidenceRow.market_id, *hashed_columns(ArticleRow, "hash"))
    evidence = scope.of_rounds(article, EvidenceRow, GatheringRow)
    evidence = evidence.outerjoin(ArticleRow, EvidenceRow.article == ArticleRow.hash)

    turns = scope.of_entrants(TurnRow, EntrantRow.name, *hashed_columns(TurnRow))
    calls = scope.of_entrants(CallRow, *hashed_columns(CallRow)).where(col(CallRow.error_code).is_(None))

    level_key = (FillRow.position, FillLevelRow.position)
    levels = scope.of_entrants(TurnRow, *level_key, *hashed_columns(FillLevelRow, "position"))
    levels = levels.join(FillRow, FillRow.turn_id == TurnRow.id)
    levels = levels.join(FillLevelRow, FillLevelRow.fill_id == FillRow.id)

    entry_key = (CohortRow.number, EntrantRow.position, EntryRow.number)
    entries = select(*entry_key, *hashed_columns(EntryRow, "number")).where(*scope.entries)
    entries = entries.from_joined(EntryRow, EntrantRow, CohortRow)

    is_its_round = (RoundRow.cohort_id == CohortRow.id) & (RoundRow.number == ReplacementRow.round)
    replacements = select(*TURN_KEY, EntrantRow.name, *hashed_columns(ReplacementRow, "round"))
    replacements = replacements.from_joined(ReplacementRow, EntrantRow, CohortRow)
    replacements = replacements.join(RoundRow, is_its_round).where(*scope.rounds)

    second_quotes = scope.of_turns(SecondQuoteRow)
    second_quotes = second_quotes.add_columns(*hashed_columns(QuoteRow, "market_id", "at"))
    second_quotes = second_quotes.outerjoin(QuoteRow, SecondQuoteRow.quote_id == QuoteRow.id)

    tools = scope.of_rounds(hashed_columns(ToolResultRow), ToolResultRow)
    return {
        "evidence": evidence.order_by(*ROUND_KEY, EvidenceRow.position),
        "turn": turns.order_by(*TURN_KEY),
        "call": calls.order_by(*TURN_KEY, CallRow.attempt),
        "forecast": scope.of_turns(ForecastRow).order_by(*TURN_KEY),
        "rejection": scope.of_turns(RejectionRow).order_by(*TURN_KEY, RejectionRow.position),
        "fill": scope.of_turns(FillRow).order_by(*TURN_KEY, FillRow.position),
        "level": levels.order_by(*TURN_KEY, *level_key),
        "entry": entries.order_by(*entry_key),
        "replacement": replacements.order_by(*TURN_KEY),
        "second_quote": second_quotes.order_by(*TURN_KEY),
        "tool": tools.order_by(*ROUND_KEY),
    }


def _rows(connection: Connection, query: AnySelect, values: Values | None = None) -> Iterator[FactLine]:
    for row in connection.execute(query, values, execution_options={"yield_per": 1000}):
        yield list(row)


def _cohort_lines(connection: Connection) -> Iterator[FactLine]:
    """Yield what each cohort froze, without the hash of its config file."""
    query = select(CohortRow.number, CohortRow.frozen).order_by(CohortRow.number)
    for number, frozen in _rows(connection, query):
        yield [number, CONFIG_HASH.sub("", published_text(frozen), count=1)]


def _resolution_lines(connection: Connection) -> list[FactLine]:
    """Return the resolutions of markets, ordered by id and version."""
    lines = _rows(connection, select(*hashed_columns(ResolutionRow)))
    return sorted(map(_without_empty_last, lines), key=BY_MARKET_AND_VERSION)


def _snapshot_lines(connection: Connection, scope: Scope, values: Values | None) -> Iterator[FactLine]:
    """Yield each place of each snapshot: a market's page, by hash, and its quote."""
    pages, places = _snapshot_queries(scope)
    hashes = {}
    for version_id, *columns in _rows(connection, pages, values):
        added = columns[: len(ADDED_TO_PAGES)]
        page = columns[len(ADDED_TO_PAGES) :]
        hashes[version_id] = digest([*page, *_without_empty_end(added)])

    for cohort, at, position, market_id, version_id, *price in _rows(connection, places, values):
        yield [cohort, at, position, market_id, hashes.get(version_id), *price]


@cache
def _snapshot_queries(scope: Scope) -> tuple[AnySelect, AnySelect]:
    """Return the queries for the pages of the markets in snapshots, and for their places."""
    versions = select(SnapshotItemRow.version_id).from_joined(SnapshotItemRow, SnapshotRow)
    page = hashed_columns(MarketVersionRow, "market_id", "version", "at")
    pages = select(MarketVersionRow.id, *columns_of(MarketVersionRow, ADDED_TO_PAGES), *page)
    pages = pages.where(col(MarketVersionRow.id).in_(versions.where(*scope.snapshots)))

    key = (CohortRow.number, SnapshotRow.at, SnapshotItemRow.position)
    item = columns_of(SnapshotItemRow, ("market_id", "version_id", "shown", "quoted_at"))
    places = (
        select(*key, *item, *hashed_columns(QuoteRow, "market_id", "at"))
        .join_from(SnapshotRow, CohortRow, SnapshotRow.cohort_id == CohortRow.id)
        .outerjoin(SnapshotItemRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
        .outerjoin(QuoteRow, SnapshotItemRow.quote_id == QuoteRow.id)
        .where(*scope.snapshots)
        .order_by(*key)
    )
    return pages, places


def _without_empty_last(line: FactLine) -> FactLine:
    """Return a line without its last column if that is empty: lines of yes or no never had it."""
    return line if line[-1] else line[:-1]


def _without_empty_end(values: Sequence[str]) -> Sequence[str]:
    """Return values without trailing empty ones."""
    end = len(values)
    while end and not values[end - 1]:
        end -= 1
    return values[:end]


def _last_answers(calls: Iterable[FactLine]) -> Iterator[FactLine]:
    """Yield the last good answer to each question of a turn, without questions that another one continues.

    Parts that were asked at once are answered in any order, so attempts don't tell which of them was last.
    """
    for turn, calls_of_turn in groupby(calls, key=BY_TURN):
        replies = {}
        for *_, stage, sample, messages, _seed, reply, _finish, _model, _fingerprint in calls_of_turn:
            replies[stage, sample, messages] = reply

        previous_key = None
        previous_messages = ""
        for stage, sample, messages in sorted(replies):
            # As JSON lists go, those with more messages come just before the one that they continue, and they
            # begin like that one without its closing bracket.
            is_of_same_key = (stage, sample) == previous_key
            is_continued = is_of_same_key and previous_messages.startswith(messages[:-1])
            if not is_continued:
                yield [*turn, stage, sample, messages, replies[stage, sample, messages]]
            previous_key = stage, sample
            previous_messages = messages


def _first_answers(calls: Iterable[FactLine]) -> Iterator[FactLine]:
    """Yield the first good answer to each question of each entrant of a round, the question as a hash."""
    first_answers: dict[tuple[Any, ...], FactLine] = {}
    for _, _, entrant, stage, sample, messages, seed, *answer in calls:
        first_answers.setdefault((entrant, stage, sample, prompt_hash(messages, seed)), answer)
    for question in sorted(first_answers):
        yield ["answer", *question, *first_answers[question]]
