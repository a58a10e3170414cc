"""Selections that live in the address of the page, so that a link shows what its sender saw."""

from collections.abc import Mapping
from typing import Literal

import streamlit as st

Widget = Literal["list", "switch"]
MOST_TYPED = 200
"""Longer words to search for are cut off."""


def choice(label: str, key: str, options: Mapping[str, str], default: str, widget: Widget = "switch") -> str:
    """One of the options, named in the address by its key and shown by its words.

    What was never chosen stays out of the address: opening a page then adds nothing to the history.
    """
    asked = st.query_params.get(key)
    if _is_from_outside(key, asked) or st.session_state.get(key) not in options:
        st.session_state[key] = asked if asked in options else default
    chosen = _drawn(label, key, options, widget) or default
    if chosen != asked and (asked is not None or chosen != default):
        st.query_params[key] = chosen
    st.session_state[_note(key)] = (asked, st.query_params.get(key))
    return chosen


def _is_from_outside(key: str, asked: str | None) -> bool:
    """Whether the address says what it neither said at the last run nor was made to say by it.

    A click that comes before the browser has heard of the last one still brings the older address.
    """
    return asked not in st.session_state.get(_note(key), ())


def _note(key: str) -> str:
    return f"address of {key}"


def _drawn(label: str, key: str, options: Mapping[str, str], widget: Widget) -> str | None:
    words = options.__getitem__
    if widget == "list":
        return st.selectbox(
            label, list(options), format_func=words, key=key, width=320, label_visibility="collapsed"
        )
    return st.segmented_control(
        label, list(options), format_func=words, key=key, required=True, label_visibility="collapsed"
    )


def typed(label: str, key: str, hint: str) -> str:
    """Words to search for, in the address under a key; with none the address does not have it."""
    asked = st.query_params.get(key)
    if _is_from_outside(key, asked) or key not in st.session_state:
        st.session_state[key] = asked or ""
    words = st.text_input(
        label, key=key, placeholder=hint, max_chars=MOST_TYPED, width=320, label_visibility="collapsed"
    ).strip()
    if words:
        st.query_params[key] = words
    elif key in st.query_params:
        del st.query_params[key]
    st.session_state[_note(key)] = (asked, st.query_params.get(key))
    return words
