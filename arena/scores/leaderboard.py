"""The leaderboard: a row for each agent over all its cohorts, and one for the market that it has to beat.

`score_agents` computes the scores, and `rank_agents` adds how certain they are: intervals, and the verdict on
who is better than whom. Provisional scores are those to expect if the latest prices are right; nothing
is ranked by them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from arena.errors import NaturalKey, count_text, natural_key
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
from arena.record.queries.cohorts import (
    IS_ASKED_FOR,
    read_cohorts,
    read_min_coverage,
    read_newest_time,
    select_cohorts,
)
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns, read_line_ups
from arena.record.schema.cohort import CohortRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import AttemptRow, CallRow, TurnRow
from arena.record.schema.typed import col, func, select
from arena.record.schema.world import MarketRow, QuoteRow
from arena.record.write.rollups import scores_basis
from arena.scores.cache import CacheKind
from arena.scores.comparisons import (
    COMPARISONS,
    EARLY_STAMP,
    MARKET,
    REFERENCES,
    Comparisons,
    compare_line_ups,
    expected_verdict,
)
from arena.scores.metaculus_scores import BASELINES, MetaculusScores, metaculus_scores, read_known
from arena.scores.notebook import Cells, brief, figure, notebook_html, span
from arena.scores.rules import brier, returns, skill, skill_ratio, win_rate
from arena.scores.rules._columns import highest_first, mean, none_for_nan
from arena.scores.rules.comparisons.gain import NOTHING
from arena.scores.verdict import (
    MIN_COVERAGE,
    Candidate,
    SeasonState,
    Standing,
    Verdict,
    make_verdict,
    rank_text,
    verdict_data,
)
from markets.millionths import ONE

REPLAY_STAMP = "replay: not evidence of skill"
PROVISIONAL_NOTICE = "provisional: open markets are scored at their latest price, not by an outcome"


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """An agent's scores, with the uncertainty of its skill. An unknown figure is None, never 0.

    Only an agent that answered enough of what it was shown is `ranked`; `why_not` is the reason why another
    is not, and that one has no skill. `shown` counts the markets shown in all of its turns, `answered` those
    for which it stated a usable probability, and `resolved` those shown that ended YES or NO, over `events`;
    `coverage` is the share of these that it answered. A market without an answer is scored at the price.
    `unscored` are markets that ended in a fraction or a refund. `failed` are turns without an answer, `late`
    those after their window, and `retried` those tried again after a failure. `early` are forecasts made
    before the day of the model's release, which are not scored. `bets` counts the accepted bets, `sold` the
    sales among its fills. Money is in dollars, with open positions at mid. `cost_usd` includes failed calls,
    repeats and samples; `cost_per_forecast` divides it by all answers, resolved or not, and
    `skill_per_dollar` divides the skill by it.

    `implied_band` and `return_band` are the founding text's words for the implied Brier score and the return;
    `implied_skill` and `stated_skill` are Brier skill against a coin's 0.25.

    The interval from `skill_low` to `skill_high` holds the true skill in 95% of seasons; `reason` says why
    there is none. `skill_p` is the chance of a skill as far from 0 if there were none. `evidence` is the
    capital of a bet on the skill, as a multiple of its start, and `copies` the agent whose forecasts it
    repeats. `events_effective` counts events by their information. `depth` says whether its fills are
    unlimited, or made at an unknown depth, `stamps` what its figures are no evidence of, and `tools` which
    tools it had. `invested` is the value of its open positions, and `distance` the mean distance of its
    forecasts from the prices.

    `is_reference` marks reference agents, which the others are measured by. The rest is the verdict on the
    whole record, as in `AgentVerdict`: the possible ranks, the entries that it is `better_than` and
    `worse_than`, its standing against the market price, and the sentences on both.
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
    invested: float | None = None
    distance: float | None = None
    is_reference: bool = False
    ranked: bool = True
    why_not: str | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    better_than: tuple[str, ...] = ()
    worse_than: tuple[str, ...] = ()
    price: Standing = "none"
    verdict: str = ""
    price_verdict: str = ""
    evidence: float | None = None
    copies: str | None = None
    events_effective: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    skill_p: float | None = None
    reason: str | None = None
    depth: str | None = None
    stamps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


SHOWN: Cells = {
    "ranks": lambda row: rank_text(row.rank_low, row.rank_high),
    "agent": lambda row: row.agent,
    "skill": lambda row: figure(row.skill, "+.4f"),
    "95% interval": lambda row: span(row.skill_low, row.skill_high, "+.4f"),
    "Brier": lambda row: figure(row.brier_stated, ".4f"),
    "P/L": lambda row: figure(row.pnl, "+,.2f"),
}
"""The columns that a notebook shows."""


@dataclass(frozen=True, slots=True, repr=False)
class Leaderboard:
    """The rows in the order of the verdict, with references and unranked agents last.

    `verdict` is on the whole record; the board of a single cohort has none. `noise` is how far agents with
    the same settings lie apart. `metaculus` has the Metaculus scores of the same agents, and of the community
    that they form.
    """

    verdict: Verdict | None
    noise: float | None
    rows: tuple[LeaderboardRow, ...]
    metaculus: tuple[MetaculusScores, ...] = ()

    def __repr__(self) -> str:
        """Return the number of agents, and the verdict's sentence."""
        return brief(f"Leaderboard of {count_text(len(self.rows), 'agent')}", self.verdict)

    def _repr_html_(self) -> str:
        """Return the verdict's sentence and the board for a notebook."""
        return notebook_html(self.verdict, SHOWN, self.rows)


def percent_of_price(points: float | None, brier_market: float | None) -> float | None:
    """Return Brier points as a percentage of the price's Brier score; None if that is unknown or 0.

    >>> percent_of_price(0.02, 0.16), percent_of_price(None, 0.16), percent_of_price(0.0, 0.0)
    (12.5, None, None)
    """
    if points is None or not brier_market:
        return None
    return 100 * points / brier_market


def leaderboard_data(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as JSON: the verdict, then a row for each agent."""
    data = asdict(board)
    rows = data.pop("rows")
    # `verdict_data` has the parts of the verdict that JSON shows.
    del data["verdict"]
    return verdict_data(board.verdict) | data | {"leaderboard": rows}


def score_agents(
    accounts: Sequence[AccountSummary],
    stated: ForecastColumns,
    bets: BetColumns,
    min_coverage: float = MIN_COVERAGE,
) -> list[LeaderboardRow]:
    """Return the scores of all agents, the best skill first, without their uncertainty.

    Agents that covered less than `min_coverage` are not ranked. The market has a row even if no agent plays
    it.
    """
    accounts_of: dict[str, list[AccountSummary]] = {}
    for account in accounts:
        accounts_of.setdefault(account.agent, []).append(account)

    rows = []
    for name, own_accounts in accounts_of.items():
        row = _agent_scores(own_accounts, rows_of_agent(stated, name), rows_of_agent(bets, name))
        if row.kind != MARKET:
            row = _unranked_if_too_little(row, min_coverage)
        rows.append(_with_bands(row))

    if rows and not any(account.kind == MARKET for account in accounts):
        rows.append(_market_scores(accounts, stated, bets))
    return sorted(rows, key=skill_order)


def read_scores(connection: Connection, cohorts: Sequence[int] | None = None) -> list[LeaderboardRow]:
    """Return the scores over all or some cohorts, without the comparisons, which take long."""
    accounts = read_accounts(connection)
    stated = read_forecast_columns(connection)
    bets = read_bet_columns(connection)
    newest_cohort = None

    if cohorts is not None:
        accounts = [account for account in accounts if account.cohort in cohorts]
        stated = take_rows(stated, np.isin(stated.cohort, cohorts))
        bets = take_rows(bets, np.isin(bets.cohort, cohorts))
        # The newest cohort says how much an agent must have answered to be ranked.
        newest_cohort = max(cohorts, default=None)

    return score_agents(accounts, stated, bets, read_min_coverage(connection, newest_cohort))


def skill_order(row: "LeaderboardRow | ProvisionalScores") -> tuple[float, NaturalKey]:
    """Return a sort key: the best skill first, unknown ones last, then by name."""
    return highest_first(row.skill), natural_key(row.agent)


def _agent_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> LeaderboardRow:
    """Return the scores of one agent from its accounts, forecasts and bets."""
    turns = 0
    malformed = 0
    failed = 0
    late = 0
    retried = 0
    sold = 0
    for account in accounts:
        turns += account.turns
        malformed += account.malformed
        failed += account.failed
        late += account.late
        retried += account.retried
        sold += account.sold

    newest_account = accounts[-1]
    outcome = bets.outcome
    implied_brier = brier.score(bets.implied, outcome)
    anchored_brier = brier.score(bets.anchored, outcome)
    share_won = win_rate.score(bets.yes, outcome)
    answer_count = int(np.count_nonzero(stated.stated))
    tools = dict.fromkeys(name for account in accounts for name in account.tools)

    return LeaderboardRow(
        agent=newest_account.agent,
        kind=newest_account.kind,
        is_reference=newest_account.kind in REFERENCES,
        cohorts=len(accounts),
        turns=turns,
        malformed=malformed,
        failed=failed,
        late=late,
        retried=retried,
        sold=sold,
        **_forecast_fields(stated),
        bets=outcome.size,
        brier_implied=none_for_nan(implied_brier),
        brier_anchored=none_for_nan(anchored_brier),
        win_rate=none_for_nan(share_won),
        **_money_fields(accounts, answer_count),
        tools=tuple(tools),
    )


def _market_scores(
    accounts: Sequence[AccountSummary], stated: ForecastColumns, bets: BetColumns
) -> LeaderboardRow:
    """Return the scores of the market if no agent plays it: its price, once on every market shown."""
    shown_rows = shown_once(stated)
    # The price stands for an agent that always states it, with no model whose release could be late.
    unknown_release = np.full_like(shown_rows.released, UNKNOWN)
    price_rows = replace(
        shown_rows, forecast=shown_rows.mid, stated=np.ones_like(shown_rows.stated), released=unknown_release
    )

    cohorts = sorted({account.cohort for account in accounts})
    idle_accounts = [AccountSummary(MARKET, MARKET, cohort, 0, None, 0, 0, 0, 0, 0) for cohort in cohorts]
    no_bets = take_rows(bets, bets.agent[:0])
    return _agent_scores(idle_accounts, price_rows, no_bets)


def _forecast_fields(rows: ForecastColumns) -> dict[str, Any]:
    """Return the fields of a row that derive from forecasts."""
    counted = evidence_rows(rows)
    answered = np.count_nonzero(counted.stated)
    unscored = np.count_nonzero(rows.outcome == NO_SCORE)
    early = np.count_nonzero((rows.outcome >= 0) & rows.early)

    resolved = take_rows(counted, np.flatnonzero(counted.outcome >= 0))
    outcome = resolved.outcome
    market = resolved.market
    stated = probability(resolved.forecast)
    price = probability(resolved.mid)
    coverage = None
    if outcome.size:
        coverage = float(resolved.stated.mean())

    stated_brier = brier.score(stated, outcome, market)
    price_brier = brier.score(price, outcome, market)
    gain = skill.score(stated, outcome, price, market)
    gain_ratio = skill_ratio.score(stated, outcome, price, market)
    return {
        "shown": counted.outcome.size,
        "answered": int(answered),
        "resolved": outcome.size,
        "events": np.unique(resolved.story).size,
        "distance": _mean_distance_from_price(counted),
        "unscored": int(unscored),
        "early": int(early),
        "coverage": coverage,
        "brier_stated": none_for_nan(stated_brier),
        "brier_market": none_for_nan(price_brier),
        "skill": none_for_nan(gain),
        "skill_ratio": none_for_nan(gain_ratio),
    }


def _mean_distance_from_price(counted: ForecastColumns) -> float | None:
    """Return the mean distance of an agent's stated forecasts from the prices."""
    distances = np.abs(counted.forecast - counted.mid)[counted.stated]
    if not distances.size:
        return None
    return float(distances.mean()) / ONE


def _money_fields(accounts: Sequence[AccountSummary], answer_count: int) -> dict[str, Any]:
    """Return the fields of a row that are about money.

    The profit covers accounts that were ever valued. The cost covers all, and is unknown if that of one is.
    """
    profits = []
    bankrolls = []
    invested = []
    costs = []
    for account in accounts:
        if account.total is not None:
            profits.append(account.total - account.bankroll)
            bankrolls.append(account.bankroll)
        if account.invested is not None:
            invested.append(account.invested)
        if account.cost is not None:
            costs.append(account.cost)

    # One unknown cost makes the total unknown.
    cost = sum(costs) / ONE if len(costs) == len(accounts) else None
    depths = sorted({account.depth for account in accounts if account.depth}, reverse=True)
    return {
        "pnl": sum(profits) / ONE if profits else None,
        "invested": sum(invested) / ONE if invested else None,
        "return_pct": none_for_nan(returns.score(profits, bankrolls)),
        "cost_usd": cost,
        "depth": "; ".join(depths) or None,
        "cost_per_forecast": None if cost is None or not answer_count else cost / answer_count,
    }


def rank_agents(
    rows: Sequence[LeaderboardRow],
    comparisons: Comparisons,
    stated: ForecastColumns,
    *,
    is_replay: bool,
    is_whole: bool = True,
) -> Leaderboard:
    """Return the leaderboard: the rows with their uncertainty, in the order of the verdict.

    Only a whole record has a verdict; the rows of one cohort are sorted by the lower end of their skill.
    """
    agents_with_early = {stated.agents[index] for index in np.unique(stated.agent[stated.early])}

    board = []
    for row in rows:
        stamps = [REPLAY_STAMP] if is_replay else []
        if row.agent in agents_with_early:
            stamps.append(EARLY_STAMP)
        board.append(_with_comparison(row, comparisons, tuple(stamps)))
    board.sort(key=_certainty_order)

    verdict = None
    if is_whole:
        verdict = _verdict(board, comparisons, stated)
        row_of = {row.agent: row for row in board}
        board = [replace(row_of[agent.agent], **agent.row_fields) for agent in verdict.agents]

    noise = None if comparisons.noise is None else comparisons.noise.typical
    return Leaderboard(verdict, noise, tuple(board))


def _verdict(board: Sequence[LeaderboardRow], comparisons: Comparisons, stated: ForecastColumns) -> Verdict:
    """Return the verdict on the agents of a board."""
    candidates = []
    turns = 0
    unanswered_turns = 0
    for row in board:
        why_not = None if row.ranked else row.why_not
        candidate = Candidate(
            agent=row.agent,
            is_reference=row.is_reference,
            why_not=why_not,
            is_waiting=why_not == NOTHING,
            copies=comparisons.copies.get(row.agent),
            skill=row.skill,
            skill_low=row.skill_low,
        )
        candidates.append(candidate)
        if not row.is_reference:
            turns += row.turns
            unanswered_turns += row.failed + row.late + row.malformed

    state = SeasonState(
        turns=turns,
        unanswered_turns=unanswered_turns,
        resolved_events=max((row.events for row in board), default=0),
        expected=expected_verdict(stated),
    )
    return make_verdict(candidates, comparisons.pairs, comparisons.against_price, state)


def _certainty_order(row: LeaderboardRow) -> tuple[bool, bool, float, float, str]:
    """Return a sort key: the highest lower end of the skill first, then references, then the unranked."""
    is_left_out = not row.ranked and not row.is_reference
    return is_left_out, row.is_reference, highest_first(row.skill_low), highest_first(row.skill), row.agent


def _with_comparison(
    row: LeaderboardRow, comparisons: Comparisons, stamps: tuple[str, ...]
) -> LeaderboardRow:
    """Return a row with the interval of its skill."""
    row = replace(row, stamps=stamps)

    if row.kind == MARKET:
        # The market's skill is exactly 0, because every other skill is measured from it.
        if row.skill == 0 and any(gain.low is not None for gain in comparisons.gains):
            row = replace(row, skill_low=0.0, skill_high=0.0, skill_p=1.0)
        return replace(row, ranked=False, why_not="the price itself")

    gain = comparisons.of(row.agent)
    if gain is None:
        return row

    if row.skill is not None and row.cost_usd:
        row = replace(row, skill_per_dollar=row.skill / row.cost_usd)
    curve = comparisons.evidence.get(row.agent, ())
    return replace(
        row,
        skill_low=gain.low,
        skill_high=gain.high,
        skill_p=gain.p,
        evidence=curve[-1][1] if curve else 1.0,
        copies=comparisons.copies.get(row.agent),
        events_effective=gain.effective,
        reason=gain.reason,
    )


def _with_bands(row: LeaderboardRow) -> LeaderboardRow:
    """Return a row with the founding text's words for its figures, and its skill against a coin."""
    if row.brier_implied is not None:
        row = replace(
            row,
            implied_band=brier.band(row.brier_implied),
            implied_skill=skill_ratio.ratio(row.brier_implied),
        )
    if row.brier_stated is not None and row.ranked:
        row = replace(row, stated_skill=skill_ratio.ratio(row.brier_stated))
    if row.return_pct is not None:
        row = replace(row, return_band=returns.band(row.return_pct))
    return row


def _unranked_if_too_little(row: LeaderboardRow, min_coverage: float) -> LeaderboardRow:
    """Return a row, without skill and rank if it covers too little of what has resolved."""
    if (row.coverage or 0.0) >= min_coverage:
        return row
    return replace(row, skill=None, skill_ratio=None, ranked=False, why_not=_why_not(row))


def _why_not(row: LeaderboardRow) -> str:
    """Return why an agent is not ranked."""
    if row.turns and row.failed + row.late == row.turns:
        reasons = []
        if row.failed:
            reasons.append("failed")
        if row.late:
            reasons.append("were late")
        return f"{row.turns:,} of {count_text(row.turns, 'turn')} {' or '.join(reasons)}"

    if not row.shown:
        return "has not played"
    if not row.resolved:
        return NOTHING
    if not row.answered:
        return f"no usable forecast of {count_text(row.shown, 'market')} shown"
    return f"covers {row.coverage or 0:.0%} of what has resolved"


ENDED_AT = select(CohortRow.ended_at).where(IS_ASKED_FOR)


def _is_over(connection: Connection, cohort: int) -> bool:
    """Tell whether a cohort has ended, so that its accounts don't change any more."""
    return connection.scalar(ENDED_AT, {"cohort": cohort}) is not None


NEWEST_MARK = select(func.max(MarkRow.at)).scalar_subquery()
ACCOUNTS_BASIS = select(
    select(func.count()).select_from(CohortRow).scalar_subquery(),
    select(func.max(TurnRow.id)).scalar_subquery(),
    select(func.count()).where(TurnRow.status == "failed").scalar_subquery(),
    select(func.max(AttemptRow.id)).scalar_subquery(),
    select(func.max(CallRow.id)).scalar_subquery(),
    select(func.count()).where(MarkRow.at == NEWEST_MARK).scalar_subquery(),
    NEWEST_MARK,
)


def _accounts_basis(connection: Connection) -> str:
    """Return a text that changes whenever turns, calls or marks change what accounts hold or cost."""
    cohorts, last_turn, failed, last_attempt, last_call, marks, newest_mark = connection.execute(
        ACCOUNTS_BASIS
    ).one()
    attempts = f", attempt {last_attempt}" if last_attempt else ""
    played = f"{cohorts} cohorts, turn {last_turn}, {failed} failed{attempts}, call {last_call}"
    return f"{played}, {marks} marked {newest_mark}"


def _board_state(connection: Connection, cohort: int | None) -> str:
    """Return what the leaderboard depends on: resolutions and, until the end, the state of accounts."""
    if cohort is not None and _is_over(connection, cohort):
        return scores_basis(connection)
    return f"{scores_basis(connection)}; {_accounts_basis(connection)}"


LEADERBOARD = CacheKind("board", "board 13", TypeAdapter(Leaderboard), _board_state)
"""The leaderboard of all cohorts, or of one by its number."""


def read_leaderboard(connection: Connection, cohort: int | None = None) -> Leaderboard:
    """Return the leaderboard of a record or of one cohort, from the cache if it is current."""
    cached = LEADERBOARD.read_current(connection, cohort)
    if cached is not None:
        return cached
    return compute_leaderboard(connection, cohort, COMPARISONS.read_current(connection, cohort))


def compute_leaderboard(
    connection: Connection, cohort: int | None = None, comparisons: Comparisons | None = None
) -> Leaderboard:
    """Return the leaderboard of a record or cohort as of now, with given or new comparisons."""
    cohorts = select_cohorts(read_cohorts(connection), cohort)
    accounts = read_accounts(connection, cohort)
    stated = read_forecast_columns(connection, cohort)
    bets = read_bet_columns(connection, cohort)
    min_coverage = read_min_coverage(connection, cohort)

    rows = score_agents(accounts, stated, bets, min_coverage)
    if comparisons is None:
        line_ups = read_line_ups(connection, cohort)
        as_of = read_newest_time(connection)
        comparisons = compare_line_ups(stated, line_ups, as_of, min_coverage, is_whole=cohort is None)

    is_replay = any(stored.cohort.stamp == "replay" for stored in cohorts)
    board = rank_agents(rows, comparisons, stated, is_replay=is_replay, is_whole=cohort is None)

    baselines = frozenset(account.agent for account in accounts if account.kind in BASELINES)
    return replace(board, metaculus=metaculus_scores(stated, read_known(connection, stated), baselines))


@dataclass(frozen=True, slots=True)
class ProvisionalScores:
    """An agent's expected Brier score, the market's on the same rows, and how many rows are open."""

    agent: str
    forecasts: int
    open: int
    brier_stated: float | None
    brier_market: float | None

    @property
    def skill(self) -> float | None:
        """Return the market's score minus the agent's; None if one is unknown."""
        if self.brier_stated is None or self.brier_market is None:
            return None
        return self.brier_market - self.brier_stated


def provisional_scores(rows: ForecastColumns, latest_price: Floats) -> list[ProvisionalScores]:
    """Return the provisional scores of each agent.

    `latest_price` has the newest price of each market, NaN if unknown. At a price p, the forecast f has the
    expected score p(1 − f)² + (1 − p)f².
    """
    # An open market ends YES with the chance that its price gives; its outcome stands for one that has ended.
    price = np.where(rows.outcome == OPEN, latest_price[rows.market], rows.outcome)
    usable = (rows.outcome >= OPEN) & ~np.isnan(price) & ~rows.early

    scores = []
    for index, agent in enumerate(rows.agents):
        is_own = usable & (rows.agent == index)
        own_rows = take_rows(rows, is_own)
        own_score = _expected_score(own_rows.forecast, price[is_own], own_rows.market)
        market_score = _expected_score(own_rows.mid, price[is_own], own_rows.market)
        still_open = int(np.count_nonzero(own_rows.outcome == OPEN))
        scores.append(ProvisionalScores(agent, own_rows.outcome.size, still_open, own_score, market_score))
    return scores


def _expected_score(stated: Any, price: Floats, market: Any) -> float | None:
    """Return the expected mean Brier score of forecasts if these prices are right."""
    forecast = probability(stated)
    if_yes = (1 - forecast) ** 2
    expected = price * if_yes + (1 - price) * forecast**2
    return none_for_nan(mean(expected, market))


def compute_provisional(connection: Connection, cohort: int | None = None) -> list[ProvisionalScores]:
    """Return each agent's scores if the latest prices are right, the best first."""
    select_cohorts(read_cohorts(connection), cohort)  # raises if there is no such cohort
    stated = read_forecast_columns(connection, cohort)
    latest = _read_newest_mids(connection, stated.markets)
    return sorted(provisional_scores(stated, latest), key=skill_order)


def _read_newest_mids(connection: Connection, markets: Sequence[str]) -> Floats:
    """Return the newest mid of each market, from 0 to 1; NaN if its newest quote has none."""
    newest_mid = (
        select(QuoteRow.mid)
        .where(QuoteRow.market_id == MarketRow.id)
        .order_by(col(QuoteRow.at).desc())
        .limit(1)
    )
    query = select(MarketRow.id, newest_mid.scalar_subquery())
    market_rows = connection.execute(query).all()
    mid_of: dict[str, int | None] = dict(market_rows)
    millionths = np.array([mid_of.get(market) for market in markets], dtype=np.float64)
    return millionths / ONE
