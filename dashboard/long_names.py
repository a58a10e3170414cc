"""Long names in little room: shortened in drawings, and cut in the middle by the style sheet.

Names of agents often begin alike, and often end alike too: they are cut where they do not differ.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup, escape

from dashboard.words import filled


def shortened(name: str, most_letters: int) -> str:
    """Return a name of at most this many letters, first without its maker, then without its middle.

    >>> shortened("openai/gpt-5.6", 14), shortened("openai/gpt-5.6", 9), shortened("openai/gpt-5.6-pro", 9)
    ('openai/gpt-5.6', 'gpt-5.6', 'gpt-…-pro')
    """
    if len(name) > most_letters:
        without_maker = name.rpartition("/")[2]
        name = without_maker or name
    if len(name) <= most_letters:
        return name
    letters_at_each_end = max((most_letters - 1) // 2, 1)
    return f"{name[:letters_at_each_end]}…{name[-letters_at_each_end:]}"


def short_forms(names: Iterable[str], most_letters: int) -> dict[str, str]:
    """Return names of at most this many letters, cut where they differ if they would look alike.

    >>> list(short_forms(["a-model-v1-with-all-tools", "a-model-v2-with-all-tools"], 18).values())
    ['a-model-v1-with-a…', 'a-model-v2-with-a…']
    >>> list(short_forms(["a-model-v1-thinking", "a-model-v2-thinking"], 9).values())
    ['…v1-thin…', '…v2-thin…']
    >>> short_forms(["gpt-5.6", "maker/gpt-5.6"], 8)
    {'gpt-5.6': 'gpt-5.6', 'maker/gpt-5.6': 'maker/g…'}
    """
    names_by_short_form: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        short = shortened(name, most_letters)
        names_by_short_form.setdefault(short, []).append(name)

    forms = {}
    for short, names_alike in names_by_short_form.items():
        if len(names_alike) == 1:
            forms[names_alike[0]] = short
            continue
        start = _first_difference(names_alike)
        if start + DIFFERENT < most_letters:
            start = 0
        for name in names_alike:
            ellipsis = "…" * (start > 0)
            form = ellipsis + name[start:]
            if len(form) > most_letters:
                form = form[: most_letters - 1].rstrip("-") + "…"
            forms[name] = form
    return forms


def _first_difference(names: Sequence[str]) -> int:
    """Return the start of the first word in which different names differ.

    >>> _first_difference(["a-model-v1-fast", "a-model-v2-fast"])
    8
    """
    same_letters = 0
    while len({name[: same_letters + 1] for name in names}) == 1:
        same_letters += 1
    whole_words = re.sub(r"\w*$", "", names[0][:same_letters])
    return len(whole_words)


DIFFERENT = 8
"""Letters after their common beginning within which names differ."""


NAME = re.compile(r"[\w./:-]+")
"""The characters of an agent's name."""
LONG = 16
"""Longer names are cut in a table if there is no room."""
TAIL = 8
"""The letters at the end of a name that are kept when its middle is cut."""


def cut_places(names: Iterable[str], longest: int = LONG) -> dict[str, int]:
    """Return where longer names may be cut: the rest is shown as long as there is room for it.

    >>> cut_places(["a-model-of-25-letters-v01", "a-model-of-25-letters-v02", "short", "a text of words"])
    {'a-model-of-25-letters-v01': 17, 'a-model-of-25-letters-v02': 17}
    >>> cut_places(["a-model-v1-with-all-tools", "a-model-v2-with-all-tools"])
    {'a-model-v1-with-all-tools': 8, 'a-model-v2-with-all-tools': 8}
    """
    names_by_ends: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        if len(name) > longest and NAME.fullmatch(name):
            names_by_ends.setdefault((name[:TAIL], name[-TAIL:]), []).append(name)

    cut_points = {}
    for (_, tail), names_alike in names_by_ends.items():
        for name in names_alike:
            cut_at = len(name) - len(tail)
            if len(names_alike) > 1:
                cut_at = min(cut_at, _first_difference(names_alike))
            cut_points[name] = cut_at
    return cut_points


def cut_in_middle(name: str, cut_points: Mapping[str, int]) -> Markup:
    """Return a name that is cut before a place if there is no room for the whole.

    >>> print(cut_in_middle("a-model-v1", {"a-model-v1": 8}), cut_in_middle("<b>", {}))
    <span class="cut"><span>a-model-</span><span>v1</span></span> &lt;b&gt;
    """
    cut_at = cut_points.get(name)
    if not cut_at:
        return escape(name)
    return filled('<span class="cut"><span>%s</span><span>%s</span></span>', name[:cut_at], name[cut_at:])
