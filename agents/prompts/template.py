"""A prompt's template: compiled once, filled in within a sandbox, with mistakes that know their line.

There is no way out of the sandbox and no loop without end, and figures are written as figures.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import TracebackType
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import TemplateError, TemplateRuntimeError
from jinja2.filters import do_format
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from markets.millionths import ONE
from portfolio.money import dollars, number, percent

BLOCKS = ("system", "user")
MAY_LACK = ("defined", "undefined", "default", "d")
"""Tests and filters that take a name which may not be there."""
ANSWERS = ("decision", "forecasts")
MOST_STEPS = 50_000
"""Steps of all loops of one prompt together: 500 markets with 20 articles each take a fifth of it."""
MOST_CHARACTERS = 1_000_000
"""A text that an expression makes: ten times the longest prompt."""
STEPS = "_steps"
"""The name by which a context keeps count of them."""
_UNKNOWN = re.compile(r"'(\w+)' is undefined|has no attribute '(\w+)'|No (?:filter|test) named '(\w+)'")
_FAILURES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
    MemoryError,
)
"""What filling in a template can raise: whatever the expressions in it come to."""


class BadTemplate(ValueError):
    """A template that can't be used: the line, and the unknown name where that is what is wrong."""

    def __init__(self, line: int, words: str):
        super().__init__(f"line {line}: {words}")
        self.line, self.words = line, words
        unknown = _UNKNOWN.search(words)
        self.name = next(filter(None, unknown.groups())) if unknown else ""


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """A template that can be filled in, and what it asks for.

    `names` are all that it speaks of, `needed` those that it can't do without, each with a line.
    """

    template: Template
    answer: str
    names: frozenset[str]
    needed: Mapping[str, int]

    @property
    def blocks(self) -> Collection[str]:
        """The names of its blocks."""
        return self.template.blocks

    def filled(self, block: str, facts: Mapping[str, Any]) -> str:
        """A block with these facts. A template without blocks is its own block `user`."""
        template = self.template
        write = template.blocks.get(block, template.root_render_func)
        try:
            return "".join(write(template.new_context({**facts, STEPS: [0]}))).strip()
        except _FAILURES as error:
            words = str(error) or type(error).__name__
            raise BadTemplate(_line(template, error.__traceback__), words) from error


@lru_cache(maxsize=64)
def compile_template(text: str) -> CompiledTemplate:
    """The text as a template, or `BadTemplate`."""
    try:
        tree = ENVIRONMENT.parse(text)
        needed = _required_facts(tree)
        answer = _answer_form(tree)
        _check_blocks(tree)
        for loop in list(tree.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, "counted", [], [], None, None, lineno=loop.lineno)
        code = ENVIRONMENT.compile(tree)
    except TemplateSyntaxError as error:
        raise BadTemplate(error.lineno, error.message or "it can't be read") from error
    names = {node.name for node in tree.find_all(nodes.Name)}
    names |= {node.attr for node in tree.find_all(nodes.Getattr)}
    names |= {str(node.value) for node in tree.find_all(nodes.Const)}
    template = Template.from_code(ENVIRONMENT, code, dict(ENVIRONMENT.globals))
    return CompiledTemplate(template, answer, frozenset(names), needed)


def _required_facts(tree: nodes.Template) -> dict[str, int]:
    """The facts that the template can't do without, in any of its branches, each with a line."""
    free = find_undeclared_variables(tree) - set(ENVIRONMENT.globals)
    spared = {
        node.node.name
        for node in tree.find_all((nodes.Test, nodes.Filter))
        if node.name in MAY_LACK and isinstance(node.node, nodes.Name)
    }
    lines: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.name in free and node.name not in spared:
            lines.setdefault(node.name, node.lineno)
    return lines


def _answer_form(tree: nodes.Template) -> str:
    """What `{% set answer = … %}` at the top says."""
    for node in tree.body:
        if isinstance(node, nodes.Assign) and getattr(node.target, "name", "") == "answer":
            answer = getattr(node.node, "value", None)
            if answer not in ANSWERS:
                raise BadTemplate(node.lineno, f"`answer` is one of {', '.join(ANSWERS)}, written in quotes")
            return str(answer)
    return ANSWERS[0]


def _check_blocks(tree: nodes.Template) -> None:
    for node in tree.find_all((nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)):
        words = 'another file is only put in by {% include "NAME" %}, alone on its line'
        raise BadTemplate(node.lineno, words)
    for block in tree.find_all(nodes.Block):
        if block.name not in BLOCKS:
            allowed = " and ".join(BLOCKS)
            raise BadTemplate(
                block.lineno, f"the blocks of a prompt are {allowed}, and this is `{block.name}`"
            )


def _line(template: Template, trace: TracebackType | None) -> int:
    """The line of the template in which an error came up."""
    line = 1
    while trace is not None:
        if trace.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


class _Sandbox(SandboxedEnvironment):
    intercepted_binops = frozenset(("*", "**", "%"))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """What two values come to, if it is no more than a prompt could hold."""
        if operator == "%" and isinstance(left, str):
            _check_widths(left)
        elif operator == "**":
            _check_size(right * 100 if isinstance(right, int) else 0)
        elif operator == "*" and (hasattr(left, "__len__") or hasattr(right, "__len__")):
            _check_size(math.prod(x if isinstance(x, int) else len(x) for x in (left, right)))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, *args: Any, **named: Any) -> Any:
        """A call; a text's own methods make no text that is longer than that."""
        if isinstance(getattr(obj, "__self__", None), str):
            _check_size(max((x for x in (*args, *named.values()) if isinstance(x, int)), default=0))
        return super().call(context, obj, *args, **named)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """A text's `format`, within the same bounds."""
        if (wrapped := super().wrap_str_format(value)) is not None:
            _check_widths(value.__self__)
        return wrapped

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Facts are plain dicts, whose keys need no guard; looking there first is several times faster."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def _check_size(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise TemplateRuntimeError(f"it makes more than {MOST_CHARACTERS:,} characters at once")


def _check_widths(form: str) -> None:
    """A form in which figures are written may ask for so many places, and no more."""
    _check_size(max((int(digits[:9]) for digits in re.findall(r"[0-9]+", form)), default=0))


def _bounded(write: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that pads: within the same bounds."""

    def bounded(value: Any, *args: Any, **named: Any) -> Any:
        _check_widths(" ".join(map(str, (*args, *named.values()))) if write is not do_format else str(value))
        return write(value, *args, **named)

    return bounded


@pass_context
def _counted_loop(context: Context, items: Any) -> Any:
    """What a loop goes over, as long as all loops together don't go on for ever."""
    sized = items if hasattr(items, "__len__") else list(islice(items, MOST_STEPS + 1))
    steps = context[STEPS]
    steps[0] += len(sized)
    if steps[0] > MOST_STEPS:
        raise TemplateRuntimeError(f"its loops take more than {MOST_STEPS:,} steps")
    return sized


def _figure_filter(write: Callable[[int], str]) -> Callable[[Any], str]:
    """A filter that says so where what it should write is not known in this round."""

    def filtered(value: Any) -> str:
        if not isinstance(value, int):
            raise TemplateRuntimeError("this figure may be missing: test it with `is not none`")
        return write(value)

    return filtered


def _cents(amount: int) -> str:
    """Dollars and whole cents, rounded down so that no one is shown more than there is."""
    return dollars(amount - amount % (ONE // 100))


def _environment() -> SandboxedEnvironment:
    environment = _Sandbox(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the reader is a model, not a browser
    )
    figures = {"dollars": _cents, "number": number, "percent": percent}
    environment.filters |= {
        name: _bounded(environment.filters[name]) for name in ("center", "format", "indent")
    }
    environment.filters |= {name: _figure_filter(write) for name, write in figures.items()} | {
        "counted": _counted_loop
    }
    return environment


ENVIRONMENT = _environment()
FILTERS = tuple(sorted(set(ENVIRONMENT.filters) - {"counted"}))
