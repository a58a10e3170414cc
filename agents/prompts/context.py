"""The facts of a prompt about a market beyond page and price: time left, history, event, past forecasts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from agents.model import PastForecast, Stage, View
from agents.prompts.other_questions import past_outcome, said_answer
from agents.text import one_line, quoted_lines
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote
from portfolio.money import number

if TYPE_CHECKING:
    from markets.ladders import MarketFamily

MOST_NAMED = 5
"""How many of an event's other markets are shown: the likeliest, or the first where prices are hidden."""
LONGEST_REASON = 240
LONGEST_QUESTION = 240

# every agent of a round is shown the same prices and questions
figure_text = lru_cache(maxsize=4096)(number)
_question_line = lru_cache(maxsize=2048)(one_line)


def context_facts(
    view: View, listings: Sequence[Listing], ids: Mapping[MarketId, str], prices: bool, stage: Stage
) -> dict[MarketId, dict[str, Any]]:
    """Return for each market the facts that a template can use beside page, price and articles.

    Without prices there is nothing here that a quote says, however old, and nothing in an order of prices.
    """
    event_lines = {} if view.siblings is None else _event_lines(view, ids)
    siblings_by_event = view.siblings or {}
    past = {item.forecast.market_id: item for item in _forecasts_of_stage(view.past.values(), stage)}
    events_shown = set[str]()
    facts: dict[MarketId, dict[str, Any]] = {}

    for listing in listings:
        market = listing.market
        volume = 0
        if listing.quote and listing.quote.volume:
            volume = listing.quote.volume

        # the other markets of an event stand at its first market only
        siblings: Sequence[Listing] = ()
        if market.event_id not in events_shown:
            siblings = siblings_by_event.get(market.event_id, ())
        events_shown.add(market.event_id)

        facts[market.id] = {
            "left": time_left(market.closes_at - view.snapshot.at),
            "volume": f"${volume // ONE:,}" if prices and volume >= ONE else None,
            "history": _history_text(view.history.get(market.id, ())) if prices else None,
            "event": event_lines.get(market.id),
            "siblings": _siblings_text(siblings, prices),
            "past": _past_facts(past.get(market.id)),
        }

    return facts


def results_facts(ended: Sequence[PastForecast], prices: bool, stage: Stage) -> dict[str, Any]:
    """Return how the agent's forecasts have ended since the last round, with Brier scores."""
    rows = [_result_facts(item, prices) for item in _forecasts_of_stage([ended], stage)]
    scored = [row for row in rows if row["brier"] is not None]
    priced = [row for row in scored if row["price_brier"] is not None]
    line = ""

    if scored:
        line = (
            f"Your mean Brier score on these is {_mean(scored, 'brier')}: 0 is perfect, saying 0.5 gets 0.25."
        )
        if len(priced) == len(scored):
            line += f" That of the prices of when you said it is {_mean(priced, 'price_brier')}."

    return {"results": rows, "results_line": line}


def time_left(left: timedelta) -> str:
    """Return the time left in the largest unit that it fills.

    >>> time_left(timedelta(days=1, hours=9)), time_left(timedelta(minutes=90)), time_left(timedelta(0))
    ('in 1 day', 'in 1 hour', 'closed')
    """
    if left <= timedelta(0):
        return "closed"

    for count, unit in ((left.days, "day"), (left.seconds // 3600, "hour"), (left.seconds // 60, "minute")):
        if count:
            return f"in {count:,} {unit}{'' if count == 1 else 's'}"
    return "in less than a minute"


def _forecasts_of_stage(groups: Any, stage: Stage) -> list[PastForecast]:
    """Return the forecasts made before prices were shown, or for the final stage the final ones."""
    stage_stated = "blind" if stage == "blind" else "final"
    return [past for past in chain.from_iterable(groups) if past.forecast.stage == stage_stated]


def _past_facts(last: PastForecast | None) -> dict[str, str] | None:
    if last is None:
        return None

    reason = one_line(last.forecast.reason, LONGEST_REASON)
    probability = figure_text(last.forecast.millionths)
    if last.form:
        # It may name options, which are text from outside: it goes behind a bar of its own.
        probability = f"this one\n{said_answer(last.forecast, last.form)}"

    if reason:
        reason = quoted_lines(reason)
    return {"at": _day_text(last.at), "probability": probability, "reason": reason}


def _result_facts(ended: PastForecast, prices: bool) -> dict[str, Any]:
    """Return how a question ended, what was said of it and, where prices are shown, its price then."""
    if ended.form:
        return _other_result_facts(ended)

    probability = ended.forecast.millionths
    price = ended.price if prices else None
    outcome = ended.outcome  # None where a market ended as neither
    brier = None
    price_brier = None
    if outcome is not None:
        brier = (probability / ONE - outcome) ** 2
        if price is not None:
            price_brier = (price / ONE - outcome) ** 2

    return {
        "question": quoted_lines(_question_line(ended.question, LONGEST_QUESTION)),
        "at": _day_text(ended.at),
        "said": figure_text(probability),
        "price": None if price is None else figure_text(price),
        "ended": "neither YES nor NO" if outcome is None else ("NO", "YES")[outcome],
        "brier": brier,
        "price_brier": price_brier,
    }


def _other_result_facts(ended: PastForecast) -> dict[str, Any]:
    """Return how a question that isn't of yes or no ended: answers stand behind bars, below it."""
    lines = [
        quoted_lines(_question_line(ended.question, LONGEST_QUESTION)),
        "You said:",
        said_answer(ended.forecast, ended.form),
        "It came to:",
        past_outcome(ended),
    ]
    return {
        "question": "\n".join(lines),
        "at": _day_text(ended.at),
        "said": "what stands below the question",
        "price": None,
        "ended": "as stands there too",
        "brier": None,
        "price_brier": None,
    }


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    return f"{sum(row[key] for row in rows) / len(rows):.3f}"


def _history_text(quotes: Sequence[Quote]) -> str | None:
    """Return earlier prices, each with its day."""
    parts = [
        f"{figure_text(quote.price)} on {_day_text(quote.at)}" for quote in quotes if quote.price is not None
    ]
    return ", ".join(parts) or None


def _siblings_text(others: Sequence[Listing], prices: bool) -> str | None:
    """Return the markets of an event that are not on offer, a fenced line each."""
    if not others:
        return None

    shown = others
    if prices:
        # the likeliest first, those without a price last
        shown = sorted(others, key=lambda other: (-_price_or_minus_one(other), other.market.id))

    lines = []
    for other in shown[:MOST_NAMED]:
        line = _question_line(other.market.question, LONGEST_QUESTION)
        price = _price_or_minus_one(other)
        if prices and price >= 0:
            line += f" (YES {figure_text(price)})"
        lines.append(line)

    return quoted_lines("\n".join(lines))


def _price_or_minus_one(listing: Listing) -> int:
    if listing.quote is None or listing.quote.price is None:
        return -1
    return listing.quote.price


def _event_lines(view: View, ids: Mapping[MarketId, str]) -> dict[MarketId, str]:
    """Return how each market relates to others of its event, by their names in the prompt."""
    markets_by_event = defaultdict[str, list[Market]](list)
    siblings = view.siblings or {}
    for listing in view.snapshot:
        markets_by_event[listing.market.event_id].append(listing.market)

    lines: dict[MarketId, str] = {}
    for event, markets in markets_by_event.items():
        others = siblings.get(event, ())
        if len(markets) + len(others) < 2:
            continue
        families = _families_of((*markets, *(other.market for other in others)))
        for market in markets:
            family = next((family for family in families if market.id in family.market_ids), None)
            line = _event_line(market, markets, family, ids)
            if line:
                lines[market.id] = line

    return lines


@lru_cache(maxsize=1024)  # every agent of a round is shown the same events
def _families_of(markets: tuple[Market, ...]) -> "list[MarketFamily]":
    from markets.ladders import families  # its patterns take long to compile, and few commands need them

    return families(markets)


def _event_line(
    market: Market,
    markets_of_event: Sequence[Market],
    family: "MarketFamily | None",
    ids: Mapping[MarketId, str],
) -> str:
    if family is None:
        names = [ids[other.id] for other in markets_of_event if other.id != market.id]
        if not names:
            return "has other markets too"
        return f"the same as that of {', '.join(names)}"

    names = [ids[member] for member in family.market_ids if member in ids]
    count_not_offered = len(family.market_ids) - len(names)
    members = ", ".join(names)
    if count_not_offered:
        members += f" and {count_not_offered} not on offer"
    if family.shape == "nested":
        return f"a ladder, {members}: each of them can end YES only if the one before it does"
    return f"{'exactly' if family.shape == 'exhaustive' else 'at most'} one of {members} ends YES"


def _day_text(at: datetime) -> str:
    return at.date().isoformat()
