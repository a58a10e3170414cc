"""Articles on disk: what a file says, which market it is for, and what is set aside."""

import asyncio
from pathlib import Path

import pytest

from agents.evidence import FoundArticle, ResearchError
from agents.research.folder import MOST_BYTES, Settings, research
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
    """What the folder has on a market, and what was set aside."""
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
