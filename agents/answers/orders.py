"""Bets and sales as an answer writes them.

An order is filled at once, so nothing that it says may be lost. Its terms are known keys, what else may stand
beside them is a short list of keys that can't change what is wanted, and any other key makes it unclear.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from agents.answers.figures import (
    MeaninglessItem,
    Scale,
    may_be_thousands,
    parse_amount,
    parse_fraction,
    parse_limit,
    parse_shares,
    parse_side,
)
from agents.answers.grammar import NumberText
from agents.answers.keys import (
    ACTION_KEYS,
    DOLLAR_UNITS,
    MARKET_KEYS,
    REASON_KEYS,
    TEXT_KEYS,
    market_named,
    plain_key,
    word_set,
)
from agents.text import as_text, one_line
from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Bet, Sale

Order = Literal["bet", "sale"]
Fields = Mapping[str, Any]

MOST_REASON = 500
AMOUNT_KEYS = word_set(
    "amount amountusd amountdollars amountindollars usdamount dollaramount dollars usd betamount stake wager"
)
SIDE_KEYS = word_set("side outcome position direction option")
TERMS: Mapping[Order, Mapping[str, frozenset[str]]] = {
    "bet": {"side": SIDE_KEYS | {"bet"}, "amount": AMOUNT_KEYS, "limit": word_set("limit")},
    "sale": {
        "side": SIDE_KEYS,
        "fraction": word_set("fraction"),
        "shares": word_set("shares"),
        "limit": word_set("limit"),
    },
}
"""The keys under which each term of an order may stand."""
OPINION_KEYS = word_set(
    "confidence conviction certainty probability prob p pyes probabilityyes yesprobability probyes "
    "myprobability estimatedprobability forecast prediction estimate belief credence chance likelihood "
    "edge expectededge expectedvalue ev expectedreturn expectedprofit fairvalue fairprice "
    "priceseen seenprice currentprice marketprice marketprobability impliedprobability yesprice noprice"
)
"""Keys of what is believed of a market, or was seen of it."""
SAME_SIDE_KEYS = word_set("resolution answer result prediction forecast")
"""Keys that may name the side once more."""
ACTIONS: Mapping[Order, frozenset[str]] = {
    "bet": word_set("buy bet open purchase wager"),
    "sale": word_set("sell sale close exit"),
}
"""Actions that say no more than the list in which an order stands."""
NO_ACTIONS = word_set("hold skip pass none wait")
"""Actions by which an order asks for nothing."""
FIXED_VALUES: Mapping[str, frozenset[str]] = {
    "currency": frozenset(("usd", "$", "us$", "dollar", "dollars", "us dollars")),
    "unit": DOLLAR_UNITS,
    "leverage": frozenset(("1", "1x", "false")),
    "margin": frozenset(("0", "false")),
    **dict.fromkeys(
        (
            *("dryrun", "hypothetical", "conditional", "example", "simulated", "simulation", "test"),
            *("cancelled", "canceled", "void", "voided", "rejected", "expired", "withdrawn"),
        ),
        frozenset(("false",)),
    ),
}
"""Keys that would make an order another one, with the values by which they don't."""
DENIALS: Mapping[str, frozenset[str]] = {
    **FIXED_VALUES,
    **dict.fromkeys(("status", "state"), word_set("ok success final complete completed")),
    **dict.fromkeys(("condition", "conditions"), frozenset[str]()),
    **dict.fromkeys(
        word_set(
            "executable execute executeorders executebets submit submitorders submitbets placeorders "
            "placebets live confirmed approved enabled active actionable"
        ),
        frozenset(("true", "yes", "1")),
    ),
    **dict.fromkeys(
        word_set(
            "draft paper pending cancel cancelorders cancelbets cancelledbets canceledbets cancelledorders "
            "canceledorders requiresconfirmation needsconfirmation requiresapproval needsapproval"
        ),
        frozenset(("false", "no", "0")),
    ),
    **dict.fromkeys(
        word_set("units amountunit amountunits stakeunit stakeunits betunit sizeunit"), DOLLAR_UNITS
    ),
    **dict.fromkeys(("mode", "executionmode"), word_set("live real production normal standard")),
}
"""Keys that, beside the lists of an answer, may say of all its orders that they are none; and else."""
STATEMENT_KEYS = REASON_KEYS | word_set(
    "disclaimer warning warnings message instruction instructions caveat caveats remark remarks summary"
)
"""Keys of words that, beside the lists of an answer, may take back what is in them."""
WITHDRAWN_KEYS = word_set(
    "skip skipped abstain abstained withdrawn cancelled canceled void voided superseded declined refused "
    "example placeholder dummy draft hypothetical"
)
"""Keys by which a forecast disowns itself, and words that do so under a status."""
MOST_OPINION = 40
_NO_FORECAST = re.compile(
    r"^\W*(?:placeholder|dummy|filler)\b|^\W*(?:example|illustration|illustrative)\s+only\b"
    r"|^\W*(?:(?:this|it)\s+is\s+)?(?:the\s+|my\s+)?(?:probability|chance|likelihood)\s+of\s+no\b"
    r"|\bnot\s+(?:an?\s+|my\s+)?(?:real|actual|genuine)\s+(?:forecast|prediction|estimate|probabilit)",
    re.IGNORECASE,
)
"""Words by which a forecast disowns itself, or is one of NO."""
_DENIAL = re.compile(
    r"""
    \b(?:do\s+not|don['’]?t|never)\s+(?:actually\s+)?(?:execute|submit|fill|place|process|act\s+on|carry\s+out)\b
    | \b(?:not\s+to|(?:should|must|need)(?:\s+not|n['’]t))\s+be\s+
        (?:executed|submitted|filled|placed|processed|acted\s+on|carried\s+out)\b
    | \b(?:only|just|merely|purely|simply)\s+(?:an?\s+)?
        (?:example|illustrat|placeholder|hypothe|simulat|test\b|demo)
    | \b(?:example|illustration|illustrative|placeholder|hypothetical|demo|dummy|template|sample|test)
        \s+(?:only|order|bet|trade|sale)\b
    | \bfor\s+(?:illustration|demonstration|example\s+purposes|testing)\b
    | \b(?:not|isn['’]t)\s+an?\s+(?:real|actual|live)\s+(?:order|bet|trade|sale)\b
    | ^\W*dry[\s-]?run\b
    | \bhypothetical(?:ly)?\s*[.!]?\s*$
    | \b(?:order|bet|trade|sale)\s+(?:is|was|has\s+been)\s+(?:now\s+)?
        (?:cancell?ed|void(?:ed)?|rejected|expired|withdrawn|hypothetical|conditional)\b
    | ^\W*(?:cancell?ed|void(?:ed)?|rejected|expired|withdrawn|example|hypothetical|conditional|inactive)\b\W*
        (?:$|[:(,;-])
    | ^\W*(?:only\s+(?:if|when|once|after)|unless|no\s+(?:bet|trade|order|sale)\b|(?:skip|pass|hold)\W*$)
    | \b(?:execute|fill|place|valid|buy|sell|bet|order|active|trade)\s+(?:this\s+|it\s+)?
        only\s+(?:if|when|once|after)\b
    | \b(?:execute|fill|place|buy|sell|bet|enter|trigger)\s+(?:this\s+|it\s+|yes\s+|no\s+)?
        (?:if|when|once|after)\s+(?:it|m[0-9]+|(?:the\s+)?(?:price|odds|market|yes|no))\b
    | \b(?:amounts?|stakes?|bets?)\s+(?:are\s+|is\s+)?in\s+
        (?:thousands|hundreds|cents|percent|shares|units|euros?)\b
    | \bI\s*(?:would|do|will|['’]d)(?:\s+not|n['’]t)\s+(?:actually\s+|really\s+)?bet
        (?:\s+(?:on\s+)?(?:this|that|it|here|at\s+all)\b|\s*[.!]|\s*$)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words by which an order disowns itself, or sets a condition."""


def order_terms(
    item: Fields, order: Order, market: MarketId, market_by_name: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the terms of an order by their own names.

    Raises `MeaninglessItem` where it says anything that isn't understood.
    """
    terms = _stated_terms(item, order)
    for key, value in item.items():
        plain = plain_key(key)
        if plain == "market" or _term_named(plain, order) is not None or _is_empty(value):
            continue

        text = str(value).strip().casefold()
        if plain in ACTION_KEYS and text in NO_ACTIONS:
            raise MeaninglessItem("no_order", f'"{one_line(key, 40)}" says that nothing is wanted')

        if plain in MARKET_KEYS:
            is_harmless = _names_no_other_market(value, market, market_by_name)
        elif plain in ACTION_KEYS:
            is_harmless = _is_this_action(text, order, terms)
        else:
            is_harmless = _is_harmless(plain, value, terms)

        if not is_harmless:
            raise _unclear_order(key, order)

    amount = terms.get("amount")
    if not isinstance(amount, NumberText) and may_be_thousands(amount):
        words = "may be in thousands: write 1500 or 1.50"
        raise MeaninglessItem("amount", f'the amount "{one_line(amount, 40)}" {words}')
    return {**terms, "reason": reason_of(item)}


def _stated_terms(item: Fields, order: Order) -> dict[str, Any]:
    """Return the terms that an order states. Raises `MeaninglessItem` where one is stated twice."""
    terms: dict[str, Any] = {}
    for key, value in item.items():
        term = _term_named(plain_key(key), order)
        if term is None:
            continue
        if terms.get(term) is None:
            terms[term] = value
        elif value is not None and not _is_same_text(terms[term], value):
            raise _unclear_order(key, order)

    if terms.get("fraction") is not None and terms.get("shares") is not None:
        raise _unclear_order("shares", order)
    return terms


def _is_empty(value: Any) -> bool:
    """Return whether nothing is said under a key."""
    return value is None or value in ("", [], {})


def _term_named(plain: str, order: Order) -> str | None:
    """Return the term for which a key stands."""
    for name, keys in TERMS[order].items():
        if plain in keys:
            return name
    return None


def _is_same_text(value: Any, other: Any) -> bool:
    """Tell whether two values are equal as texts, ignoring case."""
    return str(value).strip().casefold() == str(other).strip().casefold()


def _is_harmless(plain: str, value: Any, terms: Fields) -> bool:
    """Return whether the value of a key, in its plain form, leaves an order as it is."""
    if plain in TEXT_KEYS:
        return _is_text_without_denial(value)

    text = str(value).strip().casefold()
    if plain in FIXED_VALUES:
        return text in FIXED_VALUES[plain]

    is_side = text in ("yes", "no")
    if plain in SAME_SIDE_KEYS and is_side:
        return _is_same_text(terms.get("side"), text)

    is_short_text = isinstance(value, str) and len(value) <= MOST_OPINION
    return plain in OPINION_KEYS and is_short_text and not is_side and not _DENIAL.search(value)


def _names_no_other_market(value: Any, market: MarketId, market_by_name: Mapping[str, Any]) -> bool:
    """Return whether a value names this market, or is a text such as its question."""
    if not isinstance(value, str):
        return False

    market_of_value: MarketId | None = market_named(value, market_by_name)
    if market_of_value is not None:
        return market_of_value == market

    has_letters = any(map(str.isalpha, value))
    return has_letters and not _DENIAL.search(value)


def _is_text_without_denial(value: Any) -> bool:
    """Tell whether a value is a text, or a list of texts, that doesn't deny the order beside it."""
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, str) and not _DENIAL.search(text) for text in texts)


def _is_this_action(text: str, order: Order, terms: Fields) -> bool:
    """Return whether an action only repeats what the order's list, its side and its limit say."""
    if text in ACTIONS[order]:
        return True
    if text in ("limit", "limit order"):
        return terms.get("limit") is not None
    if text in ("market", "market order"):
        return terms.get("limit") is None

    first_word, _, other_words = text.partition(" ")
    side = text
    if first_word in ACTIONS[order]:
        side = other_words  # "yes" of "buy yes"
    return side in ("yes", "no") and _is_same_text(terms.get("side"), side)


def denying_key(values: Fields) -> str:
    """Return the key, beside the lists of an answer, that makes all its orders doubtful, or ""."""
    for key, value in values.items():
        if _is_empty(value):
            continue

        plain = plain_key(key)
        harmless_values = DENIALS.get(plain)
        if harmless_values is not None and str(value).strip().casefold() not in harmless_values:
            return key

        texts = value if isinstance(value, list) else [value]
        if plain in STATEMENT_KEYS and any(isinstance(text, str) and _DENIAL.search(text) for text in texts):
            return key

    return ""


def denying_words(text: str) -> str:
    """Return the words in a text around an answer by which its orders are none, or ""."""
    for match in _DENIAL.finditer(text):
        # "I never place …" tells of the writer's habits, and not of these orders
        follows_pronoun = re.search(r"\b(?:I|we)\s+$", text[: match.start()], re.IGNORECASE)
        if follows_pronoun is None:
            return match[0].strip()
    return ""


def disowning_key(values: Fields) -> str:
    """Return the key by which a forecast, or an object with a list of them, is denied, or ""."""
    for key, value in values.items():
        plain = plain_key(key)
        text = str(value).strip().casefold()
        if plain in WITHDRAWN_KEYS and text in ("true", "yes", "1"):
            return key
        if plain in ("status", "state", "action") and text in WITHDRAWN_KEYS:
            return key
        if plain in STATEMENT_KEYS and isinstance(value, str) and _NO_FORECAST.search(value):
            return key

    return ""


def _unclear_order(key: str, order: Order) -> MeaninglessItem:
    size = "a fraction or a number of shares"
    if order == "bet":
        size = "an amount in dollars"
    words = f"a {order} has a market, a side, {size}, and perhaps a limit and a reason"
    return MeaninglessItem("unclear_order", f'"{one_line(key, 40)}" makes it unclear what is wanted: {words}')


def limit_values(items: Iterable[Any]) -> list[Any]:
    """Return the limits that orders state, to tell from all of them whether they are in cents."""
    limits = []
    for item in items:
        if isinstance(item, dict):
            limits += [value for key, value in item.items() if plain_key(key) == "limit"]
    return limits


def bet_of(terms: Fields, market: MarketId, scale: Scale = "share") -> Bet:
    """Return the bet that these terms ask for."""
    side = parse_side(terms.get("side"), ("buy", "bet", "bet on"))
    amount = parse_amount(terms.get("amount"))
    limit = parse_limit(terms.get("limit"), scale)
    return Bet(market, side, amount, limit, reason_of(terms))


def sale_of(terms: Fields, market: MarketId, scale: Scale = "share") -> Sale:
    """Return the sale that these terms ask for: of a fraction of a position, or of a number of shares."""
    side = parse_side(terms.get("side"), ("sell",))
    shares = None
    fraction = None

    if terms.get("shares") is not None:
        shares = parse_shares(terms["shares"])
    else:
        fraction_stated = parse_fraction(terms.get("fraction"))
        if fraction_stated != ONE:  # a sale without a fraction is one of the whole position
            fraction = fraction_stated

    limit = parse_limit(terms.get("limit"), scale)
    return Sale(market, side, shares, fraction, limit, reason_of(terms))


def reason_of(item: Fields) -> str:
    """Return the reason that an item gives, under whatever key; "" where it gives none."""
    reason = item.get("reason")
    if reason is None:
        reason = next((value for key, value in item.items() if plain_key(key) in REASON_KEYS), None)
    return one_line(as_text(reason), MOST_REASON)
