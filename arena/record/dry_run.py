"""A record on which a turn can be played without a trace: reads reach the database, writes don't."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from agents.model import Article, Call
from agents.toolbox import ToolResult
from arena.record.model.incident import Incident
from arena.record.model.reservation import (
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
    check_budget,
    midnight,
)
from arena.record.queries.cohorts import read_calls, read_prompts
from arena.record.record import P, Record, T, Work
from arena.record.schema.database import NoRecord, connect, open_read_only, upgrade
from arena.record.write.calls import add_call
from arena.record.write.cohorts import add_snapshot
from arena.record.write.evidence import GatheredEvidence, add_evidence, read_evidence
from arena.record.write.quarantine import quarantine_records
from arena.record.write.reservations import lose_reservations, read_spent, renew_reservations, reserve
from arena.record.write.sync import SyncResult, add_catalogue
from arena.record.write.tools import add_tool_result, read_listed, read_tool_text, request_key
from arena.record.write.turns import claim_turns
from markets.model import MarketId, Snapshot
from portfolio.model import Holdings

__all__ = ["DryRunRecord", "Engine", "open_or_empty"]

LASTING_SCOPES: tuple[Scope, ...] = ("day", "arena")
"""The limits for which it counts what the record says was spent; for the others a dry run stands alone."""


@dataclass(frozen=True)
class DryRunRecord(Record):
    """The record as one entrant finds it, and what would have come to it since, kept only for the dry run.

    What a turn asks and writes has stand-ins here; nothing else can be written, since the database is only
    read. `owned` is what the entrants own, `texts` the prompts that are not in the record yet. `calls`,
    `snapshots` and `evidence` are new, and `reserved` is what calls under way may cost.
    """

    owned: Mapping[str, Holdings] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    reserved: dict[int, int] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)
    evidence: list[GatheredEvidence] = field(default_factory=list)
    tool_texts: dict[str, str] = field(default_factory=dict)
    listed_urls: set[str] = field(default_factory=set)
    stand_ins: dict[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Register the stand-ins for queries and changes."""
        self.stand_ins.update(
            {
                read_prompts: self._read_prompts,
                read_calls: lambda *_: {},  # no answer is known yet: the model shall be asked
                read_evidence: self._read_evidence,
                read_spent: self._read_spent,
                add_catalogue: lambda _source, listings, at, **_: SyncResult(0, at, len(listings)),
                claim_turns: lambda _round, entrant_ids, *_: dict.fromkeys(entrant_ids, 0),
                add_snapshot: lambda _cohort, _number, snapshot, _round: self.snapshots.append(snapshot),
                add_evidence: lambda _round, _place, gathered: self.evidence.append(gathered),
                add_call: self._add_call,
                add_tool_result: self._add_tool_result,
                read_tool_text: lambda _round, key: self.tool_texts.get(key),
                read_listed: lambda _round: self.listed_urls,
                quarantine_records: lambda *_: None,
                reserve: self._reserve,
                renew_reservations: lambda *_: None,  # nobody else waits for them
                lose_reservations: lambda *_: None,
            }
        )

    def read(self, query: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of a query, from a stand-in if there is one, else from the record."""
        if query not in self.stand_ins:
            return super().read(query, *args, **kwargs)
        answer: T = self.stand_ins[query](*args, **kwargs)
        return answer

    def write(self, change: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Keep a change in memory for as long as the dry run takes."""
        answer: T = self.stand_ins[change](*args, **kwargs)
        return answer

    write_unfenced = write_answer = write

    def hold_room(self, answers: int) -> None:
        """Do nothing: no room is needed because nothing is written."""

    def holdings(
        self, cohort_id: int, until: datetime | None = None, names: Collection[str] | None = None
    ) -> dict[str, Holdings]:
        """Return the given accounts, all or those of these names."""
        return {name: own for name, own in self.owned.items() if names is None or name in names}

    def snapshot(self, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
        """Return the snapshot taken in the dry run, else that of the record."""
        return (0, self.snapshots[-1]) if self.snapshots else super().snapshot(cohort_id, at)

    def _read_prompts(self, hashes: Collection[str]) -> dict[str, str]:
        new_texts = {key: self.texts[key] for key in hashes if key in self.texts}
        return super().read(read_prompts, hashes) | new_texts

    def _read_evidence(self, round_id: int) -> dict[MarketId, tuple[Article, ...]]:
        if not self.evidence:
            return super().read(read_evidence, round_id)
        return {market: tuple(articles) for market, articles in self.evidence[-1].articles.items()}

    def _reserve(
        self, request: ReservationRequest, terms: ReservationTerms, reservation_id: int
    ) -> ReservationAnswer:
        """Reserve a call in memory, which other processes don't see."""
        limits = terms.budget.limits
        payer = request.payer
        spent = self._read_spent(payer.round_id, payer.entrant_id, midnight(request.made_at), limits)
        reserved_by_scope = dict.fromkeys(limits, sum(self.reserved.values()))
        refusal = check_budget(terms.budget, request.worst, spent, reserved_by_scope)
        if refusal is not None:
            return refusal
        self.reserved[reservation_id] = request.worst or 0
        return Reservation(
            reservation_id, request.provider, terms.per_provider, terms.per_provider, narrow=False
        )

    def _add_call(
        self,
        _round: int,
        _entrant: int,
        _attempt: int,
        call: Call,
        _at: datetime,
        reservation: Reservation | None,
        _incident: Incident | None,
    ) -> None:
        self.calls.append(call)
        if reservation is not None:
            del self.reserved[reservation.id]

    def _add_tool_result(
        self,
        _round: int,
        _place: tuple[int, int],
        request: tuple[str, str, str],
        result: ToolResult,
        _at: datetime,
    ) -> str:
        self.listed_urls.update(article.url for article in result.sources)
        return self.tool_texts.setdefault(request_key(*request), result.text)

    def _read_spent(
        self, round_id: int, entrant_id: int, since: datetime, scopes: Collection[Scope]
    ) -> dict[Scope, int]:
        """Return the money spent in the dry run, plus the record's for the day and the arena."""
        spent_here = 0
        for call in self.calls:
            spent_here += call.cost if call.cost is not None else call.worst or 0

        lasting_scopes = [scope for scope in scopes if scope in LASTING_SCOPES]
        spent_before: dict[Scope, int] = {}
        if lasting_scopes:
            spent_before = super().read(read_spent, round_id, entrant_id, since, lasting_scopes)
        return {scope: spent_here + spent_before.get(scope, 0) for scope in scopes}


@contextmanager
def open_or_empty(database: str) -> Iterator[Engine]:
    """Open the record at an address for reading; an empty one in memory if there is none."""
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(open_read_only(database))
        except NoRecord:
            engine = connect("sqlite://")
            stack.callback(engine.dispose)
            upgrade(engine)
        yield engine
