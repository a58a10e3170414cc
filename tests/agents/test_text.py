"""Text from outside: no control character of it reaches a terminal, a page or a record."""

import pytest

from agents.text import cut_text, is_printable, one_line, printable, tidy_lines

CONTROLS = [*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0)]
NEXT_LINE = 0x85


@pytest.mark.parametrize("around", ["", "é"], ids=["ascii", "not ascii"])
@pytest.mark.parametrize("code", CONTROLS, ids=hex)
def test_a_control_character_is_replaced_everywhere(code: int, around: str) -> None:
    text = f"a{around}{chr(code)}31mX"
    assert not is_printable(text)
    for safe in (printable(text), one_line(text), tidy_lines(text), cut_text(text, 5)):
        assert chr(code) not in safe
        assert is_printable(safe)
    if code != NEXT_LINE:
        assert one_line(text) == f"a{around}\ufffd31mX"


def test_the_end_of_a_line_in_another_alphabet_of_controls_is_one() -> None:
    assert (one_line("a\x85b"), tidy_lines("a\x85b")) == ("a b", "a\nb")
