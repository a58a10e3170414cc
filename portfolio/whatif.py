"""An entrant's decisions played again under other rules or with other stakes: what would it have now?"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from markets.millionths import ONE
from markets.model import Listing, MarketId, Quote, Resolution, Snapshot
from portfolio.execute import execute
from portfolio.ledger import fold, open_account, post, settle
from portfolio.model import Bet, Entry, Fill, Holdings, LotKey, Mark, Rejection, Sale
from portfolio.money import ceil_div
from portfolio.rules import Rules
from portfolio.sizing import quarter_kelly
from portfolio.value import mark


@dataclass(frozen=True, slots=True)
class WhatIfStep:
    """One snapshot of a cohort, and what an entrant ordered at it, as the record has it.

    `resolutions` are those known by then, `beliefs` the stated probabilities of YES, and `held` the shares in
    the account before the decision. A step without a decision has no orders. Where markets were read again
    after the decision, `again_at` says when, and `second` has their quotes by then.
    """

    snapshot: Snapshot
    bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    resolutions: Sequence[Resolution] = ()
    beliefs: Mapping[MarketId, int] = field(default_factory=dict)
    held: Mapping[LotKey, int] = field(default_factory=dict)
    label: str = ""
    again_at: datetime | None = None
    second: Mapping[MarketId, Quote | None] = field(default_factory=dict)

    def traded(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot as orders are filled on it."""
        if self.again_at is None:
            return snapshot

        shown = tuple(self._with_second_quote(listing) for listing in snapshot.shown)
        held = tuple(self._with_second_quote(listing) for listing in snapshot.held)
        return Snapshot(snapshot.at, shown, held, self.again_at)

    def _with_second_quote(self, listing: Listing) -> Listing:
        """Return a listing with its second quote, if it has one."""
        return replace(listing, quote=self.second.get(listing.market.id, listing.quote))


Sizing = Callable[[WhatIfStep, Holdings, Rules], tuple[Sequence[Bet], Sequence[Sale]]]
"""A function that returns the orders of a step, by what is held now and the rules that hold now."""


@dataclass(frozen=True, slots=True)
class WhatIfOutcome:
    """The new ledger and what it comes to; fills, rejections and marks are step by step."""

    entries: tuple[Entry, ...]
    holdings: Holdings
    fills: tuple[tuple[Fill, ...], ...]
    rejections: tuple[tuple[Rejection, ...], ...]
    marks: tuple[Mark, ...]

    @property
    def profit(self) -> int:
        """Return the cash and open lots at the last mark, less the bankroll; 0 before there is a mark."""
        if not self.marks:
            return 0
        return self.marks[-1].total - self.entries[0].cash


def as_recorded(step: WhatIfStep, holdings: Holdings, _rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
    """Return the orders as they were; a sale of a number of shares sells the same part of the lot."""
    return step.bets, _sales_in_proportion(step, holdings)


def flat_stake(stake: int) -> Sizing:
    """Return a sizing by which every bet is this amount, and every sale the part of the lot that it was."""

    def sizing(step: WhatIfStep, holdings: Holdings, rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
        return _bets_at_stake(step.bets, stake, rules), _sales_in_proportion(step, holdings)

    return sizing


def kelly_stake(step: WhatIfStep, holdings: Holdings, rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
    """Return new bets of a quarter of the Kelly stake on what was stated, and no sales."""
    return quarter_kelly(step.beliefs, holdings, step.snapshot, rules), ()


def replay(
    bankroll: int,
    opened_at: datetime,
    steps: Iterable[WhatIfStep],
    rules: Rules,
    sizing: Sizing = as_recorded,
) -> WhatIfOutcome:
    """Play the steps again: settle, execute, post, mark.

    Under the rules of the record and with the orders as they were, the outcome is the same ledger. Nobody
    moves a price. A market that is held only here keeps its last known quote, which then counts as stale.
    """
    opening = open_account(bankroll, opened_at)
    entries = [opening]
    holdings = fold([opening])
    last_seen: dict[MarketId, Listing] = {}
    fills: list[tuple[Fill, ...]] = []
    rejections: list[tuple[Rejection, ...]] = []
    marks: list[Mark] = []

    for step in steps:
        settlements = settle(holdings, step.resolutions, step.snapshot.at)
        holdings = fold(settlements, holdings)

        snapshot = _with_all_held(step.snapshot, holdings, last_seen)
        bets, sales = sizing(step, holdings, rules)
        filled, refused = execute(bets, sales, holdings, step.traded(snapshot), rules, snapshot)
        posted = post(filled, holdings, snapshot.at, step.label)
        holdings = fold(posted, holdings)

        entries += settlements + posted
        fills.append(tuple(filled))
        rejections.append(tuple(refused))
        marks.append(mark(holdings, snapshot, rules.quote_age))

    return WhatIfOutcome(tuple(entries), holdings, tuple(fills), tuple(rejections), tuple(marks))


def _with_all_held(snapshot: Snapshot, holdings: Holdings, last_seen: dict[MarketId, Listing]) -> Snapshot:
    """Return the snapshot with every market that is held; one that it lacks is added as it was last seen.

    Remember how each market of the snapshot was seen in `last_seen`.
    """
    held = {market_id for market_id, _ in holdings.lots}
    missing = held - {listing.market.id for listing in snapshot}

    # A market that is held is valued by its last known price where the snapshot has none.
    shown = tuple(_priced_if_held(listing, held, last_seen) for listing in snapshot.shown)
    held_listings = [_priced_if_held(listing, held, last_seen) for listing in snapshot.held]
    held_listings += [last_seen[market_id] for market_id in sorted(missing)]

    # A quote without a price keeps the price that was seen before.
    seen_now = {}
    for listing in snapshot:
        market_id = listing.market.id
        seen_now[market_id] = listing.priced(last_seen.get(market_id))
    last_seen.update(seen_now)

    return replace(snapshot, shown=shown, held=tuple(held_listings))


def _priced_if_held(listing: Listing, held: Set[MarketId], last_seen: Mapping[MarketId, Listing]) -> Listing:
    """Return a listing, if it is held with its last known price where it has none."""
    if listing.market.id not in held:
        return listing
    return listing.priced(last_seen.get(listing.market.id))


def _bets_at_stake(bets: Sequence[Bet], stake: int, rules: Rules) -> list[Bet]:
    """Return these bets at one stake; bets that were refused for what they say stay as they were.

    Bets on one lot that the rules merge come to the stake together.
    """
    sound_bets = [bet for bet in bets if _is_sound_bet(bet)]
    bets_on_lot = Counter(_lot_of(bet) for bet in sound_bets)
    placed_on_lot = Counter[LotKey]()
    sized = [bet for bet in bets if not _is_sound_bet(bet)]

    for bet in sound_bets:
        lot = _lot_of(bet)
        if not rules.merge:
            amount = stake
        else:
            # The stake up to this leg less the stake before it, each rounded down: so the legs differ by at
            # most a millionth and add up to the stake exactly.
            stake_before = stake * placed_on_lot[lot] // bets_on_lot[lot]
            placed_on_lot[lot] += 1
            amount = stake * placed_on_lot[lot] // bets_on_lot[lot] - stake_before
        sized.append(replace(bet, amount=amount))

    return sized


def _is_sound_bet(bet: Bet) -> bool:
    return bet.amount > 0 and (bet.limit is None or 0 < bet.limit <= ONE)


def _sales_in_proportion(step: WhatIfStep, holdings: Holdings) -> list[Sale]:
    return [_same_part_of_lot(sale, step.held, holdings) for sale in step.sales]


def _same_part_of_lot(sale: Sale, held_before: Mapping[LotKey, int], holdings: Holdings) -> Sale:
    """Return a sale of a number of shares as one of the same part of the lot that is held now."""
    held_then = held_before.get(_lot_of(sale), 0)
    lot_now = holdings.lots.get(_lot_of(sale))
    if (
        lot_now is None
        or held_then == 0
        or sale.fraction is not None
        or sale.shares is None
        or sale.shares <= 0
    ):
        return sale

    # A sale of more than was held is rounded up, so that it stays one of more than is held and is refused.
    if sale.shares > held_then:
        return replace(sale, shares=ceil_div(sale.shares * lot_now.shares, held_then))

    # Any other is rounded down, so that it never sells more than its part; but it sells something.
    return replace(sale, shares=max(1, sale.shares * lot_now.shares // held_then))


def _lot_of(order: Bet | Sale) -> LotKey:
    return order.market_id, order.side
