"""A record that a turn can be played on without a trace: it is read, and what would be written is not."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Engine

from agents.model import Article, Call
from arena.record.model.reservation import (
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
    check_budget,
    midnight,
)
from arena.record.record import Record
from arena.record.schema.database import NoRecord, connect, open_read_only, upgrade
from arena.record.write.evidence import GatheredEvidence
from markets.model import MarketId, Snapshot
from markets.venue import QuarantinedRecord
from portfolio.model import Holdings

__all__ = ["DryRunRecord", "Engine", "open_or_empty"]

LASTING_SCOPES: tuple[Scope, ...] = ("day", "arena")
"""The limits for which it counts what the record says was spent; for the others a rehearsal stands alone."""


@dataclass(frozen=True)
class DryRunRecord(Record):
    """The record as one entrant finds it, and what would have come to it since, kept only while it is tried.

    `owned` is what the entrants own, `texts` the prompts that are not in the record yet; `made` are the
    calls, `looks` the snapshots and `news` the evidence that were new. `held` is what
    calls under way may cost.
    """

    owned: Mapping[str, Holdings] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    made: list[Call] = field(default_factory=list)
    held: dict[int, int] = field(default_factory=dict)
    looks: list[Snapshot] = field(default_factory=list)
    news: list[GatheredEvidence] = field(default_factory=list)

    def holdings(self, cohort_id: int, until: datetime | None = None) -> dict[str, Holdings]:
        """The accounts that were given."""
        return dict(self.owned)

    def prompts(self, hashes: Collection[str]) -> dict[str, str]:
        """Prompt texts by hash, those of the record too."""
        return super().prompts(hashes) | {key: self.texts[key] for key in hashes if key in self.texts}

    def snapshot(self, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
        """The snapshot that was taken here, else that of the record."""
        return (0, self.looks[-1]) if self.looks else super().snapshot(cohort_id, at)

    def keep_snapshot(
        self, cohort_id: int, number: int, snapshot: Snapshot, round_number: int | None
    ) -> None:
        """Remember a snapshot."""
        self.looks.append(snapshot)

    def evidence(self, round_id: int) -> dict[MarketId, tuple[Article, ...]]:
        """The evidence that was gathered here, else that of the record."""
        if not self.news:
            return super().evidence(round_id)
        return {market: tuple(articles) for market, articles in self.news[-1].articles.items()}

    def keep_evidence(self, round_id: int, place: tuple[int, int], gathered: GatheredEvidence) -> None:
        """Remember evidence."""
        self.news.append(gathered)

    def claim(
        self,
        round_id: int,
        entrant_ids: Sequence[int],
        holder: str,
        length: timedelta,
        is_gone: Callable[[str], bool],
    ) -> dict[int, int]:
        """Every turn can be played here, whoever plays it in earnest."""
        return dict.fromkeys(entrant_ids, 0)

    def calls(self, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
        """No answer is known yet: the model shall be asked."""
        return {}

    def reserve(self, wish: ReservationRequest, terms: ReservationTerms) -> ReservationAnswer:
        """A place for a call, of which the record learns nothing: others don't know that it is taken."""
        limits, payer = terms.budget.limits, wish.payer
        today = midnight(wish.made_at)
        spent = self.spent(payer.round_id, payer.entrant_id, today, limits)
        verdict = check_budget(
            terms.budget, wish.worst, spent, dict.fromkeys(limits, sum(self.held.values()))
        )
        if verdict is not None:
            return verdict
        id = len(self.made) + len(self.held)
        self.held[id] = wish.worst or 0
        return Reservation(id, wish.provider, terms.per_provider, terms.per_provider, narrow=False)

    def renew_places(self, places: Collection[int], length: timedelta) -> None:
        """Nobody else waits for them."""

    def keep_call(
        self,
        round_id: int,
        entrant_id: int,
        attempt: int,
        call: Call,
        made_at: datetime,
        place: Reservation | None = None,
    ) -> None:
        """Remember one attempt."""
        self.made.append(call)
        if place is not None:
            del self.held[place.id]

    def keep_asides(self, asides: Sequence[QuarantinedRecord], at: datetime) -> None:
        """Forget what a venue sent in vain."""

    def spent(
        self, round_id: int, entrant_id: int, since: datetime, scopes: Collection[Scope]
    ) -> dict[Scope, int]:
        """What was spent here, for the day and the arena on top of what the record holds."""
        here = sum(call.cost if call.cost is not None else call.worst or 0 for call in self.made)
        lasting = [scope for scope in scopes if scope in LASTING_SCOPES]
        before = super().spent(round_id, entrant_id, since, lasting) if lasting else {}
        return {scope: here + before.get(scope, 0) for scope in scopes}


@contextmanager
def open_or_empty(database: str) -> Iterator[Engine]:
    """The record at an address, to be read and nothing else; an empty one in memory where there is none."""
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(open_read_only(database))
        except NoRecord:
            engine = connect("sqlite://")
            stack.callback(engine.dispose)
            upgrade(engine)
        yield engine
