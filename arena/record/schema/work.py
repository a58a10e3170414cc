"""Who is at work on the record now, and on what: no facts, and not in the state hash."""

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint

from arena.record.schema.fields import (
    COUNT,
    DOLLARS,
    JSON,
    STRICT,
    TableRow,
    id_field,
    parent_field,
    text_field,
    time_field,
    whole_field,
)

BEAT = "how often its holder has renewed it: whoever sees no change for a whole lease may take it over"


class ClaimRow(TableRow, table=True):
    """Who is playing a turn, and a fencing token that grows with every holder."""

    round_id: int = parent_field("round.id", primary_key=True)
    entrant_id: int = parent_field("entrant.id", primary_key=True)
    token: int = whole_field("grows with every holder: who writes under an older one is too late")
    holder: str = text_field("the worker that plays it")
    beat: int | None = whole_field(BEAT, COUNT, empty="it was let go of")


class DeskKeyRow(TableRow, table=True):
    """The key with which an agent from outside comes to the desk. The key itself is nowhere."""

    __table_args__ = (UniqueConstraint("hash"), STRICT)

    agent: str = text_field("the agent's name", primary_key=True)
    hash: str = text_field("the SHA-256 of its key")
    made_at: datetime = time_field("when the key was made")


class DeskTurnRow(TableRow, table=True):
    """The last turn that an agent from outside had at the desk: what it is shown, and its answer."""

    entrant_id: int = parent_field("entrant.id", primary_key=True)
    round_id: int = parent_field("round.id")
    view: str = text_field("what it is shown", JSON)
    expires_at: datetime = time_field("until when an answer counts, by the database's clock")
    answer: str | None = text_field("its decision, as it was sent", empty="it has not answered")
    answered_at: datetime | None = time_field(
        "when that came, by the database's clock", empty="it has not answered"
    )


class LeaseRow(TableRow, table=True):
    """Who has a duty, such as that of the scheduler: a claim on something else than a turn."""

    name: str = text_field("the duty", primary_key=True)
    token: int = whole_field("grows with every holder: who writes under an older one is too late")
    holder: str = text_field("the process that has it")
    beat: int | None = whole_field(BEAT, COUNT, empty="it was let go of")
    renewed_at: datetime | None = time_field(
        "when its holder last renewed it, by the database's clock: shown, and decides nothing",
        empty="nobody has had it",
    )


class ProviderRow(TableRow, table=True):
    """What is known of a provider's rate limit."""

    __tablename__ = "lane"

    provider: str = text_field("the provider", primary_key=True)
    room: int = whole_field("how many calls it takes at once", "millionths of a call")
    paused_until: datetime | None = time_field("until when it is asked nothing", empty="it may be asked")


class ModelLimitRow(TableRow, table=True):
    """A model that met a rate limit and has not answered since."""

    __tablename__ = "model_limit"

    provider: str = text_field("the provider", primary_key=True)
    model: str = text_field("the model, by the name that agents have for it", primary_key=True)
    paused_until: datetime = time_field("until when it is asked nothing, by the database's clock")


class ReservationRow(TableRow, table=True):
    """A call under way: its place at a provider, and the most that it may cost.

    It goes when the call is kept. One without a beat was lost with its worker: it takes no place any more,
    but goes on counting as spent, for it may have to be paid. Its number is made before it is written.
    """

    __table_args__ = (Index("ix_reservation_provider", "provider"), STRICT)

    id: int = id_field()
    round_id: int = parent_field("round.id")
    entrant_id: int = parent_field("entrant.id")
    provider: str = text_field("the provider that is asked")
    worst: int | None = whole_field("the most that the call may cost", DOLLARS, empty="unknown")
    holder: str = text_field("the worker that asks")
    made_at: datetime = time_field("when it was made")
    beat: int | None = whole_field(BEAT, COUNT, empty="it was lost: it takes no place")


class JobRow(TableRow, table=True):
    """A job of `arena run`: the time it was last done for, when that began and ended, and how."""

    name: str = text_field("the job", primary_key=True)
    due_at: datetime = time_field("the time that it was last done for")
    started_at: datetime = time_field("when that began")
    ended_at: datetime | None = time_field("when that ended", empty="it is under way, or was broken off")
    failures: int = whole_field("how often in a row it has failed", COUNT, default=0)
    note: str = text_field("what came of it", default="")


class PublicationRow(TableRow, table=True):
    """How far the chain of heads was published, and since when that fails."""

    target: str = text_field("the SHA-256 of where the heads go", primary_key=True)
    number: int = whole_field("the number of the newest head that went there, or 0")
    at: datetime | None = time_field("when it went", empty="none has")
    tries: int = whole_field("attempts in a row that failed", COUNT, default=0)
    next_try_at: datetime | None = time_field("when the next attempt is due", empty="at once")
    failing_since: datetime | None = time_field("since when attempts fail", empty="the last one did not")
    error: str = text_field("why the last one failed", default="")


class IncidentRow(TableRow, table=True):
    """Something that the operator should hear of, once, and whether they were told."""

    __table_args__ = (UniqueConstraint("kind", "subject"), STRICT)

    id: int = id_field()
    kind: str = text_field("the kind of incident, a code for programs")
    subject: str = text_field("to what")
    at: datetime = time_field("when")
    body: str = text_field("the message", JSON)
    tries: int = whole_field("attempts to notify the operator", COUNT, default=0)
    next_try_at: datetime | None = time_field("when the next attempt is due", empty="it is not")
    told_at: datetime | None = time_field("when the operator was notified", empty="not yet")
    ended_at: datetime | None = time_field(
        "when it was over", empty="it is ongoing, or is of a kind that never ends"
    )
