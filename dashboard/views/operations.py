"""How the arena works: is it well, what is played, what failed, what it costs, rejected venue data."""

import streamlit as st

from arena.operations.status import Status
from arena.record.model.cohort import JobState
from dashboard.config import known_config
from dashboard.parts.operations_events import show_incidents, show_jobs, show_rejected
from dashboard.parts.operations_rounds import show_failed, show_rounds, show_spending
from dashboard.queries.operations import OperationsPage, operations_page
from dashboard.queries.season import season
from dashboard.queries.status import arena_status
from dashboard.source import RecordSource
from dashboard.times import far, moment
from dashboard.words import count, plain, usd

TITLE = "Operations"
NEEDS_A_COHORT = False
ORDER = 7

WORDS = {
    "ok": (st.success, "Everything is up to date."),
    "waiting": (st.info, "Something is pending, or was put off."),
    "late": (st.warning, "A round is overdue."),
    "trouble": (st.error, "Something needs an operator."),
}
MEGABYTE = 1_000_000


def show(record: RecordSource) -> None:
    """The page, from the word that says how the arena is to what one record of a venue said."""
    status, page = arena_status(record), operations_page(record)
    _health(status)
    known = season(record)
    _figures(status, " (invented)" if known.cohorts and known.is_invented else "")
    show_rounds(status.rounds)
    show_failed(page.failed)
    show_spending(page, status.spend.limits)
    show_jobs(status)
    show_incidents(page.incidents)
    show_rejected(record, status)
    _record(page, status)


def _health(status: Status) -> None:
    say, words = WORDS[status.word]
    reasons = "".join(f"\n- {plain(reason.text)}" for reason in status.reasons)
    say(f"**{status.word.capitalize()}.** {words}\n{reasons}")
    if status.clock == "mixed":
        st.caption(
            "This is a rehearsal's record, judged by the real time: `arena status --clock FILE` judges it "
            "by its own."
        )
    _, broken = known_config()
    if broken:
        st.warning(
            "The config can't be read, so budgets and what is to come are not known: `arena check` says why."
        )


def _figures(status: Status, invented: str) -> None:
    at, leader, held = status.at, status.leader, status.held
    running = leader.host if leader is not None and leader.alive else "No"
    shown = (
        ("Running", running, "Where `arena run` is at work: it plays every round in its time."),
        ("Next round", far(status.calendar.next_round, at), moment(status.calendar.next_round)),
        (
            "Rounds done",
            f"{status.calendar.done:,} of {status.calendar.due:,}",
            "Of those whose time has come, in all cohorts.",
        ),
        (
            f"Spent today{invented}",
            usd(status.spend.today),
            "On calls since midnight UTC; at worst where unknown.",
        ),
        (f"This month{invented}", usd(status.spend.month), "On calls since the first, UTC."),
        ("Calls in progress", f"{status.under_way.calls:,}", _lost(status)),
        (
            "Open positions",
            f"{held.positions:,}",
            f"In {count(held.markets, 'market')}, as each cohort last saw them.",
        ),
        (
            "Stale prices",
            f"{held.stale:,}",
            f"Markets held without a fresh price; the oldest is of {moment(held.oldest)}.",
        ),
        ("Prices read", far(status.looked_at, at), moment(status.looked_at)),
    )
    with st.container(horizontal=True, gap="small"):
        for label, value, help in shown:
            st.metric(label, value, help=help, width=158)


def _lost(status: Status) -> str:
    calls = status.under_way
    worst = f"They may cost {usd(calls.worst)} at most. " if calls.calls else ""
    lost = f"{count(calls.lost, 'call')} lost with a worker may cost {usd(calls.lost_worst)}."
    return f"{worst}{lost if calls.lost else 'None was lost with its worker.'}"


def _record(page: OperationsPage, status: Status) -> None:
    st.subheader("Record", anchor=False)
    known = (told for told in status.incidents if told.ended_at is None)
    wrong = [told for told in known if told.incident.kind == "verify_failed"]
    for told in wrong:
        st.error(
            f"{plain(told.incident.text)}, since {moment(told.incident.at)}. `arena verify` shows all of it."
        )
    verified = "" if wrong else "nothing in it is known to be wrong. "
    st.markdown(
        f"- Size: {page.size / MEGABYTE:,.1f} MB, schema {plain(page.schema)}\n"
        f"- Backup: {_backup(status.backup, status)}\n"
        f"- Check: {verified}Each backup is verified as it is made; `arena verify` works every balance out "
        "again at any time."
    )


def _backup(job: JobState | None, status: Status) -> str:
    if job is None or job.ended_at is None:
        return "none was made by `arena run`; `arena db backup` makes one"
    if job.failures:
        return f"**the last {count(job.failures, 'time')} it failed**: {plain(job.note) or 'see the log'}"
    return f"{moment(job.ended_at)}, {far(job.ended_at, status.at)}"
