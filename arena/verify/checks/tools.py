"""What tools told: sealed as it was kept, nothing from after its round, and told so in every conversation.

A result's hash is taken over cohort, round, and all columns but ids and the hash itself.
"""

import json
from typing import Any

from sqlalchemy import bindparam

from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, ToolResultRow
from arena.record.schema.turn import CallRow
from arena.record.schema.typed import col, joined
from arena.verify.checks.audits import audit_of, check_verdicts, questions_of, told_texts
from arena.verify.checks.turns import place_of
from arena.verify.differences import Found, Row
from arena.verify.hashes import check_hash, hash_of, json_in, json_of, objects_in, sha256_of, without
from arena.verify.reader import RecordReader, RowPart, rows_of, rows_query

RESULTS = rows_query(
    joined(ToolResultRow, RoundRow, CohortRow),
    ToolResultRow,
    RowPart(RoundRow, "number", "at", "cohort_id", "snapshot_id"),
    RowPart(CohortRow, "number"),
)
ENTRANTS = rows_query(
    EntrantRow, RowPart(EntrantRow, "name"), where=EntrantRow.cohort_id == bindparam("cohort"), again=True
)
OF_ROUND = rows_query(
    ToolResultRow,
    RowPart(ToolResultRow, "key", "text"),
    where=ToolResultRow.round_id == bindparam("round"),
    again=True,
)
WITH_TOOLS = rows_of(CallRow, col(CallRow.messages).contains('"role":"tool"'), order=[CallRow.round_id])
NOT_USED = "not used: at most 8 tools at once"


def check_tools(facts: RecordReader) -> Found:
    """Results that are not as they were kept, and such as conversations have otherwise."""
    for row, round_row, cohort in facts.read(RESULTS):
        if round_row is None or cohort is None:
            continue
        place = {"cohort": cohort["number"], "round": round_row["number"]}
        yield from check_hash(row, without(row, "id", "round_id", "hash") | place, "it seals what was told")
        yield from row.check(
            {"key": (sha256_of([row["agent"], row["tool"], row["request"]]), "it is that of its request")}
        )
        names = {each["name"] for each in facts.rows(ENTRANTS, cohort=round_row["cohort_id"])}
        if row["agent"] and row["agent"] not in names:
            yield row.differs("agent", "an agent of the cohort", "somebody of it asked")
        for source in objects_in(row["sources"]):
            if str(source.get("published", "")) > round_row["at"]:
                yield row.differs("sources", f"articles of {round_row['at']} or before", "the round's time")
        yield from _check_audit(facts, row, round_row)
    round_id, told = None, dict[str, str]()
    for row in facts.rows(WITH_TOOLS):
        if row["round_id"] != round_id:
            round_id = row["round_id"]
            told = {each["key"]: each["text"] for each in facts.rows(OF_ROUND, round=round_id)}
        yield from _check_conversation(facts, row, told)


def _check_audit(facts: RecordReader, row: Row, round_row: Row) -> Found:
    """The verdicts on what a tool found."""
    if audit_of(row, "withheld") is not None:
        questions = questions_of(facts, round_row["snapshot_id"])
        yield from check_verdicts(row, "withheld", told_texts(row, questions), questions, round_row["at"])


def _check_conversation(facts: RecordReader, row: Row, told: dict[str, str]) -> Found:
    """What a call says that tools told, beside what they did."""
    agent, requests = place_of(facts, row)["entrant"], dict[str, Any]()
    for message in objects_in(row["messages"]):
        role, said = message.get("role"), json_in(str(message.get("content")))
        if role == "assistant" and isinstance(said, dict) and "tool_calls" in said:
            requests = {each["id"]: each["function"] for each in said["tool_calls"]}
        elif role == "tool" and isinstance(said, dict):
            use = requests.get(said["tool_call_id"], {"name": "", "arguments": ""})
            keys = [sha256_of([who, use["name"], _plain(use["arguments"])]) for who in ("", agent)]
            if said["content"] not in (NOT_USED, *(told.get(key) for key in keys)):
                expected = next((told[key] for key in keys if key in told), None)
                words = "a result that is kept" if expected is None else f"a text of hash {hash_of(expected)}"
                yield row.differs("messages", words, f"so {use['name']} told all that asked")


def _plain(arguments: str) -> str:
    """A request as it is kept."""
    try:
        return json_of(json.loads(arguments or "{}"))
    except ValueError:
        return arguments
