"""Values computed from the record and cached in it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, case, func

from arena.record.schema.newest import NEWEST_TIME
from arena.record.schema.scores import RollupRow
from arena.record.schema.statements import TableRows, attributes_of, insert_rows
from arena.record.schema.typed import IDS, col, delete, select
from arena.record.schema.world import ResolutionRow
from arena.record.write.holdout import read_opened_at
from markets.hashes import canonical

NEWEST = NEWEST_TIME.scalar_subquery()
COUNT_RESOLUTIONS = select(
    func.count(),
    func.coalesce(func.max(ResolutionRow.id), 0),
    func.coalesce(func.sum(case((col(ResolutionRow.known_at) > NEWEST, 1), else_=0)), 0),
    NEWEST,
)


@dataclass(frozen=True, slots=True)
class Rollup:
    """A cached value: its name, what of the record it was computed from, when, and the value as JSON."""

    name: str
    basis: str
    made_at: datetime
    body: Any


def scores_basis(connection: Connection) -> str:
    """Return what scores are computed from: the resolutions, of which another one changes this text.

    Those that count only after the newest snapshot change it once more when a later one is taken.
    """
    count, last_id, known_later, newest_snapshot = connection.execute(COUNT_RESOLUTIONS).one()
    basis = f"{count} ends, the last is {last_id}"
    if known_later:
        basis += f"; {known_later} count after {newest_snapshot}"
    opened_at = read_opened_at(connection)
    if opened_at is not None:
        basis += f"; what was held out counts since {opened_at}"
    return basis


IS_NAMED = RollupRow.name == bindparam("name")
BASIS = select(RollupRow.basis).where(IS_NAMED)
BODY = select(RollupRow.body).where(IS_NAMED)
ROLLUP = select(RollupRow.basis, RollupRow.made_at, RollupRow.body).where(IS_NAMED)
DELETE_NAMED = delete(RollupRow).where(col(RollupRow.name).in_(IDS))


def read_basis(connection: Connection, name: str) -> str | None:
    """Return what a rollup was computed from; None if there is none."""
    basis: str | None = connection.scalar(BASIS, {"name": name})
    return basis


def read_rollup_text(connection: Connection, name: str) -> str | None:
    """Return a cached value as its text; None if there is none."""
    body: str | None = connection.scalar(BODY, {"name": name})
    return body


def read_rollup(connection: Connection, name: str) -> Rollup | None:
    """Return the newest cached value of a name."""
    row = connection.execute(ROLLUP, {"name": name}).one_or_none()
    return None if row is None else Rollup(name, row.basis, row.made_at, json.loads(row.body))


def put_rollups(connection: Connection, rollups: Sequence[Rollup]) -> None:
    """Write values, replacing earlier ones of the same names."""
    names = []
    rows = TableRows()
    for rollup in rollups:
        names.append(rollup.name)
        rows.append(attributes_of(rollup, "name", "basis", "made_at") | {"body": canonical(rollup.body)})
    connection.execute(DELETE_NAMED, {"ids": names})
    insert_rows(connection, RollupRow.__table__, rows)
