"""What a round's agents are told beyond its snapshot: read once for all of them, as far as any wants it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents.model import Context, PastForecast, View
from arena.record.model.cohort import Entrant
from arena.record.queries.cohorts import StoredCohort
from arena.record.queries.context import (
    read_new_ends,
    read_past_forecasts,
    read_price_history,
    read_siblings,
)
from arena.record.record import Record
from markets.model import Listing, MarketId, Quote, Snapshot


@dataclass(frozen=True, slots=True)
class RoundContext:
    """What there is to tell, and who wants to hear what; `past` is by entrant."""

    wanted: Mapping[int, Context]
    ends: Mapping[MarketId, int | None] = field(default_factory=dict)
    history: Mapping[MarketId, tuple[Quote, ...]] = field(default_factory=dict)
    siblings: Mapping[str, tuple[Listing, ...]] = field(default_factory=dict)
    past: Mapping[int, Sequence[PastForecast]] = field(default_factory=dict)

    def told(self, view: View, entrant: int) -> View:
        """An entrant's view with what it wants of all this."""
        if (wants := self.wanted.get(entrant)) is None:
            return view
        past = self.past.get(entrant, ()) if wants.past else ()
        last: dict[MarketId, tuple[PastForecast, ...]] = {}
        for each in past:
            market = each.forecast.market_id
            last[market] = (*last.get(market, ()), each)
        ended = (replace(x, outcome=self.ends[m]) for m in self.ends for x in last.pop(m, ()))
        return replace(
            view,
            history=self.history if wants.history else {},
            siblings=self.siblings if wants.siblings else None,
            ended=tuple(ended),
            past=last,
        )


def _is_context(value: object) -> bool:
    """Whether a setting of that name is this one, and not some own one of a kind of somebody's."""
    return isinstance(value, Mapping) and value.keys() == Context.model_fields.keys()


def gather_context(
    entrants: Sequence[Entrant],
    stored: StoredCohort,
    snapshot: Snapshot,
    since: datetime | None,
    record: Record,
) -> RoundContext:
    """Read what these entrants want, in a few queries. Cohorts of before there was any want nothing."""
    wanted = {
        stored.entrant_ids[entrant.name]: Context.model_validate(entrant.settings["context"])
        for entrant in entrants
        if _is_context(entrant.settings.get("context"))
    }
    every = wanted.values()
    ids = [listing.market.id for listing in snapshot]
    recalling = [entrant for entrant, context in wanted.items() if context.past]
    ends: Mapping[MarketId, int | None] = {}
    past: Mapping[int, Sequence[PastForecast]] = {}
    if recalling and since is not None:
        ends = record.read(read_new_ends, stored.id, since, snapshot.at)
        past = record.read(read_past_forecasts, stored.id, recalling, {*ids, *ends}, snapshot.at)
    return RoundContext(
        wanted,
        ends,
        record.read(read_price_history, ids, snapshot.at) if any(x.history for x in every) else {},
        record.read(read_siblings, snapshot) if any(x.siblings for x in every) else {},
        past,
    )
