"""One look per agent: the same everywhere, and told apart by every reader on both themes."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import dashboard
from dashboard.svg import COLOURS, MARKET, SHAPES, looks

# how a colour in linear light is seen without one kind of cone (Machado, Oliveira and Fernandes 2009)
SIGHTS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no long cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no middle cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no short cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
WHITE, BLACKISH = "#FFFFFF", "#0E1117"

Light = tuple[float, ...]


def light(colour: str) -> Light:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)


def seen(colour: str, sight: str) -> Light:
    """The colour in CIE Lab, as this sight has it."""
    r, g, b = (
        min(max(sum(k * c for k, c in zip(row, light(colour), strict=True)), 0), 1) for row in SIGHTS[sight]
    )
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0891
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def contrast(one: str, other: str) -> float:
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(light, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_colours_look_alike(sight: str) -> None:
    for one, other in combinations((MARKET, *COLOURS), 2):
        a, b = seen(one, sight), seen(other, sight)
        apart = sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5
        assert apart > 13, (one, other, apart)


@pytest.mark.parametrize("ground", [WHITE, BLACKISH])
def test_every_colour_stands_out_on_both_themes(ground: str) -> None:
    assert all(contrast(colour, ground) > 2.2 for colour in (MARKET, *COLOURS))


def test_no_two_of_the_first_32_agents_look_the_same() -> None:
    found = looks((f"agent-{n}", "llm") for n in range(32)).values()
    assert len({(look.colour, look.shape) for look in found}) == 32


def test_a_newcomer_changes_nobodys_look() -> None:
    line_up = [("market", "market"), ("ann", "llm"), ("bob", "llm")]
    before, after = looks(line_up), looks([*line_up, ("eve", "llm")])
    assert all(after[name] == look for name, look in before.items())


def test_the_market_is_grey_wherever_it_stands_and_takes_nobodys_colour() -> None:
    found = looks([("ann", "llm"), ("price", "market"), ("bob", "llm")])
    assert found["price"].colour == MARKET
    assert [found[name].colour for name in ("ann", "bob")] == list(COLOURS[:2])


@pytest.mark.parametrize("place", range(0, 32, 8))
def test_a_badge_is_a_whole_picture_that_asks_nothing_of_anyone(place: int) -> None:
    look = list(looks((f"agent-{n}", "llm") for n in range(32)).values())[place]
    picture = ET.fromstring(look.badge)
    assert picture.attrib["fill"] == look.colour
    assert look.shape == SHAPES[place // 8]
    assert len(picture) == 1


def test_no_colour_is_given_at_some_widths_alone() -> None:
    css = (Path(dashboard.__file__).parent / "assets" / "arena.css").read_text("utf-8")
    query = re.compile(r"@container[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}")
    within, everywhere = " ".join(query.findall(css)), query.sub("", css)
    assert ".tiles" in within
    assert not re.search(r"\b(fill|stroke|background|color-scheme)\s*:", within)
    assert {".light.ok", ".turn-failed"} <= {*re.findall(r"\.light\.ok|\.turn-failed", everywhere)}
