"""Articles on disk: what a file says, which market it is for, what is set aside, and what a search finds."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from agents.article_index import ArticleIndex
from agents.evidence import FoundArticle, ResearchError
from agents.guard import dated
from agents.research.folder import MOST_BYTES, ArticleCount, Settings, count_articles, research
from markets.model import Market
from markets.venue import QuarantinedRecord
from tests.builders import NOW, a_market

LISBON = a_market("sim:lisbon", question="Will rain fall on Lisbon in January?")
HEAD = "title: Clouds over Lisbon\npublished: 2026-01-02\nsource: Example News\n"
NO_KEY = "is none of title, published, source, url, markets with a colon and a value"
ARTICLE = f"{HEAD}url: https://news.example/clouds\n\nThe first rain\nof the year.\n"


def ask(
    folder: Path, market: Market = LISBON, **settings: object
) -> tuple[list[FoundArticle], list[QuarantinedRecord]]:
    """Return what the folder has on a market, and what was withheld."""
    asides: list[QuarantinedRecord] = []
    source = research(Settings.model_validate({"path": folder, **settings}), asides.append)
    return asyncio.run(source.articles(market, NOW)), asides


def write(folder: Path, text: str | bytes, name: str = "a.md") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_an_article(tmp_path: Path) -> None:
    write(tmp_path, ARTICLE)
    whole = FoundArticle(
        "Example News",
        "https://news.example/clouds",
        "Clouds over Lisbon",
        "The first rain\nof the year.",
        "2026-01-02",
    )
    assert ask(tmp_path) == ([whole], [])


def test_front_matter_a_byte_order_mark_and_other_line_ends_do_not_matter(tmp_path: Path) -> None:
    head = "\ufeff---", "Title: 'Rain over Lisbon'", "published: 2026-01-02", "source: X", "---"
    lines = *head, "", "It."
    write(tmp_path, "\r\n".join(lines), "below/a.txt")
    found, asides = ask(tmp_path)
    assert [(x.title, x.text) for x in found] == [("Rain over Lisbon", "It.")]
    assert asides == []


FRONT = "---\ntitle: Clouds over Lisbon\ndate: 2026-01-02\nsource: Example News\n"
FRONT_MATTER = {
    "usual": f"{FRONT}---\n\nRain.",
    "the text follows at once": f"{FRONT}---\nRain.",
    "published": FRONT.replace("date", "published") + "---\nRain.",
    "keys for others": f'{FRONT}_layout: post\ntags: [rain, "Lisbon"]\nauthors:\n  - name: Ann\n---\nRain.',
    "an empty line, a comment": f"{FRONT}\n# Kept by hand\ndraft: false\n---\nRain.",
    "a title over two lines": FRONT.replace("Clouds", ">-\n  Clouds\n ") + "---\nRain.",
    "windows": f"{FRONT}---\nRain.".replace("\n", "\r\n"),
    "no source, but an address": FRONT.replace("source: ", "url: https://www.example.org/a\nby: ")
    + "---\nRain.",
}


@pytest.mark.parametrize("form", FRONT_MATTER)
def test_front_matter_is_read_and_keys_for_others_do_not_matter(tmp_path: Path, form: str) -> None:
    write(tmp_path, FRONT_MATTER[form])
    [article], asides = ask(tmp_path, words=1)
    assert (article.title, article.published, article.text) == ("Clouds over Lisbon", "2026-01-02", "Rain.")
    assert article.source == ("example.org" if form.startswith("no source") else "Example News")
    assert asides == []


@pytest.mark.parametrize(
    ("named", "markets"),
    [
        ("sim:porto, sim:faro", {"sim:porto", "sim:faro"}),
        ("[sim:porto, 'sim:faro']", {"sim:porto", "sim:faro"}),
        ('\n  - sim:porto\n  - "sim:faro"', {"sim:porto", "sim:faro"}),
        ("\n- sim:porto", {"sim:porto"}),
    ],
)
def test_front_matter_names_markets_in_any_form_of_a_list(
    tmp_path: Path, named: str, markets: set[str]
) -> None:
    write(tmp_path, f"{FRONT}markets: {named}\n---\nRain.")
    ids = ("sim:porto", "sim:faro", "sim:lisbon")
    assert {name for name in ids if ask(tmp_path, a_market(name, question="Rain?"))[0]} == markets


@pytest.mark.parametrize(
    ("date", "published"),
    [
        ("2026-01-02 14:30:00 +0100", "2026-01-02 14:30:00+0100"),
        ("2026-01-02T14:30:00.000Z", "2026-01-02T14:30:00.000Z"),
        ('"2026-01-02"', "2026-01-02"),
    ],
)
def test_dates_of_site_generators_are_read(tmp_path: Path, date: str, published: str) -> None:
    write(tmp_path, f"---\ntitle: Rain in Lisbon\ndate: {date}\nsource: X\n---\nIt.")
    [article], _ = ask(tmp_path)
    assert article.published == published
    assert dated(article.published) is not None


def test_a_rule_in_a_text_ends_no_head(tmp_path: Path) -> None:
    write(tmp_path, f"---\n{HEAD}\nRain in Lisbon.\n\n---\n\nMore of it.")
    assert [x.text for x in ask(tmp_path)[0]] == ["Rain in Lisbon.\n\n---\n\nMore of it."]


def test_the_articles_of_a_folder_are_counted_with_the_first_fault(tmp_path: Path) -> None:
    settings = Settings(path=tmp_path)
    assert count_articles(settings) == ArticleCount(0, 0, "it has no .md or .txt file")
    write(tmp_path, ARTICLE)
    write(tmp_path, "title: x\n\ny", "b.md")
    write(tmp_path, ARTICLE.replace("2026-01-02", "Jan 2"), "c.md")
    write(tmp_path, ARTICLE, "notes.json")
    missing = "b.md: the line `published:` is missing before the text"
    assert count_articles(settings) == ArticleCount(3, 1, missing)
    (tmp_path / "b.md").unlink()
    assert count_articles(settings) == ArticleCount(2, 1, "c.md: 'Jan 2' is neither a day nor a time")


def test_files_are_taken_in_the_order_of_their_names_and_others_left_alone(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "c/a.md", "notes.json", "README"):
        write(tmp_path, ARTICLE.replace("Clouds", name), name)
    assert [x.title.split()[0] for x in ask(tmp_path)[0]] == ["a.txt", "b.md", "c/a.md"]


@pytest.mark.parametrize(
    ("text", "least", "concerns"),
    [
        ("Rain in Lisbon", 2, True),
        ("LISBON: no rain", 2, True),
        ("Rain in Porto", 2, False),
        ("Rain in Porto", 1, True),
        ("Rain will fall on Lisbon", 3, True),
        ("Rainfall, Lisbonne", 2, False),
    ],
)
def test_an_article_has_to_have_so_many_words_of_the_question(
    tmp_path: Path, text: str, least: int, concerns: bool
) -> None:
    write(tmp_path, f"title: News\npublished: 2026-01-02\nsource: X\n\n{text}")
    assert bool(ask(tmp_path, words=least)[0]) == concerns


def test_an_article_that_names_markets_is_for_these_alone(tmp_path: Path) -> None:
    write(tmp_path, f"{HEAD}markets: sim:porto, sim:faro\n\nRain in Lisbon.")
    assert ask(tmp_path)[0] == []
    assert len(ask(tmp_path, a_market("sim:porto", question="Will it snow?"))[0]) == 1


def test_a_question_without_a_telling_word_has_no_articles(tmp_path: Path) -> None:
    write(tmp_path, ARTICLE)
    assert ask(tmp_path, a_market(question="Will it be by 5?"))[0] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"x" * (MOST_BYTES + 1), "it is longer than 1,000,000 bytes"),
        ("", "the line `title:` is missing before the text"),
        ("title: x\nsource: y\n\nz", "the line `published:` is missing before the text"),
        ("title:\npublished: 2026-01-02\nsource: y\n", "the line `title:` is missing before the text"),
        (f"{HEAD}author: x\n\nz", f"'author: x' {NO_KEY}"),
        (f"{HEAD}just text", f"'just text' {NO_KEY}"),
        (f"{HEAD}title: y\n\nz", "`title:` appears twice"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_article_is_set_aside_and_the_others_stand(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    write(tmp_path, text, "bad/b.md")
    write(tmp_path, ARTICLE)
    found, asides = ask(tmp_path)
    assert len(found) == 1
    assert asides == [QuarantinedRecord("folder", "bad/b.md", "article", "malformed", reason)]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", ARTICLE)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.md").symlink_to(outside)
    assert ask(inside) == ([], [])


def test_a_folder_that_is_gone_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ResearchError, match="there is no folder") as caught:
        ask(tmp_path / "nowhere")
    assert (caught.value.code, caught.value.hint) == ("no_folder", "check evidence.folder.path")


def test_the_folder_is_read_anew_at_each_decision_time(tmp_path: Path) -> None:
    source = research(Settings(path=tmp_path))
    assert asyncio.run(source.articles(LISBON, NOW)) == []
    write(tmp_path, ARTICLE)
    assert asyncio.run(source.articles(LISBON, NOW)) == []
    assert len(asyncio.run(source.articles(LISBON, NOW.replace(year=2027)))) == 1


def shelf(*texts: str, places: int = 25_000, late: int = 0) -> ArticleIndex:
    """Return an article a day, the last of them today, and `late` of them after that."""
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
