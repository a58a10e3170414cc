"""The names in an answer: of markets and of keys, and which keys are synonyms.

A name stands for another only where it can mean nothing else.
"""

import re
from collections.abc import Mapping
from typing import Any

from agents.answers.figures import PLAIN_SIGNS, PercentText, plain_number, share_of


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


MARKET_KEYS = word_set(
    "market marketid id m question questionid marketname name ticker marketticker marketnumber number "
    "contract event eventid ref code label title q"
)
CHANCE_KEYS = word_set(
    "probability prob p pyes probabilityyes probabilityofyes yesprobability probyes yesprob yes forecast "
    "value prediction estimate chance likelihood confidence estimatedprobability finalprobability "
    "forecastprobability predictedprobability probabilityestimate percent percentage pct probabilities "
    "belief credence likelihoodyes chanceyes ptrue probtrue posterior posteriorprobability "
    "revisedprobability updatedprobability adjustedprobability correctedprobability calibratedprobability"
)
OPTION_KEYS = word_set("options distribution probabilities outcomes")
"""Keys of an object that has a probability of each option."""
WEAK_KEYS = word_set("confidence value forecast prediction estimate")
"""Keys that may hold another number beside a `probability`."""
NO_KEYS = word_set("no pno probabilityno probabilityofno noprobability probno noprob")
SIDE_KEYS = word_set(
    "side outcome direction position resolution answer bet result option choice pick selection contract"
)
SIZE_KEYS = word_set("amount stake size fraction dollars shares quantity usd amountusd betamount")
ACTION_KEYS = word_set("action type ordertype operation move")
REASON_KEYS = word_set("reason reasoning rationale why explanation justification comment note notes")
TEXT_KEYS = REASON_KEYS | word_set("thoughts thought thinking thesis argument evidence summary basis")
"""Keys of words about a forecast or an order."""
UNIT_KEYS = word_set("unit units scale probabilityunit probabilityunits probabilityscale")
SHARE_UNITS = frozenset(("0-1", "0 to 1", "[0,1]", "[0, 1]", "probability", "fraction", "decimal", "share"))
PERCENT_UNITS = frozenset(("%", "percent", "percentage", "percentages", "pct", "0-100", "0 to 100"))
DOLLAR_UNITS = frozenset(("usd", "$", "dollar", "dollars"))
NO_SIDES = frozenset(("", "none", "null", "n/a", "hold", "skip", "pass", "wait", "flat"))
"""Values in the place of a side that name none."""
USUAL_KEYS = frozenset(("market", "reason", "probability"))
MOST_KEYS = 50
_PERCENT_WORD = re.compile("^(?:percentage|percent|pct)|(?:percentage|percent|pct)$")
_NAME = re.compile(
    r"(?P<prefix>(?:market|question|id|no|nr|m|\u043c)?[\s._:#-]*(?:(?:m|\u043c)[\s._-]*)?)"
    r"0*(?P<number>[0-9]{1,6})(?:\.0+)?(?![\w.])(?P<rest>.*)",
    re.DOTALL,
)
_WITH_LETTER = re.compile(r"(?:^|[^a-z])[m\u043c][\s._-]*$")
"""A prefix with the letter that all names of markets have."""
_APART = re.compile(r"\s*(?:[:)\]|–—]|-\s|$)")
"""What separates a number from the question after it, as in 1: Will it rain?"""
_ANOTHER = re.compile(r"\bm[\s._-]*[0-9]|^\s*(?:[-–—,/&+]|to|and|or|through)\s*m?[0-9]")
_ONE_SIDE = re.compile(
    r"[\W_]*(?:yes|no)[\W_]*$|.*\bno[\W_]*$|.*\b(?:prob\w*|chance|likelihood|odds)\b.*\b(?:no|not)\b"
    r"|.*\bno[\s-]+(?:side|wins?|outcome|resolution)\b",
    re.DOTALL,
)
"""A side of a market after its name: its probability isn't that of the market."""
_AT_THE_END = re.compile(r"[^\[\](){}]\s[(\[](m[0-9]+)[)\]]\s*$", re.IGNORECASE)
_SIDE_FIRST = re.compile(r"\W*(?:yes|no|true|false)\b")
_WRAPPED_NAME = " \t\r\n\"'`*_#[](){}<>«»“”‘’|."


def plain_key(key: str) -> str:
    """Return a key in lower case without punctuation."""
    if key.isalpha() and key.islower():
        return key
    return "".join(filter(str.isalnum, key.casefold()))


def stem_of(key: str) -> str:
    """Return a plain key without the word for a percentage that it may begin or end with.

    >>> stem_of("Probability_Percent"), stem_of("percent"), stem_of("probability")
    ('probability', '', 'probability')
    """
    return _PERCENT_WORD.sub("", plain_key(key), count=1)


def is_percent_key(key: str) -> bool:
    """Return whether a key says that its number is a percentage: `percent`, `chance_pct`, `P (%)`."""
    stem = stem_of(key)
    is_marked = "%" in key or stem != plain_key(key)
    return is_marked and (stem == "" or stem in CHANCE_KEYS or stem in NO_KEYS)


def is_chance_key(key: str) -> bool:
    """Return whether the probability of YES may stand under a key."""
    return plain_key(key) in CHANCE_KEYS or (is_percent_key(key) and not _is_no_key(key))


def _may_hold_chance(key: str, value: Any) -> bool:
    """Return whether a value under this key may be the probability of YES, or an object that has it."""
    return is_chance_key(key) or (isinstance(value, dict) and plain_key(key) in OPTION_KEYS)


def _is_no_key(key: str) -> bool:
    """Return whether the probability of NO may stand under a key."""
    return stem_of(key) in NO_KEYS


def as_percent_if_key_says(key: str, value: Any) -> Any:
    """Return a value as its key says that it is meant: a number under a key of percentages is one."""
    if is_percent_key(key) and isinstance(value, str) and plain_number(value) is not None:
        return PercentText(f"{value.strip()}%")
    return value


def is_forecast(item: Mapping[str, Any]) -> bool:
    """Return whether an object names a market and a probability."""
    if item.keys() == USUAL_KEYS:
        return True
    if len(item) > MOST_KEYS or MARKET_KEYS.isdisjoint(map(plain_key, item)):
        return False

    for key, value in item.items():
        may_hold_chance = _may_hold_chance(key, value) or _is_no_key(key)
        if may_hold_chance and not isinstance(_only_value(value), dict | list):
            return True
    return False


def market_named(name: Any, market_by_name: Mapping[str, Any]) -> Any:
    """Return the market that a name stands for, or None if there is none or several."""
    if not isinstance(name, str):
        return None

    start = name[:400]
    text = start.translate(PLAIN_SIGNS).strip(_WRAPPED_NAME).casefold()
    if text in market_by_name:
        return market_by_name[text]

    id_at_end = _AT_THE_END.search(start)  # as in: Will it rain? (m3)
    if id_at_end:
        text_before = name[: id_at_end.start() + 1].strip(_WRAPPED_NAME).casefold()
        if market_by_name.get(text_before) is not None:
            return None
        return market_by_name.get(id_at_end[1].casefold())

    match = _NAME.match(text)
    if match is None:
        return None

    rest = match["rest"]
    if _ANOTHER.search(rest) or _ONE_SIDE.match(rest):
        return None

    # a number without the letter m, as in 1: Will it rain?, is set apart from what follows
    has_letter = _WITH_LETTER.search(match["prefix"])
    if not has_letter and not _APART.match(rest):
        return None
    return market_by_name.get(f"m{match['number']}")


def question_name(question: str) -> str:
    """Return a market's question in the form in which `market_named` looks names up."""
    return question.translate(PLAIN_SIGNS).strip(_WRAPPED_NAME).casefold()


def market_of(item: Mapping[str, Any], market_by_name: Mapping[str, Any]) -> Any:
    """Return the market that an item is about, by its own key or by another that can only mean that.

    None where it names none, or by their whole names two.
    """
    name = item.get("market")
    market = market_by_name.get(name) if isinstance(name, str) else None
    if market is None:
        market = market_named(name, market_by_name)

    if market is not None:
        has_unusual_keys = bool(item.keys() - USUAL_KEYS)
        if has_unusual_keys and _names_another_market(item, market, market_by_name):
            return None
        return market

    markets = set()
    for key, value in item.items():
        if plain_key(key) in MARKET_KEYS:
            markets.add(market_named(value, market_by_name))
    markets.discard(None)

    if len(markets) != 1:
        return None
    return markets.pop()


def _names_another_market(item: Mapping[str, Any], market: Any, market_by_name: Mapping[str, Any]) -> bool:
    """Return whether a key of an item holds the whole name of another market."""
    for key, value in item.items():
        if isinstance(value, str) and plain_key(key) in MARKET_KEYS:
            market_of_value = market_by_name.get(value.strip().casefold())
            if market_of_value is not None and market_of_value != market:
                return True
    return False


def chance_of(item: Mapping[str, Any]) -> Any:
    """Return the probability that an item states, as it is written; None where it states none, or two."""
    if len(item) > MOST_KEYS:
        return None

    has_usual_key = "probability" in item
    usual = _only_value(item["probability"]) if has_usual_key else None
    if item.keys() <= USUAL_KEYS:
        return usual

    stated = _stated_chances(item, has_usual_key)
    if any(isinstance(value, dict) for value in stated):
        return None

    if usual is not None:
        if not isinstance(usual, str):
            return usual
        stated.insert(0, usual)
    elif _states_confidence_alone(item):
        return None

    return _in_unit(_common_chance(stated), item)


def _states_confidence_alone(item: Mapping[str, Any]) -> bool:
    """Return whether all that an item states is a confidence, beside a key that may say in what."""
    chance_keys = {key for key in item if is_chance_key(key) and share_of(_only_value(item[key])) is not None}
    if set(map(stem_of, chance_keys)) != {"confidence"}:
        return False

    other_keys = set(map(plain_key, item)) - MARKET_KEYS - REASON_KEYS - {"probability"}
    return len(other_keys) > len(chance_keys)


def unit_key(values: Mapping[str, Any]) -> str | None:
    """Return the key of an object that tells the unit of its probabilities, or None."""
    for key, value in values.items():
        if plain_key(key) in UNIT_KEYS and isinstance(value, str):
            unit = value.strip().casefold()
            if unit not in DOLLAR_UNITS:
                return key
    return None


def _in_unit(value: Any, item: Mapping[str, Any]) -> Any:
    """Return a value in the unit that its item names; None where that is neither a share nor a percentage."""
    key = unit_key(item)
    if key is None or plain_number(value) is None:
        return value

    unit = item[key].strip().casefold()
    if unit in PERCENT_UNITS:
        return PercentText(f"{value.strip()}%")
    if unit in SHARE_UNITS:
        return value
    return None


def _stated_chances(item: Mapping[str, Any], has_usual_key: bool) -> list[Any]:
    """Return what an item states under keys of probabilities, but under `probability` itself.

    Beside that, keys that often hold another number are left out.
    """
    stated = list[Any]()
    for key, value in item.items():
        if key == "probability" or not _may_hold_chance(key, value):
            continue
        if has_usual_key and stem_of(key) in WEAK_KEYS:
            continue

        stated_value = _only_value(value)
        if isinstance(stated_value, dict) and stated_value and plain_key(key) in OPTION_KEYS:
            stated.append(stated_value)
        elif (
            isinstance(stated_value, str)
            and not _is_side(stated_value)
            and any(map(str.isdigit, stated_value))
        ):
            stated.append(as_percent_if_key_says(key, stated_value))

    return stated


def _common_chance(values: list[Any]) -> Any:
    """Return the probability that these values state alike, with its scale where one of them has it.

    None where two are different, or where that can't be told.
    """
    if len(set(values)) <= 1:
        return next(iter(values), None)

    values_with_scale = [value for value in values if plain_number(value) is None]
    first = (values_with_scale or values)[0]
    expected = share_of(first)
    if expected is None:
        return None

    for value in values:
        share = share_of(value)
        meanings = {share}
        # beside 40%, a plain 40 means the same
        if values_with_scale and share is not None and plain_number(value) is not None:
            meanings.add(share / 100)
        if expected not in meanings:
            return None

    return first


def _only_value(value: Any) -> Any:
    """Return the one value in a list or an object of one; return other values unchanged.

    An object may have the probability of NO too, if it complements that of YES.
    """
    if isinstance(value, list) and len(value) == 1:
        return _only_value(value[0])
    if not isinstance(value, dict) or len(value) > 2:
        return value

    yes_values = [as_percent_if_key_says(key, number) for key, number in value.items() if is_chance_key(key)]
    no_values = [as_percent_if_key_says(key, number) for key, number in value.items() if _is_no_key(key)]
    has_other_keys = len(value) != len(yes_values) + len(no_values)
    if len(yes_values) != 1 or has_other_keys:
        return value

    if all(_is_complement(no_value, yes_values[0]) for no_value in no_values):
        return yes_values[0]
    return value


def _is_side(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in ("yes", "no")


def _is_complement(no: Any, yes: Any) -> bool:
    """Tell whether two numbers, or two percentages, complement each other."""
    no_value = _only_value(no)
    yes_value = _only_value(yes)
    no_share = share_of(no_value)
    yes_share = share_of(yes_value)
    if no_share is None or yes_share is None:
        return False

    are_plain = plain_number(no_value) is not None and plain_number(yes_value) is not None
    return no_share + yes_share == 1 or (are_plain and no_share + yes_share == 100)


def is_order(item: Mapping[str, Any]) -> bool:
    """Return whether an object names a market, a side and a size."""
    if item.keys() == USUAL_KEYS or len(item) > MOST_KEYS:
        return False

    value_by_key = {plain_key(key): value for key, value in item.items()}
    keys = value_by_key.keys()
    has_side = any(_is_side(value_by_key[key]) for key in SIDE_KEYS & keys)
    return has_side and not MARKET_KEYS.isdisjoint(keys) and not SIZE_KEYS.isdisjoint(keys)


def key_casting_doubt_on_side(item: Mapping[str, Any]) -> str:
    """Return the key that makes it doubtful which side's probability a forecast states; else nothing."""
    if item.keys() <= USUAL_KEYS:
        return ""

    for key, value in item.items():
        is_no = _is_no_key(key) and value is not None
        if is_no and not _is_complement(as_percent_if_key_says(key, value), chance_of(item)):
            return key
        if _may_name_side(plain_key(key), value):
            return key

    return ""


def _may_name_side(plain: str, value: Any) -> bool:
    """Return whether what stands under a key may say of which side, or option, a probability is."""
    if plain in TEXT_KEYS or plain in MARKET_KEYS - SIDE_KEYS:
        return False

    is_side_key = plain in SIDE_KEYS - MARKET_KEYS
    if isinstance(value, bool):
        return is_side_key or plain in CHANCE_KEYS
    if not isinstance(value, str):
        return False

    text = value.strip().casefold()
    if _SIDE_FIRST.match(text):
        # under a key of markets, "Yes, it rains" may be a name, and a bare "yes" is none
        return plain not in MARKET_KEYS or text in ("yes", "no")
    return is_side_key and text not in NO_SIDES and any(map(str.isalpha, text))
