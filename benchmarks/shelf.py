"""What a search costs among 100,000 texts: CPU for rare words, for common ones, and for both together.

python -m benchmarks.shelf
"""

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate

from agents.article_index import ArticleIndex
from agents.evidence import FoundArticle
from benchmarks.measure import Measurement, least_cpu, options, report, within

TEXTS, WORDS, MOST = 100_000, 60, 0.050
NOW = datetime(2026, 6, 1, tzinfo=UTC)
VOCABULARY = [f"word{n}" for n in range(50_000)]
CHANCES = list(accumulate(1 / (n + 1) for n in range(len(VOCABULARY))))
"""As in a language: the second word is half as common as the first, the tenth a tenth."""
QUERIES = {
    "rare words": "word9000 word7000 word20000",
    "a rare word among common ones": "word0 word1 word2 word3 word9000",
    "words in between": "word60 word80 word100 word200",
    "one common word": "word0",
    "common words only": "word0 word1 word2 word3 word4 word5",
}


def shelf() -> ArticleIndex:
    """Write a hundred thousand texts of a year, the last tenth of them later than the search."""
    index = ArticleIndex()
    chance = random.Random(1)
    for number in range(TEXTS):
        words = chance.choices(VOCABULARY, cum_weights=CHANCES, k=WORDS)
        day = NOW + timedelta(days=365 * (number / TEXTS - 0.9))
        index.add(
            f"{number}.md",
            FoundArticle("Paper", "", " ".join(words[:6]), " ".join(words[6:]), day.isoformat()),
        )
    return index


def main() -> None:
    chosen = options(__doc__).parse_args()
    index = shelf()
    rows = list[Measurement]()
    for what, query in QUERIES.items():
        assert index.search(query, NOW)
        took = least_cpu(partial(index.search, query, NOW), repeat=5)
        rows.append(within(f"{what}: {1_000 * took:.1f} ms of CPU", took, "50 ms", MOST))
    report(rows, chosen.json, [f"a search among {TEXTS:,} texts"])


if __name__ == "__main__":
    main()
