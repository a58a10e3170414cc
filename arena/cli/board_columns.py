"""The columns of `arena board`: which it has at which width, and what is to be known of them."""

from dataclasses import replace

from arena.cli.output import Data, plain, signed_dollars
from arena.cli.table import TableColumn, between
from arena.errors import times_text
from arena.scores.leaderboard import percent_of_price
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.verdict import rank_text


def percent_interval(row: Data) -> str | None:
    """Return the interval of how much closer than the price an agent is, in per cent.

    >>> percent_interval({"skill_low": -0.01, "skill_high": 0.02, "brier_market": 0.2})
    '-5.0 to +10.0'
    """
    low = percent_of_price(row["skill_low"], row["brier_market"])
    high = percent_of_price(row["skill_high"], row["brier_market"])
    if low is None or high is None:
        return None
    return f"{low:+.1f} to {high:+.1f}"


def small_dollars(usd: float) -> str:
    """Return dollars and cents; of an amount below a cent all that it has.

    >>> small_dollars(1.1016), small_dollars(0.0042), small_dollars(0)
    ('$1.10', '$0.0042', '$0.00')
    """
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


BAR_END = 10
CELLS_A_POINT = 200
"""Cells of a bar on each side of 0, and how many of them a Brier point would take."""


def interval_bar(row: Data) -> str | None:
    """Return the interval as a bar, from −0.05 to 0.05; what lies beyond is an arrow.

    >>> interval_bar({"skill": 0.02, "skill_low": -0.01, "skill_high": 0.07})
    '········├─┼───●─────▶'
    """
    if row["skill_low"] is None:
        return None
    low = round(row["skill_low"] * CELLS_A_POINT)
    high = round(row["skill_high"] * CELLS_A_POINT)
    signs = dict.fromkeys(range(low, high + 1), "─")
    signs[0] = "┼" if 0 in signs else "│"
    signs[low] = "├"
    signs[high] = "┤"
    if low < -BAR_END:
        signs[-BAR_END] = "◀"
    if high > BAR_END:
        signs[BAR_END] = "▶"

    signs[round(row["skill"] * CELLS_A_POINT)] = "●"
    return "".join(signs.get(place, "·") for place in range(-BAR_END, BAR_END + 1))


AGENT = TableColumn("agent", show=plain, narrow="cut middle")
SKILL = TableColumn("skill", show="+.4f")
RANK = TableColumn("rank", "ranks", value=lambda row: rank_text(row["rank_low"], row["rank_high"]))
CLOSER = TableColumn(
    "closer",
    "closer\nthan\nprice",
    "+.1f",
    value=lambda row: percent_of_price(row["skill"], row["brier_market"]),
)
INTERVAL = TableColumn("interval", "95%\ninterval", value=percent_interval)
BETTER_THAN = TableColumn("better_than", "better\nthan", value="better_text")
BRIER = TableColumn("brier_stated", "Brier", ".4f")
PNL = TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0), 1)
COST = TableColumn("cost_usd", "cost", small_dollars, 1)
SHORT = (RANK, AGENT, CLOSER, INTERVAL, BETTER_THAN, BRIER, PNL, COST)
"""The short board, which fits 80 characters."""
CALIBRATION = TableColumn("calibration", value="calibration_text", gives_way=2, from_width=100)
IMPLIED = TableColumn("brier_implied", "implied*", ".4f", 2, from_width=100)
FURTHER = tuple(
    replace(column, from_width=140)
    for column in (
        replace(SKILL, gives_way=7),
        TableColumn("skill_interval", "of skill", value=between("skill_low", "skill_high"), gives_way=7),
        TableColumn("interval_bar", "-0.05 … 0.05", value=interval_bar, gives_way=7),
        TableColumn("tools", value=lambda row: "tools" if row["tools"] else None, gives_way=3),
        TableColumn("evidence", show=times_text, gives_way=7),
        TableColumn("brier_market", "price's\nBrier", ".4f", 3),
        TableColumn("brier_anchored", "anchored", ".4f", 5),
        TableColumn("return_pct", "return %", "+.2f", 4),
        TableColumn("skill_per_dollar", "skill per $", "+.4f", 6),
        TableColumn("cost_per_forecast", "$ per forecast", ".6f", 6),
        TableColumn("coverage", "coverage", ".0%", 3),
        TableColumn("events", show=",d", gives_way=3),
        TableColumn("resolved", show=",d", gives_way=4),
        TableColumn("answered", show=",d", gives_way=6),
        TableColumn("shown", show=",d", gives_way=6),
        TableColumn("bets", show=",d", gives_way=5),
        TableColumn("win_rate", "win rate", ".0%", 6),
        TableColumn("peer", show="+.2f", gives_way=8, value="metaculus.peer"),
        TableColumn("baseline", show="+.2f", gives_way=8, value="metaculus.baseline"),
        TableColumn("spot_peer", "spot peer", "+.2f", 8, "metaculus.spot_peer"),
        TableColumn("relative", show="+.3f", gives_way=8, value="metaculus.relative"),
        TableColumn("coverage_in_time", "coverage in time", ".0%", 8, "metaculus.coverage"),
    )
)
COLUMNS = (*SHORT, CALIBRATION, IMPLIED, *FURTHER)
RANKS = (RANK, BETTER_THAN)
"""The columns of entries: references and boards of one cohort have none."""
ALWAYS = (replace(CALIBRATION, from_width=0, gives_way=0), replace(IMPLIED, from_width=0, gives_way=0))
COHORT_SHORT = (AGENT, CLOSER, INTERVAL, replace(BRIER, gives_way=3), PNL, replace(COST, gives_way=3))
COHORT_COLUMNS = (*COHORT_SHORT, *ALWAYS, *FURTHER)
"""The board of one cohort has profit, calibration and the implied Brier score at any width."""
EARLY_COLUMNS = (
    AGENT,
    replace(PNL, gives_way=0),
    TableColumn("invested", "open positions", lambda usd: f"${usd:,.0f}"),
    TableColumn("distance", "distance\nfrom price", ".3f"),
    replace(COST, gives_way=0),
    TableColumn("answered", "forecasts", show=",d", gives_way=1),
    TableColumn("resolved", show=",d", gives_way=1),
    TableColumn("events", show=",d", gives_way=1),
)
"""The board until enough events have resolved for a comparison."""
WHY_NOT = TableColumn("why_not", "why not", value="why_unranked", narrow="wrap")
UNRANKED = (AGENT, WHY_NOT, replace(IMPLIED, gives_way=1), PNL, COST)
COHORT_UNRANKED = (AGENT, WHY_NOT, PNL, COST, *ALWAYS)
NOTES = {
    "rank": "Ranks: the first and the last that the told pairs allow.",
    "closer": (
        "Closer than price: by so many per cent is its Brier score below the price's, on the same forecasts."
    ),
    "skill": "Skill: the same in Brier points.",
    "calibration": (
        "Calibration: of forecasts that gave one side 70% or more, how likely they said, how often it was so."
    ),
    "brier_implied": (
        "*Implied: the founding text's Brier score of its bets, with the stake alone read as confidence."
    ),
    "evidence": "Evidence: what $1 bet on its skill would be worth.",
    "distance": "Distance: how far its forecasts lie from the prices, on average.",
}
"""What is to be known of a column, said where it is shown."""
ORDER = "In the order of the ranks told, then of the low end of the interval."
COHORT_ORDER = "In the order of the low end of the interval."
EARLY_ORDER = (
    f"Provisional, in the order of profit: nothing is ranked before {ENOUGH_EVENTS:.0f} events have resolved."
)
SLICES = (
    AGENT,
    SKILL,
    TableColumn("interval", "95% interval", value=between("low", "high")),
    TableColumn("markets", show=",d", gives_way=2),
    TableColumn("events", show=",d"),
    TableColumn("effective", "effective events", ".1f", 3),
    TableColumn("reason", "note", lambda text: text or "", 1, narrow="wrap"),
)
METACULUS = (
    AGENT,
    TableColumn("peer", show="+.2f"),
    TableColumn("peer_interval", "95% interval", value=between("peer_low", "peer_high", ".2f")),
    TableColumn("baseline", show="+.2f"),
    TableColumn(
        "baseline_interval",
        "95% interval",
        value=between("baseline_low", "baseline_high", ".2f"),
        gives_way=4,
    ),
    TableColumn("spot_peer", "spot peer", "+.2f", 2),
    TableColumn("spot_baseline", "spot baseline", "+.2f", 5),
    TableColumn("relative", show="+.3f", gives_way=3),
    TableColumn("coverage", show=".0%", gives_way=1),
    TableColumn(
        "answered", "questions", value=lambda row: f"{row['questions']:,} of {row['asked']:,}", gives_way=1
    ),
    TableColumn("outside", "", lambda yes: "outside" if yes else ""),
)
METACULUS_LEGEND = (
    "Metaculus's scores, averaged over each market's life in its cohort; spot: as it closed. Above 0 is "
    "better than the other agents (peer), or than 50% (baseline). Agents marked outside are not compared. "
    "Community: the recency-weighted median of all others."
)
PROVISIONAL = (
    AGENT,
    SKILL,
    TableColumn("brier_stated", "stated", ".4f"),
    TableColumn("brier_market", "market", ".4f"),
    TableColumn("forecasts", show=",d"),
    TableColumn("open", "still open", ",d"),
)
