"""Pages of questions that are not of yes or no, and of cohorts without money."""

import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.exports.method import method_text, read_method
from arena.operations.today import weekly_digest
from arena.scores.all_kinds import compute_all_kinds, read_season_board
from dashboard.html import columns_of_table, html_table
from dashboard.questions import answer_picture, answer_words, form_words
from dashboard.site.standings import gather, report_page
from dashboard.words import JOINER
from markets.distributions import Distribution, QuestionForm, distribution_of, form_of
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.dashboard.opening import Show, markup, tables, words
from tests.dashboard.test_palette import CSS
from tests.records.question_season import play
from tests.records.seasons import worked_out
from tests.records.tampering import tamper
from tests.rows import read_only, rows_in


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season of questions of all kinds in a cohort without money."""
    path = tmp_path_factory.mktemp("asked") / "record.db"
    play(path, rules=REALISTIC.model_copy(update={"money": False})).close()
    return worked_out(path)


def ended(record: Path, kind: str) -> tuple[str, str, str]:
    """Return the first ended question of a kind with several answers: its id, form and answer."""
    query = f"""SELECT page.market_id, page.form, resolution.answer FROM market_version AS page
        JOIN resolution USING (market_id) WHERE page.form LIKE '%"{kind}"%' AND resolution.answer <> ''
        AND page.market_id IN (SELECT market_id FROM forecast) ORDER BY page.market_id LIMIT 1"""
    [row] = rows_in(record, query)
    return row[0], row[1], row[2]


def last_answers(record: Path, market: str) -> dict[str, Distribution]:
    """Return what each agent answered last, by plain SQL."""
    query = f"""SELECT entrant.name, distribution FROM forecast JOIN turn ON turn.id = turn_id
        JOIN entrant ON entrant.id = entrant_id WHERE market_id = '{market}' AND stage = 'final'
        AND distribution <> '' ORDER BY turn.round_id"""
    return {name: distribution_of(text) for name, text in rows_in(record, query)}


def test_the_page_of_an_option_question_has_odds_and_every_answer(asked: Path, show: Show) -> None:
    market, text, answer = ended(asked, "multiple_choice")
    form = form_of(text)
    page = show("market", asked, market=market)
    answers, options = tables(page)[:2]
    assert list(options["option"]) == list(form.options)
    assert options.loc[options["happened"] == "yes", "option"].tolist() == [answer]

    said = last_answers(asked, market)
    shown = {row["agent"]: row for _, row in answers.iterrows()}
    assert set(shown) - {"market odds"} == set(said)
    for agent, distribution in said.items():
        for place, chance in enumerate(distribution.chances):
            assert shown[agent][f"option {place}"] == pytest.approx(chance / 10_000)
    assert "Over time" not in words(page)
    assert answer in words(page)


def test_answers_to_what_a_question_asked_before_are_not_among_those_of_now(
    asked: Path, tmp_path: Path, show: Show
) -> None:
    """An option came to it, or its kind changed, after it was answered."""
    market, text, _ = ended(asked, "multiple_choice")
    form = form_of(text)
    more = replace(form, options=(*form.options, "pink"), odds=())
    for changed in (more, QuestionForm("numeric", low="0", high="9")):
        copy = tmp_path / f"{changed.kind}.db"
        shutil.copy(asked, copy)
        tamper(
            copy,
            f"UPDATE market_version SET form = '{changed.text}' WHERE market_id = '{market}'",
            f"DELETE FROM resolution WHERE market_id = '{market}'",
        )
        page = show("market", copy, market=market)
        assert form_words(changed) in "".join(markup(page))
        assert not [table for table in tables(page) if "agent" in table and "picture" in table]


@pytest.mark.parametrize("kind", ["numeric", "date"])
def test_the_page_of_a_range_has_every_agents_quantiles(kind: str, asked: Path, show: Show) -> None:
    market, text, answer = ended(asked, kind)
    page = show("market", asked, market=market)
    [answers] = [table for table in tables(page) if "agent" in table and "picture" in table]
    said = last_answers(asked, market)
    shown = {row["agent"]: row for _, row in answers.iterrows()}
    assert set(shown) == set(said)
    for agent, distribution in said.items():
        for share, value in distribution.quantiles:
            assert str(shown[agent][f"below {share}"]) == value
    assert form_words(form_of(text)) in "".join(markup(page))
    assert answer in words(page).replace("\\", "")


def test_the_list_of_markets_says_what_questions_came_to(asked: Path, show: Show) -> None:
    status = {row["question"]: row["status"] for _, row in tables(show("markets", asked))[0].iterrows()}
    for market, _, answer in (ended(asked, kind) for kind in ("multiple_choice", "numeric", "date")):
        [(question,)] = rows_in(asked, f"SELECT question FROM market_version WHERE market_id = '{market}'")
        assert status[question] == answer


def test_the_list_of_markets_has_no_probability_of_other_kinds(asked: Path, show: Show) -> None:
    listed = tables(show("markets", asked))[0]
    of_yes_or_no = listed["price"].notna()
    assert listed.loc[of_yes_or_no, "median"].notna().any()
    assert listed.loc[~of_yes_or_no, ["median", "spread"]].isna().all(axis=None)


def test_a_turn_shows_its_answers_apart_from_its_probabilities(asked: Path, show: Show) -> None:
    page = show("turn", asked, cohort="1", round="1", agent="ann")
    [answers] = [table for table in tables(page) if "said" in table]
    query = """SELECT count(*) FROM forecast JOIN turn ON turn.id = turn_id
        JOIN entrant ON entrant.id = entrant_id JOIN round ON round.id = turn.round_id
        WHERE number = 1 AND name = 'ann' AND distribution <> ''"""
    [(count,)] = rows_in(asked, query)
    assert len(answers) == answers["said"].notna().sum() == count
    [chances] = [table for table in tables(page) if "final" in table]
    assert set(chances["question"]).isdisjoint(answers["question"])


def test_an_agents_page_lists_its_answers(asked: Path, show: Show) -> None:
    page = show("agent", asked, agent="ann", part="forecasts")
    [answers] = [table for table in tables(page) if "said" in table]
    assert len(answers) == 50
    assert answers["picture"].notna().all()
    query = """SELECT cohort.number, round.number, round.at FROM round
        JOIN cohort ON cohort.id = cohort_id ORDER BY round.at DESC LIMIT 1"""
    [(cohort, number, at)] = rows_in(asked, query)
    newest = answers.iloc[0]
    assert (newest["cohort"], newest["round"], newest["at"].isoformat()[:16]) == (cohort, number, at[:16])


@pytest.mark.parametrize(
    ("view", "address"),
    [
        ("arena", {}),
        ("arena", {"cohort": "1"}),
        ("cohort", {"cohort": "1"}),
        ("agent", {}),
        ("agent", {"part": "forecasts"}),
        ("agent", {"cohort": "1"}),
    ],
)
def test_without_money_nothing_is_said_of_money(
    view: str, address: dict[str, str], asked: Path, show: Show
) -> None:
    page = show(view, asked, **({"agent": "ann"} if view == "agent" else {}), **address)
    text = "".join(markup(page)) + words(page)
    assert "P/L" not in text
    assert "Equity" not in text
    assert "bet" not in text.replace("a bet on its skill", "").casefold().split()
    for said in ("profit", "no return", "open position", "staked"):
        assert said not in text.casefold()
    for table in tables(page):
        assert not {"pnl", "return_pct", "equity", "invested", "win_rate"} & set(table)


def test_the_home_page_has_the_board_of_all_kinds(asked: Path, show: Show) -> None:
    with read_only(asked) as connection:
        found = compute_all_kinds(connection)
    shown = tables(show("arena", asked))
    boards = [table for table in shown if {"brier", "questions"} <= set(table)]
    expected = {row.forecaster: row.brier for row in found.report.rows}
    figures = {row["agent"].lstrip("1–234"): row["brier"] for board in boards for _, row in board.iterrows()}
    assert figures == pytest.approx(expected, abs=1e-4)
    [kinds] = [table for table in shown if "distance" in table and "kind" in table]
    assert len(kinds) == len(found.kinds)


def test_where_nobody_bets_an_agent_has_no_calibration_of_bets(asked: Path, show: Show) -> None:
    assert "Calibration of its bets" not in words(show("agent", asked, agent="ann", part="forecasts"))


@pytest.mark.parametrize("view", ["arena", "cohort"])
def test_where_nobody_bets_that_board_stands_alone(view: str, asked: Path, show: Show) -> None:
    page = show(view, asked)
    others = [table for table in tables(page) if "agent" in table and "kind" not in table]
    assert not any("closer" in table or "answered" in table for table in others)
    boards = [table for table in others if "questions" in table]
    assert boards
    assert all(board["cost_usd"].notna().all() for board in boards)


def test_where_nobody_bets_a_cohort_says_how_many_of_its_questions_have_ended(
    asked: Path, show: Show
) -> None:
    query = """SELECT count(DISTINCT resolution.market_id) FROM resolution
        JOIN snapshot_item USING (market_id) JOIN round USING (snapshot_id)"""
    [(ended_questions,)] = rows_in(asked, query)
    assert f"{ended_questions} ended" in "".join(markup(show("arena", asked)))


def test_every_page_has_the_verdict_on_all_kinds_of_questions(tmp_path: Path, show: Show) -> None:
    """Those of yes or no are too few to tell ann and cid apart, all kinds together are not."""
    path = tmp_path / "record.db"
    settings = {name: {"model": f"lab/{name}"} for name in ("ann", "bob", "cid")}
    play(path, size=60, settings=settings).close()
    with read_only(worked_out(path)) as connection:
        found = compute_all_kinds(connection).report.verdict
        report = report_page(gather(connection, None), NOW)
        method = method_text(read_method(connection))
        digest = weekly_digest(NOW, [], read_season_board(connection))
    assert found is not None
    own = found.of("ann")
    assert own is not None
    assert own.better_than == ("cid",)

    page = show("agent", path, agent="ann")
    assert own.sentence in words(page).replace("\\", "").replace(JOINER, "")
    assert f"ranks {own.rank_text} of 3" in "".join(markup(page))
    assert found.sentence in report
    assert found.sentence in method
    assert found.sentence in digest.text
    board = next(table for table in tables(show("leaderboard", path)) if "better" in table)
    assert dict(zip(board["agent"], board["better"], strict=True)) == {
        "ann": "1 of 2",
        "bob": "1 of 2",
        "cid": "0 of 2",
    }
    duel = CliRunner().invoke(app, ["board", "ann", "cid", "--database", str(path)])
    assert "ann forecasts better than cid since" in duel.stdout


def test_a_cohort_in_which_enough_has_resolved_is_not_called_provisional(asked: Path, show: Show) -> None:
    """Nobody has ranks in a single cohort, however much has resolved."""
    page = "".join(markup(show("cohort", asked, cohort="1")))
    assert "Questions of all kinds" in page
    assert "nothing is ranked before" not in page


def test_answers_are_read_as_finely_as_their_range() -> None:
    given = Distribution(quantiles=((100_000, "1.234567"), (500_000, "5"), (900_000, "7.25")))
    assert answer_words(NUMBER, given.text) == "5 (80%: 1.23 to 7.25)"
    year = QuestionForm("date", low="2026-01-01", high="2026-12-31")
    instants = ((100_000, "2026-02-01"), (500_000, "2026-03-01T12:00:00Z"), (900_000, "2026-04-01"))
    given = Distribution(quantiles=instants)
    assert answer_words(year, given.text) == "2026-03-01 (80%: 2026-02-01 to 2026-04-01)"


def test_before_enough_has_resolved_nobody_has_a_rank(tmp_path: Path, show: Show) -> None:
    path = tmp_path / "record.db"
    play(path, size=6, rules=REALISTIC.model_copy(update={"money": False})).close()
    page = "".join(markup(show("arena", worked_out(path))))
    assert "Questions of all kinds" in page
    assert 'class="rank"' not in page
    assert "nothing is ranked before" in "".join(markup(show("cohort", path, cohort="1")))


OPTIONS = QuestionForm("multiple_choice", ("a", "b"))
NUMBER = QuestionForm("numeric", low="0", high="10", open_high=True)


@pytest.mark.parametrize(
    ("form", "answer", "outcome"),
    [
        (OPTIONS, Distribution((250_000, 750_000)), "b"),
        (NUMBER, Distribution(quantiles=((100_000, "2"), (500_000, "5"), (900_000, "14"))), "99"),
        (NUMBER, Distribution(quantiles=((100_000, "2"), (500_000, "2"), (900_000, "2"))), ""),
    ],
)
def test_a_picture_stays_within_its_cell_and_marks_what_happened(
    form: QuestionForm, answer: Distribution, outcome: str
) -> None:
    svg = ET.fromstring(answer_picture(form, answer.text, "c1", outcome))
    marks = [circle for circle in svg.iter("circle") if "ink" in circle.get("class", "")]
    assert len(marks) == bool(outcome)
    for rect in svg.iter("rect"):
        left = float(rect.get("x", ""))
        width = float(rect.get("width", ""))
        assert left >= 0
        assert left + width <= 132
        assert 0 <= float(rect.get("y", "")) + float(rect.get("height", "")) <= 26


def test_no_line_ends_inside_a_date_of_an_answer_in_words() -> None:
    columns = columns_of_table("answers of an agent")
    said = "2026-03-01 (80%: 2026-02-01 to 2026-04-01)"
    shown = html_table([{"question": "When?", "said": said}], columns, "Answers")
    assert shown.count('<span class="date">2026-') == 3
    assert ".date { white-space: nowrap }" in CSS
