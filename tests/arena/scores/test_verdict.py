"""The verdict: who is told from whom, the ranks that allows, and the sentences on it."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.comparisons.copies import PRICE
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.duel_evidence import MOST_ENTRIES, PairEvidence
from arena.scores.verdict import (
    GUARANTEE,
    Candidate,
    SeasonState,
    duel_sentences,
    list_names,
    make_verdict,
)

MARCH = datetime(2026, 3, 12, tzinfo=UTC).timestamp()
APRIL = datetime(2026, 4, 2, tzinfo=UTC).timestamp()
PLAYED = SeasonState(turns=40, resolved_events=60)
FOUR = [
    Candidate(name, skill=skill, skill_low=skill - 0.01)
    for name, skill in zip("abcd", (4, 3, 2, 1), strict=True)
]


def told(better: str, worse: str, since: float = MARCH) -> PairEvidence:
    """Return a pair that has been told since then."""
    return PairEvidence(better, worse, 0.01, since, 1.0, None, 60, None)


def untold(better: str, worse: str, weeks_more: float | None = None) -> PairEvidence:
    """Return a pair of which nothing is told yet."""
    return PairEvidence(better, worse, 0.001, None, 1.0, None, 60, weeks_more)


def test_ranks_are_those_that_the_told_pairs_allow() -> None:
    """a beats c and d, b beats d: a may be 1 or 2, b 1 to 3, c 2 to 4, and d is behind two of four."""
    pairs = [
        told("a", "c"),
        told("a", "d"),
        told("b", "d"),
        untold("a", "b"),
        untold("b", "c"),
        untold("c", "d"),
    ]
    found = make_verdict(FOUR, pairs, [], PLAYED)
    assert [(one.agent, one.rank_text, one.better_text) for one in found.agents] == [
        ("a", "1–2", "2 of 3"),
        ("b", "1–3", "1 of 3"),
        ("c", "2–4", "0 of 3"),
        ("d", "3–4", "0 of 3"),
    ]
    assert found.leader is None
    assert found.guarantee == GUARANTEE
    assert {one.guarantee for one in found.agents} == {GUARANTEE}


def test_an_agent_says_whom_it_is_better_than_since_when_and_from_whom_it_is_not_told() -> None:
    pairs = [told("a", "c"), told("a", "d", APRIL), untold("a", "b", 5.7)]
    found = make_verdict(FOUR, pairs, [], PLAYED)
    assert [one.sentence for one in found.agents if one.agent in "ab"] == [
        (
            "Better than c and d since 2 April 2026; cannot be told apart from b yet "
            "(would take about 6 more weeks)."
        ),
        "Cannot be told apart from any of the 3 others yet (the first would take about 6 more weeks).",
    ]
    assert found.sentence == (
        "a forecasts better than c and d, and cannot be told apart from b yet "
        "(would take about 6 more weeks). "
        "None of their forecasts has been compared with the market price."
    )
    open_price = make_verdict(FOUR, pairs, [untold("b", PRICE, 9)], PLAYED)
    assert open_price.sentence.endswith(
        "None has been shown to beat the market price yet (a: too early to say when)."
    )
    behind = make_verdict(FOUR, pairs, [untold(PRICE, "a", 40)], PLAYED)
    assert behind.sentence.endswith(
        "None has been shown to beat the market price yet (a is behind it so far)."
    )


def test_two_others_are_named() -> None:
    found = make_verdict(FOUR[:3], [untold("a", "b", 5.7), untold("a", "c")], None, PLAYED)
    assert found.agents[0].sentence == (
        "Cannot be told apart from b and c yet (the first would take about 6 more weeks)."
    )


def test_a_leader_is_told_from_every_other_entry() -> None:
    pairs = [told("a", other) for other in "bcd"]
    found = make_verdict(FOUR, pairs, [told("a", PRICE), untold("b", PRICE, inf)], PLAYED)
    assert found.leader == "a"
    assert found.sentence == (
        "a forecasts better than each of the 3 others. It is better than the market price, too."
    )
    first, second = found.agents[:2]
    assert first.sentence == "Better than each of the 3 others since 12 March 2026."
    assert first.price_sentence == "Better than the market price since 12 March 2026."
    assert (
        second.price_sentence
        == "Cannot be told apart from the market price yet (likely never: the gap is too small)."
    )
    assert second.sentence.startswith(
        "Worse than a since 12 March 2026; cannot be told apart from c and d yet"
    )


def test_as_long_as_nobody_is_told_from_anybody_it_says_when_that_may_come() -> None:
    pairs = [untold(one, other, inf) for one, other in combinations("abcd", 2)]
    found = make_verdict(FOUR, [*pairs[:-1], untold("c", "d", 8)], [], PLAYED)
    assert found.sentence.startswith(
        "No two agents can be told apart yet (the first would take about 8 more weeks). a forecasts best "
        "so far, which may be chance."
    )
    assert found.guarantee == ""
    assert [one.rank_text for one in found.agents] == ["1–4"] * 4
    never = make_verdict(FOUR, pairs, [], PLAYED)
    assert "(likely never: the gaps are too small)" in never.sentence


def test_the_best_so_far_has_the_highest_skill_whoever_is_in_the_first_row() -> None:
    """The first row has the surest skill: a narrower interval, which hangs on fewer differences."""
    wide = Candidate("b", skill=0.03, skill_low=-0.02)
    narrow = Candidate("a", skill=0.01, skill_low=-0.01)
    found = make_verdict([narrow, wide], [untold("b", "a")], [untold("b", PRICE, 9)], PLAYED)
    assert [one.agent for one in found.agents] == ["a", "b"]
    assert "b forecasts best so far, which may be chance." in found.sentence
    assert found.sentence.endswith("(b: would take about 9 more weeks).")

    alike = make_verdict([narrow, replace(wide, skill=0.01)], [], None, PLAYED)
    assert "a and b forecast best so far, which may be chance." in alike.sentence


def test_references_copies_and_those_who_answered_too_little_have_no_rank() -> None:
    others = [
        Candidate("oracle", is_reference=True, skill=9.0, skill_low=8.0),
        Candidate("b2", copies="b", skill=3.0, skill_low=2.99),
        Candidate("idle", why_not="covers 12% of what has resolved"),
    ]
    found = make_verdict([*FOUR, *others], [told("a", "d")], [], PLAYED)
    assert [one.agent for one in found.agents] == ["a", "b", "c", "d", "oracle", "b2", "idle"]
    assert [one.rank_text for one in found.agents[4:]] == ["", "", ""]
    assert {one.entries for one in found.agents} == {4}
    assert found.sentence.endswith("b2 copies b. 1 agent answered too little to be ranked.")
    assert found.agents[4].sentence == ("A reference to compare agents with; it is not ranked.")
    assert found.agents[6].sentence == "Not ranked: covers 12% of what has resolved."


def test_an_agent_without_a_result_yet_has_not_answered_too_little() -> None:
    found = make_verdict(
        [*FOUR, Candidate("new", why_not="nothing resolved", is_waiting=True)], [], [], PLAYED
    )
    assert found.sentence.endswith("new has no result yet.")
    assert "answered too little" not in found.sentence


def test_of_very_many_entries_it_is_said_that_only_the_first_are_compared() -> None:
    many = [Candidate(f"agent {number:03}") for number in range(MOST_ENTRIES + 1)]
    pairs = [untold(one.agent, other.agent) for one, other in combinations(many[:-1], 2)]
    found = make_verdict(many, pairs, [], PLAYED)
    assert found.sentence.endswith("Only the first 100 entries are compared with one another.")
    last = found.of(many[-1].agent)
    assert last is not None
    assert last.sentence == "No forecast in common with the others has been compared yet."


EMPTY = [
    ([Candidate("market", is_reference=True)], PLAYED, "Only references have played yet."),
    ([], SeasonState(), "No agent has played yet."),
    (
        FOUR,
        SeasonState(turns=8, unanswered_turns=8),
        "No agent gave a usable answer in 8 turns, so nothing is compared: arena status says why.",
    ),
    (
        FOUR,
        SeasonState(turns=8, expected=datetime(2026, 4, 12, tzinfo=UTC)),
        (
            "Nothing has resolved yet, so there is nothing to compare. A verdict takes 20 resolved events or "
            "more, by about 12 April 2026."
        ),
    ),
    (
        [replace(one, why_not="covers 0%") for one in FOUR],
        PLAYED,
        "No agent has answered enough to be compared.",
    ),
    (
        [replace(one, copies=PRICE) for one in FOUR[:2]],
        PLAYED,
        "Every agent copies the market price, so there is nothing to compare. a and b copy the price.",
    ),
]


@pytest.mark.parametrize(("candidates", "state", "sentence"), EMPTY)
def test_where_nothing_can_be_compared_it_says_why(
    candidates: list[Candidate], state: SeasonState, sentence: str
) -> None:
    found = make_verdict(candidates, [], [], state)
    assert (found.sentence, found.leader, found.guarantee) == (sentence, None, "")


def test_one_agent_alone_is_held_against_the_price() -> None:
    found = make_verdict(FOUR[:1], [], [told(PRICE, "a")], PLAYED)
    assert found.sentence == "a: worse than the market price since 12 March 2026."
    assert found.agents[0].sentence == "There is no other entry to compare it with."
    assert found.leader is None


def test_a_time_that_is_no_date_is_not_made_one() -> None:
    found = make_verdict(FOUR[:2], [told("a", "b", 17)], [], PLAYED, lambda time: f"{time:g}")
    assert found.agents[0].sentence == "Better than b."
    assert found.told[0].since == "17"


def test_a_duel_is_its_figures_and_what_is_told_of_the_pair() -> None:
    duel = Duel("a", "b", 400, 90, 40, 33.3, -0.02, 0.005, 0.001, None, low=-0.03, high=-0.01)
    found = make_verdict(FOUR, [told("b", "a")], [], PLAYED)
    assert duel_sentences(duel, found) == [
        "a against b, on 400 common forecasts: 90 markets, 40 events (33.3 effective).",
        "b was closer by 0.0200 Brier points (95% CI at this look: +0.0100 to +0.0300).",
        "b forecasts better than a since 12 March 2026.",
    ]
    assert (
        duel_sentences(replace(duel, b="c"), found)[2]
        == "a and c cannot be told apart yet (too early to say when)."
    )
    few = replace(duel, low=None, high=None, reason="not enough events")
    assert (
        duel_sentences(few, found)[1]
        == "b was closer by 0.0200 Brier points; no interval yet: not enough events."
    )
    apart = replace(duel, gap=None, reason="no resolved forecast in common")
    assert duel_sentences(apart, found) == ["No comparison of a and b: no resolved forecast in common."]
    even = replace(few, gap=0.0)
    assert duel_sentences(even, found)[1] == (
        "a and b were equally close; no interval yet: not enough events."
    )
    one_event = replace(even, error=None, events=1)
    assert duel_sentences(one_event, found)[1].startswith("a and b were equally close"), "not identical"
    same = replace(duel, gap=0.0, error=0.0)
    assert duel_sentences(same, found)[1:] == ["Their forecasts are identical."]
    with_reference = make_verdict([*FOUR, Candidate("oracle", is_reference=True)], [], [], PLAYED)
    assert duel_sentences(replace(duel, b="oracle"), with_reference)[2] == (
        "oracle: a reference to compare agents with; it is not ranked."
    )


NAMES = [f"agent {number}" for number in range(8)]


@given(st.data())
def test_no_two_ranks_contradict_what_is_told(data: st.DataObject) -> None:
    """Whatever is told of a true order, each agent's place in it is among the ranks that it may have."""
    order = data.draw(st.permutations(NAMES[: data.draw(st.integers(1, 8))]))
    known = data.draw(st.lists(st.booleans(), min_size=28, max_size=28))
    pairs = [
        told(better, worse) if is_told else untold(better, worse)
        for (better, worse), is_told in zip(combinations(order, 2), known, strict=False)
    ]
    found = make_verdict([Candidate(name) for name in sorted(order)], pairs, [], PLAYED)

    for one in found.agents:
        place = order.index(one.agent) + 1
        assert one.rank_low is not None
        assert one.rank_high is not None
        assert one.rank_low <= place <= one.rank_high
        assert len(one.better_than) + len(one.worse_than) + len(one.untold) == len(order) - 1
    if len(order) > 1 and all(is_told for _, is_told in zip(pairs, known, strict=False)):
        assert found.leader == order[0]
        assert [one.agent for one in found.agents] == order


def test_many_names_are_counted() -> None:
    assert list_names(["ann", "bob", "cho", "dan"]) == "ann, bob, cho and dan"
    assert list_names(["ann", "bob", "cho", "dan", "eve"]) == "ann, bob, cho and 2 others"
