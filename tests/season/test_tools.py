"""Models that look things up: what tools tell is kept, guarded, the same for all, and replayed."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from agents.model import Message
from agents.steps import step_message
from dashboard.site.write import publish_site
from dashboard.views.cohort import read_cohort_page
from markets.hashes import digest
from tests.bundles import simulated
from tests.program.rehearsal import rows as record_rows
from tests.program.running import AGREES, arena, arena_json, loaded
from tests.provider.replies import GOOD, USAGE, Asked, completion, says
from tests.provider.server import FaultyProvider, faulty
from tests.rows import read_only, rows_in
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
    """Return a request for tools, with ids that never repeat."""
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
    """Search, read the first result, look at prices and notes, write a note, and bet."""
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
    """Play a replay with tools into `first.db`; the article of the 20th came after its first round."""
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
    arena_json(folder, "study", "replay", "spring", "--database", "first.db")
    return folder


def configured(folder: Path, provider: FaultyProvider, round_budget: str = "100") -> None:
    model = MODEL.format(name="curious", url=provider.url)
    text = CONFIG.format(model=model, round=round_budget, database="first.db")
    (folder / "config.yaml").write_text(text, "utf-8")


def told(database: Path, tool: str) -> list[str]:
    query = f"SELECT text FROM tool_result WHERE tool = '{tool}' ORDER BY id"
    return [text for (text,) in rows_in(database, query)]


def test_a_model_searches_reads_notes_and_bets_and_the_record_agrees(folder: Path) -> None:
    record = folder / "first.db"
    statuses = rows_in(record, "SELECT DISTINCT status FROM turn")
    assert statuses == [("played",)]
    assert rows_in(record, "SELECT count(*) FROM fill")[0][0] > 0
    counts = dict(rows_in(record, "SELECT tool, count(*) FROM tool_result GROUP BY tool"))
    rounds = rows_in(record, "SELECT count(*) FROM round WHERE done = 1")[0][0]
    assert rounds == 2
    assert counts == {"search": 2, "read": 2, "price_history": 2, "book": 2, "notes": 8, "nonsense": 4}
    assert arena_json(folder, "admin", "verify", "--all", "--database", "first.db").items() >= AGREES.items()


def test_what_came_later_and_what_tells_odds_is_withheld(folder: Path) -> None:
    query = "SELECT text, sources, withheld FROM tool_result WHERE tool = 'search' ORDER BY id"
    found = rows_in(folder / "first.db", query)
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
    searched = told(folder / "first.db", "search")[1]
    read = told(folder / "first.db", "read")[1]
    assert ("x" * 3_000 in searched, "x" * 3_000 in read) == (False, True)


def test_a_cohort_tells_the_share_of_suspects(folder: Path) -> None:
    words = "suspect (2 dated later, 2 odds); 0 were shown."
    audit = arena_json(folder, "show", "cohort", "1", "--database", "first.db")["audit"]
    assert (audit["suspects"], audit["shown"], audit["verdicts"]) == (4, 0, {"dated later": 2, "odds": 2})
    assert audit["share"] == 4 / audit["texts"]
    assert words in audit["words"]
    assert words in " ".join(arena(folder, "show", "cohort", "1", "--database", "first.db").stdout.split())
    arena(folder, "share", "report", "--method", "-o", "method.md", "--database", "first.db")
    assert words in (folder / "method.md").read_text("utf-8")
    with read_only(folder / "first.db") as connection:
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
    found = arena_json(tmp_path, "admin", "verify", "--all", "--database", "arena.db", status=1)
    told = {each["expected"] for each in found["differences"] if each["field"] == "withheld"}
    assert words in told


def test_verify_finds_a_suspect_that_was_shown(folder: Path, tmp_path: Path) -> None:
    database = copied(folder, tmp_path)
    day, late = "A strike. Calm.", "Dockers went back to work on 4 May 2026."
    title = "News of 2026-01-02"
    article_hash = digest(["News of 2026-01-02", late])
    known = digest([title, day])
    changed(
        database,
        f"UPDATE tool_result SET text = replace(text, '{day}', '{late}'),"
        f" sources = replace(sources, '{known}', '{article_hash}') WHERE tool = 'search'",
    )
    found = arena_json(tmp_path, "admin", "verify", "--all", "--database", "arena.db", status=1)
    told = {each["expected"] for each in found["differences"] if each["field"] == "withheld"}
    assert told == {f"a suspect, dated later by the words {late!r}"}


def copied(folder: Path, target: Path) -> Path:
    """Return a copy of the first record, whose results can be changed."""
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
    again = arena_json(folder, "study", "replay", "spring", "--database", "again.db", "--tools", "recorded")
    first = arena_json(folder, "study", "replay", "spring", "--database", "first.db")
    assert again["state_hash"] == first["state_hash"]
    assert first["new_turns"] == 0
    assert arena_json(folder, "admin", "verify", "--all", "--database", "again.db").items() >= AGREES.items()
    asked_anew = arena_json(folder, "study", "replay", "spring", "--database", "live.db")
    assert asked_anew["state_hash"] != first["state_hash"], "there is no news any more"
    (folder / "news").rmdir()
    (folder / "gone").rename(folder / "news")


def test_an_export_has_it_all(folder: Path) -> None:
    arena_json(folder, "share", "export", "all.zip", "--database", "first.db")
    arena_json(folder, "admin", "restore", "all.zip", "--database", "copy.db")
    query = "SELECT agent, tool, request, text, hash FROM tool_result ORDER BY id"
    assert rows_in(folder / "copy.db", query) == rows_in(folder / "first.db", query)


def guesses(asked: Asked) -> Reply:
    """State 0.5 on all markets if there are tools, after using one, and 0.7 otherwise."""
    tools = "tools" in asked.body
    if tools and asked.body["messages"][-1]["role"] != "tool":
        return uses(asked, ("search", {"query": "the strike"}))
    said = [{"market": f"m{n}", "probability": 0.5 if tools else 0.7} for n in range(1, 21)]
    return says(json.dumps({"forecasts": said, "bets": [], "sales": []}))


def test_the_board_says_who_had_tools_and_a_duel_what_they_bought(
    tmp_path: Path, folder: Path, provider: FaultyProvider
) -> None:
    provider.script("guesses", guesses)
    simulated(tmp_path / "spring", markets=40, events=30)
    (tmp_path / "news").symlink_to(folder / "news")
    model = MODEL.format(name="guesses", url=provider.url)
    text = CONFIG.format(model=model, round="100", database="arena.db").replace("show: 4", "show: 20")
    text = text.partition("  - {name: two")[0].replace("rounds: 2", "rounds: 3")
    text += f"  - {{name: two, {model}}}\n"
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    arena_json(tmp_path, "study", "replay", "spring", "--database", "arena.db")

    rows = {row["agent"]: row for row in arena_json(tmp_path, "board")["leaderboard"]}
    assert [rows[name]["tools"][:2] for name in ("one", "two", "market")] == [["search", "read"], [], []]
    board = " ".join(arena(tmp_path, "board").stdout.split())
    assert "Tools: search, read, price_history, book, notes (one)." in board
    with read_only(tmp_path / "arena.db") as connection:
        publish_site(connection, tmp_path / "site", False, lambda _done, _of: None)
    assert (tmp_path / "site" / "index.html").read_text("utf-8").count("guesses · own server · tools") == 1
    published = json.loads((tmp_path / "site" / "data.json").read_text("utf-8"))["leaderboard"]
    assert {row["agent"]: row["tools"] for row in published} == {name: rows[name]["tools"] for name in rows}
    data = arena_json(tmp_path, "board", "two", "one")
    found = data["spending"]
    dollars = ("requests", "steps_usd", "sources_usd", "answers_usd", "usd")
    assert [found["b"][name] for name in dollars] == pytest.approx([3, 0.6, 0, 0.6, 1.2])
    assert [found["a"][name] for name in dollars] == pytest.approx([0, 0, 0, 0.6, 0.6])
    assert (found["tools_only"], found["buyer"]) == (True, "one")
    assert found["b"]["skill_per_dollar"] == pytest.approx(rows["one"]["skill"] / 1.2)
    assert found["gain"] == -data["gap"]
    assert found["gain_per_dollar"] == pytest.approx(-data["gap"] / 0.6)
    gain = f"{found['gain']:+.4f}"
    each = f"{found['gain_per_dollar']:+.4f}"
    tools = "search, read, price_history, book, notes"
    assert arena(tmp_path, "board", "one", "two").stdout.splitlines()[-3:] == [
        "Cost: one $1.20 (3 requests for tools $0.60, answers $0.60); two $0.60.",
        f"Skill per dollar: one {rows['one']['skill'] / 1.2:+.4f}; two {rows['two']['skill'] / 0.6:+.4f}.",
        f"They differ in tools alone: one has {tools}; its skill is {gain} for $0.60 more: {each} a dollar.",
    ]


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
    found = arena_json(tmp_path, "admin", "verify", "--all", "--database", "arena.db", status=1)
    assert table in {each["table"] for each in found["differences"]}


def test_budgets_hold_to_the_cent_and_what_was_paid_is_not_paid_again(
    folder: Path, tmp_path: Path, provider: FaultyProvider
) -> None:
    for name in ("spring", "news"):
        (tmp_path / name).symlink_to(folder / name)
    configured(tmp_path, provider, round_budget="1.70")
    before = provider.requests["curious"]
    arena(tmp_path, "study", "replay", "spring", "--database", "arena.db")
    spent = "SELECT round_id, sum(cost) FROM call GROUP BY round_id ORDER BY round_id"
    assert [cost for _, cost in rows_in(tmp_path / "arena.db", spent)] == [1_600_000, 1_600_000]
    assert provider.requests["curious"] - before == 16


ANSWERED = "SELECT count(*), sum(cost) FROM call WHERE error_code IS NULL"
LOST = "SELECT coalesce(sum(worst), 0) FROM reservation"


def held(database: Path) -> tuple[int, int]:
    """Return the answered calls, and the sums reserved for calls and for those that were lost."""
    [(answered, cost)], [(lost,)] = rows_in(database, ANSWERED), rows_in(database, LOST)
    return answered, (cost or 0) + lost


def conversations(database: Path) -> set[str]:
    """Return the questions whose answers are in a record, as the provider was asked them."""
    found = rows_in(database, "SELECT messages, seed FROM call WHERE error_code IS NULL")
    return {
        json.dumps([[step_message(one) or {"role": one.role, "content": one.content} for one in said], seed])
        for messages, seed in found
        for said in [[Message(**each) for each in json.loads(messages)]]
    }


def test_killed_between_steps_it_goes_on_where_it_was(
    folder: Path, provider: FaultyProvider, thorough: bool
) -> None:
    """In the middle of conversations, a step or two later each time; what was answered is asked no more."""
    database = folder / "killed.db"
    words = ("study", "replay", "spring", "--database", "killed.db")
    whole = arena_json(folder, "study", "replay", "spring", "--database", "first.db")
    hung = list[Asked]()
    kills = (1, 3, 4, 6, 7) if thorough else (1, 4, 7)
    first = len(provider.log)
    for step in kills:
        known = conversations(database) if database.exists() else set()
        begun = len(provider.log)

        def hangs(asked: Asked, last: int = begun + step) -> Reply:
            if len(provider.log) < last:
                return curious(asked)
            hung.append(asked)
            return replace(curious(asked), after=60.0)

        provider.script("curious", hangs)
        run = loaded().start(folder, *words)
        both = len(hung) + 2
        idle = 0
        asked = begun
        while run.runs and len(hung) < both and idle < 100:  # the other may have ended before
            sleep(0.01)
            idle = idle + 1 if len(hung) == both - 1 and len(provider.log) == asked else 0
            asked = len(provider.log)
        assert run.runs, run.said()
        run.kill()
        assert not known & {said(asked) for asked in provider.log[begun:]}
    known = conversations(database)
    begun = len(provider.log)
    assert any('"tool"' in question for question in known), "it was killed in mid-conversation"
    provider.script("curious", curious)
    resumed = arena_json(folder, *words)
    assert not known & {said(asked) for asked in provider.log[begun:]}
    assert (resumed["state_hash"], resumed["calls"]) == (whole["state_hash"], whole["calls"])
    assert rows_in(database, TOLD) == rows_in(folder / "first.db", TOLD), "the shelf serves what it told"
    answered, spent = held(database)
    charged = 200_000 * (len(provider.log) - first)
    assert answered == whole["calls"]
    assert charged <= spent <= 200_000 * (answered + 2 * len(kills)), (
        "what was lost counts, and nothing twice"
    )
    assert arena_json(folder, "admin", "verify", "--all", "--database", "killed.db").items() >= AGREES.items()


TOLD = (
    "SELECT round_id, agent, tool, request, text, sources, withheld FROM tool_result ORDER BY round_id, key"
)


def said(asked: Asked) -> str:
    return json.dumps([asked.body["messages"], asked.body["seed"]])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_in_two_processes_at_once_budgets_hold_to_the_cent(
    folder: Path, tmp_path: Path, provider: FaultyProvider, kind: str, request: pytest.FixtureRequest
) -> None:
    """Two cohorts are due, of which each process plays one; eight and a half calls are eight."""
    database = "arena.db" if kind == "sqlite" else request.getfixturevalue("new_server_record")()
    (tmp_path / "news").symlink_to(folder / "news")
    model = MODEL.format(name="curious", url=provider.url)
    begun = len(provider.log)
    file = tmp_path / "config.yaml"

    def configure(dollars: str) -> None:
        text = CONFIG.format(model=model, round="100", database=database).replace("count: 1", "count: 2")
        file.write_text(text.replace("{round: 100}", f"{{arena: {dollars}}}"), "utf-8")

    configure("0.10")
    arena(tmp_path, "run", "--round")
    assert len(provider.log) == begun, "nobody could be asked"
    configure("1.70")
    provider.script("curious", lambda asked: replace(curious(asked), after=0.3))
    processes = [loaded().start(tmp_path, "run", "--round", "--at", "2026-01-11T00:00Z") for _ in range(2)]
    assert {process.wait() for process in processes} == {2}, "budgets stop somebody"
    provider.script("curious", curious)
    assert len(provider.log) - begun == 8
    [(answered, cost)] = record_rows(tmp_path, ANSWERED, database)
    [(lost,)] = record_rows(tmp_path, LOST, database)
    assert (answered, int(cost), int(lost)) == (8, 1_600_000, 0)
    [(holders,)] = record_rows(tmp_path, "SELECT count(DISTINCT holder) FROM claim", database)
    assert holders >= 2
    assert arena_json(tmp_path, "admin", "verify", "--all").items() >= AGREES.items()
