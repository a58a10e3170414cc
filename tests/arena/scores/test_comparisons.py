"""A season's comparisons: who is compared on what, and what is no evidence."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from arena.errors import ArenaError
from arena.record.queries.forecasts import LineUpEntry
from arena.scores.comparisons import (
    COMPARISONS,
    EARLY_STAMP,
    Comparisons,
    compare_agents,
    compare_line_ups,
    compare_two,
    gains,
    twin_families,
)
from arena.scores.leaderboard import REPLAY_STAMP, rank_agents, score_agents
from arena.scores.rules import skill
from markets.millionths import ONE
from tests.arena.stated_rows import BEGAN, DAY, NO_BETS, a_season, an_account, only, still_open


def test_the_skill_is_the_leaderboards() -> None:
    rows = a_season({"ann": 0.4, "bob": -0.2}, rounds=3)
    for gain in gains(rows):
        mine = only(rows, rows.agent == rows.agents.index(gain.agent))
        columns = (mine.forecast / ONE, mine.outcome, mine.mid / ONE, mine.market)
        assert gain.skill == pytest.approx(skill.score(*columns), abs=1e-12)


def test_what_was_decided_before_a_models_release_is_no_evidence() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.1}, rounds=2, released={"ann": BEGAN + 3 * DAY})
    ann, bob = sorted(gains(rows), key=lambda gain: gain.agent)
    assert (ann.rows, bob.rows) == (80, 160)
    assert rows.early.sum() == 80
    day_of = replace(rows, released=np.where(rows.agent == 0, BEGAN, rows.released))
    assert not day_of.early.any()


def test_without_anything_resolved_there_is_nothing() -> None:
    rows = a_season({"ann": 0.9})
    found = compare_agents(still_open(rows))
    assert found.gains == ()
    assert compare_agents(only(rows, rows.agent < 0)).gains == ()


def test_agents_that_stop_answering_remain_entries() -> None:
    """Whoever enters thirteen agents has 78 pairs, however many of them are ranked in the end."""
    rows = a_season({f"agent {number}": 0.3 + 0.05 * number for number in range(13)}, rounds=5)
    silent = (rows.agent > 0) & (rows.round >= 3)
    stopped = replace(rows, stated=rows.stated & ~silent, forecast=np.where(silent, rows.mid, rows.forecast))
    assert [gain.agent for gain in compare_agents(stopped).gains] == ["agent 0"]
    assert len(compare_line_ups(rows, []).pairs) == len(compare_line_ups(stopped, []).pairs) == 78


def test_a_market_that_was_moved_belongs_to_the_event_that_it_was_shown_in_last() -> None:
    rows = a_season({"ann": 0.5}, events=30, markets=1, rounds=2)
    moved = rows.event.copy()
    moved[(rows.market == 3) & (rows.round == 2)] = 7
    [gain] = gains(replace(rows, event=moved, story=moved))
    assert (gain.events, gain.markets) == (29, 30)


def test_a_twin_that_has_answered_nothing_is_in_no_pair() -> None:
    rows = a_season({"ann": 0.5, "bob": 0.5})
    found = compare_agents(rows, [("ann", "bob", "cho"), ("dan", "eve")]).noise
    assert found is not None
    assert found.pairs == 1


def test_twins_have_the_same_settings_in_every_cohort() -> None:
    names = (("ann", "A"), ("bob", "A"), ("ann", "B"), ("bob", "C"))
    same = [LineUpEntry(1 + place // 2, *each) for place, each in enumerate(names)]
    assert twin_families(same) == []
    assert twin_families([*same[:3], LineUpEntry(2, "bob", "B")]) == [("ann", "bob")]


def of_kinds(*kinds: str) -> list[LineUpEntry]:
    """Return a line-up of ann, bob and cho, whose settings differ."""
    return [
        LineUpEntry(1, name, f'{kind} {{"as": "{name}"}}')
        for name, kind in zip(("ann", "bob", "cho"), kinds, strict=True)
    ]


def test_pairs_are_told_among_all_but_references_and_of_the_whole_record_alone() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.0, "cho": -0.5}, events=150)
    found = compare_line_ups(rows, of_kinds("llm", "llm", "llm"))
    told = [(pair.better, pair.worse) for pair in found.pairs]
    assert sorted(told) == [("ann", "bob"), ("ann", "cho"), ("bob", "cho")]
    assert COMPARISONS.adapter.validate_python(COMPARISONS.adapter.dump_python(found, mode="json")) == found

    lines = score_agents([an_account(name) for name in rows.agents], rows, NO_BETS)
    verdict = rank_agents(lines, found, rows, is_replay=False).verdict
    assert verdict is not None
    assert datetime.fromisoformat(str(verdict.told[0].since)).timestamp() == found.pairs[0].since
    assert verdict.leader == "ann"
    assert rank_agents(lines, found, rows, is_replay=False, is_whole=False).verdict is None

    referenced = compare_line_ups(rows, of_kinds("llm", "constant", "llm")).pairs
    assert [(pair.better, pair.worse) for pair in referenced] == [("ann", "cho")]
    assert compare_line_ups(rows, of_kinds("llm", "llm", "llm"), is_whole=False).pairs == ()


def test_an_agent_that_was_a_reference_before_is_compared_from_when_on_it_is_none() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.0}, events=300)
    rows = replace(rows, cohort=np.where(rows.market < 300, 1, 2))
    entries = [
        LineUpEntry(1, "ann", 'constant {"p": 0.5}'),
        LineUpEntry(1, "bob", 'llm {"as": "B"}'),
        LineUpEntry(2, "ann", 'llm {"as": "A"}'),
        LineUpEntry(2, "bob", 'llm {"as": "B"}'),
    ]
    [pair] = compare_line_ups(rows, entries).pairs
    [alone] = compare_line_ups(only(rows, rows.cohort == 2), entries[2:]).pairs
    assert (pair.better, pair.worse) == ("ann", "bob")
    assert pair.stories == alone.stories == 150


def test_an_agent_that_was_renamed_goes_on_with_its_capital() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.0, "cho": 0.9}, events=150)
    is_early = rows.market < 150
    halves = only(rows, (rows.agent == 1) | (is_early == (rows.agent == 0)))
    entries = [
        LineUpEntry(1, "ann", 'llm {"as": "A"}'),
        LineUpEntry(1, "bob", 'llm {"as": "B"}'),
        LineUpEntry(2, "cho", 'llm {"as": "A"}'),
        LineUpEntry(2, "bob", 'llm {"as": "B"}'),
    ]
    [told] = compare_line_ups(halves, entries).pairs
    [whole] = compare_line_ups(only(rows, rows.agent < 2), entries).pairs
    assert (told.better, told.worse) == ("cho", "bob")
    assert (told.by, told.since) == (whole.by, whole.since)


def test_what_is_kept_is_what_was_worked_out() -> None:
    found = compare_agents(a_season({"ann": 0.9, "bob": 0.0}), [("ann", "bob")])
    assert COMPARISONS.adapter.validate_python(COMPARISONS.adapter.dump_python(found, mode="json")) == found
    assert (
        COMPARISONS.adapter.validate_python(COMPARISONS.adapter.dump_python(Comparisons(), mode="json"))
        == Comparisons()
    )


def test_what_figures_are_not_worth_is_stamped_on_them() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.1}, released={"ann": BEGAN + DAY})
    lines = score_agents([an_account("ann"), an_account("bob")], rows, NO_BETS)
    found = rank_agents(lines, compare_agents(rows), rows, is_replay=True)
    stamps = {line.agent: line.stamps for line in found.rows}
    assert stamps["ann"] == (REPLAY_STAMP, EARLY_STAMP)
    assert stamps["bob"] == (REPLAY_STAMP,)
    assert [line.early for line in found.rows if line.agent == "ann"] == [80]
    assert found.rows[-1].agent == "ann"


def test_as_long_as_nothing_is_told_the_surest_skill_is_first_and_not_the_highest() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.8, "cho": 0.2}, events=60)
    few = (rows.agent == 0) & (rows.event >= 12)
    rows = only(rows, ~few)
    lines = score_agents([an_account(name) for name in rows.agents], rows, NO_BETS)
    found = rank_agents(lines, compare_agents(rows), rows, is_replay=False)
    assert [line.agent for line in found.rows] == ["bob", "cho", "ann", "market"]
    ann = found.rows[2]
    assert (ann.rank_low, ann.rank_high) == (1, 3)
    assert ann.reason is not None
    assert ann.reason.startswith("12 events so far")


def test_a_duel_is_fought_on_common_rows_or_by_way_of_the_market() -> None:
    rows = a_season({"ann": 0.9, "bob": 0.1}, events=80)
    found = compare_two(rows, "ann", "bob")
    assert (found.by, found.rows, found.winner()) == ("rows", 160, "ann")
    apart = only(rows, (rows.agent == 0) == (rows.event % 2 == 0))
    one = compare_two(apart, "ann", "bob")
    other = compare_two(apart, "bob", "ann")
    assert (one.by, one.rows, other.gap) == ("market", 0, -(one.gap or 0))


def test_who_has_answered_nothing_is_named() -> None:
    with pytest.raises(ArenaError, match="bob has no forecasts to compare yet"):
        compare_two(a_season({"ann": 0.9}), "ann", "bob")
