"""Counts of tokens in a provider's answer, made whole numbers before anybody reads them.

A server of one's own or a proxy may write `120.0` or `"120"`, on which client libraries lose the answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

USAGE_NAMES = ("usage", "usageMetadata")
OLLAMA_COUNTS = ("prompt_eval_count", "eval_count")
"""Counts that stand in the answer itself."""
HOLDERS = ("message", "response", "x_groq")
"""Parts of an answer, or of an event of a stream, that may have the usage."""
_COUNT = re.compile(r"tokens$|TokenCount$|token_count$|tokenCount$|eval_count$|_requests$|_queries$|_calls$")
_WHOLE_TEXT = re.compile(r"[0-9]{1,18}(?:\.0*)?")


def with_whole_counts(answer: Any) -> Any:
    """Return an answer, or an event of a stream, in which every count of its usage is a whole number.

    Where one of them can't be read, all of that usage are 0: what was used is unknown.
    """
    if not isinstance(answer, Mapping):
        return answer

    changed = dict(answer)
    for name in USAGE_NAMES:
        if changed.get(name) is not None:
            changed[name] = whole_usage(changed[name])
    for name in HOLDERS:
        if name in changed:
            changed[name] = with_whole_counts(changed[name])

    own_counts = {name: changed[name] for name in OLLAMA_COUNTS if name in changed}
    if own_counts:
        readable = whole_usage(own_counts)
        changed |= {name: readable.get(name, 0) for name in own_counts}
    return changed


def whole_usage(usage: Any) -> dict[str, Any]:
    """Return a usage with whole counts, without those that are null; all of them 0 if one can't be read."""
    if not isinstance(usage, Mapping):
        return {}
    is_readable = all(whole_number(count) is not None for count in _counts_within(usage))
    with_whole_numbers: dict[str, Any] = _with_whole_numbers(usage, is_readable)
    return with_whole_numbers


def whole_number(value: Any) -> int | None:
    """Return a whole number that is written as a number or as digits; None for anything else.

    >>> whole_number(120.0), whole_number("120"), whole_number(12.5), whole_number("1e3"), whole_number(True)
    (120, 120, None, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE_TEXT.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


def _is_count(name: object) -> bool:
    return _COUNT.search(str(name)) is not None


def _counts_within(value: Any) -> Iterator[Any]:
    """Give every count in a usage, at any depth."""
    if isinstance(value, list):
        for inner in value:
            yield from _counts_within(inner)

    if not isinstance(value, Mapping):
        return

    for name, inner in value.items():
        if not _is_count(name):
            yield from _counts_within(inner)
        elif inner is not None:
            yield inner


def _with_whole_numbers(value: Any, is_readable: bool) -> Any:
    """Return a part of a usage with its counts as whole numbers, or all as 0."""
    if isinstance(value, list):
        return [_with_whole_numbers(inner, is_readable) for inner in value]
    if not isinstance(value, Mapping):
        return value

    changed: dict[str, Any] = {}
    for name, inner in value.items():
        if str(name).lower().endswith("details") and not isinstance(inner, Mapping | list):
            continue
        if not _is_count(name):
            changed[name] = _with_whole_numbers(inner, is_readable)
        elif inner is not None:
            changed[name] = whole_number(inner) if is_readable else 0

    return changed


def body_with_whole_counts(body: bytes) -> bytes:
    """Return the body of an answer with whole counts; unchanged if they are whole already."""
    if b"usage" not in body and b"eval_count" not in body:
        return body

    try:
        answer = json.loads(body)
        changed = with_whole_counts(answer)
    except (ValueError, RecursionError):
        return body

    # 120 and 120.0 are equal, and not the same text
    if json.dumps(changed) == json.dumps(answer):
        return body
    return json.dumps(changed).encode()


def line_with_whole_counts(line: bytes) -> bytes:
    """Return a line of a stream with whole counts: an event's data, or a line of JSON."""
    prefix = b""
    if line.startswith(b"data:"):
        prefix = line[:5]
    text = line[len(prefix) :].strip()

    changed = body_with_whole_counts(text)
    if changed == text:
        return line
    ending = line[len(line.rstrip(b"\r\n")) :]
    return prefix + changed + ending
