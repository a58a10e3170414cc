"""A record that a test opens: each step that many tests take is one method, and so is each look at it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from agents.model import Article, Call, Decision
from agents.toolbox import ToolResult
from arena.calls.reservations import new_reservation_id
from arena.cohorts.freeze import code_version
from arena.record.files.backup import Backup, backup_to
from arena.record.files.restore import move_record
from arena.record.hashes import state_hash
from arena.record.model import lease
from arena.record.model.cohort import Cohort, JobState, Replacement, Turn
from arena.record.model.columns import ForecastColumns
from arena.record.model.incident import Incident, RecordedIncident
from arena.record.model.reservation import (
    Budget,
    PausedCalls,
    Payer,
    ProviderBusy,
    Reservation,
    ReservationRequest,
    ReservationTerms,
    Scope,
)
from arena.record.model.status import PublishedHeads
from arena.record.queries.cohorts import (
    StoredCohort,
    StoredRound,
    count_facts,
    has_marks,
    read_calls,
    read_resolutions,
    read_rounds,
    read_turn_statuses,
    read_unresolved_markets,
)
from arena.record.queries.decisions import read_fills
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.queries.progress import CohortProgress, read_progress
from arena.record.record import Record
from arena.record.schema import database
from arena.record.schema.database import connect
from arena.record.write.calls import add_call
from arena.record.write.cohorts import (
    add_cohort,
    add_replacements,
    add_snapshot,
    end_cohort,
    pause_cohort,
    put_marks,
    stop_cohort,
)
from arena.record.write.desk import answer_desk_turn, open_desk_turn
from arena.record.write.evidence import GatheredEvidence, add_evidence, is_gathered, read_evidence
from arena.record.write.heads import add_head, read_heads_after, read_published_heads
from arena.record.write.listings import prune_quotes
from arena.record.write.operations import (
    add_incidents,
    put_job,
    read_jobs,
    read_recent_incidents,
    read_untold,
    record_delivery,
    renew_lease,
    take_lease,
)
from arena.record.write.quarantine import StoredQuarantine, read_quarantine
from arena.record.write.reservations import (
    lose_reservations,
    read_pauses,
    read_spent,
    renew_reservations,
    reserve,
)
from arena.record.write.resolutions import add_resolutions
from arena.record.write.rollups import Rollup, put_rollups, read_rollup
from arena.record.write.sync import VenueSource, add_catalogue
from arena.record.write.tools import add_tool_result
from arena.record.write.turn_queue import TurnJob, upgrade_queue
from arena.record.write.turns import TurnUnderClaim, claim_turns, release_claims, renew_claims
from arena.verify.content import verified_content
from markets.model import Listing, MarketId, Resolution, Snapshot
from markets.venue import QuarantinedRecord
from portfolio.ledger import open_account
from portfolio.model import Entry, Fill, Mark
from tests.builders import NOW
from tests.rows import opened_to_read


class OpenedRecord(Record):
    """A record as tests use it: they say what is done to a season, and this alone knows how it is stored."""

    __slots__ = ()

    @classmethod
    def at(cls, place: str | Path) -> Self:
        """Open the record at a place, which is made where there is none."""
        return cls.open(str(place))

    # What has been played

    def cohort(self, number: int) -> StoredCohort:
        """Return a cohort by its number."""
        return next(stored for stored in self.cohorts() if stored.cohort.number == number)

    def rounds(self, cohort_id: int = 1) -> list[StoredRound]:
        """Return the rounds of a cohort, oldest first."""
        return self.read(read_rounds, cohort_id)

    def calls(self, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
        """Return the calls of a round by entrant, in the order in which they were made."""
        return self.read(read_calls, round_id, entrant_ids)

    def resolutions(self, markets: Collection[MarketId], at: datetime) -> list[Resolution]:
        """Return how markets had ended as far as was known at a time."""
        return self.read(read_resolutions, markets, at)

    def unresolved_markets(self, since: datetime) -> list[MarketId]:
        """Return the markets of which the end is still asked for."""
        return self.read(read_unresolved_markets, since)

    def turn_statuses(self, round_id: int) -> dict[int, str]:
        """Return the status of each turn of a round, by entrant."""
        return self.read(read_turn_statuses, round_id)

    def fact_counts(self) -> dict[str, int]:
        """Return how many facts of each sort there are: calls, turns …"""
        return self.read(count_facts)

    def has_marks(self, cohort_id: int, at: datetime) -> bool:
        """Tell whether the accounts of a cohort were valued at a time."""
        return self.read(has_marks, cohort_id, at)

    def progress(self) -> list[CohortProgress]:
        """Return how far each open cohort has come."""
        return self.read(read_progress, self.line_ups)

    def forecasts(self, cohort: int | None = None) -> ForecastColumns:
        """Return all final forecasts as columns, or those of one cohort."""
        return self.read(read_forecast_columns, cohort)

    def state_hash(self) -> str:
        """Return the hash of all facts."""
        return self.read(state_hash)

    def heads(self) -> list[dict[str, Any]]:
        """Return the chain of heads, oldest first."""
        return self.read(read_heads_after, 0, 1_000)

    def evidence(self, round_id: int) -> dict[MarketId, tuple[Article, ...]]:
        """Return the articles that a round shows, by market."""
        return self.read(read_evidence, round_id)

    def is_gathered(self, round_id: int) -> bool:
        """Tell whether evidence was looked for in a round."""
        return self.read(is_gathered, round_id)

    def fills(self, turn_id: int) -> list[Fill]:
        """Return the fills of a turn, in order."""
        return self.read(read_fills, [turn_id])[turn_id]

    def published(self) -> PublishedHeads:
        """Return how far the heads were published."""
        return self.read(read_published_heads)

    def cached(self, name: str) -> Rollup | None:
        """Return a figure of the cache by its name, if it is there."""
        return self.read(read_rollup, name)

    def put_cached(self, rollup: Rollup) -> None:
        """Put a figure into the cache, in place of the one of its name."""
        self.write(put_rollups, [rollup])

    def quarantined(self) -> list[StoredQuarantine]:
        """Return what venues gave that could not be used."""
        return self.read(read_quarantine)

    # What a season does

    def start(self, cohort: Cohort, texts: Mapping[str, str] | None = None, **deposits: Entry) -> None:
        """Start a cohort with its bankrolls, or with other first entries."""
        usual = {e.name: open_account(cohort.bankroll, cohort.starts_at) for e in cohort.entrants}
        self.write(add_cohort, cohort, texts or {}, usual | deposits)

    def pause(self, cohort_id: int, at: datetime | None) -> None:
        """Pause a cohort from a time on, or let it go on."""
        self.write(pause_cohort, cohort_id, at)

    def stop(self, cohort_id: int, at: datetime) -> None:
        """Stop a cohort: it decides no more."""
        self.write(stop_cohort, cohort_id, at)

    def end(self, cohort_id: int, at: datetime) -> None:
        """End a cohort."""
        self.write(end_cohort, cohort_id, at)

    def keep_snapshot(self, cohort_id: int, number: int, snapshot: Snapshot, round_number: int | None) -> int:
        """Keep a snapshot of a cohort, with which a round begins if it has a number, and return its id."""
        return self.write(add_snapshot, cohort_id, number, snapshot, round_number)

    def sync(
        self,
        venue: str,
        listings: Sequence[Listing],
        at: datetime,
        stamp: str = "live",
        quarantined: Sequence[QuarantinedRecord] = (),
        rejected: int | None = None,
    ) -> None:
        """Store the whole catalogue of a venue as it was at a time."""
        self.write(add_catalogue, VenueSource(venue, stamp), listings, at, quarantined, rejected=rejected)

    def resolve(self, ends: Sequence[Resolution], at: datetime, live: bool = False) -> int:
        """Learn at a time how markets ended, and return how many of the ends are new."""
        return self.write(add_resolutions, ends, at, live)

    def gather(
        self,
        round_id: int,
        place: tuple[int, int],
        articles: Mapping[MarketId, Any] | None = None,
        asked: int = 0,
        **left_out: int,
    ) -> None:
        """Keep the articles that were found for a round, by market, of so many that were looked at."""
        self.write(add_evidence, round_id, place, GatheredEvidence(articles or {}, asked, left_out))

    def keep_result(
        self,
        round_id: int,
        place: tuple[int, int],
        asked: tuple[str, str, str],
        result: ToolResult,
        at: datetime,
    ) -> str:
        """Keep what a tool has found for a round, and return what its agents are shown."""
        return self.write(add_tool_result, round_id, place, asked, result, at)

    def replace_settings(
        self, number: int, entrant_ids: Mapping[str, int], at: datetime, taken: Replacement
    ) -> None:
        """Give an agent of a cohort other settings from a time on."""
        self.write(add_replacements, number, entrant_ids, at, [taken])

    def value(
        self, snapshot_id: int, marks: Mapping[int, Mark], finished_round_id: int | None = None
    ) -> None:
        """Keep what accounts are worth at a snapshot, by entrant; a round may end with that."""
        self.write(put_marks, snapshot_id, marks, finished_round_id)

    def prune(self, older_than: datetime, at: datetime) -> int:
        """Prune prices that are older, and return how many went."""
        return self.write(prune_quotes, older_than, at).goes

    def add_call(
        self,
        round_id: int,
        entrant_id: int,
        attempt: int,
        call: Call,
        at: datetime = NOW,
        place: Reservation | None = None,
    ) -> None:
        """Store a call as it was answered, and paid, in place of what was reserved for it."""
        self.write_answer(add_call, round_id, entrant_id, attempt, call, at, place)

    def add_head(self, at: datetime, members: Mapping[str, Any], cohort: int | None = None) -> None:
        """Add a head to the chain, which seals these facts."""
        self.write(add_head, at, members, cohort)

    # Who is at work

    def claim(
        self, round_id: int, entrant_ids: Sequence[int], holder: str = "me", gone: bool | None = False
    ) -> dict[int, int]:
        """Claim turns, and return the token of each that is got: those of others only if they are gone.

        With None this record goes by what it has seen of them.
        """
        is_over = self.watch.is_over if gone is None else lambda _: gone
        return self.write(claim_turns, round_id, entrant_ids, holder, is_over)

    def renew_claims(self, round_id: int, tokens: Mapping[int, int]) -> set[int]:
        """Renew claims by their tokens, and return whose turns are still held."""
        return self.write_unfenced(renew_claims, round_id, tokens)

    def renew_reservations(self, numbers: Collection[int]) -> None:
        """Show that calls are still waited for."""
        self.write_unfenced(renew_reservations, numbers)

    def write_turn(
        self,
        entrant_id: int,
        token: int,
        turn: Turn,
        round_id: int = 1,
        place: tuple[int, int] = (1, 1),
        version: str = "test",
    ) -> bool:
        """Write a turn under a claim, and tell whether the claim still held; `place` is cohort and round."""
        return bool(self.add_turns(round_id, place, [TurnUnderClaim(entrant_id, token, turn)], version))

    def decide_nothing(self, entrant_id: int, token: int, name: str = "ann", cash: int = 0) -> bool:
        """Write an empty turn of the first round under a claim, and tell whether the claim still held."""
        return self.write_turn(entrant_id, token, Turn(name, cash, Decision()))

    def release(self, round_id: int, entrant_ids: Sequence[int]) -> None:
        """Let go of claims on turns."""
        self.write_unfenced(release_claims, round_id, entrant_ids)

    def take_lease(self, name: str, holder: str, gone: bool = False) -> int | None:
        """Take a lease and return its token, or None: that of another only if it is gone."""
        return self.write_unfenced(take_lease, name, holder, lambda _: gone)

    def renew_lease(self, name: str, token: int) -> bool:
        """Renew a lease, and tell whether it is still held."""
        return self.write_unfenced(renew_lease, name, token)

    def timed_by(self, timer: Callable[[], float]) -> Self:
        """Return the same record, which goes by this timer to tell who is silent."""
        return replace(self, watch=lease.Watch(timer))

    def reserve(self, holder: str, worst: int = 1, *, most: int = 9, number: int | None = None) -> int | None:
        """Reserve money and a provider's room for a call of the first turn, unless `most` calls have it all.

        Return the number of the reservation, or None where the provider is busy.
        """
        request = ReservationRequest(Payer(1, 1), "x", worst, holder, NOW)
        terms = ReservationTerms(Budget(), most, self.watch.is_over)
        answer = self.write_unfenced(reserve, request, terms, number or new_reservation_id())
        assert isinstance(answer, Reservation | ProviderBusy)
        return answer.id if isinstance(answer, Reservation) else None

    def lose(self, reservations: Collection[int]) -> None:
        """Give up calls whose answers nobody waits for any more."""
        self.write_unfenced(lose_reservations, reservations)

    def answer_at_desk(self, entrant_id: int, round_id: int, text: str) -> bool:
        """Answer a turn at the desk, and tell whether it was still open."""
        return self.write_answer(answer_desk_turn, entrant_id, round_id, text)

    def open_at_desk(self, entrant_id: int, round_id: int, seconds: float) -> None:
        """Open a turn at the desk, with an empty view."""
        self.write(open_desk_turn, entrant_id, round_id, "{}", seconds)

    def spent(self, scope: Scope, since: datetime = NOW) -> int:
        """Return what the first turn sees spent or reserved in a scope: round, agent, day or arena."""
        return self.read(read_spent, 1, 1, since, [scope])[scope]

    def pauses(self) -> list[PausedCalls]:
        """Return the providers and models that want a pause."""
        return self.read(read_pauses)

    def jobs(self) -> dict[str, JobState]:
        """Return the state of each job by its name."""
        return self.read(read_jobs)

    def put_job(
        self,
        name: str,
        at: datetime = NOW,
        started_at: datetime | None = None,
        ended_at: datetime | None = None,
        failures: int = 0,
        note: str = "",
    ) -> None:
        """Store how a job went that was due at a time, and began then unless another time is given."""
        self.write(put_job, JobState(name, at, started_at or at, ended_at, failures, note))

    def incidents(self, most: int = 99, only_open: bool = False) -> list[RecordedIncident]:
        """Return the newest incidents, newest first, or only those that last."""
        return self.read(read_recent_incidents, most, only_open)

    def untold(self, at: datetime, most: int = 9) -> list[RecordedIncident]:
        """Return the incidents that are to be told at a time, oldest first."""
        return read_untold(self.engine, at, most)

    def add_incident(self, kind: Any, subject: str, text: str, at: datetime = NOW, **data: Any) -> None:
        """Store an incident."""
        add_incidents(self.engine, [Incident(kind, subject, at, text, data)])

    def tell(self, incident_id: int, told_at: datetime | None, next_try_at: datetime | None = None) -> None:
        """Store that an incident was told, or when that is tried again."""
        record_delivery(self.engine, incident_id, told_at, next_try_at)


@contextmanager
def opened_record(place: str | Path) -> Iterator[OpenedRecord]:
    """Yield the record at a place, which is made where there is none."""
    with closing(OpenedRecord.at(place)) as record:
        yield record


def new_record(place: str | Path) -> str:
    """Make an empty record at a place, and return its address."""
    OpenedRecord.at(place).close()
    return str(place)


def backed_up(place: Path, to: Path, progress: Callable[..., None] = lambda *_: None) -> Backup:
    """Back up the record at a place, as the arena does beside others that write, and return what was made."""
    engine = connect(place, read_only=True)
    try:
        return backup_to(engine, to, verified_content, progress)
    finally:
        engine.dispose()


def moved(place: Path, to: str) -> str:
    """Move the record at a place to another database, and return its address."""
    with opened_to_read(place) as engine:
        move_record(engine, to, verified_content)
    return to


def wait_at_most(milliseconds: int, patch: pytest.MonkeyPatch) -> None:
    """Let nobody wait longer than this for a record that somebody else has locked."""
    patch.setattr(database, "BUSY_MS", milliseconds)


def make_queue(address: str) -> bool:
    """Make the tables of the queue of turns beside a record on a server; tell whether they are up to date."""
    return upgrade_queue(address, make=True)


def a_turn_job(*agents: str, again: bool = False) -> TurnJob:
    """Return the job of playing these agents' turns of the first round, by this version of the code."""
    return TurnJob(1, 1, agents, code_version(), again)


def beat_every(interval: timedelta, patch: pytest.MonkeyPatch) -> None:
    """Let everybody who works show a sign of life that often."""
    patch.setattr(lease, "HEARTBEAT_INTERVAL", interval)
