"""All tables of the record at once, for those who make, copy or check the whole of it."""

from arena.record.schema import chain, cohort, ledger, scores, turn, work, world
from arena.record.schema.fields import METADATA

__all__ = ["METADATA", "chain", "cohort", "ledger", "scores", "turn", "work", "world"]
