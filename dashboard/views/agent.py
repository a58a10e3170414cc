"""One agent over all its cohorts: ranks and verdict, equity beside calibration, and the rest in tabs."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from math import isnan, log10
from typing import Any

import streamlit as st
from markupsafe import Markup

from arena.cohorts.diff import AgentSetup, agent_setup, setting_in_words, setup_differences
from arena.errors import times_text
from arena.record.queries.accounts import read_marked_cohort
from arena.record.queries.agents import (
    CallSums,
    read_account_spans,
    read_call_sums,
    read_counts,
    read_equity_at,
)
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_prompts
from arena.record.queries.market_history import read_event_questions, read_questions
from arena.record.schema.database import Connection
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, Comparisons
from arena.scores.positions import Position, positions
from arena.scores.profiles.agent_profile import ProfitOrigin
from arena.scores.profiles.detailed_profile import PROFILE, DetailedProfile, NotableForecast
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.metaculus.table import COMMUNITY
from arena.scores.rules.money.event_exposure import EventExposure
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.money.profit_split import ProfitSplit
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from dashboard import html
from dashboard.board import (
    METACULUS_SAID,
    RATINGS,
    calibration_words,
    intervals,
    leading,
    metaculus_table,
    says_and_happens,
    show_ratings,
    stamps,
)
from dashboard.pages import Address, choice, in_app, link, listing, no_such, put, section, show_cached, way
from dashboard.record import (
    LeaderboardLine,
    PnlPoint,
    RecordSource,
    SeasonOverview,
    by_leaderboard,
    kept,
    read_leaderboard_page,
    read_summed_curves,
    season,
)
from dashboard.words import (
    count,
    day,
    dollars,
    escaped,
    gained,
    in_dollars,
    moment,
    percent,
    plain,
    settings_of,
    written,
)
from markets.millionths import ONE
from markets.venue import venue_page


@dataclass(frozen=True, slots=True)
class AgentCohort:
    """An agent in one cohort: how it is set up, what was changed, how its turns ended, and what it has made.

    `pnl` is None before the first mark. `statuses` counts turns, `refused` orders.
    """

    cohort: int
    starts_at: datetime
    ended: bool
    bankroll: int
    pnl: int | None
    bets: int
    sales: int
    forecasts: int
    statuses: dict[str, int]
    refused: dict[str, int]
    setup: AgentSetup
    changed: tuple[str, ...]
    answers: tuple[CallSums, ...]


Stays = Sequence[AgentCohort]
"""An agent over all its cohorts, oldest first."""


Evidence = tuple[tuple[float, float], ...]
"""What a bet on an agent's skill has made of 1, as pairs of seconds since 1970 and capital."""


def read_agent_evidence(connection: Connection, name: str) -> Evidence:
    """The same by the comparisons that were cached last; empty where there are none of it."""
    return evidence_of(COMPARISONS.read(connection), name)


def evidence_of(entry: CacheEntry[Comparisons] | None, name: str) -> Evidence:
    """The same, of what is cached of all agents."""
    return () if entry is None else entry.value.evidence.get(name, ())


def read_agent_page(connection: Connection, name: str) -> tuple[AgentCohort, ...]:
    """All that the record itself says of an agent."""
    chosen = [stored for stored in read_cohorts(connection) if name in stored.entrant_ids]
    ids = [stored.entrant_ids[name] for stored in chosen]
    last = [(span.entrant_id, span.last_at) for span in read_account_spans(connection, ids)]
    newest = {one.entrant_id: one.total for one in read_equity_at(connection, last)}
    statuses, actions = read_counts(connection, "turns", ids), read_counts(connection, "fills", ids)
    refused, stages = read_counts(connection, "rejections", ids), read_counts(connection, "forecasts", ids)
    answers = read_call_sums(connection, ids)
    setups = [agent_setup(s.cohort, next(e for e in s.cohort.entrants if e.name == name)) for s in chosen]
    found = list[AgentCohort]()
    for at, (stored, key) in enumerate(zip(chosen, ids, strict=True)):
        before, acted = setups[max(at - 1, 0)], actions.get(key, {})
        found.append(
            AgentCohort(
                cohort=stored.cohort.number,
                starts_at=stored.cohort.starts_at,
                ended=stored.ended_at is not None,
                bankroll=stored.cohort.bankroll,
                pnl=newest[key] - stored.cohort.bankroll if key in newest else None,
                bets=acted.get("buy", 0),
                sales=acted.get("sell", 0),
                forecasts=stages.get(key, {}).get("final", 0),
                statuses=statuses.get(key, {}),
                refused=refused.get(key, {}),
                setup=setups[at],
                changed=tuple(
                    setting_in_words(k, *v) for k, v in setup_differences(before, setups[at]).items()
                ),
                answers=tuple(one for one in answers if one.entrant_id == key),
            )
        )
    return tuple(found)


TITLE = "Agents"
NEEDS_A_COHORT = True
HEADED = True
ORDER = 3

TABS = {"record": "Record", "forecasts": "Forecasts", "money": "Money", "setup": "Set-up"}
LATER = "The profile of its forecasts and money"
COLUMNS = {
    "Cohort": html.number("Cohort", "%d", "Its number."),
    "Started": html.words("Started"),
    "Skill": html.number(
        "Skill", "%+.4f", "Market Brier minus its own, on the same forecasts; above 0 is closer."
    ),
    "from": html.number(
        "CI from", "%+.4f", "The lower end of the 95% interval; a dash where too few events ended."
    ),
    "to": html.number("CI to", "%+.4f", "The upper end of the 95% interval."),
    "Events": html.number("Events", "localized", "Resolved ones. Markets of one event move together."),
    "Brier": html.number("Brier", "%.4f", "The mean over markets of its squared error; lower is better."),
    "P/L": html.number("P/L", "gain", "Profit or loss in dollars, open positions at mid."),
    "Return %": html.number("Return %", "%+.1f", "Profit or loss in percent of its bankroll."),
    "Bets": html.number("Bets", "localized", "Accepted, resolved or not."),
    "Sales": html.number("Sales", "localized", "Of positions, before their market ended."),
    "Stated": html.number("Forecasts stated", "localized", "Resolved or not."),
    "Turns": html.number("Turns", "localized", "Decisions asked of it."),
    "State": html.words("State"),
}
FAR = (1e-3, 1e6)
"""Between these evidence is drawn; what lies beyond stands at the edge."""


def show(source: RecordSource) -> None:
    """The choice of agent, its verdict and figures, equity and calibration, then the part asked for."""
    known = season(source)
    names = {name: name for name in by_leaderboard(source)}
    no_such("agent", [st.query_params.get("agent")], names)
    title = st.container()
    name = choice("Agent", "agent", names, next(iter(names)), "list")
    stays, entry = kept(source, read_agent_page, name), kept(source, PROFILE.read, name)
    found = show_cached(entry, LATER)
    lines = kept(source, read_leaderboard_page).lines
    line = line_of_agent(lines, name)
    evidence = kept(source, read_agent_evidence, name)
    points = kept(source, read_summed_curves, [name])[name]
    title.title(plain(name), anchor=False)
    put(chips(name, stays, line, known), "chips")
    st.markdown(verdict_of(line))
    numbers = {stay.cohort for stay in stays}
    cohorts = [line for line in known.cohorts if line.number in numbers]
    st.caption(" ".join(stamps(cohorts)))
    look = known.colours([name])[name]
    put(html.tiles(figures(stays, found, line, points, known.is_simulated, look)), "figures")
    put(html.columns(equity(points, found, look), calibration(found, look)), "charts")
    part = choice("Part", "part", TABS, "record")

    def record() -> None:
        put(evidence_chart(evidence, look), "evidence")
        st.subheader("Cohort by cohort", anchor=False)
        put(cohort_by_cohort(stays, found), "cohorts")
        if line is not None:
            with st.expander(RATINGS):
                show_ratings([line], cohorts)
        board = kept(source, read_leaderboard_page).board
        scores = () if board is None else [x for x in board.value.metaculus if x.agent in (name, COMMUNITY)]
        if any(one.agent == name for one in scores):
            with st.expander("By Metaculus's scores"):
                put(metaculus_table(scores, ()), "Metaculus's scores")
                st.caption(METACULUS_SAID)

    drawn: dict[str, Callable[[], None]] = {
        "record": record,
        "forecasts": lambda: _forecasts(source, found, name, look),
        "money": lambda: _money(source, found, name),
        "setup": lambda: _setup(source, stays, known.is_simulated),
    }
    drawn[part]()
    with st.container(horizontal=True, gap="medium"):
        if len(names) > 1:
            link("Duel against another", "duel", a=name)
        link("All its turns", "turn", agent=name)
        link("All agents", "arena")


def line_of_agent(lines: Sequence[LeaderboardLine], name: str) -> LeaderboardLine | None:
    """Its line of the leaderboard, if it has one."""
    return next((line for line in lines if line.row.agent == name), None)


def chips(name: str, stays: Stays, line: LeaderboardLine | None, known: SeasonOverview) -> Markup:
    """The ranks that it may have and among how many, and what it is."""
    about = f"{known.about(name)} · in {count(len(stays), 'cohort')}"
    told = None if line is None else line.told
    if told is None or told.rank_low is None:
        return html.quiet(about)
    is_one = told.rank_low == told.rank_high
    ranks = f"rank{'' if is_one else 's'} {told.rank_text} of {told.entries}"
    return Markup('<p class="quiet">{} {}</p>').format(html.tag(ranks, "none"), about)


def verdict_of(line: LeaderboardLine | None) -> str:
    """What is told of it among the others and against the price, in Markdown."""
    if line is None or line.told is None:
        return ""
    told = line.told
    sentences = [f"**{leading(told.sentence)}**", leading(told.price_sentence), told.guarantee]
    return " ".join(filter(None, sentences))


def figures(
    stays: Stays,
    found: DetailedProfile | None,
    line: LeaderboardLine | None,
    points: Sequence[PnlPoint],
    is_simulated: bool,
    look: str,
) -> list[html.Tile]:
    """Skill, profit, calibration and cost: what matters most."""
    gain = found.profile.gain if found else None
    value, low, high = (gain.skill, gain.low, gain.high) if gain else (None, None, None)
    if line and not found:
        value, low, high = line.row.skill, line.row.skill_low, line.row.skill_high
    known = [stay.pnl for stay in stays if stay.pnl is not None]
    skill, span = "–" if value is None else written(value, "%+.4f"), "skill: Brier points against the price"
    if low is not None and high is not None:
        span = f"skill, 95% CI {written(low, '%+.4f')} to {written(high, '%+.4f')}"
    pnl = sum(known) / ONE
    told, below = calibration_words(line.brief if line else None)
    forecasts = sum(stay.forecasts for stay in stays)
    calls = sum(one.calls for stay in stays for one in stay.answers)
    simulated = " (simulated)" if is_simulated else ""
    return [
        html.Tile(skill, span, "Market Brier minus its own, on the same forecasts; above 0 is closer."),
        html.Tile(
            written(pnl, "gain") if known else "–",
            "profit or loss, all cohorts",
            "Open positions at mid.",
            html.gain_look(pnl) if known else "",
            html.sparkline([point.dollars for point in points], look),
        ),
        html.Tile(
            told,
            f"where it gave YES or NO 70% or more: {below}"
            if told.startswith("says")
            else below or "calibration",
            "The side that it gave 70% or more: what it said of it on average, and how often it came true.",
        ),
        html.Tile(
            cost(stays),
            f"cost of {count(forecasts, 'forecast')} stated{simulated}"
            if calls
            else f"{count(forecasts, 'forecast')} stated; it calls no model",
            "All its calls to models.",
        ),
    ]


def equity(points: Sequence[PnlPoint], found: DetailedProfile | None, look: str) -> Markup:
    """What all its accounts made over time, in the band of luck alone."""
    money = None if found is None else found.profile.money
    line = [(point.at.timestamp(), point.dollars) for point in points]
    if not line:
        return html.box("Profit and loss", below=NOT_VALUED)
    luck = None if money is None else money.luck
    end = written(line[-1][1], "short")
    band = html.luck_band(line, luck)
    chart = html.line_chart(
        [html.Line("P/L", line, look, end)],
        "Profit or loss over all cohorts",
        "short",
        band,
        "shaded: what luck alone makes of its bets, 95 in 100" if band else "",
        frames=html.HALVES,
    )
    return html.box("Profit and loss", chart, luck_words(luck) if luck else "All its accounts together.")


NOT_VALUED = "Its account was not valued yet: the curve starts with the first round."


def luck_words(found: Luck) -> str:
    """How its profit stands among those of seasons without skill; from 20 events on.

    >>> luck_words(Luck(0, 0, 0.98, -53_000_000_000, 37_000_000_000, 25, 9))
    'With the same bets and no skill, 95 of 100 seasons end from −$53k to +$37k, and 98% below this one.'
    >>> luck_words(Luck(0, 0, 1.0, -53_000_000_000, 37_000_000_000, 25, 9))
    'With the same bets and no skill, 95 of 100 seasons end from −$53k to +$37k, and over 99% below this one.'
    >>> luck_words(Luck(0, 0, None, -53_000_000_000, 37_000_000_000, 9, 9))
    'With the same bets and no skill, 95 of 100 seasons end from −$53k to +$37k.'
    """
    if found.low is None or found.high is None:
        return f"Nothing can be said of luck: {found.reason}."
    low, high = written(found.low / ONE, "short"), written(found.high / ONE, "short")
    band = f"With the same bets and no skill, 95 of 100 seasons end from {low} to {high}"
    below = found.percentile
    if below is None:
        return f"{band}."
    share = "over 99%" if below > 0.99 else "under 1%" if below < 0.01 else f"{below:.0%}"
    return f"{band}, and {share} below this one."


def calibration(found: DetailedProfile | None, look: str) -> Markup:
    """One large diagram of what it states, and what it comes to in words."""
    title = "Calibration: what it says, what happens"
    diagram = None if found is None else found.profile.calibration
    if diagram is None or not diagram.points:
        return html.box(title, below="being computed" if found is None else UNANSWERED)
    said = f"{says_and_happens(diagram)}. "
    band = "Shaded: where 90 of 100 calibrated forecasters would lie."
    chart = (
        html.calibration_chart([(found.profile.agent, diagram, look)], "Calibration") if found else Markup("")
    )
    return html.box(title, chart, said + band)


def evidence_chart(found: Evidence, look: str) -> Markup:
    """The capital of a bet on its skill on a log scale; nothing for an agent without any."""
    if not found:
        return Markup("")
    points = [(at, log10(min(max(capital, FAR[0]), FAR[1]))) for at, capital in found]
    shown = [html.Line("now", points, look, times_text(found[-1][1]))]
    chart = html.line_chart(shown, "Evidence over time", "power", frames=html.LONG)
    return html.box("Evidence", chart, "What a bet on its skill has made of 1, as outcomes came in.")


def cohort_by_cohort(stays: Stays, found: DetailedProfile | None, address: Address = in_app) -> Markup:
    """Its record, a row a cohort, the newest first."""
    newest = list(reversed(stays))
    hrefs = [address(way("cohort", cohort=stay.cohort)) for stay in newest]
    return html.html_table(_table(newest, found), COLUMNS, "Its record, a row a cohort", hrefs)


def _table(stays: Stays, found: DetailedProfile | None) -> dict[str, list[Any]]:
    """Return its record as the columns of a table; without skill where it is not ranked."""
    gains: dict[str, Gain] = {}
    calibrated: dict[str, Calibrated] = {}
    if found is not None:
        calibrated = {one.label: one for one in found.calibrated.get("cohort", ())}
        if found.profile.gain is not None:
            gains = {one.slice: one.gain for one in found.slices.get("cohort", ())}

    rows = []
    for stay in stays:
        name = f"cohort {stay.cohort}"
        rows.append(_cohort_row(stay, gains.get(name), calibrated.get(name)))
    return html.by_column(rows, COLUMNS)


def _cohort_row(stay: AgentCohort, gain: Gain | None, calibrated: Calibrated | None) -> dict[str, object]:
    """Return what is said of an agent in one cohort."""
    return {
        "Cohort": stay.cohort,
        "Started": day(stay.starts_at),
        "Skill": gain and gain.skill,
        "from": gain and gain.low,
        "to": gain and gain.high,
        "Events": gain and gain.events,
        "Brier": calibrated and calibrated.parts.brier,
        "P/L": None if stay.pnl is None else stay.pnl / ONE,
        "Return %": None if stay.pnl is None else 100 * stay.pnl / stay.bankroll,
        "Bets": stay.bets,
        "Sales": stay.sales,
        "Stated": stay.forecasts,
        "Turns": sum(stay.statuses.values()),
        "State": "ended" if stay.ended else "playing",
    }


def _forecasts(source: RecordSource, found: DetailedProfile | None, name: str, look: str) -> None:
    if found is not None:
        asked = tuple(deal.market_id for deal in found.profile.bargains)
        show_forecasts(found, kept(source, read_questions, asked), name, look)


def _money(source: RecordSource, found: DetailedProfile | None, name: str) -> None:
    if found is not None:
        show_split(found)
        stakes = found.profile.at_stake
        show_stakes(stakes, kept(source, read_event_questions, [one.event for one in stakes]))
    show_holdings(kept(source, read_holdings, name))


def _setup(source: RecordSource, stays: Stays, is_simulated: bool) -> None:
    costs(stays, is_simulated)
    failures(stays)
    set_up(stays, kept(source, read_prompts, list(stays[-1].setup.prompts.values())))


TURNS = {
    "partly": "Turns that brought less than was asked for",
    "malformed": "Turns whose answer could not be used",
    "declined": "Turns that the model refused",
    "failed": "Turns without an answer",
    "late": "Turns that came after their window",
    "out": "Turns without money to bet",
    "waiting": "Turns that waited for the key of its model",
}
"""Turns that did not go as they should, in words."""


def cost(stays: Stays) -> str:
    """What calls cost in dollars; with what is unknown of it said."""
    answers = [one for stay in stays for one in stay.answers]
    known = in_dollars(sum(one.cost for one in answers) / ONE)
    return f"{known} or more" if any(one.unknown for one in answers) else known


def costs(stays: Stays, is_simulated: bool) -> None:
    """What its calls cost, for each forecast and in tokens."""
    answers = [one for stay in stays for one in stay.answers]
    if not section("Cost", answers, "It calls no model, so it costs nothing.", icon=FINE):
        return
    spent, unknown = sum(one.cost for one in answers), sum(one.unknown for one in answers)
    forecasts = sum(stay.forecasts for stay in stays)
    each = in_dollars(spent / ONE / forecasts) if forecasts and not unknown else "–"
    _metrics(
        ("Cost", cost(stays), "What all its calls cost, failed ones too."),
        ("Per forecast", each, "All of it, spread over the probabilities that it stated."),
        ("Calls", f"{sum(one.calls for one in answers):,}", "Attempts to get an answer."),
        ("Tokens in", f"{sum(one.tokens_in for one in answers):,}", "Of prompts."),
        ("Tokens out", f"{sum(one.tokens_out for one in answers):,}", "Of answers, thinking included."),
    )
    if is_simulated:
        st.caption("These dollars are simulated, as is all of this season.")
    if unknown:
        st.caption(f"The cost of {count(unknown, 'call')} is unknown: `price` in the config says it.")


def _metrics(*shown: tuple[str, str, str]) -> None:
    """Figures beside each other: what each is of, its value, and what it says."""
    with st.container(horizontal=True, gap="medium"):
        for label, value, said in shown:
            st.metric(label, value, help=said, width="content")


def failures(stays: Stays) -> None:
    """What went wrong, by kind: turns, calls, orders."""
    rows = _failures(stays)
    turns = count(sum(sum(stay.statuses.values()) for stay in stays), "turn")
    if not section("Failures", rows, f"None in {turns}.", f"Of {turns}, all cohorts together.", FINE):
        return
    listing(
        {
            "What": [what for what, _, _ in rows],
            "Kind": [kind for _, kind, _ in rows],
            "Times": [times for _, _, times in rows],
        },
        "Failures by kind",
        {"Times": html.number("Times", "localized", "How often.")},
    )


def _failures(stays: Stays) -> list[tuple[str, str, int]]:
    """What went wrong, its code, and how often: the most frequent of each first."""
    turns, calls, wishes = Counter[str](), Counter[str](), Counter[str]()
    for stay in stays:
        turns.update({key: stay.statuses[key] for key in stay.statuses if key in TURNS})
        wishes.update(stay.refused)
        calls.update({one.error: one.calls for one in stay.answers if one.error is not None})
    return [
        *((TURNS[key], key, times) for key, times in turns.most_common()),
        *(("Calls that ended in an error", key, times) for key, times in calls.most_common()),
        *(("Bets and sales that were refused", key, times) for key, times in wishes.most_common()),
    ]


def set_up(stays: Stays, texts: Mapping[str, str]) -> None:
    """Its settings cohort by cohort, what was changed, as what its model reports itself, its prompts."""
    said = "Frozen at the start of each cohort; another model under the same name is another agent."
    section("Settings and reported model", stays, "", said)
    newest = list(reversed(stays))
    listing(
        {
            "Cohort": [stay.cohort for stay in newest],
            "From": [day(stay.starts_at) for stay in newest],
            "Changed": ["; ".join(stay.changed) or None for stay in newest],
            "Model as reported": [", ".join(reported(stay.answers)) for stay in newest],
            "Kind": [stay.setup.kind for stay in newest],
            "Settings": [settings_of(stay.setup.settings) for stay in newest],
        },
        "Settings by cohort",
        {
            "Changed": html.words("Changed", "Since the cohort before.", long=True),
            "Model as reported": html.words(
                "Model as reported",
                "As its provider calls it, with the fingerprint, in the order of the first answers.",
            ),
            "Settings": html.words("Settings", "As the config had them.", long=True),
        },
    )
    _last_heard(stays)
    _prompts(stays[-1].setup.prompts, texts)


def reported(answers: Sequence[CallSums]) -> list[str]:
    """The models that answered, each once, with their fingerprints."""
    said = ((one.model, f" ({one.fingerprint})" if one.fingerprint else "") for one in answers if one.model)
    return list(dict.fromkeys(model + mark for model, mark in said))


def _last_heard(stays: Stays) -> None:
    last = max((one.last_at for stay in stays for one in stay.answers if one.model), default=None)
    if last is not None:
        st.caption(f"Last answer {moment(last)}.")


def _prompts(named: Mapping[str, str], texts: Mapping[str, str]) -> None:
    nothing = "It is a rule and is asked by no prompt."
    said = "As the newest cohort has frozen it; what is in braces is filled in for each turn."
    if not section("Prompt", named, nothing, said, ":material/info:"):
        return
    for at, (name, digest) in enumerate(named.items(), start=1):
        with st.expander("The text" if len(named) == 1 else f"Text {at} of {len(named)}"):
            st.text(f"{name}, sha256 {digest[:12]}…")
            st.code(texts.get(digest, ""), language=None, wrap_lines=True)


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
WAITING, FINE = ":material/hourglass_empty:", ":material/check:"
UNANSWERED = "It has answered nothing that has resolved: calibration rests on answers alone."


def show_forecasts(found: DetailedProfile, questions: Mapping[str, str], name: str, look: str) -> None:
    """Skill and calibration, their parts, the histogram, coherence, blind answers, best and worst calls."""
    by = choice("In parts by", "by", BY, "category")
    _skill(found, by)
    _readings(found, look)
    _calibrated(found.calibrated.get(by, ()), by)
    nothing, said = (
        "It has stated no probability yet.",
        "How often it stated which probability of YES, resolved or not.",
    )
    if section("What it states", any(found.histogram), nothing, said, WAITING):
        edges = [place / len(found.histogram) for place in range(len(found.histogram) + 1)]
        shares = [100 * edge for edge in edges]
        put(html.columns_chart(shares, found.histogram, "How often it stated what", "%.0f%"), "histogram")
    _coherence(found, questions)
    _blind(found.profile.blind)
    _remarks("Best calls", "It lay closest to what happened, where the price did not.", found.best, name)
    _remarks("Worst calls", "The price lay closer, by the most.", found.worst, name)


def _skill(found: DetailedProfile, by: str) -> None:
    some = [one for one in found.slices.get(by, ()) if one.gain.skill is not None]
    unranked = "An agent that is not ranked is given no skill."
    why = unranked if some else "It appears with the first resolved market."
    few = sum(one.gain.low is None for one in some)
    hollow = f" Hollow: too few events, no interval ({few} of {len(some)})." if few else ""
    said = f"{MEANT[by]} Right of the line is closer than the price; bars are 95% intervals.{hollow}"
    if not section("Skill in parts", some and found.profile.gain is not None, why, said, WAITING):
        return
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
            "Skill": html.number("Skill", "%+.4f", "Brier points better than the price in this part."),
            "Drawn": html.picture("95% interval", "Line: the price."),
            "From": html.number("CI from", "%+.4f", "The lower end of the 95% interval."),
            "To": html.number("CI to", "%+.4f", "The upper end."),
        },
    )


def _readings(found: DetailedProfile, look: str) -> None:
    """How calibrated its bets are, read as a move from the price paid and by stake alone."""
    st.subheader("Calibration of its bets", anchor=False)
    diagrams = {"Anchored": found.anchored, "Implied": found.implied}
    drawn = [
        html.box(
            title,
            html.calibration_chart([(title, one, look)], f"Calibration, {title}"),
            f"{says_and_happens(one)}.",
        )
        for title, one in diagrams.items()
        if one.points
    ]
    if not found.profile.calibration.points:
        st.info(UNANSWERED, icon=WAITING)
    if drawn:
        st.caption("Anchored: bets as a move from the price paid. Implied: bets by stake alone.")
        put(html.columns(*drawn), "readings")


def _calibrated(parts: Sequence[Calibrated], by: str) -> None:
    if not parts:
        return
    st.markdown(f"**Calibration by {BY[by].lower()}**")
    with_null = [(one, one.null) for one in parts]
    told = {
        "Brier": ("%.4f", "Mean squared error; miscalibration − discrimination + uncertainty."),
        "Miscalibration": ("%.4f", "How much better it would be if recalibrated; lower is better."),
        "By chance": ("%.4f", "The miscalibration that a calibrated forecaster shows by chance."),
        "p": ("p", "How often chance alone makes it as large; with many parts, some are small by chance."),
        "Discrimination": ("%.4f", "How well it tells YES from NO; higher is better."),
        "Forecasts": ("localized", "Resolved ones."),
        "Markets": ("localized", "Resolved ones."),
    }
    columns = {name: html.number(name, form, said) for name, (form, said) in told.items()}
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
    told = found.profile.coherence
    nothing = f"Nothing to judge: {told.reason or 'no event with several markets'}."
    if not section("Coherence", told.loss is not None, nothing, icon=WAITING):
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
                "At": html.number("At ¢", "%.1f", "The agent's own probability, as a price."),
                "Market": html.words("Market", long=True),
            },
        )


def _blind(told: BlindEffect) -> None:
    if not told.rows:
        return
    together = "–" if told.blind_price is None else f"{told.blind_price:.2f}"
    st.subheader("Before and after it saw the price", anchor=False)
    pull, copied = ("–" if share is None else f"{share:.0%}" for share in (told.pull, told.copied))
    skills = (told.blind_skill, told.final_skill)
    before, after = ("–" if skill is None else written(skill, "%+.4f") for skill in skills)
    _metrics(
        ("Moved to the price", pull, "Share of the way to the price that it went."),
        ("Copied it", copied, "Answers that ended within half a cent of the price."),
        ("Skill before", before, "Brier points better than the price, blind."),
        ("Skill after", after, "The same, once it had seen the price."),
        ("Correlation with it", together, "Of blind answers with the price."),
        ("Answers", f"{told.rows:,}", "With a probability before and after."),
    )


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
        link(
            "Market", "market", help_text="Its price, and what everyone said of it.", market=remark.market_id
        )
        where = f"Round {remark.round} of cohort {remark.cohort}."
        link("Turn", "turn", help_text=where, cohort=remark.cohort, round=remark.round, agent=name)


HELD = {
    "Market": html.words("Market"),
    "Side": html.words("Side", "YES pays $1 if it comes true, NO if it does not."),
    "Shares": html.number("Shares", "%.1f", "Held now."),
    "Cost ¢": html.number("Cost ¢", "%.1f", "What a share cost on average, fees included."),
    "Price ¢": html.number("Price ¢", "%.1f", "What a share of its side is worth at mid."),
    "Value $": html.number("Value", "dollar", "All shares at mid; at their cost where there is no price."),
    "Gain $": html.number("Gain", "gain", "Value minus cost."),
    "Cohort": html.number("Cohort", "%d", "In which it is held."),
    "Quote": html.words("Quote", "Whether the price is too old to trade on, or missing."),
}
PARTS = (
    ("edge", "Edge", "What quarter-Kelly stakes should earn at mid, by the share of claims that came true."),
    ("spread", "Spread", "What it paid over the mid, or got below it."),
    ("fee", "Fees", "Of the venue."),
    ("sizing", "Sizing", "What staking more or less than quarter-Kelly should add."),
    ("exit", "Selling early", "What selling brought, compared with holding on."),
    ("luck", "Luck", "What is left: what happened, less what was to be expected."),
)
"""The parts of a profit, in the order in which they are told."""


def show_split(found: DetailedProfile) -> None:
    """The parts of its profit, adding up to it, and how much of the edge came true."""
    money = found.profile.money
    nothing = "It has made no bet yet, so there is no profit to split."
    said = "Each part starts where the one above it ended; together they are the profit, to the cent."
    has_bet = money is not None and (money.split.pnl or money.luck.events)
    if not section("Where the profit came from", has_bet, nothing, said, WAITING) or money is None:
        return
    _split(money.split)
    st.markdown("\n".join(f"- {escaped(sentence)}" for sentence in _told(money)))


def _split(found: ProfitSplit) -> None:
    """The parts, each from where the one before it ended, and their sum."""
    amounts = [getattr(found, key) / ONE for key, _, _ in PARTS]
    ends = list(accumulate(amounts, initial=0.0))
    spans = [*pairwise(ends), (0.0, found.pnl / ONE)]
    scale = html.cell_scale([(min(span), max(span)) for span in spans])
    data: dict[str, list[Any]] = {
        "Part": [*(label for _, label, _ in PARTS), "P/L"],
        "Amount": [*amounts, found.pnl / ONE],
        "Drawn": [html.step(start, end, "gain" if end >= start else "loss", scale) for start, end in spans],
        "What it is": [*(said for _, _, said in PARTS), "The sum of the parts."],
    }
    columns = {
        "Amount": html.number("Amount", "gain", "Dollars."),
        "Drawn": html.picture("Step", "From where the part before it ended."),
        "What it is": html.words("What it is", long=True),
    }
    listing(data, "The parts of the profit, and their sum", columns)


def _told(money: ProfitOrigin) -> list[str]:
    """How much of the edge came true, and the largest drawdown."""
    said = list[str]()
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
    section("At stake by event", True, "", "What the worst and the best end of an event would change.")
    columns = {
        "Event": html.words("Event", "By the question of one of its markets."),
        "Markets": html.number("Markets", "localized", "Of the event that it holds."),
        "Value $": html.number("Value $", "dollar", "What it holds there is worth now, at mid."),
        "Worst $": html.number("Worst $", "dollar", "What the worst end would change."),
        "Best $": html.number("Best $", "dollar", "What the best end would change."),
        "Share %": html.number("Share %", "%.1f", "What may be lost, in percent of all its open accounts."),
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
    value = gained(sum(one.position.money.value for one in found)).lstrip("+")
    gain = gained(sum(one.position.money.unrealised for one in found))
    said = escaped(f"{count(len(found), 'position')} worth {value} at mid, {gain} over what they cost.")
    if section("Open positions", found, "No open positions.", said, FINE):
        put(holdings_table(found), "table of open positions")


def holdings_table(found: Sequence[Holding], address: Address = in_app) -> Markup:
    """A row a position, which leads to its market."""
    data = html.by_column([_position_row(one) for one in found], HELD)
    data |= html.venue_cells(venue_page(one.position.market_id) for one in found)
    hrefs = [address(way("market", market=one.position.market_id)) for one in found]
    columns = HELD | {"venue": html.words("Venue")}
    return html.html_table(data, columns, "Open positions", hrefs)


def _position_row(held: Holding) -> dict[str, object]:
    """Return what is said of an open position."""
    position = held.position
    return {
        "Market": position.question,
        "Side": position.side,
        "Shares": position.lot.shares / ONE,
        "Cost ¢": percent(position.lot.average_cost),
        "Price ¢": percent(position.price),
        "Value $": position.money.value / ONE,
        "Gain $": position.money.unrealised / ONE,
        "Cohort": held.cohort,
        "Quote": position.stale or "fresh",
    }
