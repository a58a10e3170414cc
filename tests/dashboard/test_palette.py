"""The colours of charts: those of the style sheet, told apart by every reader on both themes."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import dashboard
from dashboard.record import SeasonOverview

CSS = (Path(dashboard.__file__).parent / "assets" / "arena.css").read_text("utf-8")
PAIRS = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", CSS)
THEMES = {
    theme: {name: pair[place] for name, *pair in PAIRS} for place, theme in enumerate(("light", "dark"))
}
COLOURS = tuple(f"c{place}" for place in range(1, 9))
LINES = (*COLOURS, "faint")
WRITTEN = ("ink", "soft", "accent", "gain", "loss", *COLOURS)

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
}

Light = tuple[float, ...]


def light(colour: str) -> Light:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)


def seen(colour: str, sight: str) -> Light:
    """Return the colour in CIE Lab, as this kind of colour vision sees it."""
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


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_no_two_colours_of_lines_look_alike(theme: str, sight: str) -> None:
    for one, other in combinations(LINES, 2):
        a, b = (seen(THEMES[theme][name], sight) for name in (one, other))
        apart = sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5
        assert apart > 13, (one, other, apart)


@pytest.mark.parametrize("theme", THEMES)
def test_whatever_is_written_can_be_read(theme: str) -> None:
    colours = THEMES[theme]
    for name in WRITTEN:
        assert contrast(colours[name], colours["paper"]) >= 4.5, name


def test_no_colour_is_given_at_some_widths_alone() -> None:
    query = re.compile(r"@container[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}")
    within = " ".join(query.findall(CSS))
    everywhere = query.sub("", CSS)
    assert ".tiles" in within
    assert not re.search(r"\b(fill|stroke|background|color-scheme)\s*:", within)
    assert {".light.ok", ".turn-failed"} <= {*re.findall(r"\.light\.ok|\.turn-failed", everywhere)}


def test_an_agent_keeps_its_colour_and_no_two_of_a_chart_share_one() -> None:
    rules = (("market", "market"), ("constant", "constant"), ("kelly", "kelly"))
    known = SeasonOverview((), (*rules, ("sharp", "llm")), {})
    later = SeasonOverview((), (*known.agents, ("hasty", "llm")), {})
    for one in (known, later):
        assert one.colours(["kelly", "sharp"]) == {"kelly": "c8", "sharp": "c1"}
        assert one.colours(["constant"]) == {"constant": "c6"}
    many = SeasonOverview((), tuple((f"model-{n}", "llm") for n in range(12)), {})
    assert [*many.colours(["model-0", "model-8", "model-9"]).values()] == ["c1", "c2", "c3"]
