"""What cached values are computed from, read from the record once for all agents."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from arena.record.model.cohort import MIN_COVERAGE
from arena.record.model.columns import AccountSummary, BetColumns, ForecastColumns
from arena.record.queries.accounts import read_accounts, read_newest_pages
from arena.record.queries.cohorts import StoredCohort, cohorts_of_agent, read_cohorts
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns, read_line_ups
from arena.record.schema.database import Connection
from arena.scores.comparisons import twin_families
from arena.scores.positions import AccountTrades, read_account_trades
from markets.ladders import MarketFamily, families
from markets.millionths import ONE
from markets.model import Market


@dataclass(frozen=True, slots=True)
class CacheInputs:
    """A record as scores are computed from it.

    `pages` are the newest of every market that was on offer, `traded` every agent's accounts, the oldest
    cohort first, and `twins` the agents with the same settings.
    """

    cohorts: tuple[StoredCohort, ...]
    stated: ForecastColumns
    bets: BetColumns
    accounts: tuple[AccountSummary, ...]
    twins: tuple[tuple[str, ...], ...]
    pages: Mapping[str, Market]
    families: tuple[MarketFamily, ...]
    traded: Mapping[str, tuple[AccountTrades, ...]]

    @property
    def agents(self) -> tuple[str, ...]:
        """Everyone who has ever played, in line-up order, the oldest cohort first."""
        return tuple(dict.fromkeys(account.agent for account in self.accounts))

    @property
    def min_coverage(self) -> float:
        """How much agents must have forecast to be ranked, from 0 to 1, by the newest cohort."""
        return self.cohorts[-1].cohort.min_coverage / ONE if self.cohorts else MIN_COVERAGE / ONE


def read_inputs(connection: Connection, agent: str | None = None) -> CacheInputs:
    """All of it; with an agent only its own trades."""
    cohorts = tuple(read_cohorts(connection))
    pages = read_newest_pages(connection)
    traded: dict[str, list[AccountTrades]] = defaultdict(list)
    for cohort in cohorts_of_agent(cohorts, agent):
        for account in read_account_trades(connection, cohort, agent):
            traded[account.agent].append(account)
    return CacheInputs(
        cohorts=cohorts,
        stated=read_forecast_columns(connection),
        bets=read_bet_columns(connection),
        accounts=tuple(read_accounts(connection)),
        twins=tuple(twin_families(read_line_ups(connection))),
        pages={page.id: page for page in pages},
        families=tuple(families(pages)),
        traded={name: tuple(accounts) for name, accounts in traded.items()},
    )
