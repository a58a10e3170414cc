"""The first commands: play the demo, try a model, make a folder, add models, check the config."""

import os
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shlex import quote

import typer

from arena.cli.options import (
    DAY,
    DEFAULT,
    DONT_ASK,
    LEAVE_FAILED,
    Options,
    argument,
    command,
    flag,
    option,
)
from arena.cli.output import command_line, interruptible, prints_to_stderr, program, without_password
from arena.cli.page import print_page
from arena.errors import ArenaError

KEY_ENV = option("The environment variable that holds its key.", "VARIABLE")
MODEL_PRICE = option("Its price in dollars per million tokens, if it isn't known.", "IN OUT")
UNCHANGED = "the config was not changed"
OF_CONFIG = ("--live", "--record", "--venue", "--model", "--wide", "--columns", "--trust-extensions")
"""The options of `arena check` that need a config."""


@command(table=True)
def demo(
    chosen: Options,
    headless: bool = flag("Print the results only."),
    real: bool = flag("Play agents that follow rules over recorded markets of Polymarket."),
    seed: int | None = option("Play a different simulated world.", min=0),
    rounds: int | None = option("Stop after this many decision times.", min=1),
    resume: bool = flag("Continue where the record ends."),
    port: int = option("The dashboard's port, or the next free one.", default=8501, min=0, max=65_535),
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Play a whole season, offline and without a key.

    Then it shows the leaderboard and, in a terminal, the dashboard. The record is .demo/demo.db (with --real,
    .demo/real.db); each run replaces it, unless --resume or --database is given.

    Example: arena demo --headless

        sharp forecasts better than hasty and blind, and cannot be told apart
        …
                       closer
                         than  95%             better
        ranks  agent    price  interval        than     Brier       P/L   cost
          1–2  sharp     +1.7  -0.4 to +3.8    2 of 3  0.1928  +$11,065  $1.16
          1–2  clumsy    +0.2  -1.8 to +2.3    2 of 3  0.1956   +$1,941  $1.31
            3  hasty     -3.5  -7.2 to +0.2    1 of 3  0.2029  +$12,589  $1.16
        …

    Next: arena dashboard --database .demo/demo.db
    """
    from arena.cli.board_columns import COLUMNS
    from arena.cli.demo import REAL_RECORD, RECORD, play, prepare_record, season_page
    from arena.config.new_folder import template

    # Nothing is played for a table that can't be shown.
    chosen.table_choice.wanted_columns(COLUMNS)
    if real and rounds is not None:
        message = "the recorded season is played to its end"
        raise ArenaError("whole_season", message, "leave out --rounds, or --real", status=64)

    config = chosen.load_to_play(default=template("real.yaml" if real else "demo.yaml"))
    if seed is not None:
        config = config.with_seed(seed)
    address = prepare_record(chosen.database, resume, REAL_RECORD if real else RECORD)

    page = season_page
    with prints_to_stderr():
        if real:
            from arena.cli.replay import play_past_markets, replay_blocks

            page = replay_blocks
            data = play_past_markets(config, address, leave_failed)
        else:
            data = play(config, address, rounds, leave_failed)
    chosen.print_answer(data, page, data, replace(chosen.table_choice, width=80))

    if chosen.json:
        return
    if headless or not sys.stdout.isatty():
        print_page(["", f"Next: {program()} dashboard --database {without_password(address)}"])
        return

    from arena.cli.dashboard import serve
    from arena.operations.listen_addresses import ListenAddress, free_port

    serve(address, ListenAddress(port=free_port(port)))


@command("json")
def try_model(
    chosen: Options,
    model: str | None = argument("[MODEL]", "PROVIDER/MODEL, or its name on this machine.", default=None),
    base_url: str | None = option("The server's address, if not a usual one.", "URL"),
    key_env: str | None = KEY_ENV,
    price: tuple[float, float] | None = MODEL_PRICE,
    released: datetime | None = option("The day of the model's release.", formats=DAY),
    minutes: float = option("How long to ask.", default=2.0, min=0.001, max=60.0),
    yes: bool = DONT_ASK,
) -> None:
    """Ask a model 20 to 120 resolved questions in two minutes.

    It shows the model's calibration and its Brier score, and writes them to try-MODEL.html. Without MODEL it
    looks for Ollama, LM Studio, vLLM and llama.cpp on this machine, and for keys of providers. Ctrl-C reports
    on what was answered. The model may remember how questions ended: only those asked after --released are
    compared with the price.

    Example: arena try qwen3:8b

        qwen3:8b answered 120 of 120 questions in 16 s.
        …
        says  happened  questions  0%                                   100%
         34%       20%         10  ········●─────○··························
        …

    Next: arena init my-arena
    """
    from agents.llm import make_ask
    from arena.cli.model_choice import model_options
    from arena.cli.try_model import (
        INTERRUPTED,
        agree_on_cost,
        ask_questions,
        model_to_try,
        report,
        trial_data,
        write_page,
    )
    from arena.clock import timer
    from arena.config import environment
    from arena.config.environment import require_key
    from arena.rounds.quick_trial import QuickTrial, asking_cost, asking_settings, questions_to_ask

    environ = environment(Path(), os.environ)
    os.environ.update(environ)
    options = model_options(chosen.can_ask(), base_url, key_env, price)
    settings = asking_settings(model_to_try(model, options, environ))
    require_key(settings, environ, Path(".env"))
    name = settings.model if settings.base_url is None else settings.model.removeprefix("openai/")

    day = None if released is None else released.date()
    questions = questions_to_ask(day)
    most = agree_on_cost(name, asking_cost(settings, questions), chosen.can_ask(), yes)
    trial = QuickTrial(settings, make_ask(settings, timer, environ), questions, most, 60 * minutes, timer)
    ask_questions(name, trial)

    data = trial_data(name, trial, day, options)
    data["page"] = write_page(data)
    chosen.print_answer(data, report)
    if trial.ended == INTERRUPTED:
        raise typer.Exit(130)
    if trial.ended or data["page"] is None:
        raise typer.Exit(2)


@command(record=False)
def init(
    chosen: Options,
    folder: Path = argument("[DIR]", "The folder; created if needed.", default=Path()),
    venue: str | None = option("polymarket, kalshi, manifold or simulator.", "NAME"),
    models: list[str] = option(
        "PROVIDER/MODEL, or its name on this machine; repeatable.", "MODEL", "--model", default=[]
    ),
    base_url: str | None = option("The server of models that name no provider.", "URL"),
    key_env: str | None = KEY_ENV,
    price: tuple[float, float] | None = MODEL_PRICE,
    budget: float | None = option("Dollars a month for all models together.", min=0.01),
    public: bool = flag("Make a repository that plays a public season by workflows."),
    yes: bool = flag("Take the defaults.", "--yes", "-y"),
) -> None:
    """Make a working folder with a short config.yaml.

    With it come .env.example, .gitignore and a systemd unit; nothing is overwritten. In a terminal it asks
    for whatever the options leave open. Otherwise, or with --yes, it takes the defaults: Polymarket, $20 a
    month, and the models whose keys are in the environment or DIR/.env, else the one that Ollama, LM Studio,
    vLLM or llama.cpp serves on this machine, which costs nothing.

    With --public it is a repository, whose workflows play, publish on a branch, and check entrants: its
    README says how.

    Example: arena init my-arena --venue simulator --yes

        Made in my-arena: config.yaml, .env.example, .gitignore, arena.service.
        Plays on simulator: demo/sharp, demo/hasty.
        Cost: about $0.60 (0.60–17.90) a month; no budget limits it (made-up
        prices: demo models are free).
        …

    Next: cd my-arena, then arena check
    """
    from arena.cli.check_cost import cost_of, costs_text, month_data
    from arena.cli.init import choose_settings, init_data, made_page, next_steps, public_steps
    from arena.cli.model_choice import model_options
    from arena.clock import now
    from arena.config import environment, load
    from arena.config.new_folder import make_folder

    path = folder / "config.yaml"
    if path.exists():
        raise ArenaError("exists", f"{path} already exists", "choose another folder, or move it away")

    environ = environment(folder, os.environ)
    can_ask = chosen.can_ask() and not yes
    options = model_options(can_ask, base_url, key_env, price)
    new = choose_settings(environ, venue, tuple(models), budget, options)
    if public:
        from importlib.metadata import distribution

        from arena.config.public_folder import make_public_folder, requirement_text

        installed = distribution("paper-arena")
        requirement = requirement_text(installed.version, installed.read_text("direct_url.json"))
        made, kept = make_public_folder(folder, now(), new, requirement)
    else:
        made, kept = make_folder(folder, now(), new)

    config = load(path)
    cost = cost_of(config, 1, {})
    data = init_data(config, new, cost, environ) | {"folder": str(folder), "made": made, "kept": kept}
    if not chosen.json:
        costs = costs_text(month_data(cost.total), config.budget.model_dump(), data["models"])
        print_page(made_page(data, costs))
    chosen.print_answer(data, public_steps if public else next_steps)


@command("config", "json")
def add(
    chosen: Options,
    models: list[str] = argument("MODEL...", "PROVIDER/MODEL, or its name on this machine."),
    name: str | None = option("The agent's name, if not the model's.", "NAME"),
    base_url: str | None = option("The server, if not the provider's own.", "URL"),
    key_env: str | None = KEY_ENV,
    reasoning: str | None = option("How much it thinks: none, low, medium, high, …", "EFFORT"),
    price: tuple[float, float] | None = MODEL_PRICE,
    no_probe: bool = flag("Add it without asking a question."),
    yes: bool = DONT_ASK,
) -> None:
    """Add models to the config, each after it has answered one question.

    The question has as many sample markets as a round. What the answer took is written beside the model, and
    the cost of a month is shown. A model without a usable answer is not added; the exit status is then 2, or
    1 if none was added.

    Example: arena add anthropic/claude-sonnet-5 --no-probe

        Added to config.yaml:
          - name: claude-sonnet-5
            model: anthropic/claude-sonnet-5
        …
        claude-sonnet-5 waits for ANTHROPIC_API_KEY: set it in the environment or
        .env.

    Next: arena check
    """
    from arena.calls.probe import ProbeAnswer, measured_keys
    from arena.cli.agents_add import added_data, added_page, probe_all
    from arena.cli.model_choice import model_options, named_models
    from arena.clock import now
    from arena.config.editing import edited
    from arena.config.model_blocks import named_blocks, with_fixed_call_costs

    path = chosen.config or DEFAULT
    config = chosen.load_config()
    can_ask = chosen.can_ask() and not yes
    options = model_options(can_ask, base_url, key_env, price, reasoning)
    if name is not None and len(models) > 1:
        raise ArenaError("one_name", "--name is for one model", "add the models one by one")

    with interruptible(f"stopped; {UNCHANGED}", "a question in progress may still be charged"):
        models_by_name = {agent.name: agent.model for agent in config.agents}
        blocks = named_blocks(named_models(models, options), models_by_name, name)
        blocks = with_fixed_call_costs(blocks, config.budget.limits)
        answers = dict[str, ProbeAnswer]()
        failed = list[dict[str, str]]()
        if not no_probe:
            with edited(path, blocks) as planned:
                answers, failed = probe_all(planned.config, blocks, can_ask, yes)
            day = now().date()
            blocks = [block for block in blocks if block["name"] in answers]
            blocks = [block | measured_keys(answers[block["name"]], day) for block in blocks]
        if not blocks:
            reasons = "; ".join(f"{failure['model']}: {failure['message']}" for failure in failed)
            raise ArenaError("not_added", f"{reasons}; {UNCHANGED}", failed[0]["mend"])

        with edited(path, blocks) as planned:
            data = added_data(planned.config, blocks, answers, failed) | {"config": str(path)}
            planned.keep()

    chosen.print_answer(data, added_page)
    if failed:
        raise typer.Exit(2)


def check_files(chosen: Options, path: Path) -> None:
    """Check a cassette, a folder of questions or a recording."""
    if not path.exists():
        hint = "name a folder of questions, a recording or a cassette"
        raise ArenaError("no_folder", f"there is no file or folder {path}", hint)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        hint = f"a config is named by an option: arena check --config {quote(str(path))}"
        raise ArenaError("no_folder", f"{path} is no folder", hint, status=64)

    if path.suffix == ".json" and path.is_file():
        from arena.cli.cassettes import check_cassette

        check_cassette(chosen, path)
        return

    from arena.cli.question_folder import check_questions, is_question_folder

    if is_question_folder(path):
        check_questions(chosen, path)
        return

    from arena.cli.bundles import check_bundle

    check_bundle(chosen, path)


@command(table=True, plays=True)
def check(
    chosen: Options,
    folder: Path | None = argument(
        "[DIR]", "A folder of questions, a recording, or a cassette; else the config.", default=None
    ),
    live: bool = flag("Also read one page of the venue and ask each model one tiny question."),
    record: bool = flag("With --live: record a cassette of what they answer, without secrets."),
    venues: list[str] = option("With --live: only this venue; repeatable.", "NAME", "--venue", default=[]),
    agents: list[str] = option(
        "With --live: only this agent's model; repeatable.", "AGENT", "--model", default=[]
    ),
) -> None:
    """Check the config: who plays, what that costs, and what is wrong.

    Costs are written as expected (low–high). All mistakes are listed at once, with file, line and key;
    nothing is played or changed. The exit status is 1 if there are any, if a model can't answer with its
    settings, or if the record can't be read. With DIR it checks that folder or cassette instead.

    Only --live spends money, a fraction of a cent. Its exit status is 1 if nothing could be reached, 2 if
    only part could.

    Example: arena check

        config.yaml is valid.
        …
        agent         kind      model or of  $ a month          $ a round
        sharp         llm       demo/sharp   0.25 (0.24–4.59)   0.058 (0.056–1.06)
        kelly         kelly     sharp        –                  –
        …

    Next: arena run --round, or arena demo
    """
    if folder is not None:
        chosen.refuse_if_given(
            *OF_CONFIG, because="can't be combined with DIR: it is checked without a config"
        )
        check_files(chosen, folder)
        return
    if (venues or agents or record) and not live:
        hint = "arena check --live --model AGENT"
        raise ArenaError("not_live", "--venue, --model and --record need --live", hint, status=64)

    from arena.cli.check import LINE_UP, check_data, check_page, is_faulty

    config = chosen.load_to_play(os.environ, beside=True)
    if agents:
        from arena.rounds.live_check import ping_targets_of

        ping_targets_of(config, agents)  # raises for an unknown name before anything is printed
    with prints_to_stderr():
        data = check_data(config, os.environ)
    chosen.table_choice.wanted_columns(LINE_UP)
    if not chosen.json:
        print_page(check_page(data, chosen.table_choice))

    status = 0
    next_command = "check" if data["record_trouble"] else data["next_command"]
    if live:
        from arena.cli.check_live import check_live, exit_status_of, next_or_retry_command

        answers = check_live(config, venues, agents, chosen.json, record)
        status = exit_status_of(answers)
        next_command = next_or_retry_command(answers, next_command, venues, agents)
        data |= answers
    if is_faulty(data):
        status = 1
    chosen.print_answer({"ok": not status} | data, lambda _: ["", f"Next: {command_line(next_command)}"])
    if status:
        raise typer.Exit(status)
