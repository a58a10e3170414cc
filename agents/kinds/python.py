"""Plays by your own Python function, without a kind around it.

`function` names it: `mine:decide` is the function `decide` in the file `mine.py` beside the config, or in
`extensions/` there. It is called as `decide(view, ask)`, async or not, and returns a `Decision`; with
`arguments: {edge: 0.1}` as `decide(view, ask, edge=0.1)`. `view.seed` is its source of randomness. A
forecast is a probability from 0 to 1; prices, cash and shares are whole millionths.

    from arena.extend import Bet, Decision, Forecast

    def decide(view, ask, edge=0.05):
        forecasts, bets = [], []
        for listing in view.snapshot.shown:
            if listing.mid is not None and listing.mid < 500_000:  # 0.50
                likelier = listing.mid / 1_000_000 + edge
                forecasts.append(Forecast(listing.market.id, likelier))
                bets.append(Bet(listing.market.id, "YES", 50_000_000, reason="too cheap"))  # $50
        return Decision(tuple(forecasts), tuple(bets[:3]))

With a `model` and its settings, an async function can call that model: `call = await
ask(Prompt((Message("user", "Will it rain?"),)))`, both from `arena.extend`; `call.reply` is the answer,
`call.error` the reason there is none. A function that is not async blocks all agents while it runs.

A function that raises, or returns anything but a decision, fails its turn, with a note. At a live venue its
turns are filled and scored at the prices when it answered. The file is not frozen: rename it when you change
what it does.

    - kind: python
      function: mine:decide
      arguments: {edge: 0.1}

For settings with checks of their own, write a kind: `extensions/NAME.py`.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from agents.model import CONTEXT_KEYS, Agent, Ask, Context, Decision, Given, ModelSettings, Unreadable, View

LOOKS_OUTSIDE = True
"""A function can read anything, so its turns are filled and scored at the prices when it answered."""


def _check_name(name: str) -> str:
    """Return the name of a function, `MODULE:FUNCTION`. Raise if it has another form."""
    module, _, function = name.partition(":")
    if not (module.isidentifier() and function.isidentifier()):
        raise ValueError("expected MODULE:FUNCTION, such as mine:decide")
    return name


class Settings(ModelSettings):
    """The function and its arguments."""

    function: Annotated[str, AfterValidator(_check_name)]
    """The module and the function in it, such as `mine:decide`."""
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """Keyword arguments of the function, besides the view and `ask`."""
    model: str = ""
    """The model that `ask` calls, if any."""
    context: Context = Field(default=Context(), json_schema_extra=CONTEXT_KEYS)
    """What else the view has."""

    def faults(self, given: Given) -> Iterator[tuple[str, str]]:
        """Yield a fault if the function is not there or can't be called with these arguments."""
        try:
            function_of(self, given)
        except Unreadable as error:
            yield "function", str(error)


def agent(settings: Settings, given: Given) -> Agent:
    """Return an agent that decides as the function says."""
    function = function_of(settings, given)

    async def decide(view: View, ask: Ask) -> Decision:
        result = function(view, ask, **settings.arguments)
        if inspect.isawaitable(result):
            result = await result
        decision: Decision = result
        return decision

    return decide


def function_of(settings: Settings, given: Given) -> Callable[..., Any]:
    """Return the function that the settings name. Raise `Unreadable` if it can't be called with them."""
    module, _, name = settings.function.partition(":")
    function: Callable[..., Any] | None = getattr(given.load(module), name, None)
    if not callable(function):
        raise Unreadable(f"{module}.py has no function {name}. Add it, or name another one")

    try:
        inspect.signature(function).bind(None, None, **settings.arguments)
    except (TypeError, ValueError) as error:
        arguments = ", ".join(["view", "ask", *(f"{key}=…" for key in settings.arguments)])
        reason = f"{name}({arguments}) can't be called: {error}. Change the function or its `arguments`"
        raise Unreadable(f"{module}.py: {reason}") from error

    return function
