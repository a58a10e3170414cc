"""`arena check --live`: can venues and models be reached, and what do the venues say?"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.cli.check_models import Probe, ask_all, models_of, say_beforehand, say_models
from arena.cli.output import print_table
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from markets.venue import SetAside, VenueError

ONE_PAGE = {"pages": 1, "newest": 1_000}
"""What venues call how far they read, and how much of that is a page."""
MORE_TO_COME = "too_many"
"""How a venue tells that there is more than it was asked to read."""


@dataclass(frozen=True, slots=True)
class Look:
    """One page of a venue: how many markets it had, what was set aside, and how long that took."""

    venue: str
    markets: int
    seconds: float
    error: "VenueError | None"
    codes: Counter[str] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        """Whether it could be read."""
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        error = self.error and {
            "code": self.error.code,
            "message": self.error.message,
            "mend": self.error.mend,
        }
        found = {
            "venue": self.venue,
            "ok": self.ok,
            "markets": self.markets,
            "seconds": round(self.seconds, 2),
        }
        return found | {"set_aside": dict(sorted(self.codes.items())), "error": error}


@dataclass(frozen=True, slots=True)
class Live:
    """All that was tried."""

    looks: Sequence[Look]
    probes: Sequence[Probe]

    @property
    def status(self) -> int:
        """0 where all could be reached, 1 where nothing could, 2 where only some."""
        reached = [look.ok for look in self.looks] + [probe.ok for probe in self.probes]
        return 0 if all(reached) else 2 if any(reached) else 1

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "live": [look.as_dict() for look in self.looks],
            "models": [probe.as_dict() for probe in self.probes],
        }


def check_live(config: "Config", venues: Sequence[str], agents: Sequence[str], quiet: bool) -> Live:
    """Try these venues and the models of these agents; where none are named, all there are.

    Whoever names only venues asks no model, and whoever names only agents reads no venue.
    """
    targets = models_of(config, agents) if agents or not venues else []
    names = venues or ([] if agents else live_venues(config))
    if not quiet:
        say_beforehand(targets)

    async def tried() -> Live:
        looks = asyncio.gather(*(_look(config, name) for name in names))
        return Live(await looks, await ask_all(config, targets) if targets else [])

    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = asyncio.run(tried())
    if not quiet:
        say_live(found.looks)
        say_models(found.probes)
    return found


def live_venues(config: "Config") -> list[str]:
    """The names of all venues that are live, those of extensions too."""
    from pathlib import Path

    import markets.venues
    from markets.registry import load, names

    folders = config.extensions("venues")
    every = names(Path(markets.venues.__path__[0]), folders[:1])
    return [name for name in every if load("markets.venues", name, folders).stamp == "live"]


async def _look(config: "Config", name: str) -> Look:
    from arena.clock import now, timer
    from arena.wiring import visit
    from markets.registry import UnknownExtension
    from markets.venue import VenueError

    asides: list[SetAside] = []
    started, count, trouble = timer(), 0, None
    try:
        venue = visit(config, name, asides.append, **ONE_PAGE)
    except UnknownExtension as error:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", str(error)) from error
    try:
        count = len(await venue.catalogue(now()))
    except VenueError as error:
        trouble = error
    finally:
        await venue.close()
    codes = Counter(aside.code for aside in asides if aside.code != MORE_TO_COME)
    return Look(name, count, timer() - started, trouble, codes)


def say_live(looks: Sequence[Look]) -> None:
    """What was found, a line for each venue, and what may help where something is wrong."""
    if not looks:
        return
    rows = [
        (
            look.venue,
            "reached" if look.error is None else look.error.code,
            look.markets if look.error is None else None,
            look.codes.total() if look.error is None else None,
            f"{look.seconds:.1f} s",
        )
        for look in looks
    ]
    print()
    print_table(("venue", "", "markets", "set aside", "time"), rows, title="One page of each live venue")
    for look in looks:
        if look.error is not None:
            print(f"{look.venue}: {look.error.message}\n→ {look.error.mend}")
