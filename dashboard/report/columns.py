"""The standings of a report: which figures."""

from dashboard.columns import columns_of

COLUMNS = columns_of(
    *("place", "skill_low", "skill", "interval", "verdict", "evidence", "ties", "copies"),
    *(
        "brier_implied",
        "brier_stated",
        "brier_market",
        "brier_anchored",
        "shown",
        "answered",
        "resolved",
        "events",
        "weeks",
    ),
    *("coverage", "pnl", "return_pct", "win_rate", "bets", "cost_usd", "skill_per_dollar"),
    "cost_per_forecast",
)
