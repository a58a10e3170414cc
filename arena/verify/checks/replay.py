"""Replay of a cohort from its inputs: snapshots, answers, resolutions and frozen rules.

Instant by instant, accounts are settled, turns are played (`turns`), their fills are posted, and everything
is marked at the snapshot's prices, by the functions that played the season. Every entry and every mark must
come out the same. Only when a resolution was learnt is taken from the ledgers: it is paid no earlier than it
was known, and no later than at the second snapshot after it was learnt.

Rows are streamed in order of time. Memory holds the line-up with its accounts, the rows of one instant, and
the resolutions of the markets that somebody held.
"""

import asyncio
import heapq
import json
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from arena.record.model.cohort import Cohort, Entrant
from arena.record.queries.cohorts import read_calls, read_final_forecasts, read_quotes, read_snapshot
from arena.verify.checks.seals import check_seal
from arena.verify.checks.turns import PlayedRound
from arena.verify.differences import Difference, Found, fault_text
from arena.verify.reader import RecordReader, Row, compare_in_order, instant
from markets.hashes import plain_value
from markets.model import MarketId, Resolution
from portfolio.ledger import LedgerError, fold, open_account, settle_resolved
from portfolio.marks import mark_at
from portfolio.model import Entry, Holdings

BY_LEDGER = "it follows from the entries before, and from the fact that it names"
BY_PRICES = "by the ledger and the snapshot"
SEALS_SNAPSHOT = "it seals the snapshot and each snapshot_item in it"
UNPAID = "the newest version that was learnt is paid"
BEFORE_ALL = "0001-01-01T00:00:00.000000Z"
AFTER_ALL = "9999-12-31T23:59:59.999999Z"

ENTRIES = """SELECT entry.* FROM entry JOIN entrant ON entrant.id = entry.entrant_id
    WHERE entrant.cohort_id = :cohort"""
TIMELINE = {
    "snapshot": """SELECT * FROM snapshot
        WHERE cohort_id = :cohort AND at > :since AND at <= :until ORDER BY at""",
    "snapshot_item": """SELECT item.*, snapshot.at, page.hash AS page, quote.hash AS price
        FROM snapshot_item AS item JOIN snapshot ON snapshot.id = item.snapshot_id
        LEFT JOIN market_version AS page ON page.id = item.version_id
        LEFT JOIN quote ON quote.id = item.quote_id
        WHERE snapshot.cohort_id = :cohort AND snapshot.at > :since AND snapshot.at <= :until
        ORDER BY snapshot.at, item.position""",
    "entry": f"""{ENTRIES} AND entry.at > :since AND entry.at <= :until
        ORDER BY entry.at, entry.entrant_id, entry.number""",
    "mark": """SELECT mark.* FROM mark JOIN entrant ON entrant.id = mark.entrant_id
        WHERE entrant.cohort_id = :cohort AND mark.at > :since AND mark.at <= :until
        ORDER BY mark.at, mark.entrant_id""",
}
"""The rows of a cohort after one time and up to another, by table, each in order of time."""
STORED_ENTRIES = f"""{ENTRIES} AND entry.at > :since AND entry.at <= :until
    ORDER BY entry.entrant_id, entry.number"""
ENDINGS = f"{ENTRIES} AND entry.ref LIKE 'resolution:%' ORDER BY entry.at"
ENDS = """SELECT * FROM resolution WHERE market_id IN (SELECT entry.market_id FROM entry
    JOIN entrant ON entrant.id = entry.entrant_id WHERE entrant.cohort_id = :cohort)"""
VERIFIED = "SELECT * FROM snapshot WHERE cohort_id = :cohort AND id <= :after ORDER BY at"


class KnownEnds:
    """The resolutions of markets as the cohort knew them: known from the first entry that names a version.

    If no version of a market was paid, its resolution counts from the second snapshot after it was learnt.
    """

    def __init__(self, ends: Iterator[Row], first_named: Mapping[tuple[str, str], str]):
        self.newest: dict[MarketId, Resolution] = {}
        paid = set(map(itemgetter(0), first_named))
        self._paid: list[tuple[str, Resolution]] = []
        self._unpaid: list[tuple[str, Resolution]] = []
        for row in ends:
            values = {name: row[name] for name in Resolution.__dataclass_fields__}
            end = Resolution(**values | {"known_at": instant(row["known_at"])})
            named_at = first_named.get((row["market_id"], f"resolution:{row['version']}"))
            if named_at is not None and named_at >= row["known_at"]:
                self._paid.append((named_at, end))
            elif row["market_id"] not in paid:
                self._unpaid.append((max(row["known_at"], row["learnt_at"]), end))
        for ends_by_time in (self._paid, self._unpaid):
            ends_by_time.sort(key=itemgetter(0), reverse=True)

    def until(self, at: str, last_look: str) -> Mapping[MarketId, Resolution]:
        """Return the newest resolution of each market by a time; `last_look` was the last snapshot before."""
        for ends_by_time, limit in ((self._paid, at), (self._unpaid, last_look)):
            while ends_by_time and ends_by_time[-1][0] <= limit:
                _, end = ends_by_time.pop()
                before = self.newest.get(end.market_id)
                if before is None or before.version < end.version:
                    self.newest[end.market_id] = end
        return self.newest


class CohortReplay:
    """The state of a cohort's replay; entrants and accounts are keyed by the ids of their rows."""

    def __init__(
        self,
        facts: RecordReader,
        row: Row,
        cohort: Cohort,
        entrants: Mapping[int, Row],
        rounds: Sequence[Row],
        replacements: Sequence[Row],
        runner: asyncio.Runner,
    ):
        self.facts = facts
        self.row = row
        self.cohort = cohort
        self.entrants = entrants
        self.rounds = {round_row["at"]: round_row for round_row in rounds}
        self.replacements = replacements
        self.runner = runner
        prompts = facts.by("hash", "prompt", "SELECT * FROM prompt")
        self.texts = {key: prompt["text"] for key, prompt in prompts.items()}
        self.accounts = dict.fromkeys(entrants, Holdings())
        self.stored_until = BEFORE_ALL
        """The time up to which the accounts include the stored entries."""
        self.due = defaultdict[int, list[Entry]](list)
        """The replayed entries of each ledger that were not compared yet."""
        self.ends = self._known_ends()
        self.looks = BEFORE_ALL, BEFORE_ALL
        """The times of the last two snapshots."""
        self.last: str | None = None
        """The time of the last snapshot, apart from those that paid a correction after the end."""

    def check(self) -> Found:
        """Replay the new snapshots and a part of the older ones, and yield the differences.

        A snapshot is replayed together with everything since the snapshot before it.
        """
        since = BEFORE_ALL
        given = {"cohort": self.row["id"], "after": self.facts.after("snapshot")}
        for snapshot in self.facts.rows("snapshot", VERIFIED, **given):
            looks = since, snapshot["at"]
            if self.facts.is_due(snapshot):
                yield from self._check_between(*looks)
            self.looks = looks
            since = snapshot["at"]

        self.last = None
        yield from self._check_between(since, AFTER_ALL)
        yield from self._check_end()

    def _check_between(self, since: str, until: str) -> Found:
        """Replay what happened after one time and up to another."""
        yield from self._bring_accounts_to(since)
        self.stored_until = until
        streams = [self._stream(table, query, since, until) for table, query in TIMELINE.items()]
        for at, group in groupby(heapq.merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
            rows_by_table = defaultdict[str, list[Row]](list)
            for _, table, row in group:
                rows_by_table[table].append(row)
            yield from self._check_time(at, rows_by_table)

    def _known_ends(self) -> KnownEnds:
        """Return the resolutions of the markets that the cohort held."""
        first_named: dict[tuple[str, str], str] = {}
        for entry in self.facts.rows("entry", ENDINGS, cohort=self.row["id"]):
            first_named.setdefault((entry["market_id"], entry["ref"]), entry["at"])
        return KnownEnds(self.facts.rows("resolution", ENDS, cohort=self.row["id"]), first_named)

    def _bring_accounts_to(self, at: str) -> Found:
        """Open the accounts, or post the stored entries up to a time, which were verified before."""
        if at == BEFORE_ALL:
            opening = open_account(self.cohort.bankroll, self.cohort.starts_at)
            for entrant_id in self.entrants:
                self._post(entrant_id, [opening])
            return

        entries = defaultdict[int, list[Entry]](list)
        for _, _, row in self._stream("entry", STORED_ENTRIES, self.stored_until, at):
            entries[row["entrant_id"]].append(_entry_of(row))
        self.ends.until(at, at)
        for entrant_id, entrant in self.entrants.items():
            try:
                self.accounts[entrant_id] = fold(entries[entrant_id], self.accounts[entrant_id], sealed=True)
            except LedgerError as error:
                yield Difference("entry", entrant.key, "realised", str(error), "a sound ledger", BY_LEDGER)

    def _stream(self, table: str, query: str, since: str, until: str) -> Iterator[tuple[str, str, Row]]:
        """Yield the cohort's rows of a table between two times, each with its time and table."""
        for row in self.facts.rows(table, query, cohort=self.row["id"], since=since, until=until):
            yield row["at"], table, row

    def _check_time(self, at: str, rows_by_table: Mapping[str, list[Row]]) -> Found:
        """Replay one instant: pay resolutions, play a round, and mark all accounts."""
        before = self.accounts.copy()
        ends = self.ends.until(at, self.looks[1])
        for entrant_id, account in before.items():
            self._post(entrant_id, settle_resolved(ends, account, instant(at)))

        round_row = self.rounds.get(at)
        statuses: Mapping[int, str] = {}
        if round_row is not None:
            statuses = yield from self._play(round_row)
        yield from self._check_entries(rows_by_table["entry"], before)

        for snapshot in rows_by_table["snapshot"]:
            yield from self._check_snapshot(snapshot, rows_by_table["snapshot_item"])
        yield from self._check_marks(at, rows_by_table)
        if round_row is not None:
            yield from self._check_done(round_row, statuses, len(rows_by_table["mark"]))

    def _post(self, entrant_id: int, entries: Sequence[Entry]) -> None:
        """Add replayed entries to a ledger and its account."""
        if entries:
            self.due[entrant_id] += entries
            self.accounts[entrant_id] = fold(entries, self.accounts[entrant_id], sealed=True)

    def _play(self, round_row: Row) -> Generator[Difference, None, Mapping[int, str]]:
        """Replay a round; return the status of each turn, by entrant."""
        connection = self.facts.connection
        names = list(map(itemgetter("name"), self.entrants.values()))
        try:
            taken = read_snapshot(connection, self.row["id"], instant(round_row["at"]))
            if taken is None:
                raise LookupError("its snapshot is missing")
            played = PlayedRound(
                self.facts,
                self.cohort,
                round_row,
                taken[1],
                self._agents(round_row["number"]),
                self.accounts.copy(),
                calls=read_calls(connection, round_row["id"], list(self.entrants)),
                stated=read_final_forecasts(connection, round_row["id"], names),
                texts=self.texts,
                runner=self.runner,
            )
        except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
            yield round_row.differs("snapshot_id", "what can be played again", fault_text(error))
            return {}

        yield from played.check()
        for entrant_id, entries in played.entries.items():
            self._post(entrant_id, entries)
        return played.statuses

    def _agents(self, number: int) -> dict[int, Entrant]:
        """Return the agents of a round: as frozen, or with the settings that replaced those."""
        by_position = {entrant.position: entrant for entrant in self.cohort.entrants}
        agents = {}
        for entrant_id, row in self.entrants.items():
            if row["position"] in by_position:
                agents[entrant_id] = by_position[row["position"]]

        for row in self.replacements:
            agent = agents.get(row["entrant_id"])
            if agent is not None and row["round"] <= number:
                settings = json.loads(row["settings"])
                prompts = json.loads(row["prompts"])
                taken = replace(agent, since=row["round"], settings=settings, prompts=prompts)
                agents[row["entrant_id"]] = taken
        return agents

    def _check_entries(self, rows: Sequence[Row], before: Mapping[int, Holdings]) -> Found:
        """Compare the entries of an instant with the replayed ones, and continue from what is stored."""
        stored = defaultdict[int, list[Row]](list)
        for row in rows:
            stored[row["entrant_id"]].append(row)

        for entrant_id in self.entrants:
            own = stored.get(entrant_id, [])
            if not own and not self.due[entrant_id]:
                continue
            differences = [*self._compare_entries(entrant_id, own)]
            yield from differences
            if differences:
                # Continue from what is stored, if a ledger can hold it, so that one difference stays one.
                with suppress(LedgerError):
                    self.accounts[entrant_id] = fold(map(_entry_of, own), before[entrant_id], sealed=True)

    def _compare_entries(self, entrant_id: int, rows: Sequence[Row]) -> Found:
        """Yield the entries of a ledger that differ from the replayed ones."""
        expected = map(plain_value, self.due[entrant_id])
        self.due[entrant_id] = []
        key = f"entry: {self.entrants[entrant_id].key}, entry"
        yield from compare_in_order(rows, expected, key, "kind", BY_LEDGER)

    def _check_snapshot(self, snapshot: Row, items: Sequence[Row]) -> Found:
        """Check the hash of a snapshot, and note its time."""
        sealed = list(map(itemgetter("market_id", "page", "price", "quoted_at", "shown"), items))
        content = snapshot.without("id", "cohort_id", "catalogue", "hash")
        content |= {"cohort": self.row["number"], "items": sealed}
        yield from check_seal(snapshot, content, SEALS_SNAPSHOT)

        at = snapshot["at"]
        self.looks = self.looks[1], at
        ended_at = self.row["ended_at"]
        if items or ended_at is None or at <= ended_at:
            self.last = at  # a snapshot after the end that lists nothing is a correction

    def _check_marks(self, at: str, rows_by_table: Mapping[str, list[Row]]) -> Found:
        """Compare the marks of an instant with the accounts valued at the snapshot's prices."""
        marks = rows_by_table["mark"]
        snapshot = next(iter(rows_by_table["snapshot"]), None)
        if snapshot is None:
            for row in marks:
                yield row.differs("at", "that of a snapshot", BY_PRICES)
        if not marks or snapshot is None:
            return

        quoted = read_quotes(self.facts.connection, self.row["id"], instant(at))
        assert quoted is not None, "there is its snapshot"
        _, taken_at, quotes = quoted
        expected = mark_at(self.accounts, instant(at), quotes, self.cohort.rules.quote_age, taken_at)
        for row in marks:
            mark = expected.pop(row["entrant_id"], None)
            if mark is not None:
                yield from row.compare(plain_value(mark) | {"snapshot_id": snapshot["id"]}, BY_PRICES)
        for entrant_id in expected:
            key = f"{snapshot.key}, {self.entrants[entrant_id]['name']}"
            yield Difference("mark", key, "entrant_id", None, "a mark", "all of a cohort are marked")

    def _check_done(self, round_row: Row, statuses: Mapping[int, str], marks: int) -> Found:
        """Check that a round is done exactly when its turns and marks are complete."""
        silent = len(self.entrants.keys() - statuses.keys())
        unmarked = len(self.entrants) - marks
        if round_row["done"] and (silent or unmarked):
            yield round_row.differs("done", 0, f"{silent} turns and {unmarked} marks are missing")
        elif not round_row["done"] and not unmarked and "failed" not in statuses.values():
            yield round_row.differs("done", 1, "every mark is in, and no turn can be tried again")

    def _check_end(self) -> Found:
        """Check what remains after the replay: the end of the cohort, open lots, and corrections."""
        for entrant_id in self.entrants:
            yield from self._compare_entries(entrant_id, [])

        ended_at = self.row["ended_at"]
        if ended_at is not None and (self.last is not None or not self.facts.verified.number):
            yield from self.row.compare({"ended_at": self.last}, "it ends with its last snapshot")
        if ended_at is not None:
            yield from self._check_nothing_held()
        yield from self._check_corrections()

    def _check_nothing_held(self) -> Found:
        """Yield the lots that a finished cohort still holds."""
        for entrant_id, account in self.accounts.items():
            for (market, side), lot in account.lots.items():
                key = f"{self.entrants[entrant_id].key}, {market} {side}"
                yield Difference("entry", key, "held", lot.shares, 0, "its cohort is over")

    def _check_corrections(self) -> Found:
        """Yield lots settled by a version of a resolution that had been replaced by then.

        A finished cohort is settled whenever a resolution is learnt. For a cohort at a live venue the
        snapshot before the last counts: another cohort's round may be stored under an earlier time than its
        own.
        """
        is_over = self.row["ended_at"] is not None
        until = self.looks[0 if self.cohort.stamp == "live" else 1]
        newest: dict[str, int] = {}
        for row in self.facts.rows("resolution", ENDS, cohort=self.row["id"]):
            if is_over or row["learnt_at"] <= until:
                newest[row["market_id"]] = max(row["version"], newest.get(row["market_id"], 0))

        for entrant_id, account in self.accounts.items():
            for (market, side), paid in account.settled.items():
                if paid.version < newest.get(market, 0):
                    key = f"{self.entrants[entrant_id].key}, {market} {side}"
                    expected = f"resolution:{newest[market]}"
                    yield Difference("entry", key, "ref", f"resolution:{paid.version}", expected, UNPAID)


def _entry_of(row: Row) -> Entry:
    values = {name: row[name] for name in Entry.__dataclass_fields__}
    return Entry(**values | {"at": instant(row["at"])})
