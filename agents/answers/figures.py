"""What a number, a price or a side in an answer means: exact decimal text, and nothing in it is guessed."""

import re
from collections.abc import Iterable
from decimal import ROUND_DOWN, Context, Decimal
from functools import lru_cache
from typing import Any, Literal

from agents.text import one_line
from markets.millionths import ONE, millionths
from portfolio.model import Side

MOST_AMOUNT = 1_000_000_000
_LONGEST = 40
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_EXACT = Context(prec=2 * _LONGEST, rounding=ROUND_DOWN)
_FIGURE = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)"
_SHARE = re.compile(
    rf"(?P<figure>[+-]?{_FIGURE})\s*(?:(?P<percent>%|percent|per cent|pct\.?|percentage points)"
    rf"|(?P<of>/|in|out of)\s*(?P<whole>[0-9]+))?(?:\s*(?:probability|chance|likelihood)(?: of yes)?)?"
)
_LEADING = re.compile(
    r"(?:(?:p|prob|probability|chance|pr|yes)\s*(?:\(\s*(?:yes|true)\s*\))?\s*[=:≈~]|[~≈]"
    r"|(?:about|approx\.?|approximately|around|roughly|circa|ca\.|c\.)\s)\s*"
)
_TWICE = re.compile(r"([^()]+?)\s*\(\s*(?:or\s|i\.e\.,?\s|=\s*)?([^()]+?)\s*\)")
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
MOST_SHORT = 8
"""Characters of a number that is no finer than a millionth."""
NOISE = Decimal("1e-15")
"""What a binary fraction may be off by."""
Scale = Literal["share", "percent", "unclear"]


class MeaninglessItem(ValueError):
    """An item of an answer that can't be taken for anything: a stable code, and words."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


def _meaningless(name: str, value: object, why: str, quote: str = "") -> MeaninglessItem:
    return MeaninglessItem(name, f"the {name} {quote}{one_line(str(value), 40)}{quote} {why}")


def parse_probability(value: object, scale: Scale = "share") -> int:
    """A probability in millionths; a plain number is a percentage only where the whole list is in percent."""
    p = plain_number(value)
    if p is None:
        p = _marked_share(value)
    elif scale == "percent" and p > 1:
        p = _EXACT.divide(p, Decimal(100))
    elif scale != "share":
        words = f"the scale of the probability {one_line(str(value), 40)} is unclear beside the others"
        raise MeaninglessItem("probability", f"{words}: write each as a number between 0 and 1")
    if not 0 <= p <= 1:
        raise _meaningless("probability", value, "is not between 0 and 1")
    whole = millionths(p)
    if whole % 100 or not 0 < whole < ONE or len(str(value)) <= MOST_SHORT:
        return whole
    if NOISE < abs(p - Decimal(whole) / ONE) < Decimal("1e-7"):
        raise _meaningless("probability", value, "is finer than a millionth")
    return whole


def scale_of(values: Iterable[object]) -> Scale:
    """The scale of all numbers that don't say theirs: percent where they are above 1, unless some are not."""
    values = list(values)
    plain = [p for p in map(plain_number, values) if p is not None and p.is_finite()]
    if any(p > 1 for p in plain):
        return "unclear" if any(0 < p < 1 for p in plain) else "percent"
    marked = any(isinstance(value, str) and "%" in value for value in values)
    return "unclear" if marked and plain and all(p in (0, 1) for p in plain) else "share"


def plain_number(value: object) -> Decimal | None:
    """The number that a text is and nothing else; None where it says more."""
    return _plain_number(value) if isinstance(value, str) and len(value) <= 2 * _LONGEST else None


@lru_cache(maxsize=4096)
def _plain_number(value: str) -> Decimal | None:  # the same few numbers come again and again
    text = _narrow(value).strip()
    if len(text) <= _LONGEST and _PLAIN.fullmatch(text):
        return Decimal(text)
    return _decimal(text) if len(text) <= _LONGEST and re.fullmatch(r"[01]?,[0-9]+", text) else None


def _narrow(text: str) -> str:
    """The text with full-width letters as plain ones."""
    return text if text.isascii() else text[: 4 * _LONGEST].translate(FULL_WIDTH)


def _marked_share(value: object) -> Decimal:
    """A share that says how it is meant: 10%, 1/10, about 1 in 10, or twice the same, as 0.1 (10%)."""
    text = _text_of(_narrow(value) if isinstance(value, str) else value, "probability")
    if twice := _TWICE.fullmatch(text):
        one, other = (_one_share(part, text) for part in twice.groups())
        if one == other:
            return one
        raise _meaningless("probability", text, "says two things", '"')
    return _one_share(text, text)


def _one_share(part: str, text: str) -> Decimal:
    part = part.strip().lower()
    while leading := _LEADING.match(part):
        part = part[leading.end() :].strip()
    match = _SHARE.fullmatch(part)
    figure = match and _decimal(match["figure"])
    if match is None or figure is None:
        raise _meaningless("probability", text, "is not a number", '"')
    if match["percent"]:
        return _EXACT.divide(figure, Decimal(100))
    if match["of"]:
        whole = Decimal(match["whole"])
        if not 0 <= figure < whole or (figure + whole == 100 and match["of"] == "/"):  # 40/60 may be odds
            raise _meaningless("probability", text, "is unclear", '"')
        return _EXACT.divide(figure, whole)
    return figure


def _decimal(figure: str) -> Decimal | None:
    """The number of these digits; a comma is a decimal one where it can't group thousands."""
    if re.search(r",[0-9]{3}$", figure) and not re.match(r"0?,", figure):
        return None
    text = figure.replace(",", ".")
    return Decimal(text) if _PLAIN.fullmatch(text) else None


def parse_fraction(value: object) -> int:
    """A part of a position in millionths, above 0 and at most the whole."""
    text = value.strip() if isinstance(value, str) else ""
    if text.lower() == "all":
        return ONE
    part = _parse_number(text[:-1] if text.endswith("%") else value, "fraction")
    if text.endswith("%"):
        part = _EXACT.divide(part, Decimal(100))
    if not (0 < part <= 1 and millionths(part) > 0):
        raise _meaningless("fraction", value, "is not above 0 and up to 1")
    return millionths(part)


def parse_amount(value: object) -> int:
    """Dollars in millionths, never more than was written."""
    dollars = _parse_dollars(value, "amount")
    if not 0 < dollars <= MOST_AMOUNT or (exact := int(_EXACT.multiply(dollars, Decimal(ONE)))) == 0:
        raise _meaningless("amount", value, f"is not above 0 and at most {MOST_AMOUNT:,} dollars")
    return exact


def parse_limit(value: object) -> int | None:
    """The price of a share in millionths; none where none is given."""
    if value is None:
        return None
    price = _parse_dollars(value, "limit")
    if not (0 < price < 1 and 0 < millionths(price) < ONE):
        raise _meaningless("limit", value, "is not between 0 and 1")
    return millionths(price)


def parse_side(value: object) -> Side:
    """YES or NO, in whatever letters."""
    said = value.strip().lower() if isinstance(value, str) else ""  # upper() makes more of "yeſ" than it says
    if said == "yes":
        return "YES"
    if said == "no":
        return "NO"
    raise _meaningless("side", value, "is neither YES nor NO", '"')


def _parse_dollars(value: object, name: str) -> Decimal:
    return _parse_number(value.strip().removeprefix("$") if isinstance(value, str) else value, name)


def _parse_number(value: object, name: str) -> Decimal:
    """A finite number from its text, which has nothing else in it."""
    text = _text_of(value, name)
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    if _GROUPED.fullmatch(text):
        return Decimal(text.replace(",", ""))
    raise _meaningless(name, text, "is not a number", '"')


def _text_of(value: Any, name: str) -> str:
    if not isinstance(value, str):
        kind = {bool: "true or false", type(None): "missing"}.get(type(value), "not a number")
        raise MeaninglessItem(name, f"the {name} is {kind}")
    text = value.strip()
    if len(text) > _LONGEST:
        raise _meaningless(name, text, f"is longer than {_LONGEST} characters", '"')
    return text
