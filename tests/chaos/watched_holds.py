"""Who holds what in a simulated season, looked at after each commit: leases, claims and reservations.

A process may renew only what it holds, take over only what was silent for a lease, and write only what it
holds still. Each commit that breaks one of these is a fault, whether or not anything comes of it in the end.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from arena.operations.leader import LEASE
from arena.record.model.lease import LEASE_LENGTH
from markets.millionths import ONE
from tests.chaos.database_faults import Change
from tests.chaos.machine_clocks import MOST_DRIFT

LEASES = "SELECT name, token, holder, beat FROM lease"
CLAIMS = "SELECT round_id || '/' || entrant_id, token, holder, beat FROM claim"
RESERVATIONS = "SELECT id, 0, holder, beat FROM reservation"
PROVIDERS = """SELECT r.id, r.provider, CASE WHEN p.paused_until IS NULL THEN NULL ELSE p.room END
    FROM reservation AS r LEFT JOIN lane AS p ON p.provider = r.provider WHERE r.beat IS NOT NULL"""
TURNS = "SELECT round_id || '/' || entrant_id, status, hash FROM turn"
LEASE_CHANGES = ("take_lease", "renew_lease", "release_lease")
CLAIM_CHANGES = ("claim_turns", "renew_claims", "add_turns")
RESERVATION_CHANGES = ("reserve", "renew_reservations", "lose_reservations", "withdraw_reservations", "add_call")


@dataclass(frozen=True, slots=True)
class Held:
    """A row of a hold, and the moment of its last change."""

    token: int
    holder: str
    beat: int | None
    changed: float


Holds = dict[str, Held]


@dataclass
class WatchedHolds:
    """What was held after the last commit. `broken` is told what must not have been.

    `holders` has the process of each name by which something is held; `moment` returns the time of the loop.
    """

    file: Path
    moment: Callable[[], float]
    most_calls: int
    broken: Callable[[str], None]
    holders: dict[str, str] = field(default_factory=dict)
    leases: Holds = field(default_factory=dict)
    claims: Holds = field(default_factory=dict)
    reservations: Holds = field(default_factory=dict)
    turns: dict[str, tuple[str, str]] = field(default_factory=dict)
    reader: sqlite3.Connection | None = None

    def move(self, file: Path) -> None:
        """Go on with another file, as after a power cut: what was held is silent from now on."""
        self.close()
        self.file = file
        for holds in (self.leases, self.claims, self.reservations):
            holds.clear()
        if file.exists():
            self.leases |= self._read(LEASES, {})
            self.claims |= self._read(CLAIMS, {})
            self.reservations |= self._read(RESERVATIONS, {})
            self.turns = self._read_turns()

    def close(self) -> None:
        """Read no more."""
        if self.reader is not None:
            self.reader.close()
            self.reader = None

    def look(self, process: str, change: Change) -> None:
        """Look at what a process has changed by a commit."""
        if change.name in LEASE_CHANGES:
            self._look_at_leases(process)
        elif change.name in CLAIM_CHANGES:
            self._look_at_claims(process)
        elif change.name in RESERVATION_CHANGES:
            self._look_at_reservations(process)
        if change.fence is not None:
            self._check_fence(process, change)

    def _check_fence(self, process: str, change: Change) -> None:
        fence = change.fence
        if fence is None:
            return
        lease = self._read(LEASES, self.leases).get(fence.name)
        if lease is None or lease.token != fence.token:
            self.broken(f"{process} wrote {change.name} under a lease that another has taken over")

    def _look_at_leases(self, process: str) -> None:
        leases = self._read(LEASES, self.leases)
        self._compare("lease", process, self.leases, leases, LEASE.total_seconds())
        self.leases = leases

    def _look_at_claims(self, process: str) -> None:
        claims = self._read(CLAIMS, self.claims)
        turns = self._read_turns()
        fresh = dict(claims)

        for key, turn in turns.items():
            held = claims.get(key)
            if turn != self.turns.get(key) and held is not None and self.holders.get(held.holder) != process:
                self.broken(f"{process} wrote the turn {key}, which {held.holder} plays")
        for key, (status, _) in self.turns.items():
            before = self.claims.get(key)
            now = claims.get(key)
            if status == "failed":
                fresh.pop(key, None)  # one that is too late to be tried again may be taken at once
            elif before is not None and now is not None and now.token != before.token:
                self.broken(f"{process} took over the turn {key}, which was played")

        self._compare("turn", process, self.claims, fresh, LEASE_LENGTH.total_seconds())
        self.claims = claims
        self.turns = turns

    def _look_at_reservations(self, process: str) -> None:
        reservations = self._read(RESERVATIONS, self.reservations)
        self._compare("call", process, self.reservations, reservations, LEASE_LENGTH.total_seconds())

        fresh = reservations.keys() - self.reservations.keys()
        if fresh:
            self._check_room(process, fresh)
        self.reservations = reservations

    def _check_room(self, process: str, fresh: set[str]) -> None:
        """Check that a new call has room at its provider, in the config and by what the provider said."""
        rows = self._rows(PROVIDERS)
        under_way = Counter(provider for _, provider, _ in rows)
        for key, provider, room in rows:
            most = self.most_calls if room is None else min(self.most_calls, int(room) // ONE)
            if str(key) in fresh and under_way[provider] > most:
                self.broken(f"{process} made {under_way[provider]} calls at once at {provider}: room for {most}")

    def _compare(self, what: str, process: str, before: Holds, now: Holds, lease: float) -> None:
        """Compare holds before and after a commit of a process."""
        shortest = lease * (1 - 2 * MOST_DRIFT)
        for key, held in now.items():
            last = before.get(key)
            if last is None or held == last or last.beat is None:
                continue

            owner = self.holders.get(last.holder, "")
            silence = self.moment() - last.changed
            if owner != process and (held.token, held.holder) == (last.token, last.holder) and held.beat is not None:
                self.broken(f"{process} renewed the {what} {key}, which {last.holder} holds")
            elif owner != process and silence < shortest:
                self.broken(f"{process} took over the {what} {key} after a silence of {silence:.1f} s")

    def _read(self, query: str, before: Holds) -> Holds:
        """Return what is held now; what has not changed has the moment of its last change."""
        now = self.moment()
        holds = {}
        for key, token, holder, beat in self._rows(query):
            name = str(key)
            last = before.get(name)
            if last is not None and (last.token, last.holder, last.beat) == (token, holder, beat):
                holds[name] = last
            else:
                holds[name] = Held(token, holder, beat, now)
        return holds

    def _read_turns(self) -> dict[str, tuple[str, str]]:
        return {key: (status, turn_hash) for key, status, turn_hash in self._rows(TURNS)}

    def _rows(self, query: str) -> list[tuple]:
        if self.reader is None:
            self.reader = sqlite3.connect(f"{self.file.as_uri()}?mode=ro", uri=True, isolation_level=None)
        return self.reader.execute(query).fetchall()
