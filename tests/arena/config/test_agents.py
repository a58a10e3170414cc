"""The line-up in a config: kinds and their settings, names, who is derived from whom, keys and prices."""

from pathlib import Path

import pytest

from agents.model import ModelSettings
from arena.config import ConfigErrors, environment, key_variables, load
from arena.scores.rules.metaculus.table import COMMUNITY
from tests.arena.config_files import SMALL, mistakes, told, with_agents, write
from tests.trusted import load_trusted

MINE = "from agents.kinds.constant import Settings, agent\n"


def test_an_agent_is_named_by_its_name_else_its_model_else_its_kind(tmp_path: Path) -> None:
    text = with_agents("{model: openai/a}", "{kind: market}", "{kind: constant, name: half}")
    config = load_trusted(write(tmp_path, text))
    assert [(agent.name, agent.kind, agent.line) for agent in config.agents] == [
        ("openai/a", "llm", 4),
        ("market", "market", 5),
        ("half", "constant", 6),
    ]


def test_what_ask_says_holds_for_every_model_and_an_agents_own_word_goes_before(tmp_path: Path) -> None:
    shared = "ask: {timeout: 2m, temperature: 0.5, prices: hidden, context: {history: false}}\n"
    text = shared + with_agents(
        "{model: openai/a}",
        "{model: openai/b, timeout: 30s, temperature: 1, prices: after, context: {past: false}}",
        "{kind: market}",
    )
    config = load_trusted(write(tmp_path, text))
    fields = {"timeout", "temperature", "prices"}
    settings = [agent.settings.model_dump(include=fields) for agent in config.agents]
    assert settings == [
        {"timeout": 120.0, "temperature": 0.5, "prices": "hidden"},
        {"timeout": 30.0, "temperature": 1.0, "prices": "after"},
        {},
    ]
    assert set(config.prompts) == {"bet", "blind"}
    context = [agent.settings.model_dump()["context"] for agent in config.agents[:2]]
    assert context == [
        {"history": False, "siblings": True, "past": True},
        {"history": False, "siblings": True, "past": False},
    ]


def test_a_mistake_in_ask_is_told_once_and_there(tmp_path: Path) -> None:
    text = "ask:\n  timeout: 120\n  prizes: shown\n  model: openai/c\n" + with_agents(
        "{model: openai/a}", "{model: openai/b}"
    )
    assert told(tmp_path, text) == [
        'config.yaml:2: ask.timeout: found 120, expected a duration such as "120s", "15m", "2h" or "60d"',
        'config.yaml:3: ask.prizes: unknown key. Did you mean "prices"?',
        "config.yaml:4: ask.model: this key belongs to an agent: move it to a block under agents",
    ]


NAME = "a name of 1 to 64 letters, digits or . _ / : - that looks like neither a path nor an option"
PRICE = "a number from 0 to 1,000,000"
WRONG = {
    "{kind: markte}": 'agents[0].kind: there is no kind "markte". Did you mean "market"?',
    "{kind: 5}": "agents[0].kind: found 5, expected the name of a kind of agent",
    "{kind: market, modle: x}": "agents[0].modle: unknown key. Choose from: kind, name, owner",
    "{modle: openai/a, name: a}": 'agents[0].modle: unknown key. Did you mean "model"?',
    "{kind: constant, p: 2}": "agents[0].p: found 2, expected a number from 0 to 1",
    "{kind: kelly}": "agents[0].of: this key is missing; expected a text",
    "{model: openai/a, prices: show}": (
        'agents[0].prices: found "show", expected one of shown, hidden, after. Did you mean "shown"?'
    ),
    "{model: openai/a, price: {input: 1}}": "agents[0].price.output: this key is missing; expected " + PRICE,
    "{model: openai/a, reasoning: 3}": (
        "agents[0].reasoning: found 3, expected one of none, minimal, low, medium, high, xhigh, max"
    ),
    "{model: openai/a, extra: {stream: true}}": (
        "agents[0].extra: stream is not allowed under extra: "
        "it has its own key here, or changes the form of the answer"
    ),
    "{model: openai/a, prompt: bat}": 'agents[0].prompt: there is no prompt "bat". Did you mean "bet"?',
    "{model: openai/a, prompt: ./terrse.md}": (
        "agents[0].prompt: the file ./terrse.md does not exist next to the config. Create it, or name another"
    ),
    "{kind: python}": "agents[0].function: this key is missing; expected a text",
    "{model: 'openai/a b'}": (
        f'agents[0].model: found "openai/a b", expected {NAME}. Add a `name`'
    ),
    "{kind: market, name: ''}": f'agents[0].name: found "", expected {NAME}',
    "5": "agents[0]: found 5, expected a block such as `kind: market` or `model: anthropic/MODEL`",
}  # fmt: skip


@pytest.mark.parametrize(("block", "said"), WRONG.items(), ids=list(WRONG))
def test_a_mistake_in_an_agent_is_told_with_its_place(tmp_path: Path, block: str, said: str) -> None:
    found = told(tmp_path, with_agents(block, "{kind: random}"))
    assert f"config.yaml:4: {said}" in found
    assert all(line.startswith("config.yaml:4: agents[0]") for line in found)


@pytest.mark.parametrize("agents", ["agents: []", "agents:", "agents: market", ""])
def test_a_config_without_agents_is_told_so(tmp_path: Path, agents: str) -> None:
    (said,) = told(tmp_path, f"markets: {{venue: simulator}}\n{agents}\n")
    assert said.endswith("expected a list with at least one agent, such as `- kind: market`")


def test_a_name_can_be_had_once(tmp_path: Path) -> None:
    hint = "Give this agent another `name`"
    text = with_agents("{kind: market}", "{kind: random}", "{kind: constant, name: market}", "{kind: random}")
    assert told(tmp_path, text) == [
        f'config.yaml:6: agents[2].name: the name "market" is taken by agents[0] on line 4. {hint}',
        f'config.yaml:7: agents[3].kind: the name "random" is taken by agents[1] on line 5. {hint}',
    ]


@pytest.mark.parametrize(
    ("block", "key"),
    [("{kind: constant, name: market}", "name"), ("{model: market}", "model")],
)
def test_the_name_of_the_market_is_kept_for_its_kind(tmp_path: Path, block: str, key: str) -> None:
    hint = "Give this agent another `name`"
    assert told(tmp_path, with_agents("{kind: random}", block)) == [
        f'config.yaml:5: agents[1].{key}: the name "market" is reserved for the kind market. {hint}'
    ]
    assert (
        load_trusted(write(tmp_path, with_agents("{kind: market, name: market}"))).agents[0].name == "market"
    )


def test_no_agent_has_the_name_of_the_median_of_all(tmp_path: Path) -> None:
    hint = "Give this agent another `name`"
    block = f"{{kind: constant, name: {COMMUNITY}}}"
    assert told(tmp_path, with_agents("{kind: random}", block)) == [
        f'config.yaml:5: agents[1].name: the name "{COMMUNITY}" is reserved for the median of all. {hint}'
    ]


def kelly(name: str, of: str) -> str:
    return f"{{kind: kelly, name: {name}, of: {of}}}"


def test_agents_that_wait_for_one_another_are_told_once_as_a_ring(tmp_path: Path) -> None:
    text = with_agents(
        kelly("tail", "b"), kelly("c", "a"), kelly("b", "c"), kelly("a", "b"), kelly("me", "me")
    )
    assert told(tmp_path, text) == [
        "config.yaml:5: agents[1].of: these agents depend on each other: c → a → b → c",
        "config.yaml:8: agents[4].of: these agents depend on each other: me → me",
    ]


@pytest.mark.parametrize("place", ["extensions/mine.py", "extensions/kinds/mine.py"])
def test_a_kind_beside_the_config_is_one_file_and_one_line(tmp_path: Path, place: str) -> None:
    write(tmp_path, MINE, place)
    config = load_trusted(write(tmp_path, with_agents("{kind: mine, p: 0.25}")))
    assert config.agents[0].settings.model_dump() == {"p": 0.25}


def test_a_kind_that_fails_to_load_or_makes_no_agents_is_told(tmp_path: Path) -> None:
    write(tmp_path, "def broken(:\n", "extensions/broken.py")
    write(tmp_path, "x = 1 / 0\n", "extensions/kinds/failing.py")
    write(tmp_path, "x = 1\n", "extensions/empty.py")
    found = mistakes(tmp_path, with_agents("{kind: broken}", "{kind: failing}", "{kind: empty}"))
    assert [error.message for error in found] == [
        "broken can't be loaded: SyntaxError: invalid syntax (broken.py, line 1)",
        "failing can't be loaded: ZeroDivisionError: division by zero",
        "empty.py is not an agent kind: it needs a class Settings and a function agent",
    ]


def test_a_file_with_the_name_of_one_of_the_arenas_own_is_told_to_be_unused(tmp_path: Path) -> None:
    files = [
        write(tmp_path, MINE, "extensions/constant.py"),
        write(tmp_path, MINE, "extensions/kinds/market.py"),
        write(tmp_path, MINE, "extensions/venues/simulator.py"),
        write(tmp_path, "Mine.", "extensions/prompts/bet.md"),
        write(tmp_path, "x = 1\n", "extensions/tools/notes.py"),
    ]
    text = with_agents("{model: openai/a, tools: [notes]}", "{kind: constant}", "{kind: market}")

    found = mistakes(tmp_path, text)

    places = [str(file.relative_to(tmp_path)) for file in files]
    assert sorted(error.message.partition(" is never used")[0] for error in found) == sorted(places)
    assert "because bet is a prompt of the arena's own. Rename the file" in " ".join(
        error.message for error in found
    )


def test_the_file_of_a_function_may_have_the_name_of_a_kind(tmp_path: Path) -> None:
    write(tmp_path, "def decide(view, ask): ...\n", "extensions/market.py")
    text = with_agents("{kind: market}", "{kind: python, name: mine, function: 'market:decide'}")
    assert len(load_trusted(write(tmp_path, text)).agents) == 2


def test_a_venue_beside_the_config_has_a_block_of_its_own(tmp_path: Path) -> None:
    text = (
        "from pydantic import BaseModel\nclass Settings(BaseModel):\n    x: int\ndef venue(settings): ...\n"
    )
    write(tmp_path, text, "extensions/venues/mine.py")
    good = SMALL.replace("venue: simulator", "venue: mine\n  mine: {x: 3}")
    assert load_trusted(write(tmp_path, good)).venue_settings.model_dump() == {"x": 3}
    assert told(tmp_path, good.replace("x: 3", "x: three")) == [
        'config.yaml:3: markets.mine.x: found "three", expected a whole number'
    ]
    write(tmp_path, "x = 1\n", "extensions/venues/none.py")
    assert told(tmp_path, SMALL.replace("simulator", "none")) == [
        "config.yaml:2: markets.venue: none.py is not a venue: it needs a class Settings and a function venue"
    ]


def test_a_prompt_is_a_name_a_path_or_a_file_beside_the_config(tmp_path: Path) -> None:
    write(tmp_path, "By path.", "texts/mine.md")
    write(tmp_path, "By name.", "extensions/prompts/short.md")
    text = with_agents(
        "{model: openai/a, prompt: texts/mine.md}", "{model: openai/b, prompt: short}", "{model: openai/c}"
    )
    prompts = load_trusted(write(tmp_path, text)).prompts
    assert set(prompts) == {"texts/mine.md", "short", "bet"}
    assert (prompts["texts/mine.md"], prompts["short"]) == ("By path.", "By name.")
    write(tmp_path, " \n", "empty.md")
    assert [
        error.key for error in mistakes(tmp_path, with_agents("{model: openai/a, prompt: empty.md}"))
    ] == ["agents[0].prompt"]
    shared = "ask: {prompt: gone.md}\n" + with_agents("{model: openai/a}", "{model: openai/b}")
    assert [error.key for error in mistakes(tmp_path, shared)] == ["ask.prompt"]


def test_a_model_that_there_is_not_is_told_what_it_may_be(tmp_path: Path) -> None:
    models = ("anthropc/some", "mine, base_url: 'http://127.0.0.1:8000/v1'", "demo/sharpe", "demo/oracle")
    found = mistakes(tmp_path, with_agents(*(f"{{model: {model}}}" for model in models)), environ={})
    assert (found[0].key, found[0].meant) == ("agents[0].model", "PROVIDER/MODEL")
    assert [error.message for error in found] == [
        "there is no provider anthropc. Did you mean anthropic?",
        "a server at a base_url needs its protocol before the name: openai/mine",
        'Did you mean "sharp"?',
        "Choose from: sharp, hasty, blind, clumsy",
    ]


@pytest.mark.parametrize(
    ("block", "needed"),
    [
        ("model: openrouter/a/b", ("OPENROUTER_API_KEY",)),
        ("model: openai/a, base_url: 'http://127.0.0.1:8000/v1'", ()),
        ("model: openai/a, base_url: 'http://127.0.0.1:8000/v1', api_key_env: MINE", ("MINE",)),
        ("model: gpt-4o", ("OPENAI_API_KEY",)),
        ("model: plain-name", ()),
    ],
)
def test_which_variable_a_model_needs(tmp_path: Path, block: str, needed: tuple[str, ...]) -> None:
    settings = load_trusted(write(tmp_path, with_agents("{" + block + "}"))).agents[0].settings
    assert isinstance(settings, ModelSettings)
    assert key_variables(settings) == needed


def test_a_key_in_the_place_of_its_variables_name_is_not_repeated(tmp_path: Path) -> None:
    text = with_agents("{model: openai/a, api_key_env: sk-canary-123}")
    (error,) = mistakes(tmp_path, text, environ={})
    assert error.meant == "the name of an environment variable (not the key itself)"
    assert "canary" not in str(error) + error.found
    (error,) = mistakes(tmp_path, with_agents("{model: openai/a, api_key: sk-canary-123}"), environ={})
    assert error.meant == "api_key_env"
    assert "canary" not in str(error) + error.found


def test_env_files_never_override_the_environment_and_are_read_to_the_letter(tmp_path: Path) -> None:
    write(
        tmp_path,
        "A=file\n\n# note\nB = two words # and why\nexport C='a # b' # c\nD=\"q\"\nE=a#b\nF=\nG= # none\n",
        ".env",
    )
    assert environment(tmp_path, {"A": "set"}) == {
        "A": "set", "B": "two words", "C": "a # b", "D": "q", "E": "a#b", "F": "", "G": "",
    }  # fmt: skip
    assert environment(tmp_path / "elsewhere", {"A": "set"}) == {"A": "set"}


def test_a_line_of_an_env_file_that_makes_no_sense_is_told_without_its_words(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    write(tmp_path, "A=1\nsk-canary-123\n", ".env")
    with pytest.raises(ConfigErrors) as caught:
        load(path, {})
    (error,) = caught.value.errors
    assert str(error) == f"{tmp_path}/.env:2: invalid line, expected NAME=value, or # and a comment"
    assert "canary" not in repr(error)


def test_with_a_budget_every_model_has_a_known_price(tmp_path: Path) -> None:
    lineup = with_agents(
        "{model: nobody/knows, name: unknown}",
        "{model: nobody/told, price: {input: 0, output: 0}}",
        "{model: openai/gpt-4o}",
    )
    (error,) = mistakes(tmp_path, "budget: {day: 5}\n" + lineup)
    assert (error.line, error.key, error.found) == (5, "agents[0].model", '"nobody/knows"')
    assert error.message.startswith(
        "no price is known for nobody/knows, so the budget can't be enforced. Add a `price:"
    )
    assert len(load_trusted(write(tmp_path, lineup)).agents) == 3


def test_with_a_budget_nothing_may_cost_without_a_bound(tmp_path: Path) -> None:
    unbounded = "extra: {code_interpreter: {}}"
    lineup = with_agents(
        f"{{model: openai/gpt-5.6, name: dear, {unbounded}}}",
        f"{{model: openai/gpt-5.6, name: stated, max_cost: 1.5, {unbounded}}}",
        "{model: anthropic/claude-opus-5-5, extra: {speed: fast, top_k: 5}}",
    )
    (error,) = mistakes(tmp_path, "budget: {day: 5}\n" + lineup)
    assert (error.line, error.key) == (5, "agents[0].extra.code_interpreter")
    assert error.message.endswith("Add `max_cost: …` beside it, the most that a call can cost in dollars "
                                  "(budgets then reserve that), or remove it")  # fmt: skip
    assert len(load_trusted(write(tmp_path, lineup)).agents) == 3


OWN_SEARCHES = (
    "openai/gpt-5.6, extra: {web_search_options: {}}",
    "openai/gpt-5.6, extra: {extra_body: {tools: [{type: web_search}]}}",
    "openai/o3-deep-research, extra: {web_search_options: {}}",
    "openai/gpt-4o-search-preview",
    "openai/gpt-5-search-api",
    "'openrouter/openai/gpt-4o:online'",
    "openrouter/perplexity/sonar-pro",
    "openrouter/x-ai/grok-4, extra: {plugins: [{id: web}]}",
    "openrouter/x-ai/grok-4, extra: {extra_body: {models: ['openai/gpt-4o:online']}}",
    "gemini/gemini-3.8-flash, extra: {google_search: {}}",
    "gemini/gemini-3.8-flash, extra: {extra_body: {tools: [{googleSearch: {}}]}}",
    "gemini/gemini-3.8-flash, extra: {googleSearchRetrieval: {}}",
    "xai/grok-4, extra: {search_parameters: {mode: auto}}",
    "anthropic/claude-opus-5-5, extra: {mcp_servers: [{type: url, url: 'https://mcp.example'}]}",
    "perplexity/sonar-deep-research",
    "groq/compound",
)
"""Every way to have a provider search by itself."""


@pytest.mark.parametrize("model", OWN_SEARCHES)
def test_a_providers_own_search_is_refused_without_prices_and_with_a_budget(
    tmp_path: Path, model: str
) -> None:
    price = "price: {input: 1, output: 1}"
    (blind,) = mistakes(tmp_path, with_agents(f"{{model: {model}, name: a, prices: hidden, {price}}}"))
    assert "lets the provider search on its own, and find prices, which a must not see" in blind.message
    lineup = with_agents(f"{{model: {model}, name: a, {price}}}")
    assert load_trusted(write(tmp_path, lineup)).agents[0].name == "a"
    dear = mistakes(tmp_path, "budget: {day: 5}\n" + lineup.replace("name: a,", "name: a, max_cost: 1,"))
    assert "lets the provider search on its own, at a cost that no budget bounds" in dear[0].message


@pytest.mark.parametrize(
    "extra",
    ["{enable_search: false}", "{web_search: null}", "{reasoning: {effort: low}}", "{user: research}"],
)
def test_a_search_that_is_switched_off_is_none(tmp_path: Path, extra: str) -> None:
    block = f"{{model: openai/gpt-5.6, name: a, prices: hidden, extra: {extra}}}"
    assert load_trusted(write(tmp_path, with_agents(block))).agents[0].name == "a"


def test_tools_of_a_provider_have_no_place_among_its_parameters(tmp_path: Path) -> None:
    (error,) = mistakes(
        tmp_path, with_agents("{model: openai/gpt-5.6, extra: {tools: [{type: web_search}]}}")
    )
    assert error.message.startswith("tools is not allowed under extra")


def test_a_crowd_names_its_agents_and_waits_for_them(tmp_path: Path) -> None:
    text = with_agents("{kind: market}", "{kind: constant}", "{kind: crowd, of: [market, constant]}")
    assert load_trusted(write(tmp_path, text)).agents[2].of == ("market", "constant")
    assert told(tmp_path, text.replace("constant]", "constnat]")) == [
        'config.yaml:6: agents[2].of[1]: there is no agent "constnat". Did you mean "constant"?'
    ]
    assert told(tmp_path, text.replace("constant]", "market]")) == [
        "config.yaml:6: agents[2].of: found a list: an agent is named twice"
    ]


MISSING = {
    "{kind: recorded, file: ann.csv}": (
        "file: there is no file ann.csv next to the config. Put it there, or name another"
    ),
    "{kind: recorded, file: bad.csv}": 'file: bad.csv:1: there is no column "at". Add it to the first line',
    "{kind: python, function: none:decide}": (
        "function: there is no none.py next to the config or in its extensions/."
        " Put the function there, or name another module"
    ),
    "{kind: python, function: mine:decode}": (
        "function: mine.py has no function decode. Add it, or name another one"
    ),
    "{kind: python, function: mine:decide, arguments: {edge: 1}}": (
        "function: mine.py: decide(view, ask, edge=…) can't be called: got an unexpected keyword argument"
        " 'edge'. Change the function or its `arguments`"
    ),
}  # fmt: skip


@pytest.mark.parametrize("block", MISSING)
def test_what_an_agent_needs_beside_the_config_is_looked_for_before_it_plays(
    tmp_path: Path, block: str
) -> None:
    (tmp_path / "bad.csv").write_text("market\n", "utf-8")
    (tmp_path / "mine.py").write_text("def decide(view, ask): ...\n", "utf-8")
    text = with_agents("{kind: market}", block)
    assert told(tmp_path, text, beside=True) == [f"config.yaml:5: agents[1].{MISSING[block]}"]
    load(write(tmp_path, text), environ={})  # a round is played without it: only this agent's turn fails


def test_a_function_has_a_model_only_where_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def decide(view, ask): ...\n", "utf-8")
    function = "kind: python, function: mine:decide"
    text = "ask: {temperature: 0.5, prompt: bet}\nbudget: {day: 1}\n" + with_agents(
        f"{{{function}}}", f"{{{function}, model: xai/some-model}}"
    )
    assert [agent.model for agent in load_trusted(write(tmp_path, text.replace("budget", "#"))).agents] == [
        None,
        "xai/some-model",
    ]
    assert [said.partition(". ")[0] for said in told(tmp_path, text, environ={})] == [
        (
            "config.yaml:7: agents[1].model: no price is known for xai/some-model, "
            "so the budget can't be enforced"
        )
    ]


def test_a_name_like_a_path_or_an_option_is_refused(tmp_path: Path) -> None:
    names = ("..", "../../x", "/etc/passwd", "-rf", "a/../b", "a//b", ".", "a/.")
    found = mistakes(tmp_path, with_agents(*(f"{{kind: market, name: '{name}'}}" for name in names)))
    assert [(one.key, one.meant) for one in found] == [(f"agents[{n}].name", NAME) for n in range(len(names))]
