"""Kinds of agents, one file each: `kind: market` in the config means `agents/kinds/market.py`.
A file defines a class `Settings`, the keys of the agent's block, and a function `agent(settings, given)`,
which returns the async function that decides in each turn. Its docstring is its chapter in docs/agents.md.
It may also define a function `ask(settings, given)`, which returns what the agent asks in place of a model,
and set `LOOKS_OUTSIDE = True` if the agent can read more than it is shown, as extensions do unless they set
it to False. The first paragraph is for the authors of kinds; docs/agents.md begins with the second.

An agent is a block under `agents` in the config. `kind` is `llm` by default; `name` is unique, by default
the model's or else the kind's; all other keys are settings of its kind. The shortest agent is one line:

    - model: anthropic/MODEL

A cohort freezes its agents' settings. In every round each sees the same markets and prices and returns
probabilities, bets and sales, with reasons. Invalid orders are rejected with a reason. An agent that
breaks fails only its own turn.

**Order.** Kinds with an `of` use other agents' forecasts and play after them. `arena check` reports agents
that depend on each other in a circle.

**Twins.** The same block under two names makes two entrants with equal settings but separate accounts and
luck, as randomness comes from the arena's seed, the round and the name.

    - {name: sharp, model: demo/sharp}
    - {name: sharp-again, model: demo/sharp}

The distance between twins on the leaderboard is the noise floor: of two agents no further apart it can't
say which is better. Models are called, and paid for, once for each twin.

**A kind of your own** is one file, `extensions/NAME.py` beside the config, used by `kind: NAME`. Like
those in `agents/kinds/`, it has a docstring, a class `Settings` and a function `agent`; this one never bets:

    class Settings(KindSettings): ...
    async def decide(view: View, ask: Ask) -> Decision: return Decision()
    def agent(settings: Settings, given: Given) -> Agent: return decide

What it needs is imported from `arena.extend`. It runs once its folder is trusted: `arena check` shows what
would run, and asks; `--trust-extensions` answers that on a server.
"""
