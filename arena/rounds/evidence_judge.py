"""The judge of a cohort: an agent's model reads each text that the rules let through, before others see it.

Its calls are that agent's: reserved, in the budget, kept, and not paid again for the same text in the round.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace

from agents.guard import AUDIT, Suspect
from agents.kinds.llm import gather_or_cancel
from agents.leak_judge import JUDGED, Judgement, judge_prompt, read_judgement
from agents.model import Article, Call
from arena.record.model.reservation import Payer
from arena.record.queries.cohorts import StoredCohort, StoredRound, read_judge_calls
from arena.record.record import Record
from arena.record.write.evidence import GatheredEvidence
from arena.rounds.evidence import Judge, guard_of
from arena.rounds.turns import ask_of_player, player_of
from arena.rounds.world import World
from markets.model import Market, MarketId


def judge_of(stored: StoredCohort, stored_round: StoredRound, world: World, record: Record) -> Judge | None:
    """Return the judge of a cohort's evidence; None without one."""
    rule = guard_of(stored.cohort)
    judges = [entrant for entrant in stored.cohort.entrants if entrant.name == rule.judge]
    if not judges or rule.suspects is None:
        return None

    (entrant,) = judges
    player = player_of(entrant, stored.cohort, world)
    entrant_id = stored.entrant_ids[entrant.name]
    kept_calls = record.read(read_judge_calls, stored_round.id).get(entrant_id, ())
    payer = Payer(stored_round.id, entrant_id)
    ask = ask_of_player(player, payer, entrant.name, kept_calls, world, record, stored_round.at)

    async def judge(
        markets: Mapping[MarketId, Market], gathered: GatheredEvidence
    ) -> tuple[GatheredEvidence, str]:
        texts = []
        prompts = []
        for market, articles in gathered.articles.items():
            question = markets[market].question
            for article in articles:
                texts.append((market, article))
                prompts.append(judge_prompt(question, stored_round.at, article.title, article.text))

        # A text that two markets of one question show is asked about once.
        distinct = list(dict.fromkeys(prompts))
        answers = await gather_or_cancel(map(ask, distinct))
        calls = dict(zip(distinct, answers, strict=True))
        judgements = [_judgement(calls[prompt]) for prompt in prompts]

        is_shown = rule.suspects == "flagged"
        suspects = []
        for (market, article), judgement in zip(texts, judgements, strict=True):
            if judgement is not None and judgement.told:
                suspects.append(_suspect(market, article, judgement, is_shown))

        verdicts = len(texts) - judgements.count(None)
        counts = {"agent": entrant.name, "texts": len(texts), "verdicts": verdicts}
        judged = _with_suspects(gathered, suspects, counts)
        return judged, _missing_verdicts_note(entrant.name, answers, judgements)

    return judge


def _judgement(call: Call) -> Judgement | None:
    """Return the verdict of a call; None without one."""
    if call.error is not None or call.reply is None:
        return None
    return read_judgement(call.prompt, call.reply)


def _suspect(market: MarketId, article: Article, judgement: Judgement, shown: bool) -> Suspect:
    """Return an article marked as a suspect by the judge's verdict."""
    return Suspect(
        verdict=JUDGED,
        words=judgement.quote,
        place="text",
        market=market,
        url=article.url,
        title=article.title,
        published=article.dated,
        hash=judgement.text_hash,
        shown=shown,
    )


def _with_suspects(
    gathered: GatheredEvidence, suspects: list[Suspect], counts: Mapping[str, object]
) -> GatheredEvidence:
    """Return the evidence with the judge's suspects marked, and without those that are withheld."""
    withheld = {(suspect.market, suspect.title, suspect.url) for suspect in suspects if not suspect.shown}
    articles = {}
    for market, found in gathered.articles.items():
        left = [article for article in found if (market, article.title, article.url) not in withheld]
        if left:
            articles[market] = tuple(left)

    # The audit is kept among the counts of dropped articles; both are copied before they are added to.
    dropped = dict(gathered.dropped)
    audit = dict(dropped[AUDIT])
    audit["suspects"] = [*audit["suspects"], *map(asdict, suspects)]
    audit["judge"] = counts
    dropped[AUDIT] = audit

    count_before = sum(map(len, gathered.articles.values()))
    count_left = sum(map(len, articles.values()))
    if count_left < count_before:
        dropped[JUDGED] = count_before - count_left
    return replace(gathered, articles=articles, dropped=dropped)


def _missing_verdicts_note(agent: str, calls: list[Call], judgements: list[Judgement | None]) -> str:
    """Return a note on texts without a verdict; empty if all have one."""
    missing = judgements.count(None)
    if not missing:
        return ""
    reasons = [call.error.message for call in calls if call.error is not None]
    reason = reasons[0] if reasons else "its answer has no verdict with words of the text"
    return f"the judge {agent} has no verdict on {missing} of {len(judgements)} texts: {reason}"
