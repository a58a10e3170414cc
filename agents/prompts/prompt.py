"""The prompt of a model: a template rendered with what the agent may see, cut to its token budget."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any

from agents.model import Article, Forecast, Message, Prompt, Stage, View
from agents.prompts.context import context_facts, figure_text, results_facts
from agents.prompts.other_questions import (
    asked_markets,
    how_to_answer,
    kinds_of,
    note_on_answers,
    said_answer,
)
from agents.prompts.template import compile_template
from agents.text import cut_text, fit_messages, one_line, quoted_lines
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.model import Lot, Side
from portfolio.money import dollars, percent, worth
from portfolio.rules import Rules


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One of several parts in which a question is asked: its markets, of those on offer.

    `committed` is what the answers to earlier parts have bet, `refused` a sentence about orders of an earlier
    answer that may be put right here.
    """

    number: int
    parts: int
    markets: tuple[MarketId, ...]
    committed: int = 0
    refused: str = ""


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a question lets its reader see of a view. Texts longer than `longest` are cut."""

    view: View
    prices: bool = True
    before: Sequence[Forecast] = ()
    part: PromptPart | None = None
    evidence: bool = True
    longest: int | None = None
    stage: Stage = "final"


def render(
    text: str,
    view: View,
    *,
    prices: bool = True,
    stage: Stage = "final",
    before: Sequence[Forecast] = (),
    system: str | None = None,
    part: PromptPart | None = None,
    tokens: int | None = None,
    files: tuple[str, str] = ("", ""),
) -> Prompt:
    """Return the template rendered with a view; `before` are forecasts made without prices, shown again.

    A template has a block `user` and, if it wants one, a block `system`; one without blocks is
    the user's message as it stands. A `system` template takes the place of that block. With a `part`
    only its markets are asked about. How to answer what is not of yes or no is added at the end. Long texts
    are cut evenly until all fits in so many `tokens`.
    Raises `BadTemplate`, which names that of the `files` (the template's, the system's) where it came up, and
    `TooLong` where nothing is left to cut.
    """
    user_template = compile_template(text)
    bets = asks_for_bets(user_template.answer, stage, view)
    shown = offered_listings(view, part)
    note = note_on_answers(shown, short_ids(view.snapshot), bets) + note_on_hidden(view, user_template.answer)
    system_template = user_template if system is None else compile_template(system)
    context = PromptContext(
        view, prices, before, part, "evidence" in user_template.names | system_template.names, None, stage
    )

    def messages(longest: int | None) -> tuple[Message, ...]:
        facts = prompt_facts(replace(context, longest=longest))
        opening = ""
        if system is not None or "system" in user_template.blocks:
            opening = system_template.filled("system", facts, files[0] if system is None else files[1])
        asked = Message("user", user_template.filled("user", facts, files[0]) + note)
        return (Message("system", opening), asked) if opening else (asked,)

    texts = () if tokens is None else tuple(long_texts(context))
    asked = fit_messages(messages, texts, tokens)
    return Prompt(asked, view.seed, stage, bets=bets, kinds=kinds_of(shown))


def asks_for_bets(answer: str, stage: Stage, view: View) -> bool:
    """Tell whether an answer may have bets: the template asks for a `decision`, and there is money."""
    can_trade = view.rules.money and not view.hidden
    return can_trade and answer == "decision" and stage != "blind"


def note_on_hidden(view: View, answer: str) -> str:
    """Return the note at the end of a prompt whose prices are hidden; nothing in any other round."""
    if not view.hidden:
        return ""
    words = "\n\nPrices, and what others forecast, are hidden in this round."
    if answer == "decision":
        words += " Nothing is traded in it: give probabilities alone, and no bets or sales."
    return words


MARKET_NAME = re.compile(r"\bm[1-9]\d*\b")


@lru_cache(maxsize=16)  # a snapshot may be asked about in hundreds of questions
def short_ids(snapshot: Snapshot) -> Mapping[MarketId, str]:
    """Return the names of markets in a prompt: m1, m2 … by their order in the snapshot."""
    return {listing.market.id: f"m{place}" for place, listing in enumerate(snapshot, 1)}


@lru_cache(maxsize=16)
def named_markets(snapshot: Snapshot) -> tuple[Mapping[str, MarketId], frozenset[MarketId]]:
    """Return the markets by these names, and which of them are on offer."""
    names = {name: market for market, name in short_ids(snapshot).items()}
    return names, frozenset(listing.market.id for listing in snapshot.shown)


@lru_cache(maxsize=16)
def _indices_by_market(snapshot: Snapshot) -> Mapping[MarketId, Sequence[int]]:
    indices: dict[MarketId, list[int]] = {}
    for index, listing in enumerate(snapshot.shown):
        indices.setdefault(listing.market.id, []).append(index)
    return indices


def offered_listings(view: View, part: PromptPart | None) -> tuple[Listing, ...]:
    """Return the markets on offer that a question is about."""
    shown = view.snapshot.shown
    if part is None:
        return shown
    indices = _indices_by_market(view.snapshot)
    wanted = set(chain.from_iterable(indices.get(market, ()) for market in part.markets))
    return tuple(shown[index] for index in sorted(wanted))


def held_listings(view: View, part: PromptPart | None) -> tuple[Listing, ...]:
    """Return the markets that can only be sold, which the first part alone asks about."""
    if part is None or part.number == 1:
        return view.snapshot.held
    return ()


def long_texts(context: PromptContext) -> Iterator[str]:
    """Yield the texts of a question that may be cut."""
    view = context.view
    for listing in (*offered_listings(view, context.part), *held_listings(view, context.part)):
        yield listing.market.rules
        if not context.evidence:
            continue
        for article in view.evidence.get(listing.market.id, ()):
            yield article.text


def prompt_facts(context: PromptContext) -> dict[str, Any]:
    """Return the facts of a prompt, without anything that reveals a price where prices are hidden.

    Hidden are quotes, whatever their age, and marks, and of a position its shares, since shares and cost
    together tell the price that was paid. Its cost stays, as does the cash: they say how much is at stake
    and no more. Before it is shown the prices, an agent is reminded only of what it said before them, too.
    """
    view = context.view
    part = context.part
    prices = context.prices
    snapshot = view.snapshot
    rules = view.rules
    holdings = view.holdings
    ids = short_ids(snapshot)
    before_by_market = {forecast.market_id: forecast for forecast in context.before}
    shown = offered_listings(view, part)
    held = held_listings(view, part)
    context_by_market = context_facts(view, [*shown, *held], ids, prices, context.stage)
    blocks = [_market_facts(listing, ids, before_by_market, context, context_by_market) for listing in shown]
    _shorten_series(shown, blocks)

    mids = {listing.market.id: listing.mid for listing in snapshot} if holdings.lots else {}

    return {
        "round": view.round,
        "rounds": view.rounds,
        "now": minute_text(snapshot.at),
        "part": None if part is None else part.number,
        "parts": 1 if part is None else part.parts,
        "part_line": part_line(part, len(snapshot.shown)),
        "cut_line": cut_line(context.longest),
        "these": _markets_asked_text(shown, ids),
        "prices": prices,
        "evidence": any(block["evidence"] for block in blocks),
        **(_money_facts(context) if rules.money else NO_MONEY),
        "positions": [
            _position_facts(lot, ids[key], side, mids[key], prices, key in context_by_market)
            for (key, side), lot in holdings.lots.items()
            if key in ids
        ],
        "markets": blocks,
        "held": [
            _market_facts(listing, ids, before_by_market, context, context_by_market) for listing in held
        ],
        **results_facts(view.ended if part is None or part.number == 1 else (), prices, context.stage),
    }


NO_MONEY: Mapping[str, Any] = {
    **dict.fromkeys(("min_bet", "max_bet", "most", "cash", "total")),
    **dict.fromkeys(("base", "cap_line", "prices_line", "fee_line"), ""),
    "committed": 0,
}
"""The facts about money where there is no market to bet in."""


def _money_facts(context: PromptContext) -> dict[str, Any]:
    """Return the facts about the account, and the limits of bets."""
    rules = context.view.rules
    cash = context.view.holdings.cash
    committed = 0 if context.part is None else context.part.committed
    cash_left = max(cash - committed, 0)

    has_fixed_base = is_base_fixed(rules)
    cap = worth(cash if has_fixed_base else cash_left, rules.max_bet)
    base = "the cash that you began this round with" if committed and has_fixed_base else "your cash"

    # the cap of a decision is for all of its parts together
    is_cap_of_decision = rules.cap == "decision"
    largest_bet = min(cap - committed if is_cap_of_decision else cap, cash_left)

    return {
        "min_bet": rules.min_bet,
        "max_bet": rules.max_bet,
        "most": max(largest_bet, 0),
        "base": base,
        "cap_line": " for all bets of this answer together" if is_cap_of_decision else "",
        "prices_line": prices_line(rules, context.prices),
        "fee_line": fee_line(rules),
        "cash": cash - committed,
        "committed": committed,
        "total": context.view.mark.total if context.prices else None,
    }


def _markets_asked_text(shown: Sequence[Listing], ids: Mapping[MarketId, str]) -> str:
    """Return which markets are asked for a probability of YES, and which are asked otherwise."""
    plain, other = asked_markets(shown, ids)
    if not other:
        return market_list(plain)
    return f"{market_list(plain)}; others are answered in another way, said at the end: {market_list(other)}"


def _market_facts(
    listing: Listing,
    ids: Mapping[MarketId, str],
    before_by_market: Mapping[MarketId, Forecast],
    context: PromptContext,
    context_by_market: Mapping[MarketId, Mapping[str, Any]],
) -> dict[str, Any]:
    market = listing.market
    forecast_before = before_by_market.get(market.id)
    rules = context.view.rules
    has_fee = rules.money and rules.fee == "venue" and market.fee_rate > 0
    articles = context.view.evidence.get(market.id, ()) if context.evidence else ()
    page = _page_facts(market, context.longest)
    ask = ""
    text = page["text"]
    if market.form:
        ask = how_to_answer(market.form, context.prices)
        text = f"{text}\n{ask}"

    return {
        **page,
        "text": text,
        "ask": ask,
        "id": ids[market.id],
        "price": _price_facts(listing.quote) if context.prices and _has_price(listing, rules) else None,
        "fee": percent(market.fee_rate) if has_fee else None,
        "before": None if forecast_before is None else _forecast_text(forecast_before, market.form),
        "evidence": [_article_facts(article, context.longest) for article in articles],
        **context_by_market[market.id],
    }


def _has_price(listing: Listing, rules: Rules) -> bool:
    """Tell whether a market's price is shown, even if unknown: not if it can't have one."""
    return not listing.market.form and (rules.money or listing.mid is not None)


def _forecast_text(before: Forecast, form: str) -> str:
    """Return a forecast made before prices were shown, as text."""
    if not form:
        return figure_text(before.millionths)
    return f"this one\n{said_answer(before, form)}"


def _shorten_series(shown: Sequence[Listing], blocks: Sequence[dict[str, Any]]) -> None:
    """Show rules and articles of a question for several dates only once, at its first market.

    The blocks of its other markets are changed in place.
    """
    first_ids: dict[str, str] = {}
    for listing, block in zip(shown, blocks, strict=True):
        series = listing.market.series
        if not series:
            continue

        first_id = first_ids.setdefault(series, block["id"])
        if first_id == block["id"]:
            continue

        text = f"{block['question']}\n|\n| Everything else is as for {first_id}."
        if block["ask"]:
            text += f"\n{block['ask']}"
        block |= {"text": text, "rules": f"| As for {first_id}.", "evidence": []}


@lru_cache(maxsize=2048)  # every agent of a round is shown the same pages
def _page_facts(market: Market, longest: int | None) -> Mapping[str, str]:
    """Return what is the same in every question about a market, quoted but for its close."""
    question = quoted_lines(one_line(market.question))
    rules = quoted_lines(cut_text(market.rules, longest))
    text = question
    if rules != "|":
        text = f"{question}\n|\n{rules}"

    return {
        "closes": minute_text(market.closes_at),
        "text": text,
        "question": question,
        "rules": rules,
        "category": quoted_lines(one_line(market.category)),
    }


def _article_facts(article: Article, longest: int | None) -> dict[str, str]:
    source = one_line(article.source)
    title = one_line(article.title)
    published = one_line(article.dated) or minute_text(article.published_at)
    return {
        "source": quoted_lines(source),
        "title": quoted_lines(title),
        "published": published,
        "head": quoted_lines(f"{published}, {source}: {title}"),
        "text": quoted_lines(cut_text(article.text, longest)),
    }


def _price_facts(quote: Quote | None) -> str:
    """Return a quote in words, with missing sides as "none"."""
    if quote is None or quote.mid is None:
        return "unknown"
    bid, ask = ("none" if price is None else figure_text(price) for price in (quote.bid, quote.ask))
    return f"YES {figure_text(quote.mid)} (bid {bid}, ask {ask})"


def _position_facts(
    lot: Lot, short_id: str, side: Side, mid: int | None, prices: bool, is_in_prompt: bool
) -> dict[str, Any]:
    price = mid
    if mid is not None and side != "YES":
        price = ONE - mid

    return {
        "id": short_id,
        "side": side,
        "shares": lot.shares if prices else None,
        "cost": lot.cost,
        "worth": None if price is None or not prices else worth(lot.shares, price),
        "here": is_in_prompt,
    }


def minute_text(at: datetime) -> str:
    """Return a time as prompts write it: 2026-01-04 12:00 UTC."""
    return f"{at.isoformat(' ', 'minutes')[:16]} UTC"


def market_list(ids: Sequence[str]) -> str:
    """Return how many markets are asked about, and which."""
    if not ids:
        return "there are none"
    first = int(ids[0][1:])
    last = int(ids[-1][1:])
    if last - first + 1 == len(ids):
        return f"{len(ids)} of them, {ids[0]} to {ids[-1]}"
    return f"{len(ids)} of them: {', '.join(ids)}"


def part_line(part: PromptPart | None, on_offer: int) -> str:
    """Return the note that a question is one of several parts, or "" if it isn't."""
    if part is None or part.parts == 1:
        return ""
    return (
        f"Part {part.number} of {part.parts}: of the {on_offer} markets on offer, this part is about "
        f"{len(part.markets)}. You are asked about the others separately."
    )


def cut_line(longest: int | None) -> str:
    """Return the note that texts were cut, or "" if none was."""
    if longest is None:
        return ""
    return f"Long texts are cut to their first {longest:,} characters so that all fit: [cut: …] says where."


def is_base_fixed(rules: Rules) -> bool:
    """Tell whether the largest bet is measured by the cash at the start of the round."""
    return rules.base == "start" or rules.cap == "decision"


def prices_line(rules: Rules, prices: bool) -> str:
    """Return at which prices orders are filled, and which markets take none."""
    refused = (
        f"Where bid and ask are more than {dollars(rules.max_spread)} apart, or only one is there, no order "
        "is taken."
    )
    if not prices:
        return f"Prices are not shown to you, but every bet and sale is made at the market's price. {refused}"
    if rules.fill == "mid":
        return f"You buy and sell at the YES price shown, whatever the size. {refused}"

    late = ""
    if rules.fill_at == "answer":
        late = "Prices of when your answer is in count, not those shown. "
    return (
        "You buy at the ask and sell at the bid, so you pay the spread. Large orders get worse prices, by up "
        f"to {dollars(rules.worst_price)} a share; what is left then is not filled. {late}{refused}"
    )


def fee_line(rules: Rules) -> str:
    """Return how fees are charged."""
    if rules.fee == "none":
        return "There are no fees."
    return "Where a market has a fee rate, the fee is rate × shares × price × (1 − price), part of your bet."
