"""How markets ended, as venues say it: a new version whenever one changes its mind."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from arena.record.schema.statements import TableRows, attributes_of, batches, insert_rows
from arena.record.schema.typed import IDS, col, columns_of, read_nouns, select
from arena.record.schema.world import MarketRow, QuarantineRow, ResolutionRow
from arena.record.write.heads import add_head
from arena.record.write.quarantine import quarantine_records
from markets.hashes import canonical, digest, plain_value
from markets.millionths import ONE, decimal
from markets.model import SILENCE, MarketId, Resolution
from markets.venue import QuarantinedRecord

FIELDS = tuple(Resolution.__dataclass_fields__)
KNOWN_MARKETS = select(MarketRow.id).where(col(MarketRow.id).in_(IDS))
KNOWN_RESOLUTIONS = (
    select(*columns_of(ResolutionRow, FIELDS))
    .where(col(ResolutionRow.market_id).in_(IDS))
    .order_by(ResolutionRow.version)
)
ResolutionVersions = dict[MarketId, dict[int, Resolution]]


def add_resolutions(
    connection: Connection, resolutions: Sequence[Resolution], at: datetime, live: bool = False
) -> int:
    """Add what is new among these, and return how many. What can't be is quarantined, and never stored.

    Simulated and recorded venues tell the whole story every time, and number its versions: those not yet
    known by their number are new. A live venue only says how a market stands now, as version 1 whatever
    came before: an answer that pays something else than the newest known version is the next one, and so is
    the first answer after a person's decision. It is known from now on, and so is a first one that had to
    wait: the venue dates them back to its close.
    """
    known = _known_versions(connection, resolutions)
    possible = []
    quarantined = []
    for resolution in resolutions:
        rejection = _rejection_of(resolution, known)
        if rejection is None:
            possible.append(resolution)
        else:
            quarantined.append(_quarantined(resolution, *rejection))
    quarantine_records(connection, quarantined, at)

    if live:
        late = _waited(connection, [resolution.market_id for resolution in possible])
        fresh = _changed_payouts(possible, known, late, at)
    else:
        fresh = _new_versions(possible, known)
    insert_resolutions(connection, fresh, at)
    return len(fresh)


def _known_versions(connection: Connection, resolutions: Sequence[Resolution]) -> ResolutionVersions:
    """Return the known versions of how these markets ended, by market; none of one that was never seen."""
    known: ResolutionVersions = {}
    for batch in batches(sorted({resolution.market_id for resolution in resolutions})):
        for market in connection.scalars(KNOWN_MARKETS, {"ids": batch}):
            known[MarketId(market)] = {}
        for resolution in read_nouns(Resolution, connection.execute(KNOWN_RESOLUTIONS, {"ids": batch})):
            known[resolution.market_id][resolution.version] = resolution
    return known


def _new_versions(resolutions: Sequence[Resolution], known: ResolutionVersions) -> list[Resolution]:
    """Return the versions that are not known by their number, of several with one number the first."""
    fresh: dict[tuple[MarketId, int], Resolution] = {}
    for resolution in resolutions:
        key = (resolution.market_id, resolution.version)
        if resolution.version not in known[resolution.market_id]:
            fresh.setdefault(key, resolution)
    return [fresh[key] for key in sorted(fresh)]


def insert_resolutions(connection: Connection, resolutions: Sequence[Resolution], at: datetime) -> None:
    """Write these versions, learnt at this time, and the head that covers them."""
    rows = TableRows()
    members = []
    for resolution in resolutions:
        content = {"learnt_at": at, **plain_value(resolution)}
        if not resolution.answer:
            del content["answer"]
        fact = digest(content)
        members.append([resolution.market_id, resolution.version, fact])
        rows.append(attributes_of(resolution, *FIELDS) | {"learnt_at": at, "hash": fact})
    insert_rows(connection, ResolutionRow.__table__, rows)
    add_head(connection, at, {"resolution": members})


def _rejection_of(resolution: Resolution, known: ResolutionVersions) -> tuple[str, str] | None:
    """Return why a resolution is not stored, as a code and in words; None where it may be."""
    if resolution.payout is not None and not 0 <= resolution.payout <= ONE:
        return "bad_payout", f"a share pays from 0 to 1, not {decimal(resolution.payout)}"
    if resolution.version < 1:
        return "bad_version", f"versions are counted from 1, and this one is {resolution.version}"
    if resolution.market_id not in known:
        return "unknown_market", "this market has never been seen"
    return None


def _quarantined(resolution: Resolution, code: str, reason: str) -> QuarantinedRecord:
    venue, _, own = resolution.market_id.partition(":")
    return QuarantinedRecord(venue, own, "resolution", code, reason, canonical(resolution))


def _waited(connection: Connection, ids: Sequence[MarketId]) -> set[MarketId]:
    """Return those of these markets whose end was set aside before, as disputed or not yet agreed on."""
    venues = set[str]()
    records = set[str]()
    for market in ids:
        venue, _, record = market.partition(":")
        venues.add(venue)
        records.add(record)

    waited = set[MarketId]()
    waiting = select(QuarantineRow.venue, QuarantineRow.record).where(QuarantineRow.kind == "resolution")
    waiting = waiting.where(col(QuarantineRow.venue).in_(sorted(venues)))
    for batch in batches(sorted(records)):
        for venue, record in connection.execute(waiting.where(col(QuarantineRow.record).in_(batch))):
            waited.add(MarketId(f"{venue}:{record}"))
    return waited


def _says_other(newest: Resolution, resolution: Resolution) -> bool:
    """Tell whether an answer differs from the newest version."""
    return (newest.payout, newest.answer) != (resolution.payout, resolution.answer)


def _changed_payouts(
    resolutions: Iterable[Resolution], known: ResolutionVersions, late: Collection[MarketId], at: datetime
) -> list[Resolution]:
    """Return what pays something else than the newest version, as the next one; it is not known before now.

    After a person's decision the venue's own word is the next version, whatever it pays: it has the last one.
    That it has waited long enough corrects nothing that is known: what it read then may be gone by now.
    """
    last = {resolution.market_id: resolution for resolution in resolutions}
    fresh = []
    for market, resolution in sorted(last.items()):
        newest = max(known[market].values(), key=lambda version: version.version, default=None)
        if newest is None:
            known_at = at if market in late else resolution.known_at
            fresh.append(replace(resolution, version=1, known_at=known_at))
        elif resolution.source.startswith(SILENCE):
            continue
        elif _says_other(newest, resolution) or (newest.by_hand and not resolution.by_hand):
            known_at = max(newest.known_at, resolution.known_at, at)
            fresh.append(replace(resolution, version=newest.version + 1, known_at=known_at))
    return fresh
