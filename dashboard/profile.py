"""What was worked out of an agent's forecasts and of its money: two tabs of its page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, pairwise
from math import isnan
from typing import Any

import streamlit as st
from markupsafe import Markup

from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.schema.database import Connection
from arena.scores.positions import Position, positions
from arena.scores.profiles.agent_profile import ProfitOrigin
from arena.scores.profiles.detailed_profile import DetailedProfile, NotableForecast
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.money.event_exposure import EventExposure
from arena.scores.rules.money.profit_split import ProfitSplit
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from dashboard.board import intervals, says_and_happens
from dashboard.html import box, columns, html_table, number, picture, venue_cells, words
from dashboard.pages import Address, choice, in_app, link, listing, put, way
from dashboard.svg import calibration_chart, cell_scale, columns_chart, step
from dashboard.words import count, dollars, escaped, gained, plain, written
from markets.millionths import ONE
from markets.venue import venue_page


@dataclass(frozen=True, slots=True)
class Holding:
    """An open position, and the cohort that it is held in."""

    cohort: int
    position: Position


def read_holdings(connection: Connection, name: str) -> tuple[Holding, ...]:
    """What it holds now, as last marked, the newest cohort first and in it the largest position."""
    stored = [one for one in read_cohorts(connection) if one.ended_at is None and name in one.entrant_ids]
    return tuple(
        Holding(one.cohort.number, position)
        for one in reversed(stored)
        for position in _held(connection, one, name)
    )


def read_all_holdings(connection: Connection) -> dict[str, tuple[Holding, ...]]:
    """The same of every agent that holds something: each cohort is read once for all of them."""
    found: dict[str, tuple[Holding, ...]] = {}
    for one in reversed(read_cohorts(connection)):
        for position in _held(connection, one) if one.ended_at is None else ():
            mine = found.get(position.agent, ())
            found[position.agent] = (*mine, Holding(one.cohort.number, position))
    return found


def _held(connection: Connection, stored: StoredCohort, name: str | None = None) -> Collection[Position]:
    marked = read_marked_cohort(connection, stored.id, name)
    if marked is None:
        return []
    age = timedelta(seconds=stored.cohort.rules.max_quote_age)
    return [position for position in positions(marked, age) if position.lot.shares]


BY = {"category": "Category", "horizon": "Horizon", "price": "Price", "cohort": "Cohort"}
MEANT = {
    "category": "What markets are about, by their venue's word.",
    "horizon": "How long it was until the market was to close.",
    "price": "What a share of YES cost when it was asked.",
    "cohort": "In which cohort it was said.",
}
WAITING = ":material/hourglass_empty:"
UNANSWERED = "It has answered nothing that has resolved: calibration rests on answers alone."


def show_forecasts(found: DetailedProfile, questions: Mapping[str, str], name: str, look: str) -> None:
    """Skill and calibration, their parts, the histogram, coherence, blind answers, best and worst calls."""
    by = choice("In parts by", "by", BY, "category")
    _skill(found, by)
    _readings(found, look)
    _calibrated(found.calibrated.get(by, ()), by)
    st.subheader("What it states", anchor=False)
    if any(found.histogram):
        st.caption("How often it stated which probability of YES, resolved or not.")
        edges = [place / len(found.histogram) for place in range(len(found.histogram) + 1)]
        shares = [100 * edge for edge in edges]
        put(columns_chart(shares, found.histogram, "How often it stated what", "%.0f%"), "histogram")
    else:
        st.info("It has stated no probability yet.", icon=WAITING)
    _coherence(found, questions)
    _blind(found.profile.blind)
    _remarks("Best calls", "It lay closest to what happened, where the price did not.", found.best, name)
    _remarks("Worst calls", "The price lay closer, by the most.", found.worst, name)


def _skill(found: DetailedProfile, by: str) -> None:
    st.subheader("Skill in parts", anchor=False)
    some = [one for one in found.slices.get(by, ()) if one.gain.skill is not None]
    if not some or found.profile.gain is None:
        why = (
            "An agent that is not ranked has no skill."
            if some
            else "It appears with the first resolved market."
        )
        st.info(why, icon=WAITING)
        return
    few = sum(one.gain.low is None for one in some)
    hollow = f" Hollow: under 20 effective events, nothing to conclude ({few} of {len(some)})." if few else ""
    st.caption(f"{MEANT[by]} Right of the line beats the price; bars are 95% intervals.{hollow}")
    gains = [one.gain for one in some]
    listing(
        {
            "Part": [one.slice for one in some],
            "Skill": [gain.skill for gain in gains],
            "Drawn": intervals([(gain.skill, gain.low, gain.high) for gain in gains]),
            "From": [gain.low for gain in gains],
            "To": [gain.high for gain in gains],
            "Events": [gain.events for gain in gains],
        },
        f"Skill by {by}",
        {
            "Skill": number("Skill", "%+.4f", "Brier points better than the price in this part."),
            "Drawn": picture("95% interval", "Line: the price."),
            "From": number("CI from", "%+.4f", "The lower end of the 95% interval."),
            "To": number("CI to", "%+.4f", "The upper end."),
        },
    )


def _readings(found: DetailedProfile, look: str) -> None:
    """How calibrated its bets are, read as a move from the price paid and by stake alone."""
    st.subheader("Calibration of its bets", anchor=False)
    diagrams = {"Anchored": found.anchored, "Implied": found.implied}
    drawn = [
        box(
            title,
            calibration_chart([(title, one, look)], f"Calibration, {title}"),
            f"{says_and_happens(one, sum(point.rows for point in one.points))}.",
        )
        for title, one in diagrams.items()
        if one.points
    ]
    if not found.profile.calibration.points:
        st.info(UNANSWERED, icon=WAITING)
    if drawn:
        st.caption("Anchored: bets as a move from the price paid. Implied: bets by stake alone.")
        put(columns(*drawn), "readings")


def _calibrated(parts: Sequence[Calibrated], by: str) -> None:
    if not parts:
        return
    st.markdown(f"**Calibration by {BY[by].lower()}**")
    with_null = [(one, one.null) for one in parts]
    told = {
        "Brier": ("%.4f", "Mean squared error; miscalibration − discrimination + uncertainty."),
        "Miscalibration": ("%.4f", "How much better it would be if recalibrated; lower is better."),
        "By chance": ("%.4f", "The miscalibration that a calibrated forecaster shows by chance."),
        "p": ("%.3f", "How often chance alone makes it as large; with many parts, some are small by chance."),
        "Discrimination": ("%.4f", "How well it tells YES from NO; higher is better."),
        "Forecasts": ("localized", "Resolved ones."),
        "Markets": ("localized", "Resolved ones."),
    }
    columns = {name: number(name, form, said) for name, (form, said) in told.items()}
    listing(
        {
            BY[by]: [one.label for one in parts],
            "Brier": [one.parts.brier for one in parts],
            "Miscalibration": [one.parts.miscalibration for one in parts],
            "By chance": [null.expected for _, null in with_null],
            "p": [null.p_value for _, null in with_null],
            "Discrimination": [one.parts.discrimination for one in parts],
            "Forecasts": [one.forecasts for one in parts],
            "Markets": [one.markets for one in parts],
        },
        f"Calibration by {by}",
        columns,
    )


def _coherence(found: DetailedProfile, questions: Mapping[str, str]) -> None:
    st.subheader("Coherence", anchor=False)
    told = found.profile.coherence
    if told.loss is None:
        st.info(f"Nothing to judge: {told.reason or 'no event with several markets'}.", icon=WAITING)
        return
    control = "" if told.market is None else f"; against the prices it would be ${told.market:.4f}"
    st.markdown(
        escaped(
            f"Who trades against its probabilities wins a sure ${told.loss:.4f} per $1 on average{control}. "
            f"{told.incoherent:,} of {count(told.events, 'event')} contradict themselves."
        ),
        help="Probabilities of one event's outcomes should add up, and a wider claim be no less likely.",
    )
    if found.profile.bargains and told.worst:
        st.caption(escaped(f"The worst gives away ${told.worst:.4f} per $1, by these trades with it:"))
        deals = found.profile.bargains
        listing(
            {
                "Trade": ["buy YES" if deal.buy else "sell YES" for deal in deals],
                "At": [deal.price * 100 for deal in deals],
                "Market": [questions.get(deal.market_id, deal.market_id) for deal in deals],
            },
            "The trades that make the sure profit",
            {
                "At": number("At ¢", "%.1f", "The agent's own probability, as a price."),
                "Market": words("Market", long=True),
            },
        )


def _blind(told: BlindEffect) -> None:
    if not told.rows:
        return
    st.subheader("Before and after it saw the price", anchor=False)
    with st.container(horizontal=True, gap="medium"):
        for label, value, said in (
            ("Moved to the price", _percent(told.pull), "Share of the way to the price that it went."),
            ("Copied it", _percent(told.copied), "Answers that ended within half a cent of the price."),
            ("Skill before", _signed(told.blind_skill), "Brier points better than the price, blind."),
            ("Skill after", _signed(told.final_skill), "The same, once it had seen the price."),
            ("Correlation with it", _plain(told.blind_price), "Of blind answers with the price."),
            ("Answers", f"{told.rows:,}", "With a probability before and after."),
        ):
            st.metric(label, value, help=said, width="content")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _signed(value: float | None) -> str:
    return "–" if value is None else written(value, "%+.4f")


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _remarks(title: str, meant: str, found: Sequence[NotableForecast], name: str) -> None:
    if not found:
        return
    st.subheader(title, anchor=False)
    st.caption(meant)
    with st.container(horizontal=True, gap="small"):
        for remark in found:
            with st.container(border=True, width=340):
                _card(remark, name)


def _card(remark: NotableForecast, name: str) -> None:
    st.markdown(f"**{plain(remark.question)}**")
    ended = "YES" if remark.outcome else "NO"
    staked = f"{dollars(remark.staked)} on {remark.side}" if remark.staked else "nothing"
    st.markdown(
        f"Said **{remark.forecast:.1%}**, price {remark.price:.1%}, ended **{ended}**  \n"
        + escaped(f"Staked {staked} · {written(remark.gain, '%+.4f')} Brier against the price")
    )
    with st.container(horizontal=True, gap="small"):
        link("Market", "market", help="Its price, and what everyone said of it.", market=remark.market_id)
        where = f"Round {remark.round} of cohort {remark.cohort}."
        link("Turn", "turn", help=where, cohort=remark.cohort, round=remark.round, agent=name)


HELD = {
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
    put(holdings_table(found), "table of open positions")


def holdings_table(found: Sequence[Holding], address: Address = in_app) -> Markup:
    """A row a position, which leads to its market."""
    hrefs = [address(way("market", market=one.position.market_id)) for one in found]
    told = HELD | {"venue": words("Venue")}
    return html_table(_positions(found), told, "Open positions", hrefs, sortable=True)


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
        **venue_cells(venue_page(lot.market_id) for lot in lots),
    }


def _cents(price: int | None) -> float | None:
    return None if price is None else price * 100 / ONE
