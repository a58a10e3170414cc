"""The rule that selects the markets to play: a pure function of a catalogue and a stored seed."""

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from markets.millionths import ONE
from markets.model import NEVER, Listing, Market, Quote
from markets.venue import EVERY_MARKET, CatalogueFilter

Stratum = Literal["price", "horizon", "category"]
"""What a draw is stratified by: bands of price, bands of days to the close, the venue's category."""

PRICE_BANDS = (100_000, 300_000, 700_000, 900_000)
"""The bounds between bands of prices, in millionths."""
HORIZON_BANDS = (7, 30, 90)
"""The last day of each band of horizons."""
Order = Literal["lot", "soonest"]
"""The order of a draw: by lot, or by close with ties broken by lot."""


def _is_empty(value: object) -> bool:
    return not value


AddedNames = Annotated[tuple[str, ...], Field(exclude_if=_is_empty)]
AddedNumber = Annotated[int, Field(exclude_if=_is_empty)]
AddedFlag = Annotated[bool, Field(exclude_if=_is_empty)]
"""Fields that earlier cohorts' rules don't have: left out of a stored rule where they are empty."""


class Universe(BaseModel):
    """The rule. Prices and dollars in millionths, times in seconds.

    `max_spread` and `min_depth` speak of what is known: of a market with only a price, which
    `price_only` lets in, neither a spread nor a depth is; one with a single side never passes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: int
    per_event: int
    closes_within: int
    min_volume: int
    max_spread: int
    closes_after: int = 0
    min_depth: int = 0
    """Dollars that the book offers on its thinner side, where there is a book."""
    min_price: int = 0
    max_price: int = ONE
    categories: tuple[str, ...] = ()
    """Only these, where there are any; capitals do not matter."""
    not_categories: tuple[str, ...] = ()
    price_only: bool = False
    strata: tuple[Stratum, ...] = ()
    per_story: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """At most so many of one story; None where a draw goes by events alone."""
    # What follows is not in the rules of earlier cohorts: where it is empty, it is left out.
    order: Order = Field(default="lot", exclude_if=lambda value: value == "lot")
    slugs: AddedNames = ()
    events: AddedNames = ()
    tags: AddedNames = ()
    """Only these markets, of these events, or under these tags: what is named by any of the three."""
    not_slugs: AddedNames = ()
    not_events: AddedNames = ()
    not_tags: AddedNames = ()
    min_volume_24h: AddedNumber = 0
    min_liquidity: AddedNumber = 0
    min_open_interest: AddedNumber = 0
    unknown_figures: AddedFlag = False
    """Whether a market passes of which one of these three is asked for and not known."""
    holdout: AddedNumber = 0
    """Which part of the stories is played and not scored before it is opened, in millionths."""
    holdout_seed: AddedNumber = 0
    unpriced: AddedFlag = False
    """Whether a market without a price passes, where there is no market to have one from."""

    @property
    def names_markets(self) -> bool:
        """Tell whether only markets named by the rule can be drawn."""
        return bool(self.slugs or self.events or self.tags)

    @property
    def asks_figures(self) -> bool:
        """Tell whether the rule needs figures that a quote has only on request."""
        return bool(self.min_volume_24h or self.min_liquidity or self.min_open_interest)


def filter_for(rules: Iterable[Universe], at: datetime) -> CatalogueFilter:
    """Return the filter for a venue under which each of these rules finds all that it admits."""
    all_rules = list(rules)
    if not all_rules:
        return EVERY_MARKET

    closes_within = max(rule.closes_within for rule in all_rules)
    min_volume = min(rule.min_volume for rule in all_rules)
    min_liquidity = min(rule.min_liquidity for rule in all_rules)
    if any(rule.unknown_figures for rule in all_rules):
        min_liquidity = 0  # a server would leave out the markets whose figure is unknown

    return CatalogueFilter(
        min_volume=min_volume,
        closes_until=at + timedelta(seconds=closes_within),
        min_liquidity=min_liquidity,
        slugs=_all_names(rule.slugs for rule in all_rules),
        events=_all_names(rule.events for rule in all_rules),
        tags=_all_names(rule.tags for rule in all_rules),
        only_named=all(rule.names_markets for rule in all_rules),
        figures=any(rule.asks_figures for rule in all_rules),
    )


def _all_names(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(set(chain.from_iterable(names))))


def draw(listings: Sequence[Listing], rule: Universe, seed: int, at: datetime) -> list[Listing]:
    """Return the markets on offer in a round: those that pass the rule, drawn by the seed.

    Every market has a lot of its own, and so has every stratum. The strata take turns in the order of
    their lots; in its turn each gives the next of its markets, in the order of theirs, whose event and story
    have room. So of a stratum's n markets each has the same chance, and no two strata differ by more than one
    place unless the smaller one is used up. The draw depends neither on the order of the listings nor on
    markets that are not drawn; the drawn ones come by event and id.
    """
    strata: dict[str, list[Listing]] = defaultdict(list)
    for listing in listings:
        if passes(listing, rule, at):
            name = stratum(listing, rule.strata, at)
            strata[name].append(listing)

    strata_in_order = deque[deque[Listing]]()
    for name in sorted(strata, key=lambda name: (_lot(seed, f"stratum {name}"), name)):
        in_draw_order = sorted(strata[name], key=partial(_draw_order, rule.order, seed))
        strata_in_order.append(deque(in_draw_order))

    drawn = _draw_in_turns(strata_in_order, rule)
    return sorted(drawn, key=lambda listing: (listing.market.event_id, listing.market.id))


def _draw_order(order: Order, seed: int, listing: Listing) -> tuple[datetime, bytes, str]:
    market = listing.market
    soonest = NEVER
    if order == "soonest":
        soonest = market.closes_at
    return soonest, _lot(seed, market.id), market.id


def passes(listing: Listing, rule: Universe, at: datetime) -> bool:
    """Tell whether the rule lets a market be drawn at an instant: by its page, then by its price."""
    market = listing.market
    quote = listing.quote
    soonest = at + timedelta(seconds=rule.closes_after)
    latest = at + timedelta(seconds=rule.closes_within)
    open_now = market.opens_at <= at < market.closes_at
    if not (open_now and soonest <= market.closes_at <= latest):
        return False
    if not _is_wanted(market, rule):
        return False
    if quote is None:
        return rule.unpriced

    has_volume = (quote.volume or 0) >= rule.min_volume
    return has_volume and _has_required_figures(quote, rule) and _has_acceptable_price(quote, rule)


MONTH = timedelta(days=30)


def sure_ends_a_month(rule: Universe, every: timedelta) -> float:
    """Return a lower bound on resolutions in thirty days: all close within the rule's time."""
    return rule.show * (MONTH / max(timedelta(seconds=rule.closes_within), every))


def expected_ends_a_month(
    listings: Sequence[Listing], rule: Universe, at: datetime, every: timedelta, population: int | None = None
) -> float:
    """Return how many shown markets should resolve in thirty days, if as many open as close.

    Of those that pass, drawn by lot, some are never shown. The listings may be a sample of a `population` of
    so many markets.
    """
    sample_scale = 1.0
    if population is not None:
        sample_scale = population / max(len(listings), 1)

    unlimited_rule = rule.model_copy(update={"show": max(len(listings), 1), "order": "soonest"})
    passing = draw(listings, unlimited_rule, 0, at)

    horizon = min(timedelta(seconds=rule.closes_within), MONTH)
    closing = sum(listing.market.closes_at <= at + horizon for listing in passing)
    closing_a_month = closing * (MONTH / horizon) * sample_scale

    # Drawn by lot, a market has a chance in each round in which it is on offer.
    chance_of_being_shown = 1.0
    if rule.order != "soonest":
        time_on_offer = timedelta(seconds=rule.closes_within - rule.closes_after)
        rounds_on_offer = max(time_on_offer / every, 1)
        shown_share = min(1.0, rule.show / max(len(passing) * sample_scale, 1))
        chance_of_being_shown = 1 - (1 - shown_share) ** rounds_on_offer

    shown_a_month = rule.show * (MONTH / every)
    return min(closing_a_month * chance_of_being_shown, shown_a_month)


def stratum(listing: Listing, band_names: Collection[Stratum], at: datetime) -> str:
    """Return the stratum of a market: its bands and its category, such as `price 2, category sport`."""
    bands: dict[Stratum, object] = {
        "price": "none" if listing.mid is None else bisect_right(PRICE_BANDS, listing.mid),
        "horizon": sum(listing.market.closes_at - at > timedelta(days) for days in HORIZON_BANDS),
        "category": listing.market.category.casefold(),
    }
    return ", ".join(f"{name} {band}" for name, band in bands.items() if name in band_names)


def _draw_in_turns(strata_in_order: deque[deque[Listing]], rule: Universe) -> list[Listing]:
    """Return one market of each stratum in turn, until there are enough or none is left."""
    chosen: list[Listing] = []
    chosen_of_event: Counter[str] = Counter()
    chosen_of_story: Counter[str] = Counter()

    while strata_in_order and len(chosen) < rule.show:
        next_stratum = strata_in_order.popleft()
        while next_stratum and not _has_room(next_stratum[0].market, rule, chosen_of_event, chosen_of_story):
            next_stratum.popleft()
        if next_stratum:
            chosen.append(next_stratum.popleft())
            chosen_of_event[chosen[-1].market.event_id] += 1
            chosen_of_story[chosen[-1].market.story] += 1
            strata_in_order.append(next_stratum)

    return chosen


def _has_room(market: Market, rule: Universe, of_event: Counter[str], of_story: Counter[str]) -> bool:
    if of_event[market.event_id] >= rule.per_event:
        return False
    return not market.story or rule.per_story is None or of_story[market.story] < rule.per_story


def _is_wanted(market: Market, rule: Universe) -> bool:
    if rule.names_markets and not market.is_among(rule.slugs, rule.events, rule.tags):
        return False
    if market.is_among(rule.not_slugs, rule.not_events, rule.not_tags):
        return False

    category = market.category.casefold()
    if category in map(str.casefold, rule.not_categories):
        return False
    return not rule.categories or category in map(str.casefold, rule.categories)


def _has_required_figures(quote: Quote, rule: Universe) -> bool:
    """Tell whether each required figure is high enough, or unknown where the rule allows that."""
    minimums_and_figures = (
        (rule.min_volume_24h, quote.volume_24h),
        (rule.min_liquidity, quote.liquidity),
        (rule.min_open_interest, quote.open_interest),
    )
    for minimum, figure in minimums_and_figures:
        is_enough = rule.unknown_figures
        if figure is not None:
            is_enough = figure >= minimum
        if minimum and not is_enough:
            return False
    return True


def _has_acceptable_price(quote: Quote, rule: Universe) -> bool:
    """Tell whether the price is within the band, and the spread and depth, where known, pass."""
    if quote.mid is None:
        return rule.unpriced
    if not rule.min_price <= quote.mid <= rule.max_price:
        return False
    if quote.bid is None and quote.ask is None:
        return rule.price_only
    if quote.bid is None or quote.ask is None or not 0 <= quote.ask - quote.bid <= rule.max_spread:
        return False

    depth = quote.depth
    return depth is None or depth >= rule.min_depth


def is_held_out(rule: Universe, story: str) -> bool:
    """Tell whether all questions of a story are held out, the same in all cohorts of a seed.

    >>> rule = Universe(
    ...     show=1, per_event=1, closes_within=1, min_volume=0, max_spread=0, holdout=300_000, holdout_seed=7
    ... )
    >>> sum(is_held_out(rule, f"story {number}") for number in range(1_000))
    311
    """
    lot = int.from_bytes(_lot(rule.holdout_seed, f"holdout {story}")[:8])
    return lot * ONE < rule.holdout << 64


def _lot(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
