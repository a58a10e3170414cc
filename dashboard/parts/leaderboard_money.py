"""What accounts are worth, where nothing else is known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.record.queries.accounts import AccountEquity
from dashboard.columns import columns_of
from dashboard.listing import listing
from dashboard.palette import AgentLook
from dashboard.table import agent_ways, config, who
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class Earned:
    """An agent's money over its accounts: how many, and what those that were ever valued have gained."""

    agent: str
    kind: str
    cohorts: int
    gain: int | None
    given: int

    @property
    def share(self) -> float | None:
        """The gain in percent of what was given."""
        return None if self.gain is None or not self.given else 100 * self.gain / self.given


def earned(accounts: Sequence[AccountEquity]) -> list[Earned]:
    """Every agent's money, the largest gain first."""
    mine: dict[str, list[AccountEquity]] = {}
    for account in accounts:
        mine.setdefault(account.agent, []).append(account)
    found = [_earned(name, own) for name, own in mine.items()]
    return sorted(found, key=lambda one: (one.gain is None, -(one.gain or 0), one.agent))


def _earned(agent: str, own: Sequence[AccountEquity]) -> Earned:
    valued = [(one.total - one.given, one.given) for one in own if one.total is not None]
    gain = sum(gain for gain, _ in valued) if valued else None
    return Earned(agent, own[-1].kind, len(own), gain, sum(given for _, given in valued))


def show_money(accounts: Sequence[AccountEquity], looks: Mapping[str, AgentLook]) -> None:
    """One row an agent, with its money alone."""
    rows = earned(accounts)
    data = who([row.agent for row in rows], looks) | {
        "pnl": [None if row.gain is None else row.gain / ONE for row in rows],
        "return_pct": [row.share for row in rows],
        "cohorts": [row.cohorts for row in rows],
        "kind": [row.kind for row in rows],
    }
    listing(
        data,
        "What each agent has gained",
        config(columns_of("pnl", "return_pct", "cohorts", "kind")),
        agent_ways([row.agent for row in rows], looks),
    )
