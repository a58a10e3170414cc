"""What a report is made of, read in one look at the record."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.errors import ArenaError
from arena.leaderboard import MARKET
from arena.prepared.cohorts import Calibrated, of_agents, of_the_price
from arena.ranking import Ranking
from arena.scores import ranking
from arena.store.curves import read_worth
from arena.store.frame import Connection
from arena.store.read import StoredCohort, cohorts, rounds
from arena.store.stated import read_stated
from dashboard.model import CohortLine, Decided, Point
from dashboard.palette import Look, looks
from dashboard.queries.season import line_of
from markets.millionths import ONE

MOST_COHORTS = 6
"""The curves of so many cohorts are drawn, the newest."""
MOST_PANELS = 12
"""Of so many agents it is drawn how well they are calibrated: of those that stand first."""


@dataclass(frozen=True, slots=True)
class Curves:
    """What the accounts of a cohort have gained, and when its rounds were decided."""

    line: CohortLine
    points: tuple[Point, ...]
    rounds: tuple[Decided, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A season, or one cohort of it: `cohort` is its number. Curves stand newest first."""

    cohort: int | None
    lines: tuple[CohortLine, ...]
    ranking: Ranking
    curves: tuple[Curves, ...]
    calibrations: tuple[Calibrated, ...]
    price: Calibrated
    looks: Mapping[str, Look]


def gather(connection: Connection, cohort: int | None) -> Facts:
    """All that is said, of every cohort or of one."""
    stored = cohorts(connection)
    if not stored:
        mend = "arena round plays the first, arena demo a season"
        raise ArenaError("no_cohort", "the record holds no cohort yet", mend)
    found = ranking(connection, cohort)
    chosen = [one for one in stored if cohort in (None, one.cohort.number)]
    kinds = {entrant.name: entrant.kind for one in stored for entrant in one.cohort.entrants}
    kinds.setdefault(MARKET, MARKET)
    shown = read_stated(connection, cohort)
    names = [row.agent for row in found.rows if row.kind != MARKET][:MOST_PANELS]
    return Facts(
        cohort=cohort,
        lines=tuple(line_of(connection, one) for one in chosen),
        ranking=found,
        curves=tuple(_curves(connection, one) for one in reversed(chosen[-MOST_COHORTS:])),
        calibrations=of_agents(shown, names),
        price=of_the_price(shown),
        looks=looks(kinds.items()),
    )


def _curves(connection: Connection, stored: StoredCohort) -> Curves:
    number, bankroll = stored.cohort.number, stored.cohort.bankroll
    worth = read_worth(connection, number)
    gains = [(mark.agent, mark.at, mark.total - bankroll) for mark in worth]
    points = (Point(agent, at, gain / ONE, 100 * gain / bankroll) for agent, at, gain in gains)
    decided = (Decided(begun.number, begun.at) for begun in rounds(connection, stored.id))
    return Curves(line_of(connection, stored), tuple(points), tuple(decided))
