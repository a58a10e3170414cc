"""What is going on, in a few small blocks: each leads to where it is told whole."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import streamlit as st

from agents.model import USABLE_STATUSES
from arena.operations.status import Spending, Status
from arena.record.model.incident import RecordedIncident
from arena.record.model.status import RoundState
from arena.record.queries.turns import TurnActivity
from arena.scores.cache import CacheEntry
from arena.scores.profiles.rank_moves import RankMove, RankMoves
from dashboard.links import link
from dashboard.queries.leaderboard import activity
from dashboard.queries.status import arena_status
from dashboard.source import RecordSource
from dashboard.times import moment
from dashboard.words import count, day, dollars, escaped, plain

MOVED = 2
"""So many agents are named whose skill has moved."""
WIDE = (3, 4, 5, 3, 3)
"""How wide the blocks are beside one another."""
BRIEF = 30
"""So much of a question fits into the line of a block."""
WORDS = {
    "ok": "All is well",
    "waiting": "Waiting",
    "late": "A round is late",
    "trouble": "Trouble",
}


def show_happening(record: RecordSource) -> None:
    """The next round, the newest decisions, what a week has changed, spend and health."""
    status = arena_status(record)
    newest = max(status.last, key=lambda one: one.cohort, default=None)
    found = activity(record, None if newest is None else newest.id)
    blocks: tuple[Callable[[], None], ...] = (
        lambda: _next(status),
        lambda: _decisions(newest, found.turns),
        lambda: _week(found.moves),
        lambda: _spend(status.spend),
        lambda: _health(status),
    )
    for column, block in zip(st.columns(WIDE, gap="small", border=True), blocks, strict=True):
        with column:
            block()


def _next(status: Status) -> None:
    st.markdown("**Next round**")
    at = status.calendar.next_round
    if at is None:
        st.caption("None is planned by the cohorts in the record. `arena run` starts new ones.")
        return
    st.markdown(moment(at))
    playing = status.playing
    by_clock = any(stored.cohort.stamp == "live" for stored in playing)
    st.caption(away(at - status.at) if by_clock else "`arena round` plays it.")
    st.caption(f"{count(len(playing), 'cohort')} playing")


def away(wait: timedelta) -> str:
    """How far something is off.

    >>> away(timedelta(days=3, hours=2)), away(timedelta(minutes=90)), away(timedelta(seconds=-5))
    ('in 3 days', 'in 1 hour', 'due now')
    """
    seconds = wait.total_seconds()
    if seconds <= 0:
        return "due now"
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"in {count(int(seconds // size), unit)}"
    return "in less than a minute"


def _decisions(newest: RoundState | None, acted: Sequence[TurnActivity]) -> None:
    st.markdown("**Newest decisions**")
    if newest is None:
        st.caption("Nobody has decided yet: `arena round` plays a round.")
        return
    cohort, number = newest.cohort, newest.number
    link(f"Round {number} of cohort {cohort}", "turn", cohort=cohort, round=number)
    turns = ", ".join(f"{how_many} {status}" for status, how_many in newest.turns.items())
    st.caption(f"{moment(newest.at)} · {turns or 'no turn is in yet'}")
    for turn in acted:
        did = count(turn.trades, "trade") if turn.status in USABLE_STATUSES else turn.status
        link(f"{plain(turn.agent, 40)}: {did}", "turn", cohort=cohort, round=number, agent=turn.agent)


def _week(entry: CacheEntry[RankMoves] | None) -> None:
    st.markdown("**Resolved in a week**")
    if entry is None:
        st.caption("It is worked out with the next results.")
        return
    moves = entry.value
    st.markdown(f"{count(moves.markets, 'market')} of {count(moves.events, 'event')}")
    st.caption(f"Since {day(moves.since)}. {'' if entry.is_current else 'More has ended since.'}".strip())
    told = moved(moves)
    if moves.markets and not told:
        st.caption("Nobody's place has changed.")
    for move in told:
        _why(move)


def moved(moves: RankMoves) -> list[RankMove]:
    """Those whose place has changed, the largest change of skill first."""
    changed = [move for move in moves.moves if move.place is not None and move.place != move.place_before]
    changed.sort(key=lambda move: -abs((move.skill or 0.0) - (move.skill_before or 0.0)))
    return changed[:MOVED]


def _why(move: RankMove) -> None:
    before = "unplaced" if move.place_before is None else str(move.place_before)
    link(f"{plain(move.agent, 40)}: {before} → {move.place}", "agent", agent=move.agent)
    if move.movers:
        first = move.movers[0]
        why = f"{plain(first.question)} It moved the skill by {first.change:+.4f}, more than any other event."
        link(
            f"{first.change:+.4f}: {plain(first.question, BRIEF)}", "market", help=why, market=first.market_id
        )


def _spend(spend: Spending) -> None:
    st.markdown("**Spend**")
    st.markdown(_dollars(spend.today) + " today", help="What calls have cost since midnight UTC.")
    st.caption(_dollars(spend.month) + " this month")
    for budget in spend.limits:
        if budget.scope == "day":
            st.progress(budget.used, f"of {_dollars(budget.limit)} a day")


def _dollars(millionths: int) -> str:
    return escaped(dollars(millionths))


def _health(status: Status) -> None:
    st.markdown("**Health**")
    link(WORDS[status.word], "operations", help="The first word of `arena status`.")
    if status.reasons:
        st.caption(plain(worst(status), 120))
    open_ones = [told for told in status.incidents if told.ended_at is None]
    if open_ones:
        st.caption(_newest(open_ones))


def worst(status: Status) -> str:
    """Why health is no better than it is."""
    return next(reason.text for reason in status.reasons if reason.word == status.word)


def _newest(told: list[RecordedIncident]) -> str:
    at: datetime = max(one.incident.at for one in told)
    return f"{count(len(told), 'incident')}, the newest of {moment(at)}"
