"""What a prompt's template can name: the round, the account and the markets, in words and figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.model import Article, Forecast, View
from agents.text import barred, one_line
from agents.trim import cut
from agents.wording import (
    Part,
    cut_line,
    fee_line,
    fixed,
    minute,
    most,
    part_line,
    prices_line,
    these,
)
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote
from portfolio.model import Lot, Side
from portfolio.money import number, percent, worth


@dataclass(frozen=True, slots=True)
class Sight:
    """What a question lets its reader see of a view. Texts longer than `longest` are cut."""

    view: View
    prices: bool = True
    before: Sequence[Forecast] = ()
    part: Part | None = None
    evidence: bool = True
    longest: int | None = None


def short_ids(listings: Iterable[Listing]) -> dict[MarketId, str]:
    """The names that a prompt calls markets by: m1, m2 … by their place in the snapshot."""
    return {listing.market.id: f"m{place}" for place, listing in enumerate(listings, 1)}


def offered(view: View, part: Part | None) -> tuple[Listing, ...]:
    """The markets on offer that a question is about."""
    if part is None:
        return view.snapshot.shown
    wanted = frozenset(part.markets)
    return tuple(listing for listing in view.snapshot.shown if listing.market.id in wanted)


def only_held(view: View, part: Part | None) -> tuple[Listing, ...]:
    """The markets that can only be sold: asked about once, in the first part."""
    return view.snapshot.held if part is None or part.number == 1 else ()


def long_texts(sight: Sight) -> Iterator[str]:
    """The texts of a question that may be cut."""
    view = sight.view
    for listing in (*offered(view, sight.part), *only_held(view, sight.part)):
        yield listing.market.rules
        if sight.evidence:
            yield from (article.text for article in view.evidence.get(listing.market.id, ()))


def facts(sight: Sight) -> dict[str, Any]:
    """Whatever would tell a price is left out where prices are hidden.

    Hidden are quotes and marks, and of a position its shares, since shares and cost together tell the
    price that was paid. Its cost stays, as does the cash: they say how much is at stake and no more.
    """
    view, part, prices = sight.view, sight.part, sight.prices
    snapshot, rules, holdings = view.snapshot, view.rules, view.holdings
    ids = short_ids(snapshot)
    stated = {forecast.market_id: forecast.probability for forecast in sight.before}
    shown, held = offered(view, part), only_held(view, part)
    blocks = [_market(listing, ids, stated, sight) for listing in shown]
    here = {listing.market.id for listing in (*shown, *held)}
    mids = {listing.market.id: listing.mid for listing in snapshot}
    committed = 0 if part is None else part.committed
    return {
        "round": view.round,
        "rounds": view.rounds,
        "now": minute(snapshot.at),
        "part": None if part is None else part.number,
        "parts": 1 if part is None else part.parts,
        "part_line": part_line(part, len(snapshot.shown)),
        "cut_line": cut_line(sight.longest),
        "these": these([block["id"] for block in blocks]),
        "min_bet": rules.min_bet,
        "max_bet": rules.max_bet,
        "most": most(holdings.cash, committed, rules),
        "base": "the cash that you began this round with" if committed and fixed(rules) else "your cash",
        "cap_line": " for all bets of this answer together" if rules.cap == "decision" else "",
        "prices_line": prices_line(rules, prices),
        "fee_line": fee_line(rules),
        "cash": holdings.cash - committed,
        "committed": committed,
        "total": view.mark.total if prices else None,
        "positions": [
            _position(lot, ids[key], side, mids[key], prices, key in here)
            for (key, side), lot in holdings.lots.items()
            if key in ids
        ],
        "markets": blocks,
        "held": [_market(listing, ids, stated, sight) for listing in held],
    }


def _market(
    listing: Listing, ids: Mapping[MarketId, str], stated: Mapping[MarketId, int], sight: Sight
) -> dict[str, Any]:
    market = listing.market
    before = stated.get(market.id)
    charged = sight.view.rules.fee == "venue" and market.fee_rate > 0
    articles = sight.view.evidence.get(market.id, ()) if sight.evidence else ()
    return {
        **_page(market, sight.longest),
        "id": ids[market.id],
        "price": _price(listing.quote) if sight.prices else None,
        "fee": percent(market.fee_rate) if charged else None,
        "before": None if before is None else number(before),
        "evidence": [_article(article, sight.longest) for article in articles],
    }


@lru_cache(maxsize=2048)  # every agent of a round is shown the same pages
def _page(market: Market, longest: int | None) -> Mapping[str, str]:
    """What stays the same in every question about a market, all but its close behind bars."""
    question, rules = barred(one_line(market.question)), barred(cut(market.rules, longest))
    return {
        "closes": minute(market.closes_at),
        "text": question if rules == "|" else f"{question}\n|\n{rules}",
        "question": question,
        "rules": rules,
        "category": barred(one_line(market.category)),
    }


def _article(article: Article, longest: int | None) -> dict[str, str]:
    source, title = one_line(article.source), one_line(article.title)
    published = one_line(article.dated) or minute(article.published_at)
    return {
        "source": barred(source),
        "title": barred(title),
        "published": published,
        "head": barred(f"{published}, {source}: {title}"),
        "text": barred(cut(article.text, longest)),
    }


_figure = lru_cache(maxsize=4096)(number)  # prices repeat


def _price(quote: Quote | None) -> str:
    """A quote in words; sides that nobody offers are said to be missing."""
    if quote is None or quote.mid is None:
        return "unknown"
    bid, ask = ("none" if price is None else _figure(price) for price in (quote.bid, quote.ask))
    return f"YES {_figure(quote.mid)} (bid {bid}, ask {ask})"


def _position(lot: Lot, id: str, side: Side, mid: int | None, prices: bool, here: bool) -> dict[str, Any]:
    price = mid if mid is None or side == "YES" else ONE - mid
    return {
        "id": id,
        "side": side,
        "shares": lot.shares if prices else None,
        "cost": lot.cost,
        "worth": None if price is None or not prices else worth(lot.shares, price),
        "here": here,
    }
