"""What a number or a side in an answer means, exactly; or why it means nothing."""

import re
from decimal import ROUND_DOWN, Context, Decimal

from agents.text import one_line
from markets.millionths import ONE, millionths
from portfolio.model import Side

MOST_AMOUNT = 1_000_000_000
_LONGEST = 40
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_EXACT = Context(prec=2 * _LONGEST, rounding=ROUND_DOWN)


class Meaningless(ValueError):
    """An item of an answer that can't be taken for anything: a stable code, and words."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


def probability(value: object) -> int:
    """A probability in millionths; a percentage only where it says so.

    >>> probability("0.4"), probability("40%")
    (400000, 400000)
    >>> probability("40")
    Traceback (most recent call last):
    agents.figures.Meaningless: the probability 40 is not between 0 and 1
    """
    p = _share(value, "probability")
    if not 0 <= p <= 1:
        raise Meaningless("probability", f"the probability {one_line(str(value), 40)} is not between 0 and 1")
    return millionths(p)


def fraction(value: object) -> int:
    """A part of a position in millionths, above 0 and at most the whole."""
    if isinstance(value, str) and value.strip().lower() == "all":
        return ONE
    part = _share(value, "fraction")
    if not (0 < part <= 1 and millionths(part) > 0):
        raise Meaningless("fraction", f"the fraction {one_line(str(value), 40)} is not above 0 and up to 1")
    return millionths(part)


def amount(value: object) -> int:
    """Dollars in millionths, never more than was written.

    >>> amount("$1,250.5")
    1250500000
    """
    dollars = _dollars(value, "amount")
    if not 0 < dollars <= MOST_AMOUNT or (exact := int(_EXACT.multiply(dollars, Decimal(ONE)))) == 0:
        shown = one_line(str(value), 40)
        raise Meaningless("amount", f"the amount {shown} is not above 0 and at most {MOST_AMOUNT:,} dollars")
    return exact


def limit(value: object) -> int | None:
    """The price of a share in millionths; none where none is given."""
    if value is None:
        return None
    price = _dollars(value, "limit")
    if not (0 < price < 1 and 0 < millionths(price) < ONE):
        raise Meaningless("limit", f"the limit {one_line(str(value), 40)} is not between 0 and 1")
    return millionths(price)


def side(value: object) -> Side:
    """YES or NO, in whatever letters.

    >>> side(" yes ")
    'YES'
    """
    match (
        value.strip().lower() if isinstance(value, str) else value
    ):  # upper() makes more of "yeſ" than it says
        case "yes":
            return "YES"
        case "no":
            return "NO"
    raise Meaningless("side", f'the side "{one_line(str(value), 40)}" is neither YES nor NO')


def _share(value: object, name: str) -> Decimal:
    """A number from 0 to 1, which may be written as a percentage."""
    if isinstance(value, str) and (text := value.strip()).endswith("%"):
        return _EXACT.divide(_number(text[:-1], name), Decimal(100))
    return _number(value, name)


def _dollars(value: object, name: str) -> Decimal:
    return _number(value.strip().removeprefix("$") if isinstance(value, str) else value, name)


def _number(value: object, name: str) -> Decimal:
    """A finite number from its text, which has nothing else in it."""
    if not isinstance(value, str):
        kind = {bool: "true or false", type(None): "missing"}.get(type(value), "not a number")
        raise Meaningless(name, f"the {name} is {kind}")
    text = value.strip()
    if len(text) > _LONGEST:
        raise Meaningless(name, f'the {name} "{one_line(text, 40)}" is longer than {_LONGEST} characters')
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    if _GROUPED.fullmatch(text):
        return Decimal(text.replace(",", ""))
    raise Meaningless(name, f'the {name} "{one_line(value, 40)}" is not a number')
