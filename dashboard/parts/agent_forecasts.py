"""How good its probabilities are: in parts, how calibrated, whether they agree with one another."""

from collections.abc import Mapping, Sequence

import streamlit as st

from arena.scores.profiles.detailed_profile import DetailedProfile, NotableForecast
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from dashboard.blocks import box, columns
from dashboard.choice import choice
from dashboard.html_table import number, picture, words
from dashboard.links import link
from dashboard.listing import listing, put
from dashboard.numbers import written
from dashboard.svg import calibration_chart, columns_chart
from dashboard.table import intervals, says_and_happens
from dashboard.words import count, dollars, escaped, plain

BY = {"category": "Category", "horizon": "Horizon", "price": "Price", "cohort": "Cohort"}
MEANT = {
    "category": "What markets are about, by their venue's word.",
    "horizon": "How long it was until the market was to close.",
    "price": "What a share of YES cost when it was asked.",
    "cohort": "In which cohort it was said.",
}
WAITING = ":material/hourglass_empty:"
UNANSWERED = "It has answered nothing that has resolved: calibration rests on answers alone."


def show(found: DetailedProfile, questions: Mapping[str, str], name: str) -> None:
    """Skill and calibration, their parts, the histogram, coherence, blind answers, best and worst calls."""
    by = choice("In parts by", "by", BY, "category")
    _skill(found, by)
    _readings(found)
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
            "From": number("from", "%+.4f", "The lower end of the 95% interval."),
            "To": number("to", "%+.4f", "The upper end."),
        },
    )


def _readings(found: DetailedProfile) -> None:
    """How calibrated its bets are, read as a move from the price paid and by stake alone."""
    st.subheader("Calibration of its bets", anchor=False)
    diagrams = {"Anchored": found.anchored, "Implied": found.implied}
    drawn = [
        box(
            title,
            calibration_chart([(title, one, "c1")], f"Calibration, {title}"),
            says_and_happens(one, sum(point.rows for point in one.points)),
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
