"""`arena share site`: a site without a server, whose links all lead somewhere; what is as it was stays so."""

import json
import shutil
import signal
import subprocess
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from arena.errors import ArenaError
from arena.operations.page_programs import page_command, page_environment
from arena.scores.leaderboard import LeaderboardRow, percent_of_price
from arena.scores.verdict import AgentVerdict, Standing, Verdict
from dashboard.record import LeaderboardLine
from dashboard.site import contents, pages, shell
from dashboard.site.addresses import file_name
from dashboard.site.card import EDGE, FONT, card, font_of, wrapped
from dashboard.site.contents import line_badge
from dashboard.site.pages import SeasonSite
from dashboard.views import market
from dashboard.views.market import last_stated, read_market_history, read_market_page
from dashboard.words import flat
from tests.dashboard.records import shared
from tests.dashboard.sites import PublishedSite, hostile_site
from tests.program.running import arena
from tests.records.full_record import PROMPT, build
from tests.records.seasons import play, worked_out
from tests.rows import read_only

PLAYERS = ("{kind: market}", "{kind: oracle, noise: 0.1}")
ACTING = {"iframe", "object", "embed", "form", "base", "img", "video", "audio"}


@pytest.fixture(scope="module")
def site(season: Path, tmp_path_factory: pytest.TempPathFactory) -> PublishedSite:
    """Return the season's site, only to be read."""
    found = PublishedSite(tmp_path_factory.mktemp("published") / "site")
    found.publish(season)
    return found


@pytest.fixture
def copied(site: PublishedSite, tmp_path: Path) -> PublishedSite:
    """Return the same, to be changed."""
    return PublishedSite(Path(shutil.copytree(site.folder, tmp_path / "deep" / "down")))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record of agents that asked a model, with their prompts and its answers."""
    record = tmp_path_factory.mktemp("asked") / "record.db"
    build(record, weeks=2).close()
    return worked_out(record)


@pytest.mark.parametrize(
    "name", [pytest.param("big", marks=pytest.mark.thorough), "a_replay", "all_failed", "one_round"]
)
def test_every_link_leads_to_a_file_and_every_page_is_reached(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = PublishedSite(tmp_path / "site")
    told = site.publish(shared(name, tmp_path_factory))
    check_whole(site)
    assert told["files"] == len(site.files()) - 1, "beside the list of them"
    assert told["bytes"] == sum(map(len, site.files().values())) - len(site.files()["arena-site.json"])


def test_many_markets_stand_on_several_pages(
    first_round: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (contents, pages):
        monkeypatch.setattr(module, "PAGE_ROWS", 3)
    site = PublishedSite(tmp_path / "site")
    site.publish(first_round)
    check_whole(site)
    lists = [site.pages()[f"markets{place}.html"] for place in ("", "-2")]
    named = [[address for _, address in page.leads if address.startswith("markets/")] for page in lists]
    every = {path for path in site.pages() if path.startswith("markets/")}
    assert [len(some) for some in named] == [3, len(every) - 3]
    assert {address.partition("#")[0] for some in named for address in some} == every
    assert "markets-3.html" not in site.pages()


def check_whole(site: PublishedSite) -> None:
    looked, wrong = site.broken()
    assert wrong == []
    assert looked > len(site.pages()) * 7, "the bar, the look and the script of each"
    assert site.reached() == set(site.pages()) - {"404.html"}, (
        "that is shown by a server where there is nothing"
    )


def test_its_board_is_that_of_the_command(season: Path, site: PublishedSite) -> None:
    board = json.loads(arena(season.parent, "board", "--database", str(season), "--json").stdout)
    data = json.loads(site.files()["data.json"])
    for key in ("leaderboard", "sentence", "guarantee", "leader", "pairs", "noise"):
        assert data[key] == board[key], key
    text = site.pages()["index.html"].text
    assert any(row["skill"] for row in board["leaderboard"])
    for row in board["leaderboard"]:
        assert flat(row["agent"]) in text
        percent = percent_of_price(row["skill"], row["brier_market"])
        assert percent is None or f"{abs(percent):.1f}%" in text


def test_every_agent_has_a_badge(site: PublishedSite) -> None:
    for one in json.loads(site.files()["data.json"])["agents"]:
        badge = json.loads(site.files()[one["badge"]])
        assert set(badge) == {"schemaVersion", "label", "message", "color"}
        assert (badge["schemaVersion"], badge["label"]) == (1, one["agent"])
        assert badge["message"].endswith(", simulated")
        assert one["page"] in site.pages()


def a_line(told: AgentVerdict | None, **known: Any) -> LeaderboardLine:
    row: dict[str, Any] = dict.fromkeys(LeaderboardRow.__dataclass_fields__)
    row |= {"agent": "ann", "kind": "llm", "ranked": True, "price": "open"}
    return LeaderboardLine(LeaderboardRow(**row | known), verdict=told)


def told_of(better: int, worse: int, entries: int, price: Standing = "open") -> AgentVerdict:
    names = [f"rival{number}" for number in range(entries - 1)]
    others = tuple(names[:better]), tuple(names[better : better + worse]), tuple(names[better + worse :])
    return AgentVerdict("ann", 1 + worse, entries - better, entries, *others, None, price, "", "")


@pytest.mark.parametrize(
    ("line", "badge"),
    [
        (a_line(told_of(2, 0, 5)), ("better than 2 of 4", "brightgreen")),
        (a_line(told_of(0, 2, 5)), ("ranks 3–5 of 5", "blue")),
        (a_line(told_of(0, 0, 5)), ("too early", "lightgrey")),
        (a_line(told_of(0, 0, 1, "better")), ("better than the price", "blue")),
        (a_line(None, copies="market"), ("copies market", "lightgrey")),
        (
            a_line(None, ranked=False, why_not="12 of 15 turns failed"),
            ("not ranked: 12 of 15 turns failed", "lightgrey"),
        ),
        (a_line(None, kind="market", is_reference=True), ("the price itself", "lightgrey")),
        (a_line(None, kind="oracle", is_reference=True), ("a reference, not ranked", "lightgrey")),
        (None, ("no results yet", "lightgrey")),
    ],
)
def test_a_badge_says_what_is_told(line: LeaderboardLine | None, badge: tuple[str, str]) -> None:
    assert line_badge(line) == badge


def test_badges_before_there_are_results_say_so(first_round: Path, tmp_path: Path) -> None:
    site = PublishedSite(tmp_path / "site")
    site.publish(first_round)
    said = [json.loads(text)["message"] for path, text in site.files().items() if path.startswith("badges/")]
    assert said
    assert all("skill" not in message and "rank " not in message for message in said)


def test_links_to_it_show_what_it_is_and_its_address_is_remembered(
    season: Path, copied: PublishedSite
) -> None:
    files = copied.files()
    assert files["card.png"].startswith(b"\x89PNG")
    pictures = {card(Verdict(), [], stamp) for stamp in ("live", "simulated", "replay")}
    assert len(pictures) == 3, "it says what sort of season it is"
    assert files["arena-sans.woff2"].startswith(b"wOF2")
    assert b"SIL OPEN FONT LICENSE" in files["arena-sans.txt"]
    assert "sitemap.xml" not in files
    for path, page in copied.pages().items():
        assert "description" in {value for name, value in page.attributes if name == "name"}, path

    copied.publish(season, address="https://arena.example")
    again = copied.publish(season)
    assert (again["made"], again["written"]) == (0, 0)
    whole = copied.files()
    for path in copied.pages():
        assert f'<link rel="canonical" href="https://arena.example/{path}">'.encode() in whole[path]
        assert b'<meta property="og:image" content="https://arena.example/card.png">' in whole[path]
        listed = f"<loc>https://arena.example/{path}</loc>".encode() in whole["sitemap.xml"]
        assert listed == (path != "404.html")
    assert b'href="https://arena.example/index.html"' in whole["404.html"], "it is shown at any address"


def test_a_long_name_stays_within_the_picture() -> None:
    name = f"maker/{'m' * 90}"
    drawn = card(Verdict(f"{name} forecasts better than ann."), [a_line(None, agent=name)], "live")
    with Image.open(BytesIO(drawn)) as picture:
        right = picture.crop((1200 - EDGE + 1, 110, 1200, 630))
        first = picture.crop((EDGE, 120, EDGE + 100, 180))
    assert len(right.getcolors() or ()) == 1, "nothing is cut off at the edge"
    assert len(first.getcolors() or ()) > 1, "the sentence begins on the first line"
    whole = " ".join(f"agent-{number:02}" for number in range(40))
    *_, last = shown = wrapped(whole, font_of(52, bold=True))
    assert (len(shown), last[-1]) == (3, "…")
    assert whole.startswith(" ".join(shown).rstrip(" …")), "and what is cut off is said to be"
    assert wrapped("ann leads.", font_of(52)) == ["ann leads."]


def test_what_agents_said_of_a_market_is_whole_and_sorted_as_people_count(
    season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(market, "ROWS", 2)
    with read_only(season) as connection:
        site = SeasonSite(connection)
        [*parts] = pages.one_event(site, next(iter(site.events)), lambda way: None)
        place = read_market_page(connection, next(iter(site.events.values()))[0])
        assert place is not None
        history = read_market_history(connection, place.market.id, place.last_showing_cohort, place.rounds)
    assert "<meter" in "".join(parts)
    assert "lowest of" not in "".join(parts), "all of them are shown"
    said = tuple(replace(history.last_forecasts[0], agent=name) for name in ("v10", "v2"))
    assert [forecast.agent for forecast in last_stated(replace(history, last_forecasts=said))] == [
        "v2",
        "v10",
    ]


def test_whatever_a_site_is_drawn_with_is_in_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "PACKAGE", tmp_path)
    versions = {shell.drawn_by.__wrapped__()}
    for name in (shell.ICON, FONT, contents.FONT_LICENCE):
        (tmp_path / name).write_text("another", "utf-8")
        versions.add(shell.drawn_by.__wrapped__())
    assert len(versions) == 4


def test_what_did_not_change_is_neither_made_nor_written(season: Path, copied: PublishedSite) -> None:
    before = copied.files()
    again = copied.publish(season)
    assert (again["made"], again["written"], again["removed"]) == (0, 0, 0)
    assert copied.files() == before


def test_one_more_round_writes_what_it_changed_and_ends_as_from_nothing(tmp_path: Path) -> None:
    """Another site from nothing is the oracle: the pages that were not drawn again are equal to the byte."""
    grown = PublishedSite(tmp_path / "grown")
    fresh = PublishedSite(tmp_path / "fresh")
    record = play(tmp_path, PLAYERS, times=3)
    first = grown.publish(record)
    assert first["written"] == first["made"] == first["files"]
    play(tmp_path, PLAYERS, times=4)
    told = grown.publish(record)
    fresh.publish(record)
    assert 0 < told["written"] < told["files"]
    assert told["made"] < told["files"]
    assert first["files"] <= told["files"]
    assert grown.files() == fresh.files()


def test_by_hand_scores_are_brought_up_to_date_before_they_are_published(tmp_path: Path) -> None:
    worked_out(play(tmp_path, PLAYERS, times=3))
    record = play(tmp_path, PLAYERS, times=4)
    done = arena(tmp_path, "share", "site", "site", "--database", str(record))
    assert done.returncode == 0, done.stderr
    said = "".join(page.text for page in PublishedSite(tmp_path / "site").pages().values())
    assert "being computed" not in said


def test_what_no_longer_belongs_goes_and_what_is_not_ours_stays(
    copied: PublishedSite, first_round: Path
) -> None:
    for page in (copied.folder / "markets").iterdir():
        page.write_text("mine now")
    (copied.folder / "CNAME").write_text("arena.example.com")
    told = copied.publish(first_round)
    assert told["removed"] > 0
    assert (copied.folder / "CNAME").read_text() == "arena.example.com"
    mine = [page for page in (copied.folder / "markets").iterdir() if page.read_text() == "mine now"]
    assert mine, "what somebody has changed is theirs"
    for place in (*mine, copied.folder / "CNAME"):
        place.unlink()
    assert len(copied.files()) == told["files"] + 1


@pytest.mark.parametrize("there", ["file", "folder", "list", "nowhere"])
def test_a_folder_that_is_not_ours_is_refused_and_left_alone(
    there: str, season: Path, tmp_path: Path
) -> None:
    place = tmp_path / "site"
    if there == "file":
        place.write_text("mine")
    elif there == "nowhere":
        place = tmp_path / "no" / "site"
    else:
        place.mkdir()
        listed = {"arena_site": 1, "files": {"../demo.db": {"sha256": "", "bytes": 0, "state": ""}}}
        name = "index.html" if there == "folder" else "arena-site.json"
        (place / name).write_text(json.dumps(listed))
    before = [(path, path.read_bytes()) for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    with pytest.raises(ArenaError) as refused:
        PublishedSite(place).publish(season)
    assert refused.value.code == ("no_folder" if there == "nowhere" else "not_a_site")
    left = [path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path.name[0] != "."]
    assert [(path, path.read_bytes()) for path in left] == before


def test_an_empty_record_has_no_site(empty: Path, tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="no cohort yet"):
        PublishedSite(tmp_path / "site").publish(empty)
    assert not (tmp_path / "site" / "index.html").exists()


def test_killed_or_stopped_while_it_draws_the_old_site_stands_and_the_next_one_is_whole(
    site: PublishedSite, season: Path, first_round: Path, tmp_path: Path
) -> None:
    grown = PublishedSite(tmp_path / "site")
    grown.publish(first_round)
    before = grown.files()
    command = [*page_command("publish"), str(season), str(grown.folder)]
    pipe = subprocess.PIPE
    drawing = subprocess.Popen(
        command, env=page_environment(str(season)), stdout=pipe, stderr=pipe, text=True
    )
    assert drawing.stdout is not None
    assert sum(1 for _ in zip(range(40), drawing.stdout, strict=False)) == 40
    drawing.kill()
    drawing.communicate()
    assert drawing.returncode == -signal.SIGKILL
    assert shown(grown) == before

    def interrupt(done: int, of: int) -> None:
        if done == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grown.publish(season, told=interrupt)
    assert shown(grown) == before
    grown.publish(season)
    assert grown.files() == site.files()
    assert not (grown.folder / ".arena-site.new").exists()


def shown(site: PublishedSite) -> dict[str, bytes]:
    """Return what a host shows of it, without the unfinished files."""
    return {path: data for path, data in site.files().items() if not path.startswith(".arena-site.new")}


CONFIG = """
database: season.db
publish: {{directory: site, prompts: {prompts}}}
markets:
  venue: simulator
  show: 10
  closes_within: 60d
  min_volume: 0
  max_spread: 0.1
  simulator: {{start: 2026-01-04, weeks: 4, markets: 20, events: 10}}
cohorts: {{start: sun 00:00, decide: weekly, rounds: 1, count: 1}}
run:
  {{quotes: off, resolutions: off, marks: 1w, scores: 1w, catalogue: off, publish: 1w}}
agents: [{{kind: market}}, {{kind: constant}}]
"""


def test_arena_run_publishes_what_it_played(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(prompts="false"))
    done = arena(tmp_path, "run", "--json")
    assert done.returncode == 0, done.stderr
    site = PublishedSite(tmp_path / "site")
    found = json.loads(done.stdout)
    assert (found["rounds"], found["failed"]) == (1, 0)
    assert site.broken()[1] == []
    assert "ended" in site.pages()["cohorts/1.html"].text
    told = arena(tmp_path, "share", "site", "--json")
    assert json.loads(told.stdout)["written"] == 0, (
        "the command goes to the config's folder, and finds it current"
    )


def test_a_site_that_cannot_be_published_stops_no_round_and_is_an_incident(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(prompts="false"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.html").write_text("mine")
    done = json.loads(arena(tmp_path, "run", "--once", "--json").stdout)
    assert done["rounds"] == 1
    assert done["failed"] > 0
    found = json.loads(arena(tmp_path, "status", "--incidents", "--json").stdout)["incidents"]
    assert [one["kind"] for one in found if one["kind"].startswith("site")] == ["site_unpublished"]
    (tmp_path / "site" / "mine.html").unlink()
    assert PublishedSite(tmp_path / "site").publish(tmp_path / "season.db")["written"] > 0


def test_prompts_and_answers_are_shown_if_the_config_says_so(asked: Path, tmp_path: Path) -> None:
    config, plain, told = (tmp_path / name for name in ("config.yaml", "plain", "told"))
    config.write_text(CONFIG.format(prompts="true"))
    chosen = ("share", "site", str(told), "--database", str(asked), "--config", str(config))
    assert arena(tmp_path, *chosen).returncode == 0
    PublishedSite(plain).publish(asked)
    check_whole(PublishedSite(told))
    for said in ("Prompts and answers", ": answer", PROMPT):
        assert any(said in page.text for page in PublishedSite(told).pages().values()), said
        assert not any(said in page.text for page in PublishedSite(plain).pages().values()), said


def test_hostile_words_are_words_and_no_page_acts(tmp_path_factory: pytest.TempPathFactory) -> None:
    site = hostile_site(tmp_path_factory)
    _, wrong = site.broken()
    assert wrong == []
    for path, page in site.pages().items():
        assert not ACTING & set(page.tags), path
        assert page.tags.count("script") == 1
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        policy = next(value for name, value in page.attributes if value.startswith("default-src"))
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy


def test_no_path_is_in_it(season: Path, site: PublishedSite) -> None:
    whole = b"".join(site.files().values())
    assert str(season.parent).encode() not in whole
    assert f"{Path.home()}/".encode() not in whole


def test_files_are_named_so_that_every_host_takes_them() -> None:
    names = [
        *("ann", "Ann", "ANN", "a/b", "a:b", "a\\b", "..", ".", "con", "CON.x", "x" * 64, "X" * 64),
        *("ann-0123456789", "aux", "lpt1", "a.b", "a..b", "ä", "é", "e\u0301", "", " ", "a b", "a-", "-a"),
    ]
    files = [file_name(name) for name in names]
    assert len({file.casefold() for file in files}) == len(names)
    for file in files:
        assert file.isascii()
        assert file.lower() == file
        assert 0 < len(file) <= 80
        assert not {*'/\\:*?"<>|% '} & {*file}
        assert file.strip(".-") == file
        assert file.split(".")[0] not in ("con", "aux", "lpt1")


def test_a_site_can_be_moved_anywhere(copied: PublishedSite) -> None:
    check_whole(copied)
