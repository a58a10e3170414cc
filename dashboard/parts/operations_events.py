"""What happened around the rounds: jobs, incidents, and what venues sent in vain."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from arena.operations.status import Status
from arena.record.model.incident import RecordedIncident
from arena.record.write.operations import MOST_TRIES
from dashboard.choice import choice
from dashboard.listing import WHEN, listing
from dashboard.queries.operations import rejected_data
from dashboard.row_choice import selected_row
from dashboard.source import RecordSource
from dashboard.times import moment
from dashboard.words import plain

KINDS = {
    "all": "All",
    "page": "Pages",
    "market": "Markets",
    "quote": "Prices",
    "resolution": "Results",
    "article": "Articles",
}


def show_jobs(status: Status) -> None:
    """How each job of `arena run` went last."""
    st.subheader("Jobs", anchor=False)
    if not status.jobs:
        st.caption("None was done yet. `arena run` does them; `arena run --list` says which, and when next.")
        return
    st.caption("What `arena run` does between rounds.")
    jobs = status.jobs
    data: dict[str, Any] = {
        "Job": [job.name for job in jobs],
        "Last begun": [job.started_at for job in jobs],
        "Ended": [job.ended_at for job in jobs],
        "For": [job.due_at for job in jobs],
        "Next": [status.next_jobs.get(job.name) for job in jobs],
        "Failures": [job.failures for job in jobs],
        "Note": [job.note for job in jobs],
    }
    failures = st.column_config.NumberColumn(help="In a row; 0 when it went well.")
    listing(
        data, "Jobs", dict.fromkeys(("Last begun", "Ended", "For", "Next"), WHEN) | {"Failures": failures}
    )


def show_incidents(incidents: Sequence[RecordedIncident]) -> None:
    """What an operator should hear of, and whether they were told."""
    st.subheader("Incidents", anchor=False)
    if not incidents:
        st.caption("Nothing has happened that an operator should hear of.")
        return
    st.caption("The newest. `watch.webhook` in the config has them told as they happen.")
    data: dict[str, Any] = {
        "At": [told.incident.at for told in incidents],
        "What": [told.incident.text or told.incident.subject for told in incidents],
        "Kind": [told.incident.kind.replace("_", " ") for told in incidents],
        "Ended": [told.ended_at for told in incidents],
        "Goes on": [told.ended_at is None for told in incidents],
        "Told": [_told(told) for told in incidents],
    }
    listing(data, "Incidents", {"At": WHEN, "Ended": WHEN})


def _told(told: RecordedIncident) -> str:
    if told.told_at is not None:
        return moment(told.told_at)
    if told.tries >= MOST_TRIES:
        return "nobody"
    return f"not yet, tried {told.tries} times" if told.tries else "not yet"


def show_rejected(record: RecordSource, status: Status) -> None:
    """What was set aside and why; of the one that is chosen, what was sent."""
    st.subheader("What venues sent in vain", anchor=False)
    kind = choice("Kind", "aside", KINDS, "all")
    quarantined = rejected_data(record, None if kind == "all" else kind)
    if not quarantined:
        st.caption("Nothing was set aside: all that venues sent could be used.")
        return
    lately = [f"{x.records:,} {plain(x.venue)} {x.kind} {plain(x.code)}" for x in status.quarantined]
    said = f"In the last day: {', '.join(lately)}. " if lately else "Nothing in the last day. "
    st.caption(f"{said}Pages are what a venue did not answer. Choose a row to read what was sent.")
    data: dict[str, Any] = {
        "Last seen": [aside.last_seen_at for aside in quarantined],
        "Times": [aside.times for aside in quarantined],
        "Venue": [aside.venue for aside in quarantined],
        "Kind": [aside.kind for aside in quarantined],
        "Code": [aside.code for aside in quarantined],
        "Reason": [aside.reason for aside in quarantined],
        "Record": [aside.record for aside in quarantined],
        "First seen": [aside.first_seen_at for aside in quarantined],
    }
    picked = selected_row(data, "asides", {"Last seen": WHEN, "First seen": WHEN}, "What venues sent in vain")
    if picked is not None:
        st.text(quarantined[picked].reason)
        st.code(quarantined[picked].raw or "(nothing)", language=None, wrap_lines=True)
