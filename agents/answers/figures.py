"""Numbers, prices and sides in answers, read as exact decimal text without guessing."""

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_DOWN, Context, Decimal
from functools import lru_cache
from typing import Any, Literal, TypeGuard

from agents.text import as_text, one_line
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
_DIGITS = {zero + figure: ord("0") + figure for zero in (0x0660, 0x06F0, 0x0966) for figure in range(10)}
PLAIN_SIGNS = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **_DIGITS,
    0x066A: ord("%"),
}
"""The ASCII equivalents of full-width characters, and of Arabic and Devanagari digits."""
MOST_SHORT = 8
"""The most characters of a number that can't be finer than a millionth."""
NOISE = Decimal("1e-15")
"""The largest rounding error of a binary fraction."""
LEAST_PERCENT = Decimal("1.000001")
MOST_PERCENT = Decimal(100)
Scale = Literal["share", "percent", "unclear"]
_OF_NO = re.compile(
    r"\b([0-9]{1,2}(?:\.[0-9]{1,4})?)\s?%(?:\s+\w+){0,6}?\s+(?:NO\b|(?i:(?:resolves?|resolving|settles?)\s+no\b))"
)
"""A percentage that a reason gives to NO, as in: 90% likely to resolve NO."""
_MAY_GROUP = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}\.[0-9]{3}(?![0-9.,])")
_CURRENCY_BEFORE = ("us$", "usd", "$")
_CURRENCY_AFTER = ("us dollars", "dollars", "dollar", "usd", "$")
_THOUSANDS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*k", re.IGNORECASE)
_CENTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:¢|c|cents?)", re.IGNORECASE)


class MeaninglessItem(ValueError):
    """An item of an answer without a clear meaning: a stable code, and words."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


def _meaningless(name: str, value: object, fault: str, quote: str = "") -> MeaninglessItem:
    return MeaninglessItem(name, f"the {name} {quote}{one_line(str(value), 40)}{quote} {fault}")


class PercentText(str):
    """A number as it was written, with a % that its key stands for: `"probability_percent": 10`."""

    __slots__ = ()


def parse_probability(value: object, scale: Scale = "share") -> int:
    """Return a probability in millionths; a plain number is a percentage only on that scale.

    Raises `MeaninglessItem` for what is no probability, on an unclear scale, or finer than a millionth.
    """
    p = plain_number(value)
    is_unclear = False
    if p is None:
        p = _marked_share(value)
        is_unclear = scale == "unclear" and isinstance(value, PercentText)
    elif _is_possible(p):
        # a 1 among percentages may be 1% or certainty
        may_be_either = scale == "unclear" or (scale == "percent" and p == 1)
        is_unclear = p != 0 and may_be_either
        if scale == "percent":
            p = _EXACT.divide(p, Decimal(100))

    if is_unclear:
        fault = f"the scale of the probability {one_line(str(value), 40)} is unclear beside the others"
        raise MeaninglessItem("probability", f"{fault}: write each as a number between 0 and 1")
    if not 0 <= p <= 1:
        raise _meaningless("probability", value, "is not between 0 and 1")

    rounded = millionths(p)
    is_short = len(str(value)) <= MOST_SHORT
    is_round_figure = rounded % 100 == 0
    if is_short or not is_round_figure or not 0 < rounded < ONE:
        return rounded

    # beside a round figure, an error above that of a binary fraction was written on purpose
    rounding_error = abs(p - Decimal(rounded) / ONE)
    if NOISE < rounding_error < Decimal("1e-7"):
        raise _meaningless("probability", value, "is finer than a millionth")
    return rounded


def scale_of(values: Iterable[object]) -> Scale:
    """Return the scale of all numbers that don't say theirs.

    They are percentages if some are above 1 and none is a fraction. What is a probability on no scale (below
    0, above 100, or above 1 by less than a millionth) says nothing about the others. Numbers under a key of
    percentages that are all fractions may be meant as shares.
    """
    values = list(values)
    plain = [p for p in map(plain_number, values) if p is not None and _is_possible(p)]
    under_percent_keys = []
    for value in values:
        if isinstance(value, PercentText):
            number = plain_number(value[:-1])
            if number is not None and _is_possible(number):
                under_percent_keys.append(number)

    if any(under_percent_keys) and max(under_percent_keys) <= 1:
        return "unclear"

    has_fractions = any(0 < p < 1 for p in plain)
    if any(p > 1 for p in plain):
        if has_fractions:
            return "unclear"
        return "percent"

    has_only_0_and_1 = plain and not has_fractions
    if has_only_0_and_1 and any(map(_says_percent, values)):
        return "unclear"
    return "share"


def _is_possible(p: Decimal) -> bool:
    """Return whether a number may be a probability, as a share or in percent."""
    return 0 <= p <= 1 or LEAST_PERCENT <= p <= MOST_PERCENT


def _says_percent(value: object) -> bool:
    """Return whether a text is a percentage that may be a probability."""
    if not isinstance(value, str) or "%" not in _narrow(value):
        return False
    share = share_of(value)
    return share is not None and 0 <= share <= 1


def shares_of_no(text: str) -> list[int]:
    """Return the percentages that a reason gives to NO, in millionths: 900,000 of "90% sure it is NO"."""
    return [millionths(Decimal(figure) / 100) for figure in _OF_NO.findall(text)]


def share_of(value: object) -> Decimal | None:
    """Return a value as a number, a percentage as its share; None if it is no number."""
    number = plain_number(value)
    if number is not None:
        return number
    try:
        return _marked_share(value)
    except MeaninglessItem:
        return None


def plain_number(value: object) -> Decimal | None:
    """Return the number that a text consists of; None where it says more."""
    if not isinstance(value, str) or len(value) > 2 * _LONGEST:
        return None
    return _plain_number(value)


@lru_cache(maxsize=4096)
def _plain_number(written: str) -> Decimal | None:  # the same few numbers come again and again
    text = _narrow(written).strip()
    if len(text) > _LONGEST:
        return None

    if _PLAIN.fullmatch(text):
        return Decimal(text)
    if re.fullmatch(r"[01]?,[0-9]+", text):
        return _decimal(text)
    return None


def _narrow(text: str) -> str:
    """Return the text with full-width letters and figures of other scripts as plain ones."""
    if text.isascii():
        return text
    return text[: 4 * _LONGEST].translate(PLAIN_SIGNS)


def _marked_share(value: object) -> Decimal:
    """Return a share written with its scale: 10%, 1/10, about 1 in 10, or twice, as 0.1 (10%)."""
    if isinstance(value, str):
        value = _narrow(value)
    text = _text_of(value, "probability")

    stated_twice = _TWICE.fullmatch(text)
    if stated_twice is None:
        return _one_share(text, text)

    share = _one_share(stated_twice[1], text)
    if share != _one_share(stated_twice[2], text):
        raise _meaningless("probability", text, "says two things", '"')
    return share


def _one_share(part: str, text: str) -> Decimal:
    """Return the share that a part of a text states. Raise `MeaninglessItem`, which quotes the whole text."""
    part = part.strip().lower().removesuffix(".")
    while leading_words := _LEADING.match(part):
        part = part[leading_words.end() :].strip()

    match = _SHARE.fullmatch(part)
    figure = match and _decimal(match["figure"])
    if match is None or figure is None:
        raise _meaningless("probability", text, "is not a number", '"')

    if match["percent"]:
        return _EXACT.divide(figure, Decimal(100))

    if match["of"]:
        total = Decimal(match["whole"])
        may_be_odds = match["of"] == "/" and figure + total == 100  # such as 40/60
        if may_be_odds or not 0 <= figure < total:
            raise _meaningless("probability", text, "is unclear", '"')
        return _EXACT.divide(figure, total)

    return figure


def _decimal(figure: str) -> Decimal | None:
    """Return the number of these digits; a comma counts as a decimal point if it can't group thousands."""
    if re.search(r",[0-9]{3}$", figure) and not re.match(r"0?,", figure):
        return None

    text = figure.replace(",", ".")
    if not _PLAIN.fullmatch(text):
        return None
    return Decimal(text)


def parse_fraction(value: object) -> int:
    """Return a part of a position in millionths, above 0 and at most the whole."""
    text = as_text(value).strip()
    if text.lower() == "all":
        return ONE

    if text.endswith("%"):
        fraction = _EXACT.divide(_parse_number(text[:-1], "fraction"), Decimal(100))
    else:
        fraction = _parse_number(value, "fraction")

    if fraction == 0:
        raise MeaninglessItem("no_order", f"the fraction {one_line(str(value), 40)} is not above 0")
    if not (0 < fraction <= 1 and millionths(fraction) > 0):
        raise _meaningless("fraction", value, "is not above 0 and up to 1")
    return millionths(fraction)


def parse_amount(value: object) -> int:
    """Return dollars in millionths, never more than was written."""
    dollars = _parse_dollars(value, "amount")
    if dollars == 0:
        raise MeaninglessItem("no_order", f"the amount {one_line(str(value), 40)} is not above 0")

    amount = _whole_millionths(dollars)
    if amount == 0:
        raise _meaningless("amount", value, f"is not above 0 and at most {MOST_AMOUNT:,} dollars")
    return amount


def _whole_millionths(number: Decimal) -> int:
    """Return a number in millionths, rounded down; 0 where no order can be so large or so small."""
    if not 0 < number <= MOST_AMOUNT:
        return 0
    return int(_EXACT.multiply(number, Decimal(ONE)))


def may_be_thousands(value: object) -> TypeGuard[str]:
    """Return whether a text may have a point that groups thousands, as in $1.500."""
    return isinstance(value, str) and _MAY_GROUP.search(value) is not None


def parse_shares(value: object) -> int:
    """Return a number of shares in millionths, never more than was written."""
    shares = _parse_number(value, "shares")
    rounded_down = _whole_millionths(shares)
    if rounded_down == 0:
        raise _meaningless("shares", value, f"is not above 0 and at most {MOST_AMOUNT:,}")
    return rounded_down


def parse_limit(value: object, scale: Scale = "share") -> int | None:
    """Return the price of a share in millionths, or None if no price is given.

    A plain number is in cents where all limits of the answer are. Raises `MeaninglessItem`.
    """
    if value is None:
        return None
    cents = _CENTS.fullmatch(as_text(value).strip())
    plain = plain_number(value)
    if cents is not None:
        price = _EXACT.divide(Decimal(cents[1]), Decimal(100))
    elif plain is None or scale == "share":
        price = _parse_dollars(value, "limit")
    elif scale == "percent" and 1 < plain < 100 and plain == plain.to_integral_value():
        price = _EXACT.divide(plain, Decimal(100))
    elif scale == "unclear" and 0 < plain < 100:
        raise _meaningless("limit", value, "may be in dollars or in cents: write each between 0 and 1")
    else:
        raise _meaningless("limit", value, "is not between 0 and 1")

    if not (0 < price < 1 and 0 < millionths(price) < ONE):
        raise _meaningless("limit", value, "is not between 0 and 1")
    return millionths(price)


def parse_side(value: object, verbs: Sequence[str] = ()) -> Side:
    """Return YES or NO, in whatever letters, which one of these verbs may stand before."""
    side = as_text(value).strip().lower()  # upper() would turn "yeſ" into "YES"
    words_before, _, last_word = side.rpartition(" ")
    if words_before.strip() in verbs:
        side = last_word

    if side == "yes":
        return "YES"
    if side == "no":
        return "NO"
    raise _meaningless("side", value, "is neither YES nor NO", '"')


def _parse_dollars(value: object, name: str) -> Decimal:
    """Return a number of dollars, whose currency may stand before it or behind it."""
    if not isinstance(value, str):
        return _parse_number(value, name)

    text = value.strip()
    currency_before = next((sign for sign in _CURRENCY_BEFORE if text.lower().startswith(sign)), "")
    number = text[len(currency_before) :].strip()
    currency_after = next((sign for sign in _CURRENCY_AFTER if number.lower().endswith(sign)), "")

    # "$5$" isn't understood, while "$5 dollars" is
    has_sign_too_many = currency_before and currency_after == "$"
    if currency_after and not has_sign_too_many:
        number = number[: -len(currency_after)].strip()

    thousands = _THOUSANDS.fullmatch(number)
    if name == "amount" and thousands is not None:
        return _EXACT.multiply(Decimal(thousands[1]), Decimal(1000))

    try:
        return _parse_number(number, name)
    except MeaninglessItem:
        return _parse_number(text, name)  # for its error, which quotes the whole text


def _parse_number(value: object, name: str) -> Decimal:
    """Return a finite number from a text with nothing else in it."""
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
