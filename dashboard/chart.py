"""A chart on a page."""

from typing import Any

import altair as alt
import streamlit as st

from dashboard.arrow import of_rows

alt.theme.enable("none")  # Streamlit gives charts its own look


def draw(chart: alt.TopLevelMixin | dict[str, Any], alt: str, width: int | None = None) -> None:
    """Draw a chart, or what one said of itself; `alt` says what it shows to those who can't see it."""
    spec = dict(chart if isinstance(chart, dict) else chart.to_dict())
    spec["datasets"] = {name: of_rows(rows) for name, rows in spec.get("datasets", {}).items()}
    st.vega_lite_chart(spec=spec, alt=alt, width=width)
