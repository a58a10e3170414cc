"""What was computed from facts and is kept so that nobody waits for it: no facts, for it can be had again."""

from datetime import datetime

from arena.record.schema.fields import JSON, TableRow, text_field, time_field


class RollupRow(TableRow, table=True):
    """Something that was computed, and from how much of the record."""

    name: str = text_field("what it is", primary_key=True)
    basis: str = text_field("what it was computed from: another basis means that it is out of date")
    made_at: datetime = time_field("when it was computed")
    body: str = text_field("the figures", JSON)
