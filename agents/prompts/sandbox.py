"""The sandbox in which templates are filled in: there is no way out of it, and all of it ends.

What a filling in does is counted as it goes: steps of loops and calls, and characters that are read and
made. Every operation whose effort depends on a value goes through one of the functions here: compiling
rewrites the syntax tree so. A list counts as long as it would be written out, however often one and the
same list is in it. So no chain of operations takes more time or memory than these two figures allow.
"""

import operator
import re
from collections.abc import Callable, ItemsView, Iterable, KeysView, Mapping, Sized, ValuesView
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from jinja2 import StrictUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, _PassArg
from jinja2.visitor import NodeTransformer

from markets.millionths import ONE
from portfolio.money import dollars, number, percent

MOST_STEPS = 50_000
"""Steps of all loops and calls of one prompt: 500 markets with 20 articles each take a fifth of it."""
MOST_WORK = 30_000_000
"""Characters that all operations of one prompt read and make: fifty times the longest prompt."""
MOST_CHARACTERS = 1_000_000
"""A text that one operation pads or repeats: ten times the longest prompt."""
MOST_BITS = 4_096
"""A whole number: far longer than any of the facts. To divide takes the square of the length."""
MOST_ITEMS = 100_000
"""Items of a list that an operation makes."""
BUDGET = "the budget"
"""The name by which a context has its budget: with a space in it, so that no template can name it."""

SHALLOW = frozenset(
    {
        *("attr", "batch", "count", "d", "default", "first", "items", "last", "length", "list", "map"),
        *("random", "reject", "rejectattr", "reverse", "select", "selectattr", "slice"),
    }
)
"""Filters that pass on what is in a list, and look at it no further: they read as much as it is long."""
AMPLIFYING = frozenset(
    {
        *("batch", "center", "format", "indent", "replace", "slice", "sum", "tojson", "truncate", "urlize"),
        *("wordwrap", "xmlattr"),
    }
)
"""Filters whose result may be as long as the product of what they are given."""
QUADRATIC = frozenset(("pprint", "striptags", "urlize"))
"""Filters that may take as long as the square of a text."""
MOST_PLACES = 1_000
"""No figure has so many places that it would be rounded to."""
SLOW_SHARE = 1_000
"""Such a filter counts as the square of what it reads, divided by this."""
VIEWS = ("get", "items", "keys", "values")
"""Methods of a dict that show what is in it."""
PLAIN_SIZE = 24
"""What is neither text nor a whole number is written with so many characters at most."""
CONTAINERS = (list, tuple, dict, set, frozenset)
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gteq": operator.ge,
    "lt": operator.lt,
    "lteq": operator.le,
    "in": lambda item, group: item in group,
    "notin": lambda item, group: item not in group,
}
COMPARING_TESTS = (
    *("==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", ">=", "ge", "<", "lt", "lessthan", "<="),
    *("le", "in", "lower", "upper"),
)
FIRST_ARGUMENT: Mapping[_PassArg | None, Callable[[Context], Any]] = {
    _PassArg.context: lambda context: context,
    _PassArg.eval_context: lambda context: context.eval_ctx,
    _PassArg.environment: lambda context: context.environment,
}
"""What some filters want to be given first."""


@dataclass
class RenderBudget:
    """What is left of the steps and characters of one filling in; `bodies` are how long what is called is."""

    bodies: Mapping[type, int]
    steps: int = MOST_STEPS
    work: int = MOST_WORK
    sizes: dict[int, tuple[object, int]] = field(default_factory=dict)
    """By id the containers that were measured, and their sizes: kept, so that no id is used again."""

    def take_steps(self, count: int, body: int) -> None:
        """Count steps, each through a body of so many characters."""
        self.steps -= count
        if self.steps < 0:
            raise TemplateRuntimeError(f"its loops and calls take more than {MOST_STEPS:,} steps")
        self.take(count * body)

    def take(self, characters: int) -> None:
        """Count characters that are read or made."""
        self.work -= characters
        if self.work < 0:
            raise self._too_much()

    def check(self, characters: int) -> None:
        """Refuse an operation that could make more characters than are left."""
        if characters > self.work:
            raise self._too_much()

    def size(self, value: Any) -> int:
        """Return about how many characters a value is written with."""
        if isinstance(value, str | bytes):
            return len(value) + 1
        if isinstance(value, int):
            return value.bit_length() // 3 + 1
        if isinstance(value, Namespace):
            raise TemplateRuntimeError("a namespace is only there for its attributes")
        if isinstance(value, range):
            return 8 * len(value) + 1
        if not isinstance(value, CONTAINERS):
            if isinstance(value, KeysView | ValuesView | ItemsView):
                return sum(map(self.size, value)) + 1
            return PLAIN_SIZE

        known = self.sizes.get(id(value))
        if known is None:
            items = chain.from_iterable(value.items()) if isinstance(value, dict) else value
            known = value, sum(map(self.size, items)) + 2
            self.sizes[id(value)] = known
        return known[1]

    def made(self, value: Any) -> Any:
        """Count a value and pass it on."""
        if isinstance(value, int):
            _check_bits(value.bit_length())
        elif isinstance(value, CONTAINERS) and len(value) > MOST_ITEMS:
            raise TemplateRuntimeError(f"it makes a list of more than {MOST_ITEMS:,} items")
        self.take(self.size(value))
        return value

    def _too_much(self) -> TemplateRuntimeError:
        return TemplateRuntimeError(f"it reads and makes more than {MOST_WORK:,} characters")


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which nothing of the facts can be changed and every operation is counted."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "**", "%"))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return what two values come to, if it is no more than a prompt could hold."""
        budget: RenderBudget = context.parent[BUDGET]
        if operator == "%" and isinstance(left, str | bytes):
            form = left if isinstance(left, str) else left.decode("latin-1")
            check_widths(form)
            if "*" in form:  # a width that is among the values
                values = right if isinstance(right, tuple) else (right,)
                _check_size(max(map(abs, _integers(values)), default=0))
            budget.check(len(left) * budget.size(right))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * right
            _check_size(bits // 3)
            _check_bits(bits)
        elif operator == "*":
            repeated = next((x for x in (left, right) if hasattr(x, "__len__")), None)
            times = right if repeated is left else left
            if isinstance(times, int) and repeated is not None:
                _check_size(budget.size(repeated) * times)
            _check_bits(sum(map(int.bit_length, _integers((left, right)))))

        return budget.made(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, *args: Any, **named: Any) -> Any:
        """Call a macro, a block or a method: a step each."""
        budget: RenderBudget = context.parent[BUDGET]
        budget.take_steps(1, budget.bodies.get(type(obj), 1))
        if isinstance(obj, LoopContext):  # the loop again, within itself
            items = list(islice(iter(args[0]), MOST_STEPS + 1))
            budget.take_steps(len(items), budget.bodies[LoopContext])
            args = (items, *args[1:])

        owner = getattr(obj, "__self__", None)
        given = [value for value in (*args, *named.values()) if not isinstance(value, Macro)]
        if isinstance(owner, str | bytes | int | float):
            _check_size(max(_integers(given), default=0))
            budget.check(budget.size(owner) * (1 + _weight(given, budget)))
        result = super().call(context, obj, *args, **named)

        is_view = isinstance(owner, dict) and getattr(obj, "__name__", "") in VIEWS
        if isinstance(result, (str, bytes, int, *CONTAINERS)) and not is_view:
            budget.made(result)
        return result

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a text's `format`, within the same bounds."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        check_widths(value.__self__)

        def bounded(*args: Any, **named: Any) -> str:
            given = sum(map(len, map(str, (*args, *named.values()))))
            _check_size(len(value.__self__) * given // 1_000)
            return wrapped(*args, **named)

        return bounded

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute. Facts are plain dicts, whose keys need no guard: they are looked at first."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


class Counting(NodeTransformer):
    """Rewrites a template's syntax tree so that what can grow goes through a filter that counts it."""

    def visit(self, node: nodes.Node, *_args: Any, **_named: Any) -> nodes.Node:
        """Return what stands in place of a node."""
        self.generic_visit(node)
        match node:
            case nodes.For(iter=nodes.Expr() as items):
                node.iter = _filtered(items, "_steps", nodes.Const(_length_of(node.body)))
            case nodes.Concat():
                return _filtered(node.nodes[0], "_joined", *node.nodes[1:])
            case nodes.Compare():
                operands = [part for operand in node.ops for part in (nodes.Const(operand.op), operand.expr)]
                return _filtered(node.expr, "_compared", *operands)
            case nodes.List() | nodes.Dict():
                return _filtered(node, "_made")
            case nodes.Tuple(ctx="load"):  # not the names that something is assigned to
                return _filtered(node, "_made")
            case nodes.Getitem(arg=nodes.Slice()):
                return _filtered(node, "_made")

        return node


def count_operations(tree: nodes.Template) -> dict[type, int]:
    """Rewrite a tree so that all it does is counted; return how long the bodies are that it can call."""
    macros = [_length_of(macro.body) for macro in tree.find_all(nodes.Macro)]
    macros += [_length_of(block.body) for block in tree.find_all(nodes.CallBlock)]
    whole = _length_of(tree.body)
    Counting().visit(tree)
    return {Macro: max(macros, default=1), BlockReference: whole, LoopContext: whole}


def _filtered(node: nodes.Expr, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)


def _length_of(body: list[nodes.Node]) -> int:
    """Return about how much there is to do in a body: its characters and its operations."""
    length = 0
    for part in body:
        length += 1
        for node in part.find_all(nodes.Node):
            length += len(node.data) if isinstance(node, nodes.TemplateData) else 1
    return length


def _weight(values: Iterable[Any], budget: RenderBudget) -> int:
    """Return how far arguments can lengthen a result."""
    weight = 0
    for value in values:
        if isinstance(value, int):
            weight += min(abs(value), MOST_WORK)
        else:
            weight += budget.size(value)
    return weight


def _integers(values: Iterable[Any]) -> list[int]:
    """Return the whole numbers among values."""
    return [value for value in values if isinstance(value, int)]


def _check_size(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise TemplateRuntimeError(f"it makes more than {MOST_CHARACTERS:,} characters at once")


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise TemplateRuntimeError(f"it makes a whole number of more than {MOST_BITS:,} bits")


def check_widths(form: str) -> None:
    """Refuse a form in which figures are written that asks for too many places."""
    _check_size(max((int(digits[:9]) for digits in re.findall(r"[0-9]+", form)), default=0))


def _counted_filter(name: str, write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that counts what it reads and makes, and refuses to make too much."""
    passed = FIRST_ARGUMENT.get(_PassArg.from_obj(write))

    def counted(context: Context, value: Any, *args: Any, **named: Any) -> Any:
        budget: RenderBudget = context.parent[BUDGET]
        read = _length(value) if name in SHALLOW else budget.size(value)
        if name in QUADRATIC:
            read += read * read // SLOW_SHARE
        budget.take(read)
        _check_filter(name, value, read, [*args, *named.values()], budget)

        first = () if passed is None else (passed(context),)
        return _counted_result(write(*first, value, *args, **named), name, budget)

    return pass_context(counted)


def _check_filter(name: str, value: Any, read: int, given: list[Any], budget: RenderBudget) -> None:
    """Refuse a filter whose arguments could make its result far longer than what it reads."""
    plain = [argument for argument in given if isinstance(argument, str | int)]
    if name == "round":  # it takes ten to this power
        _check_size(MOST_PLACES * _weight(_integers(given), budget))
    elif name == "join":
        between = sum(map(budget.size, plain))
        budget.check(read + _length(value) * between)
    elif name in AMPLIFYING:
        if name == "format":
            check_widths(str(value))
        else:
            check_widths(" ".join(map(str, plain)))
        budget.check(read * (1 + _weight(given, budget)))


def _length(value: Any) -> int:
    if not isinstance(value, Sized) or isinstance(value, Undefined):
        return 1
    return len(value)


def _counted_result(result: Any, name: str, budget: RenderBudget) -> Any:
    """Return what a filter made, counted; what comes one by one is all there, as far as steps reach."""
    if hasattr(result, "__next__"):
        result = list(islice(result, MOST_STEPS + 1))
        budget.take_steps(len(result), 1)
    elif name in SHALLOW and not isinstance(result, str | bytes):
        budget.take(len(result) if isinstance(result, CONTAINERS) else 1)
    else:
        budget.made(result)

    return result


def _counted_test(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test that counts what it compares."""

    def counted(context: Context, value: Any, *args: Any) -> Any:
        budget: RenderBudget = context.parent[BUDGET]
        budget.take(_compared_size(budget, value, *args))
        return test(value, *args)

    return pass_context(counted)


def _compared_size(budget: RenderBudget, *values: Any) -> int:
    if all(isinstance(value, int | float | None) for value in values):
        return 1
    return sum(map(budget.size, values))


@pass_context
def _steps(context: Context, items: Any, body: int) -> Any:
    """Return what a loop goes over, as long as all loops together don't go on for ever."""
    sized = items
    if not isinstance(items, Sized):
        sized = list(islice(items, MOST_STEPS + 1))
    budget: RenderBudget = context.parent[BUDGET]
    budget.take_steps(len(sized), body)
    return sized


@pass_context
def _joined(context: Context, *parts: Any) -> str:
    budget: RenderBudget = context.parent[BUDGET]
    for part in parts:
        budget.take(budget.size(part))
    return "".join(map(str, parts))


@pass_context
def _compared(context: Context, left: Any, *rest: Any) -> bool:
    """Return whether all of some comparisons hold, each operator followed by its right side."""
    budget: RenderBudget = context.parent[BUDGET]
    for name, right in zip(rest[::2], rest[1::2], strict=True):
        # Two values differ at the latest where the shorter one ends; a list is looked through.
        sizes = [_compared_size(budget, side) for side in (left, right)]
        budget.take(sizes[1] if "in" in name else min(sizes))
        if not COMPARISONS[name](left, right):
            return False
        left = right

    return True


@pass_context
def _made(context: Context, value: Any) -> Any:
    return context.parent[BUDGET].made(value)


def _figure_filter(write: Callable[[int], str]) -> Callable[[Any], str]:
    """Return a filter that says so where what it should write is not known in this round."""

    def filtered(value: Any) -> str:
        if not isinstance(value, int):
            raise TemplateRuntimeError("this figure may be missing: test it with `is not none`")
        return write(value)

    return filtered


def _cents(amount: int) -> str:
    """Return dollars and whole cents, rounded down so that no one is shown more than there is."""
    return dollars(amount - amount % (ONE // 100))


def _environment() -> Sandbox:
    environment = Sandbox(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the reader is a model, not a browser
        finalize=_made,
    )
    del environment.globals["lipsum"]  # it makes as much text as it is told to, by chance
    figures = {"dollars": _cents, "number": number, "percent": percent}
    filters = {**environment.filters, **{name: _figure_filter(write) for name, write in figures.items()}}
    environment.filters = {name: _counted_filter(name, write) for name, write in filters.items()}
    environment.filters |= {"_steps": _steps, "_joined": _joined, "_compared": _compared, "_made": _made}
    tests: Mapping[str, Any] = environment.tests
    environment.tests |= {name: _counted_test(tests[name]) for name in COMPARING_TESTS}

    return environment


ENVIRONMENT = _environment()
FILTERS = tuple(sorted(name for name in ENVIRONMENT.filters if not name.startswith("_")))
