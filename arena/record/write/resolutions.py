"""How markets ended, as venues say it: a new version whenever one changes its mind."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam

from arena.record.schema.statements import TableRows, batches, insert_rows, row_of
from arena.record.schema.typed import col, select
from arena.record.schema.world import MarketRow, ResolutionRow
from arena.record.write.quarantine import quarantine_records
from markets.hashes import canonical, digest, plain_value
from markets.millionths import ONE, decimal
from markets.model import MarketId, Resolution
from markets.venue import QuarantinedRecord

FIELDS = tuple(Resolution.__dataclass_fields__)
MARKET_IDS: BindParameter[Sequence[str]] = bindparam("ids", expanding=True)
KNOWN_MARKETS = select(MarketRow.id).where(col(MarketRow.id).in_(MARKET_IDS))
KNOWN_RESOLUTIONS = (
    select(*(ResolutionRow.__table__.c[name] for name in FIELDS))
    .where(col(ResolutionRow.market_id).in_(MARKET_IDS))
    .order_by(ResolutionRow.version)
)
ResolutionVersions = dict[MarketId, dict[int, Resolution]]


def add_resolutions(
    connection: Connection, resolutions: Sequence[Resolution], at: datetime, live: bool = False
) -> int:
    """What is new among these; how many. What can't be is set aside at this time, and never stored.

    Simulated and recorded venues tell the whole story every time, and number its versions: those not yet
    known by their number are new. A live venue only says how a market stands now, as version 1 whatever
    came before: an answer that pays something else than the newest known version is the next one.
    """
    known = _known_versions(connection, sorted({resolution.market_id for resolution in resolutions}))
    whys = [(told, _rejection_of(told, known)) for told in resolutions]
    quarantine_records(connection, [_quarantined(told, *why) for told, why in whys if why is not None], at)
    possible = [told for told, why in whys if why is None]
    fresh = _changed_payouts(possible, known) if live else _new_versions(possible, known)
    rows: TableRows = [
        row_of(found, *FIELDS) | {"learnt_at": at, "hash": digest({"learnt_at": at, **plain_value(found)})}
        for found in fresh
    ]
    insert_rows(connection, ResolutionRow.__table__, rows)
    return len(rows)


def _rejection_of(told: Resolution, known: ResolutionVersions) -> tuple[str, str] | None:
    """Why a resolution is not stored, as a code and in words; None where it may be."""
    if told.payout is not None and not 0 <= told.payout <= ONE:
        return "bad_payout", f"a share pays from 0 to 1, not {decimal(told.payout)}"
    if told.version < 1:
        return "bad_version", f"versions are counted from 1, and this one is {told.version}"
    if told.market_id not in known:
        return "unknown_market", "nobody has seen a page of this market"
    return None


def _quarantined(told: Resolution, code: str, reason: str) -> QuarantinedRecord:
    venue, _, own = told.market_id.partition(":")
    return QuarantinedRecord(venue, own, "resolution", code, reason, canonical(told))


def _known_versions(connection: Connection, ids: Sequence[MarketId]) -> ResolutionVersions:
    """Every version that is in the record, oldest first, of each market that is there."""
    found: ResolutionVersions = {}
    for some in batches(ids):
        here = connection.scalars(KNOWN_MARKETS, {"ids": some})
        found.update((MarketId(market), {}) for market in here)
        for row in connection.execute(KNOWN_RESOLUTIONS, {"ids": some}):
            found[row.market_id][row.version] = Resolution(*row)
    return found


def _new_versions(told: Iterable[Resolution], known: ResolutionVersions) -> list[Resolution]:
    """The versions whose numbers are not known, each once: the first that was told counts."""
    versions = {(found.market_id, found.version): found for found in reversed(list(told))}
    return [found for (market, version), found in sorted(versions.items()) if version not in known[market]]


def _changed_payouts(told: Iterable[Resolution], known: ResolutionVersions) -> list[Resolution]:
    """What pays something else than the newest version, as the next one; it is not known before that."""
    fresh = []
    for market, found in sorted({found.market_id: found for found in told}.items()):
        newest = max(known[market].values(), key=lambda version: version.version, default=None)
        if newest is None:
            fresh.append(replace(found, version=1))
        elif newest.payout != found.payout:
            at = max(newest.known_at, found.known_at)
            fresh.append(replace(found, version=newest.version + 1, known_at=at))
    return fresh
