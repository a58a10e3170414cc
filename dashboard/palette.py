"""One look per agent, everywhere: fixed by its place in the line-up, told apart without colour vision.

The first six are Okabe and Ito's colours. With the grey of the market they can be told apart on white
and on near-black, and by readers who lack one kind of cone; past the eighth agent the colours come again
with another shape.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#8B5CF6", "#56B4E9", "#CC79A7", "#A0522D")
MARKET = "#6F7680"
SHAPES = ("circle", "square", "triangle-up", "diamond")
MARKET_SHAPE = "cross"

DRAWN = {
    "circle": '<circle cx="8" cy="8" r="5"/>',
    "square": '<rect x="3.5" y="3.5" width="9" height="9"/>',
    "triangle-up": '<path d="M8 2.5 14 13H2z"/>',
    "diamond": '<path d="M8 1.5 14.5 8 8 14.5 1.5 8z"/>',
    "cross": '<path d="M6 2h4v4h4v4h-4v4H6v-4H2V6h4z"/>',
}


@dataclass(frozen=True, slots=True)
class AgentLook:
    """How an agent is drawn beside its name."""

    agent: str
    colour: str
    shape: str

    @property
    def badge(self) -> Markup:
        """A small drawing of the shape in its colour, for a table."""
        size = 'viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"'
        return Markup(f'<svg {size} fill="{self.colour}">{DRAWN[self.shape]}</svg>')  # noqa: S704 - our own


def looks(agents: Iterable[tuple[str, str]]) -> dict[str, AgentLook]:
    """Looks by name, for agents given as (name, kind) in line-up order.

    >>> [look.colour for look in looks([("market", "market"), ("ann", "llm")]).values()]
    ['#6F7680', '#0072B2']
    """
    found: dict[str, AgentLook] = {}
    others = 0
    for name, kind in agents:
        if kind == "market":
            found[name] = AgentLook(name, MARKET, MARKET_SHAPE)
            continue
        turn = others // len(COLOURS) % len(SHAPES)
        found[name] = AgentLook(name, COLOURS[others % len(COLOURS)], SHAPES[turn])
        others += 1
    return found
