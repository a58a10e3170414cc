"""Where a prompt's template is filled in: no way out, no loop without end, and figures written as figures."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, pass_context
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from markets.millionths import ONE
from portfolio.money import dollars, number, percent

MOST_STEPS = 50_000
"""Steps of all loops of one prompt together: 500 markets with 20 articles each take a fifth of it."""
STEPS = "_steps"
"""The name by which a context keeps count of them."""


class _Sandbox(SandboxedEnvironment):
    def getattr(self, obj: Any, attribute: str) -> Any:
        """Facts are plain dicts, whose keys need no guard; looking there first is several times faster."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@pass_context
def _counted(context: Context, items: Any) -> Any:
    """What a loop goes over, as long as all loops together don't go on for ever."""
    sized = items if hasattr(items, "__len__") else list(islice(items, MOST_STEPS + 1))
    steps = context[STEPS]
    steps[0] += len(sized)
    if steps[0] > MOST_STEPS:
        raise TemplateRuntimeError(f"its loops take more than {MOST_STEPS:,} steps")
    return sized


def _figure(write: Callable[[int], str]) -> Callable[[Any], str]:
    """A filter that says so where what it should write is not known in this round."""

    def filtered(value: Any) -> str:
        if not isinstance(value, int):
            raise TemplateRuntimeError("there may be no figure here: ask for it with `is not none`")
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
    environment.filters |= {name: _figure(write) for name, write in figures.items()} | {"counted": _counted}
    return environment


ENVIRONMENT = _environment()
FILTERS = tuple(sorted(set(ENVIRONMENT.filters) - {"counted"}))
"""The filters that a template can use."""
