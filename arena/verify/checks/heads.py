"""The chain of heads: numbered without a gap, each over the one before, and together over all facts.

A head lists, by kind, what it covers. The facts of a round are found by cohort and round; all others are
listed in the head itself. A kind that is not known here comes from a newer version and is only counted.

The chain is always read whole, even if only new rows are verified: that proves that no verified fact was
deleted, and that nothing was added to a finished round.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from arena.record.write.heads import BEFORE, HEAD_FIELDS, OF_ROUND
from arena.record.write.holdout import HOLDOUT
from arena.verify.checks.seals import json_in, object_in, seal_of
from arena.verify.differences import Difference, Found
from arena.verify.reader import RecordReader, Row
from markets.hashes import canonical_bytes

NumberPair = tuple[int, int]
"""A round by its cohort's number and its own, or a ledger by its cohort's number and the agent's position."""
Parts = dict[str, tuple[int, str]]
"""The number of facts of each kind, and their hash."""
Key = tuple[Any, ...]

HEADS = "SELECT * FROM head ORDER BY number"
ROUNDS = """SELECT round.*, cohort.number AS cohort FROM round JOIN cohort ON cohort.id = round.cohort_id
    ORDER BY cohort.number, round.number"""
LEDGERS = """SELECT entry.number, entry.ref, entry.hash, cohort.number AS cohort, entrant.position AS place
    FROM entry JOIN entrant ON entrant.id = entry.entrant_id JOIN cohort ON cohort.id = entrant.cohort_id
    ORDER BY entry.entrant_id, entry.number"""
ITS_ROUND = {kind: query.order_by(*query.selected_columns) for kind, query in OF_ROUND.items()}
"""The facts of a round, by kind. `code` was added later: older heads lack it."""
LISTED = {kind: query for kind, query in BEFORE.items() if kind != "entry"}
"""The facts that heads list, by kind: the names of each, and last the value that must not change."""
LISTED_ELSEWHERE = ("entry", "call", "round", HOLDOUT)
"""Kinds of which heads list only some: the last lines of ledgers, late calls, and rounds from before the
chain began. That held-out questions were opened is stored in a head only."""
EVERYTHING = "every fact is covered by the chain of heads"
NOT_PUBLISHED = "heads that the file is without"
UNKNOWN = "facts of a kind that this version does not know"


@dataclass
class Chain:
    """What the heads cover: rounds by place, lines of ledgers, and a sum for every other kind.

    The sum of the hashes of facts does not depend on their order, and takes no memory.
    """

    previous: str = ""
    sums: Counter[str] = field(default_factory=Counter)
    rounds: dict[NumberPair, tuple[int, Parts]] = field(default_factory=dict)
    ledgers: dict[NumberPair, dict[int, str]] = field(default_factory=dict)
    late_calls: dict[Key, str] = field(default_factory=dict)
    rounds_before_chain: dict[Key, str] = field(default_factory=dict)

    def add(self, kind: str, line: list[Any]) -> None:
        """Add a fact that a head lists."""
        *names, fact_hash = line
        if kind == "entry":
            cohort, position, number = names
            self.ledgers.setdefault((cohort, position), {})[number] = fact_hash
        elif kind == "call":
            self.late_calls[tuple(names)] = fact_hash
        elif kind == "round":
            self.rounds_before_chain[tuple(names)] = fact_hash
        elif kind in LISTED:
            self.sums[kind] += _hash_as_number(line)


def check_chain(facts: RecordReader) -> Found:
    """Yield broken heads, facts that no head covers, and covered facts that are missing."""
    chain = Chain()
    for expected_number, row in enumerate(facts.rows("head", HEADS), 1):
        if row["number"] != expected_number:
            yield row.differs("number", expected_number, "there is no gap")
            break
    for row in facts.rows("head", HEADS):
        yield from _check_head(facts, row, chain)

    open_rounds = yield from _check_rounds(facts, chain)
    yield from _check_ledgers(facts, chain, open_rounds)
    for kind in LISTED:
        if chain.sums[kind] != sum(map(_hash_as_number, _facts_of(facts, kind))):
            yield from _check_listed(facts, kind)


def _check_head(facts: RecordReader, row: Row, chain: Chain) -> Found:
    """Check a head by itself and against the one before, and add what it covers to the chain."""
    parts = json_in(row["parts"])
    members = json_in(row["members"])
    as_written = {"parts": canonical_bytes(parts), "members": canonical_bytes(members)}
    yield from row.compare(as_written, "it is JSON as the arena writes it")
    if not parts:
        yield row.differs("parts", "what it covers", "there is no head over nothing")

    content = [row["number"], row["cohort"], row["round"], row["at"], parts, row["previous"]]
    yield from row.compare({"previous": chain.previous}, "it is the hash of the head before")
    yield from row.compare({"hash": seal_of(content)}, "it seals what the head says")
    chain.previous = row["hash"]

    try:
        covered_parts = {kind: (count, part_hash) for kind, count, part_hash in parts}
        listed_parts = {kind: (len(lines), seal_of(lines)) for kind, lines in members.items()}
        for kind, lines in members.items():
            for line in lines:
                chain.add(kind, line)
    except (TypeError, ValueError, AttributeError):
        yield row.differs("parts", "a list of kinds", UNKNOWN)
        return

    # What is listed in the head is compared here; what is left over must be parts of its round.
    for kind, listed_part in listed_parts.items():
        if covered_parts.pop(kind, None) != listed_part:
            yield row.differs("members", listed_part, f"they are the {kind} of its parts")
        if kind not in LISTED and kind not in LISTED_ELSEWHERE:
            facts.unproved[f"{UNKNOWN}: {kind}"] += listed_part[0]
    yield from _add_round_parts(facts, row, covered_parts, chain)


def _add_round_parts(facts: RecordReader, row: Row, unlisted: Parts, chain: Chain) -> Found:
    """Check the parts that a head covers without listing them, those of its round; add them to the chain."""
    for kind in sorted(unlisted.keys() - OF_ROUND.keys()):
        count, _ = unlisted.pop(kind)
        if kind in LISTED or kind in LISTED_ELSEWHERE:
            yield row.differs("members", count, f"so many are the {kind} of its parts")
        else:
            facts.unproved[f"{UNKNOWN}: {kind}"] += count

    round_key = row["cohort"], row["round"]
    if not row["round"]:
        if unlisted:
            yield row.differs("round", "one", f"it covers the {min(unlisted)} of a round")
    elif round_key in chain.rounds:
        yield row.differs("round", None, "an earlier head covers that round")
    else:
        chain.rounds[round_key] = row["number"], unlisted


def _check_rounds(facts: RecordReader, chain: Chain) -> Generator[Difference, None, set[tuple[int, str]]]:
    """Check finished rounds against their heads; return the open ones, by the prefix of their fills."""
    open_rounds = set()
    for row in facts.rows("round", ROUNDS):
        round_key = row["cohort"], row["number"]
        if not row["done"]:
            open_rounds.add((row["cohort"], f"fill:{row['number']}"))
            continue

        parts = yield from _take_round_parts(facts, row["id"], round_key, chain.late_calls)
        if round_key in chain.rounds:
            head_number, covered = chain.rounds.pop(round_key)
            yield from _compare_parts(round_key, head_number, covered, parts)
            continue

        # Rounds from before the chain began are listed by the hash of their parts, early ones without `code`.
        hash_with_code = _parts_hash(parts)
        parts.pop("code", None)
        if chain.rounds_before_chain.pop(round_key, None) not in (hash_with_code, _parts_hash(parts)):
            yield _uncovered_fact("round", round_key)

    # Whatever was found in the record has been taken out of the chain: heads cover the rest in vain.
    for key in (*chain.rounds, *chain.rounds_before_chain):
        yield _missing_fact("round", key)
    for key in chain.late_calls:
        yield _missing_fact("call", key)
    return open_rounds


def _parts_hash(parts: Parts) -> str:
    return seal_of([[kind, *part] for kind, part in sorted(parts.items())])


def _compare_parts(round_key: NumberPair, head_number: int, covered: Parts, parts: Parts) -> Found:
    """Yield the kinds in which a round differs from its head."""
    cohort, round_number = round_key
    name = f"head {head_number}, cohort {cohort}, round {round_number}"
    why = "so it is in the record: how many there are, and their hash"
    for kind in OF_ROUND:
        is_added_later = kind == "code" and kind not in covered
        if parts.get(kind) != covered.get(kind) and not is_added_later:
            yield Difference("head", name, kind, covered.get(kind), parts.get(kind), why)


def _take_round_parts(
    facts: RecordReader, round_id: int, round_key: NumberPair, late_calls: dict[Key, str]
) -> Generator[Difference, None, Parts]:
    """Return the parts of a round in the record, without late calls, which other heads list.

    The late calls that are found are checked, and taken out of `late_calls`.
    """
    parts: Parts = {}
    for kind, query in ITS_ROUND.items():
        lines = []
        for row in facts.rows("round", query, round_id=round_id):
            *names, fact_hash = row.values()
            key = (*round_key, *names)
            if kind != "call" or key not in late_calls:
                lines.append([*names, fact_hash])
            elif late_calls.pop(key) != fact_hash:
                yield _changed_fact(kind, key, fact_hash)
        if lines:
            parts[kind] = len(lines), seal_of(sorted(lines))
    return parts


def _check_ledgers(facts: RecordReader, chain: Chain, open_rounds: set[tuple[int, str]]) -> Found:
    """Yield lines of ledgers that no head covers, and lines that differ from those listed."""
    last_covered = {ledger: max(lines) for ledger, lines in chain.ledgers.items()}
    for row in facts.rows("entry", LEDGERS):
        ledger = row["cohort"], row["place"]
        key = (*ledger, row["number"])

        # Of a ledger a head lists only the last line, which covers those before it.
        covered_hash = chain.ledgers.get(ledger, {}).pop(row["number"], row["hash"])
        if covered_hash != row["hash"]:
            yield _changed_fact("entry", key, row["hash"])

        fills_of_round = row["cohort"], row["ref"].rpartition(":")[0]
        if row["number"] > last_covered.get(ledger, 0) and fills_of_round not in open_rounds:
            yield _uncovered_fact("entry", key)

    for ledger, lines in chain.ledgers.items():
        for number in lines:
            yield _missing_fact("entry", (*ledger, number))


def _facts_of(facts: RecordReader, kind: str) -> Iterator[list[Any]]:
    """Yield the facts of a kind as heads list them: their names, then the hash."""
    return (list(row.values()) for row in facts.rows("head", LISTED[kind]))


def _hash_as_number(line: list[Any]) -> int:
    """Return the hash of a line as a number; 0 if it has none."""
    return int(seal_of(line) or "0", 16)


def _check_listed(facts: RecordReader, kind: str) -> Found:
    """Check the facts of a kind against those listed.

    The end of a cohort may be listed again: an ended cohort can still be corrected.
    """
    listed: dict[Key, Any] = {}
    for head in facts.rows("head", HEADS):
        for *names, fact_hash in object_in(head["members"]).get(kind, ()):
            key = tuple(names)
            if listed.get(key, fact_hash) != fact_hash and kind != "ended":
                yield head.differs("members", fact_hash, "an earlier head says otherwise")
            listed[key] = fact_hash

    for *names, fact_hash in _facts_of(facts, kind):
        key = tuple(names)
        listed_hash = listed.pop(key, None)
        if listed_hash is None:
            yield _uncovered_fact(kind, key)
        elif listed_hash != fact_hash:
            yield _changed_fact(kind, key, fact_hash)
    if kind != "ended":
        yield from (_missing_fact(kind, key) for key in listed)


def check_published(facts: RecordReader, lines: Iterable[str]) -> Found:
    """Yield published heads that are missing from the record's chain or differ in it.

    An incomplete last line is no head and is only counted; so are heads added after the last published one.
    """
    numbers: set[int] = set()
    for line in lines:
        head = json_in(line)
        try:
            content = [head[name] for name in HEAD_FIELDS]
            number = head["number"] + 0  # raises TypeError unless it is a number
            head_hash = head["head"]
        except (TypeError, KeyError):
            facts.unproved["lines that are no published head"] += 1
            continue

        numbers.add(number)
        if seal_of(content) != head_hash:
            yield Difference("published", f"head {number}", "head", head_hash, "another", "it seals its line")
            continue
        difference = _published_difference(facts, number, head, head_hash)
        if difference is not None:
            yield difference
            break

    if not numbers:
        yield Difference("published", "all heads", "line", None, "one", "a file without heads proves nothing")
    gaps = set(range(min(numbers, default=0), max(numbers, default=0))) - numbers
    if gaps:
        first_gap = f"head {min(gaps)}"
        yield Difference("published", first_gap, "line", None, "one", "they leave one after the other")
    own_numbers = set(facts.column("number", "head", "SELECT number FROM head"))
    facts.unproved[NOT_PUBLISHED] += len(own_numbers - numbers)


def _published_difference(
    facts: RecordReader, number: int, head: dict[str, Any], head_hash: str
) -> Difference | None:
    """Return how a head of the record differs from the published one; None if it doesn't."""
    name = f"head {number}"
    row = next(facts.rows("head", "SELECT * FROM head WHERE number = :number", number=number), None)
    if row is None:
        return Difference("head", name, "row", None, head_hash, "it was published")
    if row["hash"] == head_hash:
        return None

    own_parts = set(map(tuple, json_in(row["parts"])))
    different_parts = own_parts.symmetric_difference(map(tuple, head["parts"]))
    kinds = {kind for kind, *_ in different_parts}
    fields = {key for key in HEAD_FIELDS if head[key] != row[key] and key != "parts"}
    why = f"so it was published; it is the first that differs, by {', '.join(sorted(kinds or fields))}"
    return Difference("head", name, "hash", row["hash"], head_hash, why)


def _uncovered_fact(kind: str, key: Key) -> Difference:
    return Difference(*_table_and_name(kind, key), "head", None, "a head that covers it", EVERYTHING)


def _changed_fact(kind: str, key: Key, fact_hash: str) -> Difference:
    return Difference(
        *_table_and_name(kind, key), "head", fact_hash, "another hash", "a head covers what it was"
    )


def _missing_fact(kind: str, key: Key) -> Difference:
    return Difference(*_table_and_name(kind, key), "row", None, "one", "a head covers it")


def _table_and_name(kind: str, key: Key) -> tuple[str, str]:
    """Return the table of a fact, and its name there."""
    name = ", ".join(map(str, key))
    if kind in ("ended", "stopped"):
        return "cohort", f"cohort {name}, {kind}"
    return kind, name
