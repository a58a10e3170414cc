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

    def __init__(self, rows: Iterator[Row], first_named: Mapping[tuple[str, str], str]):
        self.newest: dict[MarketId, Resolution] = {}
        paid_markets = set(map(itemgetter(0), first_named))
        self._paid: list[tuple[str, Resolution]] = []
        self._unpaid: list[tuple[str, Resolution]] = []
        for row in rows:
            fields = {name: row[name] for name in Resolution.__dataclass_fields__}
            resolution = Resolution(**fields | {"known_at": instant(row["known_at"])})
            named_at = first_named.get((row["market_id"], f"resolution:{row['version']}"))
            if named_at is not None and named_at >= row["known_at"]:
                self._paid.append((named_at, resolution))
            elif row["market_id"] not in paid_markets:
                self._unpaid.append((max(row["known_at"], row["learnt_at"]), resolution))

        # The earliest come last, where `learn_until` takes them from.
        for ends_by_time in (self._paid, self._unpaid):
            ends_by_time.sort(key=itemgetter(0), reverse=True)

    def learn_until(self, at: str, last_snapshot_at: str) -> Mapping[MarketId, Resolution]:
        """Learn what was known by a time, and return the newest resolution of each market.

        `last_snapshot_at` was the last snapshot before. Times may only increase from call to call.
        """
        for ends_by_time, limit in ((self._paid, at), (self._unpaid, last_snapshot_at)):
            while ends_by_time and ends_by_time[-1][0] <= limit:
                _, resolution = ends_by_time.pop()
                known = self.newest.get(resolution.market_id)
                if known is None or known.version < resolution.version:
                    self.newest[resolution.market_id] = resolution
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
        prompts = facts.rows_by("hash", "prompt", "SELECT * FROM prompt")
        self.texts = {key: prompt["text"] for key, prompt in prompts.items()}
        self.accounts = dict.fromkeys(entrants, Holdings())
        self.stored_until = BEFORE_ALL
        """The time up to which the accounts include the stored entries."""
        self.uncompared = defaultdict[int, list[Entry]](list)
        """The replayed entries of each ledger that were not compared yet."""
        self.ends = self._known_ends()
        self.last_two_snapshots = BEFORE_ALL, BEFORE_ALL
        """The times of the last two snapshots."""
        self.last_snapshot_at: str | None = None
        """The time of the last snapshot, apart from those that paid a correction after the end."""

    def check(self) -> Found:
        """Replay the new snapshots and a part of the older ones, and yield the differences.

        A snapshot is replayed together with everything since the snapshot before it.
        """
        since = BEFORE_ALL
        last_id = self.facts.last_verified_id("snapshot")
        for snapshot in self.facts.rows("snapshot", VERIFIED, cohort=self.row["id"], after=last_id):
            until = snapshot["at"]
            if self.facts.must_check(snapshot):
                yield from self._check_between(since, until)
            self.last_two_snapshots = since, until
            since = until

        # What follows is new, and tells when the cohort ended.
        self.last_snapshot_at = None
        yield from self._check_between(since, AFTER_ALL)
        yield from self._check_end()

    def _check_between(self, since: str, until: str) -> Found:
        """Replay what happened after one time and up to another."""
        yield from self._bring_accounts_to(since)
        self.stored_until = until
        streams = [self._stream(table, query, since, until) for table, query in TIMELINE.items()]
        rows_in_time = heapq.merge(*streams, key=itemgetter(0))
        for at, rows_at in groupby(rows_in_time, key=itemgetter(0)):
            rows_by_table = defaultdict[str, list[Row]](list)
            for _, table, row in rows_at:
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
        self.ends.learn_until(at, at)
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
        accounts_before = self.accounts.copy()
        ends = self.ends.learn_until(at, self.last_two_snapshots[1])
        for entrant_id, account in accounts_before.items():
            self._post(entrant_id, settle_resolved(ends, account, instant(at)))

        round_row = self.rounds.get(at)
        statuses: Mapping[int, str] = {}
        if round_row is not None:
            statuses = yield from self._replay_round(round_row)
        yield from self._check_entries(rows_by_table["entry"], accounts_before)

        for snapshot in rows_by_table["snapshot"]:
            yield from self._check_snapshot(snapshot, rows_by_table["snapshot_item"])
        yield from self._check_marks(at, rows_by_table)
        if round_row is not None:
            yield from self._check_done(round_row, statuses, len(rows_by_table["mark"]))

    def _post(self, entrant_id: int, entries: Sequence[Entry]) -> None:
        """Add replayed entries to a ledger and its account."""
        if entries:
            self.uncompared[entrant_id] += entries
            self.accounts[entrant_id] = fold(entries, self.accounts[entrant_id], sealed=True)

    def _replay_round(self, round_row: Row) -> Generator[Difference, None, Mapping[int, str]]:
        """Replay a round; return the status of each turn, by entrant."""
        connection = self.facts.connection
        names = list(map(itemgetter("name"), self.entrants.values()))
        try:
            stored_snapshot = read_snapshot(connection, self.row["id"], instant(round_row["at"]))
            if stored_snapshot is None:
                raise LookupError("its snapshot is missing")

            _, snapshot = stored_snapshot
            replayed = PlayedRound(
                self.facts,
                self.cohort,
                round_row,
                snapshot,
                self._agents_of_round(round_row["number"]),
                self.accounts.copy(),
                calls=read_calls(connection, round_row["id"], list(self.entrants)),
                stated=read_final_forecasts(connection, round_row["id"], names),
                texts=self.texts,
                runner=self.runner,
            )
        except Exception as error:  # noqa: BLE001 - a damaged record may hold anything
            yield round_row.differs("snapshot_id", "what can be played again", fault_text(error))
            return {}

        yield from replayed.check()
        for entrant_id, entries in replayed.entries.items():
            self._post(entrant_id, entries)
        return replayed.statuses

    def _agents_of_round(self, number: int) -> dict[int, Entrant]:
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
                replaced = replace(agent, since=row["round"], settings=settings, prompts=prompts)
                agents[row["entrant_id"]] = replaced
        return agents

    def _check_entries(self, rows: Sequence[Row], accounts_before: Mapping[int, Holdings]) -> Found:
        """Compare the entries of an instant with the replayed ones, and continue from what is stored."""
        stored_rows = defaultdict[int, list[Row]](list)
        for row in rows:
            stored_rows[row["entrant_id"]].append(row)

        for entrant_id in self.entrants:
            own_rows = stored_rows.get(entrant_id, [])
            if not own_rows and not self.uncompared[entrant_id]:
                continue
            differences = [*self._compare_entries(entrant_id, own_rows)]
            yield from differences
            if differences:
                # Continue from what is stored, if a ledger can hold it, so that one difference stays one.
                with suppress(LedgerError):
                    self.accounts[entrant_id] = fold(
                        map(_entry_of, own_rows), accounts_before[entrant_id], sealed=True
                    )

    def _compare_entries(self, entrant_id: int, rows: Sequence[Row]) -> Found:
        """Yield the entries of a ledger that differ from the replayed ones."""
        expected = map(plain_value, self.uncompared[entrant_id])
        self.uncompared[entrant_id] = []
        name = f"{self.entrants[entrant_id].key}, entry"
        yield from compare_in_order(rows, expected, "entry", name, "kind", BY_LEDGER)

    def _check_snapshot(self, snapshot: Row, items: Sequence[Row]) -> Found:
        """Check the hash of a snapshot, and note its time."""
        sealed_items = list(map(itemgetter("market_id", "page", "price", "quoted_at", "shown"), items))
        content = snapshot.without("id", "cohort_id", "catalogue", "hash")
        content |= {"cohort": self.row["number"], "items": sealed_items}
        yield from check_seal(snapshot, content, SEALS_SNAPSHOT)

        at = snapshot["at"]
        self.last_two_snapshots = self.last_two_snapshots[1], at
        ended_at = self.row["ended_at"]
        if items or ended_at is None or at <= ended_at:
            self.last_snapshot_at = at  # a snapshot after the end that lists nothing is a correction

    def _check_marks(self, at: str, rows_by_table: Mapping[str, list[Row]]) -> Found:
        """Compare the marks of an instant with the accounts valued at the snapshot's prices."""
        marks = rows_by_table["mark"]
        snapshot = next(iter(rows_by_table["snapshot"]), None)
        if snapshot is None:
            for row in marks:
                yield row.differs("at", "that of a snapshot", BY_PRICES)
        if not marks or snapshot is None:
            return

        stored_prices = read_quotes(self.facts.connection, self.row["id"], instant(at))
        assert stored_prices is not None, "there is its snapshot"
        _, taken_at, quotes = stored_prices
        expected_marks = mark_at(self.accounts, instant(at), quotes, self.cohort.rules.quote_age, taken_at)
        for row in marks:
            mark = expected_marks.pop(row["entrant_id"], None)
            if mark is not None:
                yield from row.compare(plain_value(mark) | {"snapshot_id": snapshot["id"]}, BY_PRICES)
        for entrant_id in expected_marks:
            key = f"{snapshot.key}, {self.entrants[entrant_id]['name']}"
            yield Difference("mark", key, "entrant_id", None, "a mark", "all of a cohort are marked")

    def _check_done(self, round_row: Row, statuses: Mapping[int, str], mark_count: int) -> Found:
        """Check that a round is done exactly when its turns and marks are complete."""
        missing_turns = len(self.entrants.keys() - statuses.keys())
        missing_marks = len(self.entrants) - mark_count
        if round_row["done"] and (missing_turns or missing_marks):
            yield round_row.differs("done", 0, f"{missing_turns} turns and {missing_marks} marks are missing")
        elif not round_row["done"] and not missing_marks and "failed" not in statuses.values():
            yield round_row.differs("done", 1, "every mark is in, and no turn can be tried again")

    def _check_end(self) -> Found:
        """Check what remains after the replay: the end of the cohort, open lots, and corrections."""
        for entrant_id in self.entrants:
            yield from self._compare_entries(entrant_id, [])

        ended_at = self.row["ended_at"]
        if ended_at is not None and (self.last_snapshot_at is not None or not self.facts.verified.number):
            yield from self.row.compare({"ended_at": self.last_snapshot_at}, "it ends with its last snapshot")
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
        before_last, last = self.last_two_snapshots
        learnt_until = before_last if self.cohort.stamp == "live" else last
        newest_versions: dict[str, int] = {}
        for row in self.facts.rows("resolution", ENDS, cohort=self.row["id"]):
            if is_over or row["learnt_at"] <= learnt_until:
                newest_versions[row["market_id"]] = max(
                    row["version"], newest_versions.get(row["market_id"], 0)
                )

        for entrant_id, account in self.accounts.items():
            for (market, side), payment in account.settled.items():
                if payment.version < newest_versions.get(market, 0):
                    key = f"{self.entrants[entrant_id].key}, {market} {side}"
                    expected = f"resolution:{newest_versions[market]}"
                    yield Difference("entry", key, "ref", f"resolution:{payment.version}", expected, UNPAID)


def _entry_of(row: Row) -> Entry:
    values = {name: row[name] for name in Entry.__dataclass_fields__}
    return Entry(**values | {"at": instant(row["at"])})
