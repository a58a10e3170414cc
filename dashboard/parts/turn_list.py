"""The newest turns, each leading to its page."""

import streamlit as st

from arena.record.queries.turns import TurnSummary
from dashboard.choice import choice
from dashboard.figures import money
from dashboard.html_table import number, picture, time, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.palette import looks
from dashboard.queries.season import season
from dashboard.queries.turn import MOST, turns
from dashboard.source import RecordSource
from dashboard.words import count

ANY = "any"
STATUSES = {
    ANY: "All",
    "played": "Played",
    "partly": "Partly",
    "malformed": "Malformed",
    "declined": "Declined",
    "failed": "Failed",
    "late": "Late",
    "out": "Out",
    "waiting": "Waiting",
}
MEANT = {
    "played": "Played: an answer came that could be used.",
    "partly": "Partly: less than was asked for could be used; the rest counts as skips.",
    "malformed": "Malformed: the answer could not be used, so the turn is a hold and counts as skips.",
    "declined": "Declined: the model refused to answer, so the turn is a hold and counts as skips.",
    "failed": "Failed: no answer was to be had; it counts as unanswered.",
    "late": "Late: it was not played, or answered, within six hours of its prices; it counts as unanswered.",
    "out": "Out: the agent can place no bet and holds nothing, so it was not asked.",
    "waiting": "Waiting: the key of its model was not there; it enters once it is.",
}
COLUMNS = {
    "look": picture(""),
    "agent": words("Agent", "Whose turn it was."),
    "at": time("Decided", "The round's decision time, in UTC."),
    "verdict": words("Status", " ".join(MEANT.values())),
    "bought": number("Bets", "localized", "Purchases that were done, in full or in part."),
    "spent": number("Bet $", "dollar", "What was paid for them, fees included."),
    "sold": number("Sales", "localized", "Sales that were done, in full or in part."),
    "rejected": number("Rejected", "localized", "Orders and items of the answer that were refused."),
    "calls": number("Calls", "localized", "Attempts to get an answer from a model."),
    "cost": number("Cost", "dollar", "What its calls cost; a dash without a call or a known price."),
    "cohort": number("Cohort", "%d", "The cohort that it was played in."),
    "round": number("Round", "%d", "The round of that cohort."),
}


def show_list(record: RecordSource) -> None:
    """The controls, and the turns that are so."""
    agents = season(record).agents
    named = {ANY: "All agents"} | {name: name for name, _ in agents}
    agent = choice("Agent", "agent", named, ANY, "list")
    status = choice("Verdict", "verdict", STATUSES, ANY)
    found = turns(record, "" if agent == ANY else agent, "" if status == ANY else status)
    if not found:
        st.info(_nothing(agent, status), icon=":material/search_off:")
        return
    shown, drawn = found[:MOST], looks(agents)
    more = f"The newest {MOST}" if len(found) > MOST else count(len(found), "turn")
    st.caption(f"{more}, newest first.")
    rows = [_row(turn) | {"look": drawn[turn.agent].badge} for turn in shown]
    table = {key: [row[key] for row in rows] for key in COLUMNS}
    ways = [way("turn", cohort=turn.cohort, round=turn.round, agent=turn.agent) for turn in shown]
    listing(table, "Turns: one row each", COLUMNS, ways)


def _nothing(agent: str, status: str) -> str:
    if agent == status == ANY:
        return "No turn is in yet. `arena round` plays the next round, and this page shows it then."
    return "No turn matches. Choose another agent or status."


def _row(turn: TurnSummary) -> dict[str, object]:
    return {
        "at": turn.at,
        "agent": turn.agent,
        "verdict": turn.status,
        "bought": turn.bought,
        "spent": money(turn.spent),
        "sold": turn.sold,
        "rejected": turn.rejected,
        "calls": turn.calls,
        "cost": money(turn.cost),
        "cohort": turn.cohort,
        "round": turn.round,
    }
