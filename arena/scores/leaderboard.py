"""Who forecasts well: one row per agent over all its cohorts, and the market as a row to beat.

The leaderboard with what chance can do: intervals, places, ties, and one sentence that says who leads.

A provisional look: what scores to expect if the latest prices are right. Nothing is ranked on it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from arena.record.model.columns import (
    NO_SCORE,
    OPEN,
    UNKNOWN,
    AccountSummary,
    BetColumns,
    Floats,
    ForecastColumns,
    rows_of_agent,
    take_rows,
)
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.accounts import read_accounts
from arena.record.queries.forecasts import Connection, read_bet_columns, read_forecast_columns
from arena.scores.comparisons import EARLY_STAMP, Comparisons, RankedGain
from arena.scores.rules import brier, returns, skill, skill_ratio, win_rate
from arena.scores.rules._columns import mean
from markets.millionths import ONE

MARKET = "market"


@dataclass(frozen=True, slots=True)
class AgentScores:
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


def read_agent_scores(connection: Connection, cohort: int | None = None) -> list[AgentScores]:
    """All agents of the record, or of one cohort, best skill first."""
    accounts = read_accounts(connection, cohort)
    return score_agents(
        accounts, read_forecast_columns(connection, cohort), read_bet_columns(connection, cohort)
    )


def score_agents(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> list[AgentScores]:
    """The rows from columns: by skill, best first and unknown last, then by name."""
    line_up: dict[str, list[AccountSummary]] = {}
    for account in accounts:
        line_up.setdefault(account.agent, []).append(account)
    rows = [
        _agent_scores(mine, rows_of_agent(stated, name), rows_of_agent(bets, name))
        for name, mine in line_up.items()
    ]
    if rows and not any(account.kind == MARKET for account in accounts):
        rows.append(_market_scores(accounts, stated, bets))
    return sorted(rows, key=lambda row: (row.skill is None, -(row.skill or 0), row.agent))


def _agent_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> AgentScores:
    newest = accounts[-1]
    return AgentScores(
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


def _market_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> AgentScores:
    """The market where nobody plays it: its price on every market shown, each counted once."""
    rounds = stated.cohort * (stated.round.max(initial=0) + 1) + stated.round
    _, first = np.unique(rounds * len(stated.markets) + stated.market, return_index=True)
    shown = take_rows(stated, first)
    timeless = np.full_like(shown.released, UNKNOWN)
    said = replace(shown, forecast=shown.mid, stated=np.ones_like(shown.stated), released=timeless)
    cohorts = sorted({account.cohort for account in accounts})
    idle = [AccountSummary(MARKET, MARKET, cohort, 0, None, 0, 0, 0, 0, 0) for cohort in cohorts]
    return _agent_scores(idle, said, take_rows(bets, first[:0]))


def _forecast_scores(rows: ForecastColumns) -> dict[str, Any]:
    done = take_rows(rows, np.flatnonzero((rows.outcome >= 0) & ~rows.early))
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


def _bet_scores(rows: BetColumns) -> dict[str, Any]:
    return {
        "bets": rows.outcome.size,
        "brier_implied": _known(brier.score(rows.implied, rows.outcome)),
        "brier_anchored": _known(brier.score(rows.anchored, rows.outcome)),
        "win_rate": _known(win_rate.score(rows.yes, rows.outcome)),
    }


def _money(accounts: Sequence[AccountSummary], forecasts: int) -> dict[str, Any]:
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


REPLAY_STAMP = "replay: not evidence of skill"


@dataclass(frozen=True, slots=True)
class LeaderboardRow(AgentScores):
    """An agent's scores, and how sure its skill is. None where nothing can be said; `reason` says why.

    The interval of the skill holds the true one in 95% of seasons; `p` is the chance of a skill as far from
    0 if there were none. `place_best` and `place_worst` are the places that the agent may really hold, `ties`
    the groups of the board that it is in, from 1 on. `events_effective` counts events of many markets for
    less. `stamps` say what the figures are not worth.
    """

    events_effective: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    place_best: int | None = None
    place_worst: int | None = None
    ties: tuple[int, ...] = ()
    reason: str | None = None
    stamps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows, the surest skill first, and what they say together."""

    sentence: str
    leader: str | None
    events_needed: int | None
    noise: float | None
    rows: tuple[LeaderboardRow, ...]


def rank_agents(
    rows: Sequence[AgentScores], found: Comparisons, stated: ForecastColumns, replay: bool
) -> Leaderboard:
    """The leaderboard's rows in the order of what is sure of each."""
    lines = [_leaderboard_row(row, found, _stamps(row.agent, stated, replay)) for row in rows]
    lines.sort(key=lambda line: (_descending(line.skill_low), _descending(line.skill), line.agent))
    noise = None if found.noise is None else found.noise.typical
    return Leaderboard(found.sentence, found.leader, found.events_needed, noise, tuple(lines))


def _leaderboard_row(row: AgentScores, found: Comparisons, stamps: tuple[str, ...]) -> LeaderboardRow:
    own: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(AgentScores)}
    standing = found.of(row.agent)
    if standing is None:  # the price that nobody plays: it is what skill is measured from, exactly
        known = row.skill == 0 and any(one.gain.low is not None for one in found.standings)
        sure: dict[str, Any] = {"skill_low": 0.0, "skill_high": 0.0, "skill_p": 1.0} if known else {}
        return LeaderboardRow(**own, **sure, stamps=stamps)
    ties = tuple(number for number, group in enumerate(found.ties, start=1) if row.agent in group)
    return LeaderboardRow(**own, **_certainty(standing), ties=ties, stamps=stamps)


def _certainty(standing: RankedGain) -> dict[str, Any]:
    gain = standing.gain
    return {
        "events_effective": gain.effective,
        "skill_low": gain.low,
        "skill_high": gain.high,
        "skill_p": gain.p,
        "place_best": standing.best,
        "place_worst": standing.worst,
        "reason": gain.reason,
    }


def _stamps(agent: str, stated: ForecastColumns, replay: bool) -> tuple[str, ...]:
    mine = stated.agent == (stated.agents.index(agent) if agent in stated.agents else -1)
    early = bool(np.any(stated.early & mine))
    return (*([REPLAY_STAMP] if replay else []), *([EARLY_STAMP] if early else []))


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


PROVISIONAL_NOTICE = "provisional: open markets count as their latest price says, which is not what happened"


@dataclass(frozen=True, slots=True)
class ProvisionalScores:
    """An agent's expected Brier score, and the market's on the same rows; with how many rows are open."""

    agent: str
    forecasts: int
    open: int
    brier_stated: float | None
    brier_market: float | None

    @property
    def skill(self) -> float | None:
        """How much lower than the market's; None where nothing can be said."""
        if self.brier_stated is None or self.brier_market is None:
            return None
        return self.brier_market - self.brier_stated


def provisional_scores(rows: ForecastColumns, latest: Floats) -> list[ProvisionalScores]:
    """Every agent; `latest` is the newest price of each of the markets, NaN where there is none.

    At a price p the forecast f is expected to score p(1 − f)² + (1 − p)f².
    """
    chance = np.where(rows.outcome == OPEN, latest[rows.market], rows.outcome)
    usable = (rows.outcome >= OPEN) & ~np.isnan(chance) & ~rows.early
    found = list[ProvisionalScores]()
    for place, name in enumerate(rows.agents):
        own = usable & (rows.agent == place)
        found.append(_provisional_line(name, take_rows(rows, own), chance[own]))
    return found


def _provisional_line(name: str, kept: ForecastColumns, p: Floats) -> ProvisionalScores:
    scores = [_none_for_nan(_expected_brier(probability(f), p, kept)) for f in (kept.forecast, kept.mid)]
    still = int(np.count_nonzero(kept.outcome == OPEN))
    return ProvisionalScores(name, kept.outcome.size, still, *scores)


def _expected_brier(forecast: Floats, p: Floats, rows: ForecastColumns) -> float:
    return mean(p * (1 - forecast) ** 2 + (1 - p) * forecast**2, rows.market)


def _none_for_nan(score: float) -> float | None:
    return None if math.isnan(score) else score
