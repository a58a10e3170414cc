"""`arena check`: what the next cohort costs beside the budget, and when it starts."""

from pathlib import Path
from typing import Any

import pytest

from tests.program.running import arena, arena_json, demo_config

HEAD = """\
markets: {venue: simulator, simulator: {start: 2026-01-04, weeks: 12, markets: 60, events: 20}}
cohorts: {rounds: 2, count: 2}
"""
PRICED = "price: {input: 1, output: 4}"
MONEY = ("round", "cohort", "month")


def a_config(folder: Path, *blocks: str, head: str = HEAD) -> None:
    text = head + "agents:\n  - kind: market\n" + "".join(f"  - {{{block}}}\n" for block in blocks)
    (folder / "config.yaml").write_text(text, "utf-8")


def spent(found: Any, span: str, bound: str) -> float:
    return float(found[span][bound]["usd"])


def test_every_agent_with_a_model_has_its_calls_tokens_and_dollars(tmp_path: Path) -> None:
    a_config(
        tmp_path, f"name: a, model: demo/sharp, {PRICED}", f"name: b, model: demo/hasty, {PRICED}, samples: 2"
    )
    cost = arena_json(tmp_path, "check")["cost"]
    assert cost["rounds"] == {"cohort": 2, "month": 4.0, "day": 2}  # the season is over before a month is
    one, two = cost["agents"]
    assert (one["agent"], one["round"]["low"]["calls"], one["round"]["high"]["calls"]) == ("a", 1, 3)
    assert (two["agent"], two["round"]["low"]["calls"], two["round"]["high"]["calls"]) == ("b", 2, 6)
    for bound in ("low", "high"):
        assert spent(two, "round", bound) == pytest.approx(2 * spent(one, "round", bound))
        assert spent(one, "cohort", bound) == pytest.approx(2 * spent(one, "round", bound))
        assert spent(one, "month", bound) == pytest.approx(4 * spent(one, "round", bound))
        for span in MONEY:
            assert spent(cost["total"], span, bound) == pytest.approx(
                spent(one, span, bound) + spent(two, span, bound)
            )
    tokens = one["round"]["low"]["tokens_in"] + 4 * one["round"]["low"]["tokens_out"]
    assert spent(one, "round", "low") == pytest.approx(tokens / 1e6)
    assert cost["warnings"] == []


def test_the_estimate_holds_for_a_season_that_is_played(tmp_path: Path) -> None:
    """The demo's models answer in full; what they cost lies between low and high."""
    demo_config(tmp_path, rounds=3, count=1, show=12, markets=60, events=25)
    here = ("--database", "arena.db")
    cost = arena_json(tmp_path, "check", *here)["cost"]
    arena_json(tmp_path, "demo", "--headless", "--config", "config.yaml", *here)
    board = arena_json(tmp_path, "board", *here)["leaderboard"]
    paid = {row["agent"]: row["cost_usd"] for row in board}
    for one in cost["agents"]:
        assert spent(one, "cohort", "low") / 2 < paid[one["agent"]] < spent(one, "cohort", "high")
    for one in arena_json(tmp_path, "check", *here)["cost"]["agents"]:
        assert spent(one, "cohort", "expected") == pytest.approx(paid[one["agent"]], abs=1e-5)
    assert "sharp: from its newest 3 turns." in " ".join(arena(tmp_path, "check", *here).stdout.split())
    text = (tmp_path / "config.yaml").read_text("utf-8").replace("demo/sharp", "demo/blind")
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    other = arena_json(tmp_path, "check", *here)["cost"]["agents"]
    assert {one["agent"]: one["from_turns"] for one in other}["sharp"] == 0


def test_a_model_that_cannot_answer_with_its_settings_is_an_error_with_a_hint(tmp_path: Path) -> None:
    """What no call could do is found with its line; what is too small for the questions, by the estimate."""
    a_config(
        tmp_path,
        "name: a, model: openai/text-embedding-3-large",
        "name: b, model: anthropic/claude-opus-5-5, temperature: 0.7",
    )
    done = arena(tmp_path, "check")
    embedding, temperature = done.stderr.splitlines()
    assert done.returncode == 1
    assert embedding.startswith(
        "config.yaml:5: agents[1].model: openai/text-embedding-3-large does not answer"
    )
    assert embedding.endswith("it is for embedding, so every call would fail. Name a chat model")
    assert temperature.startswith("config.yaml:6: agents[2].temperature: anthropic/claude-opus-5-5 takes no")
    a_config(
        tmp_path,
        "name: a, model: openai/gpt-4o, max_tokens: 300",
        "name: b, model: openai/gpt-5.6, reasoning: high, max_tokens: 2000, timeout: 30s",
    )
    found = arena_json(tmp_path, "check", status=1)
    assert [(one["code"], one["agent"]) for one in found["cost"]["warnings"]] == [
        ("cannot_answer", "a"), ("may_not_answer", "b"), ("may_not_answer", "b"),
    ]  # fmt: skip
    assert (
        "Error: a: an answer takes at least 898 tokens, and max_tokens is 300"
        in arena(tmp_path, "check").stdout
    )
    thinking = found["cost"]["agents"][1]["round"]
    ends = [thinking[end]["tokens_out"] for end in ("low", "expected", "high")]
    assert ends == [898, 2_000, 10_000]  # cut off, and again with four times the tokens


def test_an_unknown_price_is_a_dash_and_says_what_to_add(tmp_path: Path) -> None:
    a_config(tmp_path, "name: own, model: openai/mine, base_url: http://127.0.0.1:9/v1")
    found = arena_json(tmp_path, "check")["cost"]
    assert found["total"]["month"]["high"]["usd"] is None
    assert found["total"]["month"]["high"]["tokens_in"] > 0
    told = arena(tmp_path, "check").stdout
    assert "add `price: {input: …, output: …}`" in told
    budgeted = HEAD + "budget: {day: 5}\n"
    a_config(tmp_path, "name: own, model: openai/mine, base_url: http://127.0.0.1:9/v1", head=budgeted)
    refused = arena(tmp_path, "check")
    assert refused.returncode == 1
    assert "config.yaml:6: agents[1].model: no price is known for openai/mine" in refused.stderr
    assert "price: {input: …, output: …}" in refused.stderr


def test_where_a_budget_would_stop_the_line_up_that_is_said_first(tmp_path: Path) -> None:
    a_config(tmp_path, f"name: a, model: demo/sharp, {PRICED}", head=HEAD + "budget: {call: 0.05, day: 1}\n")
    done = arena(tmp_path, "check")
    assert done.returncode == 0
    said = "Warning: A call of a may cost $0.18, over budget.call of $0.050: no call would be made."
    assert said in done.stdout
    assert "→ set budget.call to $0.18 or more" in done.stdout
    codes = [warning["code"] for warning in arena_json(tmp_path, "check")["cost"]["warnings"]]
    assert codes == ["refused"], "the day is enough for what is expected"
    played = arena_json(tmp_path, "run", "--round", status=2)["rounds"][0]["turns"]
    assert played[1]["stopped_by"] == "budget", "and so it is"


def test_it_fits_in_a_hundred_columns(tmp_path: Path) -> None:
    name = "openrouter/some-vendor/some-model-4.5"
    a_config(tmp_path, f"model: {name}, price: {{input: 3, output: 15}}, samples: 5, prices: after")
    told = arena(tmp_path, "check", OPENROUTER_API_KEY="not-a-key", COLUMNS="100")
    assert told.returncode == 0, told.stderr
    here = [line for line in told.stdout.splitlines() if str(tmp_path) not in line]
    assert max(map(len, map(str.rstrip, here))) <= 100


def test_the_next_start_moves_on_with_what_was_played(tmp_path: Path) -> None:
    a_config(tmp_path)
    coming = [arena_json(tmp_path, "check")]
    for _ in range(2):
        arena_json(tmp_path, "run", "--round")
        coming.append(arena_json(tmp_path, "check"))
    assert [(each["next_cohort"], each["next_start"]) for each in coming] == [
        (1, "2026-01-04T00:00:00+00:00"),
        (2, "2026-01-11T00:00:00+00:00"),
        (None, None),
    ]
    assert [each["cohorts_begun"] for each in coming] == [0, 1, 2]
    assert "2 of 2 cohorts started" in arena(tmp_path, "check").stdout


def test_checking_makes_no_record_and_one_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    a_config(tmp_path)
    arena_json(tmp_path, "check")
    assert not (tmp_path / "arena.db").exists()
    (tmp_path / "arena.db").write_text("not a database, but long enough to look like a file of one", "utf-8")
    found = arena_json(tmp_path, "check", status=1)
    assert (found["ok"], bool(found["record_trouble"])) == (False, True)
    told = arena(tmp_path, "check").stdout
    assert "Starts  unknown, as the record can't be read: " in told
    assert told.endswith("arena check\n"), "it may have cohorts, so no round is suggested"


@pytest.mark.parametrize(
    ("cohorts", "wait", "most"),
    [
        ("decide: 15m, rounds: 5, count: 1", "15m", "11 min 15 s"),
        ("decide: 15m, rounds: 5, count: 1", "11m", None),
        ("decide: weekly, rounds: 5", "1h", "54 min"),
        ("decide: weekly, rounds: 5", "50m", None),
        ("decide: weekly, rounds: 5, count: 1", "5h", "4 h 30 min"),
    ],
)
def test_an_agent_that_may_take_until_rounds_are_late_is_named(
    tmp_path: Path, cohorts: str, wait: str, most: str | None
) -> None:
    head = f"cohorts: {{{cohorts}}}\nmarkets: {{venue: simulator, show: 3}}\n"
    a_config(tmp_path, f"kind: outside, name: ann, wait: {wait}", head=head)
    warnings = arena_json(tmp_path, "check")["cost"]["warnings"]
    assert [(one["code"], one["agent"]) for one in warnings] == [("long_wait", "ann")] * (most is not None)
    assert most is None or warnings[0]["mend"] == f"set its `wait` to at most {most}, or decide less often"


def test_a_total_after_adding_an_agent_is_the_one_that_checking_gives(tmp_path: Path) -> None:
    """What others used in the rounds so far counts in both."""
    a_config(tmp_path, f"name: a, model: demo/sharp, {PRICED}")
    arena_json(tmp_path, "run", "--round")
    added = arena_json(tmp_path, "add", "demo/hasty", "--price", "1", "4", "--yes", "--no-probe")
    assert added["month_usd"] == arena_json(tmp_path, "check")["month_usd"]
