"""Cohorts against what they froze: line-up, prompts, and when they start and end.

Settings that agents took from the config in a cohort that played, against what they replaced: an agent takes
them only before its first good turn, each in place of those it had until then, from a round of its cohort on.
Every turn that is played by them is sealed with them.

Rounds against their cohort's schedule, their snapshot, and what must be in when they are done.

A cohort from its line-up to its last mark: ledgers first, for turns and marks stand on them.
"""

import asyncio
from collections.abc import Generator, Mapping

from sqlalchemy import bindparam

from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import CohortRow, PromptRow, RoundRow, SnapshotRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import col, joined
from arena.verify.checks.answers import DECIDED, CohortReplay
from arena.verify.checks.evidence import check_evidence
from arena.verify.checks.fills import (
    check_depth,
    check_fills,
    check_orders,
    check_quotes,
    check_room,
    check_sizes,
)
from arena.verify.checks.ledgers import (
    LedgerSums,
    check_ledger,
    check_postings,
    ledger_sums,
    read_ledgers,
)
from arena.verify.checks.marks import MarkProgress, check_marks, check_open_lots, check_settled
from arena.verify.checks.turns import check_forecasts, check_second_quotes, check_turn
from arena.verify.cohort import (
    CheckedCohort,
    CheckedRound,
    CheckedTurn,
    FrozenCohort,
    checked_fills,
    read_cohort,
    read_round,
    read_turns,
)
from arena.verify.differences import AnyDifference, Difference, Found, Row, check_numbers
from arena.verify.hashes import check_hash, json_in, sha256_of, without
from arena.verify.reader import RecordReader, RowPart, rows_of, rows_query
from arena.verify.row_names import key_of

COLUMNS = ("position", "name", "kind", "settings")
NUMBERS = rows_query(CohortRow, RowPart(CohortRow, "id", "number"), order=[CohortRow.number], again=True)
NOBODY = (None,) * len(COLUMNS)


def check_cohort(facts: RecordReader, cohort: CheckedCohort) -> Found:
    """A cohort and entrants that are not as they were frozen."""
    row, frozen = cohort.row, cohort.frozen
    if frozen is None:
        yield row.differs("frozen", "a cohort as JSON", "it can't be read")
        return
    own = {name: (getattr(frozen, name), "so it was frozen") for name in ("number", "starts_at")}
    yield from row.check(own)
    if unknown := sorted(
        prompt_hash for prompt_hash in frozen.prompts if facts.find(PromptRow, prompt_hash) is None
    ):
        yield row.differs("frozen", "known prompts", f"it froze the prompt {unknown[0]}")
    yield from _line_up(key_of(facts, row), frozen, list(cohort.entrants.values()))


def check_numbered(facts: RecordReader) -> Found:
    """The first cohort that is missing among the others."""
    yield from check_numbers(facts.rows(NUMBERS), "number", 1)


def check_end(cohort: CheckedCohort, last: str | None) -> Found:
    """A cohort that ended at another time than that of its last snapshot."""
    if cohort.row["ended_at"] not in (None, last):
        yield cohort.row.differs("ended_at", last, "it ends with its last snapshot")


def _line_up(key: str, frozen: FrozenCohort, rows: list[Row]) -> Found:
    """The entrants of a cohort, place by place."""
    expected = {entrant[0]: entrant for entrant in frozen.entrants}
    found = {row["position"]: tuple(row[name] for name in COLUMNS) for row in rows}
    for place in sorted({*expected, *found}):
        there, frozen_ones = found.get(place, NOBODY), expected.get(place, NOBODY)
        for column, value, wanted in zip(COLUMNS, there, frozen_ones, strict=True):
            if value != wanted:
                yield Difference(
                    "entrant", f"{key}, place {place}", column, value, wanted, "so it was frozen"
                )


GOOD = ("played", "partly", "out")
ITS_TURNS = rows_query(
    joined(TurnRow, RoundRow),
    RowPart(TurnRow, "id", "entrant_id", "round_id", "status"),
    RowPart(RoundRow, "id", "number"),
    where=TurnRow.entrant_id == bindparam("entrant"),
    order=[RoundRow.number],
)


def check_replacements(facts: RecordReader, cohort: CheckedCohort) -> Found:
    """Settings that are not those that were taken, or that could not be taken then."""
    rounds = {row["number"] for row in cohort.rounds}
    for entrant_id, rows in cohort.replacements.items():
        entrant = cohort.entrants[entrant_id]
        before, turns = entrant["settings"], list(facts.read(ITS_TURNS, entrant=entrant_id))
        for row in rows:
            place = {"cohort": cohort.row["number"], "agent": entrant["name"]}
            content = without(row, "id", "entrant_id", "hash") | place
            yield from check_hash(row, content, "it seals the settings and what they replace")
            why = "they replace the settings that it had until then"
            yield from row.check({"before": (sha256_of(before), why)})
            if row["round"] not in rounds:
                yield row.differs("round", "one that has begun", "they are taken as it begins")
            earlier = [
                turn["status"]
                for turn, round_row in turns
                if round_row and round_row["number"] < row["round"]
            ]
            if not earlier or not set(earlier).isdisjoint(GOOD):
                words = "turns, and none of them good"
                yield row.differs("round", words, "a good turn keeps the settings")
            prompts = json_in(row["prompts"])
            hashes = list(prompts.values()) if isinstance(prompts, dict) else [None]
            if any(not isinstance(x, str) or facts.find(PromptRow, x) is None for x in hashes):
                yield row.differs("prompts", "known prompts", "their texts are kept")
            before = row["settings"]


STARTS = rows_of(HeadRow, HeadRow.cohort == bindparam("number"), HeadRow.round == 0)
LAST_LOOK = rows_query(
    joined(SnapshotRow, CohortRow),
    RowPart(SnapshotRow, "at"),
    where=col(CohortRow.frozen).contains(bindparam("stamp")),
    order=[col(SnapshotRow.at).desc()],
    again=True,
    limit=1,
)


def count_missed(facts: RecordReader, cohort: CheckedCohort, unseen: Mapping[str, int]) -> None:
    """Decision times of the frozen schedule of which nothing is there, while something is of later ones.

    Of a cohort whose start has a head of its own they were missed: what is taken out, the chain says. Of one
    from before there was a chain nobody knows.
    """
    frozen = cohort.frozen
    if frozen is None or frozen.stamp == "live" or facts.verified.number:
        return
    if any(facts.rows(STARTS, number=cohort.row["number"])):
        return
    last = next((row["at"] for row in facts.rows(LAST_LOOK, stamp=f'"stamp":"{frozen.stamp}"')), "")
    until = min(last, cohort.row["ended_at"] or last)
    if missed := sum(at < until for at in unseen):
        facts.unproved["decision times of which nothing is there"] += missed


def check_round(shown: CheckedRound) -> Found:
    """A round off its schedule, or with another's snapshot."""
    row, snapshot = shown.round, shown.snapshot
    if shown.cohort.frozen is not None:
        if not 1 <= row["number"] <= shown.cohort.frozen.rounds:
            yield row.differs("number", f"1 to {shown.cohort.frozen.rounds}", "the frozen number of rounds")
        if row["at"] != shown.cohort.frozen.decides_at(row["number"]):
            yield row.differs("at", shown.cohort.frozen.decides_at(row["number"]), "by the frozen schedule")
    if snapshot is not None and (snapshot["cohort_id"], snapshot["at"]) != (row["cohort_id"], row["at"]):
        yield row.differs("snapshot_id", "its own", f"that one is of {snapshot['at']}")
    if snapshot is not None and snapshot["taken_at"] < snapshot["at"]:
        late = f"{snapshot['at']} or later"
        yield snapshot.differs("taken_at", late, "nobody decides before the time")


def check_done(row: Row, silent: int, unmarked: int, failed: bool) -> Found:
    """A round that says it is done with something missing, or that it is not with everything there."""
    if row["done"] not in (0, 1):
        yield row.differs("done", "0 or 1", "a round is done or it is not")
    elif row["done"] and (silent or unmarked):
        yield row.differs("done", 0, f"{silent} turns and {unmarked} marks are missing")
    elif not row["done"] and not unmarked and not failed:
        yield row.differs("done", 1, "every mark is in, and no turn can be tried again")


def check_whole_cohort(facts: RecordReader, row: Row) -> Found:
    """All that is a cohort's own."""
    cohort = read_cohort(facts, row)
    yield from check_cohort(facts, cohort)
    yield from check_replacements(facts, cohort)
    books = yield from _books(facts, cohort)
    marked = yield from check_marks(facts, cohort)
    if marked.last is not None or not facts.verified.number:
        yield from check_end(cohort, marked.last)
    count_missed(facts, cohort, marked.due)
    yield from check_open_lots(facts, cohort, marked)
    yield from check_settled(facts, cohort, marked)
    after = facts.after(RoundRow)
    with asyncio.Runner() as runner:
        replay = CohortReplay(facts, cohort, runner)
        for round_row in (round_row for round_row in cohort.rounds if round_row["id"] > after):
            yield from _round(facts, read_round(facts, cohort, round_row), books, marked, replay)


def _books(
    facts: RecordReader, cohort: CheckedCohort
) -> Generator[AnyDifference, None, dict[int, LedgerSums]]:
    """The ledgers, one after the other."""
    found, after = dict[int, LedgerSums](), facts.after(RoundRow)
    rounds = [round_row for round_row in cohort.rounds if round_row["id"] > after]
    for entrant, lines, fills in read_ledgers(facts, cohort):
        yield from check_ledger(facts, entrant, lines, cohort.frozen)
        yield from check_postings(facts, lines, fills)
        found[entrant["id"]] = ledger_sums(rounds, lines)
    return found


def _round(
    facts: RecordReader,
    shown: CheckedRound,
    books: dict[int, LedgerSums],
    marked: MarkProgress,
    replay: CohortReplay,
) -> Found:
    """A round, its turns one after the other, and its evidence."""
    yield from check_round(shown)
    silent, statuses = set(shown.cohort.entrants), set[str]()
    for turn in read_turns(facts, shown.round):
        yield from _turn(facts, shown, turn, books.get(turn.row["entrant_id"]))
        yield from replay.check(shown, turn)
        silent.discard(turn.row["entrant_id"])
        statuses.add(turn.row["status"])
    yield from check_evidence(facts, shown, not statuses.isdisjoint(DECIDED))
    unmarked = len(marked.unmarked(shown.round["snapshot_id"]))
    yield from check_done(shown.round, len(silent), unmarked, "failed" in statuses)


def _turn(facts: RecordReader, shown: CheckedRound, turn: CheckedTurn, books: LedgerSums | None) -> Found:
    orders, together = json_in(turn.row["orders"]), checked_fills(shown, turn)
    number = shown.round["number"]
    replaced = shown.cohort.newest_replacement(turn.row["entrant_id"], number)
    settings = sha256_of(replaced["settings"]) if replaced else None
    yield from check_turn(facts, turn, orders, number, books, settings)
    yield from check_forecasts(turn.forecasts, shown.by_market)
    yield from check_second_quotes(shown, turn)
    yield from check_fills(together)
    yield from check_depth(together)
    yield from check_room(together, books)
    yield from check_quotes(together)
    yield from check_sizes(together)
    yield from check_orders(turn, together, orders, books)
