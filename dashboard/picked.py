"""Tables of which a row leads somewhere."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st


def picked(
    data: Mapping[str, Sequence[Any]],
    key: str,
    columns: Mapping[str, Any],
    alt: str,
    most: int = 0,
    to_read: bool = False,
) -> int | None:
    """A table, and the place of the row that was just clicked.

    Where there is a row, go where it leads: the table forgets it, so that whoever comes back stays. With
    `most`, a longer table is so many rows high and can be scrolled. Cells that are long and `to_read` can
    be clicked in peace: then it is only the box at a row's start that leads on.
    """
    times = f"{key} was left"
    rows = len(next(iter(data.values()), ()))
    event = st.dataframe(
        data,
        key=f"{key} {st.session_state.get(times, 0)}",
        on_select="rerun",
        selection_mode="single-row" if to_read else ["single-row", "single-cell"],
        hide_index=True,
        placeholder="–",
        height="content" if not most or rows <= most else 35 * (most + 1) + 3,
        column_config=dict(columns),
        alt=alt,
    )
    chosen = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    if not chosen or chosen[0] >= rows:
        return None
    st.session_state[times] = st.session_state.get(times, 0) + 1
    return int(chosen[0])
