"""Asks a language model, any that litellm can reach.

`model` is its name there (`anthropic/MODEL`, or `openai/MODEL` with a `base_url` for a server of
your own). `prompt` is the template: `bet`, or the path of a file ending in .md. `prices` are
`shown`, `hidden`, or shown `after` a first question without any (then what the model says blind is
kept beside its final word). An answer that can't be used is asked for once more, with the reason;
after that the turn is a hold, marked malformed. Where the provider has no answer, it has failed.
"""

from dataclasses import replace
from typing import Literal

from agents.model import Agent, Ask, Decision, Given, Message, ModelSettings, Prompt, View
from agents.parse import Unusable, parse
from agents.prompt import render

BLIND = "blind"
MOST_SHOWN = 20_000
"""Characters of an unusable answer that are shown again."""


class Settings(ModelSettings):
    """How the model is reached, and what it is asked."""

    prompt: str = "bet"
    prices: Literal["shown", "hidden", "after"] = "shown"

    @property
    def prompt_names(self) -> tuple[str, ...]:
        """The templates it uses."""
        return (self.prompt, BLIND) if self.prices == "after" else (self.prompt,)


def agent(settings: Settings, given: Given) -> Agent:
    """The agent that asks its model."""
    texts = {name: given.prompts[name] for name in settings.prompt_names}

    async def decide(view: View, ask: Ask) -> Decision:
        blind = Decision()
        if settings.prices == "after":
            blind = await _answer(render(texts[BLIND], view, prices=False, stage="blind"), view, ask)
            if blind.verdict == "failed":
                return blind
        shown = settings.prices != "hidden"
        prompt = render(texts[settings.prompt], view, prices=shown, before=blind.forecasts)
        return _together(blind, await _answer(prompt, view, ask))

    return decide


async def _answer(prompt: Prompt, view: View, ask: Ask) -> Decision:
    """What the model decides, asked a second time if its first answer can't be used."""
    read, reply = await _ask_once(prompt, view, ask)
    if isinstance(read, Unusable):
        read, _ = await _ask_once(_again(prompt, reply, read), view, ask)
    return read if isinstance(read, Decision) else Decision(verdict="malformed", note=read.message)


async def _ask_once(prompt: Prompt, view: View, ask: Ask) -> tuple[Decision | Unusable, str]:
    call = await ask(prompt)
    if call.error is not None:
        return Decision(verdict="failed", note=f"{call.error.code}: {call.error.message}"), ""
    reply = call.reply or ""
    if call.finish == "length":
        return Unusable("the answer was cut off at the token limit; a shorter one is needed"), reply
    return parse(reply, view, prompt.stage), reply


def _again(prompt: Prompt, reply: str, fault: Unusable) -> Prompt:
    """The same question, with the unusable answer and what is wrong with it."""
    words = (
        f"That answer could not be used: {fault.message}. Please answer again, whole, with one JSON object "
        f"in the format asked for and nothing else."
    )
    answered = Message("assistant", reply[:MOST_SHOWN].strip() or "(nothing)")
    return replace(prompt, messages=(*prompt.messages, answered, Message("user", words)))


def _together(blind: Decision, final: Decision) -> Decision:
    """One decision of both stages. A blind answer that couldn't be used only leaves a note."""
    notes = [f"blind: {blind.note}"] if blind.note else []
    return replace(
        final,
        forecasts=blind.forecasts + final.forecasts,
        rejections=blind.rejections + final.rejections,
        note="; ".join([*notes, final.note] if final.note else notes),
    )
