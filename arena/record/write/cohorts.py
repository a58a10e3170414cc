"""Writing facts down, in bulk, on a connection whose transaction the caller owns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Literal

from sqlalchemy import Connection, bindparam, func

from arena.errors import ArenaError
from arena.record.model.cohort import Cohort, Replacement
from arena.record.schema.codec import cohort_text
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    PromptRow,
    ReplacementRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
)
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.statements import (
    TableRows,
    attributes_of,
    insert_facts,
    insert_one,
    insert_rows,
)
from arena.record.schema.typed import IDS, Update, col, delete, select, update
from arena.record.write.heads import add_head, add_round_head, last_lines
from arena.record.write.listings import add_page_rows, add_quote_rows
from arena.record.write.operations import add_cohort_finished
from markets.hashes import canonical, digest, plain_value
from markets.model import Snapshot
from portfolio.model import Entry, Mark

PROMPT_HASHES = select(PromptRow.hash)


def add_prompts(connection: Connection, texts: Mapping[str, str]) -> None:
    """Add those texts, by hash, that are not stored yet."""
    if not texts:
        return
    known = set(connection.scalars(PROMPT_HASHES))
    rows: TableRows = [{"hash": key, "text": texts[key]} for key in sorted(texts) if key not in known]
    insert_rows(connection, PromptRow.__table__, rows)


ENTRANTS = (
    select(EntrantRow.name, EntrantRow.id)
    .where(EntrantRow.cohort_id == bindparam("cohort_id"))
    .order_by(EntrantRow.id)
)


def add_cohort(
    connection: Connection, cohort: Cohort, texts: Mapping[str, str], deposits: Mapping[str, Entry]
) -> None:
    """Add a cohort with its line-up, the prompts it freezes (by hash) and every entrant's first entry."""
    add_prompts(connection, texts)
    frozen = cohort_text(cohort)
    frozen_hash = digest(frozen)
    shape = attributes_of(cohort, "number", "starts_at")
    cohort_id = insert_one(connection, CohortRow.__table__, **shape, frozen=frozen, hash=frozen_hash)

    rows = TableRows()
    for entrant in cohort.entrants:
        row = {"cohort_id": cohort_id, "settings": canonical(entrant.settings)}
        row["address"] = entrant.address or None
        rows.append(row | attributes_of(entrant, "position", "name", "kind"))
    insert_rows(connection, EntrantRow.__table__, rows)

    ledgers = {}
    for name, entrant_id in connection.execute(ENTRANTS, {"cohort_id": cohort_id}).all():
        ledgers[entrant_id] = [deposits[name]]
    add_entries(connection, ledgers)

    added = {"cohort": [[cohort.number, frozen_hash]], "entry": last_lines(connection, ledgers)}
    add_head(connection, cohort.starts_at, added, cohort.number, 0)


def add_replacements(
    connection: Connection,
    number: int,
    entrant_ids: Mapping[str, int],
    at: datetime,
    taken: Sequence[Replacement],
) -> None:
    """Add new settings of agents in place of those they had, with the prompts that these name."""
    texts = dict[str, str]()
    for replacement in taken:
        texts |= replacement.texts
    add_prompts(connection, texts)

    for replacement in taken:
        entrant = replacement.entrant
        row = {
            "round": entrant.since,
            "at": at,
            "before": digest(canonical(replacement.before)),
            "settings": canonical(entrant.settings),
            "prompts": canonical(entrant.prompts),
        }
        whose = {"cohort": number, "agent": entrant.name}
        key = {"entrant_id": entrant_ids[entrant.name]}
        insert_one(connection, ReplacementRow.__table__, **key, **row, hash=digest(whose | row))


ENTRY_FIELDS = tuple(Entry.__dataclass_fields__)
MARK_FIELDS = tuple(Mark.__dataclass_fields__)
NEWEST_ENTRIES = (
    select(EntryRow.entrant_id, func.max(EntryRow.at))
    .where(col(EntryRow.entrant_id).in_(IDS))
    .group_by(EntryRow.entrant_id)
)


def add_entries(connection: Connection, ledgers: Mapping[int, Sequence[Entry]]) -> None:
    """Add lines to entrants' ledgers, by entrant id.

    Raise `ArenaError` for one older than its last: another process has gone on while this one slept.
    """
    last = dict(connection.execute(NEWEST_ENTRIES, {"ids": list(ledgers)}).all())
    lines = []
    for entrant_id, entries in ledgers.items():
        for entry in entries:
            if entrant_id in last and entry.at < last[entrant_id]:
                message = f"another process has settled what is later than {entry.at:%Y-%m-%d %H:%M} UTC"
                raise ArenaError("raced", message, "start it again to play what is missing", status=2)
            lines.append(((entrant_id,), entry))
    insert_facts(connection, EntryRow, ("entrant_id",), lines, ENTRY_FIELDS)


def add_settlements(connection: Connection, ledgers: Mapping[int, Sequence[Entry]]) -> None:
    """Add lines to ledgers that belong to no turn, with the head that covers them."""
    add_entries(connection, ledgers)
    newest_at = max(entry.at for entry in chain.from_iterable(ledgers.values()))
    add_head(connection, newest_at, {"entry": last_lines(connection, ledgers)})


def add_snapshot(
    connection: Connection, cohort_id: int, number: int, snapshot: Snapshot, round_number: int | None
) -> int:
    """Add a snapshot with what is new in it: markets, versions of their pages, quotes; return its id.

    With a round's number it opens that round, which waits for its turns.
    """
    listings = list(snapshot)
    versions = add_page_rows(connection, listings, snapshot.seen_at)
    quotes = add_quote_rows(connection, listings)
    shown = {listing.market.id for listing in snapshot.shown}

    rows = TableRows()
    items = []
    for position, listing in enumerate(listings):
        market = listing.market.id
        page_hash, version_id = versions[market]
        quote_hash: str | None = None
        quote_id: int | None = None
        quoted_at: datetime | None = None
        if listing.quote:
            quote_hash, quote_id = quotes[market]
            quoted_at = listing.quote.at

        is_shown = int(market in shown)
        items.append([market, page_hash, quote_hash, plain_value(quoted_at), is_shown])
        row = {"position": position, "market_id": market, "version_id": version_id}
        rows.append(row | {"quote_id": quote_id, "quoted_at": quoted_at, "shown": is_shown})

    times = {"at": snapshot.at, "taken_at": snapshot.seen_at}
    fact = digest({"cohort": number, "items": items, **times})
    own = {"cohort_id": cohort_id, "catalogue": snapshot.catalogue, "hash": fact}
    snapshot_id = insert_one(connection, SnapshotRow.__table__, **own, **times)
    insert_rows(connection, SnapshotItemRow.__table__, [{"snapshot_id": snapshot_id} | row for row in rows])

    if round_number is not None:
        place = {"cohort_id": cohort_id, "number": round_number, "at": snapshot.at}
        insert_one(connection, RoundRow.__table__, **place, snapshot_id=snapshot_id)
    else:
        members = {"snapshot": [[number, plain_value(snapshot.at), fact]]}
        add_head(connection, snapshot.at, members, number)
    return snapshot_id


def open_round(
    connection: Connection,
    cohort: tuple[int, int],
    entrant_ids: Mapping[str, int],
    snapshot: Snapshot,
    number: int,
    taken: Sequence[Replacement],
    at: datetime,
) -> None:
    """Begin a round of a cohort, by id and number: write what it shows, and who plays by new settings."""
    add_snapshot(connection, *cohort, snapshot, number)
    add_replacements(connection, cohort[1], entrant_ids, at, taken)


def end_cohort(connection: Connection, cohort_id: int, at: datetime) -> None:
    """End a cohort, as every round has run and nothing is open. It ends once, and that is an incident."""
    if _end_once(connection, "ended", cohort_id, at):
        add_cohort_finished(connection, cohort_id, at)


OF_COHORT = CohortRow.id == bindparam("cohort_id")
COHORT_NUMBER = select(CohortRow.number).where(OF_COHORT)


def _ending(column: str) -> Update:
    """Return the statement that stores an instant in a column of a cohort, unless there is one."""
    own = CohortRow.__table__.c[column]
    return update(CohortRow).where(OF_COHORT, own.is_(None)).values({own: bindparam("ends")})


END_ONCE = {"ended": _ending("ended_at"), "stopped": _ending("stopped_at")}


def _end_once(
    connection: Connection, kind: Literal["ended", "stopped"], cohort_id: int, at: datetime
) -> bool:
    """Store when a cohort ended or was stopped, with the head that covers it, unless that is stored."""
    if not connection.execute(END_ONCE[kind], {"cohort_id": cohort_id, "ends": at}).rowcount:
        return False
    [number] = connection.scalars(COHORT_NUMBER, {"cohort_id": cohort_id})
    add_head(connection, at, {kind: [[number, plain_value(at)]]}, number)
    return True


def pause_cohort(connection: Connection, cohort_id: int, at: datetime | None) -> None:
    """Pause a cohort, which decides nothing from then on; None lets it go on."""
    connection.execute(update(CohortRow).where(CohortRow.id == cohort_id).values(paused_at=at))


def stop_cohort(connection: Connection, cohort_id: int, at: datetime) -> None:
    """Stop a cohort, which decides no more, for good. It stops once."""
    _end_once(connection, "stopped", cohort_id, at)


SNAPSHOT_TIME = select(SnapshotRow.at).where(SnapshotRow.id == bindparam("taken")).scalar_subquery()
DELETE_MARKS = delete(MarkRow).where(MarkRow.at == SNAPSHOT_TIME, MarkRow.snapshot_id == bindparam("taken"))
ROUND_OVER = (
    select(RoundRow.done)
    .where(
        SnapshotRow.id == bindparam("taken"),
        RoundRow.cohort_id == SnapshotRow.cohort_id,
        RoundRow.at == SnapshotRow.at,
    )
    .with_for_update(of=RoundRow.__table__)
)
CLOSE_ROUND = update(RoundRow).where(RoundRow.id == bindparam("ends")).values(done=1)


def put_marks(
    connection: Connection, snapshot_id: int, marks: Mapping[int, Mark], ends: int | None = None
) -> None:
    """Write each entrant's mark at a snapshot, by entrant id, replacing earlier ones.

    `ends` is the id of a round that ends with them: every turn is in, and a head covers it. The marks of a
    round that is over stay: those of a process that was stalled may be from before its last turn.
    """
    over = connection.scalar(ROUND_OVER, {"taken": snapshot_id})
    if over:
        return

    connection.execute(DELETE_MARKS, {"taken": snapshot_id})
    lines = [((entrant_id, snapshot_id), mark) for entrant_id, mark in marks.items()]
    insert_facts(connection, MarkRow, ("entrant_id", "snapshot_id"), lines, MARK_FIELDS)

    if ends is not None:
        connection.execute(CLOSE_ROUND, {"ends": ends})
        add_round_head(connection, ends)


ROUND_DONE = select(RoundRow.done).where(RoundRow.id == bindparam("round_id")).with_for_update()


def lock_round(connection: Connection, round_id: int) -> bool:
    """Return whether a round is over, and keep others from closing it until the transaction ends."""
    return bool(connection.scalar(ROUND_DONE, {"round_id": round_id}))
