"""The leaderboard: a row for each agent over all its cohorts, and one for the market that it has to beat.

Scores come first, then how sure they are: intervals, places, ties, and one sentence that says who leads.
Provisional scores are those to expect if the latest prices are right; nothing is ranked on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from arena.errors import count_text
from arena.record.model.columns import (
    NO_SCORE,
    OPEN,
    UNKNOWN,
    AccountSummary,
    BetColumns,
    Floats,
    ForecastColumns,
    evidence_rows,
    rows_of_agent,
    shown_once,
    take_rows,
)
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_cohorts, read_min_coverage, read_newest_time, select_cohorts
from arena.record.queries.forecasts import (
    read_bet_columns,
    read_forecast_columns,
    read_line_ups,
    read_newest_mids,
)
from arena.record.queries.progress import accounts_basis, is_cohort_over
from arena.record.schema.database import Connection
from arena.record.write.rollups import scores_basis
from arena.scores.cache import CacheKind
from arena.scores.comparisons import COMPARISONS, EARLY_STAMP, MARKET, Comparisons, compare_line_ups
from arena.scores.metaculus_scores import BASELINES, MetaculusScores, metaculus_scores, read_known
from arena.scores.rules import brier, returns, skill, skill_ratio, win_rate
from arena.scores.rules._columns import mean, none_for_nan
from arena.scores.rules.comparisons.lead import MIN_COVERAGE, VerdictName
from arena.scores.rules.comparisons.standings import sureness
from markets.garbage_collection import gc_paused
from markets.millionths import ONE

REPLAY_STAMP = "replay: not evidence of skill"
PROVISIONAL_NOTICE = "provisional: open markets are scored at their latest price, not by an outcome"


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """An agent's scores, and how sure its skill is. None where unknown yet, never 0 in its place.

    `ranked` says whether it answered enough of what it was shown to be ranked, and `why_not` why not: then it
    has no skill. `shown` counts the markets that it was shown, turn by turn, `answered` those on which it
    stated a usable probability, and `resolved` those shown that ended YES or NO, over `events`; `coverage` is
    the share of these that it answered. A market that it left out counts as the price. `unscored` are those
    that ended in a fraction or a refund; `failed` are turns without any answer, `late` those after their
    window, `retried` those that were tried again after they had failed; `early` what was decided before the
    day on which the model was released, and gives no score. `bets` are all that were accepted, `sold` the
    sales among its fills. Money is in dollars, open positions at mid. `cost_usd` is of all calls, failed
    ones, repeats and samples among them; `cost_per_forecast` spreads it over all that the agent answered,
    resolved or not, and `skill_per_dollar` is the skill divided by the cost.

    `implied_band` and `return_band` are the founding text's words for the implied Brier score and the return;
    `implied_skill` and `stated_skill` are Brier skill against a coin's 0.25.

    The interval of the skill holds the true one in 95% of seasons, and `reason` says why there is none;
    `skill_p` is the chance of a skill as far from 0 if there were none, and `skill_low_by_week` the lower end
    where the `weeks` of resolution are held against each other. `evidence` is the capital of a bet on the
    skill, so many times its start, `evidence_reached` when it first reached its bar, `verdict` what follows,
    and `copies` whose forecasts it repeats. `place_best` and `place_worst` are the places that the agent may
    really hold, `ties` the groups of the leaderboard that it is in, from 1 on. `events_effective` counts
    events by what they can tell. `depth` says whether its fills are unlimited, or
    made at a depth that is unknown, `stamps` what the figures are not worth, and `tools` what it could look
    things up with.
    """

    agent: str
    kind: str
    cohorts: int
    turns: int
    malformed: int
    failed: int
    late: int
    retried: int
    bets: int
    sold: int
    shown: int
    answered: int
    resolved: int
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
    implied_band: str | None = None
    implied_skill: float | None = None
    stated_skill: float | None = None
    return_band: str | None = None
    skill_per_dollar: float | None = None
    ranked: bool = True
    why_not: str | None = None
    verdict: VerdictName = "none"
    evidence: float | None = None
    evidence_reached: datetime | None = None
    copies: str | None = None
    events_effective: float | None = None
    weeks: int | None = None
    skill_low_by_week: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    place_best: int | None = None
    place_worst: int | None = None
    ties: tuple[int, ...] = ()
    reason: str | None = None
    depth: str | None = None
    stamps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows, the surest skill first and those that are not ranked last, and what they say together.

    `bar` is the evidence that an agent must have reached to be proven. `metaculus` has Metaculus's scores of
    the same agents, and of the community that they make.
    """

    sentence: str
    leader: str | None
    events_needed: int | None
    bar: float
    noise: float | None
    rows: tuple[LeaderboardRow, ...]
    metaculus: tuple[MetaculusScores, ...] = ()


def score_agents(
    accounts: Sequence[AccountSummary],
    stated: ForecastColumns,
    bets: BetColumns,
    min_coverage: float = MIN_COVERAGE,
) -> list[LeaderboardRow]:
    """The scores of all agents from columns, in order of skill; how sure they are is not known yet."""
    line_up: dict[str, list[AccountSummary]] = {}
    for account in accounts:
        line_up.setdefault(account.agent, []).append(account)
    rows = [
        _agent_scores(mine, rows_of_agent(stated, name), rows_of_agent(bets, name))
        for name, mine in line_up.items()
    ]
    rows = [_in_words(row if row.kind == MARKET else _by_coverage(row, min_coverage)) for row in rows]
    if rows and not any(account.kind == MARKET for account in accounts):
        rows.append(_market_scores(accounts, stated, bets))
    return sorted(rows, key=skill_order)


def read_scores(connection: Connection, cohorts: Sequence[int] | None = None) -> list[LeaderboardRow]:
    """The scores alone, of all cohorts or of some taken together: without what takes long."""
    accounts, stated, bets = (
        read_accounts(connection),
        read_forecast_columns(connection),
        read_bet_columns(connection),
    )
    if cohorts is not None:
        accounts = [account for account in accounts if account.cohort in cohorts]
        stated = take_rows(stated, np.isin(stated.cohort, cohorts))
        bets = take_rows(bets, np.isin(bets.cohort, cohorts))
    newest = None if cohorts is None else max(cohorts, default=None)
    return score_agents(accounts, stated, bets, read_min_coverage(connection, newest))


def skill_order(row: LeaderboardRow) -> tuple[bool, float, str]:
    """A key to sort by: the best skill first and unknown ones last, then by name."""
    return row.skill is None, -(row.skill or 0), row.agent


def _agent_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> LeaderboardRow:
    newest = accounts[-1]
    return LeaderboardRow(
        agent=newest.agent,
        kind=newest.kind,
        cohorts=len(accounts),
        turns=sum(account.turns for account in accounts),
        malformed=sum(account.malformed for account in accounts),
        failed=sum(account.failed for account in accounts),
        late=sum(account.late for account in accounts),
        retried=sum(account.retried for account in accounts),
        sold=sum(account.sold for account in accounts),
        **_forecast_scores(stated),
        bets=bets.outcome.size,
        brier_implied=none_for_nan(brier.score(bets.implied, bets.outcome)),
        brier_anchored=none_for_nan(brier.score(bets.anchored, bets.outcome)),
        win_rate=none_for_nan(win_rate.score(bets.yes, bets.outcome)),
        **_money(accounts, int(np.count_nonzero(stated.stated))),
        tools=tuple(dict.fromkeys(name for account in accounts for name in account.tools)),
    )


def _market_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> LeaderboardRow:
    """The market where nobody plays it: its price on every market shown, each counted once."""
    shown = shown_once(stated)
    timeless = np.full_like(shown.released, UNKNOWN)
    prices = replace(shown, forecast=shown.mid, stated=np.ones_like(shown.stated), released=timeless)
    cohorts = sorted({account.cohort for account in accounts})
    idle = [AccountSummary(MARKET, MARKET, cohort, 0, None, 0, 0, 0, 0, 0) for cohort in cohorts]
    return _agent_scores(idle, prices, take_rows(bets, bets.agent[:0]))


def _forecast_scores(rows: ForecastColumns) -> dict[str, Any]:
    counted = evidence_rows(rows)
    done = take_rows(counted, np.flatnonzero(counted.outcome >= 0))
    stated = probability(done.forecast)
    price = probability(done.mid)
    return {
        "shown": counted.outcome.size,
        "answered": int(np.count_nonzero(counted.stated)),
        "resolved": done.outcome.size,
        "events": np.unique(done.story).size,
        "unscored": int(np.count_nonzero(rows.outcome == NO_SCORE)),
        "early": int(np.count_nonzero((rows.outcome >= 0) & rows.early)),
        "coverage": float(done.stated.mean()) if done.stated.size else None,
        "brier_stated": none_for_nan(brier.score(stated, done.outcome, done.market)),
        "brier_market": none_for_nan(brier.score(price, done.outcome, done.market)),
        "skill": none_for_nan(skill.score(stated, done.outcome, price, done.market)),
        "skill_ratio": none_for_nan(skill_ratio.score(stated, done.outcome, price, done.market)),
    }


def _money(accounts: Sequence[AccountSummary], forecasts: int) -> dict[str, Any]:
    """P/L over the accounts that were ever marked; cost over all, unknown if any of it is."""
    marked = [(a.total - a.bankroll, a.bankroll) for a in accounts if a.total is not None]
    costs = [account.cost for account in accounts]
    percent = returns.score([earned for earned, _ in marked], [given for _, given in marked])
    amounts = [cost for cost in costs if cost is not None]
    spent = sum(amounts) / ONE if len(amounts) == len(costs) else None
    return {
        "pnl": sum(earned for earned, _ in marked) / ONE if marked else None,
        "return_pct": none_for_nan(percent),
        "cost_usd": spent,
        "depth": "; ".join(sorted({account.depth for account in accounts if account.depth}, reverse=True))
        or None,
        "cost_per_forecast": None if spent is None or not forecasts else spent / forecasts,
    }


def rank_agents(
    rows: Sequence[LeaderboardRow], comparisons: Comparisons, stated: ForecastColumns, replay: bool
) -> Leaderboard:
    """The leaderboard: how sure each row is added to it, the surest first, and those not ranked last."""
    early = {stated.agents[place] for place in np.unique(stated.agent[stated.early])}
    always = (REPLAY_STAMP,) if replay else ()
    board = [
        _ranked_row(row, comparisons, (*always, EARLY_STAMP) if row.agent in early else always)
        for row in rows
    ]
    board.sort(
        key=lambda row: (
            not row.ranked and row.kind != MARKET,
            _descending(row.skill_low),
            _descending(row.skill),
            row.agent,
        )
    )
    return Leaderboard(
        comparisons.sentence,
        comparisons.leader,
        comparisons.events_needed,
        comparisons.bar,
        None if comparisons.noise is None else comparisons.noise.typical,
        tuple(board),
    )


def _ranked_row(row: LeaderboardRow, comparisons: Comparisons, stamps: tuple[str, ...]) -> LeaderboardRow:
    if row.kind == MARKET:  # it is what skill is measured from, exactly
        is_judged = row.skill == 0 and any(one.gain.low is not None for one in comparisons.standings)
        sure: dict[str, Any] = {"skill_low": 0.0, "skill_high": 0.0, "skill_p": 1.0} if is_judged else {}
        return replace(row, **sure, ranked=False, why_not="the price itself", stamps=stamps)
    standing = comparisons.of(row.agent)
    if standing is None:
        return replace(row, stamps=stamps)
    reached = standing.verdict.reached
    return replace(
        row,
        **sureness(standing.gain, standing.verdict),
        skill_per_dollar=row.skill / row.cost_usd if row.skill is not None and row.cost_usd else None,
        evidence_reached=None if reached is None else datetime.fromtimestamp(reached, UTC),
        place_best=standing.best,
        place_worst=standing.worst,
        ties=tuple(n for n, group in enumerate(comparisons.ties, start=1) if row.agent in group),
        stamps=stamps,
    )


def _in_words(row: LeaderboardRow) -> LeaderboardRow:
    """The row with what the founding text calls its figures."""
    implied, stated, earned = row.brier_implied, row.brier_stated, row.return_pct
    return replace(
        row,
        implied_band=None if implied is None else brier.band(implied),
        implied_skill=None if implied is None else skill_ratio.ratio(implied),
        stated_skill=None if stated is None or not row.ranked else skill_ratio.ratio(stated),
        return_band=None if earned is None else returns.band(earned),
    )


def _by_coverage(row: LeaderboardRow, min_coverage: float) -> LeaderboardRow:
    """The row of an agent that is not ranked without a skill."""
    if (row.coverage or 0.0) >= min_coverage:
        return row
    return replace(row, skill=None, skill_ratio=None, ranked=False, why_not=_why_not(row))


def _why_not(row: LeaderboardRow) -> str:
    """Why an agent is not ranked."""
    if row.turns and row.failed + row.late == row.turns:
        ways = [words for words, count in (("failed", row.failed), ("were late", row.late)) if count]
        return f"{row.turns:,} of {count_text(row.turns, 'turn')} {' or '.join(ways)}"
    if not row.resolved:
        return "nothing resolved"
    if not row.answered:
        return f"no usable forecast of {count_text(row.shown, 'market')} shown"
    return f"covers {row.coverage or 0:.0%} of what has resolved"


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _board_state(connection: Connection, cohort: int | None) -> str:
    """What has resolved; where accounts still change, also how far they have come."""
    if cohort is not None and is_cohort_over(connection, cohort):
        return scores_basis(connection)
    return f"{scores_basis(connection)}; {accounts_basis(connection)}"


LEADERBOARD = CacheKind("board", "board 8", TypeAdapter(Leaderboard), _board_state)
"""The leaderboard of all cohorts, or of one by its number."""


def read_leaderboard(connection: Connection, cohort: int | None = None) -> Leaderboard:
    """The leaderboard of a record or of one cohort: the cached one while it is current, else as of now."""
    cached = LEADERBOARD.read_current(connection, cohort)
    if cached is not None:
        return cached
    return compute_leaderboard(connection, cohort, COMPARISONS.read_current(connection, cohort))


@gc_paused()
def compute_leaderboard(
    connection: Connection, cohort: int | None = None, comparisons: Comparisons | None = None
) -> Leaderboard:
    """The leaderboard of a record or of one cohort as of now; comparisons are made unless they are given."""
    cohorts = select_cohorts(read_cohorts(connection), cohort)
    stated = read_forecast_columns(connection, cohort)
    accounts, bets = read_accounts(connection, cohort), read_bet_columns(connection, cohort)
    least = read_min_coverage(connection, cohort)
    rows = score_agents(accounts, stated, bets, least)
    if comparisons is None:
        comparisons = compare_line_ups(
            stated, read_line_ups(connection, cohort), read_newest_time(connection), least
        )
    board = rank_agents(
        rows, comparisons, stated, replay=any(stored.cohort.stamp == "replay" for stored in cohorts)
    )
    outside = frozenset(account.agent for account in accounts if account.kind in BASELINES)
    return replace(board, metaculus=metaculus_scores(stated, read_known(connection, stated), outside))


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
    scores = list[ProvisionalScores]()
    for place, name in enumerate(rows.agents):
        own = usable & (rows.agent == place)
        mine, p = take_rows(rows, own), chance[own]
        forecast, mid = (
            none_for_nan(mean(p * (1 - f) ** 2 + (1 - p) * f**2, mine.market))
            for f in (probability(mine.forecast), probability(mine.mid))
        )
        still_open = int(np.count_nonzero(mine.outcome == OPEN))
        scores.append(ProvisionalScores(name, mine.outcome.size, still_open, forecast, mid))
    return scores


@gc_paused()
def compute_provisional(connection: Connection, cohort: int | None = None) -> list[ProvisionalScores]:
    """Every agent's scores if the latest prices were right, best first."""
    select_cohorts(read_cohorts(connection), cohort)
    stated = read_forecast_columns(connection, cohort)
    scores = provisional_scores(stated, read_newest_mids(connection, stated.markets))
    return sorted(scores, key=lambda one: (one.skill is None, -(one.skill or 0), one.agent))
