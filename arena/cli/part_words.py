"""An agent in parts, for JSON and as a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.cli.output import print_table

if TYPE_CHECKING:
    from arena.parts import Part
    from arena.scoring.calibrating.slices import Slice

COLUMNS = (
    ("forecasts", "forecasts", ",d"),
    ("markets", "markets", ",d"),
    ("events", "events", ",d"),
    ("skill", "skill", "+.4f"),
    ("from", "skill_low", "+.4f"),
    ("to", "skill_high", "+.4f"),
    ("Brier", "brier", ".4f"),
    ("miscalibration", "miscalibration", ".4f"),
    ("by chance", "miscalibration_by_chance", ".4f"),
    ("p", "miscalibration_p", ".3f"),
    ("discrimination", "discrimination", ".4f"),
)
CHANCE = ("miscalibration_by_chance", "miscalibration_p")
"""What chance alone makes of the miscalibration, in JSON."""
LEGEND = (
    "Skill is what it gains on the price; its interval needs 20 effective events. p says how often chance "
    "alone miscalibrates as much: of many parts, some are small."
)


def as_data(by: str, found: "Sequence[Part]") -> dict[str, Any]:
    """The parts for JSON; null where nothing can be said."""
    return {"by": by, "parts": [_part(one) for one in found]}


def _part(one: "Part") -> dict[str, Any]:
    gain = one.gain
    skill = {"skill": gain.skill, "skill_low": gain.low, "skill_high": gain.high, "skill_p": gain.p}
    counts = {"forecasts": gain.rows, "markets": gain.markets, "events": gain.events}
    return {"part": one.name} | counts | skill | {"reason": gain.reason} | _calibration(one.calibration)


def _calibration(found: "Slice | None") -> dict[str, Any]:
    keys = ("brier", "miscalibration", "discrimination", "uncertainty")
    if found is None:
        return dict.fromkeys((*keys, *CHANCE))
    known = {key: getattr(found.parts, key) for key in keys}
    return known | dict(zip(CHANCE, (found.null.expected, found.null.p_value), strict=True))


def say(data: Mapping[str, Any]) -> None:
    """The same as a table."""
    if not data["parts"]:
        print(f"By {data['by']}: nothing that it was shown is resolved yet.\n")
        return
    rows = [
        [row["part"], *(None if row[key] is None else format(row[key], form) for _, key, form in COLUMNS)]
        for row in data["parts"]
    ]
    print_table([data["by"], *(title for title, _, _ in COLUMNS)], rows)
    print(f"{LEGEND}\n")
