"""From what an agent sees to what its model is asked: a template filled in, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from agents.model import Forecast, Message, Prompt, Stage, View
from agents.text import one_line, quoted
from markets.millionths import ONE
from markets.model import Listing, MarketId, Quote
from portfolio.model import Lot, LotKey
from portfolio.money import dollars, number, percent, worth
from portfolio.rules import Rules

MINUTE = "%Y-%m-%d %H:%M UTC"


def short_ids(listings: Iterable[Listing]) -> dict[MarketId, str]:
    """The names that a prompt calls markets by: m1, m2 … by their place in the snapshot."""
    return {listing.market.id: f"m{place}" for place, listing in enumerate(listings, 1)}


def render(
    text: str,
    view: View,
    *,
    prices: bool = True,
    stage: Stage = "final",
    before: Sequence[Forecast] = (),
) -> Prompt:
    """The template filled in with a view. `before` are forecasts made without prices, to be shown again.

    A template has a block `user` and, if it wants one, a block `system`; one without blocks is
    the user's message as it stands.
    """
    template = _compiled(text)
    context = template.new_context(_facts(view, prices, before))
    blocks = template.blocks if "user" in template.blocks else {"user": template.root_render_func}
    system = "".join(blocks["system"](context)).strip() if "system" in blocks else ""
    user = "".join(blocks["user"](context)).strip()
    messages = (Message("system", system), Message("user", user))
    return Prompt(messages if system else messages[1:], view.seed, stage)


@lru_cache(maxsize=64)
def _compiled(text: str) -> Template:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the reader is a model, not a browser
    )
    environment.filters |= {"dollars": _cents, "number": number, "percent": percent}
    return environment.from_string(text)


def _facts(view: View, prices: bool, before: Sequence[Forecast]) -> dict[str, Any]:
    """What a template can name. Whatever would tell a price is left out where prices are hidden.

    Hidden are quotes and marks, and of a position its shares, since shares and cost together tell the
    price that was paid. Its cost stays, as does the cash: they say how much is at stake and no more.
    """
    snapshot, rules, holdings = view.snapshot, view.rules, view.holdings
    ids = short_ids(snapshot)
    stated = {forecast.market_id: forecast.probability for forecast in before}
    blocks = [_market(listing, ids, prices, rules, stated) for listing in snapshot]
    mids = {listing.market.id: listing.mid if prices else None for listing in snapshot}
    return {
        "round": view.round,
        "rounds": view.rounds,
        "now": snapshot.at.strftime(MINUTE),
        "min_bet": rules.min_bet,
        "max_bet": rules.max_bet,
        "most": worth(holdings.cash, rules.max_bet),
        "cap_line": " for all bets of this answer together" if rules.cap == "decision" else "",
        "prices_line": _prices_line(rules, prices),
        "fee_line": _fee_line(rules),
        "cash": holdings.cash,
        "total": view.mark.total if prices else None,
        "positions": [
            _position(key, lot, ids, mids, prices) for key, lot in holdings.lots.items() if key[0] in ids
        ],
        "markets": blocks[: len(snapshot.shown)],
        "held": blocks[len(snapshot.shown) :],
    }


def _market(
    listing: Listing,
    ids: Mapping[MarketId, str],
    prices: bool,
    rules: Rules,
    stated: Mapping[MarketId, int],
) -> dict[str, Any]:
    market = listing.market
    charged = rules.fee == "venue" and market.fee_rate > 0
    before = stated.get(market.id)
    return {
        "id": ids[market.id],
        "closes": market.closes_at.strftime(MINUTE),
        "price": _price(listing.quote) if prices else None,
        "fee": percent(market.fee_rate) if charged else None,
        "before": None if before is None else number(before),
        "text": quoted(f"{one_line(market.question)}\n\n{market.rules}"),
    }


def _price(quote: Quote | None) -> str:
    """A quote in words; sides that nobody offers are said to be missing."""
    if quote is None or quote.mid is None:
        return "unknown"
    bid, ask = ("none" if price is None else number(price) for price in (quote.bid, quote.ask))
    return f"YES {number(quote.mid)} (bid {bid}, ask {ask})"


def _position(
    key: LotKey,
    lot: Lot,
    ids: Mapping[MarketId, str],
    mids: Mapping[MarketId, int | None],
    prices: bool,
) -> dict[str, Any]:
    market_id, side = key
    mid = mids[market_id]
    price = mid if mid is None or side == "YES" else ONE - mid
    return {
        "id": ids[market_id],
        "side": side,
        "shares": lot.shares if prices else None,
        "cost": lot.cost,
        "worth": None if price is None else worth(lot.shares, price),
    }


def _prices_line(rules: Rules, prices: bool) -> str:
    if not prices:
        return "Prices are not shown to you, but every bet and sale is made at the market's price."
    if rules.fill == "mid":
        return "You buy and sell at the YES price shown, whatever the size."
    return "You buy at the ask and sell at the bid, so you pay the spread; large orders get worse prices."


def _fee_line(rules: Rules) -> str:
    if rules.fee == "none":
        return "There are no fees."
    return "Where a market has a fee rate, the fee is rate × shares × price × (1 − price), part of your bet."


def _cents(amount: int) -> str:
    """Dollars and whole cents, rounded down so that no one is shown more than there is."""
    return dollars(amount - amount % (ONE // 100))
