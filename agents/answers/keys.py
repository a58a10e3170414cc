"""The names in an answer: of markets, of keys, and which keys say the same.

A name stands for another only where it can mean nothing else.
"""

import re
from collections.abc import Mapping
from typing import Any

from agents.answers.figures import FULL_WIDTH, plain_number


def word_set(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())


MARKET_KEYS = word_set(
    "market marketid id m question questionid marketname name ticker marketticker marketnumber number "
    "contract event eventid ref code label title q"
)
CHANCE_KEYS = word_set(
    "probability prob p pyes probabilityyes probabilityofyes yesprobability probyes yesprob yes forecast "
    "value prediction estimate chance likelihood confidence estimatedprobability finalprobability "
    "forecastprobability predictedprobability probabilityestimate percent percentage pct probabilities "
    "belief credence likelihoodyes chanceyes ptrue probtrue"
)
PERCENT_KEYS = word_set("percent percentage pct")
NO_KEYS = word_set("no pno probabilityno probabilityofno noprobability probno noprob")
SIDE_KEYS = word_set("side outcome direction position resolution answer bet result")
TERM_KEYS = word_set("side amount fraction limit")
PRICE_KEYS = word_set("price limitprice pricelimit maxprice maximumprice minprice minimumprice pricecap")
"""What may be the worst price of an order, which its `limit` says, or another price."""
SIZE_KEYS = word_set("amount stake size fraction dollars shares quantity usd amountusd betamount")
ACTION_KEYS = word_set("action type ordertype operation move")
REASON_KEYS = word_set("reason reasoning rationale why explanation justification comment note notes")
USUAL_KEYS = frozenset(("market", "reason", "probability"))
MOST_KEYS = 50
_NAME = re.compile(
    r"(?:(?:market|question|id|no|nr|m|\u043c)?[\s._:#-]*)(?:(?:m|\u043c)[\s._-]*)?"
    r"0*([0-9]{1,6})(?:\.0+)?(?![\w.])(.*)",
    re.DOTALL,
)
_ANOTHER = re.compile(r"\bm[\s._-]*[0-9]|^\s*(?:[-–—,/&+]|to|and|or|through)\s*m?[0-9]")
_AT_THE_END = re.compile(r"[^\[\](){}]\s[(\[](m[0-9]+)[)\]]\s*$", re.IGNORECASE)
_WRAPPED_NAME = " \t\r\n\"'`*_#[](){}<>«»“”‘’|."


def plain_key(key: str) -> str:
    """A key without its letters' case and the marks between them."""
    return key if key.isalpha() and key.islower() else "".join(c for c in key.casefold() if c.isalnum())


def is_forecast(item: Mapping[str, Any]) -> bool:
    """Whether an object names a market and a probability."""
    if item.keys() == USUAL_KEYS:
        return True
    if len(item) > MOST_KEYS:
        return False
    keys = {plain_key(key): value for key, value in item.items()}
    stated = [_single(keys[key]) for key in (CHANCE_KEYS | NO_KEYS) & keys.keys()]
    return not MARKET_KEYS.isdisjoint(keys) and any(not isinstance(x, dict | list) for x in stated)


def market_named(name: Any, names: Mapping[str, Any]) -> Any:
    """The market that a name stands for; None where none does, or where more than one may."""
    if not isinstance(name, str):
        return None
    text = name[:400].translate(FULL_WIDTH).strip(_WRAPPED_NAME).casefold()
    if text in names:
        return names[text]
    if last := _AT_THE_END.search(name[:400]):
        first = name[: last.start() + 1].strip(_WRAPPED_NAME).casefold()
        return names.get(last[1].casefold()) if names.get(first) is None else None
    match = _NAME.match(text)
    if match is None or _ANOTHER.search(match[2]):
        return None
    return names.get(f"m{match[1]}")


def market_of(item: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """The market that an item is about, by its own key or by another that can only mean that."""
    name = item.get("market")
    if (market := names.get(name) if isinstance(name, str) else None) is not None:
        return market
    if (market := market_named(name, names)) is not None:
        return market
    others = {market_named(x, names) for key, x in item.items() if plain_key(key) in MARKET_KEYS} - {None}
    return others.pop() if len(others) == 1 else None


def chance_of(item: Mapping[str, Any]) -> Any:
    """The probability that an item states, as it is written; None where it states none, or two."""
    if len(item) > MOST_KEYS:
        return None
    if "probability" in item:
        return _single(item["probability"])
    found = {key: _single(x) for key, x in item.items() if plain_key(key) in CHANCE_KEYS and not _is_side(x)}
    values = {
        f"{value}%" if plain_key(key) in PERCENT_KEYS and "%" not in value else value
        for key, value in found.items()
        if isinstance(value, str) and any(c.isdigit() for c in value)
    }
    return values.pop() if len(values) == 1 else None


def _single(value: Any) -> Any:
    """The one value in a list or an object of one."""
    if isinstance(value, list) and len(value) == 1:
        return _single(value[0])
    if isinstance(value, dict) and len(value) <= 2:
        chances = [x for key, x in value.items() if plain_key(key) in CHANCE_KEYS]
        others = [x for key, x in value.items() if plain_key(key) in NO_KEYS]
        if (
            len(chances) == 1
            and len(value) == 1 + len(others)
            and all(_is_complement(x, chances[0]) for x in others)
        ):
            return chances[0]
    return value


def _is_side(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in ("yes", "no")


def _is_complement(no: Any, yes: Any) -> bool:
    """Whether two numbers are what is left of each other."""
    one, other = plain_number(_single(no)), plain_number(yes)
    return one is not None and other is not None and one + other in (1, 100)


def is_order(item: Mapping[str, Any]) -> bool:
    """Whether an object names a market, a side and how much."""
    if item.keys() == USUAL_KEYS or len(item) > MOST_KEYS:
        return False
    keys = {plain_key(key): value for key, value in item.items()}
    sides = any(_is_side(keys[key]) for key in SIDE_KEYS & keys.keys())
    return sides and all(names & keys.keys() for names in (MARKET_KEYS, SIZE_KEYS))


def odd_term(item: Mapping[str, Any], unlike: list[str]) -> str:
    """What makes it doubtful what an order asks for: the key, or nothing. `unlike` are other sorts of action.

    A term in other letters or under another name would be lost, and the order another one without it.
    """
    side = str(item.get("side", "")).strip().casefold()
    for key, value in item.items():
        plain, text = plain_key(key), str(value).strip().casefold()
        if value is not None and key not in TERM_KEYS:
            other_side = plain in SIDE_KEYS and _is_side(value) and side not in ("", text)
            if other_side or plain in TERM_KEYS | PRICE_KEYS or (plain in ACTION_KEYS and text in unlike):
                return key
    return ""


def side_beside(item: Mapping[str, Any]) -> str:
    """What makes it doubtful whose probability a forecast states: the key, or nothing."""
    if item.keys() <= USUAL_KEYS:
        return ""
    for key, value in item.items():
        plain = plain_key(key)
        if plain in NO_KEYS and value is not None and not _is_complement(value, chance_of(item)):
            return key
        if _is_side(value) and (plain in SIDE_KEYS or plain in CHANCE_KEYS):
            return key
    return ""
