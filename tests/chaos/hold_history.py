"""Who holds what in a simulated season: turns by claims, the lead by its lease, money by reservations.

Each change of a hold is made by one who may make it: its holder, or another where nobody has it, its holder
is dead, or was silent for a lease.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from arena.operations.leader import LEADER_LEASE
from arena.operations.leader import LEASE as LEAD
from arena.record.model.lease import HEARTBEAT_INTERVAL, LEASE_LENGTH
from tests.chaos.process_lives import ProcessLives
from tests.chaos.record_watch import HoldSeen, RecordChange, TurnKey, TurnSeen

LEASE = LEASE_LENGTH.total_seconds()
BEAT = HEARTBEAT_INTERVAL.total_seconds()
LATEST_BEAT = 1.2 * BEAT + 5.0
"""Seconds after which a holder that nothing troubles has renewed what it holds."""

MOST_TIMER_DRIFT = 0.02
"""How much of a lease a timer may be fast: one takes over what it saw unchanged for a lease by its own."""


def turn_name(turn: TurnKey) -> str:
    """Return the name of a turn as a hold."""
    round_id, entrant_id = turn
    return f"turn {round_id}/{entrant_id}"


@dataclass
class HoldHistory:
    """The holds as they were at the last look, since when they are so, and whose name in them is whose."""

    lives: ProcessLives
    processes: dict[str, str] = field(default_factory=dict)
    """The process behind each name that holders have in the record."""
    claims: dict[TurnKey, HoldSeen] = field(default_factory=dict)
    leases: dict[str, HoldSeen] = field(default_factory=dict)
    reservations: dict[int, tuple[TurnKey, HoldSeen]] = field(default_factory=dict)
    changed_at: dict[str, float] = field(default_factory=dict)
    """When each hold was last changed, by its name as `Hold` has it."""
    taken_at: dict[str, float] = field(default_factory=dict)
    """When each hold was last taken by whoever has it now."""
    unused: dict[str, list[int]] = field(default_factory=dict)
    """The reservations of each process under which nothing was asked yet."""
    lost: set[int] = field(default_factory=set)
    """Reservations that were taken for lost at some time."""
    season: str = ""

    # ---- what the record says now

    def newest_reservation(self, process: str) -> tuple[TurnKey | None, int]:
        """Return the turn and number of the reservation under which a process asks, and use it up."""
        unused = self.unused.pop(process, [])
        if not unused:
            return None, 0
        turn, _ = self.reservations[unused[-1]]
        return turn, unused[-1]

    def has_reservation(self, number: int) -> bool:
        """Return whether a reservation is still there."""
        return number in self.reservations

    def is_under_way(self, number: int) -> bool:
        """Return whether a call takes room at its provider, and never was taken for lost."""
        return number in self.reservations and number not in self.lost

    def reserved(self) -> dict[int, tuple[TurnKey, str]]:
        """Return the turns and processes of the reservations that there are."""
        return {number: (turn, self.process_of(hold)) for number, (turn, hold) in self.reservations.items()}

    def process_of(self, hold: HoldSeen) -> str:
        """Return the process that holds something."""
        return self.processes.get(hold.holder, hold.holder)

    def held_by_another(self, process: str, turn: TurnKey) -> str:
        """Return what to say where a process works at a turn that another holds."""
        claim = self.claims.get(turn)
        if claim is None:
            return f"{process} works at a turn that nobody has claimed"
        if self.process_of(claim) != process:
            return f"{process} works at a turn that {self.process_of(claim)} has claimed"
        return ""

    def claimed_at(self, turn: TurnKey) -> float:
        """Return when a turn was claimed by whoever holds it now."""
        return self.taken_at.get(turn_name(turn), 0.0)

    def unrenewed(self, process: str, turn: TurnKey, reservation: int) -> str:
        """Return what to say where a process did not renew what it holds while it waited for an answer."""
        claim = self.claims.get(turn)
        is_held = claim is not None and self.process_of(claim) == process and claim.beat is not None
        if is_held and self.is_overdue(process, turn_name(turn)):
            return f"{process} did not renew its claim"
        if reservation in self.reservations and self.is_overdue(process, f"call {reservation}"):
            return f"{process} did not renew the reservation of a call"
        return ""

    def is_overdue(self, process: str, hold: str) -> bool:
        """Return whether a hold should have been renewed by now."""
        since = self.changed_at[hold]
        healthy = self.lives.time() - since - self.lives.silence(process, since)
        return healthy > LATEST_BEAT

    # ---- what may change

    def begin_again(self, change: RecordChange) -> None:
        """Take what is there after a power cut as it is."""
        self.claims = change.claims
        self.leases = change.leases
        self.reservations = change.reservations
        self.unused.clear()
        self.season = change.season

    def changed(self, change: RecordChange, process: str, turns: Mapping[TurnKey, TurnSeen]) -> Iterator[str]:
        """Take over what a step of a process has changed, and yield what it may not have."""
        yield from self._changed_claims(change, process, turns)
        yield from self._changed_leases(change, process)
        yield from self._changed_reservations(change, process)

    def _changed_claims(
        self, change: RecordChange, process: str, turns: Mapping[TurnKey, TurnSeen]
    ) -> Iterator[str]:
        for turn, claim in change.claims.items():
            before = self.claims.get(turn)
            if claim == before:
                continue
            yield from self._changed_hold(turn_name(turn), before, claim, process, LEASE)

            is_taken = before is not None and claim.token != before.token
            played = turns.get(turn)
            if is_taken and played is not None and played.status != "failed":
                yield f"{process} claims {turn_name(turn)}, which was played"
        self.claims = change.claims

    def _changed_leases(self, change: RecordChange, process: str) -> Iterator[str]:
        lead_before = self.leases.get(LEADER_LEASE)
        for name, lease in change.leases.items():
            before = self.leases.get(name)
            if before is not None and before.token == 0:
                before = None
            if lease in (before, self.leases.get(name)) or lease.token == 0:
                continue
            yield from self._changed_hold(f"duty {name}", before, lease, process, LEAD.total_seconds())
            if before is not None and lease.token != before.token:
                self.lives.lives[self.process_of(before)].lost_lead_at = self.lives.time()
        self.leases = change.leases

        lead = change.leases.get(LEADER_LEASE)
        is_scheduler = process.startswith(("run ", "once "))
        if self.season and change.season != self.season and is_scheduler:
            leaders = {self.process_of(hold) for hold in (lead_before, lead) if hold is not None}
            if process not in leaders:
                yield f"{process} goes on with the season, which {' and '.join(sorted(leaders))} leads"
        self.season = change.season

    def _changed_reservations(self, change: RecordChange, process: str) -> Iterator[str]:
        for number, (turn, hold) in change.reservations.items():
            before = self.reservations.get(number)
            if before is None:
                yield from self._added_reservation(number, turn, hold, process)
            elif hold != before[1]:
                if hold.beat is None:
                    self.lost.add(number)
                yield from self._changed_hold(f"call {number}", before[1], hold, process, LEASE)

        for number in sorted(self.reservations.keys() - change.reservations.keys()):
            holder = self.process_of(self.reservations[number][1])
            if holder != process:
                yield f"{process} gives back the money that is reserved for a call of {holder}"
            unused = self.unused.get(holder, [])
            if number in unused:
                unused.remove(number)
        self.reservations = change.reservations

    def _added_reservation(self, number: int, turn: TurnKey, hold: HoldSeen, process: str) -> Iterator[str]:
        """Remember a reservation under which nothing was asked yet; only who holds the turn makes one."""
        self.changed_at[f"call {number}"] = self.lives.time()
        self.unused.setdefault(process, []).append(number)
        if self.process_of(hold) != process:
            yield f"{process} reserves money for a call of {self.process_of(hold)}"
        taken = self.held_by_another(process, turn)
        if taken:
            yield taken

    def _changed_hold(
        self, what: str, before: HoldSeen | None, hold: HoldSeen, process: str, lease: float
    ) -> Iterator[str]:
        """Yield what a process must not have done to a hold: each is renewed and let go of by its holder."""
        silence = self.lives.time() - self.changed_at.get(what, 0.0)
        self.changed_at[what] = self.lives.time()
        is_silent = silence >= (1 - MOST_TIMER_DRIFT) * lease
        holder = self.process_of(hold)
        if before is None or hold.token != before.token:
            self.taken_at[what] = self.lives.time()
            if holder != process:
                yield f"{process} takes {what} for {holder}"
            if before is None or before.beat is None:
                return
            earlier = self.process_of(before)
            if earlier != process and not is_silent:
                yield f"{process} takes {what}, which {earlier} holds"
            return

        if holder == process:
            return
        is_given_up = hold.beat is None and is_silent
        if not is_given_up:
            yield f"{process} changes the hold of {holder} on {what}"
