"""Evidence for a round: gathered once for all its agents, kept, and only then are they asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime

from agents.audit import RULES
from agents.evidence import FoundArticle, RefusedQueryError, ResearchError
from agents.guard import Audit, DropReason, GuardedArticles, Suspect, guard_articles
from agents.model import Article
from agents.text import one_line
from arena.record.model.cohort import NO_EVIDENCE, Cohort
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.record import Record
from arena.record.write.evidence import GatheredEvidence, add_evidence, is_gathered
from arena.rounds.tools import guard_of
from arena.rounds.world import SearchResults, World
from markets.hashes import canonical
from markets.model import Market, MarketId
from markets.venue import QuarantinedRecord

MOST_FAILURES = 3
"""A source that has no answer on so many markets one after the other is not asked about the rest."""


async def gather_evidence(
    stored: StoredCohort, round: StoredRound, world: World, record: Record
) -> tuple[str, ...]:
    """Ask the cohort's source about the markets of a round and keep what may be shown; what failed, in words.

    What is in the record already is not gathered again. A source that is down stops nothing: the markets
    that it has no answer on go without, and that is kept with what was quarantined.
    """
    cohort = stored.cohort
    if cohort.evidence == NO_EVIDENCE or record.read(is_gathered, round.id):
        return ()
    place = cohort.number, round.number
    if world.recorded is not None:
        known = world.recorded.evidence(cohort.number, round.at)
        record.write(add_evidence, round.id, place, known or GatheredEvidence())
        return ()
    taken = record.snapshot(stored.id, round.at)
    if taken is None:
        raise LookupError(f"round {round.number} of cohort {cohort.number} has no snapshot")
    firsts: dict[str, Market] = {}
    for listing in taken[1]:  # of a question that is asked for several dates, once for all of them
        firsts.setdefault(listing.market.series or listing.market.id, listing.market)
    markets = list(firsts.values())
    answers, failed = await _ask_source(cohort, markets, round.at, world)
    gathered = _guarded_evidence(cohort, markets, round.at, answers)
    record.write(add_evidence, round.id, place, gathered)
    record.quarantine([*world.quarantined, *failed], round.at)
    world.quarantined.clear()
    pending = sum(market.id not in answers for market in markets)
    return (f"no evidence on {pending} of {len(markets)} markets: {failed[-1].reason}",) if failed else ()


async def _ask_source(
    cohort: Cohort, markets: Sequence[Market], at: datetime, world: World
) -> tuple[SearchResults, list[QuarantinedRecord]]:
    """What the source has on each market, and where it failed. What it told another cohort does as well."""
    for other in [key for key in world.searches if key[2] != at]:
        del world.searches[other]
    answers = world.searches.setdefault((cohort.evidence, canonical(cohort.evidence_settings), at), {})
    failed, in_a_row = list[QuarantinedRecord](), 0
    for market in markets:
        if market.id in answers or in_a_row == MOST_FAILURES:
            continue
        try:
            articles = await world.research(cohort).articles(market, at)
            answers[market.id], in_a_row = (_checked_articles(articles), world.now()), 0
        except ResearchError as error:
            words = f"{error.message}; {error.hint}" if error.hint else error.message
            failed.append(QuarantinedRecord(cohort.evidence, market.id, "page", error.code, words))
            in_a_row += not isinstance(error, RefusedQueryError)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the round
            words = one_line(f"{type(error).__name__}: {error}")
            failed.append(QuarantinedRecord(cohort.evidence, market.id, "page", "broken", words))
            in_a_row += 1
    return answers, failed


def _checked_articles(answer: object) -> list[FoundArticle]:
    """The articles of an answer, which anyone's code may have made."""
    items = answer if isinstance(answer, list | tuple) else [answer]
    for item in items:
        if type(item) is not FoundArticle or any(
            type(getattr(item, x.name)) is not str for x in fields(FoundArticle)
        ):
            raise TypeError("a source answers with a list of FoundArticle, and they are made of texts")
    return [item for item in items if isinstance(item, FoundArticle)]


def _guarded_evidence(
    cohort: Cohort, markets: Sequence[Market], at: datetime, answers: SearchResults
) -> GatheredEvidence:
    """What the guard lets through, market by market."""
    rule = guard_of(cohort)
    shown: dict[MarketId, tuple[Article, ...]] = {}
    dropped, count, texts, suspects = Counter[DropReason](), 0, 0, list[Suspect]()
    for market in markets:
        items, fetched_at = answers.get(market.id, ([], at))
        guarded = guard_articles(items, market, at, fetched_at, rule)
        count += len(items)
        dropped.update(guarded.dropped)
        if guarded.audit is not None:
            texts, suspects = texts + guarded.audit.texts, [*suspects, *guarded.audit.suspects]
        if guarded.articles:
            shown[market.id] = guarded.articles
    audit = None if rule.suspects is None else Audit(RULES, rule.odds == "withheld", texts, tuple(suspects))
    return GatheredEvidence(shown, count, GuardedArticles((), dropped, audit).counts)
