"""Evidence in the record: written once a round, and read back for every agent of the round."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from agents.model import Article
from arena.record.schema.cohort import CohortRow, EvidenceRow, GatheringRow, RoundRow
from arena.record.schema.statements import TableRows, attributes_of, insert_one, insert_rows, new_rows
from arena.record.schema.typed import columns_of, joined, read_objects_by_key, select
from arena.record.schema.world import ArticleRow
from arena.record.write.cohorts import lock_round
from markets.hashes import canonical, digest, plain_value
from markets.model import MarketId

ARTICLE_FIELDS = tuple(name for name in Article.__dataclass_fields__ if name != "fetched_at")
"""What an article is known by."""


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """What was gathered for a round: the articles of each market, newest first, of how many `found`.

    `dropped` counts the others by reason, and has the verdicts on their words under `audit`.
    """

    articles: Mapping[MarketId, Sequence[Article]] = field(default_factory=dict)
    found: int = 0
    dropped: Mapping[str, Any] = field(default_factory=dict)


def is_gathered(connection: Connection, round_id: int) -> bool:
    """Tell whether evidence was gathered for a round, even if none was found."""
    return connection.scalar(select(GatheringRow.id).where(GatheringRow.round_id == round_id)) is not None


def add_evidence(
    connection: Connection, round_id: int, round_key: tuple[int, int], gathered: GatheredEvidence
) -> None:
    """Store the evidence of a round unless another process was first; `round_key` is cohort and round.

    Of a round that is over meanwhile nobody will see it.
    """
    over = lock_round(connection, round_id)
    if over or is_gathered(connection, round_id):
        return

    evidence_rows = TableRows()
    hashed_items = []
    articles: dict[str, dict[str, Any]] = {}
    for market_id, market_articles in gathered.articles.items():
        for article in market_articles:
            columns = attributes_of(article, *ARTICLE_FIELDS)
            article_hash = digest(columns)
            articles[article_hash] = {"hash": article_hash} | columns

            fetched_at = article.fetched_at
            hashed_items.append([market_id, article_hash, plain_value(fetched_at)])
            evidence_row = {
                "position": len(evidence_rows),
                "market_id": market_id,
                "article": article_hash,
                "fetched_at": fetched_at,
            }
            evidence_rows.append(evidence_row)

    cohort, round_number = round_key
    counts = {"found": gathered.found, "dropped": canonical(gathered.dropped)}
    gathering_hash = digest({"cohort": cohort, "round": round_number, "items": hashed_items} | counts)
    gathering_id = insert_one(
        connection, GatheringRow.__table__, round_id=round_id, **counts, hash=gathering_hash
    )
    if articles:
        connection.execute(new_rows(ArticleRow).on_conflict_do_nothing(), list(articles.values()))
    evidence_rows = [{"gathering_id": gathering_id} | evidence_row for evidence_row in evidence_rows]
    insert_rows(connection, EvidenceRow.__table__, evidence_rows)


def read_evidence(connection: Connection, round_id: int) -> dict[MarketId, tuple[Article, ...]]:
    """Return the articles of a round by market, newest first; markets without any are left out."""
    query = (
        select(EvidenceRow.market_id, *columns_of(ArticleRow, ARTICLE_FIELDS), EvidenceRow.fetched_at)
        .select_from(joined(EvidenceRow, GatheringRow).join(ArticleRow))
        .where(GatheringRow.round_id == round_id)
        .order_by(EvidenceRow.position)
    )
    articles = read_objects_by_key(Article, connection.execute(query))
    return {market: tuple(of_market) for market, of_market in articles.items()}


def read_gathered(connection: Connection, cohort: int, at: datetime) -> GatheredEvidence | None:
    """Return what was gathered for the round of a cohort at an instant, if anything was."""
    query = (
        select(GatheringRow.round_id, GatheringRow.found, GatheringRow.dropped)
        .from_joined(GatheringRow, RoundRow, CohortRow)
        .where(CohortRow.number == cohort, RoundRow.at == at)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return GatheredEvidence(read_evidence(connection, row.round_id), row.found, json.loads(row.dropped))
