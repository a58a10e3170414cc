"""The chart of the page of operations: what calls cost, day by day."""

from collections.abc import Sequence
from datetime import datetime

import altair as alt
from altair.utils.schemapi import debug_mode

from dashboard.palette import COLOURS
from markets.millionths import ONE


@debug_mode(False)  # charts are held against their schema by the tests, not by each page
def daily_cost(days: Sequence[tuple[datetime, int]]) -> alt.Chart:
    """A bar a day, in dollars."""
    axis = alt.Axis(format="%-d %b", labelOverlap=True)
    rows = [{"day": f"{at:%Y-%m-%d}", "cost": spent / ONE} for at, spent in days]
    chart: alt.Chart = alt.Chart(alt.InlineData(values=rows)).mark_bar(color=COLOURS[0])
    return chart.encode(
        x=alt.X("day:O", title=None, timeUnit="utcyearmonthdate", axis=axis),
        y=alt.Y("cost:Q", title="Cost of calls, $", axis=alt.Axis(format="$~g", tickCount=4)),
        tooltip=[
            alt.Tooltip("day:O", title="Day (UTC)", timeUnit="utcyearmonthdate", format="%-d %b %Y"),
            alt.Tooltip("cost:Q", title="Cost", format="$,.4f"),
        ],
    ).properties(height=180)
