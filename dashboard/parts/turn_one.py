"""One decision whole: what was forecast, what was wished and what came of it, and the words behind it."""

from collections.abc import Iterator, Sequence

import streamlit as st

from agents.model import Article
from dashboard.figures import money, number, outcome, percent, time, words
from dashboard.links import go, link, step
from dashboard.listing import listing
from dashboard.parts.turn_calls import cost_of, show_calls
from dashboard.parts.turn_list import MEANT
from dashboard.picked import picked
from dashboard.queries.turn import Claim, TurnPage, held_until_now
from dashboard.source import Source
from dashboard.times import moment
from dashboard.words import code, count, dollars, gained, plain
from markets.model import MarketId
from portfolio.model import Bet, Fill, Sale

EXCERPT = 2_000
"""So many characters of an article are in its row."""
QUESTION = 450
"""The width of a question in pixels."""
CLAIMS = {
    "question": words("Question", "As the market's page read then.", width=QUESTION),
    "final": number("Stated %", "%.1f", "The probability of YES that it stated; a dash where it skipped."),
    "blind": number("Blind %", "%.1f", "What it stated before it was shown any price."),
    "price": number("Price %", "%.1f", "The mid of YES in the snapshot that it saw."),
    "outcome": words("Outcome", "What a share of YES paid in the end."),
    "gain": number(
        "Gain, Brier points",
        "%+.4f",
        "How much smaller its squared error was than that of the price it saw; > 0 beats the price.",
    ),
    "reason": words("Reason", "In its own words.", width="medium"),
}
WISHES = {
    "question": words("Question", "As the market's page read then.", width=QUESTION),
    "wish": words("Wish", "What it asked for."),
    "limit": number("Limit ¢", "%.1f", "The worst price of a share that it would take."),
    "came": words("What came of it", "What was filled, or why it was refused.", width=310),
    "reason": words("Reason", "In its own words.", width="medium"),
}
FILLS = {
    "question": words("Question", "As the market's page read then.", width=QUESTION),
    "did": words("Did", "What was bought or sold."),
    "level": number("Level", "%d", "Prices are taken one after the other, the best first."),
    "price": number("Price ¢", "%.2f", "Of a share of that side."),
    "shares": number("Shares", "%.2f", "So many at that price."),
    "amount": number("Dollars", "dollar", "The cash that moved at that price, fee included."),
    "fee": number("Fee $", "%.4f", "The venue's fee in it."),
    "gain": number(
        "Gain if held $",
        "dollar",
        "Of the whole purchase, had it been held until now or its market's end, at the newest price.",
    ),
    "stopped": words("Why it stopped", "Why not all that was wished was filled."),
}
EVIDENCE = {
    "question": words("Question", "The market that it was shown for.", width="medium"),
    "title": words("Title", "As its source has it.", width="large"),
    "source": words("Source", "Who published it."),
    "published": time("Published", "The latest moment at which it can have been, in UTC."),
    "text": words("Text", f"Its first {EXCERPT:,} characters.", width="large"),
    "address": words("Address", "Where it was found, as text."),
}


def show_turn(record: Source, page: TurnPage) -> None:
    """The page of one turn, from how it ended down to the words of every call."""
    turn = page.turn
    _ways(page)
    st.subheader(f"{plain(turn.agent)} in round {turn.round} of cohort {turn.cohort}", anchor=False)
    st.caption(f"Decided {moment(turn.at)} · kind {code(turn.kind)} · version {code(turn.code_version)}")
    _figures(page)
    if turn.note:
        st.markdown(f"**Note:** {plain(turn.note, most=5_000)}")
    _claims(page)
    _wishes(page)
    _fills(page)
    _rejections(page)
    show_calls(record, page)
    _evidence(page)


def _ways(page: TurnPage) -> None:
    """To the turns before and after, to the agent and to the cohort."""
    turn, place = page.turn, page.rounds.index(page.turn.round)
    around = {"← Round before": page.rounds[:place][-1:], "Round after →": page.rounds[place + 1 :][:1]}
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, rounds in around.items():
            for round in rounds:
                step(label, "turn", cohort=turn.cohort, round=round, agent=turn.agent)
        link("Its agent", "agent", agent=turn.agent)
        link("Its cohort", "cohort", cohort=turn.cohort)
        step("All turns", "turn")


def _figures(page: TurnPage) -> None:
    turn = page.turn
    bought = [fill for fill in page.fills if fill.action == "buy"]
    said = sum(claim.said.final is not None for claim in page.claims)
    shown = sum(claim.seen.shown for claim in page.claims)
    with st.container(horizontal=True):
        st.metric("Verdict", turn.verdict, help=MEANT.get(turn.verdict), border=True)
        st.metric("Forecasts", f"{said} of {shown}", help="Stated, of the markets shown.", border=True)
        spent = dollars(sum(fill.amount for fill in bought))
        st.metric("Bet", spent, help=f"{count(len(bought), 'purchase')}, fees included.", border=True)
        sold = len(page.fills) - len(bought)
        st.metric("Sales", f"{sold}", help="Of positions, in full or in part.", border=True)
        refused = f"{len(page.rejections)}"
        st.metric("Rejected", refused, help="Wishes, and items of the answer, refused.", border=True)
        st.metric("Cash before", dollars(turn.cash), help="What caps are measured by.", border=True)
        st.metric("Cost", cost_of(page.attempts), help="Of all its calls, in dollars.", border=True)


def _claims(page: TurnPage) -> None:
    st.subheader("Forecasts", anchor=False)
    claims = [claim for claim in page.claims if claim.seen.shown or claim.said.final is not None]
    if not claims:
        st.caption("No market was on offer.")
        return
    st.caption(" ".join(_judged(claims)))
    rows = [_claim(claim) for claim in claims]
    keys = [key for key in CLAIMS if key != "blind" or any(row["blind"] is not None for row in rows)]
    table = {key: [row[key] for row in rows] for key in keys}
    place = picked(table, "claims", CLAIMS, "Forecasts: one row a market", to_read=True)
    if place is not None:
        go("market", market=claims[place].seen.id)


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
    yield "The box at the start of a row leads to its market."


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


def _wishes(page: TurnPage) -> None:
    st.subheader("Bets and sales", anchor=False)
    wishes: list[Bet | Sale] = [*page.turn.sales, *page.turn.bets]
    if not wishes:
        st.caption("It wished for none.")
        return
    rows = [_wish(page, wish) for wish in wishes]
    keys = [key for key in WISHES if key != "limit" or any(row["limit"] is not None for row in rows)]
    table = {key: [row[key] for row in rows] for key in keys}
    place = picked(table, "wishes", WISHES, "Wishes: one row each", to_read=True)
    if place is not None and wishes[place].market_id in page.questions:
        go("market", market=wishes[place].market_id)


def _wish(page: TurnPage, wish: Bet | Sale) -> dict[str, object]:
    return {
        "question": page.questions.get(wish.market_id, wish.market_id),
        "wish": _asked(wish),
        "limit": percent(wish.limit),
        "came": " ".join(_came(page, wish)) or None,
        "reason": wish.reason or None,
    }


def _asked(wish: Bet | Sale) -> str:
    if isinstance(wish, Bet):
        return f"buy {wish.side} for {dollars(wish.amount)}"
    if wish.shares is not None:
        return f"sell {money(wish.shares):,.2f} {wish.side}"
    if wish.fraction is not None:
        return f"sell {percent(wish.fraction):.0f}% of {wish.side}"
    return f"sell all {wish.side}"


def _came(page: TurnPage, wish: Bet | Sale) -> Iterator[str]:
    """What was filled of a wish, and all that was refused about its market."""
    action = "buy" if isinstance(wish, Bet) else "sell"
    for fill in page.fills:
        if (fill.market_id, fill.side, fill.action) == (wish.market_id, wish.side, action):
            yield f"{_did(fill)}: {money(fill.shares):,.2f} shares for {dollars(fill.amount)}."
    for refused in page.rejections:
        if refused.market_id == wish.market_id:
            yield f"Refused: {refused.message}."


def _did(fill: Fill) -> str:
    return f"{'bought' if fill.action == 'buy' else 'sold'} {fill.side}"


def _fills(page: TurnPage) -> None:
    if not page.fills:
        return
    st.subheader("Fills, level by level", anchor=False)
    claims = {claim.seen.id: claim for claim in page.claims}
    gains = [held_until_now(fill, claims[fill.market_id]) for fill in page.fills]
    known = [gain for gain in gains if gain is not None]
    if known:
        st.caption(f"Held until now or their end, its purchases would have made {plain(gained(sum(known)))}.")
    rows = [row for fill, gain in zip(page.fills, gains, strict=True) for row in _levels(page, fill, gain)]
    table = {key: [row[key] for row in rows] for key in FILLS}
    place = picked(table, "fills", FILLS, "Fills: one row a price")
    if place is not None:
        go("market", market=str(rows[place]["market"]))


def _levels(page: TurnPage, fill: Fill, gain: int | None) -> Iterator[dict[str, object]]:
    for number_, level in enumerate(fill.levels, 1):
        last = number_ == len(fill.levels)
        yield {
            "market": fill.market_id,
            "question": page.questions[fill.market_id],
            "did": _did(fill),
            "level": number_,
            "price": percent(level.price),
            "shares": money(level.shares),
            "amount": money(level.amount),
            "fee": money(level.fee),
            "gain": money(gain) if last else None,
            "stopped": (fill.left or None) if last else None,
        }


def _rejections(page: TurnPage) -> None:
    if not page.rejections:
        return
    st.subheader("Rejected", anchor=False)
    st.caption("Items of the answer that made no sense, and wishes against the rules.")
    listing(
        {
            "Why": [refused.message for refused in page.rejections],
            "Market": [
                page.questions.get(refused.market_id, refused.market_id) or None
                for refused in page.rejections
            ],
            "Code": [refused.code for refused in page.rejections],
        },
        "Rejected: one row each",
        {"Why": words("Why", "The reason, in words.", width="large")},
    )


def _evidence(page: TurnPage) -> None:
    if not page.evidence:
        return
    st.subheader("Evidence", anchor=False)
    st.caption(f"{count(len(page.evidence), 'article')}, shown to every agent of the round alike.")
    rows = [_article(page, market, article) for market, article in page.evidence]
    listing(
        {key: [row[key] for row in rows] for key in EVIDENCE},
        "Evidence: one row an article",
        EVIDENCE,
    )


def _article(page: TurnPage, market: MarketId, article: Article) -> dict[str, object]:
    return {
        "question": page.questions.get(market, market),
        "title": article.title,
        "source": article.source,
        "published": article.published_at,
        "text": article.text[:EXCERPT],
        "address": article.url,
    }
