"""Who forecasts well: one row per agent over all its cohorts, and the market as a row to beat."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arena.belief import stated as probability
from arena.frame import NO_SCORE, UNKNOWN, Account, Bets, Stated, of_agent, take
from arena.scoring import brier, returns, skill, skill_ratio, win_rate
from arena.store.accounts import read_accounts
from arena.store.bets import read_bets
from arena.store.frame import Connection
from arena.store.stated import read_stated
from markets.millionths import ONE

MARKET = "market"


@dataclass(frozen=True, slots=True)
class Row:
    """An agent's scores. None where nothing can be said yet, never 0 in its place.

    `bets` are all that were accepted, `sold` the sales among its fills. `forecasts` and `events` count
    what is resolved and scored, skips included; `unscored` what ended in a fraction or a refund; `early` what
    was decided before the day on which the model was released, and gives no score;
    `coverage` is the share of all that was shown on which the agent stated a probability. Money is in
    dollars, open positions at mid. `cost_usd` is of all calls, failed ones, repeats and samples among
    them; `cost_per_forecast` spreads it over all probabilities that the agent stated, resolved or not.
    """

    agent: str
    kind: str
    cohorts: int
    turns: int
    malformed: int
    failed: int
    bets: int
    sold: int
    forecasts: int
    events: int
    unscored: int
    early: int
    coverage: float | None
    brier_implied: float | None
    brier_anchored: float | None
    brier_stated: float | None
    brier_market: float | None
    skill: float | None
    skill_ratio: float | None
    pnl: float | None
    return_pct: float | None
    win_rate: float | None
    cost_usd: float | None
    cost_per_forecast: float | None


def leaderboard(connection: Connection, cohort: int | None = None) -> list[Row]:
    """All agents of the record, or of one cohort, best skill first."""
    accounts = read_accounts(connection, cohort)
    return board(accounts, read_stated(connection, cohort), read_bets(connection, cohort))


def board(accounts: Sequence[Account], stated: Stated, bets: Bets) -> list[Row]:
    """The rows from columns: by skill, best first and unknown last, then by name."""
    line_up: dict[str, list[Account]] = {}
    for account in accounts:
        line_up.setdefault(account.agent, []).append(account)
    rows = [_row(mine, of_agent(stated, name), of_agent(bets, name)) for name, mine in line_up.items()]
    if rows and not any(account.kind == MARKET for account in accounts):
        rows.append(_benchmark(accounts, stated, bets))
    return sorted(rows, key=lambda row: (row.skill is None, -(row.skill or 0), row.agent))


def _row(accounts: Sequence[Account], stated: Stated, bets: Bets) -> Row:
    newest = accounts[-1]
    return Row(
        agent=newest.agent,
        kind=newest.kind,
        cohorts=len(accounts),
        turns=sum(account.turns for account in accounts),
        malformed=sum(account.malformed for account in accounts),
        failed=sum(account.failed for account in accounts),
        sold=sum(account.sold for account in accounts),
        **_forecast_scores(stated),
        **_bet_scores(bets),
        **_money(accounts, int(np.count_nonzero(stated.stated))),
    )


def _benchmark(accounts: Sequence[Account], stated: Stated, bets: Bets) -> Row:
    """The market where nobody plays it: its price on every market shown, each counted once."""
    rounds = stated.cohort * (stated.round.max(initial=0) + 1) + stated.round
    _, first = np.unique(rounds * len(stated.markets) + stated.market, return_index=True)
    shown = take(stated, first)
    timeless = np.full_like(shown.released, UNKNOWN)
    said = replace(shown, forecast=shown.mid, stated=np.ones_like(shown.stated), released=timeless)
    cohorts = sorted({account.cohort for account in accounts})
    idle = [Account(MARKET, MARKET, cohort, 0, None, 0, 0, 0, 0, 0) for cohort in cohorts]
    return _row(idle, said, take(bets, first[:0]))


def _forecast_scores(rows: Stated) -> dict[str, Any]:
    done = take(rows, np.flatnonzero((rows.outcome >= 0) & ~rows.early))
    own = brier.score(probability(done.forecast), done.outcome, done.market)
    market = brier.score(probability(done.mid), done.outcome, done.market)
    return {
        "forecasts": done.outcome.size,
        "events": np.unique(done.event).size,
        "unscored": int(np.count_nonzero(rows.outcome == NO_SCORE)),
        "early": int(np.count_nonzero((rows.outcome >= 0) & rows.early)),
        "coverage": float(rows.stated.mean()) if rows.stated.size else None,
        "brier_stated": _known(own),
        "brier_market": _known(market),
        "skill": _known(skill.difference(own, market)),
        "skill_ratio": _known(skill_ratio.ratio(own, market)),
    }


def _bet_scores(rows: Bets) -> dict[str, Any]:
    return {
        "bets": rows.outcome.size,
        "brier_implied": _known(brier.score(rows.implied, rows.outcome)),
        "brier_anchored": _known(brier.score(rows.anchored, rows.outcome)),
        "win_rate": _known(win_rate.score(rows.yes, rows.outcome)),
    }


def _money(accounts: Sequence[Account], forecasts: int) -> dict[str, Any]:
    """P/L over the accounts that were ever marked; cost over all, unknown if any of it is."""
    marked = [(a.total - a.bankroll, a.bankroll) for a in accounts if a.total is not None]
    costs = [account.cost for account in accounts]
    percent = returns.score([earned for earned, _ in marked], [given for _, given in marked])
    known = [cost for cost in costs if cost is not None]
    spent = sum(known) / ONE if len(known) == len(costs) else None
    return {
        "pnl": sum(earned for earned, _ in marked) / ONE if marked else None,
        "return_pct": _known(percent),
        "cost_usd": spent,
        "cost_per_forecast": None if spent is None or not forecasts else spent / forecasts,
    }


def _known(score: float) -> float | None:
    """A score as the record of it can be written: NaN is not a number that JSON has."""
    return None if math.isnan(score) else score
