"""A chart on a page."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.arrow import of_rows

if TYPE_CHECKING:
    import altair as alt

SIZES = {"view": {"continuousWidth": 300, "continuousHeight": 300}}
"""What Altair adds to a chart by itself; here its size and look are Streamlit's."""


def draw(chart: "alt.TopLevelMixin | dict[str, Any]", says: str, width: int | None = None) -> None:
    """Draw a chart, or what one said of itself; `says` is what it shows, for those who can't see it."""
    spec = dict(chart if isinstance(chart, dict) else chart.to_dict(validate=False))
    if spec.get("config") == SIZES:
        del spec["config"]
    spec["datasets"] = {name: of_rows(rows) for name, rows in spec.get("datasets", {}).items()}
    st.vega_lite_chart(spec=spec, alt=says, width=width)
