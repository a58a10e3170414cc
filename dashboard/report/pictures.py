"""Charts as pictures inside the file: SVG without a script, which follows a light or dark page."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import vl_convert

Chart = alt.LayerChart | alt.FacetChart | alt.Chart

VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The Vega-Lite that the charts are written in, as the converter names it."""
CONFIG = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"gridColor": "#8884", "domainColor": "#8888", "tickColor": "#8888", "labelFontSize": 12},
    "legend": {"labelFontSize": 12},
}
INK = "<style>text{fill:#2a2f36}@media(prefers-color-scheme:dark){text{fill:#d9dde2}}</style>"
NOWHERE: Sequence[str] = ()
"""The addresses from which a chart may load something: none."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and what it shows, for who doesn't see it."""

    address: str
    alt: str
    width: int


def drawn(chart: Chart, what: str, width: int) -> Picture:
    """A chart as a picture. As a picture, not as part of the page, nothing in it can ever act or load."""
    svg = vl_convert.vegalite_to_svg(
        chart.to_dict(), vl_version=VERSION, config=CONFIG, allowed_base_urls=list(NOWHERE)
    )
    head, _, rest = svg.partition(">")
    coded = b64encode(f"{head}>{INK}{rest}".encode()).decode()
    return Picture(f"data:image/svg+xml;base64,{coded}", what, width)
