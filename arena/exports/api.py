"""Reads a record from Python: forecasts, turns and fills row by row, and the leaderboard.

`import arena` exports all of this; docs/python.md shows how to use it. A record is opened read-only and seen
as of one instant, so the season may go on meanwhile.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from arena.errors import ArenaError
from arena.exports.fact_tables import FACT
from arena.exports.frames import frame_columns, joined_column, record_frame, renamed_columns
from arena.exports.table import one_snapshot, rows_of
from arena.forms.csv_columns import cells_of
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection, open_read_only
from arena.record.schema.typed import Session, session_of
from arena.rounds.what_if import Change, WhatIfReport, what_if
from arena.scores.all_kinds import AllKinds, all_kinds_of
from arena.scores.files.forecasts import COLUMNS, REQUIRED_COLUMNS, check_forecasts
from arena.scores.files.report import FileReport, report_file
from arena.scores.files.score_choices import Rule, ScoreChoices
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.leaderboard import LeaderboardRow as Line
from arena.scores.profiles.calibrations import ForecasterCalibration, season_calibrations
from arena.scores.rules.metaculus.forecasts import Mode

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "AllKinds",
    "Change",
    "FileReport",
    "ForecasterCalibration",
    "Leaderboard",
    "Line",
    "RecordedFill",
    "RecordedForecast",
    "RecordedTurn",
    "Season",
    "WhatIfReport",
    "open_record",
    "score",
]
N = TypeVar("N")
NAME = "the frame"
MODES = get_args(Mode)
RULES = get_args(Rule)


def score(
    frame: object,
    *,
    mode: Mode = "exact",
    rule: Rule = "skill",
    by: Literal["category"] | None = None,
    against: str | None = None,
    outside: Collection[str] = (),
    adjusted: bool = False,
    provisional: bool = False,
    community: bool = False,
    parts: bool = False,
    columns: Mapping[str, str] | None = None,
    outcomes: object = None,
    prices: object = None,
) -> FileReport:
    """Score forecasts as `arena score` does, with the same choices.

    `frame` has the columns of a file of forecasts: a DataFrame, an Arrow table, a dict of lists, or a list of
    dicts; None and NaN are empty cells. `columns` maps our names to those of the frame. `outcomes` and
    `prices` are given per question, as a frame or as a dict. Raise `ArenaError` for what can't be scored.

    >>> mine = {"question": ["rain"], "forecaster": ["ann"], "probability": [0.8]}
    >>> [round(row.brier, 2) for row in score(mine, outcomes={"rain": 1}).rows]
    [0.04]
    """
    for name, chosen, allowed in (
        ("mode", mode, MODES),
        ("rule", rule, RULES),
        ("by", by, (None, "category")),
    ):
        if chosen not in allowed:
            names = ", ".join(str(choice) for choice in allowed if choice is not None)
            raise ArenaError("bad_choice", f"{name} is {chosen!r}", f"choose one of {names}")
    if isinstance(outside, str) or not isinstance(outside, Collection):
        raise ArenaError("bad_choice", f"outside is {outside!r}", "give a list of names")
    if not isinstance(columns, Mapping | None):
        raise ArenaError("bad_choice", f"columns is {columns!r}", 'give a dict such as {"question": "title"}')

    own_columns = renamed_columns(frame_columns(frame, NAME), columns or {}, NAME)
    joined = (("outcome", "outcomes", outcomes), ("market_probability", "prices", prices))
    for column, name, by_question in joined:
        if by_question is not None:
            own_columns = joined_column(own_columns, by_question, column, name)
    table = check_forecasts(cells_of(NAME, own_columns, REQUIRED_COLUMNS, COLUMNS))
    choices = ScoreChoices(
        outside=tuple(outside),
        against=against,
        adjusted=adjusted,
        provisional=provisional,
        community=community,
        parts=parts,
        rule=rule,
    )
    return report_file(table, mode, by == "category", choices)


@dataclass(frozen=True, slots=True)
class RecordedForecast:
    """A probability of YES, in millionths, as an agent stated it for a market in a turn.

    For a question other than yes/no, `distribution` is the answer as JSON, and the probability is 0.
    """

    cohort: int
    round: int
    agent: str
    market_id: str
    stage: str
    probability: int
    reason: str
    distribution: str = ""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One agent's part of one round; `cash` is the balance before it in millionths, and `orders` are JSON."""

    cohort: int
    round: int
    agent: str
    status: str
    note: str
    cash: int
    orders: str
    repaired: str
    reader: int
    code_version: str
    hash: str


@dataclass(frozen=True, slots=True)
class RecordedFill:
    """What an agent got for a bet or a sale; shares, dollars and rates are in millionths."""

    cohort: int
    round: int
    agent: str
    fill: int
    market_id: str
    side: str
    action: str
    shares: int
    amount: int
    fee: int
    wanted: int
    base: int
    quote_at: datetime
    quote_hash: str
    fee_rate: int
    left: str
    reason: str
    hash: str


@dataclass(frozen=True, slots=True)
class Season:
    """A record opened for reading: its rows and its leaderboard, of all cohorts or of one."""

    connection: Connection = field(repr=False)

    def forecasts(self, cohort: int | None = None) -> Iterator[RecordedForecast]:
        """Yield every stated forecast."""
        return self._rows(RecordedForecast, "forecasts", cohort)

    def turns(self, cohort: int | None = None) -> Iterator[RecordedTurn]:
        """Yield every turn."""
        return self._rows(RecordedTurn, "turns", cohort)

    def fills(self, cohort: int | None = None) -> Iterator[RecordedFill]:
        """Yield every fill."""
        return self._rows(RecordedFill, "fills", cohort)

    def score(self, cohort: int | None = None) -> Leaderboard:
        """Return the leaderboard: the lines of `arena board`, and the verdict unless it is of one cohort."""
        return read_leaderboard(self.connection, cohort)

    def all_kinds(self, cohort: int | None = None) -> AllKinds | None:
        """Return the combined scores of all kinds of questions; None if all are yes/no."""
        select_cohorts(read_cohorts(self.connection), cohort)  # raises for an unknown cohort
        return all_kinds_of(self.connection, cohort)

    def calibration(self, cohort: int | None = None) -> tuple[ForecasterCalibration, ...]:
        """Return the calibration of each agent's stated forecasts, then that of the price as `market`."""
        return season_calibrations(self.connection, cohort)

    def frame(self, table: str, cohort: int | None = None) -> "pa.Table":
        """Return a table of an export in Arrow; `cash` has a float column `cash_float` beside it."""
        return record_frame(self.connection, table, cohort)

    def replay(
        self, change: Change | None = None, cohort: int | None = None, agent: str | None = None
    ) -> WhatIfReport:
        """Replay the recorded decisions, by their own rules or with a change, without asking a model.

        `exact` of a row means that, without a change, its ledger came out the same to the last hash.
        """
        return what_if(self.connection, change or Change(), cohort, agent)

    def session(self) -> Session:
        """Return an SQLModel session that reads rows as objects: `TurnRow`, `FillRow`, ….

        Their classes are in `arena.record.schema`. Nothing can be written, because the record is opened read-
        only.
        """
        return session_of(self.connection)

    def _rows(self, make: Callable[..., N], table: str, cohort: int | None) -> Iterator[N]:
        """Return the rows of a table. Raise `ArenaError` at once if there is no such cohort."""
        select_cohorts(read_cohorts(self.connection), cohort)  # raises for an unknown cohort
        rows = rows_of(self.connection, FACT[table], None if cohort is None else [cohort])
        return starmap(make, rows)


@contextmanager
def open_record(database: str | Path) -> Iterator[Season]:
    """Open a record as of now, by its file or by the URL of a server."""
    with open_read_only(str(database)) as engine, one_snapshot(engine) as connection:
        yield Season(connection)
