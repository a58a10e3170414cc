"""All that is worked out from, read once for all agents."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.compared import families_of
from arena.frame import Account, Bets, Stated
from arena.store.accounts import read_accounts
from arena.store.bets import read_bets
from arena.store.ended import read_learnt
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts
from arena.store.stated import read_line_ups, read_stated
from arena.store.trades import read_pages
from arena.traded import Traded, read_traded
from markets.model import Market
from markets.shapes import Family, families


@dataclass(frozen=True, slots=True)
class Material:
    """A record as scores are worked out from it.

    `pages` are the newest of every market that was on offer, `traded` every agent's accounts, the oldest
    cohort first, `twins` the agents with the same settings, and `learnt` when each end became known.
    """

    cohorts: tuple[StoredCohort, ...]
    stated: Stated
    bets: Bets
    accounts: tuple[Account, ...]
    twins: tuple[tuple[str, ...], ...]
    pages: Mapping[str, Market]
    families: tuple[Family, ...]
    traded: Mapping[str, tuple[Traded, ...]]
    learnt: Mapping[str, datetime]

    @property
    def agents(self) -> tuple[str, ...]:
        """Everyone who has ever played, in line-up order, the oldest cohort first."""
        return tuple(dict.fromkeys(account.agent for account in self.accounts))


def gathered(connection: Connection) -> Material:
    """All of it."""
    stored = tuple(cohorts(connection))
    pages = read_pages(connection)
    return Material(
        cohorts=stored,
        stated=read_stated(connection),
        bets=read_bets(connection),
        accounts=tuple(read_accounts(connection)),
        twins=tuple(families_of(read_line_ups(connection))),
        pages={page.id: page for page in pages},
        families=tuple(families(pages)),
        traded=_traded(connection, stored),
        learnt=read_learnt(connection),
    )


def _traded(connection: Connection, stored: tuple[StoredCohort, ...]) -> dict[str, tuple[Traded, ...]]:
    found: dict[str, list[Traded]] = defaultdict(list)
    for one in stored:
        for account in read_traded(connection, one):
            found[account.agent].append(account)
    return {agent: tuple(accounts) for agent, accounts in found.items()}
