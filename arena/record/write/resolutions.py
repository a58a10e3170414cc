"""How markets ended, as venues say it: a new version whenever one changes its mind."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from arena.record.schema.statements import TableRows, attributes_of, batches, insert_rows
from arena.record.schema.typed import IDS, col, columns_of, read_objects, select
from arena.record.schema.world import MarketRow, MarketVersionRow, QuarantineRow, ResolutionRow
from arena.record.write.heads import add_head
from arena.record.write.quarantine import quarantine_records
from markets.distributions import form_of, question_kind
from markets.hashes import canonical, digest, end_content
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
FORMS_OF_QUESTIONS = (
    select(MarketVersionRow.market_id, MarketVersionRow.form)
    .where(col(MarketVersionRow.market_id).in_(IDS), MarketVersionRow.form != "")
    .order_by(MarketVersionRow.version)
)
ResolutionVersions = dict[MarketId, dict[int, Resolution]]
Forms = dict[str, str]
"""The newest form of each question that isn't of yes or no, by market."""


def add_resolutions(
    connection: Connection, resolutions: Sequence[Resolution], at: datetime, live: bool = False
) -> int:
    """Add what is new among these, and return how many. What can't be is quarantined, and never stored.

    Simulated and recorded venues tell the whole story every time, and number its versions: those not yet
    known by their number are new. A live venue only says how a market stands now, as version 1 whatever
    came before: one that pays or answers something else than the newest known version is the next one, and so
    is the first one after a person's decision. It is known from now on, and so is a first one that had to
    wait: the venue dates them back to its close.
    """
    known_versions = _known_versions(connection, resolutions)
    forms = read_forms(connection, [resolution.market_id for resolution in resolutions])
    accepted = []
    quarantined = []
    for resolution in resolutions:
        rejection = _rejection_of(resolution, known_versions) or _fault_of_answer(resolution, forms)
        if rejection is None:
            answer = resolution.answer and read_answer(forms[resolution.market_id], resolution.answer)
            accepted.append(replace(resolution, answer=answer))
        else:
            quarantined.append(_quarantined(resolution, *rejection))
    quarantine_records(connection, quarantined, at)

    if live:
        waited_markets = _markets_that_waited(connection, [resolution.market_id for resolution in accepted])
        new_versions = _changed_ends(accepted, known_versions, waited_markets, at)
    else:
        new_versions = _new_versions(accepted, known_versions)
    insert_resolutions(connection, new_versions, at)
    return len(new_versions)


def _known_versions(connection: Connection, resolutions: Sequence[Resolution]) -> ResolutionVersions:
    """Return the known versions of how these markets ended, by market; none of one that was never seen."""
    known_versions: ResolutionVersions = {}
    for batch in batches(sorted({resolution.market_id for resolution in resolutions})):
        for market in connection.scalars(KNOWN_MARKETS, {"ids": batch}):
            known_versions[MarketId(market)] = {}
        for resolution in read_objects(Resolution, connection.execute(KNOWN_RESOLUTIONS, {"ids": batch})):
            known_versions[resolution.market_id][resolution.version] = resolution
    return known_versions


def _new_versions(resolutions: Sequence[Resolution], known_versions: ResolutionVersions) -> list[Resolution]:
    """Return the versions with unknown numbers, the first of several with the same number."""
    new_versions: dict[tuple[MarketId, int], Resolution] = {}
    for resolution in resolutions:
        key = (resolution.market_id, resolution.version)
        if resolution.version not in known_versions[resolution.market_id]:
            new_versions.setdefault(key, resolution)
    return [new_versions[key] for key in sorted(new_versions)]


def insert_resolutions(connection: Connection, resolutions: Sequence[Resolution], at: datetime) -> None:
    """Write these versions, learnt at this time, and the head that covers them."""
    rows = TableRows()
    members = []
    for resolution in resolutions:
        resolution_hash = digest({"learnt_at": at, **end_content(resolution)})
        members.append([resolution.market_id, resolution.version, resolution_hash])
        rows.append(attributes_of(resolution, *FIELDS) | {"learnt_at": at, "hash": resolution_hash})
    insert_rows(connection, ResolutionRow.__table__, rows)
    add_head(connection, at, {"resolution": members})


def _rejection_of(resolution: Resolution, known_versions: ResolutionVersions) -> tuple[str, str] | None:
    """Return why a resolution is not stored, as a code and in words; None if it may be."""
    if resolution.payout is not None and not 0 <= resolution.payout <= ONE:
        return "bad_payout", f"a share pays from 0 to 1, not {decimal(resolution.payout)}"
    if resolution.version < 1:
        return "bad_version", f"versions are counted from 1, and this one is {resolution.version}"
    if resolution.market_id not in known_versions:
        return "unknown_market", "this market has never been seen"
    return None


def read_forms(connection: Connection, markets: Collection[MarketId]) -> Forms:
    """Return the forms of those of these markets that aren't of yes or no."""
    forms: Forms = {}
    for batch in batches(sorted(set(markets))):
        forms.update(dict(connection.execute(FORMS_OF_QUESTIONS, {"ids": batch}).all()))
    return forms


def read_answer(form_text: str, answer: str) -> str:
    """Return a question's outcome as the record stores it; raise `ValueError` if it is impossible."""
    form = form_of(form_text)
    try:
        return question_kind(form.kind).read_outcome(form, answer)
    except OverflowError as error:
        raise ValueError(f"{answer[:40]!r} is out of range") from error


def _fault_of_answer(resolution: Resolution, forms: Forms) -> tuple[str, str] | None:
    """Return why an outcome is impossible for a question, as a code and in words; None if it isn't."""
    form = forms.get(resolution.market_id)
    if form is None:
        if resolution.answer:
            return (
                "bad_answer",
                f"a market of yes or no is paid, and has no answer {resolution.answer[:40]!r}",
            )
        return None

    if resolution.payout is not None:
        return "bad_payout", "no share of this question is paid, as it is not of yes or no"
    try:
        if resolution.answer:
            read_answer(form, resolution.answer)
    except ValueError as error:
        return "bad_answer", str(error)
    return None


def _quarantined(resolution: Resolution, code: str, reason: str) -> QuarantinedRecord:
    venue, _, record = resolution.market_id.partition(":")
    return QuarantinedRecord(venue, record, "resolution", code, reason, canonical(resolution))


def _markets_that_waited(connection: Connection, ids: Sequence[MarketId]) -> set[MarketId]:
    """Return the markets of these whose resolution was quarantined before as disputed or pending."""
    venues = set[str]()
    records = set[str]()
    for market in ids:
        venue, _, record = market.partition(":")
        venues.add(venue)
        records.add(record)

    waited = set[MarketId]()
    quarantined = select(QuarantineRow.venue, QuarantineRow.record).where(QuarantineRow.kind == "resolution")
    quarantined = quarantined.where(col(QuarantineRow.venue).in_(sorted(venues)))
    for batch in batches(sorted(records)):
        for venue, record in connection.execute(quarantined.where(col(QuarantineRow.record).in_(batch))):
            waited.add(MarketId(f"{venue}:{record}"))
    return waited


def _changes_end(newest: Resolution, resolution: Resolution) -> bool:
    """Tell whether a venue's resolution differs from the newest version."""
    is_changed = (newest.payout, newest.answer) != (resolution.payout, resolution.answer)
    return is_changed or (newest.by_hand and not resolution.by_hand)


def _changed_ends(
    resolutions: Iterable[Resolution],
    known_versions: ResolutionVersions,
    waited_markets: Collection[MarketId],
    at: datetime,
) -> list[Resolution]:
    """Return what pays or answers something else than the newest version, as the next one, known from now.

    After a person's decision the venue's own word is the next version, whatever it says: it has the last one.
    That it has waited long enough corrects nothing that is known: what it read then may be gone by now.
    """
    last_of_market = {resolution.market_id: resolution for resolution in resolutions}
    new_versions = []
    for market, resolution in sorted(last_of_market.items()):
        newest = max(known_versions[market].values(), key=lambda version: version.version, default=None)
        if newest is None:
            # The venue dates it back to the close of the market, but it had to wait until now.
            known_at = at if market in waited_markets else resolution.known_at
            new_versions.append(replace(resolution, version=1, known_at=known_at))
        elif resolution.source.startswith(SILENCE):
            continue
        elif _changes_end(newest, resolution):
            known_at = max(newest.known_at, resolution.known_at, at)
            new_versions.append(replace(resolution, version=newest.version + 1, known_at=known_at))
    return new_versions
