"""Any two agents held against each other: what is told of them, by how much, and what decided it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from arena.scores.comparisons import MARKET
from arena.scores.profiles.duels import DUELS, DecidingMarket, DuelDetails
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.spending import read_spending, spending_sentences
from arena.scores.verdict import PairVerdict, Verdict, day_text, duel_sentences, duel_verdict, pace_text
from dashboard import html
from dashboard.board import stamps
from dashboard.pages import choice, go, listing, no_such, put, show_cached, subheading, way
from dashboard.record import RecordSource, by_leaderboard, kept, read_leaderboard_page, read_verdict, season
from dashboard.words import code, count, plain, with_true_minus, written

TITLE = "Duel"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 4

LATER = "What comes of duels"
FIGURES = (
    ("Gap", "The second's Brier minus the first's, on the same forecasts; above 0 the first is closer."),
    ("Told", "Since when one of the two is told to be better, or when that may be told."),
    ("Common forecasts", "That both made, on the same market in the same round."),
    ("Markets", "Resolved ones that both were shown."),
    ("Events", "Of these markets. Those with many markets count for less than as many events."),
)
"""The figures of a duel, and what each says."""
WIDEST = 24
"""Longer names are cut off at the head of a column."""
ONE_LOOK = "The bar is the 95% interval, had this been the only look at the only pair. Telling takes more."
FEW = "Markets of one event count as one; an interval takes 20 events of equal size."


def show(record: RecordSource) -> None:
    """The choice of two, what came of it, the markets that decided it, and all duels of the first."""
    known, verdict = season(record), kept(record, read_verdict) or Verdict()
    names = [name for name, _ in known.agents]
    if len(names) < 2:
        st.title(TITLE, anchor=False)
        st.info("A duel takes two agents: name another in the config.", icon=":material/group_add:")
        return
    top = st.container()
    a, b = _two(by_leaderboard(record))
    every = show_cached(kept(record, DUELS.read, a), LATER)
    rows = [line.row for line in kept(record, read_leaderboard_page).lines if line.row.kind != MARKET]
    silent = [code(row.agent) for row in rows if row.agent in (a, b) and not row.answered]
    found = None if silent else next((one for one in every or () if one.duel.b == b), None)
    top.title(plain(heading(a, b, verdict)), anchor=False)
    if every is None:
        return
    st.caption(" ".join(stamps(known.cohorts)))
    if found is None:
        common = f"{code(a)} and {code(b)} have no forecast in common yet."
        why = f"Nothing to compare: no answer from {' or '.join(silent)} yet." if silent else common
        st.info(why, icon=":material/hourglass_empty:")
    else:
        looks = [known.colours([a, b])[name] for name in (a, b)]
        _verdict(found, verdict, looks)
        if spent := spending_sentences(kept(record, read_spending, found.duel)):
            invented = " These costs are simulated: no money was paid." if known.is_simulated else ""
            st.caption(plain(with_true_minus(" ".join(spent) + invented)))
        _spread(found, looks)
        _deciders(found)
    if every and code(a) not in silent:
        _others(every, verdict, a, b)


def _two(names: Sequence[str]) -> tuple[str, str]:
    """The two that the address names; the first two of the board where it names none."""
    asked = {key: st.query_params.get(key) for key in ("a", "b")}
    no_such("agent", asked.values(), names)
    options = {name: name for name in names}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        a = choice("First agent", "a", options, next(name for name in names if name != asked["b"]), "list")
        st.markdown("against", width="content")
        rest = {name: name for name in names if name != a}
        b = choice("Second agent", "b", rest, next(name for name in names if name != a), "list")
        if st.button("Swap", icon=":material/swap_horiz:", help="Each in the other's place."):
            go("duel", a=b, b=a)
    return a, b


def _verdict(found: DuelDetails, verdict: Verdict, looks: Sequence[str]) -> None:
    """What is told of the two, the gap between them with its interval, and its figures."""
    duel = found.duel
    title = heading(duel.a, duel.b, verdict)
    about, *rest = [sentence for sentence in duel_sentences(duel, verdict) if sentence != title]
    if rest:
        st.markdown(plain(with_true_minus(" ".join(rest)), most=2_000))
    if duel.gap is not None and not duel.same:
        chart = html.gap_chart(duel.gap, duel.low, duel.high, (duel.b, duel.a), looks[::-1])
        span = ONE_LOOK if duel.low is not None else ""
        put(html.box("The gap, in Brier points", chart, span), "gap")

    shown = figures(duel, verdict.pair(duel.a, duel.b))
    put(html.tiles(html.Tile(value, label, said) for label, value, said in shown), "figures")
    counted = duel.gap is not None and duel.by == "rows"  # then the tiles have said the rest
    st.caption(f"{f'{duel.effective:.1f} effective events.' if counted else plain(about)} {FEW}")


def heading(a: str, b: str, verdict: Verdict) -> str:
    """What is told of the two; only who they are where they are no entries."""
    return f"{a} against {b}" if verdict.pair(a, b) is None else duel_verdict(a, b, verdict)


def told_text(pair: PairVerdict | None) -> str:
    """Since when a pair is told, or when it may be."""
    if pair is None:
        return html.EMPTY
    return pace_text(pair.weeks_more) if pair.since is None else f"since {_day(pair.since)}"


def _day(at: str) -> str:
    return day_text(datetime.fromisoformat(at))


def figures(duel: Duel, pair: PairVerdict | None) -> list[tuple[str, str, str]]:
    """Label, value and what it says, of each figure of a duel that is known."""
    gap = html.EMPTY if duel.gap is None else written(duel.gap, "%+.4f")
    values = (gap, told_text(pair), f"{duel.rows:,}", f"{duel.markets:,}", f"{duel.events:,}")
    told = zip(FIGURES, values, strict=True)
    return [(label, value, said) for (label, said), value in told if value != html.EMPTY]


def _spread(found: DuelDetails, looks: Sequence[str]) -> None:
    """Common events by how much closer one was than the other."""
    duel = found.duel
    if duel.gap is None or duel.same or not sum(found.differences):
        return
    even = duel.events - sum(found.differences)
    rest = f" In {count(even, 'event')} they came out even." if even else ""
    said = f"How many events lay how far apart; right of the middle {duel.a} was closer.{rest}"
    bars = [looks[low < 0] for low in found.edges[:-1]]
    chart = html.columns_chart(
        found.edges, found.differences, "Common events by their difference", "%+.2f", bars
    )
    put(html.box("Event by event", chart, said), "events")


def _deciders(found: DuelDetails) -> None:
    duel = found.duel
    for key, name, markets in (("a", duel.a, found.for_a), ("b", duel.b, found.for_b)):
        if not markets:
            continue
        subheading(f"Where {plain(name)} was closer", "Markets that moved the gap most.")
        ways = [way("market", market=one.market_id) for one in markets]
        listing(_markets(markets), f"Markets that {key} won", _columns(duel), ways)


def _markets(found: Sequence[DecidingMarket]) -> dict[str, list[Any]]:
    return {
        "Market": [one.question for one in found],
        "a": [100 * one.a for one in found],
        "b": [100 * one.b for one in found],
        "Price": [100 * one.price for one in found],
        "Ended": ["YES" if one.outcome else "NO" for one in found],
        "Share": [one.share for one in found],
    }


def _columns(duel: Duel) -> dict[str, html.HtmlColumn]:
    return {
        "Market": html.words("Market"),
        "a": html.number(_head(duel.a), "%.1f", "What the first said of it, on average."),
        "b": html.number(_head(duel.b), "%.1f", "What the second said of it, on average."),
        "Price": html.number("Price %", "%.1f", "What the market said of it, on average."),
        "Ended": html.words("Ended", "How it ended."),
        "Share": html.number("Part of the gap", "%+.5f", "The shares of all markets add up to the gap."),
    }


def _head(agent: str) -> str:
    """The head of a column, which is no Markdown: what is marked as meant literally would show its marks."""
    return f"{html.shortened(agent, WIDEST)} %"


def _others(every: Sequence[DuelDetails], verdict: Verdict, a: str, b: str) -> None:
    """All duels of the first agent, its largest gap first."""
    subheading(f"All duels of {plain(a)}", "Against everyone, its largest gap first.")
    rows = sorted(every, key=lambda one: -(one.duel.gap if one.duel.gap is not None else float("-inf")))
    pairs = [verdict.pair(a, one.duel.b) for one in rows]
    data: dict[str, list[Any]] = {
        "Against": [one.duel.b for one in rows],
        "Gap": [one.duel.gap for one in rows],
        "from": [one.duel.low for one in rows],
        "to": [one.duel.high for one in rows],
        "Better": [pair.better if pair is not None and pair.since else None for pair in pairs],
        "Told": [told_text(pair) for pair in pairs],
        "Events": [one.duel.events for one in rows],
    }
    columns = {
        "Gap": html.number("Gap", "%+.4f", "In Brier points; above 0 the first is closer."),
        "from": html.number("CI from", "%+.4f", "The lower end of the 95% interval, at this look."),
        "to": html.number("CI to", "%+.4f", "The upper end of the 95% interval, at this look."),
        "Better": html.words("Better", "Of the two, where that is told. References are in no pair."),
        "Told": html.words("Told", "Since when, or when it may be at this pace."),
        "Events": html.number("Events", "localized", "That both were shown."),
    }
    ways = [None if one.duel.b == b else way("duel", a=a, b=one.duel.b) for one in rows]
    listing(data, "All duels of the first agent", columns, ways)
