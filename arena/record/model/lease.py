"""Leases and claims: the names of holders, renewals, and when another process may take over.

No instant has a part in that, since a clock may be put forward or back by an hour, or differ from another
machine's. Whatever is held has a count that grows as it is renewed. Another process takes it over once the
count hasn't changed for a whole lease by its own timer, or at once where the holder is known to have ended.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import getnode, uuid4

from arena.clock import timer
from markets.hashes import sha256

LEASE_LENGTH = timedelta(seconds=90)
"""How long nobody hears of a holder before another may take over what it holds."""
HEARTBEAT_INTERVAL = LEASE_LENGTH / 3
"""How often a holder says that it is alive, so that two beats may be missed."""
LEAST_LOOKS = 3
"""How often a hold is looked at, after the first time, before it is taken over."""
MOST_SILENCES = 1_000
FORGOTTEN = 3_600.0
"""With more entries a watch forgets what it hasn't looked at for so many seconds."""


def holder_name() -> str:
    """Return a name for this process, unique even among processes that had the same number."""
    number = os.getpid()
    began = process_state(number).started
    return f"{socket.gethostname()}/{number}/{machine_name()}.{began}.{uuid4().hex}"


@cache
def machine_name() -> str:
    """Return a name for this machine or container, unique even among those with the same host name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
        return sha256(boot + str(Path("/proc/self/ns/pid").readlink()))[:12]
    except OSError:  # no Linux
        return f"{getnode():012x}"


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What the kernel says of a process: its state, and when it began; both empty where it says nothing."""

    state: str = ""
    started: str = ""


def process_state(pid: int) -> ProcessState:
    """Return the state of the process with a number, on Linux."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ProcessState()

    # After the name, which may hold anything, come the state and, 19 fields on, when it began, in ticks.
    fields = line.rpartition(")")[2].split()
    return ProcessState(fields[0], fields[19])


def is_gone(holder: str) -> bool:
    """Tell whether the process of that name is known to have ended.

    Of another machine nothing is known, nor of another container: they see other processes under a number.
    """
    if not _is_of_this_machine(holder):
        return False
    _, number, own_part = holder.split("/", 2)
    pid = int(number)
    if pid == os.getpid():
        return True  # an earlier process with our number: our own name is compared before this is asked

    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass

    # Nobody has waited yet for one that was killed, or another process has its number now.
    process = process_state(pid)
    if process.state in ("Z", "X"):
        return True
    started_at_claim = own_part.split(".")[1:-1]
    return bool(process.started and any(started_at_claim) and process.started not in started_at_claim)


def _is_of_this_machine(holder: str) -> bool:
    host, _, process = holder.partition("/")
    own_part = process.partition("/")[2]
    machine = own_part.partition(".")[0]
    return host == socket.gethostname() and machine == machine_name()


@dataclass(frozen=True, slots=True)
class Hold:
    """What a process holds, as others see it: what that is, the holder, its token and count of renewals."""

    what: str
    holder: str
    renewals: tuple[int, int]


@dataclass(slots=True)
class Silence:
    """For how many seconds a hold was seen unchanged, when it was last looked at, and if it ever changed."""

    hold: Hold
    looked_at: float
    seconds: float = 0.0
    heard: bool = False


@dataclass
class Watch:
    """Which holders are dead, as one process sees it by its own timer."""

    timer: Callable[[], float] = timer
    silences: dict[str, Silence] = field(default_factory=dict)

    def is_over(self, hold: Hold, lease: timedelta = LEASE_LENGTH) -> bool:
        """Tell whether a hold may be taken over: its holder has ended, or was silent for a whole lease."""
        if is_gone(hold.holder):
            return True

        silence = self._look(hold, lease.total_seconds() / LEAST_LOOKS)
        if silence.seconds >= lease.total_seconds():
            del self.silences[hold.what]
            return True
        return False

    def is_in_doubt(self) -> bool:
        """Tell whether a process elsewhere holds something wanted, without any sign of life yet."""
        last_heartbeat_due = self.timer() - HEARTBEAT_INTERVAL.total_seconds()
        return any(
            silence.looked_at >= last_heartbeat_due
            and not silence.heard
            and not _is_of_this_machine(silence.hold.holder)
            for silence in self.silences.values()
        )

    def _look(self, hold: Hold, most_seconds: float) -> Silence:
        """Return how long a hold has been silent.

        Between two looks `most_seconds` count at most: the machine, or all processes on it, may have stood
        still meanwhile, and the holder needs time for its next beat.
        """
        now = self.timer()
        silence = self.silences.get(hold.what)
        if silence is None or silence.hold.holder != hold.holder:
            self._forget(now)
            silence = Silence(hold, now)
        elif silence.hold != hold:
            silence = Silence(hold, now, heard=True)
        else:
            silence.seconds += min(now - silence.looked_at, most_seconds)
            silence.looked_at = now

        self.silences[hold.what] = silence
        return silence

    def _forget(self, now: float) -> None:
        """Forget holds that nobody has asked about for long."""
        if len(self.silences) >= MOST_SILENCES:
            for key, silence in [*self.silences.items()]:
                if now - silence.looked_at > FORGOTTEN:
                    del self.silences[key]


@asynccontextmanager
async def heartbeat(renew: Callable[[], object]) -> AsyncIterator[None]:
    """Renew what is held at intervals while the block runs."""
    beating = asyncio.create_task(_renew_again(renew))
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


async def _renew_again(renew: Callable[[], object]) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_INTERVAL.total_seconds())
        try:
            renew()
        except Exception:  # noqa: BLE001, S112 - whatever ails the database: the next beat is still in time
            continue
