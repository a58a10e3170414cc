"""A round that was made up: as many markets as a config shows, with texts of a typical length."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agents.guard import Guard
from agents.model import Article, View
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.marks import mark_all
from portfolio.model import Holdings, Lot, LotKey
from portfolio.rules import Rules

AT = datetime(2026, 1, 4, tzinfo=UTC)
QUESTION = "Will the measure numbered {:04d} be passed before that date?"
"""As long as the median question of 207 markets recorded at Polymarket: 58 characters."""
RULES_LENGTH = 719
"""The median length of the rules of the same markets. Kalshi's are half as long, Manifold's often empty."""
RULES = (
    "This market ends YES if the official journal lists the measure as passed by 11:59 PM ET on the day "
    "named above, and NO in every other case. A vote that is put off does not count as passed. The journal "
    "itself is the primary source; a consensus of credible reporting is used where it is late or silent.\n\n"
)


def first_round(shown: int, rules: Rules, bankroll: int, rounds: int) -> View:
    """A round with so many markets on offer. Nothing is held yet, and no source has an article."""
    return _round(_listings(shown), 0, rules, bankroll, rounds)


def late_round(
    shown: int, more: int, rules: Rules, bankroll: int, rounds: int, guard: Guard | None = None
) -> View:
    """The last round of a cohort: `more` markets are held that are no longer on offer.

    With a guard, each market has as many articles as it lets through, and as long ones.
    """
    view = _round(_listings(shown + more), more, rules, bankroll, rounds)
    every = () if guard is None else (_article(guard.characters),) * guard.per_market
    evidence = {listing.market.id: every for listing in view.snapshot} if every else {}
    return replace(view, round=rounds, evidence=evidence)


def _round(listings: Sequence[Listing], more: int, rules: Rules, bankroll: int, rounds: int) -> View:
    shown = len(listings) - more
    snapshot = Snapshot(AT, tuple(listings[:shown]), tuple(listings[shown:]))
    lots: dict[LotKey, Lot] = {(held.market.id, "YES"): Lot(100 * ONE, 41 * ONE) for held in snapshot.held}
    account = Holdings(cash=bankroll, lots=lots)
    return View(
        snapshot=snapshot,
        holdings=account,
        mark=mark_all({"": account}, snapshot)[""],
        rules=rules,
        seed=1,
        rounds=rounds,
    )


def _listings(count: int) -> list[Listing]:
    return [_listing(number) for number in range(1, count + 1)]


def _article(characters: int) -> Article:
    text = (RULES * (characters // len(RULES) + 1))[:characters]
    return Article("example.org", "https://example.org/a-page", QUESTION, text, AT, AT)


def _listing(number: int) -> Listing:
    market = Market(
        id=MarketId(f"invented:{number}"),
        event_id=f"invented:{number}",
        question=QUESTION.format(number),
        rules=(RULES * (RULES_LENGTH // len(RULES) + 1))[:RULES_LENGTH],
        category="Politics",
        opens_at=AT - timedelta(days=30),
        closes_at=AT + timedelta(days=30),
        fee_rate=ONE // 25,
    )
    return Listing(market, Quote(market.id, AT, 400_000, 420_000, 410_000, volume=50_000 * ONE))
