"""The chain of heads: numbered without a gap, each over the one before, and together over all facts.

A head names by kind what it covers. What belongs to a round is found by cohort and round, all else is listed
in the head itself. A kind that is not known here was added by a newer version, and is only counted.

Where all was verified up to a head, the chain goes on from there: over what came since, while no row from
before is gone or joined by another. Whatever else is found, all of it is read again.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func

from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    GatheringRow,
    ReplacementRow,
    RoundRow,
    SnapshotRow,
    ToolResultRow,
)
from arena.record.schema.ledger import EntryRow
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, TurnRow
from arena.record.schema.typed import clause, col, joined, select
from arena.record.schema.world import BenchmarkFileRow, PruneRow, ResolutionRow, SyncRow
from arena.verify.differences import AnyDifference, Difference, Found, Row, check_numbers
from arena.verify.hashes import json_in, json_of, sha256_of
from arena.verify.reader import RecordReader, RowPart, RowsQuery, VerifiedHead, rows_of, rows_query

Key = tuple[Any, ...]
Place = tuple[int, int]
"""A round by the numbers of its cohort and its own."""
Parts = dict[str, tuple[int, str]]
"""By kind how many facts, and their hash."""

HEADS = rows_of(HeadRow, HeadRow.number >= bindparam("head"), order=[HeadRow.number])
NUMBER, POSITION = RowPart(CohortRow, "number"), RowPart(EntrantRow, "position")
HEAD = rows_of(HeadRow, HeadRow.number == bindparam("number"))
NUMBERS = rows_query(HeadRow, RowPart(HeadRow, "number"), again=True)
COVERED = (
    HeadRow, SnapshotRow, RoundRow, TurnRow, CallRow, AttemptRow, FillRow, GatheringRow, ReplacementRow,
    EntryRow, ResolutionRow, SyncRow, PruneRow, BenchmarkFileRow, ToolResultRow,
)  # fmt: skip
"""What heads cover, but for cohorts: of each it is known which row was the last and how many there were."""
PUBLISHED = ("number", "cohort", "round", "at", "parts", "previous")
"""What a head's hash is taken over, in this order."""
ROUND: Any = bindparam("round")


def _facts(source: Any, where: Any, own: RowPart, *others: RowPart, order: Sequence[Any] = ()) -> RowsQuery:
    return rows_query(source, own, *others, where=where, order=order, again=True)


def _new(row: Any) -> Any:
    """Rows that are not among the last that were verified."""
    return row.id > bindparam(row.__tablename__)


def _of_agents(row: Any, *names: str, source: Any = None, of: Any = None) -> RowsQuery:
    """Rows of a round by the places of their agents."""
    found = joined(row, EntrantRow) if source is None else source
    return _facts(
        found, (row if of is None else of).round_id == ROUND, RowPart(row, *names, "hash"), POSITION
    )


def _of_cohorts(name: str) -> RowsQuery:
    column = CohortRow.__table__.c[name]
    return _facts(CohortRow, column.is_not(None), RowPart(CohortRow, "number", name))


ITS_ROUND = (RoundRow.cohort_id == EntrantRow.cohort_id) & (RoundRow.number == ReplacementRow.round)
OF_ROUND = {
    "snapshot": _facts(joined(SnapshotRow, RoundRow), RoundRow.id == ROUND, RowPart(SnapshotRow, "hash")),
    "catalogue": _facts(
        joined(SnapshotRow, RoundRow),
        clause((RoundRow.id == ROUND) & (SnapshotRow.catalogue != "")),
        RowPart(SnapshotRow, "catalogue"),
    ),
    "evidence": _facts(GatheringRow, GatheringRow.round_id == ROUND, RowPart(GatheringRow, "hash")),
    "replacement": _facts(
        joined(ReplacementRow, EntrantRow).join(RoundRow.__table__, clause(ITS_ROUND)),
        RoundRow.id == ROUND,
        RowPart(ReplacementRow, "hash"),
        POSITION,
    ),
    "turn": _of_agents(TurnRow),
    "code": _facts(
        joined(TurnRow, EntrantRow), TurnRow.round_id == ROUND, RowPart(TurnRow, "code_version"), POSITION
    ),
    "call": _of_agents(CallRow, "stage", "sample", "attempt"),
    "attempt": _of_agents(AttemptRow, "number"),
    "fill": _of_agents(FillRow, "position", source=joined(FillRow, TurnRow, EntrantRow), of=TurnRow),
    "tool": _facts(ToolResultRow, ToolResultRow.round_id == ROUND, RowPart(ToolResultRow, "key", "hash")),
}
"""What a round consists of, by kind. `code` came later: heads of before are without it."""
OF_NO_ROUND = joined(SnapshotRow, CohortRow).outerjoin(
    RoundRow.__table__, clause(RoundRow.snapshot_id == SnapshotRow.id)
)
LISTED = {
    "benchmark": _facts(
        BenchmarkFileRow,
        _new(BenchmarkFileRow),
        RowPart(BenchmarkFileRow, "kind", "name", "version", "hash"),
    ),
    "cohort": _of_cohorts("hash"),
    "ended": _of_cohorts("ended_at"),
    "stopped": _of_cohorts("stopped_at"),
    "resolution": _facts(
        ResolutionRow, _new(ResolutionRow), RowPart(ResolutionRow, "market_id", "version", "hash")
    ),
    "sync": _facts(SyncRow, _new(SyncRow), RowPart(SyncRow, "venue", "number", "hash")),
    "prune": _facts(PruneRow, _new(PruneRow), RowPart(PruneRow, "number", "hash")),
    "snapshot": _facts(
        OF_NO_ROUND,
        col(RoundRow.id).is_(None) & _new(SnapshotRow),
        RowPart(SnapshotRow, "at", "hash"),
        NUMBER,
    ),
}
"""What heads list, by kind: each fact by what it is named by, and last what must be as it was."""
OF_COHORTS = ("cohort", "ended", "stopped")
"""Kinds that are read whole: a cohort ends long after it was written."""
ADDED = [
    *(
        _facts(row, _new(row) & (row.round_id <= ROUND), RowPart(row, "id"))
        for row in (TurnRow, CallRow, AttemptRow, GatheringRow, ToolResultRow)
    ),
    _facts(
        joined(FillRow, TurnRow), _new(FillRow) & clause(TurnRow.round_id <= ROUND), RowPart(FillRow, "id")
    ),
    _facts(
        joined(ReplacementRow, EntrantRow).join(RoundRow.__table__, clause(ITS_ROUND)),
        _new(ReplacementRow) & clause(RoundRow.id <= ROUND),
        RowPart(ReplacementRow, "id"),
    ),
]
"""What was added to rounds that were over, and is not read with the new ones."""
ROUNDS = _facts(
    joined(RoundRow, CohortRow),
    _new(RoundRow),
    RowPart(RoundRow, "id", "number", "done"),
    NUMBER,
    order=(CohortRow.number, RoundRow.number),
)
LEDGERS = _facts(
    joined(EntryRow, EntrantRow, CohortRow),
    _new(EntryRow),
    RowPart(EntryRow, "number", "ref"),
    NUMBER,
    POSITION,
    order=(EntryRow.entrant_id, EntryRow.number),
)
LEDGER_LINE = _facts(
    joined(CohortRow, EntrantRow, EntryRow),
    clause(
        (CohortRow.number == bindparam("cohort"))
        & (EntrantRow.position == bindparam("position"))
        & (EntryRow.number == bindparam("number"))
    ),
    RowPart(EntryRow, "hash"),
)
LISTED_ELSEWHERE = ("entry", "call", "round")
"""And of these the last lines of ledgers, calls that came late, and rounds from before there was a chain."""
EVERYTHING = "every fact is covered by the chain of heads"
NOT_PUBLISHED = "heads that the file is without"
UNKNOWN = "facts of a kind that this version does not know"


class Chain:
    """What the heads cover: rounds by place, ledgers up to a line, and of all that they list a sum.

    The sum of the hashes of facts does not depend on their order, and is remembered where the facts are not.
    """

    def __init__(self, since: VerifiedHead) -> None:
        self.previous = since.hash
        self.rounds = dict[Place, tuple[int, Parts]]()
        self.ledgers = dict[Key, int]()
        self.sums = Counter[str](since.sums)
        self.late = dict[Key, str]()
        self.earlier = dict[Key, str]()

    def add(self, kind: str, line: list[Any]) -> None:
        """A fact that a head lists."""
        if kind == "entry":
            self.ledgers[tuple(line[:2])] = max(line[2], self.ledgers.get(tuple(line[:2]), 0))
        elif kind in LISTED:
            self.sums[kind] += _sum_of(line)
        elif kind in ("call", "round"):
            (self.late if kind == "call" else self.earlier)[tuple(line[:-1])] = line[-1]


def check_chain(facts: RecordReader) -> Found:
    """Heads that are not right, facts that no head covers, and such that one covers and are not there."""
    whole, told = RecordReader(facts.connection, facts.tell), list[Difference]()
    if facts.verified.number:
        new = RecordReader(facts.connection, told.append, facts.verified)
        if _is_all_there(new) and not [*_check_new(new), *told]:
            facts.unproved += new.unproved
            return
    yield from _check_new(whole)
    facts.unproved += whole.unproved


def listed_sums(facts: RecordReader) -> dict[str, int]:
    """Of the kinds that are read whole, what the heads have listed."""
    return {kind: _sum(facts, LISTED[kind], _after(facts)) for kind in OF_COHORTS}


def count_rows(facts: RecordReader, last: Mapping[str, int]) -> dict[str, int]:
    """By table that heads cover how many rows there are until the last of each, whatever their ids."""
    counts = {}
    for row in COVERED:
        name, own = row.__tablename__, select(func.count()).select_from(row.__table__)
        more = facts.connection.scalar(own.where(row.id > last[name])) or 0
        counts[name] = (facts.connection.scalar(own) or 0) - more
    return counts


def _is_all_there(facts: RecordReader) -> bool:
    """Whether the rows that were verified are as many as then, and rounds that were over got no more."""
    last, counts = facts.verified.last, facts.verified.counts
    if last.keys() != {row.__tablename__ for row in COVERED} or count_rows(facts, last) != counts:
        return False
    return not any(True for query in ADDED for _ in facts.rows(query, **_after(facts)))


def _after(facts: RecordReader) -> dict[str, int]:
    """By table the last row that the chain has covered, and the first head that is new, or any at all."""
    last = {row.__table__.name: facts.verified.last.get(row.__table__.name, 0) for row in COVERED}
    own = {row.__table__.name: facts.after(row) for row in (RoundRow, EntryRow)}
    return last | own | {"head": facts.verified.number + 1 if facts.verified.number else -(2**63)}


def _check_new(facts: RecordReader) -> Found:
    """The chain after the last head that was verified; all of it where none was."""
    chain, after = Chain(facts.verified), _after(facts)
    yield from check_numbers(facts.rows(HEADS, **after), "number", facts.verified.number + 1)
    yield from _check_heads(facts, chain, after)
    open_rounds = yield from _check_rounds(facts, chain, after)
    for row, *others in facts.read(LEDGERS, **after):
        cohort, position, number, ref = _line(row, *others)
        last = chain.ledgers.get((cohort, position), 0)
        if number > last and (cohort, f"{ref.rpartition(':')[0]}:") not in open_rounds:
            yield _uncovered("entry", (cohort, position, number))
    for kind, query in LISTED.items():
        if chain.sums[kind] != _sum(facts, query, after):
            yield from _check_listed(facts, kind, query, after)


def _check_heads(facts: RecordReader, chain: Chain, after: Mapping[str, int]) -> Found:
    """The heads themselves, one after the other."""
    for row in facts.rows(HEADS, **after):
        parts, members = json_in(row["parts"]), json_in(row["members"])
        yield from _check_form(row, parts, members)
        own = [row[name] for name in ("number", "cohort", "round", "at")]
        seal = {
            "previous": (chain.previous, "it is the hash of the head before"),
            "hash": (sha256_of([*own, parts, row["previous"]]), "it seals what the head says"),
        }
        yield from row.check(seal)
        chain.previous = row["hash"]
        try:
            said = {kind: (count, part_hash) for kind, count, part_hash in parts}
            listed = {kind: _part(lines) for kind, lines in members.items()}
            for kind, lines in members.items():
                for line in lines:
                    chain.add(kind, line)
        except (TypeError, ValueError, AttributeError, IndexError):
            yield row.differs("parts", "a list of kinds", "it can't be read")
            continue
        for kind, part in listed.items():
            if said.pop(kind, None) != part:
                yield row.differs("members", part, f"they are the {kind} of its parts")
            if kind not in LISTED and kind not in LISTED_ELSEWHERE:
                facts.unproved[f"{UNKNOWN}: {kind}"] += part[0]
        yield from _check_lines(facts, members.get("entry", ()))
        yield from _place(facts, row, said, chain)


def _check_form(row: Row, parts: Any, members: Any) -> Found:
    """A head that is written otherwise than the arena does, so that others might read it otherwise."""
    for name, value in (("parts", parts), ("members", members)):
        yield from row.check({name: (json_of(value), "it is JSON as the arena writes it")})
    if not parts:
        yield row.differs("parts", "what it covers", "there is no head over nothing")


def _check_lines(facts: RecordReader, lines: list[Any]) -> Found:
    """Lines of ledgers that are others than a head lists."""
    for cohort, position, number, line_hash in lines:
        key = {"cohort": cohort, "position": position, "number": number}
        found = next((row["hash"] for row in facts.rows(LEDGER_LINE, **key)), None)
        if found is None:
            yield _missing("entry", tuple(key.values()))
        elif found != line_hash:
            yield _changed("entry", tuple(key.values()), found)


def _place(facts: RecordReader, row: Row, unlisted: Parts, chain: Chain) -> Found:
    """What a head covers without listing it: what belongs to its round."""
    place = row["cohort"], row["round"]
    for kind in sorted(unlisted.keys() - OF_ROUND.keys()):
        count, _ = unlisted.pop(kind)
        if kind in LISTED or kind in LISTED_ELSEWHERE:
            yield row.differs("members", count, f"so many are the {kind} of its parts")
        else:
            facts.unproved[f"{UNKNOWN}: {kind}"] += count
    if not row["round"] and unlisted:
        yield row.differs("round", "one", f"it covers the {min(unlisted)} of a round")
    elif row["round"] and chain.rounds.setdefault(place, (row["number"], unlisted))[0] != row["number"]:
        yield row.differs("round", None, "an earlier head covers that round")


def _part(lines: list[Any]) -> tuple[int, str]:
    return len(lines), sha256_of(lines)


def _line(row: Row, *others: Row | None) -> list[Any]:
    """A fact as a head has it: what it belongs to, what it is named by, its hash."""
    return [*(value for other in others if other for value in other.values()), *row.values()]


def _check_rounds(
    facts: RecordReader, chain: Chain, after: Mapping[str, int]
) -> Generator[AnyDifference, None, set[tuple[int, str]]]:
    """Rounds that are over against what their head covers; those that are not, as their fills name them."""
    earlier, late, open_rounds = chain.earlier, chain.late, set[tuple[int, str]]()
    for row, cohort in facts.read(ROUNDS, **after):
        place = (cohort["number"] if cohort else 0), row["number"]
        if not row["done"]:
            open_rounds.add((place[0], f"fill:{place[1]}:"))
            continue
        found = yield from _round_parts(facts, row["id"], place, late)
        if place in chain.rounds:
            yield from _check_parts(place, *chain.rounds.pop(place), found)
        elif earlier.pop(place, None) not in (_round_hash(found), _round_hash(found, "code")):
            yield _uncovered("round", place)
    for kind, left in (("round", chain.rounds), ("round", earlier), ("call", late)):
        for key in left:
            yield _missing(kind, key)
    return open_rounds


def _check_parts(place: Place, number: int, parts: Parts, found: Parts) -> Found:
    """The kinds of which a round has others than its head says."""
    name = f"head {number}, cohort {place[0]}, round {place[1]}"
    for kind in OF_ROUND:
        if found.get(kind) != parts.get(kind) and (kind != "code" or kind in parts):
            why = "so it is in the record: how many there are, and their hash"
            yield Difference("head", name, kind, parts.get(kind), found.get(kind), why)


def _round_hash(found: Parts, *without: str) -> str:
    """What a head lists of a round from before there was a chain."""
    return sha256_of([[kind, *found[kind]] for kind in sorted(found.keys() - set(without))])


def _round_parts(
    facts: RecordReader, round_id: int, place: Place, late: dict[Key, Any]
) -> Generator[AnyDifference, None, Parts]:
    """What is in the record of a round, but for calls that came late: other heads list these."""
    parts: Parts = {}
    for kind, query in OF_ROUND.items():
        lines = []
        for row, *others in facts.read(query, round=round_id):
            line = _line(row, *others)
            own = (*place, *line[:-1])
            if kind != "call" or own not in late:
                lines.append(line)
            elif late.pop(own) != line[-1]:
                yield _changed(kind, own, line[-1])
        if lines:
            parts[kind] = _part(sorted(lines))
    return parts


def _check_listed(facts: RecordReader, kind: str, query: RowsQuery, after: Mapping[str, int]) -> Found:
    """Facts of a kind against those that heads list. A cohort that ended may go on for a correction."""
    listed = dict[Key, Any]()
    for head in facts.rows(HEADS, **after):
        for *names, fact_hash in (json_in(head["members"]) or {}).get(kind, ()):
            if listed.setdefault(tuple(names), fact_hash) != fact_hash and kind != "ended":
                yield head.differs("members", fact_hash, "an earlier head says otherwise")
            listed[tuple(names)] = fact_hash
    for row, *others in facts.read(query, **after):
        *names, fact_hash = _line(row, *others)
        covered = listed.pop(tuple(names), None)
        if covered is None:
            yield _uncovered(kind, tuple(names))
        elif covered != fact_hash:
            yield _changed(kind, tuple(names), fact_hash)
    for key in listed if kind != "ended" else ():
        yield _missing(kind, key)


def check_published(facts: RecordReader, lines: Iterable[str]) -> Found:
    """Heads that were published and are not in the record's chain as they were, and such that are missing.

    The rest of a line that broke off is no head, and is only counted; so are heads that came after the last.
    """
    numbers = set[int]()
    yield from _check_lines_of_file(facts, lines, numbers)
    if not numbers:
        yield Difference("published", "all heads", "line", None, "one", "a file without heads proves nothing")
    for number in sorted({*range(min(numbers, default=0), max(numbers, default=0))} - numbers)[:1]:
        yield Difference("published", f"head {number}", "line", None, "one", "they leave one after the other")
    facts.unproved[NOT_PUBLISHED] += sum(row["number"] not in numbers for row in facts.rows(NUMBERS))


def _check_lines_of_file(facts: RecordReader, lines: Iterable[str], numbers: set[int]) -> Found:
    """The first head that is not as it was published; the `numbers` of all until then."""
    for text in lines:
        head = json_in(text)
        try:
            parts, said = {tuple(part) for part in head["parts"]}, [head[key] for key in PUBLISHED]
            number, head_hash = head["number"] + 0, head["head"]
        except (TypeError, KeyError):
            facts.unproved["lines that are no published head"] += 1
            continue
        numbers.add(number)
        row = next(facts.rows(HEAD, number=number), None)
        if sha256_of(said) != head_hash:
            yield Difference("published", f"head {number}", "head", head_hash, "another", "it seals its line")
        elif row is None:
            yield Difference("head", f"head {number}", "row", None, head_hash, "it was published")
            return
        elif row["hash"] != head_hash:
            kinds = {kind for kind, *_ in parts ^ {tuple(part) for part in json_in(row["parts"])}}
            what = kinds or {key for key in PUBLISHED if head[key] != row.get(key) and key != "parts"}
            why = f"so it was published; it is the first that differs, by {', '.join(sorted(what))}"
            yield Difference("head", f"head {number}", "hash", row["hash"], head_hash, why)
            return


def _sum(facts: RecordReader, query: RowsQuery, after: Mapping[str, int]) -> int:
    return sum(_sum_of(_line(*read)) for read in facts.read(query, **after))


def _sum_of(line: list[Any]) -> int:
    return int(sha256_of(line), 16)


def _uncovered(kind: str, key: Key) -> Difference:
    return Difference(*_name(kind, key), "head", None, "a head that covers it", EVERYTHING)


def _changed(kind: str, key: Key, fact_hash: str) -> Difference:
    return Difference(*_name(kind, key), "head", fact_hash, "another hash", "a head covers what it was")


def _missing(kind: str, key: Key) -> Difference:
    return Difference(*_name(kind, key), "row", None, "one", "a head covers it")


def _name(kind: str, key: Key) -> tuple[str, str]:
    """The table that a fact is in, and its name there."""
    name = ", ".join(map(str, key))
    return ("cohort", f"cohort {name}, {kind}") if kind in ("ended", "stopped") else (kind, name)
