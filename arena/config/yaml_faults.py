"""The fault of a text that is not YAML, in plain words, and its line."""

import re
from collections.abc import Sequence

from ruamel.yaml.error import MarkedYAMLError

NO_SPACE = re.compile(r"\s*(?:- )?([A-Za-z_]\w*):([^\s:/][^:]*)")
"""A line whose key has no space behind its colon."""
TWO_COLONS = re.compile(r"\s*(?:- )?[\w-]+: [^\"'{\[]*: ")
"""A line whose value has a colon with a space, which would begin a value of its own."""
OPENED = {"}": "{", "]": "["}


def yaml_fault(text: str, error: MarkedYAMLError) -> tuple[int, str]:
    """Return the line of a fault and a description, in the parser's words if we have none."""
    problem = " ".join(str(error.problem or "").split())
    line = _line_number(error.problem_mark)
    began_at = _line_number(error.context_mark) or line
    lines = text.splitlines()

    if "mapping values are not allowed" in problem or "find expected ':'" in problem:
        return _colon_fault(lines, line, began_at)

    closing = re.match(r"expected ',' or '([}\]])'", problem)
    if closing:
        bracket = OPENED[closing[1]]
        return began_at, f"the `{bracket}` on this line is not closed: `{closing[1]}` or a comma is missing"

    character = re.match(r"found character '(.)' that cannot start", problem)
    if character:
        return line, f"a value that begins with {character[1]} needs quotation marks"
    if "end of stream" in problem:
        return began_at, "the quotation mark on this line is not closed"
    if "<block end>" in problem:
        return line, "the indentation of this line fits no block above it"
    return line, f"not YAML: {' '.join(filter(None, (_parser_context(error), problem)))}"


def _colon_fault(lines: Sequence[str], line: int, began: int) -> tuple[int, str]:
    """Return the line of a missing or superfluous colon, and a description."""
    # The parser notices a missing space only at a later line: look upward to the next line with text.
    for number in range(min(line, len(lines)), 0, -1):
        without_comment = lines[number - 1].partition(" #")[0]
        match = NO_SPACE.fullmatch(without_comment)
        if match:
            return number, f"a space is missing after the colon: write `{match[1]}: {match[2].strip()}`"
        if without_comment.strip() and number < line:
            break

    if began < line:
        return began, "this line is no `key: value`"
    if TWO_COLONS.match(lines[line - 1]):
        return line, "a value with a colon and a space needs quotation marks"
    return line, "this line is indented further than the line above it, which has a value already"


def _line_number(mark: object) -> int:
    """Return the line of a place in the text, from 1; 0 without one."""
    line = getattr(mark, "line", None)
    return 0 if line is None else line + 1


def _parser_context(error: MarkedYAMLError) -> str:
    """Return the parser's context of the problem, unless it only says what it was doing."""
    context = " ".join(str(error.context or "").split())
    return "" if context.startswith("while") else context
