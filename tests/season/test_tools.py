"""Models that look things up: what tools tell is kept, guarded, the same for all, and replayed."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.record.schema.database import open_read_only
from dashboard.views.cohort import read_cohort_page
from markets.hashes import digest
from tests.bundles import simulated
from tests.program.running import AGREES, arena, arena_json
from tests.provider.replies import GOOD, USAGE, Asked, completion, says
from tests.provider.server import FaultyProvider, faulty
from tests.serving import Reply

CONFIG = """\
database: {database}
markets: {{venue: simulator, min_volume: 0, show: 4}}
evidence: {{from: folder, per_market: 3}}
cohorts: {{rounds: 2, count: 1}}
budget: {{round: {round}}}
agents:
  - kind: market
  - {{name: one, {model}, tools: [search, read, price_history, book, notes]}}
  - {{name: two, {model}, tools: [search, read, price_history, book, notes]}}
"""
MODEL = 'model: "openai/{name}", base_url: "{url}", price: {{input: 0, output: 1000}}, max_tokens: 200'
"""What every call costs: the provider counts 200 tokens out, so at most and in fact 20 cents."""
ARTICLE = (
    "title: {title}\npublished: {day}\nsource: Paper\nurl: https://paper.example/{day}\n\nA strike. {text}\n"
)
PLANTED = "It will go on, they say. Dockers went back to work on 4 May 2026."
"""An article of the first days of January that was written in May."""


def uses(asked: Asked, *tools: tuple[str, dict[str, Any]]) -> Reply:
    """A request for tools, with ids that are never the same."""
    calls = [
        {
            "id": f"id-{asked.at}-{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for number, (name, given) in enumerate(tools)
    ]
    whole = json.loads(completion(None, "tool_calls", usage=USAGE))
    whole["choices"][0]["message"]["tool_calls"] = calls
    return Reply(json.dumps(whole).encode())


def curious(asked: Asked) -> Reply:
    """Searches, reads what it found first, looks at prices and notes, writes a note, and bets."""
    told = [message["content"] for message in asked.body["messages"] if message["role"] == "tool"]
    if len(told) == 0:
        return uses(asked, ("search", {"query": "the strike"}))
    if len(told) == 1:
        addresses = re.findall(r"https://paper.example/[0-9-]+", told[0])
        return uses(asked, ("read", {"url": next(iter(addresses), "https://paper.example/none")}))
    if len(told) == 2:
        return uses(asked, ("price_history", {"market": "m1"}), ("book", {"market": "m1"}))
    if len(told) == 4:
        return uses(asked, ("notes", {}), ("nonsense", {}))
    if len(told) == 6:
        return uses(asked, ("notes", {"text": f"after {told[4]!r}, m1 it is"}))
    return says(GOOD)


@pytest.fixture(scope="module")
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        server.script("curious", curious)
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, provider: FaultyProvider) -> Path:
    """A replay with tools, played into `first.db`; the article of the 20th was not out at its first round."""
    folder = tmp_path_factory.mktemp("tools")
    simulated(folder / "spring", markets=15, events=6)
    (folder / "news").mkdir()
    days = {"2026-01-02": "Calm.", "2026-01-03": "x" * 3_000, "2026-03-20": "It was settled."}
    for day, text in days.items():
        words = ARTICLE.format(title=f"News of {day}", day=day, text=text)
        (folder / "news" / f"{day}.md").write_text(words, "utf-8")
    odds = ARTICLE.format(title="Bets", day="2026-01-01", text="Polymarket odds put it at 97%.")
    (folder / "news" / "odds.md").write_text(odds, "utf-8")
    planted = ARTICLE.format(title="Peace", day="2026-01-01", text=PLANTED).replace("01\n\n", "01/peace\n\n")
    (folder / "news" / "planted.md").write_text(planted, "utf-8")
    configured(folder, provider)
    arena_json(folder, "replay", "spring", "--database", "first.db")
    return folder


def configured(folder: Path, provider: FaultyProvider, round: str = "100") -> None:
    model = MODEL.format(name="curious", url=provider.url)
    text = CONFIG.format(model=model, round=round, database="first.db")
    (folder / "config.yaml").write_text(text, "utf-8")


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def told(database: Path, tool: str) -> list[str]:
    query = f"SELECT text FROM tool_result WHERE tool = '{tool}' ORDER BY id"
    return [text for (text,) in rows(database, query)]


def test_a_model_searches_reads_notes_and_bets_and_the_record_agrees(folder: Path) -> None:
    record = folder / "first.db"
    verdicts = rows(record, "SELECT DISTINCT verdict FROM turn")
    assert verdicts == [("played",)]
    assert rows(record, "SELECT count(*) FROM fill")[0][0] > 0
    counts = dict(rows(record, "SELECT tool, count(*) FROM tool_result GROUP BY tool"))
    rounds = rows(record, "SELECT count(*) FROM round WHERE done = 1")[0][0]
    assert rounds == 2
    assert counts == {"search": 2, "read": 2, "price_history": 2, "book": 2, "notes": 8, "nonsense": 4}
    assert arena_json(folder, "verify", "--all", "--database", "first.db").items() >= AGREES.items()


def test_what_came_later_and_what_tells_odds_is_withheld(folder: Path) -> None:
    query = "SELECT text, sources, withheld FROM tool_result WHERE tool = 'search' ORDER BY id"
    found = rows(folder / "first.db", query)
    assert all(
        "settled" not in text and "Polymarket" not in text and "Dockers" not in text for text, *_ in found
    )
    counts = [json.loads(withheld) for *_, withheld in found]
    audits = [count.pop("audit") for count in counts]
    assert counts == [{"dated later": 1, "later": 2, "odds": 1}, {"dated later": 1, "later": 1, "odds": 1}]
    for audit in audits:
        assert [(each["verdict"], each["words"], each["shown"]) for each in audit["suspects"]] == [
            ("dated later", "Dockers went back to work on 4 May 2026.", False),
            ("odds", "A strike. Polymarket odds put it at 97%.", False),
        ]
    days = [[each["url"][-10:] for each in json.loads(sources)] for _, sources, _ in found]
    assert days == [["2026-01-02"], ["2026-01-03", "2026-01-02"]]
    searched, read = told(folder / "first.db", "search")[1], told(folder / "first.db", "read")[1]
    assert ("x" * 3_000 in searched, "x" * 3_000 in read) == (False, True)


def test_a_cohort_tells_the_share_of_suspects(folder: Path) -> None:
    words = "suspect (2 dated later, 2 odds); 0 were shown."
    audit = arena_json(folder, "cohorts", "show", "1", "--database", "first.db")["audit"]
    assert (audit["suspects"], audit["shown"], audit["verdicts"]) == (4, 0, {"dated later": 2, "odds": 2})
    assert audit["share"] == 4 / audit["texts"]
    assert words in audit["words"]
    assert words in " ".join(arena(folder, "cohorts", "show", "1", "--database", "first.db").stdout.split())
    arena(folder, "report", "--method", "-o", "method.md", "--database", "first.db")
    assert words in (folder / "method.md").read_text("utf-8")
    with open_read_only(str(folder / "first.db")) as engine, engine.connect() as connection:
        page = read_cohort_page(connection, 1)
    assert page.audit is not None
    assert page.audit.words == audit["words"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("replace(withheld, '4 May 2026', '4 May 2025')", "the verdict clean"),
        ("replace(withheld, 'dated later', 'unsure')", "the verdict dated later"),
        ("json_remove(withheld, '$.audit.suspects[0]')", "1 odds"),
        ("json_set(withheld, '$.audit.suspects[0].verdict', 5)", "suspects with their words and verdicts"),
    ],
)
def test_verify_judges_again(folder: Path, tmp_path: Path, change: str, words: str) -> None:
    database = copied(folder, tmp_path)
    changed(database, f"UPDATE tool_result SET withheld = {change} WHERE tool = 'search'")
    found = arena_json(tmp_path, "verify", "--all", "--database", "arena.db", status=1)
    told = {each["expected"] for each in found["differences"] if each["field"] == "withheld"}
    assert words in told


def test_verify_finds_a_suspect_that_was_shown(folder: Path, tmp_path: Path) -> None:
    database = copied(folder, tmp_path)
    day, late = "A strike. Calm.", "Dockers went back to work on 4 May 2026."
    title, hash = "News of 2026-01-02", digest(["News of 2026-01-02", late])
    known = digest([title, day])
    changed(
        database,
        f"UPDATE tool_result SET text = replace(text, '{day}', '{late}'),"
        f" sources = replace(sources, '{known}', '{hash}') WHERE tool = 'search'",
    )
    found = arena_json(tmp_path, "verify", "--all", "--database", "arena.db", status=1)
    told = {each["expected"] for each in found["differences"] if each["field"] == "withheld"}
    assert told == {f"a suspect, dated later by the words {late!r}"}


def copied(folder: Path, target: Path) -> Path:
    """A copy of the first record, whose results can be changed."""
    database = target / "arena.db"
    with closing(sqlite3.connect(folder / "first.db")) as source, closing(sqlite3.connect(database)) as copy:
        source.backup(copy)
        for action in ("update", "delete"):
            copy.execute(f"DROP TRIGGER tool_result_no_{action}")
        copy.commit()
    return database


def changed(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(statement)
        connection.commit()


def test_notes_are_memory_over_rounds_and_each_agents_own(folder: Path) -> None:
    notes = told(folder / "first.db", "notes")
    assert notes.count("there are no notes") == 2
    assert notes.count("kept for the rounds after this one") == 4
    assert notes.count("after 'there are no notes', m1 it is") == 2


def test_replayed_with_recorded_tools_it_has_the_same_hash(folder: Path, provider: FaultyProvider) -> None:
    (folder / "news").rename(folder / "gone")
    (folder / "news").mkdir()
    again = arena_json(folder, "replay", "spring", "--database", "again.db", "--tools", "recorded")
    first = arena_json(folder, "replay", "spring", "--database", "first.db")
    assert again["state_hash"] == first["state_hash"]
    assert first["new_turns"] == 0
    assert arena_json(folder, "verify", "--all", "--database", "again.db").items() >= AGREES.items()
    asked_anew = arena_json(folder, "replay", "spring", "--database", "live.db")
    assert asked_anew["state_hash"] != first["state_hash"], "there is no news any more"
    (folder / "news").rmdir()
    (folder / "gone").rename(folder / "news")


def test_an_export_has_it_all(folder: Path) -> None:
    arena_json(folder, "export", "all.zip", "--database", "first.db")
    arena_json(folder, "import", "all.zip", "--database", "copy.db")
    query = "SELECT agent, tool, request, text, hash FROM tool_result ORDER BY id"
    assert rows(folder / "copy.db", query) == rows(folder / "first.db", query)


@pytest.mark.parametrize(
    ("change", "table"),
    [
        ("UPDATE tool_result SET text = text || '.' WHERE tool = 'search'", "tool_result"),
        ("UPDATE tool_result SET tool = 'read' WHERE tool = 'book'", "tool_result"),
        ("DELETE FROM tool_result WHERE tool = 'search'", "call"),
    ],
)
def test_verify_finds_what_tools_did_not_tell(folder: Path, tmp_path: Path, change: str, table: str) -> None:
    changed(copied(folder, tmp_path), change)
    found = arena_json(tmp_path, "verify", "--all", "--database", "arena.db", status=1)
    assert table in {each["table"] for each in found["differences"]}


def test_budgets_hold_to_the_cent_and_what_was_paid_is_not_paid_again(
    folder: Path, tmp_path: Path, provider: FaultyProvider
) -> None:
    for name in ("spring", "news"):
        (tmp_path / name).symlink_to(folder / name)
    configured(tmp_path, provider, round="1.70")
    before = provider.requests["curious"]
    arena(tmp_path, "replay", "spring", "--database", "arena.db")
    spent = "SELECT round_id, sum(cost) FROM call GROUP BY round_id ORDER BY round_id"
    assert [cost for _, cost in rows(tmp_path / "arena.db", spent)] == [1_600_000, 1_600_000]
    assert provider.requests["curious"] - before == 16
