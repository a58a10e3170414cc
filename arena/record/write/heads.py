"""The chain of heads: whatever is added to the facts is covered by a head in the same transaction.

A round is covered once it is over; `arena admin verify` takes it all again by code of its own. Facts are
covered by the hashes of their rows, under names that outlive ids, so a copy has the same chain. One
transaction at a time adds to it, so that none falls between two heads.

A head is the SHA-256 of the canonical JSON (keys sorted, no white space, UTF-8, instants as
2026-01-04T00:00:00.000000Z) of the list of its number, the numbers of its cohort and round (or null), its
time, its parts and the head before (or an empty text). A part is a list of a kind's name, how many facts of
the kind the head covers, and the SHA-256 of the sorted list of these. A fact is a list of what names it
and, last, the hash of its row. Facts of the round are found by the head's cohort and round, the others are
listed in it (`members`). By kind, what names a fact:

- of the round: `evidence`, `replacement`, `turn`: nothing, or the agent's place; `tool`: SHA-256 of agent,
  tool and request; `attempt`: agent's place, number of the failure; `fill`: agent's place, its own place;
  `code`: the agent's place, with the version of the arena that played its turn in place of a hash;
  `catalogue`: nothing, its hash is that of the sync from which a live round was drawn;
- of the round, or listed: `snapshot`: nothing, or where nobody decided cohort and time; `call`: agent's
  place, stage, sample, attempt, and of a late one cohort and round;
- listed: `cohort`, `stopped`, `ended`: number, the last two with the time in place of a hash; `entry`:
  cohort, agent's place, number of a ledger's last line, which covers those before; `resolution`: market and
  version; `sync`: venue and number; `prune`: number; `round`: cohort and number, its hash is that of its
  parts.

A turn's hash covers its forecasts, rejections and second quotes, a fill's its levels, a snapshot's its
prices and pages. An import of a record from before there was a chain writes a first head over all that is
there.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func

from arena.record.model.status import PublishedHeads
from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    GatheringRow,
    ReplacementRow,
    RoundRow,
    SnapshotRow,
    ToolResultRow,
)
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.ledger import EntryRow
from arena.record.schema.statements import attributes_of, insert_rows, run_statement
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    AnySelect,
    col,
    columns_of,
    delete,
    read_objects,
    select,
    select_fields,
)
from arena.record.schema.work import PublicationRow
from arena.record.schema.world import BenchmarkFileRow, PruneRow, ResolutionRow, SyncRow
from markets.hashes import canonical_bytes, digest, plain_value, timestamp_text

Facts = Mapping[str, Iterable[Iterable[Any]]]
"""Facts by kind, each as what names it and, last, its hash."""

CHAIN_LOCK = 0x68656164
"""Who adds to the chain holds this lock on a server; a writer of SQLite is alone anyway."""
LAST = select(HeadRow.number, HeadRow.hash).order_by(col(HeadRow.number).desc()).limit(1)
ROUND_ID: Any = bindparam("round_id")
OF_ROUND_ID = RoundRow.id == ROUND_ID
COHORT = col(CohortRow.number).label("cohort")
ROUND = select(COHORT, RoundRow.number, RoundRow.at).from_joined(RoundRow, CohortRow).where(OF_ROUND_ID)


def _of_entrants(row: Any, *key: Any) -> AnySelect:
    """Return the query for rows of a round by the places of their agents."""
    query = select(EntrantRow.position, *key, row.hash).from_joined(row, EntrantRow)
    return query.where(row.round_id == ROUND_ID)


CATALOGUE = (
    select(SnapshotRow.catalogue)
    .from_joined(SnapshotRow, RoundRow)
    .where(OF_ROUND_ID, SnapshotRow.catalogue != "")
)
IS_ITS_ROUND = (RoundRow.cohort_id == EntrantRow.cohort_id) & (RoundRow.number == ReplacementRow.round)
REPLACEMENTS = (
    select(EntrantRow.position, ReplacementRow.hash)
    .from_joined(ReplacementRow, EntrantRow)
    .join(RoundRow, IS_ITS_ROUND)
    .where(OF_ROUND_ID)
)
CODE_VERSIONS = (
    select(EntrantRow.position, TurnRow.code_version)
    .from_joined(TurnRow, EntrantRow)
    .where(TurnRow.round_id == ROUND_ID)
)
FILLS = (
    select(EntrantRow.position, col(FillRow.position).label("place"), FillRow.hash)
    .from_joined(FillRow, TurnRow, EntrantRow)
    .where(TurnRow.round_id == ROUND_ID)
)
OF_ROUND: dict[str, AnySelect] = {
    "snapshot": select(SnapshotRow.hash).from_joined(SnapshotRow, RoundRow).where(OF_ROUND_ID),
    "catalogue": CATALOGUE,
    "evidence": select(GatheringRow.hash).where(GatheringRow.round_id == ROUND_ID),
    "replacement": REPLACEMENTS,
    "turn": _of_entrants(TurnRow),
    "code": CODE_VERSIONS,
    "attempt": _of_entrants(AttemptRow, AttemptRow.number),
    "call": _of_entrants(CallRow, CallRow.stage, CallRow.sample, CallRow.attempt),
    "fill": FILLS,
    "tool": select(ToolResultRow.key, ToolResultRow.hash).where(ToolResultRow.round_id == ROUND_ID),
}
"""What a round consists of, by kind; another kind is one more line here, and in `verify`."""
NEWEST = EntryRow.__table__.alias("newest")
LAST_LINE = select(func.max(NEWEST.c.number)).where(NEWEST.c.entrant_id == EntrantRow.id).scalar_subquery()
LEDGERS = (
    select(COHORT, EntrantRow.position, col(EntryRow.number).label("last"), EntryRow.hash)
    .from_joined(EntrantRow, CohortRow, EntryRow)
    .where(EntryRow.number == LAST_LINE)
)
"""The last line of ledgers, which by its hash covers all of the ledger."""
TRADED = select(TurnRow.entrant_id).from_joined(TurnRow, FillRow).where(TurnRow.round_id == ROUND_ID)
LEDGERS_OF_ROUND = LEDGERS.where(col(EntrantRow.id).in_(TRADED))
IS_OF_ROUND = exists(select(1).where(RoundRow.snapshot_id == SnapshotRow.id))
SNAPSHOTS = (
    select(CohortRow.number, SnapshotRow.at, SnapshotRow.hash)
    .from_joined(SnapshotRow, CohortRow)
    .where(~IS_OF_ROUND)
)
ROUNDS_OVER = (
    select(col(RoundRow.id).label("id"), COHORT, RoundRow.number)
    .from_joined(RoundRow, CohortRow)
    .where(RoundRow.done == 1)
)
BEFORE: dict[str, AnySelect] = {
    "benchmark": select(
        BenchmarkFileRow.kind, BenchmarkFileRow.name, BenchmarkFileRow.version, BenchmarkFileRow.hash
    ),
    "cohort": select(CohortRow.number, CohortRow.hash),
    "ended": select(CohortRow.number, CohortRow.ended_at).where(col(CohortRow.ended_at).is_not(None)),
    "entry": LEDGERS,
    "prune": select(PruneRow.number, PruneRow.hash),
    "resolution": select(ResolutionRow.market_id, ResolutionRow.version, ResolutionRow.hash),
    "snapshot": SNAPSHOTS,
    "stopped": select(CohortRow.number, CohortRow.stopped_at).where(col(CohortRow.stopped_at).is_not(None)),
    "sync": select(SyncRow.venue, SyncRow.number, SyncRow.hash),
}
"""What belongs to no round, of records from before there was a chain."""


def add_head(
    connection: Connection,
    at: datetime,
    members: Facts,
    cohort: int | None = None,
    round_number: int | None = None,
    derived: Facts | None = None,
) -> None:
    """Add a head to the chain, over facts that are added in the same transaction; without any, none.

    Of kinds that are `derived` from cohort and round the facts are not listed.
    """
    listed = _sorted_facts(members)
    facts = listed | _sorted_facts(derived or {})
    if not facts:
        return

    if is_postgresql(connection):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({CHAIN_LOCK})")
    last_head = run_statement(connection, LAST, {})
    number, previous = last_head[0] if last_head else (0, "")

    position = {"number": number + 1, "cohort": cohort, "round": round_number}
    parts = _head_parts(facts)
    head = {
        **position,
        "at": at,
        "parts": canonical_bytes(parts),
        "members": canonical_bytes(listed),
        "previous": previous,
        "hash": digest([*position.values(), timestamp_text(at), parts, previous]),
    }
    insert_rows(connection, HeadRow.__table__, [head])


def add_round_head(connection: Connection, round_id: int) -> None:
    """Add the head of a round that is over."""
    cohort, number, at = connection.execute(ROUND, {"round_id": round_id}).one()
    ledgers = run_statement(connection, LEDGERS_OF_ROUND, {"round_id": round_id})
    add_head(connection, at, {"entry": ledgers}, cohort, number, _round_facts(connection, round_id))


def _round_facts(connection: Connection, round_id: int) -> Facts:
    """Return the facts of a round by kind."""
    return {
        kind: run_statement(connection, query, {"round_id": round_id}) for kind, query in OF_ROUND.items()
    }


def _sorted_facts(facts: Facts) -> dict[str, list[list[Any]]]:
    """Return the facts sorted, as lists, without kinds that have none."""
    ordered = {}
    for kind, lines in facts.items():
        sorted_lines = sorted(map(list, lines))
        if sorted_lines:
            ordered[kind] = sorted_lines
    return ordered


def _head_parts(facts: Mapping[str, list[list[Any]]]) -> list[list[Any]]:
    """Return the parts of a head over facts that are in order."""
    return [[kind, len(lines), digest(lines)] for kind, lines in sorted(facts.items())]


def begin_chain(connection: Connection, at: datetime) -> None:
    """Add the first head of a record from before there was a chain: it covers all that is there."""
    facts: dict[str, list[Any]] = {}
    for kind, query in BEFORE.items():
        facts[kind] = [plain_value(tuple(row)) for row in connection.execute(query)]

    facts["round"] = []
    for round_id, cohort, number in connection.execute(ROUNDS_OVER).all():
        round_parts = _head_parts(_sorted_facts(_round_facts(connection, round_id)))
        facts["round"].append([cohort, number, digest(round_parts)])
    add_head(connection, at, facts)


SOME_LEDGERS = LEDGERS.where(col(EntrantRow.id).in_(IDS))


def last_lines(connection: Connection, entrant_ids: Iterable[int]) -> list[Any]:
    """Return the last entries of some ledgers, as facts."""
    return list(connection.execute(SOME_LEDGERS, {"ids": list(entrant_ids)}))


@dataclass(frozen=True, slots=True)
class Publication:
    """The newest head that was published to a target (0: none), when, and since when it fails, and how."""

    target: str
    number: int = 0
    at: datetime | None = None
    tries: int = 0
    next_try_at: datetime | None = None
    failing_since: datetime | None = None
    error: str = ""


FIELDS = tuple(Publication.__dataclass_fields__)
HEAD_FIELDS = ("number", "cohort", "round", "at", "parts", "previous")


def read_publication(connection: Connection) -> Publication | None:
    """Return the state of publication to the last target; None if there is none."""
    publications = read_objects(Publication, connection.execute(select_fields(Publication, PublicationRow)))
    return publications[0] if publications else None


def read_newest_head(connection: Connection) -> int:
    """Return the number of the newest head; 0 if there is none."""
    return int(connection.scalar(select(func.max(HeadRow.number))) or 0)


def read_heads_after(connection: Connection, number: int, most: int) -> list[dict[str, Any]]:
    """Return the heads that follow one, as they are published."""
    columns = columns_of(HeadRow, HEAD_FIELDS)
    query = select(*columns, col(HeadRow.hash).label("head")).where(col(HeadRow.number) > number)

    rows = connection.execute(query.order_by(HeadRow.number).limit(most))
    return [plain_value(dict(row._mapping)) | {"parts": json.loads(row.parts)} for row in rows]


def read_published_heads(connection: Connection) -> PublishedHeads:
    """Return how far the heads were published, for the arena's status."""
    state = read_publication(connection) or Publication("")
    newest = read_newest_head(connection)
    return PublishedHeads(newest, state.number, state.at, state.failing_since, state.error, state.next_try_at)


def put_publication(connection: Connection, publication: Publication) -> None:
    """Store the state of publication, replacing that of this or another target."""
    connection.execute(delete(PublicationRow))
    insert_rows(connection, PublicationRow.__table__, [attributes_of(publication, *FIELDS)])
