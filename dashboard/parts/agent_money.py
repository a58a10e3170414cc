"""Where its profit came from, what is still at stake, and what it holds."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import isnan
from typing import Any

import streamlit as st

from arena.scores.profiles.agent_profile import ProfitOrigin
from arena.scores.profiles.detailed_profile import DetailedProfile
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.money.event_exposure import EventExposure
from arena.scores.rules.money.profit_split import ProfitSplit
from dashboard.html_table import number, picture, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.queries.agent import Holding
from dashboard.svg import cell_scale, step
from dashboard.words import count, dollars, escaped, gained
from markets.millionths import ONE

COLUMNS = {
    "Market": words("Market"),
    "Side": words("Side", "YES pays $1 if it comes true, NO if it does not."),
    "Shares": number("Shares", "%.1f", "Held now."),
    "Cost ¢": number("Cost ¢", "%.1f", "What a share cost on average, fees included."),
    "Price ¢": number("Price ¢", "%.1f", "What a share of its side is worth at mid."),
    "Value $": number("Value", "dollar", "All shares at mid; at their cost where there is no price."),
    "Gain $": number("Gain", "gain", "Value minus cost."),
    "Cohort": number("Cohort", "%d", "In which it is held."),
    "Quote": words("Quote", "Whether the price is too old to trade on, or missing."),
}
PARTS = (
    ("edge", "Edge", "What its stakes should earn at the mid, for as much of its claims as came true."),
    ("spread", "Spread", "What it paid over the mid, or got below it."),
    ("fee", "Fees", "Of the venue."),
    ("sizing", "Sizing", "Staking more or less than a quarter of Kelly's stake on its own word."),
    ("exit", "Selling early", "What selling brought beside holding on."),
    ("luck", "Luck", "What is left: what happened, less what was to be expected."),
)
"""The parts of a profit, in the order in which they are told."""
WAITING = ":material/hourglass_empty:"


def show_split(found: DetailedProfile) -> None:
    """The parts of its profit, adding up to it, and how much of the edge is proven."""
    st.subheader("Where the profit came from", anchor=False)
    money = found.profile.money
    if money is None or (not money.split.pnl and not money.luck.events):
        st.info("It has made no bet yet, so there is no profit to split.", icon=WAITING)
        return
    st.caption("Each part starts where the one above it ended; together they are the profit, to the cent.")
    _split(money.split)
    st.markdown("\n".join(f"- {escaped(sentence)}" for sentence in _told(money)))


def _split(found: ProfitSplit) -> None:
    """The parts, each from where the one before it ended, and their sum."""
    amounts = [getattr(found, key) / ONE for key, _, _ in PARTS]
    ends = list(accumulate(amounts, initial=0.0))
    spans = [*pairwise(ends), (0.0, found.pnl / ONE)]
    scale = cell_scale([(min(span), max(span)) for span in spans])
    data: dict[str, list[Any]] = {
        "Part": [*(label for _, label, _ in PARTS), "P/L"],
        "Amount": [*amounts, found.pnl / ONE],
        "Drawn": [step(start, end, "gain" if end >= start else "loss", scale) for start, end in spans],
        "What it is": [*(said for _, _, said in PARTS), "The sum of the parts."],
    }
    columns = {
        "Amount": number("Amount", "gain", "Dollars."),
        "Drawn": picture("Step", "From where the part before it ended."),
        "What it is": words("What it is", long=True),
    }
    listing(data, "The parts of the profit, and their sum", columns)


def _told(money: ProfitOrigin) -> list[str]:
    """How much of the edge came true, and the largest drawdown."""
    said = [f"Total P/L {gained(money.split.pnl)}."]
    if not isnan(money.proven.share):
        share, error = money.proven.share, money.proven.error
        events = count(money.proven.events, "event")
        sure = (
            f"± {1.96 * error:.0%} ({events})"
            if money.proven.events >= ENOUGH_EVENTS
            else f"({events}: too few to tell)"
        )
        said.append(f"Realised {share:.0%} {sure} of the edge it claimed.")
    if money.drawdown is not None and money.drawdown.amount:
        fall = money.drawdown
        said.append(f"Max drawdown {dollars(round(fall.amount, -6))} ({fall.share:.1%}), in one cohort.")
    return said


def show_stakes(found: Sequence[EventExposure], known: Mapping[str, str]) -> None:
    """What each event can still do to its open accounts, the worst first."""
    if not found:
        return
    st.subheader("At stake by event", anchor=False)
    st.caption("What the worst and the best end of an event would change.")
    columns = {
        "Event": words("Event", "By the question of one of its markets."),
        "Markets": number("Markets", "localized", "Of the event that it holds."),
        "Value $": number("Value $", "dollar", "What it holds there is worth now, at mid."),
        "Worst $": number("Worst $", "dollar", "What the worst end would change."),
        "Best $": number("Best $", "dollar", "What the best end would change."),
        "Share %": number("Share %", "%.1f", "What may be lost, in percent of all its open accounts."),
    }
    data: dict[str, list[Any]] = {
        "Event": [known.get(one.event, one.event) for one in found],
        "Markets": [one.markets for one in found],
        "Value $": [one.value / ONE for one in found],
        "Worst $": [one.worst / ONE for one in found],
        "Best $": [one.best / ONE for one in found],
        "Share %": [100 * one.share for one in found],
    }
    ways = [way("markets", event=one.event) for one in found]
    listing(data, "What is at stake, a row an event", columns, ways)


def show_holdings(found: Sequence[Holding]) -> None:
    """Its open positions as last marked."""
    st.subheader("Open positions", anchor=False)
    if not found:
        st.info("No open positions.", icon=":material/check:")
        return
    value = sum(one.position.money.value for one in found)
    gain = sum(one.position.money.unrealised for one in found)
    st.caption(
        escaped(
            f"{count(len(found), 'position')} worth {gained(value).lstrip('+')} at mid, {gained(gain)} over "
            "what they cost."
        )
    )
    ways = [way("market", market=one.position.market_id) for one in found]
    listing(_positions(found), "Open positions", COLUMNS, ways)


def _positions(found: Sequence[Holding]) -> dict[str, list[Any]]:
    lots = [one.position for one in found]
    return {
        "Market": [lot.question for lot in lots],
        "Side": [lot.side for lot in lots],
        "Shares": [lot.lot.shares / ONE for lot in lots],
        "Cost ¢": [_cents(lot.lot.average_cost) for lot in lots],
        "Price ¢": [_cents(lot.price) for lot in lots],
        "Value $": [lot.money.value / ONE for lot in lots],
        "Gain $": [lot.money.unrealised / ONE for lot in lots],
        "Cohort": [one.cohort for one in found],
        "Quote": [lot.stale or "fresh" for lot in lots],
    }


def _cents(price: int | None) -> float | None:
    return None if price is None else price * 100 / ONE
