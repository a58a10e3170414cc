"""Writing facts down, in bulk, on a connection whose transaction the caller owns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, bindparam, func

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
from arena.record.schema.typed import IDS, col, delete, select, update
from arena.record.write.heads import add_head, add_round_head, last_lines
from arena.record.write.listings import add_page_rows, add_quote_rows
from arena.record.write.operations import add_cohort_finished
from markets.hashes import canonical, digest, plain_value
from markets.model import Snapshot
from portfolio.ledger import LedgerError
from portfolio.model import Entry, Mark


def add_prompts(connection: Connection, texts: Mapping[str, str]) -> None:
    """Texts by hash, those that are not there."""
    known = set(connection.scalars(select(PromptRow.hash)))
    fresh: TableRows = [{"hash": key, "text": texts[key]} for key in sorted(texts) if key not in known]
    insert_rows(connection, PromptRow.__table__, fresh)


def add_cohort(
    connection: Connection, cohort: Cohort, texts: Mapping[str, str], deposits: Mapping[str, Entry]
) -> None:
    """A new cohort with its line-up, the prompts it freezes (by hash) and every entrant's first entry."""
    add_prompts(connection, texts)
    frozen = cohort_text(cohort)
    shape = attributes_of(cohort, "number", "starts_at")
    cohort_id = insert_one(connection, CohortRow.__table__, **shape, frozen=frozen, hash=digest(frozen))
    rows: TableRows = [
        {"cohort_id": cohort_id, "settings": canonical(each.settings), "address": each.address or None}
        | attributes_of(each, "position", "name", "kind")
        for each in cohort.entrants
    ]
    insert_rows(connection, EntrantRow.__table__, rows)
    ids = connection.execute(select(EntrantRow.name, EntrantRow.id).where(EntrantRow.cohort_id == cohort_id))
    by_name = sorted(ids.all(), key=lambda row: row.id)
    add_entries(connection, {entrant_id: [deposits[name]] for name, entrant_id in by_name})
    added = {
        "cohort": [[cohort.number, digest(frozen)]],
        "entry": last_lines(connection, [x.id for x in by_name]),
    }
    add_head(connection, cohort.starts_at, added, cohort.number, 0)


def add_replacements(
    connection: Connection,
    number: int,
    entrant_ids: Mapping[str, int],
    at: datetime,
    taken: Sequence[Replacement],
) -> None:
    """New settings of agents in place of those they had, with the prompts that these name."""
    add_prompts(connection, {key: text for one in taken for key, text in one.texts.items()})
    for each in taken:
        entrant = each.entrant
        row = {
            "round": entrant.since,
            "at": at,
            "before": digest(canonical(each.before)),
            "settings": canonical(entrant.settings),
            "prompts": canonical(entrant.prompts),
        }
        whose = {"cohort": number, "agent": entrant.name}
        key = {"entrant_id": entrant_ids[entrant.name]}
        insert_one(connection, ReplacementRow.__table__, **key, **row, hash=digest(whose | row))


NEWEST_ENTRIES = (
    select(EntryRow.entrant_id, func.max(EntryRow.at))
    .where(col(EntryRow.entrant_id).in_(IDS))
    .group_by(EntryRow.entrant_id)
)


def add_entries(connection: Connection, ledgers: Mapping[int, Sequence[Entry]]) -> None:
    """More lines of entrants' ledgers, by entrant id, none of them older than its last."""
    last = dict(connection.execute(NEWEST_ENTRIES, {"ids": list(ledgers)}).all())
    for entrant_id, entries in ledgers.items():
        if entrant_id in last and any(entry.at < last[entrant_id] for entry in entries):
            raise LedgerError(f"an entry of {entries[0].at} can't follow one of {last[entrant_id]}")
    lines = [((key,), entry) for key, entries in ledgers.items() for entry in entries]
    insert_facts(connection, EntryRow, ("entrant_id",), lines, [*Entry.__dataclass_fields__])


def add_settlements(connection: Connection, ledgers: Mapping[int, Sequence[Entry]]) -> None:
    """More lines of ledgers that belong to no turn, with the head that covers them."""
    add_entries(connection, ledgers)
    at = max(entry.at for entries in ledgers.values() for entry in entries)
    add_head(connection, at, {"entry": last_lines(connection, ledgers)})


def add_snapshot(
    connection: Connection, cohort_id: int, number: int, snapshot: Snapshot, round_number: int | None
) -> int:
    """A snapshot with what is new in it: markets, versions of their pages, changed quotes; its id.

    With a round's number it opens that round, which waits for its turns.
    """
    listings = list(snapshot)
    versions = add_page_rows(connection, listings, snapshot.seen_at)
    quotes = add_quote_rows(connection, listings)
    shown = {listing.market.id for listing in snapshot.shown}
    rows: TableRows = [
        {
            "position": position,
            "market_id": listing.market.id,
            "version_id": versions[listing.market.id][1],
            "quote_id": quotes[listing.market.id][1] if listing.quote else None,
            "quoted_at": listing.quote.at if listing.quote else None,
            "shown": int(listing.market.id in shown),
        }
        for position, listing in enumerate(listings)
    ]
    seen = [
        [
            row["market_id"],
            versions[row["market_id"]][0],
            quotes[row["market_id"]][0] if row["quote_id"] else None,
            plain_value(row["quoted_at"]),
            row["shown"],
        ]
        for row in rows
    ]
    times = {"at": snapshot.at, "taken_at": snapshot.seen_at}
    fact = digest({"cohort": number, "items": seen, **times})
    own = {"cohort_id": cohort_id, "catalogue": snapshot.catalogue, "hash": fact}
    snapshot_id = insert_one(connection, SnapshotRow.__table__, **own, **times)
    insert_rows(connection, SnapshotItemRow.__table__, [{"snapshot_id": snapshot_id} | row for row in rows])
    if round_number is not None:
        row = {"cohort_id": cohort_id, "number": round_number, "at": snapshot.at, "snapshot_id": snapshot_id}
        insert_one(connection, RoundRow.__table__, **row)
    else:
        sealed = [[number, plain_value(snapshot.at), fact]]
        add_head(connection, snapshot.at, {"snapshot": sealed}, number)
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
    """A round of a cohort, by id and number, begins: what it shows, and who plays by new settings."""
    add_snapshot(connection, *cohort, snapshot, number)
    add_replacements(connection, cohort[1], entrant_ids, at, taken)


def end_cohort(connection: Connection, cohort_id: int, at: datetime) -> None:
    """Every round has run and nothing is open; a cohort ends once, and that is an incident."""
    if _end_once(connection, "ended", cohort_id, at):
        add_cohort_finished(connection, cohort_id, at)


def _end_once(
    connection: Connection, kind: Literal["ended", "stopped"], cohort_id: int, at: datetime
) -> bool:
    """Keep when a cohort has ended or was stopped, with the head that covers it, unless that is known."""
    column = CohortRow.__table__.c[f"{kind}_at"]
    change = update(CohortRow).where(CohortRow.id == cohort_id, column.is_(None)).values({column: at})
    if not connection.execute(change).rowcount:
        return False
    [number] = connection.scalars(select(CohortRow.number).where(CohortRow.id == cohort_id))
    add_head(connection, at, {kind: [[number, plain_value(at)]]}, number)
    return True


def pause_cohort(connection: Connection, cohort_id: int, at: datetime | None) -> None:
    """Since when a cohort decides nothing; None lets it go on."""
    connection.execute(update(CohortRow).where(CohortRow.id == cohort_id).values(paused_at=at))


def stop_cohort(connection: Connection, cohort_id: int, at: datetime) -> None:
    """A cohort decides no more, for good; it stops once."""
    _end_once(connection, "stopped", cohort_id, at)


SNAPSHOT_TIME = select(SnapshotRow.at).where(SnapshotRow.id == bindparam("taken")).scalar_subquery()
DELETE_MARKS = delete(MarkRow).where(MarkRow.at == SNAPSHOT_TIME, MarkRow.snapshot_id == bindparam("taken"))


def put_marks(
    connection: Connection, snapshot_id: int, marks: Mapping[int, Mark], over: int | None = None
) -> None:
    """Each entrant's holdings at a snapshot, by entrant id, in place of what was there.

    `over` is the id of a round that is over with them: every turn is in, and a head covers it. One that is
    done stays as it is.
    """
    connection.execute(DELETE_MARKS, {"taken": snapshot_id})
    lines = [((entrant_id, snapshot_id), mark) for entrant_id, mark in marks.items()]
    insert_facts(connection, MarkRow, ("entrant_id", "snapshot_id"), lines, [*Mark.__dataclass_fields__])
    if over is None:
        return
    closing = update(RoundRow).where(RoundRow.id == over, RoundRow.done == 0).values(done=1)
    if connection.execute(closing).rowcount:
        add_round_head(connection, over)
