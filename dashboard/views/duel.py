"""Two agents compared: the verdict, the gap between them, and the markets that decided it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import streamlit as st

from arena.scores.comparisons import MARKET
from arena.scores.profiles.duels import DUELS, DecidingMarket, DuelDetails
from arena.scores.rules._columns import highest_first
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.spending import read_spending, spending_sentences
from arena.scores.verdict import PairVerdict, Verdict, day_text, duel_sentences, duel_verdict, pace_text
from dashboard.board import leading, stamps
from dashboard.charts import columns_chart, gap_chart
from dashboard.html import EMPTY, Rows, Tile, box, columns_of_table, tiles
from dashboard.long_names import short_forms
from dashboard.pages import (
    choice,
    controls,
    no_such,
    not_yet,
    options_of,
    put,
    put_table,
    put_view_link,
    show_cached,
    subheading,
    way,
)
from dashboard.record import (
    Lines,
    RecordSource,
    SeasonOverview,
    by_agent,
    by_leaderboard,
    read_cached,
    read_leaderboard_page,
    read_verdict,
    season,
)
from dashboard.words import code, count, plain, with_true_minus, written

TITLE = "Duel"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 4

LATER = "The result of duels"
FIGURES = {
    "Gap": "The second's Brier minus the first's, on the same forecasts; above 0 the first is closer.",
    "Verdict": "Since when the verdict names one of the two as better, or when it may.",
    "Common forecasts": "Forecasts that both made, on the same market in the same round.",
    "Markets": "Resolved markets that both were shown.",
    "Events": "Events of these markets. Those with many markets count for less than as many events.",
}
"""The figures of a duel, and what each says."""
WIDEST = 24
"""The most letters of a name at the head of a column."""
ONE_LOOK = (
    "The bar is the 95% interval of this pair at this look alone. The verdict holds for all pairs at every "
    "look, and so takes more evidence."
)
FEW = "Markets of one event count as one; an interval takes 20 events of equal size."


def show(record: RecordSource) -> None:
    """Show the choice of two, the result, the markets that decided it, and all duels of the first."""
    overview = season(record)
    verdict = read_cached(record, read_verdict) or Verdict()
    if len(overview.agents) < 2:
        st.title(TITLE, anchor=False)
        st.info("A duel takes two agents: name another in the config.", icon=":material/group_add:")
        return
    top = st.container()
    leaderboard = by_leaderboard(record)
    first, second = _ask_two_agents(leaderboard)
    duels = read_cached(record, DUELS.read, first)
    all_duels = show_cached(duels, LATER)
    lines = read_cached(record, read_leaderboard_page).lines
    agents_without_answers = _silent(lines, first, second)
    top.title(plain(heading(first, second, verdict)), anchor=False)
    if all_duels is None:
        return

    about_cohorts = " ".join(stamps(overview.cohorts))
    st.caption(leading(about_cohorts))
    details = next((details for details in all_duels if details.duel.b == second), None)
    if agents_without_answers:
        names = " or ".join(map(code, agents_without_answers))
        why = f"Nothing to compare: no answer from {names} yet."
        not_yet(why)
    elif details is None:
        why = f"{code(first)} and {code(second)} have no forecast in common yet."
        not_yet(why)
    else:
        _show_duel(record, details, verdict, overview)
    if all_duels and first not in agents_without_answers:
        _show_other_duels(all_duels, verdict, first, second)


def _silent(lines: Lines, *names: str) -> list[str]:
    """Return which of these agents have given no answer."""
    rows = by_agent(line.row for line in lines)
    asked = [rows[name] for name in names if name in rows]
    return [row.agent for row in asked if row.kind != MARKET and not row.answered]


def _show_duel(
    record: RecordSource, details: DuelDetails, verdict: Verdict, overview: SeasonOverview
) -> None:
    """Show the result of a duel, its cost, and what decided it."""
    colours = overview.colours([details.duel.a, details.duel.b])
    looks = list(colours.values())
    _show_verdict(details, verdict, looks)

    spending = read_cached(record, read_spending, details.duel)
    spent = spending_sentences(spending)
    if spent and overview.is_simulated:
        spent = [*spent, "These costs are simulated: no money was paid."]
    if spent:
        text = with_true_minus(" ".join(spent))
        st.caption(plain(text, most=1_000))
    _show_event_differences(details, looks)
    _show_deciding_markets(details)


def _ask_two_agents(names: Sequence[str]) -> tuple[str, str]:
    """Let two be chosen: those that the address names, else the first two of the board."""
    asked = {key: st.query_params.get(key) for key in ("a", "b")}
    no_such("agent", asked.values(), names)
    options = options_of(names)
    with controls():
        default = next(name for name in names if name != asked["b"])
        first = choice("First agent", "a", options, default, "list")
        st.markdown("against", width="content")
        rest = options_of(name for name in names if name != first)
        second = choice("Second agent", "b", rest, next(iter(rest)), "list")
        put_view_link("⇄ Swap", "duel", a=second, b=first)
    return first, second


def _show_verdict(details: DuelDetails, verdict: Verdict, looks: Sequence[str]) -> None:
    """Show the verdict on the two, the gap between them with its interval, and the figures."""
    duel = details.duel
    title = heading(duel.a, duel.b, verdict)
    first_sentence, *other_sentences = [
        sentence for sentence in duel_sentences(duel, verdict) if sentence != title
    ]
    if other_sentences:
        text = with_true_minus(" ".join(other_sentences))
        st.markdown(plain(text, most=2_000))
    if duel.gap is not None and not duel.same:
        chart = gap_chart(duel.gap, duel.low, duel.high, (duel.b, duel.a), looks[::-1])
        note = ONE_LOOK * (duel.low is not None)
        put(box("The gap, in Brier points", chart, note), "gap")

    pair = verdict.pair(duel.a, duel.b)
    put(tiles(figures(duel, pair)), "figures")
    counted = plain(first_sentence)
    if duel.gap is not None and duel.by == "rows":  # then the tiles have said the rest
        counted = f"{duel.effective:.1f} effective events."
    st.caption(f"{counted} {FEW}")


def heading(first: str, second: str, verdict: Verdict) -> str:
    """Return the verdict on the two, or only their names if they are no entries."""
    if verdict.pair(first, second) is None:
        return f"{first} against {second}"
    return duel_verdict(first, second, verdict)


def verdict_time_text(pair: PairVerdict | None) -> str:
    """Say since when there is a verdict on a pair, or when there may be."""
    if pair is None:
        return EMPTY
    if pair.since is None:
        return pace_text(pair.weeks_more)
    told_at = datetime.fromisoformat(pair.since)
    return f"since {day_text(told_at)}"


def figures(duel: Duel, pair: PairVerdict | None) -> list[Tile]:
    """Return each figure of a duel that is known."""
    texts = {}
    if duel.gap is not None:
        texts["Gap"] = written(duel.gap, "%+.4f")
    if pair is not None:
        texts["Verdict"] = verdict_time_text(pair)
    for label, value in (("Common forecasts", duel.rows), ("Markets", duel.markets), ("Events", duel.events)):
        texts[label] = f"{value:,}"
    return [Tile(text, label, FIGURES[label]) for label, text in texts.items()]


def _show_event_differences(details: DuelDetails, looks: Sequence[str]) -> None:
    """Show common events by how much closer one was than the other."""
    duel = details.duel
    events_apart = sum(details.differences)
    if duel.gap is None or duel.same or not events_apart:
        return

    below = f"Events by the size of the gap; to the right of zero, {duel.a} was closer."
    equal_events = duel.events - sum(details.differences)
    if equal_events:
        events = count(equal_events, "event")
        below += f" In {events} they came out even."
    bars = [looks[low < 0] for low in details.edges[:-1]]
    chart = columns_chart(
        details.edges, details.differences, "Common events by their difference", "%+.2f", bars
    )
    put(box("Event by event", chart, below), "events")


def _show_deciding_markets(details: DuelDetails) -> None:
    """Show the markets that decided the duel, for either side."""
    duel = details.duel
    columns = dict(columns_of_table("deciders"))
    forms = short_forms([duel.a, duel.b], WIDEST)
    for key, name in (("a", duel.a), ("b", duel.b)):
        columns[key] = replace(columns[key], label=f"{forms[name]} %")

    for key, name, markets in (("a", duel.a, details.for_a), ("b", duel.b, details.for_b)):
        if markets:
            subheading(f"Where {plain(name)} was closer", "Markets that moved the gap most.")
            put_table(_decider_rows(markets), columns, f"Markets that {key} won")


def _decider_rows(markets: Sequence[DecidingMarket]) -> Rows:
    """Yield a row for each market that moved the gap."""
    for market in markets:
        yield {
            "Market": market.question,
            "a": 100 * market.a,
            "b": 100 * market.b,
            "Price": 100 * market.price,
            "Ended": "YES" if market.outcome else "NO",
            "Share": market.share,
            "href": way("market", market=market.market_id).href,
        }


def _show_other_duels(every: Sequence[DuelDetails], verdict: Verdict, first: str, second: str) -> None:
    """Show all duels of the first agent, its largest gap first."""
    subheading(f"All duels of {plain(first)}", "Against everyone, its largest gap first.")
    duels = [details.duel for details in every]
    duels.sort(key=lambda duel: highest_first(duel.gap))

    rows = []
    for duel in duels:
        row = _duel_row(duel, verdict.pair(first, duel.b))
        if duel.b != second:
            row_page = way("duel", a=first, b=duel.b)
            row["href"] = row_page.href
        rows.append(row)
    put_table(rows, columns_of_table("duels"), "All duels of the first agent")


def _duel_row(duel: Duel, pair: PairVerdict | None) -> dict[str, object]:
    """Return the row of a duel among the others."""
    return {
        "Against": duel.b,
        "Gap": duel.gap,
        "from": duel.low,
        "to": duel.high,
        "Better": pair.better if pair is not None and pair.since else None,
        "Verdict": verdict_time_text(pair),
        "Events": duel.events,
    }
