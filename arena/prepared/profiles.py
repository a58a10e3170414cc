"""An agent in depth over all its cohorts, and of every agent the few figures that a board shows beside."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from arena.portrait import Portrait
from arena.prepared.kept import Kept, kept
from arena.scoring.calibrating.reliability import Diagram
from arena.scoring.calibrating.slices import Slice as Calibrated
from arena.scoring.money.luck import Luck
from arena.slices import Slice
from arena.store.frame import Connection
from arena.store.rollups import basis_of

METHOD = "profiles 1"
BRIEFS = "briefs"


@dataclass(frozen=True, slots=True)
class Remark:
    """A forecast that stands out: what was claimed, at which price, what was staked on it, what happened.

    `gain` is the price's squared error less the forecast's; `staked` in millionths on `side`, 0 and "" where
    nothing was.
    """

    cohort: int
    round: int
    market_id: str
    question: str
    forecast: float
    price: float
    side: str
    staked: int
    outcome: int
    gain: float


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent: its portrait, skill and calibration in parts, and what stands out.

    `slices` and `calibrated` are by category, horizon, price and cohort; `histogram` counts the stated
    probabilities in twenty bins of equal width, resolved or not; `anchored` and `implied` are the diagrams
    of its bets in those readings.
    """

    portrait: Portrait
    anchored: Diagram
    implied: Diagram
    histogram: tuple[int, ...]
    slices: dict[str, tuple[Slice, ...]]
    calibrated: dict[str, tuple[Calibrated, ...]]
    best: tuple[Remark, ...]
    worst: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """What a board shows of an agent beside its scores; None where nothing can be said yet."""

    agent: str
    luck: Luck | None
    miscalibration: float | None
    miscalibration_p: float | None


FORM = TypeAdapter(Profile)
BRIEF_FORM = TypeAdapter(tuple[Brief, ...])


def kept_profile(connection: Connection, agent: str) -> Kept[Profile] | None:
    """An agent's profile as it was worked out last."""
    return kept(connection, name_of(agent), basis_of(connection, METHOD), FORM)


def kept_briefs(connection: Connection) -> Kept[tuple[Brief, ...]] | None:
    """The brief of every agent, in line-up order, as they were worked out last."""
    return kept(connection, BRIEFS, basis_of(connection, METHOD), BRIEF_FORM)


def name_of(agent: str) -> str:
    """Under which name a profile is kept."""
    return f"profile/{agent}"
