"""Texts and orders that every package uses."""

from hypothesis import example, given
from hypothesis import strategies as st

from arena.errors import natural_key


@given(st.lists(st.text(), unique=True))
@example(["gpt", "GPT", "Gpt"])
@example(["v2", "v" + "9" * 5_000])
def test_names_have_one_order_whatever_they_are(names: list[str]) -> None:
    """Those of a set come in another order in every process."""
    backwards = names[::-1]
    assert sorted(names, key=natural_key) == sorted(backwards, key=natural_key)
