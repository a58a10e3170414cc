"""The columns of `arena board`, the width from which each is shown, and the notes on them."""

from collections.abc import Sequence
from dataclasses import replace

from arena.cli.output import Data, plain, signed_dollars
from arena.cli.table import Table, TableChoice, TableColumn, answered, between, counted
from arena.errors import times_text
from arena.scores.leaderboard import percent_of_price
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
    return f"{low:+z.1f} to {high:+z.1f}"


def cost_text(usd: float) -> str:
    """Return dollars and cents, or ten-thousandths of a dollar below a cent.

    >>> cost_text(1.1016), cost_text(0.0042), cost_text(0)
    ('$1.10', '$0.0042', '$0.00')
    """
    if 0 < usd < 0.01:
        return f"${usd:.4f}"
    return f"${usd:,.2f}"


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
    skill = round(row["skill"] * CELLS_A_POINT)

    # Later signs replace earlier ones in the same cell.
    signs = dict.fromkeys(range(low, high + 1), "─")
    signs[0] = "┼" if 0 in signs else "│"
    signs[low] = "├"
    signs[high] = "┤"
    if low < -BAR_END:
        signs[-BAR_END] = "◀"
    if high > BAR_END:
        signs[BAR_END] = "▶"
    signs[skill] = "●"
    return "".join(signs.get(cell, "·") for cell in range(-BAR_END, BAR_END + 1))


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
COST = TableColumn("cost_usd", "cost", cost_text, 1)
SHORT = (RANK, AGENT, CLOSER, INTERVAL, BETTER_THAN, BRIER, PNL, COST)
"""The short board, which fits 80 characters."""
CALIBRATION = TableColumn("calibration", value="calibration_text", gives_way=2, from_width=100)
IMPLIED = TableColumn("brier_implied", "implied*", ".4f", 2, from_width=100)


def wide_column(
    name: str, show: str, gives_way: int, heading: str | None = None, value: str = ""
) -> TableColumn:
    """Return a column of figures for wide terminals only."""
    return TableColumn(name, heading, show, gives_way, value, from_width=140)


def _tools(row: Data) -> str | None:
    """Return whether an agent has tools."""
    return "tools" if row["tools"] else None


OF_SKILL = between("skill_low", "skill_high")
FURTHER = (
    wide_column("skill", "+.4f", 7),
    TableColumn("skill_interval", "of skill", gives_way=7, value=OF_SKILL, from_width=140),
    TableColumn("interval_bar", "-0.05 … 0.05", gives_way=7, value=interval_bar, from_width=140),
    TableColumn("tools", value=_tools, gives_way=3, from_width=140),
    TableColumn("evidence", show=times_text, gives_way=7, from_width=140),
    wide_column("brier_market", ".4f", 3, "price's\nBrier"),
    wide_column("brier_anchored", ".4f", 5, "anchored"),
    wide_column("return_pct", "+.2f", 4, "return %"),
    wide_column("skill_per_dollar", "+.4f", 6, "skill per $"),
    wide_column("cost_per_forecast", ".6f", 6, "$ per forecast"),
    wide_column("coverage", ".0%", 3),
    wide_column("events", ",d", 3),
    wide_column("resolved", ",d", 4),
    wide_column("answered", ",d", 6),
    wide_column("shown", ",d", 6),
    wide_column("bets", ",d", 5),
    wide_column("win_rate", ".0%", 6, "win rate"),
    wide_column("peer", "+.2f", 8, value="metaculus.peer"),
    wide_column("baseline", "+.2f", 8, value="metaculus.baseline"),
    wide_column("spot_peer", "+.2f", 8, "spot peer", "metaculus.spot_peer"),
    wide_column("relative", "+.3f", 8, value="metaculus.relative"),
    wide_column("coverage_in_time", ".0%", 8, "coverage in time", "metaculus.coverage"),
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
    counted("answered", 1, "forecasts"),
    counted("resolved", 1),
    counted("events", 1),
)
"""The board until enough events have resolved for a comparison."""
WHY_NOT = TableColumn("why_not", "why not", value="why_unranked", narrow="wrap")
UNRANKED = (AGENT, WHY_NOT, replace(IMPLIED, gives_way=1), PNL, COST)
COHORT_UNRANKED = (AGENT, WHY_NOT, PNL, COST, *ALWAYS)
NOTES = {
    "rank": "Ranks: the range of places that the data allow.",
    "closer": (
        "Closer than price: how far (in %) its Brier score is below the price's, on the same forecasts."
    ),
    "skill": "Skill: the same in Brier points.",
    "calibration": (
        "Calibration: of forecasts that gave one side 70% or more, how likely they said, how often it was so."
    ),
    "brier_implied": (
        "*Implied: the Brier score of its bets, with the size of the stake taken as its confidence."
    ),
    "evidence": "Evidence: what $1 bet on its skill would be worth.",
    "distance": "Distance: how far its forecasts lie from the prices, on average.",
}
"""What is to be known of a column, said where it is shown."""
OF_MONEY = frozenset(
    ("pnl", "invested", "return_pct", "bets", "win_rate", "brier_implied", "brier_anchored", "distance")
)
"""The columns that cohorts of forecasts alone don't have."""


def without_missing_money(columns: Sequence[TableColumn], has_money: bool) -> Sequence[TableColumn]:
    """Return the columns, without those of money if the cohorts have none."""
    return [column for column in columns if has_money or column.name not in OF_MONEY]


def reference_table(columns: Sequence[TableColumn], rows: Sequence[Data], choice: TableChoice) -> Table:
    """Return the table of references, with the columns of the agents above except ranks."""
    shown = [column for column in choice.wanted_columns(columns) if column not in RANKS]
    # The columns that the user named are chosen already, and none of them may be hidden.
    without_names = replace(choice, wide=choice.wide or bool(choice.columns), columns="")
    return Table(shown, rows, "References, not ranked", without_names, tells_hidden=False, as_above=True)


SLICES = (
    AGENT,
    SKILL,
    TableColumn("interval", "95% interval", value=between("low", "high")),
    counted("markets", 2),
    counted("events"),
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
    answered(1),
    TableColumn("outside", "", lambda yes: "outside" if yes else ""),
)
COMMUNITY_MEANT = "Community: the recency-weighted median of all agents."
COMMUNITY_WEIGHTS = "Its Brier score counts a market once in each cohort, the others' scores count it once."
METACULUS_LEGEND = (
    "Metaculus's scores, averaged over each market's life in its cohort; spot: as it closed. Above 0 is "
    "better than the other agents (peer), or than knowing nothing (baseline). Agents marked outside are not "
    "compared. Community: the recency-weighted median of all others."
)
PROVISIONAL = (
    AGENT,
    SKILL,
    TableColumn("brier_stated", "stated", ".4f"),
    TableColumn("brier_market", "market", ".4f"),
    counted("forecasts"),
    counted("open", heading="still open"),
)
