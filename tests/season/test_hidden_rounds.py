"""A cohort whose first rounds hide prices and forecasts: what is told, what is shown, and how it counts."""

import json
import math
import re
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from arena.scores.leaderboard import LEADERBOARD
from arena.scores.metaculus_scores import read_known
from tests.program.rehearsal import rows
from tests.program.running import AGREES, arena, arena_json, demo_config, loaded, simulated_config
from tests.provider.server import FaultyProvider, faulty
from tests.records.tampering import tamper
from tests.rows import forecasts_seen, read_only
from tests.season.test_desk import Guest, bets, desk
from tests.season.test_killed import check_ends_as_if_unbroken
from tests.season.test_tools import curious

PROGRAM = """
import json, sys
view = json.load(sys.stdin)
said = [{"market": one["market"], "options": {"yes": 0.371}} for one in view["markets"]]
bet = {"market": view["markets"][0]["market"], "option": "yes", "amount": 100}
json.dump({"version": 1, "forecasts": said, "bets": [bet]}, sys.stdout)
"""
HIDDEN = 2
REPEATERS = {"market", "crowd", "kelly", "favourite"}
FIGURE = re.compile(r"(?<![\d.,])0?\.\d+(?![\d.])")
"""A number between 0 and 1, as prompts and documents write prices and probabilities."""


def line_up(url: str) -> tuple[str, ...]:
    curious_model = (
        f'model: "openai/curious", base_url: "{url}", price: {{input: 0, output: 1}}, max_tokens: 200'
    )
    return (
        "{kind: market}",
        "{name: sharp, model: demo/sharp}",
        "{name: hasty, model: demo/hasty, prices: after}",
        f"{{name: tooled, {curious_model}, tools: [price_history, book, notes]}}",
        f"{{kind: command, name: prog, command: [{sys.executable}, -S, prog.py]}}",
        "{kind: crowd, of: [sharp, hasty]}",
        "{kind: kelly, of: sharp}",
        "{kind: constant}",
        "{kind: favourite}",
    )


def prepare(folder: Path, url: str, rounds: int = 4) -> None:
    """Write the config of a cohort with hidden rounds, and its program."""
    (folder / "prog.py").write_text(PROGRAM, "utf-8")
    simulated_config(folder, *line_up(url), show=6, cohorts=f"rounds: {rounds}, count: 1, hidden: {HIDDEN}")


PLAY = ("demo", "--headless", "--config", "config.yaml", "--database", "demo.db")


@pytest.fixture(scope="module")
def provider() -> Iterator[FaultyProvider]:
    with faulty() as server:
        server.script("curious", curious)
        yield server


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory, provider: FaultyProvider) -> Path:
    """Return the folder of a whole season."""
    folder = tmp_path_factory.mktemp("hidden")
    prepare(folder, provider.url)
    arena_json(folder, *PLAY)
    return folder


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory, provider: FaultyProvider) -> Path:
    """Return the folder of its first two rounds, in which the hidden period is not over."""
    folder = tmp_path_factory.mktemp("begun")
    prepare(folder, provider.url)
    arena_json(folder, *PLAY, "--rounds", str(HIDDEN))
    return folder


def figures(text: str) -> set[float]:
    return {float(found) for found in FIGURE.findall(text)}


def told_by_round(folder: Path) -> dict[tuple[str, int], str]:
    """Return all that each agent was told in each round: prompts, documents, the results of its tools."""
    told: dict[tuple[str, int], str] = defaultdict(str)
    calls = """SELECT e.name, r.number, c.messages FROM call c JOIN round r ON r.id = c.round_id
        JOIN entrant e ON e.id = c.entrant_id"""
    for name, number, text in rows(folder, calls, "demo.db"):
        told[name, number] += text
    results = "SELECT t.agent, r.number, t.text FROM tool_result t JOIN round r ON r.id = t.round_id"
    for name, number, text in rows(folder, results, "demo.db"):
        told[name or "tooled", number] += text
    return told


def prices_until(folder: Path, number: int) -> set[float]:
    """Return every price figure that the record has until a round."""
    query = f"""SELECT bid, ask, mid, last FROM quote
        WHERE at <= (SELECT at FROM round WHERE number = {number})"""
    return {price / 1e6 for row in rows(folder, query, "demo.db") for price in row if price is not None}


def stated_until(folder: Path, number: int) -> dict[str, set[float]]:
    """Return what each agent forecast until a round."""
    query = f"""SELECT e.name, f.probability FROM forecast f JOIN turn t ON t.id = f.turn_id
        JOIN round r ON r.id = t.round_id JOIN entrant e ON e.id = t.entrant_id WHERE r.number <= {number}"""
    stated: dict[str, set[float]] = defaultdict(set)
    for name, probability in rows(folder, query, "demo.db"):
        stated[name].add(probability / 1e6)
    return stated


def test_no_price_and_no_foreign_forecast_is_told_in_a_hidden_round(season: Path) -> None:
    """No figure of a price or of anyone else, in any prompt, document or tool; once shown, they are there."""
    templates = set[float]()
    for (text,) in rows(season, "SELECT text FROM prompt", "demo.db"):
        templates |= figures(text)
    fixed = templates | {0.1, 0.02, 0.371}
    told = told_by_round(season)
    assert {name for name, number in told if number <= HIDDEN} == {"sharp", "hasty", "tooled", "prog"}

    for (name, number), text in told.items():
        prices = prices_until(season, number)
        stated = stated_until(season, number)
        own = stated.pop(name, set())
        foreign = set[float]().union(*stated.values())
        found = figures(text) - fixed - own
        if number <= HIDDEN:
            assert not found & prices, (name, number)
            assert not found & foreign, (name, number)
        else:
            assert found & prices, (name, number)


def test_who_repeats_prices_or_forecasts_is_not_asked(season: Path) -> None:
    query = """SELECT e.name, r.number, t.status, t.note FROM turn t JOIN round r ON r.id = t.round_id
        JOIN entrant e ON e.id = t.entrant_id"""
    for name, number, status, note in rows(season, query, "demo.db"):
        is_out = status == "out"
        assert is_out == (name in REPEATERS and number <= HIDDEN), (name, number)
        assert ("which are hidden in this round" in note) == is_out


def test_nothing_is_traded_and_each_order_is_refused_with_the_reason(season: Path) -> None:
    fills = """SELECT DISTINCT r.number FROM fill f JOIN turn t ON t.id = f.turn_id
        JOIN round r ON r.id = t.round_id"""
    assert min(number for (number,) in rows(season, fills, "demo.db")) == HIDDEN + 1
    query = """SELECT r.number, j.message FROM rejection j JOIN turn t ON t.id = j.turn_id
        JOIN round r ON r.id = t.round_id JOIN entrant e ON e.id = t.entrant_id
        WHERE e.name = 'prog' AND j.code = 'hidden_round' ORDER BY r.number"""
    refused = rows(season, query, "demo.db")
    assert [number for number, _ in refused] == [1, 2]
    assert {words for _, words in refused} == {"prices are hidden in this round, and nothing is traded"}


def test_a_question_says_that_nothing_is_traded(season: Path) -> None:
    """In hidden rounds alone; so does the document of a program."""
    for (name, number), text in told_by_round(season).items():
        words = "Nothing is traded in it"
        if name == "prog":
            words = '"hidden":true'
        plain = text.replace("\\", "").replace('": ', '":')
        assert (words in plain) == (number <= HIDDEN), (name, number)


def test_tools_that_tell_prices_are_not_there(season: Path) -> None:
    query = """SELECT r.number, t.tool, t.text FROM tool_result t JOIN round r ON r.id = t.round_id"""
    answers = rows(season, query, "demo.db")
    for number, name, text in answers:
        if name in ("price_history", "book"):
            assert (text == f"there is no tool {name}: notes") == (number <= HIDDEN)
    assert {name for number, name, _ in answers if number <= HIDDEN} >= {"price_history", "book", "notes"}


def test_records_with_hidden_rounds_agree_with_themselves(begun: Path, season: Path) -> None:
    """Also by the referee, while forecasts are hidden and afterwards."""
    for folder in (begun, season):
        found = arena_json(folder, "admin", "verify", "--referee", "--database", "demo.db")
        assert found.items() >= AGREES.items()
        assert found["referee"] == []


DESK = """\
  - kind: market
  - {kind: outside, name: ann, wait: 2m}
"""


def test_the_desk_shows_no_price_and_fills_nothing(tmp_path: Path) -> None:
    path = demo_config(tmp_path, DESK, count=1, show=5)
    path.write_text(path.read_text("utf-8").replace("cohorts:\n", "cohorts:\n  hidden: 1\n"), "utf-8")
    key = arena_json(tmp_path, "outside", "desk", "--key", "ann")["key"]
    process, url = desk(tmp_path)
    ann = Guest(url, key)
    playing = loaded().start(tmp_path, "run", "--round")

    view = ann.turn()["view"]
    for market in view["markets"]:
        assert {market[name] for name in ("price", "bid", "ask", "last", "volume")} == {None}
        assert market["history"] == []
    preview = ann.send(bets(view, 0.4), preview=True)[1]
    assert preview["fills"] == []
    assert [one["code"] for one in preview["refused"]] == ["hidden_round"]

    assert ann.send(bets(view, 0.4))[1]["accepted"]
    playing.wait()
    [turn] = ann.ask("/v1/results")[1]["turns"]
    assert (turn["status"], turn["fills"]) == ("played", [])
    assert [one["code"] for one in turn["refused"]] == ["hidden_round"]
    process.signal(signal.SIGTERM)
    process.wait()


KILLED = """\
markets: {venue: simulator, show: 8, simulator: {start: 2026-01-04, weeks: 8, markets: 60, events: 20}}
cohorts: {rounds: 3, count: 1, hidden: 2, corrected_within: 8d}
agents:
  - kind: market
  - {name: sharp, model: demo/sharp, samples: 2}
  - {name: after, model: demo/hasty, prices: after}
  - {kind: crowd, of: [sharp, after]}
"""


def test_a_season_with_hidden_rounds_is_killed_and_resumed(tmp_path: Path) -> None:
    """It ends in the same state, and its tournament in the same prizes."""
    (tmp_path / "config.yaml").write_text(KILLED, "utf-8")
    check_ends_as_if_unbroken(tmp_path, ["--config", "config.yaml"], times=3, at_once=4)
    (tmp_path / "cup.yaml").write_text("cohort: 1\nform: 2022\npool: 1000\n", "utf-8")
    boards = [arena_json(tmp_path, "score", "cup.yaml", "--database", f"{x}.db") for x in ("whole", "killed")]
    assert boards[0] == boards[1]
    assert {row["forecaster"] for row in boards[0]["rows"]} >= {"sharp", "after"}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_changed_number_of_hidden_rounds_is_found(season: Path, tmp_path: Path, count: int) -> None:
    """Even by somebody who seals the frozen text anew: turns and heads contradict it."""
    copy = tmp_path / "copy.db"
    shutil.copy(season / "demo.db", copy)
    tamper(copy, f"UPDATE cohort SET frozen = replace(frozen, '\"hidden\":2', '\"hidden\":{count}')")
    found = arena_json(tmp_path, "admin", "verify", "--database", "copy.db", status=1)
    tables = {difference["table"] for difference in found["differences"]}
    assert "cohort" in tables
    assert tables & {"turn", "rejection", "fill", "forecast"}


def test_old_cohorts_freeze_as_before(season: Path, tmp_path: Path) -> None:
    """A cohort that hides nothing has no such key in its frozen text."""
    simulated_config(tmp_path, "{kind: constant}", cohorts="rounds: 1, count: 1, hidden: 0")
    arena_json(tmp_path, *PLAY)
    ((frozen,),) = rows(tmp_path, "SELECT frozen FROM cohort", "demo.db")
    assert "hidden" not in json.loads(frozen)
    ((frozen,),) = rows(season, "SELECT frozen FROM cohort", "demo.db")
    assert json.loads(frozen)["hidden"] == HIDDEN


def test_more_hidden_rounds_than_there_are_make_no_sense(tmp_path: Path) -> None:
    simulated_config(tmp_path, "{kind: constant}", cohorts="rounds: 2, count: 1, hidden: 3")
    done = arena(tmp_path, "check", "--json")
    assert done.returncode
    assert "cohorts.hidden" in done.stdout


def test_forecasts_are_nowhere_until_the_period_is_over(begun: Path, season: Path) -> None:
    """The board, agents, turns and the site; the record has them, and all show them afterwards."""
    stated = rows(begun, "SELECT count(*) FROM forecast", "demo.db")
    assert stated[0][0] > 0

    def shown(folder: Path) -> dict[str, Any]:
        board = arena_json(folder, "board", "--database", "demo.db")["leaderboard"]
        provisional = arena_json(folder, "board", "--provisional", "--database", "demo.db")["leaderboard"]
        turn = arena(folder, "show", "turn", "sharp", "--database", "demo.db", "--json")
        (folder / "cup.yaml").write_text("cohort: 1\nform: 2022\n", "utf-8")
        cup = arena(folder, "score", "cup.yaml", "--database", "demo.db", "--json")
        return {
            "board": sum(row["answered"] or 0 for row in board),
            "provisional": len(provisional),
            "turn": json.loads(turn.stdout).get("error", {}).get("code"),
            "cup": json.loads(cup.stdout).get("error", {}).get("code"),
        }

    assert shown(begun) == {"board": 0, "provisional": 0, "turn": "hidden_round", "cup": "hidden_round"}
    later = shown(season)
    assert later["board"] > 0
    assert (later["turn"], later["cup"]) == (None, None)

    reasons = {text for (text,) in rows(begun, "SELECT reason FROM forecast WHERE reason <> ''", "demo.db")}
    assert reasons
    for folder, is_shown in ((begun, False), (season, True)):
        arena_json(folder, "share", "site", "site", "--database", "demo.db")
        pages = "".join(path.read_text("utf-8") for path in sorted((folder / "site").rglob("*.html")))
        assert any(reason in pages for reason in reasons) == is_shown
        shutil.rmtree(folder / "site")


def test_what_was_computed_in_the_hidden_period_is_stale_after_it(begun: Path, tmp_path: Path) -> None:
    """No resolution came in between: the next round alone makes boards count what was hidden."""
    folder = Path(shutil.copytree(begun, tmp_path / "on"))
    with read_only(folder / "demo.db") as connection:
        assert LEADERBOARD.basis(connection).endswith("; 2 rounds are hidden")
    tamper(folder / "demo.db", "UPDATE round SET number = 3 WHERE number = 2")
    with read_only(folder / "demo.db") as connection:
        assert "hidden" not in LEADERBOARD.basis(connection)
        assert not LEADERBOARD.is_current(connection)


def takes_by_loops(folder: Path) -> dict[str, float]:
    """Return takes of the seed's tournament, market by market and span by span, from the record's columns."""
    with read_only(folder / "demo.db") as connection:
        columns = forecasts_seen(connection, 1)
        known = read_known(connection, columns)[columns.market]
    by_market: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(columns.outcome >= 0).tolist():
        by_market[int(columns.market[row])].append(row)
    shown_again = int(columns.at[columns.round > HIDDEN].min())

    scores: dict[str, float] = defaultdict(float)
    covered: dict[str, float] = defaultdict(float)
    for own in by_market.values():
        instants = sorted({int(columns.at[row]) for row in own})
        newest = next(row for row in own if columns.at[row] == instants[-1])
        scheduled = max(float(columns.closes[newest]), instants[0] + 1)
        ends = min(float(known[newest]), scheduled)
        until = scheduled if instants[0] >= shown_again else min(shown_again, scheduled)
        standing: dict[str, float] = {}
        cuts = sorted(
            {*instants, until, ends, scheduled} & {t for t in (*instants, until, ends) if t <= ends}
        )
        for at, following in pairwise([*cuts, ends]):
            for row in own:
                if columns.at[row] == at and columns.stated[row] and not columns.early[row]:
                    chance = min(max(columns.forecast[row] / 1_000_000, 0.001), 0.999)
                    standing[columns.agents[columns.agent[row]]] = (
                        chance if columns.outcome[row] == 1 else 1 - chance
                    )
            for agent, chance in standing.items():
                relative = math.log(chance) - math.log(median(standing.values()))
                scores[agent] += relative * (following - at) / (scheduled - instants[0])
                inside = max(min(following, until) - at, 0)
                covered[agent] += inside / (until - instants[0])
    return {agent: math.exp(scores[agent]) * covered[agent] / len(by_market) for agent in scores}


def test_take_and_prizes_of_a_cohort_are_those_of_its_file_and_of_the_seed(season: Path) -> None:
    (season / "cup.yaml").write_text("cohort: 1\nform: 2022\npool: 1000\n", "utf-8")
    words = ("--database", "demo.db", "score", "cup.yaml", "--entries", "cup.csv", "--force")
    of_cohort = arena_json(season, *words)
    (season / "file.yaml").write_text(
        "forecasts: cup.csv\nform: 2022\npool: 1000\nhidden_weight: 1\n", "utf-8"
    )
    of_file = arena_json(season, "score", "file.yaml")

    assert of_cohort["hidden_weight"] == of_file["hidden_weight"] == 1
    keys = ("score", "coverage", "take", "share", "prize", "questions", "rank")
    file_rows = {row["forecaster"]: row for row in of_file["rows"]}
    assert len(file_rows) == len(of_cohort["rows"]) == len(line_up(""))
    for row in of_cohort["rows"]:
        other = file_rows[row["forecaster"]]
        assert [row[key] for key in keys] == pytest.approx([other[key] for key in keys], rel=1e-12)

    takes = takes_by_loops(season)
    assert {row["forecaster"]: row["take"] for row in of_cohort["rows"]} == pytest.approx(takes)
    whole = sum(takes.values())
    prizes = {name: 1000 * take / whole for name, take in takes.items()}
    assert {row["forecaster"]: row["prize"] for row in of_cohort["rows"]} == pytest.approx(prizes)


def test_another_hidden_period_than_the_frozen_one_is_refused(season: Path) -> None:
    (season / "cup.yaml").write_text("cohort: 1\nform: 2022\nhidden: 3\n", "utf-8")
    done = arena(season, "--database", "demo.db", "score", "cup.yaml", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "other_hidden"
