"""Which markets are played: a pure rule over a catalogue, drawn by a stored seed."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from markets.model import Listing


class Universe(BaseModel):
    """The rule. Prices and dollars in millionths, `closes_within` in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: int
    per_event: int
    closes_within: int
    min_volume: int
    max_spread: int


def draw(listings: Sequence[Listing], rule: Universe, seed: int, at: datetime) -> list[Listing]:
    """The markets on offer in a round: those that pass the rule, drawn by the seed."""
    raise NotImplementedError
