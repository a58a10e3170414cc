"""Any two agents held against each other: who forecasts better, by how much, and whether it is luck."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from arena.scores.comparisons import MARKET, duel_sentences, events_needed_text
from arena.scores.profiles.duels import DUELS, DecidingMarket, DuelDetails
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.weeks import ENOUGH_WEEKS
from arena.scores.spending import read_spending, spending_sentences
from dashboard import html
from dashboard.board import stamps
from dashboard.pages import choice, go, listing, no_such, put, show_cached, subheading, way
from dashboard.record import RecordSource, by_leaderboard, kept, read_leaderboard_page, season
from dashboard.words import code, count, plain, with_true_minus, written

TITLE = "Duel"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 4

LATER = "What comes of duels"
TOLD = (
    ("Gap", "The second's Brier minus the first's, on the same forecasts; above 0 the first is closer."),
    ("p", "How often chance alone makes a gap as large, were they equally good."),
    ("p (Holm-adjusted)", "The same for as many duels as there are, by Holm. The verdict goes by this one."),
    ("Common forecasts", "That both made, on the same market in the same round."),
    ("Markets", "Resolved ones that both were shown."),
    ("Events", "Of these markets. Those with many markets count for less than as many events."),
    ("Events still needed", "More, until such a gap is told from chance in 80 of 100 cases."),
)
"""The figures of a duel, and what each says."""
WIDEST = 24
"""Longer names are cut off at the head of a column."""
STANDARDS = (
    "This p is for one look at two agents. “Proven” on the leaderboard asks for more: to beat the price week "
    f"by week as well, over at least {ENOUGH_WEEKS} weeks, by evidence that holds however often one looks."
)
"""Why a duel can be won by one who is not proven."""
FEW = "Markets of one event count as one, and under 20 events nothing is concluded."


def show(record: RecordSource) -> None:
    """The choice of two, what came of it, the markets that decided it, and all duels of the first."""
    known = season(record)
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
    top.title(plain(heading(a, b, found)), anchor=False)
    if every is None:
        return
    st.caption(" ".join(stamps(known.cohorts)))
    if found is None:
        common = f"{code(a)} and {code(b)} have no forecast in common yet."
        why = f"Nothing to compare: no answer from {' or '.join(silent)} yet." if silent else common
        st.info(why, icon=":material/hourglass_empty:")
    else:
        looks = [known.colours([a, b])[name] for name in (a, b)]
        _verdict(found, looks)
        if spent := spending_sentences(kept(record, read_spending, found.duel)):
            invented = " These costs are simulated: no money was paid." if known.is_simulated else ""
            st.caption(plain(with_true_minus(" ".join(spent) + invented)))
        _spread(found, looks)
        _deciders(found)
    if every and code(a) not in silent:
        _others(every, a, b)


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


def _verdict(found: DuelDetails, looks: Sequence[str]) -> None:
    about, *rest = duel_sentences(found.duel, found.needed)
    duel = found.duel
    if rest:
        st.markdown(plain(with_true_minus(" ".join(rest))))
    if duel.gap is not None and not duel.same:
        chart = html.gap_chart(duel.gap, duel.low, duel.high, (duel.b, duel.a), looks[::-1])
        span = "The bar is the 95% interval: where it covers 0, either may be the better one."
        put(html.box("The gap, in Brier points", chart, span if duel.low is not None else ""), "gap")
    shown = (html.Tile(value, label, said) for label, value, said in figures(duel, found.needed))
    put(html.tiles(shown), "figures")
    counted = duel.gap is not None and duel.by == "rows"  # then the tiles have said the rest
    st.caption(f"{f'{duel.effective:.1f} effective events.' if counted else plain(about)} {FEW}")
    if duel.winner() is not None:
        st.caption(STANDARDS)


def winner_words(duel: Duel) -> str:
    """Who has won, or whether somebody would have if this were the only duel."""
    if duel.p is None:
        return "identical" if duel.same else "too early to tell"
    alone = replace(duel, adjusted=None).winner()
    return duel.winner() or ("undecided once adjusted" if alone else "undecided")


def heading(a: str, b: str, found: DuelDetails | None) -> str:
    """The verdict, in a few words."""
    if found is None:
        return f"{a} against {b}"
    winner = found.duel.winner()
    if found.duel.same:
        return f"{a} against {b}: identical."
    if winner is None:
        return f"{a} against {b}: too {'early to tell' if found.duel.low is None else 'close to call'}."
    return f"{winner} is better than {b if winner == a else a}."


def figures(duel: Duel, needed: int | None) -> list[tuple[str, str, str]]:
    """Label, value and what it says, of each figure of a duel that is known."""
    gap = html.EMPTY if duel.gap is None else written(duel.gap, "%+.4f")
    chances = (html.EMPTY if p is None else written(p, "p") for p in (duel.p, duel.adjusted))
    shown = (gap, *chances, f"{duel.rows:,}")
    counts = (f"{duel.markets:,}", f"{duel.events:,}", events_needed_text(needed))
    told = zip(TOLD, (*shown, *counts), strict=True)
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
        subheading(f"Where {plain(name)} won", "Markets that moved the gap most.")
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


def _others(every: Sequence[DuelDetails], a: str, b: str) -> None:
    subheading(f"All duels of {plain(a)}", "Against everyone, its largest lead first.")
    rows = sorted(every, key=lambda one: -(one.duel.gap if one.duel.gap is not None else float("-inf")))
    data: dict[str, list[Any]] = {
        "Against": [one.duel.b for one in rows],
        "Gap": [one.duel.gap for one in rows],
        "from": [one.duel.low for one in rows],
        "to": [one.duel.high for one in rows],
        "p": [one.duel.p for one in rows],
        "adjusted": [one.duel.adjusted for one in rows],
        "Winner": [winner_words(one.duel) for one in rows],
        "Events": [one.duel.events for one in rows],
        "Needed": [html.HtmlCell(events_needed_text(one.needed), one.needed) for one in rows],
    }
    columns = {
        "Gap": html.number("Gap", "%+.4f", "In Brier points; above 0 the first is closer."),
        "from": html.number("CI from", "%+.4f", "The lower end of the 95% interval."),
        "to": html.number("CI to", "%+.4f", "The upper end of the 95% interval."),
        "p": html.number("p", "p", "How often chance alone makes a gap as large."),
        "adjusted": html.number("p (Holm-adjusted)", "p", "The same for as many duels as there are."),
        "Winner": html.words("Winner", "By more than chance would explain, after Holm."),
        "Events": html.number("Events", "localized", "That both were shown."),
        "Needed": html.number(
            "Events still needed", "localized", "More events until a gap of this size is told."
        ),
    }
    ways = [None if one.duel.b == b else way("duel", a=a, b=one.duel.b) for one in rows]
    listing(data, "All duels of the first agent", columns, ways)
