"""The preview picture of a site: the verdict, and the first agents of the board."""

from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from arena.scores.verdict import Verdict
from dashboard.board import headline
from dashboard.record import Lines
from dashboard.views.arena import short_names
from dashboard.words import flat, in_dollars

FONT = "arena-sans.woff2"
ASSETS = Path(__file__).parent.parent / "assets"
SIZE = (1200, 630)
EDGE = 72
WIDTH = SIZE[0] - 2 * EDGE
LINES = 3
"""The most lines of the verdict, and their width."""
GROUND = "#fafbfc"
INK = "#1f2933"
SOFT = "#525e69"
ACCENT = "#3450c4"
ROWS = 4
"""The most agents that are named."""


SORTS = {"simulated": "Simulated season, play money", "replay": "Replayed season, play money"}
"""The labels of seasons that are not live."""


def card(verdict: Verdict, lines: Lines, stamp: str) -> bytes:
    """Draw the picture as PNG, with a label of the season, as it is seen apart from the site."""
    image = Image.new("RGB", SIZE, GROUND)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, SIZE[0], 12), fill=ACCENT)
    draw.text((EDGE, 60), "Paper Arena", font=font_of(34, bold=True), fill=ACCENT)
    sort = SORTS.get(stamp, "Play money")
    draw.text((SIZE[0] - EDGE, 60), sort, font=font_of(34), fill=SOFT, anchor="ra")

    top = 120
    title = font_of(52, bold=True)
    sentence = short_names(headline(verdict)[0], [line.row.agent for line in lines])
    for text in wrapped(flat(sentence), title):
        draw.text((EDGE, top), text, font=title, fill=INK)
        top += 64

    top = max(top + 24, 350)
    font = font_of(34)
    for line in [line for line in lines if not line.row.is_reference][:ROWS]:
        draw.text((EDGE, top), _cut(flat(line.row.agent), font, WIDTH - 260), font=font, fill=INK)
        made = in_dollars(line.row.pnl or 0.0, signed=True)
        draw.text((SIZE[0] - EDGE, top), made, font=font, fill=SOFT, anchor="ra")
        top += 54

    png = BytesIO()
    image.save(png, "PNG", optimize=True)
    return png.getvalue()


def font_of(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the font of the pages in a size."""
    font = ImageFont.truetype(ASSETS / FONT, size)
    if bold:
        font.set_variation_by_axes([700])
    return font


def wrapped(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Return a text as at most three lines that fit, with an ellipsis if it is cut."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > LINES:
        lines[LINES - 1] = _cut(f"{lines[LINES - 1]} …", font, WIDTH)
    return lines[:LINES]


def _cut(text: str, font: ImageFont.FreeTypeFont, room: float) -> str:
    """Return a text that fits, cut if necessary."""
    while font.getlength(text) > room:
        text = f"{text[:-2]}…"
    return text
