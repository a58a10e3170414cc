"""Cohorts against what they froze: line-up, prompts, schedule, and replaced settings.

An agent takes new settings from the config only before its first good turn, from the beginning of a round on;
they replace those it had until then. Every turn that is played by them is sealed with them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import PROVEN_STATUSES
from arena.record.schema.codec import cohort_of
from arena.record.schema.statements import attributes_of
from arena.verify.checks.evidence import check_evidence
from arena.verify.checks.replay import CohortReplay
from arena.verify.checks.seals import json_in
from arena.verify.differences import Found, fault_text
from arena.verify.reader import RecordReader, Row, compare_by
from markets.hashes import canonical, digest, timestamp_text

FROZEN_SO = "so it was frozen"
MOST_ROUNDS = 100_000
"""The largest number of a round for which the schedule is computed."""
REPLACEMENTS = """SELECT replacement.* FROM replacement JOIN entrant ON entrant.id = replacement.entrant_id
    WHERE entrant.cohort_id = :cohort ORDER BY entrant_id, replacement.round"""
EARLIER_TURNS = """SELECT turn.* FROM turn JOIN round ON round.id = turn.round_id
    WHERE turn.entrant_id = :entrant AND round.number < :number"""


def check_cohort(facts: RecordReader, row: Row) -> Found:
    """Yield the contradictions in a cohort: against what it froze, and against its replay."""
    try:
        cohort = cohort_of(row["frozen"])
    except Exception:  # noqa: BLE001 - a damaged record may hold anything
        yield row.differs("frozen", "a cohort as JSON", "it can't be read")
        return

    of_cohort = {"cohort": row["id"]}
    entrants = facts.rows_by(
        "id", "entrant", "SELECT * FROM entrant WHERE cohort_id = :cohort ORDER BY id", **of_cohort
    )
    rounds = list(
        facts.rows("round", "SELECT * FROM round WHERE cohort_id = :cohort ORDER BY number", **of_cohort)
    )
    replacements = list(facts.rows("replacement", REPLACEMENTS, **of_cohort))
    yield from _check_frozen(facts, row, cohort, list(entrants.values()))
    yield from _check_schedule(cohort, rounds)
    yield from _check_replacements(facts, entrants, rounds, replacements)
    for round_row in rounds:
        if facts.must_check(round_row):
            yield from check_evidence(facts, cohort, round_row)

    with asyncio.Runner() as runner:
        replay = CohortReplay(facts, row, cohort, entrants, rounds, replacements, runner)
        try:
            yield from replay.check()
        except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
            yield row.differs("number", "a cohort that can be played again", fault_text(error))


def _check_frozen(facts: RecordReader, row: Row, cohort: Cohort, entrants: Sequence[Row]) -> Found:
    """Yield what differs between a cohort or its entrants and what was frozen."""
    expected = {"number": cohort.number, "starts_at": timestamp_text(cohort.starts_at)}
    yield from row.compare(expected, FROZEN_SO)
    for prompt_hash in sorted(cohort.prompts.values()):
        if facts.find("prompt", prompt_hash) is None:
            yield row.differs("frozen", "known prompts", f"it froze the prompt {prompt_hash}")

    frozen = []
    for entrant in cohort.entrants:
        entrant_values = attributes_of(entrant, "position", "name", "kind")
        frozen.append(entrant_values | {"settings": canonical(entrant.settings)})
    parent = f"{row.key}, place"
    yield from compare_by(["position"], entrants, frozen, "entrant", parent, "name", FROZEN_SO)


def _check_schedule(cohort: Cohort, rounds: Sequence[Row]) -> Found:
    """Yield the rounds that deviate from the frozen schedule."""
    for row in rounds:
        decided_at = None
        if 1 <= row["number"] <= min(cohort.rounds, MOST_ROUNDS):
            decided_at = timestamp_text(cohort.calendar.time(row["number"]))
        else:
            yield row.differs("number", f"1 to {cohort.rounds}", "the frozen number of rounds")
        yield from row.compare({"at": decided_at}, "by the frozen schedule")


def _check_replacements(
    facts: RecordReader, entrants: Mapping[int, Row], rounds: Sequence[Row], replacements: Sequence[Row]
) -> Found:
    """Yield settings that don't replace those before them, or that could not be taken at that round."""
    begun_rounds = set(map(itemgetter("number"), rounds))
    current_settings = {entrant_id: row["settings"] for entrant_id, row in entrants.items()}
    for row in replacements:
        entrant_id = row["entrant_id"]
        expected = {"before": digest(current_settings[entrant_id])}
        yield from row.compare(expected, "they replace the settings that it had until then")
        current_settings[entrant_id] = row["settings"]

        if row["round"] not in begun_rounds:
            yield row.differs("round", "one that has begun", "they are taken as it begins")

        statuses = facts.column("status", "turn", EARLIER_TURNS, entrant=entrant_id, number=row["round"])
        if not statuses or not PROVEN_STATUSES.isdisjoint(statuses):
            yield row.differs("round", "turns, and none of them good", "a good turn keeps the settings")

        if not _are_stored_prompts(facts, json_in(row["prompts"])):
            yield row.differs("prompts", "known prompts", "their texts are kept")


def _are_stored_prompts(facts: RecordReader, hashes_by_name: Any) -> bool:
    """Tell whether these are prompts' hashes, by name, and the text of each is in the record."""
    if not isinstance(hashes_by_name, dict):
        return False
    for prompt_hash in hashes_by_name.values():
        if not isinstance(prompt_hash, str) or facts.find("prompt", prompt_hash) is None:
            return False
    return True
