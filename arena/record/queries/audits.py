"""The audits of texts for agents: how many got a verdict, and which were suspect."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from agents.guard import AUDIT
from arena.errors import count_text
from arena.record.schema.cohort import CohortRow, GatheringRow, RoundRow, ToolResultRow
from arena.record.schema.typed import col, select


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """How many texts were in time by their dates, and how many of them are suspect by their words.

    `verdicts` counts the suspects by verdict, and `shown` are those that agents saw all the same.
    """

    texts: int
    suspects: int
    share: float | None
    shown: int
    verdicts: Mapping[str, int]

    @property
    def words(self) -> str:
        """Return the counts as a sentence.

        >>> AuditCounts(40, 3, 0.075, 1, {"answer": 1, "odds": 2}).words
        'Of 40 texts in time by their dates, 3 (7.5%) are suspect (1 answer, 2 odds); 1 was shown.'
        """
        if self.share is None:
            return "No text was found that was in time by its date."
        verb = "is" if self.suspects == 1 else "are"
        sentence = f"Of {count_text(self.texts, 'text')} in time by their dates, "
        sentence += f"{self.suspects:,} ({self.share:.1%}) {verb} suspect"
        if not self.suspects:
            return f"{sentence}."
        by_verdict = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items())
        return f"{sentence} ({by_verdict}); {self.shown:,} {'was' if self.shown == 1 else 'were'} shown."


def read_audit_counts(connection: Connection, cohorts: Sequence[int]) -> AuditCounts | None:
    """Return the counts of verdicts on the texts found for some cohorts; None if there are none."""
    audits = list(_audits(connection, cohorts))
    if not audits:
        return None

    texts = 0
    shown = 0
    verdicts = Counter[str]()
    for audit in audits:
        texts += audit["texts"]
        for suspect in audit["suspects"]:
            verdicts[suspect["verdict"]] += 1
            shown += suspect["shown"]

    suspects = verdicts.total()
    share = suspects / texts if texts else None
    return AuditCounts(texts, suspects, share, shown, dict(sorted(verdicts.items())))


def _audits(connection: Connection, cohorts: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the audits of evidence and of tool results for the agents of some cohorts."""
    in_evidence = select(GatheringRow.dropped).from_joined(GatheringRow, RoundRow, CohortRow)
    in_tool_results = select(ToolResultRow.withheld).from_joined(ToolResultRow, RoundRow, CohortRow)
    for query in (in_evidence, in_tool_results):
        for text in connection.scalars(query.where(col(CohortRow.number).in_(cohorts))):
            audit = json.loads(text).get(AUDIT)
            if audit is not None:
                yield audit
