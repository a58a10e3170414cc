"""Settings that agents took from the config in a cohort that played, against what they replaced.

An agent takes them only before its first good turn, each in place of those it had until then, from a round
of its cohort on. Every turn that is played by them is sealed with them.
"""

from sqlalchemy import bindparam

from arena.record.schema.cohort import PromptRow, ReplacementRow, RoundRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import joined
from arena.verify.cohort import CheckedCohort
from arena.verify.differences import Found, Row
from arena.verify.hashes import check_hash, json_in, sha256_of, without
from arena.verify.reader import RecordReader, RowPart, rows_query

GOOD = ("played", "partly", "out")
TABLE = ReplacementRow.__table__
ITS_TURNS = rows_query(
    joined(TurnRow, RoundRow),
    RowPart(TurnRow, "id", "entrant_id", "round_id", "verdict"),
    RowPart(RoundRow, "id", "number"),
    where=TurnRow.entrant_id == bindparam("entrant"),
    order=[RoundRow.number],
)


def check_replacements(facts: RecordReader, cohort: CheckedCohort) -> Found:
    """Settings that are not those that were taken, or that could not be taken then."""
    rounds = {row["number"] for row in cohort.rounds}
    for id, rows in cohort.replacements.items():
        entrant = cohort.entrants[id]
        before, turns = entrant["settings"], list(facts.read(ITS_TURNS, entrant=id))
        for row in rows:
            place = {"cohort": cohort.row["number"], "agent": entrant["name"]}
            content = without(row, "id", "entrant_id", "hash") | place
            yield from check_hash(row, content, "it seals the settings and what they replace")
            why = "they replace the settings that it had until then"
            yield from row.check({"before": (sha256_of(before), why)})
            if row["round"] not in rounds:
                yield row.differs("round", "one that has begun", "they are taken as it begins")
            earlier = [turn["verdict"] for turn, round in turns if round and round["number"] < row["round"]]
            if not earlier or not set(earlier).isdisjoint(GOOD):
                words = "turns, and none of them good"
                yield row.differs("round", words, "a good turn keeps the settings")
            prompts = json_in(row["prompts"])
            hashes = list(prompts.values()) if isinstance(prompts, dict) else [None]
            if any(not isinstance(x, str) or facts.find(PromptRow, x) is None for x in hashes):
                yield row.differs("prompts", "known prompts", "their texts are kept")
            before = row["settings"]


def newest_replacement(cohort: CheckedCohort, entrant: int, number: int) -> Row | None:
    """What replaced an entrant's frozen settings last, by a round; None where nothing did."""
    return next((x for x in reversed(cohort.replacements.get(entrant, ())) if x["round"] <= number), None)
