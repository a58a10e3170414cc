"""The inputs of cached values, read from the record once for all agents."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from arena.record.model.columns import BetColumns, ForecastColumns
from arena.record.queries.accounts import read_accounts, read_newest_pages
from arena.record.queries.cohorts import cohorts_of_agent, read_cohorts, read_min_coverage
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.positions import AccountTrades, read_account_trades
from markets.ladders import MarketFamily, families
from markets.model import Market


@dataclass(frozen=True, slots=True)
class CacheInputs:
    """A record as the input of scores.

    `agents` are all who have ever played, in line-up order, the oldest cohort first; `pages` are the newest
    of every market on offer, and `traded` every agent's accounts, the oldest cohort first. To be ranked,
    agents must have forecast the share `min_coverage` of what has resolved, which the newest cohort sets.
    """

    min_coverage: float
    stated: ForecastColumns
    bets: BetColumns
    agents: tuple[str, ...]
    pages: Mapping[str, Market]
    families: tuple[MarketFamily, ...]
    traded: Mapping[str, tuple[AccountTrades, ...]]


def read_inputs(connection: Connection, agent: str | None = None) -> CacheInputs:
    """Return everything that scores are computed from; with an agent, only its own trades."""
    pages = read_newest_pages(connection)

    traded = defaultdict(list)
    for cohort in cohorts_of_agent(read_cohorts(connection), agent):
        for account in read_account_trades(connection, cohort, agent):
            traded[account.agent].append(account)

    accounts = read_accounts(connection)
    agents = dict.fromkeys(account.agent for account in accounts)
    return CacheInputs(
        min_coverage=read_min_coverage(connection),
        stated=read_forecast_columns(connection),
        bets=read_bet_columns(connection),
        agents=tuple(agents),
        pages={page.id: page for page in pages},
        families=tuple(families(pages)),
        traded={name: tuple(own) for name, own in traded.items()},
    )
