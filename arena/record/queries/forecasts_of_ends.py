"""The heads that cover forecasts of ended markets, and those that cover the resolutions."""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import CohortRow, RoundRow
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import AnySelect, func, select
from arena.record.schema.world import ResolutionRow


@dataclass(frozen=True, slots=True)
class ForecastsOfEnd:
    """The forecasts that a round has of a market that ended since: the head over each, 0 where there is none.

    `known_at` is since when the end could be known. `live` says whether that is a time of this world.
    """

    cohort: int
    round: int
    market: str
    forecasts: int
    live: bool
    decided_head: int
    ended_head: int
    known_at: datetime


def read_forecasts_of_ends(connection: Connection) -> list[ForecastsOfEnd]:
    """Return the forecasts of markets that have ended, by round and market."""
    head_of_round = dict[tuple[int, int], int]()
    head_of_resolution = dict[str, int]()
    heads = select(HeadRow.number, HeadRow.cohort, HeadRow.round, HeadRow.members).order_by(HeadRow.number)
    for number, cohort, round_number, members in connection.execute(heads):
        if cohort is not None and round_number:
            head_of_round.setdefault((cohort, round_number), number)

        listed_facts = json.loads(members)
        # A record from before there was a chain has one head over all that was there.
        for round_fact in listed_facts.get("round", ()):
            head_of_round.setdefault((round_fact[0], round_fact[1]), number)
        for resolution_fact in listed_facts.get("resolution", ()):
            head_of_resolution.setdefault(resolution_fact[0], number)

    first_known = select(ResolutionRow.market_id, func.min(ResolutionRow.known_at)).group_by(
        ResolutionRow.market_id
    )
    first_known_at = dict(connection.execute(first_known).all())
    is_live_cohort = {
        stored.cohort.number: stored.cohort.stamp == "live" for stored in read_cohorts(connection)
    }

    forecast_counts: AnySelect = (
        select(CohortRow.number, RoundRow.number, ForecastRow.market_id, func.count())
        .from_joined(ForecastRow, TurnRow, RoundRow, CohortRow)
        .group_by(CohortRow.number, RoundRow.number, ForecastRow.market_id)
        .order_by(CohortRow.number, RoundRow.number, ForecastRow.market_id)
    )
    forecasts_of_ends = []
    for cohort, round_number, market, forecasts in connection.execute(forecast_counts):
        if market in first_known_at:
            decided_head = head_of_round.get((cohort, round_number), 0)
            ended_head = head_of_resolution.get(market, 0)
            is_live = is_live_cohort.get(cohort, True)
            known_at = first_known_at[market]
            forecasts_of_ends.append(
                ForecastsOfEnd(
                    cohort, round_number, market, forecasts, is_live, decided_head, ended_head, known_at
                )
            )
    return forecasts_of_ends
