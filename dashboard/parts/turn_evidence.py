"""What a turn was given to read."""

import streamlit as st

from agents.model import Article
from dashboard.html_table import time, words
from dashboard.listing import listing
from dashboard.queries.turn import TurnPage
from dashboard.words import count
from markets.model import MarketId

EXCERPT = 2_000
"""So many characters of an article are in its row."""
EVIDENCE = {
    "question": words("Question", "The market that it was shown for."),
    "title": words("Title", "As its source has it.", long=True),
    "source": words("Source", "Who published it."),
    "published": time("Published", "The latest moment at which it can have been, in UTC."),
    "text": words("Text", f"Its first {EXCERPT:,} characters.", long=True),
    "address": words("Address", "Where it was found, as text."),
}


def show_evidence(page: TurnPage) -> None:
    """The articles that its prompt held, each with its first words."""
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
