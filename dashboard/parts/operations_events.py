"""What happened around the rounds: jobs, incidents, and rejected venue data."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import streamlit as st

from arena.operations.status import Status
from arena.record.model.incident import RecordedIncident
from arena.record.write.operations import MOST_TRIES
from arena.record.write.quarantine import StoredQuarantine
from dashboard.choice import choice
from dashboard.html_table import number, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.queries.operations import rejected_data
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
    listing(data, "Jobs", {"Failures": number("Failures", "localized", "In a row; 0 when it went well.")})


def show_incidents(incidents: Sequence[RecordedIncident]) -> None:
    """What an operator should hear of, and whether they were told."""
    st.subheader("Incidents", anchor=False)
    if not incidents:
        st.caption("No incidents. `arena run` records them while it is at work.")
        return
    st.caption("The newest. `watch.webhook` in the config has them told as they happen.")
    data: dict[str, Any] = {
        "At": [told.incident.at for told in incidents],
        "What": [told.incident.text or told.incident.subject for told in incidents],
        "Kind": [told.incident.kind.replace("_", " ") for told in incidents],
        "Ended": [told.ended_at for told in incidents],
        "Ongoing": [told.ended_at is None for told in incidents],
        "Told": [_told(told) for told in incidents],
    }
    listing(data, "Incidents", {"What": words("What", long=True)})


def _told(told: RecordedIncident) -> str:
    if told.told_at is not None:
        return moment(told.told_at)
    if told.tries >= MOST_TRIES:
        return "nobody"
    return f"not yet, tried {told.tries} times" if told.tries else "not yet"


def show_rejected(record: RecordSource, status: Status) -> None:
    """What was set aside and why; of the one that is chosen, what was sent."""
    st.subheader("Rejected venue data", anchor=False)
    kind = choice("Kind", "aside", KINDS, "all")
    quarantined = rejected_data(record, None if kind == "all" else kind)
    if not quarantined:
        st.caption("No rejected data.")
        return
    lately = [f"{x.records:,} {plain(x.venue)} {x.kind} {plain(x.code)}" for x in status.quarantined]
    said = f"In the last day: {', '.join(lately)}. " if lately else "Nothing in the last day. "
    st.caption(f"{said}Pages are what a venue did not answer. Open one to read what was sent.")
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
    marks = [_mark(aside) for aside in quarantined]
    listing(data, "Rejected venue data", {}, [way("operations", aside=kind, sent=mark) for mark in marks])
    if (asked := st.query_params.get("sent")) in marks:
        chosen = quarantined[marks.index(asked)]
        st.text(chosen.reason)
        st.code(chosen.raw or "(nothing)", language=None, wrap_lines=True)


def _mark(aside: StoredQuarantine) -> str:
    """By what an address names a rejected record."""
    return sha256(repr((aside.venue, aside.kind, aside.code, aside.record)).encode()).hexdigest()[:12]
