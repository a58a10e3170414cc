"""The calls of a turn: each attempt with what it cost and how it ended, and one of them word for word."""

from collections.abc import Sequence

import streamlit as st

from arena.record.queries.turns import CallAttempt
from dashboard.choice import choice
from dashboard.figures import long_text, money
from dashboard.html_table import number, time, words
from dashboard.listing import listing
from dashboard.queries.turn import TurnPage, texts
from dashboard.source import RecordSource
from dashboard.words import count, plain, usd

COLUMNS = {
    "call": words("Call", "Which question, which sample of it, which attempt at that."),
    "ended": words("Ended", "The provider's own word for how the answer ended, or the error."),
    "model": words("Model", "As the provider reports it, with its fingerprint, and who served it."),
    "tokens_in": number("Tokens in", "localized", "Of the question, as the provider counts them."),
    "tokens_cached": number("Of these cached", "localized", "Read from the provider's cache, at its price."),
    "tokens_out": number("Tokens out", "localized", "Of the answer, thoughts included."),
    "tokens_reasoning": number("Of these thinking", "localized", "As far as the provider counts them apart."),
    "cost": number("Cost", "dollar", "A dash where the price is unknown."),
    "seconds": number("Seconds", "%.1f", "How long the answer took."),
    "status": number("HTTP", "%d", "The status of the provider's answer, where it is known."),
    "rung": words("Asked by", "How the form of the answer was asked for: by schema, as JSON, by the prompt."),
    "error": words("Error", "What went wrong, and whether it was worth another try.", long=True),
    "made": time("Made", "When the call ended, in UTC."),
}


def cost_of(attempts: Sequence[CallAttempt]) -> str:
    """What all of these calls cost together; unknown if one of them is."""
    costs = [attempt.cost for attempt in attempts]
    known = [cost for cost in costs if cost is not None]
    if not attempts:
        return "–"
    return "unknown" if len(known) < len(costs) else usd(sum(known))


def show_calls(record: RecordSource, page: TurnPage) -> None:
    """The calls of a turn, and the words of one of them."""
    st.subheader("Calls", anchor=False)
    if not page.attempts:
        st.caption("It asked no model.")
        return
    failed = sum(attempt.error_code is not None for attempt in page.attempts)
    st.caption(f"{count(len(page.attempts), 'attempt')}, {failed} of them without an answer.")
    rows = [_row(attempt) for attempt in page.attempts]
    listing({key: [row[key] for row in rows] for key in COLUMNS}, "Calls: one row an attempt", COLUMNS)
    named = {_key(attempt): attempt for attempt in page.attempts}
    options = {key: _name(attempt) for key, attempt in named.items()}
    answered = [key for key, attempt in named.items() if attempt.error_code is None]
    chosen = named[choice("Call", "call", options, (answered or list(named))[-1], "list")]
    _words(record, chosen)


def _words(record: RecordSource, attempt: CallAttempt) -> None:
    said = texts(record, attempt.id)
    if attempt.error_message:
        st.markdown(f"**{plain(attempt.error_code or '')}:** {plain(attempt.error_message, most=2_000)}")
    with st.expander("Answer"):
        if said.reply is None:
            st.caption("None came.")
        else:
            long_text(said.reply, f"answer {_key(attempt)}")
    others = {"Thinking": said.thinking, "Sources it names": "\n".join(said.citations)}
    for title, text in others.items():
        if text:
            with st.expander(title):
                long_text(text, f"{title} {_key(attempt)}")
    for place, message in enumerate(said.messages, 1):
        with st.expander(f"Prompt, message {place} of {len(said.messages)}: {message.role}"):
            long_text(message.content, f"prompt {_key(attempt)} {place}")


def _key(attempt: CallAttempt) -> str:
    return f"{attempt.stage}-{attempt.sample}-{attempt.attempt}"


def _name(attempt: CallAttempt) -> str:
    """A call in words; samples are counted from 0 where there is one, so the number says little then."""
    sample = f", sample {attempt.sample}" if attempt.sample else ""
    return f"{attempt.stage}{sample}, attempt {attempt.attempt}"


def _row(attempt: CallAttempt) -> dict[str, object]:
    again = " (may be tried again)" if attempt.error_retry else ""
    fingerprint = f" ({attempt.fingerprint})" if attempt.fingerprint else ""
    host = f" at {attempt.host}" if attempt.host else ""
    return {
        "call": _name(attempt),
        "ended": attempt.error_code or attempt.finish or "answered",
        "model": f"{attempt.model}{fingerprint}{host}" or None,
        "tokens_in": attempt.tokens_in,
        "tokens_cached": attempt.tokens_cached,
        "tokens_out": attempt.tokens_out,
        "tokens_reasoning": attempt.tokens_reasoning,
        "cost": money(attempt.cost),
        "seconds": attempt.latency_ms / 1_000,
        "status": attempt.status,
        "rung": attempt.rung,
        "error": f"{attempt.error_message}{again}" if attempt.error_message else None,
        "made": attempt.made_at,
    }
