"""What a turn stated of each market, and how close that came."""

from collections.abc import Iterator, Sequence

import streamlit as st

from dashboard.figures import outcome, percent
from dashboard.html_table import number, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.queries.turn import Claim, TurnPage
from dashboard.words import count

CLAIMS = {
    "question": words("Question", "As the market's page read then."),
    "final": number("Stated %", "%.1f", "The probability of YES that it stated; a dash where it skipped."),
    "blind": number("Blind %", "%.1f", "What it stated before it was shown any price."),
    "price": number("Price %", "%.1f", "The mid of YES in the snapshot that it saw."),
    "outcome": words("Outcome", "What a share of YES paid in the end."),
    "gain": number(
        "Gain, Brier points",
        "%+.4f",
        "How much smaller its squared error was than that of the price it saw; > 0 beats the price.",
    ),
    "reason": words("Reason", "In its own words.", long=True),
}


def show_forecasts(page: TurnPage) -> None:
    """Every market on offer: what was said of it, blind and in the end, and what came."""
    st.subheader("Forecasts", anchor=False)
    claims = [claim for claim in page.claims if claim.seen.shown or claim.said.final is not None]
    if not claims:
        st.caption("No market was on offer.")
        return
    st.caption(" ".join(_judged(claims)))
    rows = [_claim(claim) for claim in claims]
    keys = [key for key in CLAIMS if key != "blind" or any(row["blind"] is not None for row in rows)]
    table = {key: [row[key] for row in rows] for key in keys}
    listing(
        table, "Forecasts: one row a market", CLAIMS, [way("market", market=one.seen.id) for one in claims]
    )


def _judged(claims: Sequence[Claim]) -> Iterator[str]:
    gains = [claim.gain for claim in claims if claim.gain is not None]
    if gains:
        better = sum(gain > 0 for gain in gains)
        mean = sum(gains) / len(gains)
        yield (
            f"{count(len(gains), 'forecast')} can be judged: {better} closer than the price, "
            f"by {mean:+.4f} Brier points on average."
        )
    else:
        yield "None can be judged yet."


def _claim(claim: Claim) -> dict[str, object]:
    return {
        "question": claim.seen.question,
        "final": percent(claim.said.final),
        "blind": percent(claim.said.blind),
        "price": percent(claim.seen.mid),
        "outcome": outcome(claim.ended, claim.payout),
        "gain": claim.gain,
        "reason": claim.said.reason or None,
    }
