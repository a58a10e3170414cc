"""Tables of which a row can be chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.listing import MOST, laid_out


def clicked_row(
    data: Mapping[str, Sequence[Any]],
    key: str,
    columns: Mapping[str, Any],
    alt: str,
    most: int = MOST,
    to_read: bool = False,
) -> int | None:
    """A table, and the place of the row that was just clicked.

    Where there is a row, go where it leads: the table forgets it, so that whoever comes back stays. So many
    rows are seen at once. Cells that are long and `to_read` can be clicked in peace: then it is only the box
    at a row's start that leads on.
    """
    times = f"{key} was left"
    named = f"{key} {st.session_state.get(times, 0)}"
    place = _chosen(
        data, named, columns, alt, most, ("single-row",) if to_read else ("single-row", "single-cell")
    )
    if place is not None:
        st.session_state[times] = st.session_state.get(times, 0) + 1
    return place


def selected_row(
    data: Mapping[str, Sequence[Any]], key: str, columns: Mapping[str, Any], alt: str, most: int = MOST
) -> int | None:
    """A table, and the place of the row that is chosen in it, which stays so."""
    return _chosen(data, key, columns, alt, most, ("single-row",))


def _chosen(
    data: Mapping[str, Sequence[Any]],
    key: str,
    columns: Mapping[str, Any],
    alt: str,
    most: int,
    by: Sequence[Any],
) -> int | None:
    event = st.dataframe(**laid_out(data, alt, columns, most), key=key, on_select="rerun", selection_mode=by)
    places: list[int] = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    rows = len(next(iter(data.values()), ()))
    return places[0] if places and places[0] < rows else None
