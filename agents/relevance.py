"""How well articles fit a question, by BM25 over its words. Pure, and the same to the last bit everywhere."""

from collections import Counter
from collections.abc import Sequence

from agents.search_terms import COMMON, search_terms, words
from markets.millionths import ONE
from markets.odds import log_odds

SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""How soon more of the same word counts no more (k1), and how much a long text is worth less (b)."""
MOST_TERMS = 12


def relevance(question: str, texts: Sequence[str]) -> list[float]:
    """Of each text how much it has to do with a question, held against the others.

    >>> relevance("Will BTC reach $120k?", ["Bitcoin nears $120,000", "Ether falls", "Bitcoin slips"])
    [1.88..., 0.0, 0.49...]
    """
    asked = _telling(" ".join(way for term in search_terms(question, MOST_TERMS) for way in term.ways))
    wanted = tuple(dict.fromkeys([*asked, *_telling(question)]))
    counts = [Counter(_telling(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(texts) if any(lengths) else 1.0
    norms = [SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean) for length in lengths]
    scores = [0.0] * len(texts)
    for word in wanted:
        weight = _rarity(sum(word in count for count in counts), len(texts))
        for place, (count, norm) in enumerate(zip(counts, norms, strict=True)):
            if times := count[word]:
                scores[place] += weight * times * (SATURATION + 1) / (times + norm)
    return scores


def _telling(text: str) -> list[str]:
    return [word for word in map(str.casefold, words(text)) if word not in COMMON]


def _rarity(having: int, all_texts: int) -> float:
    """The weight of a word: ln(1 + (N - n + 0.5) / (n + 0.5)), the higher the fewer texts have it."""
    odds_part, whole = 2 * all_texts + 2, 2 * all_texts + 2 * having + 3
    return log_odds(ONE * odds_part // whole)
