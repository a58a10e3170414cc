"""A good config means what it says; a bad one is told file, line, key, what was found and what is meant."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model_table.cost import price_of
from arena.config import Config, ConfigError, ConfigErrors, load
from markets.millionths import ONE
from portfolio.rules import NAMED, REALISTIC, SEED
from tests.arena.config_files import SMALL, mistakes, told, write

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_the_card_plays_three_models_on_polymarket_by_either_of_two_rules(tmp_path: Path) -> None:
    config = load(ROOT / "config.yaml")
    assert [agent.name for agent in config.agents] == [
        "claude",
        "gpt",
        "gemini",
        "crowd",
        "market",
        "constant",
    ]
    assert (config.markets.venue, str(config.cohorts.decide)) == ("polymarket", "weekly")
    assert config.cohorts.rules == REALISTIC
    assert all(price_of(agent.model) for agent in config.agents if agent.model)
    text = (ROOT / "config.yaml").read_text("utf-8")
    other = text.replace("  rules: realistic", "  # rules: realistic").replace(
        "  # rules: seed", "  rules: seed"
    )
    assert load(write(tmp_path, other)).cohorts.rules == SEED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_rules_may_be_named(tmp_path: Path, name: str) -> None:
    assert load(write(tmp_path, SMALL.replace("rounds: 5", f"rules: {name}"))).cohorts.rules == NAMED[name]


def test_rules_may_start_from_a_name_and_change_values(tmp_path: Path) -> None:
    block = "rules: {from: replay, max_bet: 0.2, min_bet: 10, max_quote_age: 2d}"
    rules = load(write(tmp_path, SMALL.replace("rounds: 5", block))).cohorts.rules
    changes = {"max_bet": 200_000, "min_bet": 10 * ONE, "max_quote_age": 172_800, "name": "replay, changed"}
    assert rules == NAMED["replay"].model_copy(update=changes)


def test_a_database_is_a_path_from_the_config_on_or_a_url(tmp_path: Path) -> None:
    folder = tmp_path / "some where"
    assert load(write(folder, "database: a/b.db\n" + SMALL)).database == str(folder / "a/b.db")
    url = "postgresql+psycopg://arena@db.example/arena"
    assert load(write(folder, f"database: {url}\n" + SMALL)).database == url


def test_cohorts_start_at_the_first_start_of_the_week_after_the_world_begins(tmp_path: Path) -> None:
    def first(cohorts: str, simulator: str = "{}") -> str:
        text = SMALL.replace("simulator", f"simulator\n  simulator: {simulator}")
        path = write(tmp_path, text.replace("rounds: 5", cohorts))
        return load(path).first_start(NOW).isoformat()

    assert first("rounds: 5") == "2026-01-04T00:00:00+00:00"
    assert first("start: MON 09:30") == "2026-01-05T09:30:00+00:00"
    assert first("rounds: 5", "{start: 2026-02-02}") == "2026-02-08T00:00:00+00:00"
    assert first("first: 2026-05-03", "{start: 2026-02-02}") == "2026-05-03T00:00:00+00:00"
    assert first("start: sat 23:59\n  first: 2026-05-03") == "2026-05-09T23:59:00+00:00"


def test_a_cohort_may_be_given_as_long_as_it_decides(tmp_path: Path) -> None:
    def rounds(text: str) -> int:
        return load(write(tmp_path, SMALL.replace("rounds: 5", text))).cohorts.rounds

    assert [rounds(f"rounds: {text}") for text in ("5 weeks", "35d", "5")] == [5, 5, 5]
    assert rounds("decide: every 6 hours\n  rounds: 2 days") == 8
    assert rounds("decide: daily at 12:00\n  rounds: 5 weeks") == 35


def test_the_simulated_world_has_the_seed_of_the_arena(tmp_path: Path) -> None:
    config = load(write(tmp_path, "seed: 7\n" + SMALL))
    assert config.venue_settings.model_dump()["seed"] == 7
    other = config.with_seed(9)
    assert (other.seed, other.venue_settings.model_dump()["seed"]) == (9, 9)


def test_heads_go_to_a_file_or_to_a_program(tmp_path: Path) -> None:
    def heads(value: str) -> object:
        return load(write(tmp_path, f"{SMALL}heads: {value}\n")).heads

    assert load(write(tmp_path, SMALL)).heads is None
    assert heads("kept/heads.jsonl") == "kept/heads.jsonl"
    assert heads("[./publish.sh, origin]") == ["./publish.sh", "origin"]


def test_quotes_are_kept_for_good_or_old_ones_are_deleted_daily(tmp_path: Path) -> None:
    def kept(value: str) -> tuple[int | None, str]:
        run = load(write(tmp_path, f"{SMALL}run: {{keep_quotes: {value}}}\n")).run
        return run.keep_quotes, str(run.retention)

    assert kept("90d") == (90 * 86_400, "daily")
    assert kept("off") == (None, "off")
    assert load(write(tmp_path, SMALL)).run.keep_quotes is None


GONE = {
    "run: {boards: 6h}": (
        "run.boards: this key is gone: `scores` updates the leaderboards too. Remove `boards`"
    ),
    "run: {retention: 1w, keep_quotes: 90d}": (
        "run.retention: this key is gone: `keep_quotes` alone deletes old ones daily. Remove `retention`"
    ),
    "watch: {webhook_env: HOOK}": (
        "watch.webhook_env: this key is gone: write `$` and the name of the variable under `webhook`"
    ),
    "heads: {file: away/heads}": (
        "heads.file: `heads` takes the value of `file` itself: write `heads: mounted/heads.jsonl`"
    ),
    "heads: {command: [git, push]}": (
        "heads.command: `heads` takes the value of `command` itself: write `heads: [./publish.sh, origin]`"
    ),
    "heads: {url: x}": "heads: found a block, expected a file, or a list of a program and its arguments",
    "heads: []": "heads: found an empty list, expected a file, or a list of a program and its arguments",
}


@pytest.mark.parametrize(("block", "said"), GONE.items(), ids=list(GONE))
def test_a_key_that_is_gone_is_told_with_the_one_that_takes_its_place(
    tmp_path: Path, block: str, said: str
) -> None:
    assert told(tmp_path, f"{SMALL}{block}\n") == [f"config.yaml:7: {said}"]


def test_the_rule_is_read_in_millionths_and_seconds(tmp_path: Path) -> None:
    text = SMALL.replace("simulator", "simulator\n  show: 12\n  closes_after: 12h\n  min_depth: 250.50")
    rule = load(write(tmp_path, text)).markets.universe
    assert (rule.show, rule.closes_after, rule.min_depth) == (12, 12 * 3_600, 250_500_000)


def test_a_fast_season_stands_for_keys_and_each_that_is_set_counts_instead(tmp_path: Path) -> None:
    def loaded(text: str) -> Config:
        (tmp_path / "config.yaml").write_text(text)
        return load(tmp_path / "config.yaml")

    agents = "\nagents: [{kind: market}]\n"
    fast = loaded("season: fast\nmarkets: {venue: simulator}" + agents)
    rule = fast.markets.universe
    assert (rule.closes_within, rule.order, rule.per_event) == (14 * 86_400, "soonest", 2)
    assert (fast.cohorts.decide.every, fast.cohorts.rounds) == (timedelta(days=1), 14)
    own = loaded("season: fast\nmarkets: {venue: simulator, order: lot}\ncohorts: {rounds: 3}" + agents)
    assert (own.markets.order, own.markets.closes_within, own.cohorts.rounds) == ("lot", 14 * 86_400, 3)
    usual = loaded("markets: {venue: simulator}" + agents)
    assert "order" not in usual.markets.universe.model_dump()


MISTAKES = {
    "config.yaml:4: cohorts.ruonds: unknown key. Did you mean \"rounds\"?": ("rounds: 5", "ruonds: 5"),
    **{
        f"config.yaml:4: cohorts.rounds: found {found}, expected a whole number from 1 to 1,000,000": (
            "rounds: 5", f"rounds: {found if found != 'nothing' else ''}")
        for found in ('"5"', "true", "0", "9999999", "2.5", "nothing")
    },
    'config.yaml:4: cohorts.rounds: found "five", expected a whole number of rounds, or a duration such as '
    '"5 weeks"': ("rounds: 5", "rounds: five"),
    "config.yaml:4: cohorts.bankroll: found -1, expected dollars, above 0 and at most a billion": (
        "rounds: 5", "bankroll: -1"),
    "config.yaml:4: cohorts.bankroll: found 0.1234567, expected dollars, above 0 and at most a billion, "
    "with at most six decimals": ("rounds: 5", "bankroll: 0.1234567"),
    'config.yaml:4: cohorts.start: found "no", expected a weekday and a time in UTC, such as "sun 00:00"': (
        "rounds: 5", "start: no"),
    'config.yaml:4: cohorts.decide: found "off", expected "weekly", "daily", "every 6 hours", '
    '"daily at 12:00", a weekday and a time in UTC, such as "sun 00:00", or a duration such as "120s", '
    '"15m", "2h" or "60d"': ("rounds: 5", "decide: off"),
    'config.yaml:4: cohorts.first: found "soon", expected a date such as 2026-01-04': (
        "rounds: 5", "first: soon"),
    'config.yaml:4: cohorts.rules: found "realstic", expected one of realistic, replay, seed, reference. '
    'Did you mean "realistic"?': ("rounds: 5", "rules: realstic"),
    'config.yaml:4: cohorts.first: found "9999-12-26", expected a date from 1970 to 2999': (
        "rounds: 5", "first: 9999-12-26"),
    "config.yaml:5: cohorts.rounds: found 1000, expected rounds that fit into a century, "
    "see cohorts.decide": ("rounds: 5", "decide: 520w\n  rounds: 1000"),
    "config.yaml:4: cohorts.rules.max_bet: found 1.5, expected a part of the cash, such as 0.25, above 0 "
    "and at most 1": ("rounds: 5", "rules: {max_bet: 1.5}"),
    'config.yaml:4: cohorts.rules.fill: found "qoute", expected one of book, mid, quote, spread': (
        "rounds: 5", "rules: {fill: qoute}"),
    'config.yaml:2: markets.venue: there is no venue "simulater". Did you mean "simulator"?': (
        "simulator", "simulater"),
    "config.yaml:2: markets.venue: found 5, expected text": ("simulator", "5"),
    "config.yaml:1: markets.venue: this key is missing; expected a text": ("venue: simulator", "show: 40"),
    'config.yaml:3: markets.weeks: unknown key. Did you mean "markets.simulator.weeks"?': (
        "simulator", "simulator\n  weeks: 40"
    ),
    'config.yaml:4: cohorts.max_bet: unknown key. Did you mean "cohorts.rules.max_bet"?': (
        "rounds: 5", "max_bet: 0.1"),
    'config.yaml:3: markets.shwo: unknown key. Did you mean "show"?': ("simulator", "simulator\n  shwo: 40"),
    'config.yaml:3: markets.closes_within: found 60, expected a duration such as "120s", "15m", "2h" '
    'or "60d"': (
        "simulator", "simulator\n  closes_within: 60"),
    "config.yaml:3: markets.max_spread: found 5, expected dollars a share, such as 0.05, from 0 to 1": (
        "simulator", "simulator\n  max_spread: 5"),
    "config.yaml:5: markets.simulator.weeks: found 1, expected a whole number from 2 to 1,000": (
        "simulator", "simulator\n  simulator:\n\n    weeks: 1"),
    'config.yaml:4: markets.simulator.marktes: unknown key. Did you mean "markets"?': (
        "simulator", "simulator\n  simulator:\n    marktes: 9"),
    'config.yaml:4: markets.kalshi.per_secnd: unknown key. Did you mean "per_second"?': (
        "simulator", "simulator\n\n  kalshi: {per_secnd: 5}"),
    "config.yaml:3: markets.simulator: an event has 1 to 6 markets: 7 do not fit 1 events": (
        "simulator", "simulator\n  simulator: {markets: 7, events: 1}"),
    'config.yaml:3: cohort: unknown key. Did you mean "cohorts"?': ("cohorts", "cohort"),
    "config.yaml:3: budget.call: found \"1$\", expected dollars, such as 0.50 or 20, from 0 to a billion. "
    "Write 1": (
        "cohorts:\n  rounds: 5", "budget: {call: 1$}"),
    "config.yaml:4: cohorts.bankroll: found \"10,000\", expected dollars, above 0 and at most a billion. "
    "Write 10000": ("rounds: 5", "bankroll: 10,000"),
    "config.yaml:3: budget.call: found \"10,50\", expected dollars, such as 0.50 or 20, from 0 to a "
    "billion": (
        "cohorts:\n  rounds: 5", 'budget: {call: "10,50"}'),
    "config.yaml:3: seed: found -1, expected a whole number of at least 0 and less than "
    "9,223,372,036,854,775,808": ("cohorts:\n  rounds: 5", "seed: -1"),
}  # fmt: skip


RULES = {
    "markets.min_price: no price is at least 0.9 and at most 0.1. Lower min_price or raise max_price":
        "min_price: 0.9\n  max_price: 0.1",
    "markets.closes_after: no market closes after 90d and within 60d. Make closes_after the shorter":
        "closes_after: 90d",
    'markets.categories: "Sport" is also under not_categories. Remove it from one of them':
        "categories: [Sport, art]\n  not_categories: [sport]",
    'markets.closes_after: found "9999d", expected a duration of at most 3650d': "closes_after: 9999d",
    'markets.strata[1]: found "prize", expected one of price, horizon, category. Did you mean "price"?':
        "strata: [horizon, prize]",
    'markets.categories: found "sport", expected a list of text of 1 to 200 characters':
        "categories: sport",
    'markets.categories[0]: found "", expected text of 1 to 200 characters':
        'categories: [""]',
    'markets.price_only: found "no", expected true or false': "price_only: no",
    'markets.min_dept: unknown key. Did you mean "min_depth"?': "min_dept: 5",
    "markets.simulator: exclusive_share and ladder_share are parts of all events: together at most 1":
        "simulator: {exclusive_share: 0.6, ladder_share: 0.6}",
    "markets.simulator.price_shrink: unknown key. Did you mean \"price_noise\"?":
        "simulator: {price_shrink: 0.8}",
    "markets.simulator.seed: this key is gone: the world has the arena's. Set `seed` outside of all blocks":
        "simulator: {seed: 3}",
    "markets.simulator: start is 9999-01-01: it lies between 1900-01-01 and 2900-01-01":
        "simulator: {start: 9999-01-01}",
}  # fmt: skip


@pytest.mark.parametrize(("said", "block"), RULES.items(), ids=list(RULES.values()))
def test_a_mistake_in_the_rule_is_told_with_its_key_and_its_mend(
    tmp_path: Path, said: str, block: str
) -> None:
    found = told(tmp_path, SMALL.replace("simulator", f"simulator\n  {block}"))
    assert [line.partition(": ")[2] for line in found] == [said]


@pytest.mark.parametrize(("said", "change"), MISTAKES.items(), ids=[new for _, new in MISTAKES.values()])
def test_a_mistake_is_told_with_its_line_and_key(tmp_path: Path, said: str, change: tuple[str, str]) -> None:
    assert told(tmp_path, SMALL.replace(*change)) == [said]


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = (
        "agents:\n  - kind: markte\n  - kind: constant\n    p: 2\n"
        "cohorts: {rounds: 0}\nmarkets: {venue: nowhere, show: x}\nextra: 1\n"
    )
    found = mistakes(tmp_path, text)
    assert [(error.line, error.key) for error in found] == [
        (2, "agents[0].kind"),
        (4, "agents[1].p"),
        (5, "cohorts.rounds"),
        (6, "markets.show"),
        (6, "markets.venue"),
        (7, "extra"),
    ]


WORDS = st.sampled_from(
    ["", "x", "5", "-1", "1e999", ".nan", "[]", "{}", "[a, 1]", "{a: b}", "null", "true", "~", "2026-01-04",
     "60d", "9" * 5000, '"\\u0000"', "!!binary aGk=", "simulator", "llm", "&a b", "*a", "../../etc/passwd",
     "{kind: kelly, of: [[]]}", "'", "- -", ": :", "🎲", "<<", "0x10", "1_000", "a.md", "/dev/null"]
)  # fmt: skip


def load_or_mistakes(path: Path) -> Config | tuple[ConfigError, ...]:
    try:
        return load(path, environ={})
    except ConfigErrors as errors:
        return errors.errors


@given(data=st.data())
def test_a_config_changed_at_will_loads_or_tells_its_mistakes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from([ROOT / "config.yaml", ROOT / "examples/demo.yaml"]))
    lines = [line for line in source.read_text("utf-8").splitlines() if line.split("#")[0].strip()]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key, _, _ = lines[place].partition(":")
        lines[place] = data.draw(
            st.one_of(
                (WORDS | st.text(max_size=30)).map(partial("{}: {}".format, key)),
                st.text(max_size=30),
                st.just(lines[place] + "\n" + lines[place]),
            )
        )
    path = tmp_path_factory.mktemp("config") / "config.yaml"
    path.write_bytes("\n".join(lines).encode("utf-8", errors="surrogatepass"))
    found = load_or_mistakes(path)
    assert isinstance(found, Config) or found
    assert isinstance(found, Config) or all("\n" not in str(e) and 1 <= e.line <= 300 for e in found)
