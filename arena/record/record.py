"""The record as the arena uses it: each method is one transaction."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from sqlalchemy import Connection, Engine, inspect

from agents.model import Article, Call, ErrorCode, Forecast
from arena.record.model.cohort import Cohort, JobState, Turn
from arena.record.model.reservation import (
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
)
from arena.record.queries import cohorts as read
from arena.record.queries.accounts import AccountCache, read_entries_after, read_ledger_heads, read_ledgers
from arena.record.queries.cohorts import LineUps, StoredCohort, StoredRound
from arena.record.queries.decisions import read_turns
from arena.record.queries.markets import read_listings_as_of
from arena.record.queries.operations import RunFigures, count_stale_positions, read_spent_since
from arena.record.queries.progress import CohortProgress, read_progress
from arena.record.schema.database import check_schema, connect, reading, upgrade
from arena.record.write import cohorts as write
from arena.record.write import operations, reservations
from arena.record.write.calls import add_call
from arena.record.write.evidence import GatheredEvidence, add_evidence, is_gathered, read_evidence
from arena.record.write.listings import PruneResult, add_quotes, prune_quotes
from arena.record.write.operations import Fence
from arena.record.write.quarantine import quarantine_records
from arena.record.write.reservations import read_spent
from arena.record.write.resolutions import add_resolutions
from arena.record.write.rollups import Rollup, put_rollups
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue, last_synced_at, markets_gone_since
from arena.record.write.turns import TurnUnderClaim, add_turns, claim_turns, renew_claims
from markets.garbage_collection import gc_paused
from markets.model import Listing, MarketId, Quote, Resolution, Snapshot
from markets.venue import QuarantinedRecord
from portfolio.ledger import fold
from portfolio.model import Entry, Holdings, Mark


@dataclass(frozen=True, slots=True)
class Record:
    """The door to one database. Reads see a consistent state; writes are whole or not there.

    With a `fence` they are there only while that lease is still held by the one who writes.
    """

    engine: Engine
    accounts: AccountCache = field(default_factory=AccountCache)
    line_ups: LineUps = field(default_factory=dict)
    last_look: dict[tuple[int, datetime], tuple[int, Snapshot]] = field(default_factory=dict)
    fence: Fence | None = None

    @classmethod
    def open(cls, database: str) -> Self:
        """Open a record for writing; a new one is made, an older one brought up to date."""
        engine = connect(database)
        upgrade(engine)
        return cls(engine)

    @classmethod
    def join(cls, database: str) -> Self:
        """Open a record for writing that is there already, as it is: one of another schema is refused."""
        engine = connect(database)
        check_schema(engine)
        return cls(engine)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def fenced(self, name: str, token: int) -> Self:
        """The same record, written only while this lease has this token: else `Superseded` is raised.

        Calls are kept all the same, for they were paid, and so is what only says that one is still at work.
        """
        return replace(self, fence=Fence(name, token))

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction for facts, behind the fence where there is one."""
        with self.engine.begin() as connection:
            if self.fence is not None:
                operations.check_fence(connection, self.fence)
            yield connection

    def take_lease(
        self, name: str, holder: str, length: timedelta, is_gone: Callable[[str], bool]
    ) -> int | None:
        """Take a named duty for so long, by the database's clock; its token, or None where another has it."""
        with self.engine.begin() as connection:
            return operations.take_lease(connection, name, holder, length, is_gone)

    def renew_lease(self, name: str, token: int, length: timedelta) -> bool:
        """Have a duty for so long from now; False where another has taken it over."""
        with self.engine.begin() as connection:
            return operations.renew_lease(connection, name, token, length)

    def release_lease(self, name: str, token: int) -> None:
        """Let go of a duty, so that the next one need not wait; one that was taken over is left alone."""
        self.renew_lease(name, token, timedelta())

    def is_empty(self) -> bool:
        """Whether no cohort has ever started."""
        return not inspect(self.engine).has_table("cohort") or not self.cohorts()

    def cohorts(self) -> list[StoredCohort]:
        """All cohorts, oldest first."""
        with reading(self.engine) as connection:
            return read.read_cohorts(connection, self.line_ups)

    def began(self) -> datetime | None:
        """When the first cohort started that the schedule has started: the calendar counts from there."""
        scheduled = (stored.cohort for stored in self.cohorts() if not stored.cohort.by_hand)
        return min((cohort.starts_at for cohort in scheduled), default=None)

    def add_cohort(self, cohort: Cohort, texts: Mapping[str, str], deposits: Mapping[str, Entry]) -> None:
        """Start a cohort: line-up, prompts and bankrolls."""
        with self.writing() as connection:
            write.add_cohort(connection, cohort, texts, deposits)

    def end_cohort(self, cohort_id: int, at: datetime) -> None:
        """Every round has run and nothing is open."""
        with self.writing() as connection:
            write.end_cohort(connection, cohort_id, at)

    def pause_cohort(self, cohort_id: int, at: datetime | None) -> None:
        """It decides nothing from now on; None lets it go on."""
        with self.engine.begin() as connection:
            write.pause_cohort(connection, cohort_id, at)

    def stop_cohort(self, cohort_id: int, at: datetime) -> None:
        """It decides no more, for good."""
        with self.engine.begin() as connection:
            write.stop_cohort(connection, cohort_id, at)

    def prompts(self, hashes: Collection[str]) -> dict[str, str]:
        """Prompt texts by hash."""
        with reading(self.engine) as connection:
            return read.read_prompts(connection, hashes)

    def rounds(self, cohort_id: int) -> list[StoredRound]:
        """The rounds of a cohort that have begun."""
        with reading(self.engine) as connection:
            return read.read_rounds(connection, cohort_id)

    def taken(self, cohort_id: int, at: datetime) -> int | None:
        """The id of a cohort's snapshot at an instant, where there is one."""
        with reading(self.engine) as connection:
            found = read.read_snapshot_time(connection, cohort_id, at)
        return None if found is None else found[0]

    def seen_at(self, cohort_id: int, at: datetime) -> datetime | None:
        """When a cohort's snapshot of an instant was really taken, where there is one."""
        with reading(self.engine) as connection:
            found = read.read_snapshot_time(connection, cohort_id, at)
        return None if found is None else found[1]

    def courses(self) -> list[CohortProgress]:
        """How far each cohort has come, oldest first."""
        with reading(self.engine) as connection:
            return read_progress(connection, self.line_ups)

    def snapshot(self, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
        """A cohort's snapshot at an instant, with its id. It never changes: the last one is remembered."""
        found = self.last_look.get((cohort_id, at))
        if found is None:
            with reading(self.engine) as connection:
                found = read.read_snapshot(connection, cohort_id, at)
            self.last_look.clear()
            if found is not None:
                self.last_look[cohort_id, at] = found
        return found

    def quotes(
        self, cohort_id: int, at: datetime
    ) -> tuple[int, datetime, dict[MarketId, Quote | None]] | None:
        """The id of a cohort's snapshot, when it was looked at, and its prices without books and pages."""
        with reading(self.engine) as connection:
            return read.read_quotes(connection, cohort_id, at)

    def last_listings(self, ids: Sequence[MarketId], at: datetime) -> list[Listing]:
        """These markets as they were last seen until an instant, by a snapshot or a sync."""
        if not ids:
            return []
        with reading(self.engine) as connection:
            return read_listings_as_of(connection, ids, at)

    def keep_snapshot(
        self, cohort_id: int, number: int, snapshot: Snapshot, round_number: int | None
    ) -> None:
        """A snapshot, and the round that it opens if it is one for decisions."""
        with self.writing() as connection:
            snapshot_id = write.add_snapshot(connection, cohort_id, number, snapshot)
            if round_number is not None:
                write.open_round(connection, cohort_id, round_number, snapshot.at, snapshot_id)

    def keep_evidence(self, round_id: int, place: tuple[int, int], gathered: GatheredEvidence) -> None:
        """What was gathered for a round, unless that is there already; `place` is cohort and round."""
        with self.writing() as connection:
            add_evidence(connection, round_id, place, gathered)

    def is_gathered(self, round_id: int) -> bool:
        """Whether evidence was gathered for a round."""
        with reading(self.engine) as connection:
            return is_gathered(connection, round_id)

    def evidence(self, round_id: int) -> dict[MarketId, tuple[Article, ...]]:
        """The articles that every agent of a round sees, by market."""
        with reading(self.engine) as connection:
            return read_evidence(connection, round_id)

    def holdings(self, cohort_id: int, until: datetime | None = None) -> dict[str, Holdings]:
        """Every entrant's account, in line-up order: the fold of its ledger up to a time.

        What was folded before is kept, and only what others have written is read.
        """
        with reading(self.engine) as connection:
            found = read_ledger_heads(connection, cohort_id)
            if behind := self.accounts.behind(dict(found.values())):
                self.accounts.read(read_entries_after(connection, behind))
            held, newest = self.accounts.holdings(id for id, _ in found.values())
            if until is None or newest <= until:
                return dict(zip(found, held.values(), strict=True))
            whole = read_ledgers(connection, cohort_id)
        return {name: fold(x for x in entries if x.at <= until) for name, entries in whole.items()}

    def newest_time(self, cohort_id: int | None = None) -> datetime | None:
        """The time of the newest snapshot, of all or of one cohort."""
        with reading(self.engine) as connection:
            return read.read_newest_time(connection, cohort_id)

    def may_resolve(self, since: datetime) -> list[MarketId]:
        """Markets in any snapshot that have not ended, or were said to only since an instant."""
        with reading(self.engine) as connection:
            return read.read_unresolved_markets(connection, since)

    def followed(self, at: datetime) -> list[MarketId]:
        """Markets in any snapshot that were seen by an instant, and had not ended before it."""
        with reading(self.engine) as connection:
            return read.read_followed_markets(connection, at)

    def keep_resolutions(self, resolutions: Sequence[Resolution], at: datetime, live: bool = False) -> int:
        """What is new among these, learnt at an instant; how many. What can't be is set aside.

        A live venue doesn't number its versions: we do.
        """
        with self.writing() as connection:
            return add_resolutions(connection, resolutions, at, live)

    def keep_catalogue(
        self,
        source: VenueSource,
        listings: Sequence[Listing],
        at: datetime,
        asides: Sequence[QuarantinedRecord] = (),
        stored: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> SyncResult:
        """A venue's whole catalogue, and what of it was set aside; `stored` is told how much is in."""
        with gc_paused(), self.writing() as connection:
            quarantine_records(connection, asides, at)
            return add_catalogue(connection, source, listings, at, stored)

    def keep_quotes(self, listings: Sequence[Listing]) -> int:
        """The prices of markets that are known, as far as they are news; how many were.

        What their pages say is only kept with a snapshot or a whole catalogue, which are its witnesses.
        """
        with self.writing() as connection:
            return len(add_quotes(connection, listings).fresh)

    def synced_at(self, source: VenueSource) -> datetime | None:
        """When a venue's whole catalogue was last read."""
        with reading(self.engine) as connection:
            return last_synced_at(connection, source)

    def gone_since(self, since: datetime) -> list[MarketId]:
        """Markets that lost their price since an instant, and of which nobody said how they ended."""
        with reading(self.engine) as connection:
            return markets_gone_since(connection, since)

    def prune(self, older_than: datetime, at: datetime) -> PruneResult:
        """Let quotes from before an instant go on which nothing stands; what went, and what stayed."""
        with self.writing() as connection:
            return prune_quotes(connection, older_than, at)

    def keep_asides(self, asides: Sequence[QuarantinedRecord], at: datetime) -> None:
        """What a venue sent in vain."""
        if asides:
            with self.writing() as connection:
                quarantine_records(connection, asides, at)

    def resolutions(self, ids: Collection[MarketId], at: datetime) -> list[Resolution]:
        """All versions known by then of how these markets ended."""
        with reading(self.engine) as connection:
            return read.read_resolutions(connection, ids, at)

    def keep_entries(self, entries: Mapping[int, Sequence[Entry]]) -> None:
        """More ledger lines of several entrants, all or none."""
        if entries:
            with self.writing() as connection:
                write.add_entries(connection, entries)
            self.accounts.wrote(entries)

    def claim(
        self,
        round_id: int,
        entrant_ids: Sequence[int],
        holder: str,
        length: timedelta,
        is_gone: Callable[[str], bool],
    ) -> dict[int, int]:
        """Take what turns can be taken, for so long by the database's clock; the token of each."""
        with self.writing() as connection:
            return claim_turns(connection, round_id, entrant_ids, holder, length, is_gone)

    def renew_claims(self, round_id: int, tokens: Mapping[int, int], length: timedelta) -> set[int]:
        """Hold turns for so long from now; the entrants whose turns nobody else has taken over."""
        with self.engine.begin() as connection:
            return renew_claims(connection, round_id, tokens, length)

    def verdicts(self, round_id: int) -> dict[int, str]:
        """How each turn of a round ended, by entrant id."""
        with reading(self.engine) as connection:
            return read.read_turn_statuses(connection, round_id)

    def stated(self, round_id: int, agents: Sequence[str]) -> dict[str, tuple[Forecast, ...]]:
        """The final forecasts of those of these agents whose turns are in."""
        if not agents:
            return {}
        with reading(self.engine) as connection:
            return read.read_final_forecasts(connection, round_id, agents)

    def calls(self, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
        """Every attempt that entrants of a round have made."""
        with reading(self.engine) as connection:
            return read.read_calls(connection, round_id, entrant_ids)

    def turns(self, round_id: int, entrant_ids: Collection[int]) -> list[Turn]:
        """The turns of a round that are in, of these entrants, in line-up order."""
        with reading(self.engine) as connection:
            return read_turns(connection, round_id, entrant_ids)

    def reserve(self, wish: ReservationRequest, terms: ReservationTerms) -> ReservationAnswer:
        """A place for a call, taken in the transaction that has looked for room and money."""
        with self.engine.begin() as connection:
            return reservations.reserve(connection, wish, terms)

    def renew_places(self, places: Collection[int], length: timedelta) -> None:
        """Calls that are still under way keep their places for so long from now."""
        with self.engine.begin() as connection:
            reservations.renew_reservations(connection, places, length)

    def lose(self, place: Reservation) -> None:
        """A call that ended and can't be kept: it takes no room any more, and goes on counting as spent."""
        self.renew_places([place.id], timedelta())

    def keep_call(
        self,
        round_id: int,
        entrant_id: int,
        attempt: int,
        call: Call,
        made_at: datetime,
        place: Reservation | None = None,
    ) -> None:
        """One attempt, in a transaction of its own, in which the place that it had is free again."""
        with self.engine.begin() as connection:
            add_call(connection, round_id, entrant_id, attempt, call, made_at, place)

    def keep_turns(
        self, round_id: int, place: tuple[int, int], claimed: Sequence[TurnUnderClaim], code_version: str
    ) -> set[int]:
        """Whole turns of a round, where the claims on them still hold; the entrants whose turns are in."""
        with self.writing() as connection:
            kept = add_turns(connection, round_id, place, claimed, code_version)
        self.accounts.wrote({id: turn.entries for id, turn in kept.items()})
        return set(kept)

    def keep_marks(self, snapshot_id: int, marks: Mapping[int, Mark], over: int | None = None) -> None:
        """Everyone's holdings valued at a snapshot, in place of what was there; with it a round is over."""
        with self.writing() as connection:
            write.put_marks(connection, snapshot_id, marks)
            if over is not None:
                write.close_round(connection, over)

    def has_marks(self, cohort_id: int, at: datetime) -> bool:
        """Whether a cohort's holdings were already valued at an instant."""
        with reading(self.engine) as connection:
            return read.has_marks(connection, cohort_id, at)

    def jobs(self) -> dict[str, JobState]:
        """How each job of `arena run` went last, by name."""
        with reading(self.engine) as connection:
            return operations.read_jobs(connection)

    def keep_job(self, state: JobState) -> None:
        """How a job goes, in place of how it went before."""
        with self.writing() as connection:
            operations.put_job(connection, state)

    def keep_rollups(self, rollups: Sequence[Rollup]) -> None:
        """What was worked out, each in place of what was there under its name."""
        if rollups:
            with self.writing() as connection:
                put_rollups(connection, rollups)

    def figures(self, since: datetime) -> RunFigures:
        """What was spent since an instant, and what is held now."""
        cohorts = [stored.id for stored in self.cohorts() if stored.ended_at is None]
        held = sum(len(account.lots) for id in cohorts for account in self.holdings(id).values())
        with reading(self.engine) as connection:
            return RunFigures(
                read_spent_since(connection, since), held, count_stale_positions(connection, cohorts)
            )

    def spent(
        self, round_id: int, entrant_id: int, since: datetime, scopes: Collection[Scope]
    ) -> dict[Scope, int]:
        """What counts as spent: what calls cost, at their worst where that is unknown, also of lost ones."""
        with reading(self.engine) as connection:
            return read_spent(connection, round_id, entrant_id, since, tuple(scopes))

    def refused(self, round_id: int, code: ErrorCode) -> set[int]:
        """The entrants whose last call in a round ended in this error."""
        with reading(self.engine) as connection:
            return read.read_refused_entrants(connection, round_id, code)

    def counts(self) -> dict[str, int]:
        """How much is in the record."""
        with reading(self.engine) as connection:
            return read.count_facts(connection)
