"""A round, from settling to marks. Steps that are in the record already are not repeated."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from arena.cohorts.cohort import play_waves, seed_for
from arena.cohorts.replacements import (
    agents_to_correct_first,
    codes_of,
    replacement_words,
    replacements_from,
    with_replacements,
)
from arena.cohorts.schedule import TICK
from arena.errors import ArenaError
from arena.record.model.cohort import Replacement, RoundReport, Turn, unanswered_text
from arena.record.queries.cohorts import (
    PROVEN_STATUSES,
    ROUND_ID,
    StoredCohort,
    StoredRound,
    has_marks,
    read_held_turns,
    read_newest_time,
    read_quotes,
    read_resolutions,
    read_retried_turns,
    read_rounds,
    read_taken_at,
    read_turn_statuses,
    read_unanswered_turns,
    read_unproven,
)
from arena.record.queries.markets import read_listings_as_of
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, func, select
from arena.record.write.cohorts import add_snapshot, open_round, put_marks
from arena.record.write.sync import VenueSource, add_catalogue
from arena.record.write.turns import claim_turns
from arena.rounds.catalogues import check_complete
from arena.rounds.evidence import gather_evidence
from arena.rounds.evidence_judge import judge_of
from arena.rounds.listings import ids_of, listings_by_id
from arena.rounds.settlement import set_aside_notes, settle_cohort, venue_answer
from arena.rounds.turns import is_late, play_turns, unfinished_turns
from arena.rounds.world import OfferedMarkets, World
from markets.hashes import canonical
from markets.model import Listing, Snapshot
from markets.universe import draw, filter_for
from markets.venue import Catalogue
from portfolio.marks import mark_at


async def play_round(stored: StoredCohort, number: int, world: World, record: Record) -> RoundReport:
    """Play one decision time of a cohort: settle, take the snapshot, gather evidence, play turns, mark."""
    at = stored.cohort.calendar.time(number)
    await finish_earlier_rounds(stored, at, world, record)

    was_begun = record.read(read_taken_at, stored.id, at) is not None
    replacements: list[Replacement] = []
    notes: tuple[str, ...] = ()
    if not was_begun:
        notes = await settle_cohort(stored, at, world, record)
        offered = await offers_at(stored, at, world, record)
        snapshot = await take_snapshot(stored, at, world, record, number)

        replacements, config_notes = new_settings(stored, number, world, record)
        notes += config_notes
        if offered.note:
            notes = (*notes, offered.note)
        if not snapshot.shown:
            notes = (*notes, f"no market was on offer: none of {stored.cohort.venue} passed the rule")

        cohort_key = stored.id, stored.cohort.number
        record.write(open_round, cohort_key, stored.entrant_ids, snapshot, number, replacements, world.now())
        stored = replace(stored, cohort=with_replacements(stored.cohort, replacements))

    stored_round = _read_round(stored, number, record)
    newest_at = record.read(read_newest_time, stored.id)
    seen_at = record.read(read_taken_at, stored.id, at) or at
    is_overtaken = newest_at is not None and newest_at > at
    late = is_late(stored.cohort, seen_at, world.now()) or is_overtaken

    turns = []
    if not stored_round.done:
        if not late:
            judge = judge_of(stored, stored_round, world, record)
            notes += await gather_evidence(stored, stored_round, world, record, judge)
        turns = await finish_round(stored, stored_round, world, record, late, was_begun)

    report = round_report(stored, stored_round, turns, record, notes)
    return replace(report, replaced=tuple(map(replacement_words, replacements)))


def _read_round(stored: StoredCohort, number: int, record: Record) -> StoredRound:
    """Return the current state of a round that has begun."""
    rounds = record.read(read_rounds, stored.id)
    return next(stored_round for stored_round in rounds if stored_round.number == number)


def new_settings(
    stored: StoredCohort, number: int, world: World, record: Record
) -> tuple[list[Replacement], tuple[str, ...]]:
    """Return the new settings of agents without a good turn, and a note if the config can't be read."""
    # After a round in which all turns were good, nobody is left without one.
    rounds = record.read(read_rounds, stored.id)
    last_statuses = record.read(read_turn_statuses, rounds[-1].id) if rounds else {}
    if PROVEN_STATUSES.issuperset(last_statuses.values()):
        return [], ()

    unproven = record.read(read_unproven, stored.id)
    if not unproven:
        return [], ()

    try:
        changed = world.changed(stored.cohort)
        return replacements_from(number, stored.cohort, changed, unproven), ()
    except ArenaError as error:
        return [], (f"no agent took other settings from the config: {error.message.splitlines()[0]}",)


async def close_round(stored: StoredCohort, number: int, world: World, record: Record) -> RoundReport:
    """End a round that has begun: fail the turns not played, and mark everyone."""
    stored_round = _read_round(stored, number, record)
    turns = []
    if not stored_round.done:
        turns = await finish_round(stored, stored_round, world, record, late=True)
    return round_report(stored, stored_round, turns, record)


def round_report(
    stored: StoredCohort,
    stored_round: StoredRound,
    new_turns: list[Turn],
    record: Record,
    trouble: tuple[str, ...] = (),
) -> RoundReport:
    """Return a report on the turns that were just played in a round, and on what is left."""
    statuses = record.read(read_turn_statuses, stored_round.id)
    failed = tuple(turn.entrant for turn in new_turns if turn.decision.status == "failed")
    waiting = unfinished_turns(stored.entrant_ids, statuses)
    played = _read_round(stored, stored_round.number, record)
    if not stored_round.done:
        # Turns that another process has just played are tried again as well, unless one is at it.
        held_ids = set[int]() if played.done else record.read(read_held_turns, stored_round.id)
        unfinished = unfinished_turns(stored.entrant_ids, statuses, {"failed"})
        waiting = tuple(
            name for name in unfinished if name in waiting or stored.entrant_ids[name] in held_ids
        )
        failed = tuple(name for name in unfinished if name not in waiting)

    stopped_ids = record.read(_read_stopped_entrants, stored_round.id) if failed else ()
    stopped = [name for name in failed if stored.entrant_ids[name] in stopped_ids]

    # Whom a person can correct: not those stopped by a budget, nor those made from an agent to be corrected.
    bad_statuses = ("failed", "malformed", "declined")
    without_forecasts = {
        name for name, entrant_id in stored.entrant_ids.items() if statuses.get(entrant_id) in bad_statuses
    }
    correctable = [
        name for name in agents_to_correct_first(stored.cohort, without_forecasts) if name not in stopped
    ]

    unproven_agents = record.read(read_unproven, stored.id) if correctable else ()
    unanswered = record.read(read_unanswered_turns, stored_round.id) if failed else []
    awaited_agents = {turn.agent for turn in unanswered if turn.awaited}
    unproven = []
    kept = []
    for name in correctable:
        if name in unproven_agents:
            unproven.append(name)
        elif name in failed and name not in awaited_agents:
            kept.append(name)

    # Where no time passes, a round that isn't over can wait for models that gave no answer.
    if stored.cohort.stamp == "live" or played.done:
        unanswered = []

    return RoundReport(
        stored.cohort.number,
        stored_round.number,
        stored_round.at,
        tuple(new_turns),
        failed=failed,
        stopped=tuple(stopped),
        unproven=tuple(unproven),
        kept=tuple(kept),
        waiting=waiting,
        trouble=trouble,
        unanswered=tuple(unanswered),
        codes=codes_of(stored.cohort),
    )


LAST_CALLS = select(func.max(CallRow.id)).where(CallRow.round_id == ROUND_ID).group_by(CallRow.entrant_id)
STOPPED_ENTRANTS = select(CallRow.entrant_id).where(
    col(CallRow.id).in_(LAST_CALLS), CallRow.error_code == "budget"
)


def _read_stopped_entrants(connection: Connection, round_id: int) -> set[int]:
    """Return the entrants whose last call in a round was refused by a budget."""
    return set(connection.scalars(STOPPED_ENTRANTS, {"round_id": round_id}))


async def track_cohort(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """Settle and mark a cohort that decides nothing at this time.

    One that was paused in a round of this time is marked as that round ends: its fills come before.
    """
    await finish_earlier_rounds(stored, at, world, record)

    for stored_round in record.read(read_rounds, stored.id):
        if stored_round.at == at and not stored_round.done:
            return

    if record.read(read_taken_at, stored.id, at) is None:
        await settle_cohort(stored, at, world, record, decides=False)
        snapshot = await take_snapshot(stored, at, world, record)
        record.write(add_snapshot, stored.id, stored.cohort.number, snapshot, None)

    if not record.read(has_marks, stored.id, at):
        mark_cohort(stored, at, record)


async def finish_round(
    stored: StoredCohort,
    stored_round: StoredRound,
    world: World,
    record: Record,
    late: bool,
    again: bool = True,
) -> list[Turn]:
    """Play the turns that are missing, mark, and return them in the order of the line-up.

    Agents made from others come after these. The round is over once no turn may be tried again.
    """
    played = {}
    async for turn in play_turns(stored, stored_round, world, record, late, again):
        played[turn.entrant] = turn

    turns: list[Turn] = []
    for wave in play_waves(stored.cohort.entrants):
        turns.extend(played[entrant.name] for entrant in wave if entrant.name in played)

    statuses = record.read(read_turn_statuses, stored_round.id)
    if unfinished_turns(stored.entrant_ids, statuses):
        return turns

    failed = unfinished_turns(stored.entrant_ids, statuses, {"failed"})
    over = late or not failed
    if over and failed:
        close_turns(stored, stored_round, failed, world, record)
    mark_cohort(stored, stored_round.at, record, stored_round.id if over else None)
    return turns


def close_turns(
    stored: StoredCohort, stored_round: StoredRound, failed: Sequence[str], world: World, record: Record
) -> None:
    """Take turns that failed for good, so that no other process tries them again.

    Where time is real, another try of such a turn comes too late. In any other world it is still good: a turn
    that is being tried is an error.
    """
    names = {stored.entrant_ids[name]: name for name in failed}
    live = stored.cohort.stamp == "live"

    # A claim may be taken over once it is over; in live time every claim of such a turn is.
    is_over = (lambda _: True) if live else record.watch.is_over
    taken = record.write(claim_turns, stored_round.id, list(names), world.holder, is_over)

    held_elsewhere = [name for entrant_id, name in names.items() if entrant_id not in taken]
    if held_elsewhere:
        raise busy_error(stored.cohort.number, stored_round.number, held_elsewhere)


async def finish_earlier_rounds(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """End the rounds before this time, so that nobody decides on past prices.

    Where no time passes, turns that were never begun, or broken off, are played first; and a round whose
    models are away is not over, unless the user says so: that is an error.
    """
    is_halted = stored.paused_at is not None or stored.stopped_at is not None
    may_go_on = stored.cohort.stamp != "live" and not is_halted

    for earlier in record.read(read_rounds, stored.id):
        if earlier.done or earlier.at >= at:
            continue

        statuses = record.read(read_turn_statuses, earlier.id)
        missing = unfinished_turns(stored.entrant_ids, statuses)
        if may_go_on and (missing or record.read(read_retried_turns, stored, earlier.id)):
            await play_round(stored, earlier.number, world, record)
        if may_go_on and not world.leaves_failed:
            check_models_answered(stored, earlier, record)
        await finish_round(stored, earlier, world, record, late=True)

        waiting = unfinished_turns(stored.entrant_ids, record.read(read_turn_statuses, earlier.id))
        if waiting:
            raise busy_error(stored.cohort.number, earlier.number, waiting)


LEAVE_FAILED_HINT = "--leave-failed goes on without these turns"


def check_models_answered(stored: StoredCohort, stored_round: StoredRound, record: Record) -> None:
    """Raise `ArenaError` if turns of a round failed because a model gave no answer, and it may still."""
    unanswered = record.read(read_unanswered_turns, stored_round.id)
    away = [turn for turn in unanswered if turn.awaited]
    if not away:
        return

    name = f"cohort {stored.cohort.number}, round {stored_round.number}"
    hint = f"`arena run --round --at {stored_round.at:%Y-%m-%dT%H:%MZ}` tries again; {LEAVE_FAILED_HINT}"
    raise ArenaError("unanswered", f"{name} still waits: {unanswered_text(away)}", hint, status=2)


def busy_error(cohort: int, round_number: int, agents: Sequence[str]) -> ArenaError:
    """Return the error of a round in which another process holds the turns of these agents."""
    message = f"another process plays {', '.join(agents)} in round {round_number} of cohort {cohort}"
    hint = "wait for it; if it died on another machine, the next try takes over within two minutes"
    return ArenaError("busy", message, hint, status=2)


async def take_snapshot(
    stored: StoredCohort, at: datetime, world: World, record: Record, round_number: int | None = None
) -> Snapshot:
    """Take the snapshot of this time: the markets drawn for a round, and all that anyone holds.

    Without a round number nothing is drawn. A live market can only be looked at now, and how it stood then is
    lost: the snapshot says when it was.
    """
    cohort = stored.cohort
    venue = world.venue(cohort)
    live = cohort.stamp == "live"

    drawn = []
    catalogue = ""
    if round_number is not None:
        offered = await offers_at(stored, at, world, record)
        catalogue = offered.catalogue
        ends = record.read(read_resolutions, ids_of(offered.listings), at)
        ended_ids = {end.market_id for end in ends}
        still_open = [listing for listing in offered.listings if listing.market.id not in ended_ids]
        seed = seed_for(cohort.seed, "draw", round_number)
        drawn = ids_of(draw(still_open, cohort.universe, seed, at))

    held_ids = set()
    for account in record.holdings(stored.id).values():
        for market_id, _ in account.lots:
            held_ids.add(market_id)
    held = sorted(held_ids)

    question = venue.listings(world.now() if live else at, sorted(held_ids.union(drawn)))
    decides = round_number is not None
    answered = await venue_answer(question, stored, at, world, record, decides)
    fresh = listings_by_id(answered)
    seen_at = max(world.now(), at) if live else None

    # What is held without a price of its own now keeps the last one that it had.
    unpriced = [market_id for market_id in held if market_id not in fresh or not fresh[market_id].has_price]
    before = listings_by_id(record.read(read_listings_as_of, unpriced, seen_at or at))

    shown = {}
    for market_id in drawn:
        if market_id in fresh:
            shown[market_id] = fresh[market_id].priced(before.get(market_id))

    held_only = [
        _held_listing(fresh.get(market_id), before.get(market_id))
        for market_id in held
        if market_id not in shown
    ]
    return Snapshot(at, tuple(shown.values()), tuple(held_only), seen_at, catalogue)


async def offers_at(stored: StoredCohort, at: datetime, world: World, record: Record) -> OfferedMarkets:
    """Return the venue's offers, read once for all cohorts that decide at one time.

    A live venue is read a moment before the round looks at the markets drawn: rounds that are caught up
    at the same moment share it too.
    """
    cohort = stored.cohort
    settings = canonical(cohort.venue_settings)
    key = cohort.venue, settings, at
    if key in world.catalogues:
        return world.catalogues[key]

    read_at = world.now() - TICK if cohort.stamp == "live" else at
    offered = None
    for (venue, venue_settings, _), other in world.catalogues.items():
        if (venue, venue_settings) == (cohort.venue, settings) and other.read_at == read_at:
            offered = other
            break
    if offered is None:
        offered = await read_catalogue(stored, at, read_at, world, record)

    # Only the offers of one decision time are kept.
    for other_key in list(world.catalogues):
        _, _, other_time = other_key
        if other_time != at:
            del world.catalogues[other_key]
    world.catalogues[key] = offered
    return offered


async def read_catalogue(
    stored: StoredCohort, at: datetime, read_at: datetime, world: World, record: Record
) -> OfferedMarkets:
    """Read a venue's catalogue with everything that any cohort's rule admits, and record a live one."""
    cohort = stored.cohort
    source = VenueSource(cohort.venue, cohort.stamp)
    rules = [
        other.cohort.universe
        for other in record.cohorts()
        if other.ended_at is None and other.cohort.venue == cohort.venue
    ]
    wanted = filter_for([cohort.universe, *rules], max(read_at, at))

    async def ask() -> Sequence[tuple[Catalogue, int, str]]:
        """Return a list of one: a catalogue, the number of quarantined records, and a note on it."""
        quarantined_before = len(world.quarantined)
        catalogue = await world.venue(cohort).catalogue(read_at, wanted)
        note = check_complete(record, source, catalogue, wanted, world.now(), at)
        rejected = world.quarantined[quarantined_before:]
        if not cohort.rules.money:
            note = "; ".join(filter(None, (note, *set_aside_notes(rejected))))
        return [(catalogue, len(rejected), note)]

    answered = await venue_answer(ask(), stored, at, world, record)
    if not answered:  # the venue is down, and the round goes on without it
        return OfferedMarkets(read_at, ())
    catalogue, rejected_count, note = answered[0]

    # A venue whose pages overlap lists a market twice, and an agent must not be asked twice.
    listings = list(listings_by_id(catalogue.listings).values())
    if cohort.stamp != "live":
        return OfferedMarkets(read_at, listings, note=note)

    synced = record.write(
        add_catalogue,
        source,
        listings,
        read_at,
        wanted=wanted,
        left_out=catalogue.left_out,
        rejected=rejected_count,
    )
    return OfferedMarkets(read_at, listings, synced.hash, note)


def _held_listing(fresh: Listing | None, before: Listing | None) -> Listing:
    """Return a held market; if the venue doesn't answer, as last seen with its old quote."""
    listing = fresh or before
    if listing is None:
        raise LookupError("a held market is in no snapshot: the record is damaged, run `arena admin verify`")
    return listing.priced(before)


def mark_cohort(
    stored: StoredCohort, at: datetime, record: Record, ended_round_id: int | None = None
) -> None:
    """Mark all holdings of this time at the snapshot of this time, and end the round with this id, if any."""
    quoted = record.read(read_quotes, stored.id, at)
    if quoted is None:
        raise LookupError(f"cohort {stored.cohort.number} has no snapshot at {at}")
    snapshot_id, seen_at, quotes = quoted

    accounts = record.holdings(stored.id, until=at)
    held = {stored.entrant_ids[name]: account for name, account in accounts.items()}
    marks = mark_at(held, at, quotes, stored.cohort.rules.quote_age, seen_at)
    record.write(put_marks, snapshot_id, marks, ended_round_id)
