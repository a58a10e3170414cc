"""The leading sentence: who leads, and whether that means anything yet."""

from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.comparisons.lead import LeadStatement, lead
from arena.scores.rules.comparisons.power import missing_events

MARKET = Gain("market", 90, 90, 60, 50.0, 0.0, 0.0, 0.0, 0.0, 1.0, None)


def gain(agent: str, skill: float, p: float, error: float = 0.01) -> Gain:
    low, high = skill - 2 * error, skill + 2 * error
    return Gain(agent, 90, 90, 60, 50.0, skill, error, low, high, p, None)


def few(agent: str, skill: float | None = 0.3) -> Gain:
    return Gain(agent, 9, 9, 8, 7.5 if skill else 0.0, skill, None, None, None, None, "not enough events")


def duel(a: str, b: str, gap: float, p: float | None) -> Duel:
    return Duel(a, b, 90, 90, 60, 50.0, gap, 0.01, p, None)


def same(a: str, b: str) -> Duel:
    return Duel(a, b, 90, 90, 60, 50.0, 0.0, 0.0, 1.0, None)


def test_nothing_is_resolved() -> None:
    found = lead([few("ann", None)], [])
    assert found == LeadStatement(
        "nothing", None, None, (), None, "Nothing is resolved yet, so nobody leads."
    )
    assert lead([], []).state == "nothing"


def test_too_little_is_resolved() -> None:
    found = lead([few("ann"), few("bob", 0.1)], [duel("ann", "bob", 0.2, None)])
    assert (found.state, found.leader, found.ahead) == ("few", None, "ann")
    assert found.sentence == ("Too early to rank: 7.5 effective events at most; 20 are needed.")


def test_one_leads_who_beats_the_market_and_all_others() -> None:
    gains = [gain("bob", 0.005, 0.6), MARKET, gain("ann", 0.03, 0.004), gain("cho", -0.01, 0.3)]
    found = lead(gains, [duel("ann", "bob", 0.025, 0.04), duel("cho", "ann", -0.04, 0.001)])
    assert (found.state, found.leader, found.not_beaten) == ("leads", "ann", ())
    assert found.sentence == (
        "ann leads and beats the market by 0.0300 Brier points (95% CI 0.0100 to 0.0500, 60 events); its "
        "lead over each of the 2 other agents is significant."
    )


def test_alone_it_is_enough_to_beat_the_market() -> None:
    found = lead([gain("ann", 0.03, 0.004), MARKET], [])
    assert found.leader == "ann"
    assert found.sentence.endswith("(95% CI 0.0100 to 0.0500, 60 events).")


def test_who_beats_all_others_but_not_the_market_does_not_lead() -> None:
    gains = [gain("ann", 0.015, 0.13), gain("bob", -0.2, 0.001)]
    found = lead(gains, [duel("ann", "bob", 0.21, 0.001)])
    assert (found.state, found.leader, found.ahead) == ("open", None, "ann")
    assert found.not_beaten == ("the market",)
    assert found.sentence == (
        "ann is ahead of the market by 0.0150 Brier points (95% CI -0.0050 to 0.0350, 60 events), which is "
        "within chance. About 290 more events would settle it."
    )


def test_the_events_needed_are_those_of_the_gap_that_needs_most() -> None:
    gains = [gain("ann", 0.03, 0.004), gain("bob", 0.02, 0.04), gain("cho", 0.01, 0.3)]
    duels = [duel("ann", "bob", 0.01, 0.3), duel("ann", "cho", 0.02, 0.051), duel("bob", "cho", 0.01, 0.3)]
    found = lead(gains, duels)
    assert (found.state, found.not_beaten) == ("open", ("bob", "cho"))
    assert found.events_needed == missing_events(0.01, 0.01, 50.0, 60, 1 - 0.1 / 3)
    assert "; its lead over bob and cho is within chance. About " in found.sentence


def test_behind_in_a_duel_no_number_of_events_will_tell() -> None:
    gains = [gain("ann", 0.03, 0.004), gain("bob", 0.02, 0.04)]
    found = lead(gains, [duel("ann", "bob", -0.001, 0.9)])
    assert (found.state, found.events_needed) == ("open", None)
    assert found.sentence.endswith("60 events); its gap to bob is within chance.")


def test_neither_the_market_nor_another_is_beaten() -> None:
    gains = [gain("ann", 0.015, 0.13), gain("bob", 0.01, 0.3)]
    found = lead(gains, [duel("ann", "bob", 0.005, 0.6)])
    assert found.not_beaten == ("the market", "bob")
    assert ", which is within chance, as is its lead over bob. About " in found.sentence


def test_who_bets_on_anothers_forecasts_is_passed_over() -> None:
    gains = [gain("kelly", 0.03, 0.004), gain("sharp", 0.03, 0.004), gain("bob", -0.2, 0.001)]
    duels = [same("kelly", "sharp"), duel("kelly", "bob", 0.23, 0.001), duel("sharp", "bob", 0.23, 0.001)]
    found = lead(gains, duels, sources={"kelly": "sharp"})
    assert (found.leader, found.ahead) == ("sharp", "sharp")
    assert found.sentence.startswith("sharp leads and beats")
    assert found.sentence.endswith("its lead over the other agent is significant.")
    assert lead(gains, duels, sources={"kelly": "bob"}).leader == "kelly", "it says something else than bob"


def test_nobody_is_ahead_of_the_market() -> None:
    found = lead(
        [gain("ann", -0.01, 0.4), gain("bob", -0.05, 0.01), MARKET], [duel("ann", "bob", 0.04, 0.01)]
    )
    assert (found.state, found.leader, found.ahead) == ("behind", None, "ann")
    assert found.sentence == (
        "No agent beats the market: ann is closest, at -0.0100 Brier points (95% CI -0.0300 to 0.0100, 60 "
        "events)."
    )


def test_who_has_too_few_events_holds_nobody_up_and_is_counted() -> None:
    found = lead([gain("ann", 0.03, 0.004), few("bob"), few("cho")], [duel("ann", "bob", -0.2, None)])
    assert found.leader == "ann"
    assert found.sentence.endswith(" 2 agents have too few events to be judged.")


def test_twins_and_those_who_say_the_same_are_no_rivals() -> None:
    gains = [gain("ann", 0.03, 0.004), gain("ann-2", 0.028, 0.004), gain("kelly", 0.03, 0.004)]
    duels = [duel("ann", "ann-2", 0.002, 0.8), same("ann", "kelly"), duel("kelly", "ann-2", 0.002, 0.8)]
    found = lead(gains, duels, families=[("ann", "ann-2", "kelly")])
    assert found.leader == "ann"
    assert found.sentence.startswith("ann, kelly and ann-2 lead and beat the market by 0.0300")
    assert lead(gains, duels).leader is None
    assert lead([gains[0], gains[2]], duels).leader == "ann"


def test_who_is_beaten_by_another_is_not_named_first() -> None:
    """ann has the surer gain on the market, but bob beats it where both forecast."""
    gains = [gain("ann", 0.03, 0.004), gain("bob", 0.02, 0.06)]
    found = lead(gains, [duel("ann", "bob", -0.03, 0.01)])
    assert (found.leader, found.ahead) == (None, "bob")


def test_the_order_of_agents_and_duels_changes_nothing() -> None:
    gains = [gain("ann", 0.03, 0.004), gain("bob", 0.02, 0.04), gain("cho", 0.01, 0.3), MARKET]
    duels = [duel("ann", "bob", 0.01, 0.3), duel("ann", "cho", 0.02, 0.04), duel("bob", "cho", 0.01, 0.3)]
    assert lead(gains, duels) == lead(gains[::-1], duels[::-1])
