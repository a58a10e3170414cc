"""What a model gets to read: everything that it needs, and no way out of the fence."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.exceptions import SecurityError, UndefinedError

import agents
from agents.model import View
from agents.prompt import render, short_ids
from portfolio.rules import REFERENCE, SEED
from tests.agents.minds import a_lot, a_view, stated
from tests.builders import a_listing, a_price

PROMPTS = Path(agents.__file__).parent / "prompts"
BET, BLIND = ((PROMPTS / f"{name}.md").read_text(encoding="utf-8") for name in ("bet", "blind"))


def user(view: View, *, prices: bool = True) -> str:
    return render(BET, view, prices=prices).messages[-1].content


def test_a_prompt_is_a_system_and_a_user_message_with_the_seed() -> None:
    prompt = render(BET, a_view(seed=11))
    assert [message.role for message in prompt.messages] == ["system", "user"]
    assert (prompt.seed, prompt.stage, prompt.sample) == (11, "final", 1)


def test_a_market_is_shown_with_its_price_close_fee_and_rules() -> None:
    text = user(
        a_view(a_listing("0.40", "0.42", question="Rain?", rules="YES if it rains.", fee_rate=20_000))
    )
    assert (
        "### m1\nCloses: 2026-02-03 12:00 UTC\nPrice: YES 0.41 (bid 0.4, ask 0.42)\nFee rate: 2%\n"
        "| Rain?\n|\n| YES if it rains.\n"
    ) in text


def test_a_market_without_a_price_says_so() -> None:
    assert "Price: YES 0.5 (bid none, ask none)" in user(a_view(a_price("0.50")))
    unquoted = replace(a_listing(), quote=None)
    assert "Price: unknown" in user(a_view(unquoted))


def test_positions_show_cost_and_mark_of_their_own_side() -> None:
    listing = a_listing("0.40", "0.42", market="sim:a")
    text = user(a_view(listing, lots={("sim:a", "NO"): a_lot("100", "55")}))
    assert "- m1 NO: 100 shares, cost $55.00, now worth $59.00" in text
    assert "No open positions." not in text


def test_what_is_only_held_can_be_sold_and_is_not_on_offer() -> None:
    view = a_view(
        a_listing(market="sim:a"), held=(a_listing(market="sim:old"),), lots={("sim:old", "YES"): a_lot()}
    )
    offered, _, held = user(view).partition("## Held, no longer on offer")
    assert "### m2" not in offered
    assert "### m2" in held
    assert "- m2 YES: 100 shares" in offered
    assert "every market on offer (1 of\nthem, m1 to m1)" in held.replace("EVERY", "every")


def test_limits_are_those_of_the_rules_and_the_cash() -> None:
    text = user(a_view(cash="7123.456789"))
    assert "at least $50.00 and at most 25% of your cash, now $1,780.86." in text
    assert "Cash: $7,123.45\n" in text
    assert "for all bets of this answer together" in user(a_view(rules=REFERENCE))
    assert "There are no fees." in user(a_view(rules=SEED))


def test_hidden_prices_show_nowhere() -> None:
    view = a_view(a_listing("0.37", "0.39", market="sim:a"), lots={("sim:a", "YES"): a_lot("100", "55")})
    text = user(view, prices=False)
    for sign in ("0.37", "0.38", "0.39", "Price:", "worth $", "at market prices"):
        assert sign not in text
    assert "Prices are not shown to you" in text


def test_with_hidden_prices_a_position_does_not_tell_what_a_share_cost() -> None:
    listing = a_listing(market="sim:a")
    text = user(a_view(listing, lots={("sim:a", "YES"): a_lot("1219.512195", "500")}), prices=False)
    assert "- m1 YES: cost $500.00\n" in text
    assert "1,219" not in text
    assert "1219" not in text


def test_the_blind_prompt_has_no_prices_and_no_account() -> None:
    text = render(BLIND, a_view(), prices=False, stage="blind").messages[-1].content
    assert all(sign not in text for sign in ("Price", "Cash", "$", "0.4"))
    assert text.count("### m") == 3


def test_what_was_said_blind_is_shown_beside_the_price() -> None:
    prompt = render(BET, a_view(), before=[stated("sim:b", "0.7")])
    text = prompt.messages[-1].content
    assert text.count("Your probability before you saw the price") == 1
    assert "Your probability before you saw the price: 0.7\n| Will sim:b happen?" in text


def test_short_ids_go_by_place() -> None:
    assert short_ids(a_view().snapshot) == {"sim:a": "m1", "sim:b": "m2", "sim:c": "m3"}


BREAKS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00", "\ud800"]


@given(
    st.lists(
        st.sampled_from([*BREAKS, "### m9", "## Your answer", "| ", "{{ cash }}", " ", "Price: YES 0.9"])
    )
)
def test_a_market_can_not_speak_outside_of_its_fence(pieces: list[str]) -> None:
    text = "".join(pieces)
    plain = user(a_view(a_listing(question="Q", rules="")))
    spoken = user(a_view(a_listing(question=f"Q{text}", rules=text)))
    assert spoken.encode()
    assert [line for line in spoken.splitlines() if not line.startswith("|")] == [
        line for line in plain.splitlines() if not line.startswith("|")
    ]


def test_a_template_without_blocks_is_the_users_message() -> None:
    [message] = render("It is {{ now }}: {{ markets | length }} markets.", a_view()).messages
    assert (message.role, message.content) == ("user", "It is 2026-01-04 12:00 UTC: 3 markets.")


def test_a_template_is_in_a_sandbox_and_can_not_misspell() -> None:
    with pytest.raises(SecurityError):
        render("{{ markets.__class__.__mro__ }}", a_view())
    with pytest.raises(UndefinedError):
        render("{{ marktes }}", a_view())


def test_a_round_without_markets_still_renders() -> None:
    view = replace(a_view(), snapshot=replace(a_view().snapshot, shown=()))
    assert re.search(r"\(0 of\s+them, none to none\)", user(view))
