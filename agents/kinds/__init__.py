"""Kinds of agents, one a file: a class `Settings` and a function `agent(settings, given)`.

An agent is a block under `agents` in the config. `kind` says what it is, `llm` where nothing is said;
`name` is what it is called: where none is given, its model, else its kind. A name is used once. All other
keys are its kind's settings, below. The shortest agent is one line:

    - model: anthropic/MODEL

What stands there when a cohort starts is frozen for as long as that cohort plays. In every round each
agent is shown the same markets and prices, and gives back a probability for each market, its bets and its
sales, and words for them. What it wants and can't have is rejected with a reason. An agent that breaks
fails its own turn, and nobody else's.

**Who waits for whom.** Kinds with an `of` are made from what others state; they play when those have
played. Agents that wait for one another in a ring are a mistake that `arena check` names.

**Twins.** The same block under two names makes two entrants: the same settings, but an account each, and
luck of their own, because chance comes from the arena's seed, the round and the name.

    - {name: sharp, model: demo/sharp}
    - {name: sharp-again, model: demo/sharp}

What lies between twins on the leaderboard is noise: nothing but luck tells them apart. It is the noise
floor. If two other agents lie no further apart than twins do, the leaderboard says nothing about which
of them is better. Twins that use no chance, such as two of `market`, end alike to the last digit; models
are asked anew for each of the two, and paid for twice.

**A kind of your own** is one file, `extensions/NAME.py` beside the config, played by `kind: NAME`. It has
a docstring, a class `Settings` and a function `agent`, as the files in `agents/kinds/` have.
"""
