"""Plays by a function of your own, without a kind of your own around it.

`function` names it: `mine:decide` is the function `decide` in the file `mine.py` beside the config, or in
`extensions/` there. It is called as `decide(view, ask)` and gives back a `Decision`; it may be async or
not. `arguments` are handed to it by name: with `arguments: {edge: 0.1}` it is called as
`decide(view, ask, edge=0.1)`. All it may know is in the `view`, its chance comes from `view.seed`.

    from agents.model import Decision, Forecast
    from portfolio.model import Bet

    def decide(view, ask, edge=0.05):
        forecasts, bets = [], []
        for listing in view.snapshot.shown:
            if listing.mid is not None and listing.mid < 500_000:  # millionths
                likelier = listing.mid + int(edge * 1_000_000)
                forecasts.append(Forecast(listing.market.id, likelier))
                bets.append(Bet(listing.market.id, "YES", 50_000_000, reason="too cheap"))
        return Decision(tuple(forecasts), tuple(bets[:3]))

With a `model` beside it, and any other setting of one, `ask` asks that model, in a function that is async:
`call = await ask(Prompt((Message("user", "Will it rain?"),)))`, both from `agents.model`. The call is kept,
counted and paid for as those of `llm` agents are; `call.reply` is what the model said, `call.error` why it
said nothing. Without a model there is always an error. A function that is not async holds up everybody
while it runs, so one that waits for anything should be async.

A function that breaks, or gives back anything but a decision, has failed its turn, with a note. That it is
there and can be called in this way is seen by `arena check`. The file is the same for all cohorts and is
not frozen with them: change its name when you change what it does.

    - kind: python
      function: mine:decide
      arguments: {edge: 0.1}

A file that needs settings with checks of their own makes a better kind: `extensions/NAME.py`.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from agents.model import Agent, Ask, Decision, Given, ModelSettings, Unreadable, View


def _place(name: str) -> str:
    module, _, function = name.partition(":")
    if not (module.isidentifier() and function.isidentifier()):
        raise ValueError("a module and its function, such as mine:decide, is meant")
    return name


class Settings(ModelSettings):
    """Which function, and what it is handed."""

    function: Annotated[str, AfterValidator(_place)]
    """The module beside the config and the function in it, such as `mine:decide`."""
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """What the function is handed by name, beside the view and `ask`."""
    model: str = ""
    """The model that `ask` asks, where it asks one."""

    def faults(self, given: Given) -> Iterator[tuple[str, str]]:
        """Whether the function is there and can be called so."""
        try:
            function_of(self, given)
        except Unreadable as error:
            yield "function", str(error)


def agent(settings: Settings, given: Given) -> Agent:
    """The agent that does what the function says."""
    function = function_of(settings, given)

    async def decide(view: View, ask: Ask) -> Decision:
        result = function(view, ask, **settings.arguments)
        decision: Decision = await result if inspect.isawaitable(result) else result
        return decision

    return decide


def function_of(settings: Settings, given: Given) -> Callable[..., Any]:
    """The function that the settings name, if it can be called as it will be."""
    module, _, name = settings.function.partition(":")
    function: Callable[..., Any] | None = getattr(given.load(module), name, None)
    if not callable(function):
        raise Unreadable(f"{module}.py has no function {name}. Add it, or name another one")
    try:
        inspect.signature(function).bind(None, None, **settings.arguments)
    except (TypeError, ValueError) as error:
        called = ", ".join([f"{name}(view, ask", *(f"{argument}=…" for argument in settings.arguments)])
        words = f"{module}.py: {called}) can't be called: {error}. Change the function or the `arguments`"
        raise Unreadable(words) from error
    return function
