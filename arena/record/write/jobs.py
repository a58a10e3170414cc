"""How the jobs of `arena run` went last: one row each, which the next doing takes the place of."""

from dataclasses import asdict

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from arena.record.model.model import JobState
from arena.record.schema.tables import JOB


def read_jobs(connection: Connection) -> dict[str, JobState]:
    """All that is known of them, by name."""
    names = tuple(JobState.__dataclass_fields__)
    rows = connection.execute(select(*(JOB.c[name] for name in names)).order_by(JOB.c.name))
    return {row.name: JobState(*row) for row in rows}


def put_job(connection: Connection, state: JobState) -> None:
    """How a job goes."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    row = asdict(state)
    later = {name: value for name, value in row.items() if name != "name"}
    connection.execute(
        insert(JOB).values(**row).on_conflict_do_update(index_elements=[JOB.c.name], set_=later)
    )
