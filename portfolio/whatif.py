"""An entrant's decisions over again, under other rules or with other stakes: what would it have now?"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

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
    """One snapshot of a cohort, and what an entrant wished for at it, as the record has it.

    `resolutions` are those known by then, `beliefs` the stated probabilities of YES, and `held` the
    shares that stood in the account before the decision. A step without a decision has no orders. Where
    markets were read again once it was in, `again_at` says when, and `second` has their quotes by then.
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
        """The snapshot as orders are filled on it."""
        if self.again_at is None:
            return snapshot
        shown, held = (
            tuple(replace(x, quote=self.second.get(x.market.id, x.quote)) for x in part)
            for part in (snapshot.shown, snapshot.held)
        )
        return Snapshot(snapshot.at, shown, held, self.again_at)


Sizing = Callable[[WhatIfStep, Holdings, Rules], tuple[Sequence[Bet], Sequence[Sale]]]
"""What an entrant orders at a step, given what it holds now and the rules it plays by now."""


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
        """Cash and open lots at the last mark, less the bankroll; 0 before there is one."""
        return self.marks[-1].total - self.entries[0].cash if self.marks else 0


def as_recorded(step: WhatIfStep, holdings: Holdings, _rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
    """The orders as they were; a sale of so many shares sells the part of the lot that they then were."""
    return step.bets, _in_proportion(step, holdings)


def flat_stake(stake: int) -> Sizing:
    """Every bet is this amount, its merged legs together, every sale the part of the lot that it was."""

    def sizing(step: WhatIfStep, holdings: Holdings, rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
        return _bets_at_stake(step.bets, stake, rules), _in_proportion(step, holdings)

    return sizing


def kelly_stake(step: WhatIfStep, holdings: Holdings, rules: Rules) -> tuple[Sequence[Bet], Sequence[Sale]]:
    """Bets placed anew: a quarter of the Kelly stake on what was stated, and no sales."""
    return quarter_kelly(step.beliefs, holdings, step.snapshot, rules), ()


def replay(
    bankroll: int,
    opened_at: datetime,
    steps: Iterable[WhatIfStep],
    rules: Rules,
    sizing: Sizing = as_recorded,
) -> WhatIfOutcome:
    """Play the steps again: settle, execute, post, mark. By its own rules, as bet, it is the same ledger.

    Nobody moves a price. What is held only here keeps its last known quote, which then counts as stale.
    """
    opening = open_account(bankroll, opened_at)
    entries, holdings, seen = [opening], fold([opening]), dict[MarketId, Listing]()
    fills, rejections, marks = list[tuple[Fill, ...]](), list[tuple[Rejection, ...]](), list[Mark]()
    for step in steps:
        paid = settle(holdings, step.resolutions, step.snapshot.at)
        holdings = fold(paid, holdings)
        snapshot = _with_all_held(step.snapshot, holdings, seen)
        orders = sizing(step, holdings, rules)
        fills_made, refused = execute(*orders, holdings, step.traded(snapshot), rules, snapshot)
        posted = post(fills_made, holdings, snapshot.at, step.label)
        holdings = fold(posted, holdings)
        entries += paid + posted
        fills.append(tuple(fills_made))
        rejections.append(tuple(refused))
        marks.append(mark(holdings, snapshot, timedelta(seconds=rules.max_quote_age)))
    return WhatIfOutcome(tuple(entries), holdings, tuple(fills), tuple(rejections), tuple(marks))


def _with_all_held(snapshot: Snapshot, holdings: Holdings, seen: dict[MarketId, Listing]) -> Snapshot:
    """The snapshot with what is held and not in it, as it was last seen."""
    held, here = {market for market, _ in holdings.lots}, {listing.market.id for listing in snapshot}
    shown = tuple(_priced(listing, held, seen) for listing in snapshot.shown)
    kept = tuple(_priced(listing, held, seen) for listing in snapshot.held)
    seen |= {x.market.id: x.priced(seen.get(x.market.id)) for x in snapshot}
    return replace(snapshot, shown=shown, held=(*kept, *(seen[market] for market in sorted(held - here))))


def _priced(listing: Listing, held: Set[MarketId], seen: Mapping[MarketId, Listing]) -> Listing:
    return listing.priced(seen.get(listing.market.id)) if listing.market.id in held else listing


def _bets_at_stake(bets: Sequence[Bet], stake: int, rules: Rules) -> list[Bet]:
    """These bets at one stake; what was no bet stays none."""
    good, level = [bet for bet in bets if _is_sound_bet(bet)], [bet for bet in bets if not _is_sound_bet(bet)]
    legs, placed = Counter(_lot_of(bet) for bet in good), Counter[LotKey]()
    for bet in good:
        count, place = (legs[_lot_of(bet)], placed[_lot_of(bet)]) if rules.merge else (1, 0)
        placed[_lot_of(bet)] += 1
        level.append(replace(bet, amount=stake * (place + 1) // count - stake * place // count))
    return level


def _is_sound_bet(bet: Bet) -> bool:
    return bet.amount > 0 and (bet.limit is None or 0 < bet.limit <= ONE)


def _in_proportion(step: WhatIfStep, holdings: Holdings) -> list[Sale]:
    return [_same_part(sale, step.held, holdings) for sale in step.sales]


def _same_part(sale: Sale, held: Mapping[LotKey, int], holdings: Holdings) -> Sale:
    """A sale in shares as the same part of a lot that is another now; too many stay too many."""
    before, lot = held.get(_lot_of(sale), 0), holdings.lots.get(_lot_of(sale))
    if lot is None or before == 0 or sale.fraction is not None or sale.shares is None or sale.shares <= 0:
        return sale
    if sale.shares > before:
        return replace(sale, shares=ceil_div(sale.shares * lot.shares, before))
    return replace(sale, shares=max(1, sale.shares * lot.shares // before))


def _lot_of(order: Bet | Sale) -> LotKey:
    return order.market_id, order.side
