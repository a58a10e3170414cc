"""What a cohort freezes: everything that its config said when it started, and nothing that changes after."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from arena.cohorts.freeze import freeze_cohort, plan_of
from arena.config import Config, load
from arena.rounds.season import begin_due_cohort
from markets.hashes import digest
from tests.arena.config_files import write
from tests.opened_record import OpenedRecord
from tests.rows import frozen_text, rows_in, thawed

SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)
CONFIG = """\
seed: 3
markets: {venue: simulator, show: 7, simulator: {start: 2026-01-04}}
cohorts: {rounds: 4, bankroll: 500, rules: {from: realistic, max_bet: 0.2}}
ask: {prompt: ./mine.md, temperature: 0.5}
agents:
  - model: demo/sharp
  - {kind: kelly, of: demo/sharp}
"""


def a_config(folder: Path, prompt: str = "What will happen?") -> Config:
    write(folder, prompt, "mine.md")
    return load(write(folder, CONFIG))


def test_rules_universe_and_every_setting_are_frozen(tmp_path: Path) -> None:
    config = a_config(tmp_path)
    cohort, texts = freeze_cohort(config, 1, SUNDAY)
    assert (cohort.bankroll, cohort.rules.max_bet, cohort.universe.show) == (500_000_000, 200_000, 7)
    assert (cohort.venue, cohort.stamp, cohort.venue_settings["seed"]) == ("simulator", "simulated", 3)
    model, kelly = cohort.entrants
    assert (model.name, model.settings["temperature"], model.settings["prompt"]) == (
        "demo/sharp",
        0.5,
        "./mine.md",
    )
    assert (kelly.kind, kelly.settings["of"]) == ("kelly", "demo/sharp")
    assert cohort.prompts == {"./mine.md": digest("What will happen?")}
    assert texts == {digest("What will happen?"): "What will happen?"}
    assert cohort.config_hash == sha256((tmp_path / "config.yaml").read_bytes()).hexdigest()
    seeds = {freeze_cohort(config, number, SUNDAY)[0].seed for number in range(1, 50)}
    assert len(seeds) == 49
    assert freeze_cohort(config.with_seed(4), 1, SUNDAY)[0].seed not in seeds


def test_what_coverage_is_enough_is_frozen_where_it_is_not_the_default(tmp_path: Path) -> None:
    usual, _ = freeze_cohort(a_config(tmp_path), 1, SUNDAY)
    config = load(write(tmp_path, f"{CONFIG}scores: {{min_coverage: 0.5}}\n"))
    other, _ = freeze_cohort(config, 1, SUNDAY)
    assert "min_coverage" not in frozen_text(usual)
    assert [thawed(frozen_text(x)).min_coverage for x in (usual, other)] == [800_000, 500_000]


def test_suspects_are_withheld_but_where_a_live_market_s_price_is_seen(tmp_path: Path) -> None:
    live = CONFIG.replace("venue: simulator, show: 7, simulator: {start: 2026-01-04}", "venue: kalshi")
    news, blind = "evidence: {from: folder}\n", "evidence: {from: folder}\nask: {prices: hidden}\n"
    asked = live.replace("ask: {prompt: ./mine.md, temperature: 0.5}\n", "")
    chosen = "evidence: {from: folder, suspects: withheld}\n"
    a_config(tmp_path)
    (tmp_path / "news").mkdir()
    for text, suspects in (
        (CONFIG, None),
        (CONFIG + news, "withheld"),
        (asked + news, "flagged"),
        (live + news, "withheld"),  # its prompt tells no price
        (asked + blind, "withheld"),
        (live + chosen, "withheld"),
        (CONFIG + chosen.replace("withheld", "flagged"), "flagged"),
    ):
        cohort, _ = freeze_cohort(load(write(tmp_path, text)), 1, SUNDAY)
        assert cohort.guard.suspects == suspects
        assert thawed(frozen_text(cohort)).guard == cohort.guard
        assert ("suspects" in frozen_text(cohort)) == (suspects is not None)


def test_only_a_live_cohort_s_draw_counts_stories(tmp_path: Path) -> None:
    simulated, _ = freeze_cohort(a_config(tmp_path), 1, SUNDAY)
    live = CONFIG.replace(
        "venue: simulator, show: 7, simulator: {start: 2026-01-04}", "venue: kalshi, per_event: 3"
    )
    cohort, _ = freeze_cohort(load(write(tmp_path, live)), 1, SUNDAY)
    assert (simulated.universe.per_story, cohort.universe.per_story) == (None, 3)
    assert "per_story" not in frozen_text(simulated), "it is written as it always was"
    assert thawed(frozen_text(cohort)).universe == cohort.universe


def test_a_changed_config_changes_the_next_cohort_and_not_the_one_that_plays(tmp_path: Path) -> None:
    record = OpenedRecord.at(tmp_path / "arena.db")
    begin_due_cohort(SUNDAY, plan_of(a_config(tmp_path), SUNDAY), record)
    changed = plan_of(a_config(tmp_path, "And what will not?"), SUNDAY)
    begin_due_cohort(SUNDAY, changed, record)
    begin_due_cohort(SUNDAY + timedelta(weeks=1), changed, record)
    first, second = (stored.cohort for stored in record.cohorts())
    assert (first.number, second.number) == (1, 2)
    assert first.prompts != second.prompts
    path = tmp_path / "arena.db"
    (kept,) = rows_in(path, "SELECT text FROM prompt WHERE hash = ?", *first.prompts.values())
    assert kept == ("What will happen?",)
    record.close()
