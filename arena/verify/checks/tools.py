"""Tool results: nothing from after their round, and the same text in every conversation."""

import json
from typing import Any

from arena.record.write.tools import request_key
from arena.verify.checks.audits import audit_of, check_verdicts, questions_of, texts_of_tool
from arena.verify.checks.seals import json_in, objects_in
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row
from markets.hashes import canonical_bytes, sha256

RESULTS = """SELECT tool_result.*, round.at, round.cohort_id AS cohort, round.snapshot_id AS snapshot
    FROM tool_result JOIN round ON round.id = tool_result.round_id ORDER BY tool_result.id"""
WITH_TOOLS = """SELECT * FROM call WHERE messages LIKE '%"role":"tool"%' ORDER BY round_id, id"""
LINE_UP = "SELECT * FROM entrant WHERE cohort_id = :cohort"
NOT_USED = "not used: at most 8 tools at once"


def check_tools(facts: RecordReader) -> Found:
    """Yield tool results that are impossible, and conversations that quote them differently."""
    for row in facts.rows("tool_result", RESULTS):
        agents = facts.column("name", "entrant", LINE_UP, cohort=row["cohort"])
        if row["agent"] and row["agent"] not in agents:
            yield row.differs("agent", "an agent of the cohort", "somebody of it asked")
        for source in objects_in(row["sources"]):
            if str(source.get("published", "")) > row["at"]:
                yield row.differs("sources", f"articles of {row['at']} or before", "the round's time")
        if audit_of(row, "withheld") is not None:
            questions = questions_of(facts, row["snapshot"])
            texts = texts_of_tool(row, questions)
            yield from check_verdicts(row, "withheld", texts, questions, row["at"])

    round_id = None
    results: dict[str, Row] = {}
    for row in facts.rows("call", WITH_TOOLS):
        if row["round_id"] != round_id:
            round_id = row["round_id"]
            of_round = "SELECT * FROM tool_result WHERE round_id = :round"
            results = facts.rows_by("key", "tool_result", of_round, round=round_id)
        yield from _check_conversation(facts, row, results)


def _check_conversation(facts: RecordReader, row: Row, results: dict[str, Row]) -> Found:
    """Yield the tool results in a call that differ from those in the record."""
    agent = facts.natural_key(row)["entrant"]
    requests_by_id: dict[str, Any] = {}
    for message in objects_in(row["messages"]):
        content = json_in(str(message.get("content")))
        if not isinstance(content, dict):
            continue
        if message.get("role") == "assistant" and "tool_calls" in content:
            requests_by_id = {request["id"]: request["function"] for request in content["tool_calls"]}
        elif message.get("role") == "tool":
            request = requests_by_id.get(content["tool_call_id"], {"name": "", "arguments": ""})
            arguments = _canonical_arguments(request["arguments"])

            # Most results are the same for all agents; some, like notes, are an agent's own.
            result = results.get(request_key("", request["name"], arguments))
            if result is None:
                result = results.get(request_key(agent, request["name"], arguments))
            stored_text = None if result is None else result["text"]
            if content["content"] not in (NOT_USED, stored_text):
                expected = (
                    "a result that is kept"
                    if stored_text is None
                    else f"a text of hash {sha256(stored_text)}"
                )
                yield row.differs("messages", expected, f"so {request['name']} told all that asked")


def _canonical_arguments(arguments: str) -> str:
    """Return the arguments of a request as the record stores them."""
    try:
        return canonical_bytes(json.loads(arguments or "{}"))
    except ValueError:
        return arguments
