"""A round, from settling to marks. What is already in the record is not done again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from arena.cohorts.cohort import play_waves, seed_for
from arena.cohorts.replacements import (
    replacement_words,
    replacements_from,
    with_replacements,
    without_followers,
)
from arena.cohorts.schedule import TICK
from arena.errors import ArenaError
from arena.record.model.cohort import Replacement, RoundReport, Turn, UnansweredTurn, unanswered_text
from arena.record.queries.cohorts import (
    PROVEN_STATUSES,
    StoredCohort,
    StoredRound,
    has_marks,
    read_newest_time,
    read_quotes,
    read_refused_entrants,
    read_resolutions,
    read_rounds,
    read_taken_at,
    read_turn_statuses,
    read_unanswered_turns,
    read_unproven,
)
from arena.record.queries.markets import read_listings_as_of
from arena.record.record import Record
from arena.record.write.cohorts import add_snapshot, open_round, put_marks
from arena.record.write.sync import VenueSource, add_catalogue
from arena.record.write.turns import claim_turns
from arena.rounds.catalogues import check_complete
from arena.rounds.evidence import gather_evidence
from arena.rounds.settlement import settle_cohort, venue_answer
from arena.rounds.turns import is_late, play_turns, unfinished_turns
from arena.rounds.world import OfferedMarkets, World
from markets.hashes import canonical
from markets.model import Listing, MarketId, Snapshot
from markets.universe import draw, filter_for
from markets.venue import Catalogue
from portfolio.marks import mark_at


async def play_round(stored: StoredCohort, number: int, world: World, record: Record) -> RoundReport:
    """Settle, take the snapshot, gather evidence, let everyone play, mark: one decision time of a cohort."""
    at = stored.cohort.calendar.time(number)
    await finish_earlier_rounds(stored, at, world, record)
    again, taken = record.read(read_taken_at, stored.id, at) is not None, list[Replacement]()
    notes: tuple[str, ...] = ()
    if not again:
        await settle_cohort(stored, at, world, record)
        snapshot = await take_snapshot(stored, at, world, record, number)
        taken, notes = new_settings(stored, number, world, record)
        incomplete = catalogue_note(stored, at, world)
        if incomplete:
            notes = (*notes, incomplete)
        if not snapshot.shown:
            notes = (*notes, f"no market was on offer: none of {stored.cohort.venue} passed the rule")
        place = stored.id, stored.cohort.number
        record.write(open_round, place, stored.entrant_ids, snapshot, number, taken, world.now())
        stored = replace(stored, cohort=with_replacements(stored.cohort, taken))
    round = next(round for round in record.read(read_rounds, stored.id) if round.number == number)
    newer, seen_at = record.read(read_newest_time, stored.id), record.read(read_taken_at, stored.id, at) or at
    late = is_late(stored.cohort, seen_at, world.now()) or (newer is not None and newer > at)
    trouble = () if round.done or late else await gather_evidence(stored, round, world, record)
    turns = [] if round.done else await finish_round(stored, round, world, record, late, again)
    report = round_report(stored, round, turns, record, (*notes, *trouble))
    return replace(report, replaced=tuple(map(replacement_words, taken)))


def new_settings(
    stored: StoredCohort, number: int, world: World, record: Record
) -> tuple[list[Replacement], tuple[str, ...]]:
    """What agents without a good turn take from the config for a round, or why that can't be read."""
    rounds = record.read(read_rounds, stored.id)
    last = record.read(read_turn_statuses, rounds[-1].id) if rounds else {}
    unproven = record.read(read_unproven, stored.id) if not PROVEN_STATUSES.issuperset(last.values()) else ()
    if not unproven:
        return [], ()
    try:
        return replacements_from(number, stored.cohort, world.changed(stored.cohort), unproven), ()
    except ArenaError as error:
        return [], (f"no agent took other settings from the config: {error.message.splitlines()[0]}",)


async def close_round(stored: StoredCohort, number: int, world: World, record: Record) -> RoundReport:
    """A round that has begun is over: who has not played in it fails, and everyone is marked."""
    round = next(round for round in record.read(read_rounds, stored.id) if round.number == number)
    turns = [] if round.done else await finish_round(stored, round, world, record, late=True)
    return round_report(stored, round, turns, record)


def round_report(
    stored: StoredCohort, round: StoredRound, turns: list[Turn], record: Record, trouble: tuple[str, ...] = ()
) -> RoundReport:
    """What was done in a round now, and what is still to be."""
    statuses = record.read(read_turn_statuses, round.id)
    failed = tuple(turn.entrant for turn in turns if turn.decision.status == "failed")
    if not round.done:  # one that another process has just played is tried again as well
        failed = tuple(name for name, key in stored.entrant_ids.items() if statuses.get(key) == "failed")
    refused = record.read(read_refused_entrants, round.id, "budget") if failed else ()
    without = ("failed", "malformed", "declined")
    bad = {name for name, key in stored.entrant_ids.items() if statuses.get(key) in without}
    stopped = [name for name in failed if stored.entrant_ids[name] in refused]
    own = [name for name in without_followers(stored.cohort, bad) if name not in stopped]
    unproven = record.read(read_unproven, stored.id) if own else ()

    # Where no time passes, a round that isn't over can wait for models that gave no answer.
    unanswered: list[UnansweredTurn] = []
    if failed and stored.cohort.stamp != "live" and not _is_over(stored, round, record):
        unanswered = record.read(read_unanswered_turns, round.id)
    return RoundReport(
        stored.cohort.number,
        round.number,
        round.at,
        tuple(turns),
        failed=failed,
        stopped=tuple(stopped),
        unproven=tuple(name for name in own if name in unproven),
        kept=tuple(name for name in own if name in failed and name not in unproven),
        waiting=unfinished_turns(stored, statuses),
        trouble=trouble,
        unanswered=tuple(unanswered),
    )


def _is_over(stored: StoredCohort, round: StoredRound, record: Record) -> bool:
    """Return whether a round is done by now, whatever it was when it was read."""
    return any(now.done for now in record.read(read_rounds, stored.id) if now.number == round.number)


async def track_cohort(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """Settle and mark a cohort that decides nothing at this time.

    One that was paused in a round of this time is marked as that round ends: its fills come before.
    """
    await finish_earlier_rounds(stored, at, world, record)
    if any(round.at == at and not round.done for round in record.read(read_rounds, stored.id)):
        return
    if record.read(read_taken_at, stored.id, at) is None:
        await settle_cohort(stored, at, world, record, decides=False)
        record.write(
            add_snapshot,
            stored.id,
            stored.cohort.number,
            await take_snapshot(stored, at, world, record),
            None,
        )
    if not record.read(has_marks, stored.id, at):
        mark_cohort(stored, at, record)


async def finish_round(
    stored: StoredCohort, round: StoredRound, world: World, record: Record, late: bool, again: bool = True
) -> list[Turn]:
    """Play what is missing and mark; the turns in line-up order, agents made from others after these.

    The round is over once no turn may be tried again.
    """
    played = {turn.entrant: turn async for turn in play_turns(stored, round, world, record, late, again)}
    line_up = [entrant.name for wave in play_waves(stored.cohort.entrants) for entrant in wave]
    turns = [played[name] for name in line_up if name in played]

    statuses = record.read(read_turn_statuses, round.id)
    if not unfinished_turns(stored, statuses):
        failed = unfinished_turns(stored, statuses, {"failed"})
        over = late or not failed
        if over and failed:
            close_turns(stored, round, failed, world, record)
        mark_cohort(stored, round.at, record, round.id if over else None)
    return turns


def close_turns(
    stored: StoredCohort, round: StoredRound, failed: Sequence[str], world: World, record: Record
) -> None:
    """Take turns that failed, for good: whoever still tries one comes too late, where time is real.

    In another world it does not: its try is waited for.
    """
    live, keys = stored.cohort.stamp == "live", {stored.entrant_ids[name]: name for name in failed}
    is_over = (lambda _: True) if live else record.watch.is_over
    taken = record.write(claim_turns, round.id, [*keys], world.holder, is_over)
    if tried := [name for key, name in keys.items() if key not in taken]:
        raise busy_error(stored.cohort.number, round.number, tried)


async def finish_earlier_rounds(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """Rounds before this time are over: nobody decides on prices that are history.

    Where no time passes, whoever was never asked, for all was broken off, plays first; and a round whose
    models are away is not over, unless the user says so: that is an error.
    """
    halted = stored.paused_at is not None or stored.stopped_at is not None
    may_go_on = stored.cohort.stamp != "live" and not halted
    for round in record.read(read_rounds, stored.id):
        if not round.done and round.at < at:
            statuses = record.read(read_turn_statuses, round.id)
            if may_go_on and unfinished_turns(stored, statuses):
                await play_round(stored, round.number, world, record)
            if may_go_on and not world.leaves_failed:
                check_models_answered(stored, round, record)
            await finish_round(stored, round, world, record, late=True)
            if waiting := unfinished_turns(stored, record.read(read_turn_statuses, round.id)):
                raise busy_error(stored.cohort.number, round.number, waiting)


LEAVE_FAILED_HINT = "--leave-failed goes on without these turns"


def check_models_answered(stored: StoredCohort, round: StoredRound, record: Record) -> None:
    """Raise where turns of a round failed because a model is away: it may still answer."""
    away = [turn for turn in record.read(read_unanswered_turns, round.id) if turn.passing]
    if away:
        words = f"cohort {stored.cohort.number}, round {round.number} still waits: {unanswered_text(away)}"
        hint = f"`arena round --at {round.at:%Y-%m-%dT%H:%MZ}` tries again; {LEAVE_FAILED_HINT}"
        raise ArenaError("unanswered", words, hint, status=2)


def busy_error(cohort: int, number: int, waiting: Sequence[str]) -> ArenaError:
    """What to say when turns are held by another process."""
    words = f"another process plays {', '.join(waiting)} in round {number} of cohort {cohort}"
    hint = "wait for it; if it died on another machine, the next try takes over within two minutes"
    return ArenaError("busy", words, hint, status=2)


async def take_snapshot(
    stored: StoredCohort, at: datetime, world: World, record: Record, number: int | None = None
) -> Snapshot:
    """What can be known at this time: the markets drawn for a round, and all that anyone holds.

    A live market can only be looked at now, and how it stood then is lost: the snapshot says when it was.
    """
    venue, cohort = world.venue(stored.cohort), stored.cohort
    live = cohort.stamp == "live"
    drawn: list[MarketId] = []
    catalogue = ""
    if number is not None:
        seed = seed_for(cohort.seed, "draw", number)
        offered = await offers_at(stored, at, world, record)
        catalogue, ids = offered.catalogue, [x.market.id for x in offered.listings]
        ended = {x.market_id for x in record.read(read_resolutions, ids, at)}
        still_open = [listing for listing in offered.listings if listing.market.id not in ended]
        drawn = [x.market.id for x in draw(still_open, cohort.universe, seed, at)]
    accounts = record.holdings(stored.id).values()
    held = sorted({market for account in accounts for market, _ in account.lots})
    asked = venue.listings(world.now() if live else at, sorted({*drawn, *held}))
    fresh = {x.market.id: x for x in await venue_answer(asked, stored, at, world, record, number is not None)}
    missing = [market for market in held if market not in fresh or not fresh[market].has_price]
    before = {
        x.market.id: x
        for x in record.read(read_listings_as_of, missing, max(world.now(), at) if live else at)
    }
    shown = [market for market in drawn if market in fresh]
    return Snapshot(
        at,
        tuple(fresh[market].priced(before.get(market)) for market in shown),
        tuple(_held_listing(fresh.get(market), before.get(market)) for market in held if market not in shown),
        max(world.now(), at) if live else None,
        catalogue,
    )


async def offers_at(stored: StoredCohort, at: datetime, world: World, record: Record) -> OfferedMarkets:
    """What the venue has on offer, read once for all cohorts that decide at one time.

    A live venue is read a moment before the round looks at the markets drawn: rounds that are caught up
    at the same moment share it too.
    """
    cohort = stored.cohort
    place = cohort.venue, canonical(cohort.venue_settings)
    if (*place, at) not in world.catalogues:
        read_at = world.now() - TICK if cohort.stamp == "live" else at
        before = [found for (*where, _), found in world.catalogues.items() if (*where,) == place]
        offered = next((found for found in before if found.read_at == read_at), None)
        if offered is None:
            offered = await read_catalogue(stored, at, read_at, world, record)
        for other in [other for other in world.catalogues if other[2] != at]:
            del world.catalogues[other]
        world.catalogues[*place, at] = offered
    return world.catalogues[*place, at]


async def read_catalogue(
    stored: StoredCohort, at: datetime, read_at: datetime, world: World, record: Record
) -> OfferedMarkets:
    """A venue's catalogue, with all that any cohort's rule there lets in; a live one goes into the record."""
    cohort = stored.cohort
    source = VenueSource(cohort.venue, cohort.stamp)
    others = (each.cohort for each in record.cohorts() if each.ended_at is None)
    rules = [other.universe for other in others if other.venue == cohort.venue]
    wanted = filter_for([cohort.universe, *rules], max(read_at, at))

    async def ask() -> Sequence[tuple[Catalogue, int, str]]:
        """Return a whole catalogue, how many records were quarantined, and what is to be said of it."""
        before = len(world.quarantined)
        catalogue = await world.venue(cohort).catalogue(read_at, wanted)
        note = check_complete(record, source, catalogue, wanted, world.now(), at)
        return [(catalogue, len(world.quarantined) - before, note)]

    answered = await venue_answer(ask(), stored, at, world, record)
    found, rejected, note = answered[0] if answered else (Catalogue(()), 0, "")
    if cohort.stamp != "live":
        return OfferedMarkets(read_at, found.listings)

    synced = record.write(
        add_catalogue,
        source,
        found.listings,
        read_at,
        wanted=wanted,
        left_out=found.left_out,
        rejected=rejected,
    )
    return OfferedMarkets(read_at, found.listings, synced.hash, note)


def catalogue_note(stored: StoredCohort, at: datetime, world: World) -> str:
    """Return what is to be said of the catalogue that a round was drawn from."""
    place = stored.cohort.venue, canonical(stored.cohort.venue_settings), at
    return world.catalogues[place].note if place in world.catalogues else ""


def _held_listing(fresh: Listing | None, before: Listing | None) -> Listing:
    """A held market as it is; where the venue is silent, as it was last seen, with its old quote."""
    listing = fresh or before
    if listing is None:
        raise LookupError("a held market is in no snapshot: the record is damaged, run `arena verify`")
    return listing.priced(before)


def mark_cohort(stored: StoredCohort, at: datetime, record: Record, over: int | None = None) -> None:
    """Mark every entrant's holdings of this time at the snapshot of this time; with it a round is over."""
    quoted = record.read(read_quotes, stored.id, at)
    if quoted is None:
        raise LookupError(f"cohort {stored.cohort.number} has no snapshot at {at}")
    snapshot_id, seen_at, quotes = quoted
    age, accounts = stored.cohort.rules.quote_age, record.holdings(stored.id, until=at)
    held = {stored.entrant_ids[name]: account for name, account in accounts.items()}
    record.write(put_marks, snapshot_id, mark_at(held, at, quotes, age, seen_at), over)
