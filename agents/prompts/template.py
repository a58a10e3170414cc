"""Templates of prompts: compiled once, rendered in a sandbox, with errors that name their line.

There is no way out of the sandbox, all of it ends, and figures are written as figures.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateError
from jinja2.meta import find_undeclared_variables

from agents.prompts.sandbox import BUDGET, ENVIRONMENT, RenderBudget, count_operations

BLOCKS = ("system", "user")
MAY_LACK = ("defined", "undefined", "default", "d")
"""Tests and filters that accept an undefined name."""
ANSWERS = ("decision", "forecasts")
_UNKNOWN = re.compile(r"'(\w+)' is undefined|has no attribute '(\w+)'|No (?:filter|test) named '(\w+)'")
_FAILURES = (
    TemplateError,
    AssertionError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
    MemoryError,
)
"""What rendering a template can raise, including errors of its expressions."""


class BadTemplate(ValueError):
    """A template that can't be used: the line, and the unknown name where that is what is wrong."""

    def __init__(self, line: int, words: str, file: str = ""):
        place = f"line {line}"
        if file:
            place = f"prompt {file}, {place}"

        super().__init__(f"{place}: {words}")
        self.line = line
        self.words = words
        unknown = _UNKNOWN.search(words)
        self.name = next(filter(None, unknown.groups())) if unknown else ""


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """A template that can be filled in, and what it asks for.

    `names` are all that it speaks of, `needed` those that it can't do without, each with a line, `bodies` how
    long what it calls is.
    """

    template: Template
    answer: str
    names: frozenset[str]
    needed: Mapping[str, int]
    bodies: Mapping[type, int]

    @property
    def blocks(self) -> Collection[str]:
        """Return the names of the template's blocks."""
        return self.template.blocks

    def filled(self, block: str, facts: Mapping[str, Any], file: str = "") -> str:
        """Return a block with these facts; an error names the file that the template is from.

        A template without blocks is its own block `user`.
        """
        template = self.template
        write = template.blocks.get(block, template.root_render_func)
        try:
            return "".join(write(template.new_context({**facts, BUDGET: RenderBudget(self.bodies)}))).strip()
        except _FAILURES as error:
            words = str(error) or type(error).__name__
            raise BadTemplate(_line_of_error(template, error.__traceback__), words, file) from error


@lru_cache(maxsize=64)
def compile_template(text: str) -> CompiledTemplate:
    """Return the compiled template, or raise `BadTemplate`."""
    try:
        tree = ENVIRONMENT.parse(text)
        needed = _required_facts(tree)
        answer = _answer_form(tree)
        _check_blocks(tree)
        names = {node.name for node in tree.find_all(nodes.Name)}
        names |= {node.attr for node in tree.find_all(nodes.Getattr)}
        names |= {str(node.value) for node in tree.find_all(nodes.Const)}
        bodies = count_operations(tree)
        code = ENVIRONMENT.compile(tree)
    except TemplateSyntaxError as error:
        raise BadTemplate(error.lineno, error.message or "it can't be read") from error
    except (SyntaxError, RecursionError, MemoryError, OverflowError) as error:
        raise BadTemplate(1, "its blocks or expressions are nested too deeply") from error

    template = Template.from_code(ENVIRONMENT, code, dict(ENVIRONMENT.globals))
    return CompiledTemplate(template, answer, frozenset(names), needed, bodies)


def _required_facts(tree: nodes.Template) -> dict[str, int]:
    """Return the facts that the template requires, in any of its branches, each with a line."""
    undeclared = find_undeclared_variables(tree) - set(ENVIRONMENT.globals)
    may_be_undefined = {
        node.node.name
        for node in tree.find_all((nodes.Test, nodes.Filter))
        if node.name in MAY_LACK and isinstance(node.node, nodes.Name)
    }
    lines: dict[str, int] = {}

    for node in tree.find_all(nodes.Name):
        if node.name in undeclared and node.name not in may_be_undefined:
            lines.setdefault(node.name, node.lineno)

    return lines


def _answer_form(tree: nodes.Template) -> str:
    """Return the value of `{% set answer = … %}` at the top."""
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


def _line_of_error(template: Template, trace: TracebackType | None) -> int:
    """Return the line of the template in which an error occurred."""
    line = 1
    while trace is not None:
        if trace.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
