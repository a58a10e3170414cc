"""A shelf of articles: found by their words, the best first, whatever the words."""

from datetime import timedelta

import pytest

from agents.article_index import ArticleIndex
from agents.evidence import FoundArticle
from tests.builders import NOW


def shelf(*texts: str, places: int = 25_000, late: int = 0) -> ArticleIndex:
    """An article a day, the last of them today; `late` of them come after."""
    index = ArticleIndex(places)
    for n, text in enumerate(texts):
        day = NOW - timedelta(days=len(texts) - 1 - n - late, minutes=1)
        index.add(f"{n}.md", FoundArticle("Paper", "", f"Number {n}", text, day.isoformat()))
    return index


def found(index: ArticleIndex, query: str) -> list[str]:
    return [article.url for article in index.search(query, NOW)]


def test_the_article_that_speaks_most_of_the_rarest_words_is_first() -> None:
    index = shelf("rain", "rain and a strike", "a strike, a strike, a strike", "snow", "snow")
    assert found(index, "rain strike") == ["1.md", "2.md", "0.md"]
    assert found(index, "the of") == found(index, "hail") == found(index, "") == []


@pytest.mark.parametrize("place", range(8))
def test_a_name_with_signs_is_one_thing_and_not_its_parts(place: int) -> None:
    names = ["AC/DC", "AT&T", "9/11", "C++", "Moody’s", "S&P 500", "Node.js", ".NET"]
    others = "an AC motor in DC, and DC before AC", "it is John's; at 9, not at 11, a T shirt", "P. S.", "js"
    assert found(shelf(*names, *others), names[place]) == [f"{place}.md"]


def test_what_came_later_is_told_after_what_was_out() -> None:
    index = shelf("rain", "snow", "rain rain", "rain", late=2)
    assert found(index, "rain") == ["0.md", "2.md", "3.md"]


def test_common_words_are_left_out_where_there_are_rarer_ones() -> None:
    index = shelf(*["rain"] * 8, "rain strike", "strike", places=6)
    assert sorted(found(index, "rain strike")) == ["8.md", "9.md"]


def test_of_common_words_alone_the_newest_articles_are_searched() -> None:
    texts = [*["rain rain rain"] * 20, *["snow"] * 10, *["rain"] * 8, "rain rain", "rain"]
    index = shelf(*texts, places=9)
    assert found(index, "rain")[0] == "38.md"
    assert set(found(index, "rain")) <= {f"{n}.md" for n in range(26, 40)}
    later = found(shelf(*["rain"] * 60, places=9, late=40), "rain")
    assert set(later) == {*(f"{n}.md" for n in range(11, 40))}, "nine before, twenty after"


def test_a_file_that_is_gone_is_found_no_more() -> None:
    index = ArticleIndex()
    article = FoundArticle("Paper", "", "Rain", "", "2026-01-02")
    for name in index.outdated({"a.md": 1, "b.md": 1}):
        index.add(name, article)
    assert sorted(found(index, "rain")) == ["a.md", "b.md"]
    assert list(index.outdated({"b.md": 1})) == []
    assert (found(index, "rain"), index.find("a.md")) == (["b.md"], None)
