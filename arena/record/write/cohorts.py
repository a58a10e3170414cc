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


def add_prompts(connection: Connection, texts_by_hash: Mapping[str, str]) -> None:
    """Add those texts, by hash, that are not stored yet."""
    if not texts_by_hash:
        return
    stored_hashes = set(connection.scalars(PROMPT_HASHES))
    rows: TableRows = [
        {"hash": text_hash, "text": texts_by_hash[text_hash]}
        for text_hash in sorted(texts_by_hash)
        if text_hash not in stored_hashes
    ]
    insert_rows(connection, PromptRow.__table__, rows)


ENTRANTS = (
    select(EntrantRow.name, EntrantRow.id)
    .where(EntrantRow.cohort_id == bindparam("cohort_id"))
    .order_by(EntrantRow.id)
)


def add_cohort(
    connection: Connection, cohort: Cohort, prompts_by_hash: Mapping[str, str], deposits: Mapping[str, Entry]
) -> None:
    """Add a cohort with its line-up, the prompts it freezes (by hash) and every entrant's first entry."""
    add_prompts(connection, prompts_by_hash)
    frozen = cohort_text(cohort)
    frozen_hash = digest(frozen)
    columns = attributes_of(cohort, "number", "starts_at")
    cohort_id = insert_one(connection, CohortRow.__table__, **columns, frozen=frozen, hash=frozen_hash)

    rows = TableRows()
    for entrant in cohort.entrants:
        entrant_row = {"cohort_id": cohort_id, "settings": canonical(entrant.settings)}
        entrant_row["address"] = entrant.address or None
        rows.append(entrant_row | attributes_of(entrant, "position", "name", "kind"))
    insert_rows(connection, EntrantRow.__table__, rows)

    ledgers = {}
    for name, entrant_id in connection.execute(ENTRANTS, {"cohort_id": cohort_id}).all():
        ledgers[entrant_id] = [deposits[name]]
    add_entries(connection, ledgers)

    facts = {"cohort": [[cohort.number, frozen_hash]], "entry": last_lines(connection, ledgers)}
    add_head(connection, cohort.starts_at, facts, cohort.number, 0)


def add_replacements(
    connection: Connection,
    cohort_number: int,
    entrant_ids: Mapping[str, int],
    at: datetime,
    replacements: Sequence[Replacement],
) -> None:
    """Add new settings of agents in place of those they had, with the prompts that these name."""
    prompts_by_hash = dict[str, str]()
    for replacement in replacements:
        prompts_by_hash |= replacement.texts
    add_prompts(connection, prompts_by_hash)

    for replacement in replacements:
        entrant = replacement.entrant
        row = {
            "round": entrant.since,
            "at": at,
            "before": digest(canonical(replacement.before)),
            "settings": canonical(entrant.settings),
            "prompts": canonical(entrant.prompts),
        }
        agent_key = {"cohort": cohort_number, "agent": entrant.name}
        entrant_key = {"entrant_id": entrant_ids[entrant.name]}
        insert_one(connection, ReplacementRow.__table__, **entrant_key, **row, hash=digest(agent_key | row))


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
    last_times = dict(connection.execute(NEWEST_ENTRIES, {"ids": list(ledgers)}).all())
    lines = []
    for entrant_id, entries in ledgers.items():
        for entry in entries:
            if entrant_id in last_times and entry.at < last_times[entrant_id]:
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
    connection: Connection, cohort_id: int, cohort_number: int, snapshot: Snapshot, round_number: int | None
) -> int:
    """Add a snapshot with what is new in it: markets, versions of their pages, quotes; return its id.

    With a round's number it opens that round, which waits for its turns.
    """
    listings = list(snapshot)
    stored_pages = add_page_rows(connection, listings, snapshot.seen_at)
    stored_quotes = add_quote_rows(connection, listings)
    shown_markets = {listing.market.id for listing in snapshot.shown}

    item_rows = TableRows()
    hashed_items = []
    for position, listing in enumerate(listings):
        market = listing.market.id
        page_hash, version_id = stored_pages[market]
        quote_hash: str | None = None
        quote_id: int | None = None
        quoted_at: datetime | None = None
        if listing.quote:
            quote_hash, quote_id = stored_quotes[market]
            quoted_at = listing.quote.at

        is_shown = int(market in shown_markets)
        hashed_items.append([market, page_hash, quote_hash, plain_value(quoted_at), is_shown])
        item_row = {"position": position, "market_id": market, "version_id": version_id}
        item_rows.append(item_row | {"quote_id": quote_id, "quoted_at": quoted_at, "shown": is_shown})

    times = {"at": snapshot.at, "taken_at": snapshot.seen_at}
    snapshot_hash = digest({"cohort": cohort_number, "items": hashed_items, **times})
    columns = {"cohort_id": cohort_id, "catalogue": snapshot.catalogue, "hash": snapshot_hash}
    snapshot_id = insert_one(connection, SnapshotRow.__table__, **columns, **times)
    item_rows = [{"snapshot_id": snapshot_id} | item_row for item_row in item_rows]
    insert_rows(connection, SnapshotItemRow.__table__, item_rows)

    # The head of a round covers its snapshot once the round is over; without a round it gets one now.
    if round_number is not None:
        round_key = {"cohort_id": cohort_id, "number": round_number, "at": snapshot.at}
        insert_one(connection, RoundRow.__table__, **round_key, snapshot_id=snapshot_id)
    else:
        facts = {"snapshot": [[cohort_number, plain_value(snapshot.at), snapshot_hash]]}
        add_head(connection, snapshot.at, facts, cohort_number)
    return snapshot_id


def open_round(
    connection: Connection,
    cohort_key: tuple[int, int],
    entrant_ids: Mapping[str, int],
    snapshot: Snapshot,
    round_number: int,
    replacements: Sequence[Replacement],
    at: datetime,
) -> None:
    """Begin a round of a cohort, by id and number: write what it shows, and who plays by new settings."""
    cohort_id, cohort_number = cohort_key
    add_snapshot(connection, cohort_id, cohort_number, snapshot, round_number)
    add_replacements(connection, cohort_number, entrant_ids, at, replacements)


def end_cohort(connection: Connection, cohort_id: int, at: datetime) -> None:
    """End a cohort, as every round has run and nothing is open. It ends once, and that is an incident."""
    if _end_once(connection, "ended", cohort_id, at):
        add_cohort_finished(connection, cohort_id, at)


OF_COHORT = CohortRow.id == bindparam("cohort_id")
COHORT_NUMBER = select(CohortRow.number).where(OF_COHORT)


def _set_once(column: str) -> Update:
    """Return the statement that stores an instant in a column of a cohort, unless there is one."""
    time_column = CohortRow.__table__.c[column]
    return update(CohortRow).where(OF_COHORT, time_column.is_(None)).values({time_column: bindparam("ends")})


END_ONCE = {"ended": _set_once("ended_at"), "stopped": _set_once("stopped_at")}


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
    connection: Connection, snapshot_id: int, marks: Mapping[int, Mark], finished_round_id: int | None = None
) -> None:
    """Write each entrant's mark at a snapshot, by entrant id, replacing earlier ones.

    The round `finished_round_id` ends with them: every turn is in, and a head covers it. The marks of a round
    that is over stay: those of a process that was stalled may be from before its last turn.
    """
    over = connection.scalar(ROUND_OVER, {"taken": snapshot_id})
    if over:
        return

    connection.execute(DELETE_MARKS, {"taken": snapshot_id})
    keyed_marks = [((entrant_id, snapshot_id), mark) for entrant_id, mark in marks.items()]
    insert_facts(connection, MarkRow, ("entrant_id", "snapshot_id"), keyed_marks, MARK_FIELDS)

    if finished_round_id is not None:
        connection.execute(CLOSE_ROUND, {"ends": finished_round_id})
        add_round_head(connection, finished_round_id)


ROUND_DONE = select(RoundRow.done).where(RoundRow.id == bindparam("round_id")).with_for_update()


def lock_round(connection: Connection, round_id: int) -> bool:
    """Return whether a round is over, and keep others from closing it until the transaction ends."""
    return bool(connection.scalar(ROUND_DONE, {"round_id": round_id}))
